// Caldera: stone that grows hotter with height, vents of black glass, and chains shown before they are let go.

import { counted } from "../api.js";
import { Board } from "../board.js";
import { arrow, grow, html, moves as inMotion, motion, SEATS, shape, slide, svg } from "../draw.js";

const SIDE = 7,
  CELL = 74,
  GAP = 3,
  PAD = 9,
  LABEL = 26;
/** An eruption: milliseconds from one ring to the next, and of a flash. */
const RING_MS = 170,
  FLASH_MS = 600;
const SPAN = SIDE * CELL + (SIDE - 1) * GAP + 2 * PAD;
const CRACKS = ["M-16 -10L-5 -3L-9 7L4 5L8 15M4 5L17 -4", "M-14 12L-6 2L2 6L6 -6L16 -11M-6 2L-12 -8"];
/** The pieces on the shape of their seat. */
export const GLYPHS = {
  crown: (x, y) =>
    svg("path", {
      class: "glyph",
      "stroke-width": 1.5,
      d: `M${x - 11} ${y + 8}V${y - 6}L${x - 5} ${y}L${x} ${y - 9}L${x + 5} ${y}L${x + 11} ${y - 6}V${y + 8}Z`,
    }),
  lancer: (x, y) =>
    svg("path", {
      class: "glyph",
      "stroke-width": 1.5,
      d: `M${x} ${y - 13}L${x + 6} ${y - 3}L${x + 1.6} ${y - 4.5}V${y + 12}H${x - 1.6}V${y - 4.5}L${x - 6} ${y - 3}Z`,
    }),
  smith: (x, y) =>
    svg("path", {
      class: "glyph",
      "stroke-width": 1.5,
      d: `M${x - 10} ${y - 9}H${x + 8}L${x + 11} ${y - 5}V${y - 2}H${x - 10}ZM${x - 2.2} ${y - 2}H${x + 2.2}V${y + 12}H${x - 2.2}Z`,
    }),
};
const same = (a, b) => a[0] === b[0] && a[1] === b[1];

export class GameBoard extends Board {
  static tryWords(text) {
    const [, letter, from, sign, to] = /^([CLS])(\d\d)(-|x|\^| forges )(\d\d)/.exec(text) ?? [],
      kind = { C: "crown", L: "lancer", S: "smith" }[letter];
    if (!kind) return "";
    if (sign === "x") return `Capture on ${to} with the ${kind} from ${from}`;
    return sign === "-" ? `Move the ${kind} from ${from} to ${to}` : `Forge ${to} with the smith on ${from}`;
  }
  static hintWords(move) {
    return move.action === "forge"
      ? `Pick the smith on ${move.smith.join("")}, choose Forge, then ${move.target.join("")}.`
      : "";
  }
  static score(state, seat) {
    return counted(state[`p${seat}`].length, "piece", "pieces");
  }
  static editor = async () => (await import("./caldera_editor.js")).editor;

  corner([r, c]) {
    const [row, column] = this.model.flip ? [SIDE - 1 - r, SIDE - 1 - c] : [r, c];
    return [LABEL + PAD + column * (CELL + GAP), PAD + row * (CELL + GAP)];
  }

  middle(cell) {
    return this.corner(cell).map((at) => at + CELL / 2);
  }

  describe() {
    return "Board of seven by seven cells. Arrow keys move, Enter picks, F switches a smith between stepping and forging.";
  }

  constructor(...rest) {
    super(...rest);
    this.host.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "f" && this.pick.smith)
        this.choose({ ...this.pick, forging: !this.pick.forging, chain: null });
    });
  }

  draw() {
    const { model } = this;
    this.legal = model.interactive ? model.legal || [] : [];
    const cells = [];
    for (let r = 0; r < SIDE; r++) for (let c = 0; c < SIDE; c++) cells.push(this.cell([r, c]));
    this.switch();
    this.guide(this.instruction());
    return svg(
      "svg",
      { viewBox: `0 0 ${LABEL + SPAN} ${SPAN + LABEL}` },
      svg("rect", { class: "frame", x: LABEL, y: 0, width: SPAN, height: SPAN, rx: 14 }),
      ...Array.from({ length: SIDE }, (_, at) => {
        const [x, y] = this.middle([at, at]);
        return [
          svg("text", { class: "coordinate", x: LABEL / 2 - 1, y }, String(at)),
          svg("text", { class: "coordinate", x, y: SPAN + LABEL / 2 + 2 }, String(at)),
        ];
      }).flat(),
      ...cells,
      ...this.chainMarks(),
      ...this.pieces(),
      ...this.lost(),
      ...this.best(),
    );
  }

  cell(cell) {
    const [x, y] = this.corner(cell),
      [mx, my] = this.middle(cell),
      height = this.model.state.board[cell[0]][cell[1]];
    const children = [
      svg("rect", { class: height < 0 ? "vent ground" : `h${height} ground`, x, y, width: CELL, height: CELL, rx: 6 }),
    ];
    if (height < 0) {
      const lines = CRACKS[(cell[0] + cell[1]) % 2].replace(
        /(-?\d+) (-?\d+)/g,
        (_, dx, dy) => `${mx + Number(dx)} ${my + Number(dy)}`,
      );
      children.push(svg("path", { class: "crack", d: lines }));
    }
    const digit =
      height > 0
        ? [svg("text", { class: `digit on-h${height}`, x: x + CELL - 9, y: y + CELL - 10 }, String(height))]
        : [];
    const { last } = this.model;
    if (last) {
      if (same(cell, last.to || last.target))
        children.push(svg("rect", { class: "last", x: x + 3, y: y + 3, width: CELL - 6, height: CELL - 6, rx: 5 }));
      if (last.from && same(cell, last.from))
        children.push(svg("rect", { class: "last-from", x, y, width: CELL, height: CELL, rx: 6 }));
    }
    const [act, marks, what] = this.offer(cell, x, y, mx, my);
    const piece = this.pieceAt(cell);
    const label = [
      cell.join(""),
      height < 0 ? "vent" : `height ${height}`,
      piece && `${SEATS[piece.seat]} ${piece.type}`,
      what,
    ]
      .filter(Boolean)
      .join(", ");
    return this.target(`c${cell.join("")}`, x, y, CELL, CELL, label, act, {
      live: Boolean(what),
      round: 6,
      children: [...children, ...marks, ...digit],
    });
  }

  pieceAt(cell) {
    for (const seat of [0, 1])
      for (const piece of this.model.state[`p${seat}`])
        if (piece.r === cell[0] && piece.c === cell[1]) return { ...piece, seat };
    return null;
  }

  offer(cell, x, y, mx, my) {
    if (!this.model.interactive) return [null, [], ""];
    const { from, forging, chain } = this.pick,
      { seat } = this.model,
      piece = this.pieceAt(cell);
    if (from && forging) {
      const move = this.legal.find((one) => one.action === "forge" && same(one.smith, from) && same(one.target, cell));
      if (move) {
        const burst = this.eruption(move);
        const act = () =>
          burst && !(chain && same(chain.move.target, cell))
            ? this.choose({ ...this.pick, chain: burst })
            : this.submit(move);
        const marks = chain
          ? []
          : [
              svg("rect", {
                class: burst ? "ember-mark" : `raise s${seat}`,
                x: x + 8,
                y: y + 8,
                width: CELL - 16,
                height: CELL - 16,
                rx: 5,
              }),
              svg("path", {
                class: burst ? "ember-plus" : `plus s${seat}`,
                d: `M${mx - 7} ${my}h14M${mx} ${my - 7}v14`,
              }),
            ];
        return [act, marks, burst ? `forge, ${burst.cells.length} erupt` : "forge here"];
      }
    }
    if (from && same(from, cell))
      return [
        () => this.choose(this.pick.smith && !forging ? { ...this.pick, forging: true } : {}),
        [],
        this.pick.smith && !forging ? "forge instead" : "let go",
      ];
    if (from && !forging) {
      const move = this.legal.find((one) => one.action === "move" && same(one.from, from) && same(one.to, cell));
      if (move)
        return [
          () => this.submit(move),
          piece
            ? [svg("rect", { class: "take", x: x + 4, y: y + 4, width: CELL - 8, height: CELL - 8, rx: 5 })]
            : [shape(seat, mx, my, 10, "spot")],
          piece ? `take the ${piece.type}` : "step here",
        ];
    }
    if (piece && piece.seat === seat) {
      const can = this.legal.some((one) => same(one.from || one.smith, cell));
      const smith = piece.type === "smith",
        steps = this.legal.some((one) => one.from && same(one.from, cell));
      return [
        () =>
          can
            ? this.choose({ from: cell, smith, forging: smith && !steps })
            : this.tell("This piece cannot move now.", true),
        [],
        can ? "pick" : "",
      ];
    }
    if (!from)
      return [
        () =>
          this.tell(
            piece ? "That piece is not yours. First pick one of your own." : "Pick one of your pieces first.",
            true,
          ),
        [],
        "",
      ];
    const raw = forging ? { action: "forge", smith: from, target: cell } : { action: "move", from, to: cell };
    return [() => this.refuse(raw), [], ""];
  }

  eruption(move) {
    return (this.model.marks?.eruptions || []).find(
      (one) => same(one.move.smith, move.smith) && same(one.move.target, move.target),
    );
  }

  choose(pick) {
    this.pick = pick;
    this.render();
    this.calls.say(this.word.textContent);
  }

  instruction() {
    const { from, smith, forging, chain } = this.pick;
    if (!from) return "Pick one of your pieces.";
    if (chain) return `${this.warning(chain)} Click the same cell again to confirm.`;
    if (forging) return "Which cell does it raise?";
    return smith ? "Where to? Or choose Forge." : "Where to?";
  }

  /** What a chain does, in words. */
  warning({ cells, lost }) {
    const erupt = cells.length === 1 ? "One cell erupts" : `${cells.length} cells erupt`;
    if (lost.some((cell) => this.isOwnCrown(cell)))
      return `${erupt}, and your own crown is destroyed: you would lose the game.`;
    if (!lost.length) return `${erupt}.`;
    return `${erupt}, ${lost.length} ${lost.length === 1 ? "piece is" : "pieces are"} destroyed.`;
  }

  isOwnCrown(cell) {
    const piece = this.pieceAt(cell);
    return piece?.type === "crown" && piece.seat === this.model.seat;
  }

  switch() {
    const { from, smith, forging } = this.pick;
    if (!from || !smith) {
      this.tools.replaceChildren();
      return;
    }
    const button = (name, on) =>
      html(
        "button",
        {
          type: "button",
          "aria-pressed": String(forging === on),
          onclick: () => this.choose({ ...this.pick, forging: on, chain: null }),
        },
        name,
      );
    this.tools.replaceChildren(
      html(
        "span",
        { class: "segments", role: "group", "aria-label": "What the smith does" },
        button("Move", false),
        button("Forge", true),
      ),
    );
  }

  pieces() {
    const drawn = [],
      { from } = this.pick,
      { seat, state, interactive } = this.model;
    for (const owner of [0, 1])
      for (const piece of state[`p${owner}`]) {
        const cell = [piece.r, piece.c],
          [x, y] = this.middle(cell),
          picked = from && same(from, cell);
        const can =
          interactive && owner === seat && !from && this.legal.some((one) => same(one.from || one.smith, cell));
        if (can) drawn.push(shape(owner, x, y, owner ? 29 : 32, "can"));
        if (picked) {
          const [cx, cy] = this.corner(cell);
          drawn.push(
            svg("rect", { class: `picked s${owner}`, x: cx + 1, y: cy + 1, width: CELL - 2, height: CELL - 2, rx: 6 }),
          );
        }
        drawn.push(
          svg(
            "g",
            { "data-piece": cell.join(""), "pointer-events": "none" },
            shape(owner, x, y, 23),
            GLYPHS[piece.type](x, y),
          ),
        );
      }
    return drawn;
  }

  chainMarks() {
    const { chain } = this.pick;
    if (!chain) return [];
    return [
      ...this.risers(chain),
      ...chain.cells.map((cell) => {
        const [x, y] = this.corner(cell),
          [mx, my] = this.middle(cell),
          height = this.model.state.board[cell[0]][cell[1]];
        return svg(
          "g",
          { "pointer-events": "none" },
          svg("rect", { class: "boom", x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4, rx: 5 }),
          height > 0 && !chain.lost.some((one) => same(one, cell))
            ? svg("text", { class: "digit on-boom", x: x + CELL - 9, y: y + CELL - 10 }, String(height))
            : null,
          same(cell, chain.move.target)
            ? svg("path", { class: "on-boom again", d: `M${mx - 7} ${my}h14M${mx} ${my - 7}v14` })
            : null,
        );
      }),
    ];
  }

  /** How much the cells beside those that erupt rise. */
  risers({ cells }) {
    const rises = new Map();
    for (const [r, c] of cells)
      for (const at of [
        [r - 1, c],
        [r + 1, c],
        [r, c - 1],
        [r, c + 1],
      ])
        if (this.model.state.board[at[0]]?.[at[1]] >= 0 && !cells.some((one) => same(one, at)))
          rises.set(at.join(""), (rises.get(at.join("")) ?? 0) + 1);
    return [...rises].map(([name, by]) => {
      const [x, y] = this.corner([Number(name[0]), Number(name[1])]);
      return svg(
        "g",
        { class: "riser", "pointer-events": "none" },
        svg("rect", { class: "ember-mark", x: x + 3, y: y + 3, width: CELL - 6, height: CELL - 6, rx: 5 }),
        svg("text", { class: "digit", x: x + 30, y: y + 18 }, `+${by}`),
      );
    });
  }

  /** The pieces that the chain would take are crossed out, from the corners, so that they stay recognisable. */
  lost() {
    return (this.pick.chain?.lost || []).map((cell) => {
      const [x, y] = this.middle(cell),
        stroke = (dx, dy) => `M${x + dx * 30} ${y + dy * 30}L${x + dx * 15} ${y + dy * 15}`;
      return svg("path", { class: "lost", d: stroke(-1, -1) + stroke(1, -1) + stroke(1, 1) + stroke(-1, 1) });
    });
  }

  /** The engine's best, and what comes next to it fainter and below. */
  best() {
    const { best, others = [] } = this.model;
    return [
      ...others.map((one) => svg("g", { class: "faint" }, ...this.mark(one))),
      ...(best ? this.mark(best) : []),
      ...this.line((move) => this.mark(move)),
    ];
  }

  mark(best) {
    const [x1, y1] = this.middle(best.from || best.smith),
      [x2, y2] = this.middle(best.to || best.target);
    if (best.action === "move") return [arrow(x1, y1, x1 + (x2 - x1) * 0.92, y1 + (y2 - y1) * 0.92, 10, 27)];
    const [x, y] = this.corner(best.target);
    return [
      arrow(x1, y1, x1 + (x2 - x1) * 0.75, y1 + (y2 - y1) * 0.75, 10, 27),
      svg("rect", { class: "arrow-build", x: x + 4, y: y + 4, width: CELL - 8, height: CELL - 8, rx: 5 }),
    ];
  }

  animate(before) {
    const { last, state } = this.model;
    if (!last) return;
    if (last.action === "move") {
      const [x, y] = this.middle(last.to),
        [fx, fy] = this.middle(last.from);
      slide(this.host.querySelector(`[data-piece="${last.to.join("")}"]`), fx - x, fy - y);
      return;
    }
    const ground = (cell) => this.host.querySelector(`[data-key="c${cell.join("")}"] .ground`);
    grow(ground(last.target), ...this.middle(last.target));
    for (let r = 0; r < SIDE; r++)
      for (let c = 0; c < SIDE; c++) {
        if (state.board[r][c] >= 0 || before.state.board[r][c] < 0) continue;
        const ring = Math.abs(r - last.target[0]) + Math.abs(c - last.target[1]);
        const [x, y] = this.corner([r, c]);
        const flash = svg("rect", { class: "boom", x, y, width: CELL, height: CELL, rx: 6, opacity: 0 });
        this.host.firstChild.append(flash);
        const lasts = ring * RING_MS + FLASH_MS;
        motion(flash, [{ opacity: 0 }, { opacity: 1 }, { opacity: 0 }], FLASH_MS, ring * RING_MS);
        setTimeout(() => flash.remove(), lasts);
        if (inMotion()) this.toldAt = Math.max(this.toldAt, performance.now() + lasts);
      }
  }

  /** An eruption is told ring by ring. */
  toldAt = 0;
  get telling() {
    return performance.now() < this.toldAt;
  }
}
