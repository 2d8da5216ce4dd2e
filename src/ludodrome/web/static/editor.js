// Editing positions: what can be put where, and the position's line. Whether it is one, the server says.
//
// An editor changes a draft, a state of its game, and writes it on one line. Values that follow from others
// (scores, winner, reason) are not kept up: the line does not have them.

import { svg } from "./draw.js";

export const icon = (...parts) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, ...parts);
const level = (name) =>
  icon(svg("rect", { class: "l1", x: 2, y: 2, width: 20, height: 20, rx: 3 }), svg("path", { class: "plus", d: name }));
export const UP = { id: "up", name: "Raise", icon: () => level("M12 7v10M7 12h10") };
export const DOWN = { id: "down", name: "Lower", icon: () => level("M7 12h10") };
export const rows = (list, width) =>
  Array.from({ length: list.length / width }, (_, at) => list.slice(at * width, at * width + width));
/** The ply nearest to the old one at which it is that seat's turn. */
export const plyFor = (seat, seats, ply, least) => {
  let next = Math.max(least, ply);
  while (next % seats !== seat) next++;
  return next;
};
