// Boards of spaces as the page keeps them: lists of steps, and codes like 3:1:u6uf, in which large boards are sent.

const MOVES = { u: [-1, 0], l: [0, -1], r: [0, 1], d: [1, 0] };
/** Traps around the piece in reading order, as on a number pad. */
export const PAD = "789456123";
/** Up to this size the server sends and takes boards as JSON. */
const SMALL = 10;

export const isLarge = (size) => size > SMALL;

export const finished = (sequence) => sequence?.at(-1)?.type === "final";

export const stepOf = (row, col, type, order) => ({ position: { row, col }, type, order });

/** The position of the piece after these steps; null before the start. */
export const pieceOf = (sequence) => sequence.findLast(({ type }) => type !== "trap")?.position ?? null;

const decoded = new Map();
const MAX_DECODED = 40;

/** The steps of a board that comes as JSON or as a code; the same objects each time. */
export function sequenceOf(board) {
  if (typeof board !== "string") return board?.sequence ?? [];
  if (!decoded.has(board)) {
    if (decoded.size >= MAX_DECODED) decoded.clear();
    decoded.set(board, decode(board));
  }
  return decoded.get(board);
}

function decode(board) {
  const [size, start, signs = ""] = board.split(":");
  let [row, col] = [Number(size) - 1, Number(start)];
  const sequence = [stepOf(row, col, "piece", 1)];
  for (const sign of signs) {
    const order = sequence.length + 1;
    if (MOVES[sign]) {
      row += MOVES[sign][0];
      col += MOVES[sign][1];
      sequence.push(stepOf(row, col, "piece", order));
    } else if (sign === "f") sequence.push(stepOf(row - 1, col, "final", order));
    else {
      const place = PAD.indexOf(sign);
      sequence.push(stepOf(row + Math.floor(place / 3) - 1, col + (place % 3) - 1, "trap", order));
    }
  }
  return sequence;
}

/** The code of steps, finished or not; empty if there are none. */
export function codeOf(sequence, size) {
  if (!sequence.length) return "";
  let { row, col } = sequence[0].position;
  const signs = sequence.slice(1).map(({ position: to, type }) => {
    const [down, right] = [to.row - row, to.col - col];
    if (type === "trap") return PAD[(down + 1) * 3 + right + 1];
    ({ row, col } = to);
    return type === "final" ? "f" : down ? (down < 0 ? "u" : "d") : right < 0 ? "l" : "r";
  });
  return `${size}:${sequence[0].position.col}:${signs.join("")}`;
}

/** A board as the server takes it: JSON, or its code where it is large. */
export const boardOf = (sequence, size) => (isLarge(size) ? codeOf(sequence, size) : { boardSize: size, sequence });
