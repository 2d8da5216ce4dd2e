// Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera

const WORTH = { crown: 100, lancer: 3, smith: 2 };

// The legal move with the highest score; among equals the dice decide. null: there is nothing to choose from.
export function choose(turn, dice) {
  const moves = turn.legal_moves; // null if the match does not show them
  if (!moves || moves.length === 0) return null;
  const scores = moves.map((move) => score(turn.state, turn.seat, move));
  const highest = Math.max(...scores);
  const best = moves.filter((_, i) => scores[i] === highest);
  return best[dice(best.length)];
}

// Take what can be taken, the crown above all.
function score(state, seat, move) {
  if (move.action === "forge") return 0;
  const enemies = seat === 0 ? state.p1 : state.p0;
  const taken = enemies.find((piece) => piece.r === move.to[0] && piece.c === move.to[1]);
  return taken ? WORTH[taken.type] : 0;
}
