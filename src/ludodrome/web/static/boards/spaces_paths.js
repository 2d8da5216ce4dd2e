// Drawing boards of spaces: a board as a numbered line with crosses, from near and from far.
//
// A path keeps its nodes: a step more adds the nodes of that step, a step back removes them.

import { shape, svg } from "../draw.js";

/** Traps are drawn above the pieces of their square. */
export const ABOVE = 31;
/** Paths of more steps draw only the steps in the window. */
const MANY = 500;
/** Pixels between the numbers of a path that is seen from far. */
const APART = 44;
const STRIDES = [5, 10, 20, 25, 50, 100, 200, 500, 1000];

export const crossPath = (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;

export const cross = (x, y, seat, r = 14, name = "trap") =>
  svg("path", { class: `${name} s${seat}`, d: crossPath(x, y, r), "pointer-events": "none" });

export class Path {
  /** `name`: classes of the group, like "other". */
  constructor(grid, name = "") {
    this.grid = grid;
    this.name = name;
    this.way = svg("path");
    this.pits = svg("path");
    this.steps = svg("g", { class: "steps" });
    this.labels = svg("g", { class: "labels" });
    this.node = svg("g", {}, this.way, this.pits, this.steps, this.labels);
    grid.marks.append(this.node);
    this.clear();
  }

  clear() {
    this.sequence = [];
    this.drawn = [];
    this.places = [];
    this.steps.replaceChildren();
    this.labels.replaceChildren();
    for (const path of [this.way, this.pits]) path.setAttribute("d", "");
    this.kind = null;
  }

  /** Draw these steps of a seat; `place` gives the middle of one of its squares. */
  show(sequence, seat, place, shift = 0) {
    const kind = `${seat} ${shift} ${place.kind ?? ""}`;
    if (kind !== this.kind) {
      this.clear();
      this.kind = kind;
      this.seat = seat;
      this.shift = shift;
      this.node.setAttribute("class", `${this.name} s${seat}`);
      this.way.setAttribute("class", `way s${seat}`);
      this.pits.setAttribute("class", `pits s${seat}`);
    }
    let same = 0;
    while (same < sequence.length && same < this.sequence.length && sequence[same] === this.sequence[same]) same += 1;
    if (same === sequence.length && same === this.sequence.length) return;
    for (const nodes of this.drawn.splice(same)) for (const node of nodes ?? []) node.remove();
    this.places.length = same;
    this.sequence = sequence;
    for (let at = same; at < sequence.length; at++) {
      const { row, col } = sequence[at].position,
        [x, y] = place(row, col);
      this.places.push([x + shift, y, row, col]);
      this.drawn.push(null);
      if (this.#wanted(at)) this.#draw(at);
    }
    const way = this.places.filter((_, at) => sequence[at].type !== "trap");
    this.way.setAttribute("d", way.length > 1 ? `M${way.map(([x, y]) => `${x} ${y}`).join("L")}` : "");
    this.#far();
  }

  /** The window shows something else. */
  refresh() {
    if (this.sequence.length > MANY)
      for (let at = 0; at < this.sequence.length; at++)
        if (this.#wanted(at)) {
          if (!this.drawn[at]) this.#draw(at);
        } else if (this.drawn[at]) {
          for (const node of this.drawn[at]) node.remove();
          this.drawn[at] = null;
        }
    this.#far();
  }

  #wanted(at) {
    if (this.sequence.length <= MANY) return true;
    const [x, y] = this.places[at];
    return this.grid.level !== "far" && this.grid.seesPoint(x, y);
  }

  #draw(at) {
    const { type, order } = this.sequence[at],
      [x, y] = this.places[at],
      { seat } = this;
    const nodes =
      type === "trap"
        ? [
            cross(x, y - ABOVE, seat, 10),
            svg("text", { class: `trap-number s${seat}`, x: x + 21, y: y - ABOVE }, String(order)),
          ]
        : [
            shape(seat, x, y, this.grid.piece(this.shift !== 0)),
            svg("text", { class: "step-number", x, y: y + 0.5 }, type === "final" ? "★" : String(order)),
          ];
    this.drawn[at] = nodes;
    this.steps.append(...nodes);
  }

  /** Where single numbers cannot be read: some of them beside the path; from far also larger traps and both ends. */
  #far() {
    const { grid, sequence, places, seat } = this;
    const far = grid.level === "far",
      { hair } = grid,
      r = Math.max(24, 2.6 * hair);
    const pits = far
      ? places.map(([x, y], at) => (sequence[at].type === "trap" ? crossPath(x, y, r) : "")).join("")
      : "";
    if (pits || this.pits.getAttribute("d")) this.pits.setAttribute("d", pits);
    if (grid.level === "near" || !sequence.length) {
      if (this.labels.firstChild) this.labels.replaceChildren();
      return;
    }
    const stride = STRIDES.find((one) => one * grid.pixels >= APART) ?? 1000,
      parts = [];
    places.forEach(([x, y], at) => {
      if (sequence[at].type !== "trap" && (at === 0 || at === places.length - 1))
        parts.push(shape(seat, x, y, 4.5 * hair));
      else if (at && Math.floor(sequence[at].order / stride) > Math.floor(sequence[at - 1].order / stride))
        parts.push(svg("text", { class: `far-number s${seat}`, x: x + 9 * hair, y }, String(sequence[at].order)));
    });
    this.labels.replaceChildren(...parts);
  }
}
