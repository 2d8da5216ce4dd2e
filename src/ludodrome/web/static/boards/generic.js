// A game of another package: its cells if it gives any, else its drawing, and the moves that are no cells as buttons.
//
// The server says all of it (`marks`): the drawing, the cells with their names and signs, the legal moves in words. A
// move whose words are just the name of a cell is made by choosing that cell.

import { Board } from "../board.js";
import { shape, svg } from "../draw.js";

const CELL = 84,
  PAD = 8,
  LINE = 22,
  LETTER = 11.2,
  ROW = 40,
  GAP = 8;
const lines = (text) => (text || "").split("\n");

export class GameBoard extends Board {
  static turns = false;

  describe() {
    const { drawing } = this.model.marks || {};
    return `Board. ${lines(drawing).at(-1) || ""} Arrow keys move between the moves, Enter makes one.`;
  }

  draw() {
    const { marks = {}, interactive, best } = this.model,
      { cells, drawing, texts = [] } = marks;
    this.moves = new Map((this.model.legal || []).map((move, at) => [texts[at], move]));
    this.best = JSON.stringify(best ?? null);
    const [upper, width, height] = cells?.length ? this.grid(cells) : this.text(drawing);
    const names = new Set((cells || []).flat().map(({ name }) => name));
    const [lower, below] = this.list(
      texts.filter((text) => !names.has(text)),
      width,
      height,
    );
    this.guide(interactive ? (names.size ? "Choose a cell." : "Choose a move.") : "");
    return svg("svg", { viewBox: `0 0 ${width} ${height + below}` }, ...upper, ...lower);
  }

  /** The board as cells; a click on one is the move of its name. */
  grid(cells) {
    const rows = this.model.flip ? [...cells].reverse().map((row) => [...row].reverse()) : cells;
    const parts = rows.flatMap((row, down) =>
      row.map((cell, right) => this.cell(cell, PAD + right * CELL, PAD + down * CELL)),
    );
    return [parts, 2 * PAD + CELL * Math.max(...rows.map((row) => row.length)), 2 * PAD + CELL * rows.length];
  }

  cell({ name, sign, seat }, x, y) {
    const size = CELL - 4,
      move = this.moves.get(name),
      chosen = move !== undefined && JSON.stringify(move) === this.best;
    const children = [svg("rect", { class: "cell", x: x + 2, y: y + 2, width: size, height: size, rx: 8 })];
    children.push(svg("text", { class: "digit", x: x + CELL - 10, y: y + CELL - 10, "pointer-events": "none" }, name));
    if (seat !== null) children.push(shape(seat, x + CELL / 2, y + CELL / 2, 24));
    if (sign)
      children.push(
        svg(
          "text",
          {
            class: seat === null ? "mono drawing" : "token-text",
            x: x + CELL / 2,
            y: y + CELL / 2,
            "text-anchor": "middle",
            "dominant-baseline": "central",
            "pointer-events": "none",
          },
          sign,
        ),
      );
    if (chosen) children.push(svg("circle", { class: "sign-best", cx: x + CELL / 2, cy: y + CELL / 2, r: 12 }));
    return this.target(
      name,
      x + 2,
      y + 2,
      size,
      size,
      `${name}${sign ? `, ${sign}` : ", empty"}`,
      () => (move === undefined ? this.tell(`${name} cannot be chosen now.`, true) : this.submit(move)),
      { live: move !== undefined, children },
    );
  }

  /** The drawing for people, line by line. */
  text(drawing) {
    const all = lines(drawing),
      widest = Math.max(20, ...all.map((line) => [...line].length));
    const parts = all.map((line, at) =>
      svg(
        "text",
        {
          class: "mono drawing",
          x: PAD,
          y: PAD + (at + 0.8) * LINE,
          "xml:space": "preserve",
          "pointer-events": "none",
        },
        line,
      ),
    );
    return [parts, 2 * PAD + widest * LETTER, 2 * PAD + all.length * LINE];
  }

  /** Moves as buttons, in rows as wide as the board. */
  list(texts, width, top) {
    const wide = Math.max(64, ...texts.map((text) => [...text].length * LETTER + 24)),
      across = Math.max(1, Math.floor((width - PAD) / (wide + GAP)));
    const parts = texts.map((text, at) => {
      const x = PAD + (at % across) * (wide + GAP),
        y = top + Math.floor(at / across) * (ROW + GAP),
        move = this.moves.get(text);
      const name = JSON.stringify(move) === this.best ? "cell sign-best" : "cell";
      return this.target(text, x, y, wide, ROW, text, () => this.submit(move), {
        children: [
          svg("rect", { class: name, x, y, width: wide, height: ROW, rx: 8 }),
          svg(
            "text",
            {
              class: "mono drawing",
              x: x + wide / 2,
              y: y + ROW / 2,
              "text-anchor": "middle",
              "dominant-baseline": "central",
              "pointer-events": "none",
            },
            text,
          ),
        ],
      });
    });
    return [parts, texts.length ? Math.ceil(texts.length / across) * (ROW + GAP) + PAD : 0];
  }
}
