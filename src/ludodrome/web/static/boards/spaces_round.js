// A round of spaces on the common grid: both tracks up to a step, the traps set so far, points where they are won or lost.
//
// The nodes stay; a step changes their attributes. A board in the fog is a dotted line through the squares it visited.

import { motion, STEP, shape, slide, svg } from "../draw.js";
import { stepOf } from "./spaces_codes.js";
import { crossPath, Path } from "./spaces_paths.js";

export const ENDINGS = {
  goal: "Ended by reaching the goal.",
  collision: "Ended by a collision.",
  trap: "Ended by a trap.",
  complete: "Both boards have no more steps.",
};

/** The number of steps of a round. */
export const lengthOf = (round) => Math.max(...round.squares.map((squares) => squares.length));

/** The points of both seats after step k, from 0. */
export function pointsAt(round, k) {
  const points = [0, 0];
  for (const event of round.events) if (event.step <= k + 1) points[event.seat] += event.points;
  return points;
}

export class RoundLayer {
  constructor(grid) {
    this.grid = grid;
    this.ways = [0, 1].map((seat) => svg("path", { class: `way s${seat}` }));
    this.traps = [0, 1].map((seat) => svg("path", { class: `trap s${seat}` }));
    this.runners = [0, 1].map((seat) => svg("g", { "data-runner": seat }));
    this.points = svg("g");
    this.node = svg("g", {}, ...this.ways, ...this.traps);
    grid.marks.append(this.node);
    this.tracks = [0, 1].map(() => new Path(grid, "other fog"));
    this.front = svg("g", {}, ...this.runners, this.points);
    grid.marks.append(this.front);
  }

  /** Draw a round after step k; `place` gives the middle of a square of the common grid. Null: nothing. */
  show(round, k, place) {
    this.shown = round && [round, k, place];
    for (const seat of [0, 1]) this.#side(round, k, place, seat);
    if (!round) {
      this.points.replaceChildren();
      return;
    }
    const { hair } = this.grid,
      places = round.squares.map((squares) => place(...squares[Math.min(k, squares.length - 1)])),
      together = places[0][0] === places[1][0] && places[0][1] === places[1][1];
    const size = Math.max(21, 5.5 * hair),
      shift = together ? size * 0.7 : 0;
    for (const seat of [0, 1]) {
      const [x, y] = places[seat];
      this.runners[seat].replaceChildren(shape(seat, x + (seat ? shift : -shift), y, size));
    }
    const counts = [0, 0];
    this.points.replaceChildren(
      ...round.events
        .filter(({ step }) => step === k + 1)
        .map(({ seat, points }) => {
          const [x, y] = places[seat],
            text = points > 0 ? "+1" : points < 0 ? "−1" : "0";
          return svg(
            "text",
            {
              class: points > 0 ? "won" : "gone",
              x: x + (seat ? 1 : -1) * (Math.max(30, 13 * hair) + shift),
              y: Math.max(8 * hair, y - Math.max(26, 9 * hair)) + counts[seat]++ * Math.max(20, 13 * hair),
            },
            text,
          );
        }),
    );
  }

  #side(round, k, place, seat) {
    const foggy = Boolean(round?.fog?.[seat]);
    if (!round || foggy) {
      this.ways[seat].setAttribute("d", "");
      this.traps[seat].setAttribute("d", "");
      if (!round) this.runners[seat].replaceChildren();
    }
    if (!round || !foggy) this.tracks[seat].show([], seat, place);
    if (!round) return;
    const squares = round.squares[seat].slice(0, k + 1);
    if (foggy) {
      this.tracks[seat].show(
        trackOf(round, seat).filter(({ order }) => order <= k + 1),
        seat,
        place,
      );
      return;
    }
    const way = squares.map((square) => place(...square).join(" ")).filter((text, at, all) => text !== all[at - 1]);
    this.ways[seat].setAttribute("d", way.length > 1 ? `M${way.join("L")}` : "");
    const r = Math.max(17, 2.6 * this.grid.hair),
      beside = seat ? 9 : -9;
    this.traps[seat].setAttribute(
      "d",
      round.traps[seat]
        .filter(([step]) => step <= k + 1)
        .map(([, row, col]) => {
          const [x, y] = place(row, col);
          return crossPath(x + beside, y + beside, r);
        })
        .join(""),
    );
  }

  /** The window shows something else. */
  refresh() {
    for (const track of this.tracks) track.refresh();
    if (this.shown) this.show(...this.shown);
  }

  /** Both pieces step at once, from where they were after step `before`. */
  animate(round, before, k, place) {
    for (const seat of [0, 1]) {
      const at = (step) => place(...round.squares[seat][Math.min(step, round.squares[seat].length - 1)]);
      const [x, y] = at(k),
        [fx, fy] = at(before);
      if (x !== fx || y !== fy) slide(this.runners[seat], fx - x, fy - y);
    }
    for (const node of this.points.children)
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
}

const tracks = new WeakMap();

/** The squares that a board in the fog visited, as steps; the same objects each time. */
function trackOf(round, seat) {
  if (!tracks.has(round)) tracks.set(round, []);
  const known = tracks.get(round);
  known[seat] ??= round.squares[seat]
    .map(([row, col], at) => [row, col, at + 1])
    .filter(([row, col], at, all) => !at || row !== all[at - 1][0] || col !== all[at - 1][1])
    .map(([row, col, order]) => stepOf(row, col, "piece", order));
  return known[seat];
}
