// Editing positions: what can be put where, and the position's line. Whether it is one, the server says.
//
// An editor changes a draft, a state of its game, and writes it on one line. Values that follow from others
// (scores, winner, reason) are not kept up: the line does not have them.

import { cellName, cellNumber } from "./boards/towers.js";
import { GLYPHS, shape, svg } from "./draw.js";

const icon = (...parts) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, ...parts);
const worker = (seat, w) => icon(shape(seat, 12, 12, seat === 1 ? 9 : 10), svg("text", { class: "token-text tiny", x: 12, y: 12.5 }, String(w + 1)));
const level = (name) => icon(svg("rect", { class: "l1", x: 2, y: 2, width: 20, height: 20, rx: 3 }), svg("path", { class: "plus", d: name }));
const UP = { id: "up", name: "Raise", icon: () => level("M12 7v10M7 12h10") };
const DOWN = { id: "down", name: "Lower", icon: () => level("M7 12h10") };
const rows = (list, width) => Array.from({ length: list.length / width }, (_, at) => list.slice(at * width, at * width + width));
/** The ply nearest to the old one at which it is that seat's turn. */
const plyFor = (seat, seats, ply, least) => { let next = Math.max(least, ply); while (next % seats !== seat) next++; return next; };

/** Skysummit and santorini, over { heights, workers, ply }. */
class Towers {
  constructor(read, write, least) { Object.assign(this, { read, write, least }); }

  open(state) {
    const draft = this.read(state);
    if (draft.workers[0][0] === null || draft.workers[1][0] === null) Object.assign(draft, { workers: [[6, 8], [16, 18]] });
    return { ...draft, ply: Math.max(this.least, draft.ply) };
  }

  tools(draft) {
    return [UP, DOWN, ...draft.workers.flatMap((pair, seat) => pair.map((_, w) => ({ id: `w${seat}${w}`, name: `Worker ${w + 1} of seat ${seat + 1}`, icon: () => worker(seat, w) })))];
  }

  act(draft, tool, key) {
    const cell = Number(key.slice(1)), { heights, workers } = draft;
    if (tool === "up") heights[cell] = (heights[cell] + 1) % 5;
    else if (tool === "down") heights[cell] = (heights[cell] + 4) % 5;
    else {
      const [seat, w] = [Number(tool[1]), Number(tool[2])], old = workers[seat][w];
      for (const pair of workers) pair.forEach((at, one) => { if (at === cell) pair[one] = old; });
      workers[seat][w] = cell;
    }
  }

  state(draft) { return this.write(draft); }
  turn(draft) { return draft.ply % draft.workers.length; }
  setTurn(draft, seat) { draft.ply = plyFor(seat, draft.workers.length, draft.ply, this.least); }
  seats(draft) { return draft.workers.length; }

  line({ heights, workers, ply }) {
    return [rows(heights, 5).map((row) => row.join("")).join("/"), ...workers.map((pair) => pair.map(cellName).join("")), ply].join(" ");
  }
}

const skysummit = new Towers(
  ({ board, workers, ply }) => ({ heights: [...board], workers: workers.map((pair) => [...pair]), ply }),
  ({ heights, workers, ply }) => ({ phase: "play", ply, board: heights, workers, winner: null, reason: "" }), 2);
const santorini = new Towers(
  ({ board, workers, ply }) => ({ heights: board.flat(), workers: workers.map((pair) => pair.map(cellNumber)), ply }),
  ({ heights, workers, ply }) => ({ players: workers.length, ply, to_move: ply % workers.length, board: rows(heights, 5), workers: workers.map((pair) => pair.map(cellName)), winner: null, reason: "" }), 0);

const KINDS = ["crown", "lancer", "smith"], MOST = { crown: 1, lancer: 2, smith: 2 };

const caldera = {
  open: (state) => structuredClone({ board: state.board, p0: state.p0, p1: state.p1, ply: state.ply }),
  tools: () => [UP, DOWN, { id: "take", name: "Remove", icon: () => icon(svg("path", { class: "plus", d: "M7 7l10 10M17 7l-10 10" })) },
    ...[0, 1].flatMap((seat) => KINDS.map((kind) => ({ id: `${seat}${kind}`, name: `${kind[0].toUpperCase()}${kind.slice(1)} of seat ${seat + 1}`, icon: () => svg("svg", { viewBox: "0 0 56 56", "aria-hidden": "true" }, shape(seat, 28, 28, 23), GLYPHS[kind](28, 28)) })))],

  act(draft, tool, key) {
    const [r, c] = [Number(key[1]), Number(key[2])];
    if (tool === "up" || tool === "down") { draft.board[r][c] = ((draft.board[r][c] + 1 + (tool === "up" ? 1 : 4)) % 5) - 1; return; }
    for (const side of ["p0", "p1"]) draft[side] = draft[side].filter((piece) => piece.r !== r || piece.c !== c);
    if (tool === "take") return;
    const side = `p${tool[0]}`, type = tool.slice(1), same = draft[side].filter((piece) => piece.type === type);
    if (same.length === MOST[type]) draft[side].splice(draft[side].indexOf(same[0]), 1);
    draft[side].push({ type, r, c });
    draft[side].sort((a, b) => KINDS.indexOf(a.type) - KINDS.indexOf(b.type));
  },

  state: (draft) => ({ ...structuredClone(draft), winner: null, reason: "" }),
  turn: (draft) => draft.ply % 2,
  setTurn(draft, seat) { draft.ply = plyFor(seat, 2, draft.ply, 0); },
  seats: () => 2,

  line({ board, p0, p1, ply }) {
    const side = (pieces) => pieces.map(({ type, r, c }) => `${type[0]}${r}${c}`).join("") || "-";
    return [board.map((row) => row.map((height) => (height < 0 ? "x" : height)).join("")).join("/"), side(p0), side(p1), ply].join(" ");
  },
};

const dots = {
  open: (state) => structuredClone({ rows: state.rows, cols: state.cols, h: state.h, v: state.v, owner: state.owner, to_move: state.to_move ?? 0, nonce: state.nonce }),
  tools: () => [{ id: "edge", name: "Edges", icon: () => icon(svg("path", { class: "edge", d: "M4 12h16", "stroke-width": 3 })) },
    ...[0, 1].map((seat) => ({ id: `box${seat}`, name: `Boxes of seat ${seat + 1}`, icon: () => icon(svg("rect", { class: `box s${seat}`, x: 2, y: 2, width: 20, height: 20 }), shape(seat, 12, 12, 6, "box-mark")) }))],
  boxes: (tool) => tool !== "edge",

  act(draft, tool, key) {
    if (tool !== "edge") { const [r, c] = key.slice(1).split("_").map(Number); draft.owner[r][c] = Number(tool[3]); return; }
    const [r, c] = key.slice(1).split("_").map(Number), grid = key[0] === "H" ? draft.h : draft.v;
    grid[r][c] = !grid[r][c];
    for (let i = 0; i < draft.rows; i++) for (let j = 0; j < draft.cols; j++) {
      const full = draft.h[i][j] && draft.h[i + 1][j] && draft.v[i][j] && draft.v[i][j + 1];
      if (full && draft.owner[i][j] < 0) draft.owner[i][j] = draft.to_move;
      if (!full) draft.owner[i][j] = -1;
    }
  },

  state: (draft) => ({ ...structuredClone(draft), scores: [0, 1].map((seat) => draft.owner.flat().filter((owner) => owner === seat).length), turn: 0, winner: null, reason: "" }),
  turn: (draft) => draft.to_move,
  setTurn(draft, seat) { draft.to_move = seat; },
  seats: () => 2,

  line({ rows: high, cols, h, v, owner, to_move: mover, nonce }) {
    const signs = (grid) => grid.map((row) => row.map((one) => (one ? 1 : 0)).join("")).join("/");
    const whole = h.flat().every(Boolean) && v.flat().every(Boolean);
    return [`${high}x${cols}`, signs(h), signs(v), owner.map((row) => row.map((one) => ".01"[one + 1]).join("")).join("/"), whole ? "-" : mover, nonce].join(" ");
  },
};

/** Spaces has no pieces to put: its boards are laid on the grid. */
export const editors = { skysummit, santorini, caldera, dots };

/** The options by which a board is begun anew. */
export const SHAPES = {
  dots: [["rows", "Rows", [1, 2, 3, 4, 5, 6, 7, 8]], ["cols", "Columns", [1, 2, 3, 4, 5, 6, 7, 8]]],
  santorini: [["players", "Players", [2, 3]]],
  spaces: [["size", "Size", [2, 3, 4, 5, 6, 7, 8, 9, 10]], ["rules", "Rules", ["written", "live"]]],
};
