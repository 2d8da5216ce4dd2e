// Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit

// The legal move with the highest score; among equals the dice decide. null: there is nothing to choose from.
export function choose(turn, dice) {
  const moves = turn.legal_moves; // null if the match does not show them
  if (!moves || moves.length === 0) return null;
  const scores = moves.map((move) => score(turn.state, turn.seat, move));
  const highest = Math.max(...scores);
  const best = moves.filter((_, i) => scores[i] === highest);
  return best[dice(best.length)];
}

// Begin near the middle, then climb: the higher the better, and level 3 wins.
function score(state, seat, move) {
  if (move.t === "place") {
    const distance = (cell) => Math.abs(Math.floor(cell / 5) - 2) + Math.abs((cell % 5) - 2);
    return -distance(move.to[0]) - distance(move.to[1]);
  }
  return state.board[move.to];
}
