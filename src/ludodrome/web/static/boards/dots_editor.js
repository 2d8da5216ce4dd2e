// The editor of positions of dots and boxes.

import { NAMES, shape, svg } from "../draw.js";
import { icon } from "../editor.js";

export const editor = {
  open: (state) =>
    structuredClone({
      rows: state.rows,
      cols: state.cols,
      h: state.h,
      v: state.v,
      owner: state.owner,
      to_move: state.to_move ?? 0,
      nonce: state.nonce,
    }),
  tools: () => [
    { id: "edge", name: "Edges", icon: () => icon(svg("path", { class: "edge", d: "M4 12h16", "stroke-width": 3 })) },
    ...[0, 1].map((seat) => ({
      id: `box${seat}`,
      name: `${NAMES[seat]} boxes`,
      icon: () =>
        icon(
          svg("rect", { class: `box s${seat}`, x: 2, y: 2, width: 20, height: 20 }),
          shape(seat, 12, 12, 6, "box-mark"),
        ),
    })),
  ],
  boxes: (tool) => tool !== "edge",

  act(draft, tool, key) {
    if (tool !== "edge") {
      const [r, c] = key.slice(1).split("_").map(Number);
      draft.owner[r][c] = Number(tool[3]);
      return;
    }
    const [r, c] = key.slice(1).split("_").map(Number),
      grid = key[0] === "H" ? draft.h : draft.v;
    grid[r][c] = !grid[r][c];
    for (let i = 0; i < draft.rows; i++)
      for (let j = 0; j < draft.cols; j++) {
        const full = draft.h[i][j] && draft.h[i + 1][j] && draft.v[i][j] && draft.v[i][j + 1];
        if (full && draft.owner[i][j] < 0) draft.owner[i][j] = draft.to_move;
        if (!full) draft.owner[i][j] = -1;
      }
  },

  state: (draft) => ({
    ...structuredClone(draft),
    scores: [0, 1].map((seat) => draft.owner.flat().filter((owner) => owner === seat).length),
    turn: 0,
    winner: null,
    reason: "",
  }),
  turn: (draft) => draft.to_move,
  setTurn(draft, seat) {
    draft.to_move = seat;
  },
  seats: () => 2,

  line({ rows: high, cols, h, v, owner, to_move: mover, nonce }) {
    const signs = (grid) => grid.map((row) => row.map((one) => (one ? 1 : 0)).join("")).join("/");
    const whole = h.flat().every(Boolean) && v.flat().every(Boolean);
    return [
      `${high}x${cols}`,
      signs(h),
      signs(v),
      owner.map((row) => row.map((one) => ".01"[one + 1]).join("")).join("/"),
      whole ? "-" : mover,
      nonce,
    ].join(" ");
  },
};
