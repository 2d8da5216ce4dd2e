// The evaluation graph: how much each position was worth, over the whole game; a click leads there.

import { shape, svg } from "./draw.js";

const HEIGHT = 96,
  PAD = 8;

export class Graph {
  /** go: called with the number of a position. */
  constructor(host, seats, total, go) {
    Object.assign(this, { host, seats, total, go });
    this.model = { points: new Map(), marks: [], faults: [], shown: 0, own: [] };
    const to = (event) => {
      const box = host.getBoundingClientRect();
      return Math.max(
        0,
        Math.min(
          this.total,
          Math.round(((event.clientX - box.left - PAD) / Math.max(1, box.width - 2 * PAD)) * this.total),
        ),
      );
    };
    host.addEventListener("pointerdown", (event) => {
      host.setPointerCapture(event.pointerId);
      this.go(to(event));
    });
    host.addEventListener("pointermove", (event) => {
      if (event.buttons) this.go(to(event));
    });
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** points: position -> { share: [by seat], exact }; marks: { ply, seat, grade }; faults: positions; shown;
   *  own: what the bots themselves think, { seat, points: [position, share of the seat] }. */
  update(model) {
    this.model = model;
    this.draw();
  }

  draw() {
    const width = this.host.clientWidth || 340,
      { points, marks, faults, shown, own } = this.model;
    const x = (position) => PAD + (position / Math.max(1, this.total)) * (width - 2 * PAD),
      y = (share) => PAD + (1 - share) * (HEIGHT - 2 * PAD);
    const parts = [svg("line", { class: "even", x1: 0, y1: y(0.5), x2: width, y2: y(0.5) })];
    for (const fault of faults)
      parts.push(svg("line", { class: "fault", x1: x(fault), y1: 0, x2: x(fault), y2: HEIGHT }));
    if (this.seats === 2) parts.push(...this.area(points, x, y, width));
    const curves = this.seats === 2 ? [0] : [...Array(this.seats).keys()];
    for (const seat of curves) parts.push(...this.curve(points, seat, x, y));
    for (const { ply, seat, grade } of marks) {
      const at =
        points.get(ply + 1)?.share[this.seats === 2 ? 0 : seat] ?? points.get(ply)?.share[this.seats === 2 ? 0 : seat];
      if (at !== undefined && at !== null)
        parts.push(svg("g", { class: `turning ${grade}` }, shape(seat, x(ply + 1), y(at), 4.5, "token")));
    }
    for (const one of own) parts.push(...this.ownCurve(one, x, y));
    parts.push(svg("line", { class: "now", x1: x(shown), y1: 0, x2: x(shown), y2: HEIGHT }));
    this.host.replaceChildren(
      svg(
        "svg",
        { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": this.words() },
        ...parts,
      ),
    );
  }

  words() {
    const { points, marks, own } = this.model,
      beside = own.length
        ? ` With the bots' own evaluations, ${own.length === 1 ? "one curve" : `${own.length} curves`}.`
        : "";
    if (!points.size) return `Evaluation graph: no values yet.${beside}`;
    return `Evaluation graph of ${this.total} moves; ${marks.length} ${marks.length === 1 ? "turning point" : "turning points"}.${beside}`;
  }

  /** What a bot thought of its own positions: a thin curve with the shape of its seat. With two seats up is seat 0. */
  ownCurve({ seat, points }, x, y) {
    const place = ([at, share]) => [x(at), y(this.seats === 2 && seat === 1 ? 1 - share : share)];
    const places = points.map(place);
    return [
      svg("path", {
        class: `own s${seat}`,
        d: `M${places.map((xy) => xy.map((one) => one.toFixed(1)).join(" ")).join("L")}`,
      }),
      ...places.map(([left, top]) => shape(seat, left, top, 2.4, "own-mark")),
    ];
  }

  /** The known stretches of neighbours. */
  runs(points, seat) {
    const runs = [];
    let run = null;
    for (let at = 0; at <= this.total; at++) {
      const share = points.get(at)?.share[seat];
      if (share === undefined || share === null) {
        if (this.seats === 2) run = null;
        continue;
      }
      if (!run) {
        run = [];
        runs.push(run);
      }
      run.push([at, share]);
    }
    return runs;
  }

  area(points, x, y) {
    return this.runs(points, 0)
      .filter((run) => run.length > 1)
      .flatMap((run) => {
        const line = run.map(([at, share]) => `${x(at).toFixed(1)} ${y(share).toFixed(1)}`).join("L"),
          [first, last] = [x(run[0][0]), x(run.at(-1)[0])];
        return [
          svg("path", { class: "below", d: `M${first} ${HEIGHT}L${line}L${last} ${HEIGHT}Z` }),
          svg("path", { class: "above", d: `M${first} 0L${line}L${last} 0Z` }),
        ];
      });
  }

  /** Exact stretches are drawn whole, estimated ones dashed. */
  curve(points, seat, x, y) {
    const parts = [];
    for (const run of this.runs(points, seat))
      for (let at = 1; at < run.length; at++) {
        const [[a, from], [b, to]] = [run[at - 1], run[at]],
          exact = points.get(a).exact;
        parts.push(
          svg("line", { class: `curve s${seat}${exact ? "" : " guess"}`, x1: x(a), y1: y(from), x2: x(b), y2: y(to) }),
        );
      }
    return parts;
  }
}
