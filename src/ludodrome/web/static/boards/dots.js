// Dots and Boxes: the nearest open edge lights up and is drawn by a click or a tap.

import { counted } from "../api.js";
import { Board } from "../board.js";
import { grow, motion, SEATS, shape, svg } from "../draw.js";

const UNIT = 84,
  PAD = 38,
  REACH = UNIT * 0.62;
const SIZES = [1, 2, 3, 4, 5, 6, 7, 8];
const edgeKey = ({ orient, r, c }) => `${orient}${r}_${c}`;
const edgeName = ({ orient, r, c }) => `${orient}(${r},${c})`;

export class GameBoard extends Board {
  static turns = false;
  static moveDelay = 260;
  static replayDelay = 500;
  static unit = " boxes";
  static solved = true;
  static shape = [
    ["rows", "Rows", SIZES],
    ["cols", "Columns", SIZES],
  ];
  static fields = { rows: { limits: [1, 21] }, cols: { title: "Columns", limits: [1, 21] } };
  static help =
    "Analysis shows the best moves, a hint one. In the list, H(0,1) is the edge to the right of dot 0,1 (row, column), V(0,1) the one below it, +1 a box.";
  static score(state, seat) {
    return counted(state.scores[seat], "box", "boxes");
  }
  static scale({ rows, cols }) {
    return Math.sqrt(rows * cols);
  }
  static editor = async () => (await import("./dots_editor.js")).editor;

  constructor(...rest) {
    super(...rest);
    const { host } = this;
    host.addEventListener("pointermove", (event) => this.light(this.nearest(event)));
    host.addEventListener("pointerleave", () => this.light(null));
    host.addEventListener("focusin", (event) => this.light((this.byKeys && event.target.dataset?.key) || null));
  }

  describe() {
    return `Dots and boxes, ${this.model.state.rows} by ${this.model.state.cols}. Arrow keys move along the open edges, Enter draws one.`;
  }

  place(r, c) {
    const { rows, cols } = this.model.state;
    const [row, column] = this.model.flip ? [rows - r, cols - c] : [r, c];
    return [PAD + column * UNIT, PAD + row * UNIT];
  }

  ends({ orient, r, c }) {
    return [this.place(r, c), orient === "H" ? this.place(r, c + 1) : this.place(r + 1, c)];
  }

  edge(edge, name, extra = {}) {
    const [[x1, y1], [x2, y2]] = this.ends(edge),
      length = Math.hypot(x2 - x1, y2 - y1);
    const [ix, iy] = [((x2 - x1) / length) * 11, ((y2 - y1) / length) * 11];
    return svg("line", {
      class: name,
      x1: x1 + ix,
      y1: y1 + iy,
      x2: x2 - ix,
      y2: y2 - iy,
      "pointer-events": "none",
      ...extra,
    });
  }

  draw() {
    const { state, interactive, seat, last, best, analysis } = this.model,
      { rows, cols } = state;
    const { edit, boxes: whole } = this.model;
    this.open = new Map((interactive ? this.model.legal || [] : []).map((edge) => [edgeKey(edge), edge]));
    const boxes = [],
      lines = [],
      targets = [],
      dots = [];
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < cols; c++) {
        const owner = state.owner[r][c];
        if (owner < 0) continue;
        const [x1, y1] = this.place(r, c),
          [x2, y2] = this.place(r + 1, c + 1),
          x = Math.min(x1, x2),
          y = Math.min(y1, y2);
        if (whole) targets.push(this.target(`b${r}_${c}`, x, y, UNIT, UNIT, `box ${r},${c} of ${SEATS[owner]}`, null));
        boxes.push(
          svg(
            "g",
            { "data-box": `${r}_${c}` },
            svg("rect", { class: `box s${owner}`, x, y, width: UNIT, height: UNIT }),
            shape(owner, x + UNIT / 2, y + UNIT / 2, 15, "box-mark"),
          ),
        );
      }
    for (const orient of ["H", "V"])
      for (let r = 0; r < rows + (orient === "H"); r++)
        for (let c = 0; c < cols + (orient === "V"); c++) {
          const edge = { orient, r, c },
            drawn = (orient === "H" ? state.h : state.v)[r][c];
          lines.push(
            this.edge(edge, drawn ? `edge${last && edgeKey(last) === edgeKey(edge) ? " newest" : ""}` : "edge-open", {
              "data-edge": edgeKey(edge),
            }),
          );
          if (edit && !whole) this.open.set(edgeKey(edge), edge);
          if (edit ? !whole : !drawn) targets.push(this.edgeTarget(edge, drawn));
        }
    for (const other of this.model.others || []) lines.push(this.edge(other, "edge-best faint"));
    if (best) lines.push(this.edge(best, "edge-best"));
    lines.push(...this.line((move) => [this.edge(move, "edge-line")]));
    this.near = svg("line", { class: `edge-near s${seat ?? 0}`, visibility: "hidden", "pointer-events": "none" });
    for (let r = 0; r <= rows; r++)
      for (let c = 0; c <= cols; c++) {
        const [x, y] = this.place(r, c);
        dots.push(svg("circle", { class: "dot", cx: x, cy: y, r: 5.5 }));
      }
    const labels = [
      ...Array.from({ length: cols + 1 }, (_, c) => [this.place(0, c)[0], 17, c]),
      ...Array.from({ length: rows + 1 }, (_, r) => [17, this.place(r, 0)[1], r]),
    ].map(([x, y, number]) => svg("text", { class: "coordinate", x, y, "pointer-events": "none" }, String(number)));
    this.guide(interactive ? "Draw an edge. Close a box and you draw again." : "");
    return svg(
      "svg",
      { viewBox: `0 0 ${cols * UNIT + 2 * PAD} ${rows * UNIT + 2 * PAD}`, class: "edges" },
      svg("rect", {
        class: "cell",
        x: 4,
        y: 4,
        width: cols * UNIT + 2 * PAD - 8,
        height: rows * UNIT + 2 * PAD - 8,
        rx: 14,
      }),
      ...labels,
      ...boxes,
      ...(analysis ? this.chains() : []),
      ...lines,
      this.near,
      ...dots,
      ...targets,
    );
  }

  edgeTarget(edge, drawn = false) {
    const [[x1, y1], [x2, y2]] = this.ends(edge),
      key = edgeKey(edge),
      wide = edge.orient === "H";
    const x = wide ? Math.min(x1, x2) + 10 : x1 - 10,
      y = wide ? y1 - 10 : Math.min(y1, y2) + 10;
    return this.target(
      key,
      x,
      y,
      wide ? UNIT - 20 : 20,
      wide ? 20 : UNIT - 20,
      `${wide ? "horizontal" : "vertical"} edge ${edgeName(edge)}, ${drawn ? "drawn" : "open"}`,
      () => this.open.has(key) && this.submit(this.open.get(key)),
      { round: 10 },
    );
  }

  chains() {
    return (this.model.marks?.chains || []).flatMap(({ boxes, loop }) => {
      const middles = boxes.map(([r, c]) => {
        const [x1, y1] = this.place(r, c),
          [x2, y2] = this.place(r + 1, c + 1);
        return [(x1 + x2) / 2, (y1 + y2) / 2];
      });
      const links = [];
      for (const [i, [r, c]] of boxes.entries())
        for (const [j, [s, d]] of boxes.entries()) {
          if (j <= i || Math.abs(r - s) + Math.abs(c - d) !== 1) continue;
          const wall = r === s ? this.model.state.v[r][Math.max(c, d)] : this.model.state.h[Math.max(r, s)][c];
          if (!wall) links.push(`M${middles[i].join(" ")}L${middles[j].join(" ")}`);
        }
      const [x, y] = middles[Math.floor(middles.length / 2)];
      return [
        svg("path", { class: "chain", d: links.join("") }),
        svg("text", { class: "chain-count", x, y }, `${boxes.length}${loop ? "○" : ""}`),
      ];
    });
  }

  /** The key of the open edge that is nearest to the pointer. */
  nearest(event) {
    const drawing = this.host.querySelector("svg"),
      matrix = drawing?.getScreenCTM();
    if (!matrix || !this.open?.size) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let best = null,
      least = REACH;
    for (const [key, edge] of this.open) {
      const [[x1, y1], [x2, y2]] = this.ends(edge);
      const distance = Math.hypot(at.x - (x1 + x2) / 2, at.y - (y1 + y2) / 2);
      if (distance < least) [best, least] = [key, distance];
    }
    return best;
  }

  light(key) {
    const edge = this.open?.get(key);
    if (!this.near) return;
    this.near.setAttribute("visibility", edge ? "visible" : "hidden");
    if (!edge) return;
    for (const name of ["x1", "y1", "x2", "y2"]) this.near.setAttribute(name, this.edge(edge, "").getAttribute(name));
  }

  activate(key, event) {
    const near = event?.type === "click" && event.detail ? this.nearest(event) : null;
    if (near || key || this.model.edit || !this.model.interactive)
      super.activate(near && this.targets.has(near) ? near : key, event);
    else this.tell("Click an edge that is not drawn yet.", true);
  }

  animate(before) {
    const { last, state } = this.model;
    if (last) motion(this.host.querySelector(`[data-edge="${edgeKey(last)}"]`), [{ opacity: 0 }, { opacity: 1 }]);
    let fallen = 0;
    for (const [r, row] of state.owner.entries())
      for (const [c, owner] of row.entries()) {
        if (owner < 0 || before.state.owner[r]?.[c] >= 0) continue;
        const [x1, y1] = this.place(r, c),
          [x2, y2] = this.place(r + 1, c + 1);
        grow(this.host.querySelector(`[data-box="${r}_${c}"]`), (x1 + x2) / 2, (y1 + y2) / 2, 80 + 90 * fallen++);
      }
  }
}
