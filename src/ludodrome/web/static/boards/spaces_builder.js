// Laying a board of spaces step by step. What is legal comes from the server; while an answer is on its way,
// keys wait for it, except along a straight run that the last answer has allowed.

import { post } from "../api.js";
import { boardOf, codeOf, finished, PAD, pieceOf, sequenceOf, stepOf } from "./spaces_codes.js";

const DIRECTIONS = { up: [-1, 0], left: [0, -1], right: [0, 1], down: [1, 0] };
const MAX_WAITING = 60;

export class Builder {
  /** `changed()` after every change; `failed(sentence)` when something cannot be done. */
  constructor(changed, failed) {
    Object.assign(this, { changed, failed, asking: false, waiting: [], age: 0 });
    this.begin(null);
  }

  /** Lay on `sequence` from now on; `rules`: size and rule set. */
  begin(rules, sequence = []) {
    this.rules = rules ?? this.rules;
    this.sequence = sequence;
    this.forget();
  }

  forget() {
    this.next = [];
    this.runs = {};
    this.finish = null;
    this.known = false;
    this.waiting = [];
    this.age += 1;
  }

  get whole() {
    return finished(this.sequence);
  }
  get piece() {
    return pieceOf(this.sequence);
  }
  board() {
    return boardOf(this.sequence, this.rules.size);
  }
  contents(row, col) {
    return this.sequence.filter(({ position: p }) => p.row === row && p.col === col);
  }
  offersAt(row, col) {
    return this.next.filter(({ position: p }) => p.row === row && p.col === col);
  }

  /** Ask what may come next. One question at a time; the last one counts. */
  async ask() {
    if (this.asking || this.known || !this.rules) return;
    this.asking = true;
    const { age, rules } = this;
    try {
      const answer = await post("/spaces/boards", { ...rules, code: codeOf(this.sequence, rules.size) });
      if (age !== this.age) return;
      Object.assign(this, { next: answer.next, runs: answer.runs, finish: answer.finish ?? null, known: true });
      const keys = this.waiting.splice(0);
      this.changed();
      for (const key of keys) this.press(key);
    } catch (error) {
      this.waiting = [];
      if (age === this.age) this.failed(error.message);
    } finally {
      this.asking = false;
      if (age !== this.age) this.ask();
    }
  }

  /** Take a step that the server has offered. */
  take(step) {
    this.#put([...this.sequence, step], step.type === "piece" ? this.#left(step) : {});
  }

  /** What is known of the runs after a step along one of them. */
  #left({ position: to }) {
    const from = this.piece;
    if (!from) return {};
    const name = Object.keys(DIRECTIONS).find(
      (one) => to.row - from.row === DIRECTIONS[one][0] && to.col - from.col === DIRECTIONS[one][1],
    );
    return this.runs[name] > 1 ? { [name]: this.runs[name] - 1 } : {};
  }

  #put(sequence, runs = {}) {
    const { waiting } = this;
    this.sequence = sequence;
    this.forget();
    this.runs = runs;
    this.waiting = waiting;
    this.changed();
    this.ask();
  }

  cut(length) {
    this.waiting = [];
    this.#put(this.sequence.slice(0, Math.max(0, length)));
  }

  /** Go on to the goal as directly as possible. */
  complete() {
    if (this.finish) this.#put([...this.sequence, ...sequenceOf(this.finish).slice(this.sequence.length)]);
  }

  /** A key: "up", "left", "right", "down", or "trap 8" as on a number pad. It waits for an answer if it must. */
  press(key) {
    const from = this.piece;
    if (!from || this.whole) return false;
    const place = key.startsWith("trap ") ? PAD.indexOf(key.slice(5)) : -1;
    const [down, right] = place < 0 ? DIRECTIONS[key] : [Math.floor(place / 3) - 1, (place % 3) - 1];
    const [row, col] = [from.row + down, from.col + right];
    if (this.known) {
      const step = this.offersAt(row, col).find(({ type }) => (type === "trap") === place >= 0);
      if (step) this.take(step);
      else this.refuse(row, col, place >= 0);
    } else if (!this.waiting.length && place < 0 && this.runs[key] > 0)
      this.take(stepOf(row, col, "piece", this.sequence.length + 1));
    else if (this.waiting.length < MAX_WAITING) this.waiting.push(key);
    return true;
  }

  /** Run straight to a square, if the way is free; false if it is not. */
  run(row, col) {
    const from = this.piece;
    if (!from) return false;
    const [down, right] = [row - from.row, col - from.col],
      name = right === 0 ? (down < 0 ? "up" : "") : down === 0 ? (right < 0 ? "left" : "right") : "",
      many = Math.abs(down + right);
    if (!name || many > (this.runs[name] ?? 0)) return false;
    const [dr, dc] = DIRECTIONS[name],
      order = this.sequence.length;
    const steps = Array.from({ length: many }, (_, at) =>
      stepOf(from.row + dr * (at + 1), from.col + dc * (at + 1), "piece", order + at + 1),
    );
    this.#put([...this.sequence, ...steps]);
    return true;
  }

  /** Have the server say why a step cannot be made. */
  async refuse(row, col, trap) {
    const type = trap ? "trap" : row < 0 ? "final" : "piece";
    try {
      const step = { position: { row, col }, type };
      await post("/spaces/boards", { ...this.rules, code: codeOf(this.sequence, this.rules.size), step });
    } catch (error) {
      this.failed(error.message);
    }
  }
}
