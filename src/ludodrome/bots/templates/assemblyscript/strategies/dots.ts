// Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots

import { dice } from "./dice";
import * as json from "./json";

function drawn(rows: i32, r: i32, c: i32): i32 {
  return <i32>json.int(json.item(json.item(rows, r), c));
}

// How many sides of a box are drawn; 0 for a box that is not on the board.
function sidesDrawn(state: i32, r: i32, c: i32): i32 {
  const h = json.get(state, "h");
  const v = json.get(state, "v");
  if (r < 0 || r >= json.int(json.get(state, "rows")) || c < 0 || c >= json.int(json.get(state, "cols"))) return 0;
  return drawn(h, r, c) + drawn(h, r + 1, c) + drawn(v, r, c) + drawn(v, r, c + 1);
}

// Close boxes, and do not draw third sides.
function score(state: i32, seat: i32, move: i32): i32 {
  const r = <i32>json.int(json.get(move, "r"));
  const c = <i32>json.int(json.get(move, "c"));
  const across = json.is(json.get(move, "orient"), "H");
  const one = sidesDrawn(state, r, c);
  const other = across ? sidesDrawn(state, r - 1, c) : sidesDrawn(state, r, c - 1);
  return 2 * (<i32>(one == 3) + <i32>(other == 3)) - (<i32>(one == 2) + <i32>(other == 2));
}

// The legal move with the highest score, as text; among equals the dice decide. null: there is nothing to choose from.
export function choose(): string | null {
  const state = json.get(0, "state");
  const seat = <i32>json.int(json.get(0, "seat"));
  let best = -1;
  let highest = 0;
  let equals = 0;
  // legal_moves is null if the match does not show them: then there is no first one
  for (let move = json.first(json.get(0, "legal_moves")); move >= 0; move = json.next(move)) {
    const points = score(state, seat, move);
    if (best < 0 || points > highest) {
      highest = points;
      equals = 0;
    }
    if (points == highest && dice(++equals) == 0) best = move;
  }
  return best < 0 ? null : json.text(best);
}
