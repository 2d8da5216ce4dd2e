// Spaces: a builder for boards, and two boards run against each other on one grid, with a time line.
//
// The frame always has the goal above and the goal of the other side below, so that nothing jumps between the two.

import { counted, post } from "../api.js";
import { Board } from "../board.js";
import { html, motion, moves, STEP, shape, slide, svg } from "../draw.js";
import { DECK, fill, finished, matrix, places } from "./decks.js";

const CELL = 92,
  GAP = 4,
  PAD = 9,
  GOAL = 58;
const PACE = 650;
/** Where both boards are in view, each is drawn a little to its side. */
const BESIDE = 20;
/** Traps are drawn above the pieces of their square. */
const ABOVE = 31;
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
    return !move.deck;
  }
  /** An analysis is one round, in which both boards are seen. */
  static firstOptions = { rounds: 1, choice: "seen", mode: "rounds" };
  static shape = [
    ["size", "Size", [2, 3, 4, 5, 6, 7, 8, 9, 10]],
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
    choice: { words: { seen: "seen: the answer knows the board", blind: "blind: both lie face down" } },
    size: { limits: [2, 10] },
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
    const moves = text.split("|"),
      size = Number.parseInt(moves[0], 10);
    return { moves, options: size ? { size } : {} };
  }

  constructor(...rest) {
    super(...rest);
    this.bar.classList.add("tall");
    this.sequence = [];
    this.following = [];
    this.mode = "piece";
    this.running = null;
    this.deck = [];
    this.at = 0;
    this.selected = null;
    this.host.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "t" && this.building()) this.setMode(this.mode === "trap" ? "piece" : "trap");
    });
    this.host.addEventListener("contextmenu", (event) => {
      if (this.building()) {
        event.preventDefault();
        this.#other(event);
      }
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
  /** The round that is shown: of the position, or the one that was picked among those of two decks. */
  get round() {
    return this.selected || this.model.marks?.round;
  }
  building() {
    return this.model.interactive && this.running === null;
  }
  describe() {
    return this.building()
      ? "Grid to lay a board on. Arrow keys move, Enter takes the step, T switches between step and trap."
      : "The round as it was played.";
  }

  update(model) {
    const played = (state) => state?.history?.length ?? 0;
    const fresh = !this.model || this.model.state !== model.state;
    const ran =
      fresh &&
      model.state.mode !== "deck" &&
      played(model.state) > 0 &&
      played(model.state) !== played(this.model?.state) &&
      !(this.model === null && model.interactive);
    if (fresh) {
      this.sequence = [];
      this.following = [];
      this.mode = "piece";
      this.deck = Array.from({ length: DECK }, () => []);
      this.at = 0;
      this.selected = null;
    }
    if (fresh) this.running = null;
    this.bar.classList.toggle("decks", model.state.mode === "deck");
    if (model.best && model.best !== this.model?.best && model.interactive && this.model) {
      this.running = null;
    }
    const lookBack = !model.interactive && played(model.state) > 0 && model.marks?.round;
    if (ran || (fresh && lookBack && !model.state.chosen))
      this.running = model.animate && moves() ? 0 : this.lastStep(model);
    super.update({ ...model, animate: false });
    if (model.interactive && fresh) this.ask();
    if (ran && model.animate) this.roll();
  }

  lastStep(model = this.model) {
    return ((this.selected || model.marks?.round)?.steps.length ?? 1) - 1;
  }

  // Places

  corner(row, col) {
    const y = row < 0 ? 0 : GOAL + GAP + PAD + row * (CELL + GAP) + (row >= this.size ? PAD : 0);
    return [PAD + col * (CELL + GAP), y];
  }

  high(row) {
    return row < 0 || row >= this.size ? GOAL : CELL;
  }

  middle(row, col) {
    const [x, y] = this.corner(row, col);
    return [x + CELL / 2, y + this.high(row) / 2];
  }

  /** A square of the common grid as these eyes see it; `seat` for squares of that seat's own board. */
  seen(row, col, seat = 0) {
    return seat === this.eyes ? [row, col] : [this.size - 1 - row, this.size - 1 - col];
  }

  draw() {
    const n = this.size,
      width = n * (CELL + GAP) - GAP + 2 * PAD,
      inner = n * (CELL + GAP) - GAP + 2 * PAD,
      height = inner + 2 * (GOAL + GAP);
    if (this.mapped) {
      this.controls(null);
      return matrix(this.model.state.history, this.eyes, (at, x, y, side, label, children) =>
        this.target(`m${at}`, x, y, side, side, label, () => this.pickRound(at), { children, seat: this.eyes }),
      );
    }
    const round = this.running === null ? null : this.round;
    const parts = [svg("rect", { class: "frame", x: 0, y: GOAL + GAP, width, height: inner, rx: 14 })];
    for (let row = -1; row <= n; row++) for (let col = 0; col < n; col++) parts.push(this.cell(row, col));
    parts.push(...(round ? this.roundMarks(round) : [...this.otherBoard(), ...this.ownBoard(), ...this.best()]));
    this.controls(round);
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "grid" }, ...parts);
  }

  cell(row, col) {
    const n = this.size,
      [x, y] = this.corner(row, col),
      [mx, my] = this.middle(row, col);
    const outside = row < 0 || row >= n;
    const children = outside
      ? [svg("rect", { class: "goal", x: x + 3, y: y + 6, width: CELL - 6, height: GOAL - 12, rx: 8 })]
      : [svg("rect", { class: "cell", x, y, width: CELL, height: CELL, rx: 7 })];
    if (outside && !(row >= n && this.running === null && this.laid()))
      children.push(
        svg("text", { class: "goal-word", x: mx, y: my }, row < 0 || this.running !== null ? "goal" : "start"),
      );
    const offers = this.building() ? this.following.filter(({ position: p }) => p.row === row && p.col === col) : [];
    const step = offers.find((one) => one.type !== "trap"),
      trap = offers.find((one) => one.type === "trap");
    const first = this.mode === "trap" ? trap || step : step || trap,
      seat = this.eyes;
    const x0 = this.laid() ? mx - BESIDE : mx;
    if (step) children.push(shape(seat, x0, my, this.mode === "trap" && trap ? 6 : 12, "spot"));
    if (trap && (this.mode === "trap" || !step))
      children.push(
        this.cross(
          x0,
          this.laid() || this.contents(row, col) ? my - ABOVE : my,
          seat,
          this.mode === "trap" ? 14 : 9,
          "trap maybe",
        ),
      );
    const what =
      first &&
      (first.type === "final"
        ? "finish"
        : first.type === "trap"
          ? "set a trap"
          : this.sequence.length
            ? "step here"
            : "start here");
    const act = () => (first ? this.take(first) : this.refused(row, col));
    return this.target(
      key(row, col),
      x,
      y,
      CELL,
      this.high(row),
      [
        outside ? (row < 0 ? `goal ${col}` : `below column ${col}`) : `row ${row} column ${col}`,
        this.contents(row, col),
        what,
      ]
        .filter(Boolean)
        .join(", "),
      act,
      { live: Boolean(first), children, seat },
    );
  }

  contents(row, col) {
    return this.sequence
      .filter(({ position: p }) => p.row === row && p.col === col)
      .map(({ type, order }) => `${type} ${order}`)
      .join(" ");
  }

  cross(x, y, seat, r = 14, name = "trap") {
    return svg("path", {
      class: `${name} s${seat}`,
      d: `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`,
      "pointer-events": "none",
    });
  }

  laid() {
    const { state } = this.model;
    return state.chosen && state.to_move === this.eyes ? state.chosen : null;
  }

  otherBoard() {
    const laid = this.laid();
    return laid
      ? [
          svg(
            "g",
            { class: `other s${1 - this.eyes}`, "pointer-events": "none" },
            ...this.path(laid.sequence, 1 - this.eyes, BESIDE),
          ),
        ]
      : [];
  }

  ownBoard() {
    const { state } = this.model,
      own = this.building()
        ? this.sequence
        : state.chosen && state.to_move === 1 - this.eyes
          ? (state.chosen.sequence ?? [])
          : [];
    return [svg("g", { "pointer-events": "none" }, ...this.path(own, this.eyes, this.laid() ? -BESIDE : 0))];
  }

  best() {
    const { best } = this.model;
    return best
      ? [
          svg(
            "g",
            { class: `other hinted s${this.eyes}`, "pointer-events": "none" },
            ...this.path(best.sequence, this.eyes, this.laid() ? -BESIDE : 0),
          ),
        ]
      : [];
  }

  /** A board as a numbered line with crosses. */
  path(sequence, seat, shift) {
    const at = ({ position: p }) => {
      const [r, c] = this.seen(p.row, p.col, seat);
      const [x, y] = this.middle(r, c);
      return [x + shift, y];
    };
    const steps = sequence.filter((one) => one.type !== "trap");
    const parts =
      steps.length > 1
        ? [svg("path", { class: `way s${seat}`, d: `M${steps.map((one) => at(one).join(" ")).join("L")}` })]
        : [];
    for (const one of sequence) {
      const [x, y] = at(one);
      if (one.type === "trap")
        parts.push(
          this.cross(x, y - ABOVE, seat, 10),
          svg("text", { class: `trap-number s${seat}`, x: x + 20, y: y - ABOVE }, String(one.order)),
        );
      else
        parts.push(
          shape(seat, x, y, 14),
          svg("text", { class: "step-number", x, y: y + 0.5 }, one.type === "final" ? "★" : String(one.order)),
        );
    }
    return parts;
  }

  roundMarks(round) {
    const k = Math.min(this.running, round.steps.length - 1),
      parts = [];
    const turned = ([row, col]) => this.seen(row, col, 0);
    for (const seat of [0, 1]) {
      const way = [];
      for (let step = 0; step <= k; step++) {
        const { squares, traps } = round.steps[step];
        const [x, y] = this.middle(...turned(squares[seat]));
        const last = way[way.length - 1];
        if (!last || last[0] !== x || last[1] !== y) way.push([x, y]);
        if (traps[seat]) {
          const [tx, ty] = this.middle(...turned(traps[seat]));
          parts.push(this.cross(tx + (seat ? 9 : -9), ty + (seat ? 9 : -9), seat, 17));
        }
      }
      if (way.length > 1)
        parts.push(svg("path", { class: `way s${seat}`, d: `M${way.map((at) => at.join(" ")).join("L")}` }));
    }
    const { squares, events } = round.steps[k];
    const shared = squares[0][0] === squares[1][0] && squares[0][1] === squares[1][1];
    for (const seat of [0, 1]) {
      const [x, y] = this.middle(...turned(squares[seat]));
      parts.push(
        svg(
          "g",
          { "data-runner": seat, "pointer-events": "none" },
          shape(seat, x + (shared ? (seat ? 15 : -15) : 0), y, 21),
        ),
      );
      const sum = events
        .filter((one) => one.seat === seat)
        .map(({ points }) => (points > 0 ? "+1" : points < 0 ? "−1" : "0"));
      for (const [number, text] of sum.entries())
        parts.push(
          svg(
            "text",
            { class: text === "+1" ? "won" : "gone", x: x + (seat ? 30 : -30), y: y - 26 + number * 20 },
            text,
          ),
        );
    }
    return parts;
  }

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
    if (round) {
      const k = this.running,
        { points } = round.steps[k],
        end = this.lastStep();
      const range = html("input", {
        type: "range",
        min: 0,
        max: end,
        value: k,
        "aria-label": "Step of the round",
        oninput: (event) => this.scrub(Number(event.target.value)),
      });
      const [own, other] = [points[this.eyes], points[1 - this.eyes]];
      const words =
        k === end
          ? `Ended by ${round.ended === "goal" ? "reaching the goal" : `a ${round.ended}`}.`
          : `Step ${k + 1} of ${end + 1}.`;
      this.tell(
        this.selected
          ? `Board ${this.selected.own + 1} against board ${this.selected.other + 1}. ${words}`
          : `Round ${this.model.state.history.length}. ${words}`,
      );
      this.equip(
        null,
        html("span", { class: "tally" }, `${own} : ${other}`),
        range,
        button("▶", () => this.roll(), true, { more: { "aria-label": "Run the round" } }),
        ...(this.selected
          ? [
              button(
                "All rounds",
                () => {
                  this.selected = null;
                  this.running = null;
                  this.render();
                },
                true,
                { first: true },
              ),
            ]
          : this.model.interactive
            ? [button("Next round", () => this.build(), true, { first: true })]
            : []),
      );
      const again = this.ranged;
      this.ranged = false;
      if (again) range.focus();
      return;
    }
    if (this.mapped) {
      this.equip(null);
      this.tell(`${this.model.word || ""} Your boards are the rows, the others the columns; a click runs a round.`);
      return;
    }
    if (!this.building()) {
      this.equip(null);
      this.tell(this.model.word || "");
      return;
    }
    const whole = finished(this.sequence);
    const kind = (name, mode) =>
      html(
        "button",
        { type: "button", "aria-pressed": String(this.mode === mode), onclick: () => this.setMode(mode) },
        name,
      );
    if (this.decked) {
      this.deckControls(button, kind, whole);
      return;
    }
    this.tell(
      whole
        ? "The board is complete. Lay it, or take steps back."
        : !this.sequence.length
          ? `${this.laid() ? "The other board is shown, turned around. " : ""}Choose where to start on the bottom row.`
          : this.mode === "trap"
            ? "Where is the trap set?"
            : "Step, or set a trap.",
    );
    this.equip(
      `board ${this.mode} ${this.sequence.length} ${whole}`,
      html(
        "span",
        { class: "segments", role: "group", "aria-label": "What a click does" },
        kind("Step", "piece"),
        kind("Trap", "trap"),
      ),
      button("Back", () => this.cut(this.sequence.length - 1), this.sequence.length > 0),
      button("Clear", () => this.cut(0), this.sequence.length > 0),
      button("Lay board", () => this.lay(), whole, { first: true }),
    );
  }

  /** The buttons below the board. Those that are there already stay: a click may just be coming down on one. */
  equip(kind, ...nodes) {
    if (kind !== null && kind === this.equipped) return;
    this.equipped = kind;
    this.tools.replaceChildren(...nodes);
  }

  deckControls(button, kind, whole) {
    const ready = this.deck.every(finished),
      next = this.deck.findIndex((sequence) => !finished(sequence));
    this.tell(
      ready
        ? "The deck is complete. Lay it, or change a board."
        : whole
          ? `Board ${this.at + 1} is complete.`
          : this.sequence.length
            ? `Board ${this.at + 1} of ten: step, or set a trap.`
            : `Board ${this.at + 1} of ten: choose where to start on the bottom row.`,
    );
    this.equip(
      `deck ${this.mode} ${this.at} ${this.deck.map((one) => `${one.length}${finished(one)}`)}`,
      places(this.deck, this.at, this.eyes, (number) => this.turnTo(number)),
      html(
        "span",
        { class: "segments", role: "group", "aria-label": "What a click does" },
        kind("Step", "piece"),
        kind("Trap", "trap"),
      ),
      button("Back", () => this.cut(this.sequence.length - 1), this.sequence.length > 0),
      ready
        ? button("Clear", () => this.cut(0), this.sequence.length > 0)
        : button("Fill up", () => this.fillUp(), true, { more: { title: "with random boards" } }),
      ready
        ? button("Lay deck", () => this.lay(), true, { first: true })
        : button("Next board", () => this.turnTo(next), whole, { first: true }),
    );
  }

  /** Another board of the deck is built on. */
  turnTo(number) {
    this.at = number;
    this.sequence = this.deck[number];
    this.following = [];
    this.render();
    this.ask();
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

  async pickRound(at) {
    const { state } = this.model,
      { boards } = state.history[at],
      row = Math.floor(at / DECK),
      col = at % DECK;
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

  // Building

  setMode(mode) {
    this.mode = mode;
    this.render();
  }

  #other(event) {
    const node = event.target.closest("[data-key]");
    if (!node) return;
    const kept = this.mode;
    this.mode = kept === "trap" ? "piece" : "trap";
    this.render();
    this.activate(node.dataset.key, event);
    this.mode = "piece";
    this.render();
  }

  async ask() {
    const asked = (this.asked || 0) + 1;
    this.asked = asked;
    const { size, rules } = this.model.state;
    try {
      const answer = await post("/spaces/boards", { size, rules, sequence: this.sequence });
      if (asked !== this.asked) return;
      this.following = answer.next;
      this.render();
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  take(step) {
    this.keep([...this.sequence, step]);
    if (step.type === "trap") this.mode = "piece";
    this.following = [];
    this.render();
    this.calls.say(`${step.type} ${step.order}`);
    this.ask();
  }

  /** The board as it is now, in a deck at its place. */
  keep(sequence) {
    this.sequence = sequence;
    if (this.decked) this.deck[this.at] = sequence;
  }

  cut(length) {
    this.keep(this.sequence.slice(0, length));
    this.following = [];
    this.render();
    this.ask();
  }

  async refused(row, col) {
    if (!this.building()) return;
    const order = this.sequence.length + 1,
      { size, rules } = this.model.state;
    const type = this.mode === "trap" && this.sequence.length ? "trap" : row < 0 ? "final" : "piece";
    try {
      await post("/spaces/boards", {
        size,
        rules,
        sequence: [...this.sequence, { position: { row, col }, type, order }],
      });
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  lay() {
    const board = (sequence) => ({ boardSize: this.size, sequence });
    if (this.sent) return;
    this.submit(this.decked ? { deck: this.deck.map(board) } : board(this.sequence));
    for (const one of this.tools.querySelectorAll("button")) one.disabled = true;
    this.equipped = null;
  }

  // Running

  build() {
    this.running = null;
    this.render();
  }

  scrub(k) {
    clearTimeout(this.timer);
    this.ranged = true;
    this.go(k);
  }

  go(k) {
    const before = this.running;
    this.running = k;
    this.render();
    const { steps } = this.round;
    if (before === null || Math.abs(before - k) !== 1) return;
    for (const seat of [0, 1]) {
      const [x, y] = this.middle(...this.seen(...steps[k].squares[seat])),
        [fx, fy] = this.middle(...this.seen(...steps[before].squares[seat]));
      if (x !== fx || y !== fy) slide(this.host.querySelector(`[data-runner="${seat}"]`), fx - x, fy - y);
    }
    for (const node of this.host.querySelectorAll(".won, .gone"))
      motion(
        node,
        [
          { opacity: 0, transform: "translateY(8px)" },
          { opacity: 1, transform: "none" },
        ],
        STEP,
        120,
      );
  }

  roll() {
    clearTimeout(this.timer);
    this.go(0);
    const on = () => {
      if (this.running === null || this.running >= this.lastStep() || !this.round) return;
      this.go(this.running + 1);
      this.timer = setTimeout(on, PACE);
    };
    this.timer = setTimeout(on, PACE);
  }

  activate(name, event) {
    if (this.mapped) {
      this.targets.get(name)?.(event);
      return;
    }
    if (this.running !== null) return;
    super.activate(name, event);
  }
}
