// Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit

import { dice } from "./dice";
import * as json from "./json";

function distance(cell: i32): i32 {
  return abs(cell / 5 - 2) + abs((cell % 5) - 2);
}

// Begin near the middle, then climb: the higher the better, and level 3 wins.
function score(state: i32, seat: i32, move: i32): i32 {
  const to = json.get(move, "to");
  if (json.is(json.get(move, "t"), "place"))
    return -distance(<i32>json.int(json.item(to, 0))) - distance(<i32>json.int(json.item(to, 1)));
  return <i32>json.int(json.item(json.get(state, "board"), <i32>json.int(to)));
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
