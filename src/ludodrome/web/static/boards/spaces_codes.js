// Boards of spaces as the page keeps them: lists of steps, and codes like 3:1:u6uf, in which large boards are sent.

import { svg } from "../draw.js";

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

const CODE = /^(\d+):\d+:[ulrdf?1-9]*$/;
/** Squares of a small picture are this wide. */
const TINY = 10;
const PLACES = ["up-left", "up", "up-right", "left", "here", "right", "down-left", "down", "down-right"];
const WORDS = { u: "up", l: "left", r: "right", d: "down", f: "finish", "?": "trap" };

/** A board in words, as its steps are called; any other text as it is. */
export function wordsOf(code) {
  if (!CODE.test(code)) return code;
  const [, start, signs] = code.split(":");
  const steps = [...signs].map((sign) => WORDS[sign] ?? `trap ${PLACES[PAD.indexOf(sign)]}`);
  return [`start in column ${start}`, ...steps].join(", ");
}

/** A board as a small picture: its path and its traps as its owner sees them. Null if it is no board or a large one. */
export function pictureOf(code, seat) {
  const size = Number(CODE.exec(code)?.[1]);
  if (!size || isLarge(size)) return null;
  const steps = decode(code).filter((_, at) => code.split(":")[2][at - 1] !== "?");
  const middle = ({ row, col }) => [(col + 0.5) * TINY, (row + 1.5) * TINY];
  const way = steps.filter(({ type }) => type !== "trap").map(({ position }) => middle(position));
  const crosses = steps
    .filter(({ type }) => type === "trap")
    .map(({ position }) => middle(position))
    .map(([x, y]) => `M${x - 3} ${y - 3}l6 6m-6 0l6 -6`);
  return svg(
    "svg",
    { class: `mini s${seat}`, viewBox: `-1 0 ${size * TINY + 2} ${(size + 1) * TINY + 1}`, "aria-hidden": "true" },
    ...Array.from({ length: size * size }, (_, at) =>
      svg("rect", {
        class: "mini-cell",
        x: (at % size) * TINY + 0.5,
        y: (Math.floor(at / size) + 1) * TINY + 0.5,
        width: TINY - 1,
        height: TINY - 1,
        rx: 1,
      }),
    ),
    svg("polyline", { class: "mini-way", points: way.map((point) => point.join(",")).join(" ") }),
    svg("circle", { class: "mini-start", cx: way[0][0], cy: way[0][1], r: 2.6 }),
    svg("path", { class: "mini-trap", d: crosses.join("") }),
  );
}

/** A board as the server takes it: JSON, or its code where it is large. */
export const boardOf = (sequence, size) => (isLarge(size) ? codeOf(sequence, size) : { boardSize: size, sequence });
