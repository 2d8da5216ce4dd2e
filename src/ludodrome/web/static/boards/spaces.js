// Spaces: a builder for boards, and two boards run against each other on one grid, with a time line.
//
// The frame always has the goal above and the goal of the other side below, so that nothing jumps between the two.

import { counted, post, sentence } from "../api.js";
import { Board } from "../board.js";
import { html, moves, shape, svg } from "../draw.js";
import { DECK, fill, matrix, places } from "./decks.js";
import { Builder } from "./spaces_builder.js";
import { boardOf, codeOf, finished, isLarge, sequenceOf } from "./spaces_codes.js";
import { CELL, Grid } from "./spaces_grid.js";
import { ABOVE, cross, Path } from "./spaces_paths.js";
import { ENDINGS, lengthOf, pointsAt, RoundLayer } from "./spaces_round.js";

const PACE = 650,
  /** A run of many steps is told in about this many milliseconds. */
  STORY = 14_000;
/** Steps of traps in the fog that are listed at once. */
const MAX_TRAPS = 12;
/** Where both boards are in view, each is drawn a little to its side. */
const BESIDE = 20;
const ARROWS = { ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right", ArrowDown: "down" };
const TRAP_KEYS = { up: "8", left: "4", right: "6", down: "2" };
const key = (row, col) => `${row}_${col}`;

export class GameBoard extends Board {
  static turns = false;
  static flips = false;
  static replayDelay = 4500;
  static unit = " points";
  static help = "A hint shows a good board. Your board runs up, the other one runs down.";
  static analysed = false;
  static searches = [0.3];
  static analysable({ mode }) {
    return mode !== "deck";
  }
  static drawable(move) {
    return typeof move === "string" ? !move.includes(",") : !move.deck;
  }
  /** An analysis is one round, in which both boards are seen. */
  static firstOptions = { rounds: 1, choice: "seen", mode: "rounds" };
  static shape = [
    ["size", "Size", { low: 2, high: 100 }],
    ["rules", "Rules", ["written", "live"]],
  ];
  static laying = {
    button: "Board",
    tree: "Lay a board, then a board against it: the two run against each other.",
    palette:
      "Lay the first board on the grid, then the board against it. You can also paste the code of one board below, or of two as A|B.",
    engine: "Choose another grid, or paste boards.",
  };
  static fields = {
    mode: { words: { rounds: "rounds: board against board", deck: "deck: ten boards against ten" } },
    rules: { words: { written: "written: the classic text", live: "live: as it is played in public" } },
    choice: {
      words: {
        seen: "seen: the answer knows the board",
        blind: "blind: both lie face down",
        fog: "fog: blind, and of earlier rounds only tracks are seen",
      },
    },
    rounds: { limits: [1, 25] },
  };
  static unused({ mode }) {
    return mode === "deck" ? ["rounds", "choice"] : [];
  }
  static score(state, seat) {
    return counted(state.totals[seat], "point", "points");
  }
  static scale({ size }) {
    return size;
  }
  /** A round has two moves. */
  static startsRow(at) {
    return at % 2 === 0;
  }

  /** The codes of one or two boards. */
  static pasted(text) {
    if (/[\s{]/.test(text)) return null;
    const codes = text.split("|"),
      size = Number.parseInt(codes[0], 10);
    return { moves: codes, options: size ? { size } : {} };
  }

  /** What the engine is asked: this round by itself, with the board in view if there is one. */
  static question({ size, rules, chosen, mode }, options) {
    const seen = mode === "rounds" && chosen;
    const line = seen ? codeOf(sequenceOf(chosen), size) : "-";
    return {
      options: { ...options, mode: "rounds", rounds: 1, choice: seen ? "seen" : "blind" },
      state: `rounds ${size} ${rules} ${seen ? "seen" : "blind"} 1/1 ${line} -`,
    };
  }

  constructor(...rest) {
    super(...rest);
    this.bar.classList.add("tall");
    this.builder = new Builder(
      () => this.built(),
      (text) => this.tell(sentence(text), true),
    );
    this.mode = "piece";
    this.running = null;
    this.deck = [];
    this.at = 0;
    this.selected = null;
    this.trial = null;
    this.cursor = null;
    this.host.addEventListener("contextmenu", (event) => {
      const square = this.building() && this.grid?.squareAt(event.clientX, event.clientY);
      if (!square) return;
      event.preventDefault();
      this.act(...square, this.mode === "trap" ? "piece" : "trap");
    });
  }

  get size() {
    return this.model.state.size;
  }
  /** Whose view it is: one's own board runs upwards. */
  get eyes() {
    return this.model.eyes ?? this.model.seat ?? 0;
  }
  get decked() {
    return this.model.state.mode === "deck";
  }
  /** Whether the rounds between two decks are shown, all at once. */
  get mapped() {
    return this.decked && this.model.state.history.length > 0 && this.selected === null;
  }
  /** The round that is shown: one that was picked among those of two decks, one that is tried, or that of the position. */
  get round() {
    return this.selected || this.trial?.round || this.model.marks?.round;
  }
  get sequence() {
    return this.builder.sequence;
  }
  building() {
    return this.model.interactive && this.running === null && !this.mapped;
  }
  describe() {
    return this.building()
      ? "Grid to lay a board on. Arrow keys step, T and an arrow or a digit as on a number pad set a trap, F goes on to the goal, Backspace takes a step back. Shift and arrows look around, Enter acts there."
      : "The round as it was played. Arrow keys go through its steps.";
  }

  update(model) {
    const played = (state) => state?.history?.length ?? 0;
    const fresh = !this.model || this.model.state !== model.state;
    const ran =
      fresh &&
      model.state.mode !== "deck" &&
      played(model.state) > 0 &&
      played(model.state) !== played(this.model?.state) &&
      model.marks?.round &&
      !(this.model === null && model.interactive);
    // the next board may be laid while a round is being told: the story goes on
    const told = fresh && this.running !== null && !this.trial && played(model.state) === played(this.model?.state);
    const running = told && model.state.mode !== "deck" && model.marks?.round ? this.running : null;
    if (fresh) {
      if (running === null) clearTimeout(this.timer);
      this.builder.begin({ size: model.state.size, rules: model.state.rules });
      this.mode = "piece";
      this.deck = Array.from({ length: DECK }, () => []);
      this.at = 0;
      this.selected = this.trial = this.cursor = null;
      this.running = running;
    }
    this.bar.classList.toggle("decks", model.state.mode === "deck");
    if (model.best && model.best !== this.model?.best && model.interactive && this.model) this.running = null;
    const lookBack = !model.interactive && played(model.state) > 0 && model.marks?.round;
    if (ran || (fresh && running === null && lookBack && !model.state.chosen))
      this.running = model.animate && moves() ? 0 : lengthOf(model.marks.round) - 1;
    super.update({ ...model, animate: false });
    if (model.interactive && fresh) this.builder.ask();
    if (ran && model.animate && moves()) this.roll();
  }

  lastStep() {
    return this.round ? lengthOf(this.round) - 1 : 0;
  }

  /** The middle of a square of a seat's own board, as these eyes see it. */
  placeOf(seat) {
    const { grid, size } = this,
      turned = seat !== this.eyes;
    const place = (row, col) => (turned ? grid.middle(size - 1 - row, size - 1 - col) : grid.middle(row, col));
    place.kind = `${turned}`;
    return place;
  }

  // Drawing: the grid stays, its layers are brought up to date

  render() {
    if (this.mapped) {
      this.grid?.close();
      this.grid = null;
      super.render();
      return;
    }
    if (!this.grid || this.grid.size !== this.size || !this.host.contains(this.grid.svg)) this.setUp();
    const { grid, model } = this,
      round = this.running === null ? null : this.round,
      laid = this.laid();
    this.host.toggleAttribute("data-ready", Boolean(model.interactive));
    grid.svg.setAttribute("role", "group");
    grid.svg.setAttribute("aria-label", this.describe());
    grid.setWords("goal", this.running !== null ? "goal" : laid ? "" : "start");
    const shift = laid ? BESIDE : 0,
      own = round ? [] : this.ownSteps();
    this.paths.other.show(round || !laid ? [] : sequenceOf(laid), 1 - this.eyes, this.placeOf(1 - this.eyes), shift);
    this.paths.own.show(own, this.eyes, this.placeOf(this.eyes), -shift);
    const best = round || !model.best ? [] : sequenceOf(model.best);
    this.paths.best.show(best, this.eyes, this.placeOf(this.eyes), -shift);
    this.rounds.show(round, Math.min(this.running ?? 0, this.lastStep()), this.placeOf(0));
    this.offer();
    this.look(round);
    this.controls(round);
  }

  setUp() {
    this.grid?.close();
    const focused = this.host.contains(document.activeElement);
    this.grid = new Grid(this.host, this.size, () => this.refresh());
    const { grid } = this;
    this.host.parentElement.style.setProperty(
      "--ratio",
      ((grid.window[0] + grid.rim[0]) / (grid.window[1] + grid.rim[1])).toFixed(3),
    );
    this.reach = svg("path", { class: "reach" });
    grid.marks.append(this.reach);
    this.paths = { other: new Path(grid, "other"), own: new Path(grid), best: new Path(grid, "other hinted") };
    this.rounds = new RoundLayer(grid);
    this.focus = svg(
      "g",
      { class: "target cursor", role: "button", tabindex: "0" },
      svg("rect", { class: "hit", width: CELL, height: CELL, rx: 7, "pointer-events": "none" }),
    );
    grid.camera.append(this.focus);
    this.targets.clear();
    this.offered = null;
    this.viewed = false;
    if (focused) this.focus.focus({ preventScroll: true });
  }

  /** The window shows something else. */
  refresh() {
    for (const path of Object.values(this.paths ?? {})) path.refresh();
    this.rounds?.refresh();
  }

  /** The first look at a board: as a whole, or where it is laid. */
  look(round) {
    const view = round ? "round" : this.building() ? "build" : "whole";
    if (this.viewed === view) return;
    this.viewed = view;
    if (view === "build") {
      const { row, col } = this.builder.piece ?? { row: this.size - 1, col: (this.size - 1) >> 1 };
      this.grid.approach(row, col);
    } else this.grid.fit();
  }

  /** The board that the other side has laid, if it is in view. */
  laid() {
    const { state } = this.model;
    return state.chosen && !state.chosen.deck && state.to_move === this.eyes ? state.chosen : null;
  }

  ownSteps() {
    const { state } = this.model;
    if (this.building()) return this.sequence;
    const own = state.chosen && state.to_move === 1 - this.eyes ? state.chosen : null;
    return own ? sequenceOf(own) : [];
  }

  /** The squares where something can be done next, and the cursor. */
  offer() {
    const { grid, builder } = this,
      building = this.building(),
      offers = building ? builder.next : [];
    const sign = `${this.mode} ${Boolean(this.laid())} ${building} ${this.eyes}`;
    if (this.offered !== offers || this.offeredAs !== sign) {
      this.offered = offers;
      this.offeredAs = sign;
      this.targets.clear();
      const squares = new Map(offers.map(({ position: p }) => [key(p.row, p.col), p]));
      const sorted = [...squares.values()].sort((a, b) => a.row - b.row || a.col - b.col);
      grid.offers.replaceChildren(...sorted.map(({ row, col }) => this.spot(row, col)));
      this.reach.setAttribute("d", building ? this.reachable() : "");
      this.reach.setAttribute("class", `reach s${this.eyes}`);
    }
    const at = this.cursor ?? (building ? (builder.piece ?? { row: this.size - 1, col: (this.size - 1) >> 1 }) : null);
    this.focus.toggleAttribute("hidden", !at && !this.round);
    if (!at) {
      this.focus.setAttribute("aria-label", this.describe());
      return;
    }
    const [x, y] = grid.corner(at.row, at.col);
    this.focus.dataset.key = key(at.row, at.col);
    this.focus.setAttribute("transform", `translate(${x} ${y})`);
    this.focus.firstChild.setAttribute("height", grid.high(at.row));
    this.focus.setAttribute("aria-label", this.label(at.row, at.col));
  }

  /** The straight ways that a click on a far square takes. */
  reachable() {
    const from = this.builder.piece;
    if (!from || this.mode === "trap") return "";
    const [x, y] = this.grid.middle(from.row, from.col);
    return Object.entries({ up: [-1, 0], left: [0, -1], right: [0, 1] })
      .filter(([name]) => this.builder.runs[name] > 1)
      .map(([name, [down, right]]) => {
        const many = this.builder.runs[name],
          [tx, ty] = this.grid.middle(from.row + down * many, from.col + right * many);
        return `M${x} ${y}L${tx} ${ty}`;
      })
      .join("");
  }

  spot(row, col) {
    const { grid, builder, mode } = this,
      seat = this.eyes,
      [x, y] = grid.corner(row, col),
      [mx, my] = grid.middle(row, col);
    const offers = builder.offersAt(row, col),
      step = offers.find((one) => one.type !== "trap"),
      trap = offers.find((one) => one.type === "trap");
    const x0 = this.laid() ? mx - BESIDE : mx,
      children = [];
    if (step) children.push(shape(seat, x0, my, mode === "trap" && trap ? 6 : 12, "spot"));
    if (trap && (mode === "trap" || !step)) {
      const above = this.laid() || builder.contents(row, col).length ? my - ABOVE : my;
      children.push(cross(x0, above, seat, mode === "trap" ? 14 : 9, "trap maybe"));
    }
    return this.target(key(row, col), x, y, CELL, grid.high(row), this.label(row, col), null, {
      live: true,
      children,
      seat,
    });
  }

  /** A square in words: where it is, what is there, what a click does. */
  label(row, col) {
    const { builder, size } = this,
      where = row < 0 ? `goal ${col}` : row >= size ? `below column ${col}` : `row ${row} column ${col}`;
    const there = builder
      .contents(row, col)
      .map(({ type, order }) => `${type} ${order}`)
      .join(" ");
    const laid = this.laid(),
      others = laid
        ? sequenceOf(laid)
            .filter(({ position: p }) => size - 1 - p.row === row && size - 1 - p.col === col)
            .map(({ type, order }) => `other ${type} ${order}`)
            .join(" ")
        : "";
    const step = this.building() && this.pickOffer(builder.offersAt(row, col), this.mode);
    const what =
      step &&
      (step.type === "final"
        ? "finish"
        : step.type === "trap"
          ? "set a trap"
          : this.sequence.length
            ? "step here"
            : "start here");
    return [where, there, others, what].filter(Boolean).join(", ");
  }

  pickOffer(offers, mode) {
    const step = offers.find((one) => one.type !== "trap"),
      trap = offers.find((one) => one.type === "trap");
    return mode === "trap" ? trap || step : step || trap;
  }

  // Building

  /** The board that is being laid has changed. */
  built() {
    if (this.decked) this.deck[this.at] = this.sequence;
    if (!this.model) return;
    const piece = this.builder.piece,
      grew = this.sequence.length !== this.drawnLength;
    this.drawnLength = this.sequence.length;
    if (grew) this.cursor = null;
    this.render();
    if (grew && piece) {
      this.grid?.keepInView(piece.row, piece.col);
      const last = this.sequence.at(-1);
      this.calls.say(`${last.type} ${last.order}, row ${last.position.row} column ${last.position.col}`);
    }
  }

  /** A square was chosen. */
  act(row, col, mode = this.mode) {
    if (!this.building() || this.sent) return;
    const step = this.pickOffer(this.builder.offersAt(row, col), mode);
    if (mode === "trap") this.mode = "piece";
    if (step) this.builder.take(step);
    else if (!this.builder.run(row, col)) this.builder.refuse(row, col, mode === "trap" && this.sequence.length > 0);
  }

  setMode(mode) {
    this.mode = mode;
    this.render();
  }

  /** The board as it is now, in a deck at its place; another one is built on. */
  turnTo(number) {
    this.at = number;
    this.builder.begin(null, this.deck[number]);
    this.cursor = null;
    this.viewed = false;
    this.render();
    this.builder.ask();
  }

  async fillUp() {
    const { size, rules } = this.model.state,
      { deck } = this;
    try {
      await fill(deck, size, rules);
      if (deck === this.deck) this.turnTo(this.at);
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  lay() {
    const board = (sequence) => boardOf(sequence, this.size);
    if (this.sent) return;
    const large = isLarge(this.size);
    this.submit(
      this.decked
        ? large
          ? this.deck.map(board).join(",")
          : { deck: this.deck.map(board) }
        : board(this.sequence),
    );
    for (const one of this.tools.querySelectorAll("button")) one.disabled = true;
    this.equipped = null;
  }

  // Trying a board, finished or not, against another

  /** The boards that one's own can be tried against: [id, words]. */
  rivals() {
    const { state } = this.model,
      last = state.history.at(-1)?.boards?.[1 - this.eyes];
    return [
      ...(this.laid() ? [["laid", "the board in view"]] : []),
      ["random", "a random board"],
      ["straight", "a straight run"],
      ["own", "itself"],
      ...(last && !last.visited ? [["last", "their last board"]] : []),
    ];
  }

  async rival(id) {
    const { size, rules, history } = this.model.state;
    if (id === "laid") return this.laid();
    if (id === "own") return this.builder.board();
    if (id === "last") return history.at(-1).boards[1 - this.eyes];
    if (id === "random") return (await post("/spaces/samples", { size, rules, count: 1 })).boards[0];
    const col = size - 1 - this.builder.sequence[0].position.col;
    return `${size}:${col}:${"u".repeat(size - 1)}f`;
  }

  async tryOut(id) {
    const { state } = this.model,
      { size, rules } = state;
    try {
      const other = await this.rival(id),
        boards = this.eyes ? [other, this.builder.board()] : [this.builder.board(), other];
      const round = await post("/spaces/rounds", { size, rules, boards });
      if (state !== this.model.state || !this.sequence.length) return;
      this.trial = { round, id };
      this.running = this.lastStep();
      this.render();
    } catch (error) {
      this.tell(sentence(error.message), true);
    }
  }

  async pickRound(at) {
    const { state } = this.model,
      row = Math.floor(at / DECK),
      col = at % DECK,
      boards = state.decks ? [state.decks[0][row], state.decks[1][col]] : state.history[at].boards;
    try {
      const round = await post("/spaces/rounds", { size: state.size, rules: state.rules, boards });
      if (state !== this.model.state) return;
      this.selected = Object.assign(round, this.eyes ? { own: col, other: row } : { own: row, other: col });
      if (moves()) this.roll();
      else {
        this.running = this.lastStep();
        this.render();
      }
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  draw() {
    this.controls(null);
    return matrix(this.model.state.history, this.eyes, (at, x, y, side, label, children) =>
      this.target(`m${at}`, x, y, side, side, label, () => this.pickRound(at), { children, seat: this.eyes }),
    );
  }

  // Running

  /** Back to the board that is being laid. */
  build() {
    clearTimeout(this.timer);
    this.running = this.trial = null;
    this.render();
  }

  go(k) {
    const before = this.running;
    this.running = k;
    this.render();
    const { round } = this;
    if (before !== null && Math.abs(before - k) === 1) this.rounds.animate(round, before, k, this.placeOf(0));
    const own = round.squares[this.eyes],
      [row, col] = own[Math.min(k, own.length - 1)];
    if (this.eyes) this.grid.keepInView(this.size - 1 - row, this.size - 1 - col);
    else this.grid.keepInView(row, col);
  }

  scrub(k) {
    clearTimeout(this.timer);
    this.timer = null;
    this.go(Math.max(0, Math.min(this.lastStep(), k)));
  }

  roll() {
    clearTimeout(this.timer);
    this.go(0);
    const pace = Math.max(40, Math.min(PACE, STORY / (this.lastStep() + 1)));
    const on = () => {
      this.timer = null;
      if (this.running === null || this.running >= this.lastStep() || !this.round) return;
      this.go(this.running + 1);
      this.timer = setTimeout(on, pace);
    };
    this.timer = setTimeout(on, pace);
  }

  // Clicks and keys

  activate(name, event) {
    if (this.mapped) {
      this.targets.get(name)?.(event);
      return;
    }
    if (this.grid?.dragged) return;
    if (this.running !== null) {
      if (this.timer && this.running < this.lastStep()) this.scrub(this.lastStep()); // a click skips the story
      return;
    }
    if (!this.model.interactive || this.sent) {
      super.activate(name, event);
      return;
    }
    const square = name ? name.split("_").map(Number) : this.grid.squareAt(event.clientX, event.clientY);
    if (!square) return;
    if (event.pointerType === "touch" && this.grid.level === "far") this.grid.approach(...square);
    else this.act(...square);
  }

  onKey(event) {
    if (this.mapped) {
      super.onKey(event);
      return;
    }
    if (!this.grid?.svg.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.pressed(event)) event.preventDefault();
  }

  /** Whether the key means something here. */
  pressed(event) {
    const { key: pressed } = event,
      arrow = ARROWS[pressed];
    if (pressed === "+" || pressed === "=") this.grid.zoom(1.5);
    else if (pressed === "-") this.grid.zoom(1 / 1.5);
    else if (pressed === "0") this.grid.fit();
    else if (this.running !== null) {
      const to = { left: this.running - 1, right: this.running + 1, up: 0, down: this.lastStep() }[arrow];
      if (to !== undefined) this.scrub(to);
      else if (pressed === " " || pressed === "Enter") this.roll();
      else return false;
    } else if (!this.building() || this.sent) {
      if (pressed === "Enter" || pressed === " ") super.activate(null, event);
      else return false;
    } else return this.buildKey(event, arrow);
    return true;
  }

  buildKey({ key: pressed, shiftKey }, arrow) {
    const { builder } = this,
      word = pressed.toLowerCase();
    if (arrow && (shiftKey || !builder.piece)) {
      if (arrow === "up" && !shiftKey) this.start();
      else this.moveCursor(arrow);
    } else if (arrow) {
      const trap = this.mode === "trap";
      if (trap) this.mode = "piece";
      builder.press(trap ? `trap ${TRAP_KEYS[arrow]}` : arrow);
    } else if (/^[1-9]$/.test(pressed)) builder.press(`trap ${pressed}`);
    else if (word === "t") this.setMode(this.mode === "trap" ? "piece" : "trap");
    else if (word === "f") builder.complete();
    else if (pressed === "Backspace" || pressed === "Delete") builder.cut(this.sequence.length - 1);
    else if (pressed === "Escape") this.setMode("piece");
    else if (pressed === "Enter" || pressed === " ") {
      if (!builder.piece && !this.cursor) this.start();
      else if (builder.whole && !this.cursor && !this.decked) this.lay();
      else if (this.cursor) this.act(this.cursor.row, this.cursor.col);
    } else return false;
    return true;
  }

  /** Start where the cursor is. */
  start() {
    const col = this.cursor?.col ?? (this.size - 1) >> 1,
      step = this.builder.offersAt(this.size - 1, col)[0];
    if (step) this.builder.take(step);
  }

  moveCursor(arrow) {
    const at = this.cursor ?? this.builder.piece ?? { row: this.size - 1, col: (this.size - 1) >> 1 },
      [down, right] = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[arrow];
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    this.cursor = { row: within(at.row + down, -1, this.size - 1), col: within(at.col + right, 0, this.size - 1) };
    this.offer();
    this.grid.keepInView(this.cursor.row, this.cursor.col);
    this.calls.say(this.label(this.cursor.row, this.cursor.col));
  }

  // Below the board

  controls(round) {
    const button = (name, act, on = true, extra = {}) =>
      html(
        "button",
        {
          class: `button tight${extra.first ? " first" : ""}`,
          type: "button",
          disabled: !on,
          onclick: act,
          ...extra.more,
        },
        name,
      );
    if (round) this.roundControls(round, button);
    else if (this.mapped) {
      this.equip("map");
      this.tell(`${this.model.word || ""} Your boards are the rows, the others the columns; a click runs a round.`);
    } else if (!this.building()) {
      this.equip("none");
      this.tell(this.model.word || "");
    } else this.buildControls(button);
  }

  roundControls(round, button) {
    const k = this.running,
      end = this.lastStep(),
      points = pointsAt(round, k),
      [own, other] = [points[this.eyes], points[1 - this.eyes]];
    const words = k >= end ? ENDINGS[round.ended] : `Step ${k + 1} of ${end + 1}.`;
    const seen = this.selected
      ? `Board ${this.selected.own + 1} against board ${this.selected.other + 1}.`
      : this.trial
        ? "Tried out."
        : `Round ${this.model.state.history.length}.`;
    this.tell(`${seen} ${words}${this.fogWords(round, k)}`);
    const kind = `round ${end} ${this.trial?.id} ${Boolean(this.selected)} ${this.model.interactive}`;
    if (this.equipped !== kind || this.equippedRound !== round) {
      this.equippedRound = round;
      this.equipped = null;
      this.tally = html("span", { class: "tally" });
      this.range = html("input", {
        type: "range",
        min: 0,
        max: end,
        "aria-label": "Step of the round",
        oninput: (event) => this.scrub(Number(event.target.value)),
      });
      this.equip(
        kind,
        this.tally,
        this.range,
        button("▶", () => this.roll(), true, { more: { "aria-label": "Run the round" } }),
        ...this.roundButtons(button),
      );
    }
    this.tally.textContent = `${own} : ${other}`;
    if (Number(this.range.value) !== k) this.range.value = k;
  }

  roundButtons(button) {
    if (this.selected)
      return [
        button(
          "All rounds",
          () => {
            clearTimeout(this.timer);
            this.selected = this.running = null;
            this.render();
          },
          true,
          { first: true },
        ),
      ];
    if (this.trial) {
      const against = html(
        "select",
        { class: "rival", "aria-label": "Try it against", onchange: (event) => this.tryOut(event.target.value) },
        ...this.rivals().map(([id, words]) => html("option", { value: id, selected: id === this.trial.id }, words)),
      );
      return [against, button("Lay on", () => this.build(), true, { first: true })];
    }
    return this.model.interactive ? [button("Next round", () => this.build(), true, { first: true })] : [];
  }

  /** The steps at which a board in the fog set traps. */
  fogWords(round, k) {
    const lists = [this.eyes, 1 - this.eyes]
      .filter((seat) => round.fog?.[seat])
      .map((seat) => {
        const steps = round.traps[seat].map(([step]) => step).filter((step) => step <= k + 1);
        const whose = round.fog.every(Boolean) ? `Seat ${seat + 1}` : "The other";
        if (!steps.length) return "";
        const last = steps.slice(-MAX_TRAPS),
          which = last.length < steps.length ? ", the last ones" : "";
        return steps.length === 1
          ? ` ${whose} set a trap at step ${steps[0]}.`
          : ` ${whose} set ${steps.length} traps${which} at steps ${last.join(", ")}.`;
      });
    return lists.join("");
  }

  buildControls(button) {
    const { whole, sequence } = this.builder;
    const kind = (name, mode) =>
      html(
        "button",
        { type: "button", "aria-pressed": String(this.mode === mode), onclick: () => this.setMode(mode) },
        name,
      );
    const segments = html(
      "span",
      { class: "segments", role: "group", "aria-label": "What a click does" },
      kind("Step", "piece"),
      kind("Trap", "trap"),
    );
    const back = button("Back", () => this.builder.cut(this.sequence.length - 1), sequence.length > 0);
    const clear = button("Clear", () => this.builder.cut(0), sequence.length > 0);
    const on = button("To goal", () => this.builder.complete(), sequence.length > 0 && !whole, {
      more: { title: "Go on to the goal as directly as possible" },
    });
    const tried = button("Try", () => this.tryOut(this.rivals()[0][0]), sequence.length > 0, {
      more: { title: "Run this board, finished or not, against another" },
    });
    const begun = Math.min(1, sequence.length);
    if (this.decked) {
      this.deckControls(button, [segments, back, clear, on, tried]);
      return;
    }
    this.tell(
      whole
        ? "The board is complete. Lay it, or take steps back."
        : !begun
          ? `${this.laid() ? "The other board is shown, turned around. " : ""}Choose where to start on the bottom row.`
          : this.mode === "trap"
            ? "Where is the trap set?"
            : `Step ${sequence.length + 1}: step, or set a trap.`,
    );
    this.equip(
      `board ${this.mode} ${begun} ${whole}`,
      segments,
      back,
      clear,
      on,
      tried,
      button("Lay board", () => this.lay(), whole, { first: true }),
    );
  }

  /** The buttons below the board. Those that are there already stay: a click may just be coming down on one. */
  equip(kind, ...nodes) {
    if (kind === this.equipped) return;
    this.equipped = kind;
    this.tools.replaceChildren(...nodes);
  }

  deckControls(button, [segments, back, clear, on, tried]) {
    const ready = this.deck.every(finished),
      { whole, sequence } = this.builder,
      next = this.deck.findIndex((one) => !finished(one));
    this.tell(
      ready
        ? "The deck is complete. Lay it, or change a board."
        : whole
          ? `Board ${this.at + 1} is complete.`
          : sequence.length
            ? `Board ${this.at + 1} of ten: step, or set a trap.`
            : `Board ${this.at + 1} of ten: choose where to start on the bottom row.`,
    );
    this.equip(
      `deck ${this.mode} ${this.at} ${this.deck.map((one) => `${Math.min(1, one.length)}${finished(one)}`)}`,
      places(this.deck, this.at, this.eyes, (number) => this.turnTo(number)),
      segments,
      back,
      on,
      tried,
      ready ? clear : button("Fill up", () => this.fillUp(), true, { more: { title: "with random boards" } }),
      ready
        ? button("Lay deck", () => this.lay(), true, { first: true })
        : button("Next board", () => this.turnTo(next), whole, { first: true }),
    );
  }
}
