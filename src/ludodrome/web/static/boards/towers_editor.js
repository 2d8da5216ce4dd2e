// Editors of positions of skysummit and santorini.

import { NAMES, shape, svg } from "../draw.js";
import { DOWN, icon, plyFor, rows, UP } from "../editor.js";
import { cellName, cellNumber } from "./towers.js";

const worker = (seat, w) =>
  icon(
    shape(seat, 12, 12, seat === 1 ? 9 : 10),
    svg("text", { class: "token-text tiny", x: 12, y: 12.5 }, String(w + 1)),
  );

/** A draft is { heights, workers, ply }. */
class Towers {
  constructor(read, write, least) {
    Object.assign(this, { read, write, least });
  }

  open(state) {
    const draft = this.read(state);
    if (draft.workers[0][0] === null || draft.workers[1][0] === null)
      Object.assign(draft, {
        workers: [
          [6, 8],
          [16, 18],
        ],
      });
    return { ...draft, ply: Math.max(this.least, draft.ply) };
  }

  tools(draft) {
    return [
      UP,
      DOWN,
      ...draft.workers.flatMap((pair, seat) =>
        pair.map((_, w) => ({
          id: `w${seat}${w}`,
          name: `${NAMES[seat]} worker ${w + 1}`,
          icon: () => worker(seat, w),
        })),
      ),
    ];
  }

  act(draft, tool, key) {
    const cell = Number(key.slice(1)),
      { heights, workers } = draft;
    if (tool === "up") heights[cell] = (heights[cell] + 1) % 5;
    else if (tool === "down") heights[cell] = (heights[cell] + 4) % 5;
    else {
      const [seat, w] = [Number(tool[1]), Number(tool[2])],
        old = workers[seat][w];
      for (const pair of workers)
        pair.forEach((at, one) => {
          if (at === cell) pair[one] = old;
        });
      workers[seat][w] = cell;
    }
  }

  state(draft) {
    return this.write(draft);
  }
  turn(draft) {
    return draft.ply % draft.workers.length;
  }
  setTurn(draft, seat) {
    draft.ply = plyFor(seat, draft.workers.length, draft.ply, this.least);
  }
  seats(draft) {
    return draft.workers.length;
  }

  line({ heights, workers, ply }) {
    return [
      rows(heights, 5)
        .map((row) => row.join(""))
        .join("/"),
      ...workers.map((pair) => pair.map(cellName).join("")),
      ply,
    ].join(" ");
  }
}

export const skysummit = new Towers(
  ({ board, workers, ply }) => ({ heights: [...board], workers: workers.map((pair) => [...pair]), ply }),
  ({ heights, workers, ply }) => ({ phase: "play", ply, board: heights, workers, winner: null, reason: "" }),
  2,
);
export const santorini = new Towers(
  ({ board, workers, ply }) => ({ heights: board.flat(), workers: workers.map((pair) => pair.map(cellNumber)), ply }),
  ({ heights, workers, ply }) => ({
    players: workers.length,
    ply,
    to_move: ply % workers.length,
    board: rows(heights, 5),
    workers: workers.map((pair) => pair.map(cellName)),
    winner: null,
    reason: "",
  }),
  0,
);
