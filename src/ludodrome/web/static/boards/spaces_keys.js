// The keys of spaces: arrows step, digits set traps, and in a round they go through its steps.

const ARROWS = { ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right", ArrowDown: "down" };
const TRAP_KEYS = { up: "8", left: "4", right: "6", down: "2" };

/** Whether the key means something here. */
export function press(board, event) {
  const { key: pressed } = event,
    arrow = ARROWS[pressed];
  if (pressed === "+" || pressed === "=") board.grid.zoom(1.5);
  else if (pressed === "-") board.grid.zoom(1 / 1.5);
  else if (pressed === "0") board.grid.fit();
  else if (board.running !== null) {
    const to = { left: board.running - 1, right: board.running + 1, up: 0, down: board.lastStep() }[arrow];
    if (to !== undefined) board.scrub(to);
    else if (pressed === " " || pressed === "Enter") board.roll();
    else return false;
  } else if (!board.building() || board.sent) {
    if (pressed === "Enter" || pressed === " ") board.wait();
    else return false;
  } else return buildKey(board, event, arrow);
  return true;
}

function buildKey(board, { key: pressed, shiftKey }, arrow) {
  const { builder } = board,
    word = pressed.toLowerCase();
  if (arrow && (shiftKey || !builder.piece)) {
    if (arrow === "up" && !shiftKey) start(board);
    else moveCursor(board, arrow);
  } else if (arrow) {
    const trap = board.mode === "trap";
    if (trap) board.mode = "piece";
    builder.press(trap ? `trap ${TRAP_KEYS[arrow]}` : arrow);
  } else if (/^[1-9]$/.test(pressed)) builder.press(`trap ${pressed}`);
  else if (word === "t") board.setMode(board.mode === "trap" ? "piece" : "trap");
  else if (word === "f") builder.complete();
  else if (pressed === "Backspace" || pressed === "Delete") builder.cut(board.sequence.length - 1);
  else if (pressed === "Escape") board.setMode("piece");
  else if (pressed === "Enter" || pressed === " ") {
    if (!builder.piece && !board.cursor) start(board);
    else if (builder.whole && !board.cursor && !board.decked) board.lay();
    else if (board.cursor) board.act(board.cursor.row, board.cursor.col);
  } else return false;
  return true;
}

/** Start where the cursor is. */
function start(board) {
  const col = board.cursor?.col ?? (board.size - 1) >> 1,
    step = board.builder.offersAt(board.size - 1, col)[0];
  if (step) board.builder.take(step);
}

function moveCursor(board, arrow) {
  const at = board.cursor ?? board.builder.piece ?? { row: board.size - 1, col: (board.size - 1) >> 1 },
    [down, right] = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[arrow];
  const within = (value, low, high) => Math.max(low, Math.min(high, value));
  board.cursor = { row: within(at.row + down, -1, board.size - 1), col: within(at.col + right, 0, board.size - 1) };
  board.offers.show();
  board.grid.keepInView(board.cursor.row, board.cursor.col);
  board.calls.say(board.offers.label(board.cursor.row, board.cursor.col));
}
