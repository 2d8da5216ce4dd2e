// Decks of spaces: ten boards that are built one after another or sampled, and the hundred rounds between two decks.

import { post } from "../api.js";
import { html, shape, svg } from "../draw.js";
import { finished, sequenceOf } from "./spaces_codes.js";

export const DECK = 10;
const CELL = 64,
  EDGE = 44;

/** The ten places of a deck; a click goes on with the board of that place. */
export function places(deck, at, seat, choose) {
  return html(
    "div",
    { class: `deck s${seat}`, role: "group", "aria-label": "Boards of the deck" },
    ...deck.map((sequence, number) =>
      html(
        "button",
        {
          type: "button",
          class: finished(sequence) ? "full" : null,
          "aria-pressed": String(number === at),
          "aria-label": `Board ${number + 1}, ${finished(sequence) ? "complete" : sequence.length ? "begun" : "empty"}`,
          onclick: () => choose(number),
        },
        String(number + 1),
      ),
    ),
  );
}

/** Fill every incomplete place with a random board. */
export async function fill(deck, size, rules) {
  const empty = deck.map((sequence, number) => (finished(sequence) ? -1 : number)).filter((number) => number >= 0);
  const { boards } = await post("/spaces/samples", { size, rules, count: Math.max(1, empty.length) });
  empty.forEach((number, at) => {
    deck[number] = sequenceOf(boards[at]);
  });
}

/** The hundred rounds as a map: who won, and by how much. `cell(row, col, x, y, side, label, children)` makes a target. */
export function matrix(history, eyes, cell) {
  const span = EDGE + DECK * CELL,
    most = Math.max(1, ...history.map(({ points: [one, other] }) => Math.abs(one - other)));
  const parts = [shape(eyes, 14, EDGE - 13, 7, "box-mark"), shape(1 - eyes, EDGE - 13, 14, 7, "box-mark")];
  for (let number = 0; number < DECK; number++) {
    const middle = EDGE + (number + 0.5) * CELL;
    parts.push(
      svg("text", { class: `heat-side s${eyes}`, x: EDGE / 2, y: middle }, String(number + 1)),
      svg("text", { class: `heat-side s${1 - eyes}`, x: middle, y: EDGE / 2 }, String(number + 1)),
    );
  }
  for (let own = 0; own < DECK; own++)
    for (let other = 0; other < DECK; other++) {
      const at = eyes ? other * DECK + own : own * DECK + other,
        { points } = history[at];
      const margin = points[eyes] - points[1 - eyes],
        seat = margin > 0 ? eyes : 1 - eyes;
      const x = EDGE + other * CELL,
        y = EDGE + own * CELL;
      const colour = {
        class: "heat",
        x,
        y,
        width: CELL,
        height: CELL,
        rx: 6,
        fill: margin ? `var(--seat-${seat})` : "var(--ground)",
        "fill-opacity": margin ? (0.16 + (0.38 * Math.abs(margin)) / most).toFixed(2) : 1,
      };
      const mark = svg(
        "text",
        { class: "heat-mark", x: x + CELL / 2, y: y + CELL / 2 },
        margin > 0 ? `+${margin}` : margin < 0 ? `−${-margin}` : "0",
      );
      parts.push(
        cell(at, x, y, CELL, `board ${own + 1} against board ${other + 1}: ${points[eyes]} to ${points[1 - eyes]}`, [
          svg("rect", colour),
          mark,
        ]),
      );
    }
  return svg("svg", { viewBox: `0 0 ${span} ${span}`, class: "grid" }, ...parts);
}
