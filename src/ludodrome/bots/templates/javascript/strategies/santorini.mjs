// Which move to play in Santorini: the part to make better. The rules: ludodrome rules santorini

// The legal move with the highest score; among equals the dice decide. null: there is nothing to choose from.
export function choose(turn, dice) {
  const moves = turn.legal_moves; // null if the match does not show them
  if (!moves || moves.length === 0) return null;
  const scores = moves.map((move) => score(turn.state, turn.seat, move));
  const highest = Math.max(...scores);
  const best = moves.filter((_, i) => scores[i] === highest);
  return best[dice(best.length)];
}

// Climb: the higher the better, and level 3 wins. In [N1C2B2C3] the worker goes to B2.
function score(state, seat, move) {
  return state.board["ABCDE".indexOf(move[5])][move[6] - 1];
}
