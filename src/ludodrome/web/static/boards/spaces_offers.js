// What can be done next on a board of spaces that is being laid: squares of steps and traps, straight runs, the cursor.

import { shape, svg } from "../draw.js";
import { sequenceOf } from "./spaces_codes.js";
import { CELL } from "./spaces_grid.js";
import { ABOVE, cross } from "./spaces_paths.js";

/** Where both boards are in view, each is drawn a little to its side. */
export const BESIDE = 20;
const NONE = [];
const key = (row, col) => `${row}_${col}`;

export class Offers {
  constructor(board) {
    this.board = board;
    this.reach = svg("path", { class: "reach" });
    this.focus = svg(
      "g",
      { class: "target cursor", role: "button", tabindex: "0" },
      svg("rect", { class: "hit", width: CELL, height: CELL, rx: 7, "pointer-events": "none" }),
    );
    board.grid.marks.append(this.reach);
    board.grid.camera.append(this.focus);
  }

  /** The squares where something can be done next, and the cursor. */
  show() {
    const { grid, builder } = this.board,
      building = this.board.building(),
      offers = building ? builder.next : NONE;
    const sign = `${this.board.mode} ${Boolean(this.board.laid())} ${building} ${this.board.eyes}`;
    if (this.offered !== offers || this.offeredAs !== sign) {
      this.offered = offers;
      this.offeredAs = sign;
      this.board.targets.clear();
      const squares = new Map(
        offers.filter((one) => this.pick([one], this.board.mode)).map(({ position: p }) => [key(p.row, p.col), p]),
      );
      const sorted = [...squares.values()].sort((a, b) => a.row - b.row || a.col - b.col);
      grid.offers.replaceChildren(...sorted.map(({ row, col }) => this.spot(row, col)));
      this.reach.setAttribute("d", building ? this.reachable() : "");
      this.reach.setAttribute("class", `reach s${this.board.eyes}`);
    }
    const at =
      this.board.cursor ??
      (building ? (builder.piece ?? { row: this.board.size - 1, col: (this.board.size - 1) >> 1 }) : null);
    this.focus.toggleAttribute("hidden", !at && !this.board.round);
    if (!at) {
      this.focus.setAttribute("aria-label", this.board.describe());
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
    const from = this.board.builder.piece;
    if (!from || this.board.mode === "trap") return "";
    const [x, y] = this.board.grid.middle(from.row, from.col);
    return Object.entries({ up: [-1, 0], left: [0, -1], right: [0, 1] })
      .filter(([name]) => this.board.builder.runs[name] > 1)
      .map(([name, [down, right]]) => {
        const many = this.board.builder.runs[name],
          [tx, ty] = this.board.grid.middle(from.row + down * many, from.col + right * many);
        return `M${x} ${y}L${tx} ${ty}`;
      })
      .join("");
  }

  spot(row, col) {
    const { grid, builder, mode } = this.board,
      seat = this.board.eyes,
      [x, y] = grid.corner(row, col),
      [mx, my] = grid.middle(row, col);
    const x0 = this.board.laid() ? mx - BESIDE : mx,
      children = [];
    if (mode === "trap") {
      const above = this.board.laid() || builder.contents(row, col).length ? my - ABOVE : my;
      children.push(cross(x0, above, seat, 14, "trap maybe"));
    } else children.push(shape(seat, x0, my, 12, "spot"));
    return this.board.target(key(row, col), x, y, CELL, grid.high(row), this.label(row, col), null, {
      live: true,
      children,
      seat,
    });
  }

  /** A square in words: where it is, what is there, what a click does. */
  label(row, col) {
    const { builder, size } = this.board,
      where = row < 0 ? `goal ${col}` : row >= size ? `below column ${col}` : `row ${row} column ${col}`;
    const there = builder
      .contents(row, col)
      .map(({ type, order }) => `${type} ${order}`)
      .join(" ");
    const laid = this.board.laid(),
      others = laid
        ? sequenceOf(laid)
            .filter(({ position: p }) => size - 1 - p.row === row && size - 1 - p.col === col)
            .map(({ type, order }) => `other ${type} ${order}`)
            .join(" ")
        : "";
    const step = this.board.building() && this.pick(builder.offersAt(row, col), this.board.mode);
    const what =
      step &&
      (step.type === "final"
        ? "finish"
        : step.type === "trap"
          ? "set a trap"
          : this.board.sequence.length
            ? "step here"
            : "start here");
    return [where, there, others, what].filter(Boolean).join(", ");
  }

  /** The step among these that a click makes: a trap or none in the mode of traps, else none of them. */
  pick(offers, mode) {
    return offers.find((one) => (one.type === "trap") === (mode === "trap"));
  }
}
