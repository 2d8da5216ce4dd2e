// Spaces: a builder for boards, and two boards run against each other on one grid, with a time line.
//
// The frame always has the goal above and the goal of the other side below, so that nothing jumps between the two.

import { counted, post, sentence } from "../api.js";
import { Board } from "../board.js";
import { moves } from "../draw.js";
import { DECK, fill, matrix } from "./decks.js";
import { Builder } from "./spaces_builder.js";
import { boardOf, codeOf, isLarge, pictureOf, sequenceOf, wordsOf } from "./spaces_codes.js";
import { Controls } from "./spaces_controls.js";
import { Grid } from "./spaces_grid.js";
import { press } from "./spaces_keys.js";
import { BESIDE, Offers } from "./spaces_offers.js";
import { Path } from "./spaces_paths.js";
import { lengthOf, pointsAt, RoundLayer } from "./spaces_round.js";

const PACE = 650,
  /** A run of many steps is told in about this many milliseconds. */
  STORY = 14_000;

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
    rules: { words: { written: "written: the classic text", live: "live: as in the public game" } },
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
  static score({ totals, rounds, mode }, seat) {
    return `${counted(totals[seat], "point", "points")}${mode === "rounds" && rounds > 1 ? " in all" : ""}`;
  }
  static scale({ size }) {
    return size;
  }
  /** A board in a list of moves is a small picture. */
  static moveNode(text, seat) {
    return pictureOf(text, seat) ?? text;
  }
  static moveWords(text) {
    return wordsOf(text);
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
    this.controls = new Controls(this);
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
  get telling() {
    return Boolean(this.timer) && this.running !== null;
  }
  scoreTold(seat) {
    if (!this.telling || this.trial || this.selected) return null;
    const { round } = this,
      missing = pointsAt(round, this.lastStep())[seat] - pointsAt(round, this.running)[seat];
    return counted(this.model.state.totals[seat] - missing, "point", "points");
  }
  settle() {
    if (this.running !== null) this.build();
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
      if (running === null) this.stop();
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
    const mover = model.seat ?? this.eyes;
    this.paths.best.show(best, mover, this.placeOf(mover), mover === this.eyes ? -shift : 0);
    this.rounds.show(round, Math.min(this.running ?? 0, this.lastStep()), this.placeOf(0));
    this.offers.show();
    this.look(round);
    this.controls.show(round);
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
    this.offers = new Offers(this);
    this.paths = { other: new Path(grid, "other"), own: new Path(grid), best: new Path(grid, "other hinted") };
    this.rounds = new RoundLayer(grid);
    this.targets.clear();
    this.viewed = false;
    if (focused) this.offers.focus.focus({ preventScroll: true });
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

  // Building

  /** The board that is being laid has changed. */
  built() {
    if (this.decked) this.deck[this.at] = this.sequence;
    if (!this.model) return;
    if (this.builder.known && this.mode === "trap" && !this.trappable()) this.mode = "piece"; // the word says why
    const { wanted } = this;
    this.wanted = null;
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
    if (wanted && this.builder.offersAt(...wanted).length) this.act(...wanted);
  }

  /** A square was chosen. */
  act(row, col, mode = this.mode) {
    if (!this.building() || this.sent) return;
    const step = this.offers.pick(this.builder.offersAt(row, col), mode);
    if (step) this.builder.take(step);
    else if (!this.builder.run(row, col)) this.builder.refuse(row, col, mode === "trap" && this.sequence.length > 0);
  }

  /** What a click does: step, or set a trap if one can be set now. */
  setMode(mode) {
    if (mode === "trap" && this.builder.known && !this.trappable()) {
      this.tell("No trap can be set now.", true);
      return;
    }
    this.mode = mode;
    this.render();
  }

  trappable() {
    return this.sequence.length > 0 && this.builder.next.some(({ type }) => type === "trap");
  }

  /** The click that takes back a round may choose a square as well: once the server has said what can be chosen. */
  pickAt(_key, event) {
    this.wanted = this.grid?.squareAt(event.clientX, event.clientY) ?? null;
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
      this.decked ? (large ? this.deck.map(board).join(",") : { deck: this.deck.map(board) }) : board(this.sequence),
    );
    for (const one of this.tools.querySelectorAll("button")) one.disabled = true;
    this.controls.equipped = null;
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
    this.controls.show(null);
    return matrix(this.model.state.history, this.eyes, (at, x, y, side, label, children) =>
      this.target(`m${at}`, x, y, side, side, label, () => this.pickRound(at), { children, seat: this.eyes }),
    );
  }

  // Running

  /** Back to the board that is being laid. */
  build() {
    this.stop();
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
    this.calls.step?.();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  scrub(k) {
    this.stop();
    this.go(Math.max(0, Math.min(this.lastStep(), k)));
  }

  roll() {
    this.stop();
    const pace = Math.max(40, Math.min(PACE, STORY / (this.lastStep() + 1)));
    const on = () => {
      this.timer = null;
      if (this.running === null || this.running >= this.lastStep() || !this.round) return;
      this.timer = setTimeout(on, pace);
      this.go(this.running + 1);
    };
    this.timer = setTimeout(on, pace);
    this.go(0);
  }

  // Clicks and keys

  /** Somebody wants to do something while there is nothing to do. */
  wait() {
    super.activate();
  }

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
    if (this.mapped) super.onKey(event);
    else if (this.grid?.svg.contains(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey)
      if (press(this, event)) event.preventDefault();
  }
}
