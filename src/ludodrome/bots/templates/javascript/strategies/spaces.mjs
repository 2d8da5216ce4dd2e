// Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces

// A board, or ten of them. There are too many legal ones to list, so one is made.
export function choose({ state }, dice) {
  if (state.mode === "deck") return { deck: Array.from({ length: 10 }, () => straightRun(state.size, dice)) };
  return straightRun(state.size, dice);
}

// From the bottom row straight up to the goal, in any column: legal at every size, under both rule sets.
function straightRun(size, dice) {
  const col = dice(size);
  const sequence = [];
  for (let order = 1; order <= size + 1; order++) {
    const row = size - order;
    sequence.push({ position: { row, col }, type: row >= 0 ? "piece" : "final", order });
  }
  return { boardSize: size, sequence };
}
