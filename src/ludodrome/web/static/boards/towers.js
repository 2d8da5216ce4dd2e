// The 5 x 5 tower board of skysummit and santorini: terraces seen from above, workers, domes.
//
// A game's own module says how its states and moves read; here they are { heights, workers } and
// { w, to, build, raw } or, while workers are placed, { place, raw }.

import { Board } from "../board.js";
import { arrow, grow, SEATS, shape, slide, svg } from "../draw.js";

const SIDE = 5,
  CELL = 98,
  GAP = 4,
  PAD = 10,
  LABEL = 30;
const SPAN = SIDE * CELL + (SIDE - 1) * GAP + 2 * PAD;
const INSETS = [0, 7, 16, 25];

export const cellName = (cell) => "ABCDE"[Math.floor(cell / SIDE)] + ((cell % SIDE) + 1);
export const cellNumber = (name) => "ABCDE".indexOf(name[0]) * SIDE + Number(name[1]) - 1;

export class TowerBoard extends Board {
  corner(cell) {
    const at = this.model.flip ? SIDE * SIDE - 1 - cell : cell;
    return [LABEL + PAD + (at % SIDE) * (CELL + GAP), PAD + Math.floor(at / SIDE) * (CELL + GAP)];
  }

  middle(cell) {
    const [x, y] = this.corner(cell);
    return [x + CELL / 2, y + CELL / 2];
  }

  describe() {
    return "Board of five by five squares. Arrow keys move, Enter picks, Escape cancels.";
  }

  draw() {
    const model = this.model;
    this.now = this.read(model.state);
    this.legal = model.interactive ? (model.legal || []).map((raw) => this.readMove(raw)) : [];
    this.last = model.last ? this.readMove(model.last) : null;
    const cells = Array.from({ length: SIDE * SIDE }, (_, cell) => this.cell(cell));
    const drawing = svg(
      "svg",
      { viewBox: `0 0 ${LABEL + SPAN} ${SPAN + LABEL}` },
      svg("rect", { class: "frame", x: LABEL, y: 0, width: SPAN, height: SPAN, rx: 16 }),
      ...this.coordinates(),
      ...cells,
      ...this.workers(),
      ...this.best(),
    );
    this.guide(this.instruction());
    return drawing;
  }

  coordinates() {
    return Array.from({ length: SIDE }, (_, at) => {
      const [x, y] = this.middle(at * SIDE + at);
      return [
        svg("text", { class: "coordinate", x: LABEL / 2 - 2, y }, "ABCDE"[at]),
        svg("text", { class: "coordinate", x, y: SPAN + LABEL / 2 + 2 }, String(at + 1)),
      ];
    }).flat();
  }

  cell(cell) {
    const [x, y] = this.corner(cell),
      height = this.now.heights[cell],
      [mx, my] = this.middle(cell);
    const children = [svg("rect", { class: "cell", x, y, width: CELL, height: CELL, rx: 7 })];
    for (let level = 1; level <= Math.min(height, 3); level++) {
      const inset = INSETS[level];
      children.push(
        svg("rect", {
          class: `l${level} level`,
          "data-level": level,
          x: x + inset,
          y: y + inset,
          width: CELL - 2 * inset,
          height: CELL - 2 * inset,
          rx: 6,
        }),
      );
    }
    if (height === 4) {
      children.push(
        svg(
          "g",
          { class: "level", "data-level": 4 },
          svg("circle", { class: "dome", cx: mx, cy: my, r: 24 }),
          svg("path", { class: "gleam", d: `M${mx - 15} ${my - 5}Q${mx - 11} ${my - 15} ${mx + 1} ${my - 16}` }),
        ),
      );
    }
    const digit = height
      ? [svg("text", { class: "digit on-l1", x: x + CELL - 10, y: y + CELL - 11 }, String(height))]
      : [];
    if (this.last) children.push(...this.lastMarks(cell, x, y));
    const [act, marks, what] = this.offer(cell, x, y, mx, my);
    const occupant = this.occupant(cell);
    const label = [
      cellName(cell),
      height === 4 ? "dome" : `height ${height}`,
      occupant && `${SEATS[occupant.seat]} worker ${occupant.w + 1}`,
      what,
    ]
      .filter(Boolean)
      .join(", ");
    return this.target(`c${cell}`, x, y, CELL, CELL, label, act, {
      live: Boolean(what),
      children: [...children, ...marks, ...digit],
    });
  }

  lastMarks(cell, x, y) {
    const { to, build, place } = this.last,
      from = this.lastFrom();
    const marked = (place || [to, build]).includes(cell);
    return [
      marked && svg("rect", { class: "last", x: x + 3, y: y + 3, width: CELL - 6, height: CELL - 6, rx: 6 }),
      cell === from && svg("rect", { class: "last-from", x, y, width: CELL, height: CELL, rx: 7 }),
    ].filter(Boolean);
  }

  lastFrom() {
    if (!this.model.before || this.last?.w === undefined) return null;
    return this.read(this.model.before).workers[this.model.lastSeat]?.[this.last.w] ?? null;
  }

  occupant(cell) {
    for (const [seat, pair] of this.now.workers.entries())
      for (const [w, at] of pair.entries()) if (at === cell && !this.away(seat, w)) return { seat, w };
    return null;
  }

  /** Whether a worker has already taken the step that is being put together. */
  away(seat, w) {
    return this.model.interactive && seat === this.model.seat && w === this.pick.w && this.pick.to !== undefined;
  }

  /** What a click on a cell does, what is drawn there, and in words what it offers. */
  offer(cell, x, y, mx, my) {
    if (!this.model.interactive) return [null, [], ""];
    const { w, to, first } = this.pick,
      seat = this.model.seat;
    const spot = (r) => shape(seat, mx, my, r, "spot");
    if (this.legal[0]?.place) {
      if (first === cell) return [() => this.choose({}), [], "let go"];
      const found = this.legal.find(({ place }) =>
        first === undefined ? place[0] === cell : place[0] === first && place[1] === cell,
      );
      if (!found) return [() => this.refuse(this.attempt({ place: [first ?? cell, cell] })), [], ""];
      return [
        () => (first === undefined ? this.choose({ first: cell }) : this.submit(found.raw)),
        first === undefined ? [] : [spot(7)],
        "place a worker",
      ];
    }
    const mine = this.now.workers[seat].indexOf(cell);
    if (mine >= 0 && to === undefined) {
      if (mine === w) return [() => this.choose({}), [], "let go"];
      const can = this.legal.some((move) => move.w === mine);
      return [
        () => (can ? this.choose({ w: mine }) : this.tell("This worker cannot step anywhere.", true)),
        [],
        can ? "pick" : "",
      ];
    }
    if (w === undefined) {
      return [
        () =>
          this.tell(
            this.occupant(cell)
              ? "That worker is not yours. First pick one of your own."
              : "Pick one of your workers first.",
            true,
          ),
        [],
        "",
      ];
    }
    if (to === undefined) {
      const found = this.legal.filter((move) => move.w === w && move.to === cell);
      if (!found.length) return [() => this.refuse(this.attempt({ w, to: cell, build: this.aside(cell) })), [], ""];
      const wins = found[0].build === null;
      return [
        () => (wins ? this.submit(found[0].raw) : this.choose({ w, to: cell })),
        [spot(12)],
        wins ? "step and win" : "step here",
      ];
    }
    if (cell === to) return [() => this.choose({ w }), [], "take the step back"];
    const found = this.legal.find((move) => move.w === w && move.to === to && move.build === cell);
    if (!found) return [() => this.refuse(this.attempt({ w, to, build: cell })), [], ""];
    const plus = [
      svg("rect", { class: `raise s${seat}`, x: x + 10, y: y + 10, width: CELL - 20, height: CELL - 20, rx: 7 }),
      svg("path", { class: `plus s${seat}`, d: `M${mx - 8} ${my}h16M${mx} ${my - 8}v16` }),
    ];
    return [() => this.submit(found.raw), plus, "build here"];
  }

  /** Some neighbour of a cell: a build to go with a step that is only asked about. */
  aside(cell) {
    return cell % SIDE ? cell - 1 : cell + 1;
  }

  choose(pick) {
    const steps = pick.to !== undefined && this.pick.to === undefined;
    this.pick = pick;
    this.render();
    if (steps) {
      const [x, y] = this.middle(pick.to),
        [fx, fy] = this.middle(this.now.workers[this.model.seat][pick.w]);
      slide(this.host.querySelector(`[data-worker="${this.model.seat}${pick.w}"]`), fx - x, fy - y);
    }
    this.calls.say(this.word.textContent);
  }

  instruction() {
    const { w, to, first } = this.pick;
    if (this.legal[0]?.place)
      return first === undefined ? "Place your first worker on any free square." : "Now your second worker.";
    if (w === undefined) return "Pick one of your workers.";
    if (to === undefined) return `Worker ${w + 1}: where to?`;
    return `Worker ${w + 1} is on ${cellName(to)}. Where should it build?`;
  }

  workers() {
    const { w: picked, to, first } = this.pick,
      seat = this.model.seat,
      drawn = [];
    for (const [owner, pair] of this.now.workers.entries())
      for (const [w, home] of pair.entries()) {
        if (home === null || home === undefined) continue;
        const mine = this.model.interactive && owner === seat;
        const moved = mine && w === picked && to !== undefined;
        const [x, y] = this.middle(moved ? to : home);
        if (moved) drawn.push(this.worker(owner, w, ...this.middle(home), "ghost"));
        const ring = mine && picked === undefined && this.legal.some((move) => move.w === w);
        if (ring) drawn.push(shape(owner, x, y, owner === 1 ? 31 : 33, "can"));
        if (mine && w === picked) {
          const [cx, cy] = this.corner(moved ? to : home);
          drawn.push(svg("rect", { class: `picked s${owner}`, x: cx, y: cy, width: CELL, height: CELL, rx: 8 }));
        }
        drawn.push(this.worker(owner, w, x, y));
      }
    if (first !== undefined) drawn.push(this.worker(seat, 0, ...this.middle(first)));
    return drawn;
  }

  worker(seat, w, x, y, extra = "") {
    return svg(
      "g",
      { class: `worker s${seat} ${extra}`, "data-worker": extra ? null : `${seat}${w}`, "pointer-events": "none" },
      shape(seat, x, y, 21),
      svg("text", { class: "token-text", x, y: y + 1 }, String(w + 1)),
    );
  }

  /** The engine's best, and what comes next to it fainter and below. */
  best() {
    const { best, others = [] } = this.model;
    return [
      ...others.map((one) => svg("g", { class: "faint" }, ...this.mark(one))),
      ...(best ? this.mark(best) : []),
      ...this.line((move, state, seat) => this.mark(move, this.read(state), seat)),
    ];
  }

  mark(move, now = this.now, seat = this.model.seat) {
    const { w, to, build, place } = this.readMove(move);
    const ring = (cell) => {
      const [x, y] = this.corner(cell);
      return svg("rect", { class: "arrow-build", x: x + 5, y: y + 5, width: CELL - 10, height: CELL - 10, rx: 7 });
    };
    if (place) return place.map(ring);
    const from = now.workers[seat]?.[w];
    if (from === undefined || from === null) return [];
    const [x1, y1] = this.middle(from),
      [x2, y2] = this.middle(to);
    return [
      arrow(x1, y1, x1 + (x2 - x1) * 0.92, y1 + (y2 - y1) * 0.92, 12, 26),
      build === null ? null : ring(build),
    ].filter(Boolean);
  }

  animate(before) {
    const old = this.read(before.state);
    for (const [seat, pair] of this.now.workers.entries())
      for (const [w, cell] of pair.entries()) {
        const from = old.workers[seat]?.[w],
          node = this.host.querySelector(`[data-worker="${seat}${w}"]`);
        if (cell === from || cell === null || (this.own && seat === before.seat && this.last?.build !== null)) continue;
        const [x, y] = this.middle(cell);
        if (from === null || from === undefined) grow(node, x, y);
        else {
          const [fx, fy] = this.middle(from);
          slide(node, fx - x, fy - y);
        }
      }
    this.now.heights.forEach((height, cell) => {
      if (height > old.heights[cell])
        grow(this.host.querySelector(`[data-key="c${cell}"] [data-level="${height}"]`), ...this.middle(cell), 140);
    });
  }
}
