// Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots

// The legal move with the highest score; among equals the dice decide. null: there is nothing to choose from.
export function choose(turn, dice) {
  const moves = turn.legal_moves; // null if the match does not show them
  if (!moves || moves.length === 0) return null;
  const scores = moves.map((move) => score(turn.state, turn.seat, move));
  const highest = Math.max(...scores);
  const best = moves.filter((_, i) => scores[i] === highest);
  return best[dice(best.length)];
}

// Close boxes, and do not draw third sides.
function score(state, seat, { orient, r, c }) {
  const sides = [sidesDrawn(state, r, c), orient === "H" ? sidesDrawn(state, r - 1, c) : sidesDrawn(state, r, c - 1)];
  return 2 * sides.filter((n) => n === 3).length - sides.filter((n) => n === 2).length;
}

// How many sides of a box are drawn; 0 for a box that is not on the board.
function sidesDrawn({ rows, cols, h, v }, r, c) {
  if (r < 0 || r >= rows || c < 0 || c >= cols) return 0;
  return h[r][c] + h[r + 1][c] + v[r][c] + v[r][c + 1];
}
