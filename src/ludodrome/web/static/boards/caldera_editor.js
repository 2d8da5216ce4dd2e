// The editor of positions of caldera.

import { NAMES, shape, svg } from "../draw.js";
import { DOWN, icon, plyFor, UP } from "../editor.js";
import { GLYPHS } from "./caldera.js";

const KINDS = ["crown", "lancer", "smith"],
  MAX_PIECES = { crown: 1, lancer: 2, smith: 2 };

export const editor = {
  open: (state) => structuredClone({ board: state.board, p0: state.p0, p1: state.p1, ply: state.ply }),
  tools: () => [
    UP,
    DOWN,
    { id: "take", name: "Remove", icon: () => icon(svg("path", { class: "plus", d: "M7 7l10 10M17 7l-10 10" })) },
    ...[0, 1].flatMap((seat) =>
      KINDS.map((kind) => ({
        id: `${seat}${kind}`,
        name: `${NAMES[seat]} ${kind}`,
        icon: () =>
          svg("svg", { viewBox: "0 0 56 56", "aria-hidden": "true" }, shape(seat, 28, 28, 23), GLYPHS[kind](28, 28)),
      })),
    ),
  ],

  act(draft, tool, key) {
    const [r, c] = [Number(key[1]), Number(key[2])];
    if (tool === "up" || tool === "down") {
      draft.board[r][c] = ((draft.board[r][c] + 1 + (tool === "up" ? 1 : 4)) % 5) - 1;
      return;
    }
    for (const side of ["p0", "p1"]) draft[side] = draft[side].filter((piece) => piece.r !== r || piece.c !== c);
    if (tool === "take") return;
    const side = `p${tool[0]}`,
      type = tool.slice(1),
      same = draft[side].filter((piece) => piece.type === type);
    if (same.length === MAX_PIECES[type]) draft[side].splice(draft[side].indexOf(same[0]), 1);
    draft[side].push({ type, r, c });
    draft[side].sort((a, b) => KINDS.indexOf(a.type) - KINDS.indexOf(b.type));
  },

  state: (draft) => ({ ...structuredClone(draft), winner: null, reason: "" }),
  turn: (draft) => draft.ply % 2,
  setTurn(draft, seat) {
    draft.ply = plyFor(seat, 2, draft.ply, 0);
  },
  seats: () => 2,

  line({ board, p0, p1, ply }) {
    const side = (pieces) => pieces.map(({ type, r, c }) => `${type[0]}${r}${c}`).join("") || "-";
    return [
      board.map((row) => row.map((height) => (height < 0 ? "x" : height)).join("")).join("/"),
      side(p0),
      side(p1),
      ply,
    ].join(" ");
  },
};
