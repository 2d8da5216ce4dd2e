// What all boards share: targets that can be clicked, tapped and reached with the arrow keys, and the word below.
//
// A board draws anew what `update` gives it; it keeps nothing but what the person has picked so far.
// What is legal comes with the position, from the server; whether a refused click had a reason is asked there too.

import { html, svg } from "./draw.js";

/** Milliseconds for which a refusal is shown above the board. */
const SHOWN = 6000;
const DIRECTIONS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** The middle of a target on the screen; null for what is none. */
function middle(node) {
  const hit = node.querySelector(".hit")?.getBoundingClientRect();
  return hit?.width || hit?.height ? [hit.x + hit.width / 2, hit.y + hit.height / 2] : null;
}

function nearest(nodes, [x, y]) {
  const far = (node) => Math.hypot(...(middle(node) ?? [Infinity, 0]).map((at, axis) => at - [x, y][axis]));
  return nodes.length ? nodes.reduce((best, node) => (far(node) < far(best) ? node : best)) : null;
}

/** A board, and by static fields what a page needs to know about its game. Boards of games override them. */
export class Board {
  /** Whether the board is turned around for seat 1, and whether a button flips it. */
  static turns = true;
  static flips = true;
  /** Milliseconds between moves: those shown one after another in a play, and those of a running replay. */
  static moveDelay = 420;
  static replayDelay = 1000;
  /** The score of a seat in words. */
  static score() {
    return "";
  }
  /** Whether a move begins a row of the move list; `column` is the seat of the move before. */
  static startsRow(_at, seat, column) {
    return seat <= column;
  }
  /** A move in a list: its text, or a small picture of it; and in words, for a title and for screen readers. */
  static moveNode(text, _seat) {
    return text;
  }
  static moveWords(text) {
    return text;
  }
  /** A hint in words, for a first game; empty: its notation. */
  static tryWords() {
    return "";
  }
  /** How to make a hinted move, where an arrow does not say it. */
  static hintWords() {
    return "";
  }
  /** The unit of the engine's scores, and the score that is a clear advantage. */
  static unit = "";
  static scale() {
    return 4;
  }
  /** What the play page says below the moves; whether it has the button Analysis. */
  static help = "Analysis shows the best moves and who is ahead. A hint shows one move on the board.";
  static analysed = true;
  /** Whether a replay with these options links to the analysis board and shows best moves; whether a move can be drawn. */
  static analysable() {
    return true;
  }
  static drawable() {
    return true;
  }
  /** Seconds of the analysis board's searches, one after another; whether a solver is asked for the exact value too. */
  static searches = [0.3, 1.2, 3];
  static solved = false;
  /** The options of a first position on the analysis board; null: it begins with the showcase of the game. */
  static firstOptions = null;
  /** The options by which the analysis board begins anew: [name, title, values]. */
  static shape = [];
  /** Loads the editor of positions. Games without one may have words for laying whole boards on the grid. */
  static editor = null;
  static laying = null;
  /** Moves and options in a pasted text that is not a position; null if it has none. */
  static pasted() {
    return null;
  }
  /** The options and the state with which the engine is asked for a hint. */
  static question(state, options) {
    return { options, state };
  }
  /** The fields of options in the dialog of a new game: name -> { title, limits, words }. */
  static fields = {};
  /** Names of the options that have no meaning beside the others. */
  static unused() {
    return [];
  }

  /** host: the element to draw in; bar: the line below it; calls: `move(raw)`, `why(raw)`, `say(text)` and perhaps `step()`,
   * after each step of a story. */
  constructor(host, bar, calls) {
    this.host = host;
    this.word = bar.querySelector(".word");
    this.tools = bar.querySelector(".tools");
    this.bar = bar;
    this.calls = calls;
    this.pick = {};
    this.sent = false;
    this.own = false;
    this.model = null;
    this.targets = new Map();
    /** Whether the last input came from the keyboard: only then does the board show where its cursor is. */
    this.byKeys = false;
    for (const type of ["keydown", "pointerdown"])
      document.addEventListener(type, () => this.#usesKeys(type === "keydown"), true);
    host.addEventListener("click", (event) => this.#click(event));
    host.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** model: state, legal, marks, last, before, seat, interactive, best, others, line, better, flip, animate, analysis, edit, plain
   * (only the tools that a beginner needs). */
  update(model) {
    const before = this.model;
    this.model = model;
    this.own = this.sent;
    this.sent = false;
    if (this.own || !before || before.state !== model.state || before.interactive !== model.interactive) this.pick = {};
    this.render();
    if (model.animate && before) this.animate(before);
  }

  /** Draws everything; what had the focus has it again or, if it is gone, what is nearest to it. */
  render() {
    const focused = this.host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const cursor = focused ? document.activeElement : this.host.querySelector('[tabindex="0"]'),
      current = cursor?.dataset.key,
      place = cursor && middle(cursor);
    this.targets.clear();
    const drawing = this.draw();
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", this.describe());
    const { width, height } = drawing.viewBox.baseVal;
    this.host.parentElement.style.setProperty("--ratio", (width / height).toFixed(3));
    this.host.replaceChildren(drawing);
    const nodes = [...this.host.querySelectorAll(".target")];
    const stop =
      nodes.find((node) => node.dataset.key === current) ||
      (place && nearest(nodes, place)) ||
      nodes.find((node) => node.classList.contains("live")) ||
      nodes[0];
    if (stop) stop.setAttribute("tabindex", "0");
    if (focused && stop) stop.focus({ preventScroll: true });
    this.host.toggleAttribute("data-ready", Boolean(this.model.interactive));
  }

  /** Something that can be clicked. `act` null: a click is answered with `why`. */
  target(key, x, y, width, height, label, act, extra = {}) {
    const { live = Boolean(act), round = 8, children = [], seat = this.model.seat } = extra;
    this.targets.set(key, act);
    return svg(
      "g",
      {
        class: `target s${seat ?? 0}${live && this.model.interactive ? " live" : ""}`,
        role: "button",
        tabindex: "-1",
        "data-key": key,
        "aria-label": label,
        "aria-disabled": live || this.model.edit ? null : "true",
      },
      ...children,
      svg("rect", { class: "hit", x, y, width, height, rx: round }),
    );
  }

  tell(text, refused = false) {
    this.word.textContent = text;
    this.word.classList.toggle("no", refused);
    this.#warn(refused ? text : "");
  }

  /** A refusal, just above the board as well: the line below, which is read out, may be where nobody looks. */
  #warn(text) {
    clearTimeout(this.warned);
    this.host.querySelector(".refusal")?.remove();
    if (!text) return;
    const node = html("p", { class: "refusal", "aria-hidden": "true" }, text);
    this.host.append(node);
    this.warned = setTimeout(() => node.remove(), SHOWN);
  }

  /** Says what to do now. */
  guide(text) {
    if (this.model.interactive) this.tell(text);
    else this.tell(this.model.word || "");
  }

  async refuse(raw) {
    try {
      this.tell(await this.calls.why(raw), true);
    } catch {
      this.tell("You cannot do that here.", true);
    }
  }

  /** Hands a move over. Until there is an answer the board stays as it is and takes nothing more. */
  submit(raw) {
    this.sent = true;
    this.host.removeAttribute("data-ready");
    this.calls.move(raw);
  }

  /** What a bot expects, move by move, in the colours of the seats; `draw` gets a move, its position and its seat.
   * Below it the move that would have been better than the last one, as it was in the position before. */
  line(draw) {
    const { better, line = [] } = this.model;
    return [
      ...(better ? [svg("g", { class: "better" }, ...draw(better.move, better.state, better.seat))] : []),
      ...line.map(({ move, state, seat }, at) =>
        svg("g", { class: `own-line s${seat}${at ? " later" : ""}`, "data-line": at + 1 }, ...draw(move, state, seat)),
      ),
    ];
  }

  describe() {
    return "Board";
  }
  /** Whether the board is telling a story that the page should not interrupt. */
  get telling() {
    return false;
  }
  /** The score of a seat in words at this moment of the story; null: the one of the position. */
  scoreTold(_seat) {
    return null;
  }
  /** Show the position itself, not what has led to it. */
  settle() {}
  animate() {}

  #usesKeys(on) {
    this.byKeys = on;
    this.host.toggleAttribute("data-pointer", !on);
  }

  #click(event) {
    const node = event.target.closest?.("[data-key]");
    if (event.target.closest?.("svg")) this.activate(node?.dataset.key, event);
  }

  activate(key, event) {
    if (this.model.edit) {
      this.model.edit(key);
      return;
    }
    if (this.sent) return;
    if (!this.model.interactive) {
      if (this.model.waiting) this.tell(this.model.waiting, true);
      return;
    }
    this.targets.get(key)?.(event);
  }

  /** Pick what a click has hit, if it can be picked in the position that is shown only since then. */
  pickAt(key, event) {
    if (key && this.host.querySelector(`.target.live[data-key="${key}"]`)) this.activate(key, event);
  }

  onKey(event) {
    const node = event.target.closest?.("[data-key]");
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      this.pick = {};
      this.render();
    } else if (event.key === "Enter" || event.key === " ") {
      this.activate(node.dataset.key, event);
    } else if (DIRECTIONS[event.key]) {
      this.#rove(node, ...DIRECTIONS[event.key]);
    } else return;
    event.preventDefault();
  }

  /** To the nearest target in a direction. */
  #rove(from, dx, dy) {
    const [x, y] = middle(from);
    let best = null,
      least = Infinity;
    for (const node of this.host.querySelectorAll(".target")) {
      const [nx, ny] = middle(node) ?? [x, y];
      const along = (nx - x) * dx + (ny - y) * dy;
      const across = Math.abs((nx - x) * dy) + Math.abs((ny - y) * dx);
      if (along > 1 && along + 2.5 * across < least) [best, least] = [node, along + 2.5 * across];
    }
    if (!best) return;
    from.setAttribute("tabindex", "-1");
    best.setAttribute("tabindex", "0");
    best.focus({ preventScroll: true });
  }
}
