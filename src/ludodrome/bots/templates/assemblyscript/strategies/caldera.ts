// Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera

import { dice } from "./dice";
import * as json from "./json";

// Take what can be taken, the crown above all.
function score(state: i32, seat: i32, move: i32): i32 {
  const to = json.get(move, "to"); // there is none if a smith forges
  if (to < 0) return 0;
  const row = json.int(json.item(to, 0));
  const column = json.int(json.item(to, 1));
  const enemies = json.get(state, seat == 0 ? "p1" : "p0");
  for (let piece = json.first(enemies); piece >= 0; piece = json.next(piece)) {
    const type = json.get(piece, "type");
    if (json.int(json.get(piece, "r")) == row && json.int(json.get(piece, "c")) == column)
      return json.is(type, "crown") ? 100 : json.is(type, "lancer") ? 3 : 2;
  }
  return 0;
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
