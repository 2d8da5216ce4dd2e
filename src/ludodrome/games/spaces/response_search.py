"""Search for a board that reaches a value against a known one: depth first, guided by bounds.

Every step is legal (R17), so a board that is found is a proof; if the search ends without one,
this run has none. Failures are remembered by everything that can matter afterwards: the step, the
square, and those of one's own traps that can still be in the way.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, PLACES, RIGHT, UP
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.jit import Array, Int, Record, entry, kernel, mix, record_dtype

# Bounds
#
# The opponent's board is known, so its square and its traps are functions of the step, until the
# round ends or its piece is hit. A *run* fixes when that is: in the run of a step, the opponent is
# hit in that step and no sooner (traps that would bite earlier are not set); in the run without a
# hit, never. The effect of one's own traps on the opponent is therefore one bit: whether the trap
# that bites in the run's last step is set (*armed*).
#
# ``fill_bounds`` computes by dynamic programming, backwards over the steps, the best value from each
# place in each step, ignoring one's own earlier traps: they block the piece (R16, ``live``) and
# further traps (R10) and are limited in number (R14, ``live``), so the true value is never higher.
# Squares are those of the common grid (R18), the responder's side is not rotated, and points follow
# R20 to R23. Steps count from 0.


IMPOSSIBLE = -128
"""Less than any value: there is no such board. Bounds are int8: no round is worth more than 100."""

ENTERED, LEFTWARD, RIGHTWARD = range(3)
"""The heading of a piece in its row: just entered, or moving to one side (R8, R9)."""

FREE, MUST_MOVE, NOT_UP, NOT_LEFT, NOT_RIGHT = range(5)
"""The constraint on the next step: none; a piece step (R11, R15); a piece step not into the trap just set (R16)."""
CONSTRAINTS_LIVE, CONSTRAINTS_WRITTEN = 5, 2

CONSTRAINT_AFTER_TRAP_LIVE = np.array(
    [{(-1, 0): NOT_UP, (0, -1): NOT_LEFT, (0, 1): NOT_RIGHT}.get(place, MUST_MOVE) for place in PLACES]
)
"""The constraint after a trap in each place, under ``live``."""
CONSTRAINT_AFTER_TRAP_WRITTEN = np.array([MUST_MOVE if place == (0, 0) else FREE for place in PLACES])
"""The constraint after a trap in each place, under ``written``."""
UNDERFOOT = HERE - FIRST_TRAP

RUN = record_dtype(
    [
        ("side", np.int64),  # the size
        ("live", np.int64),
        ("hits", np.int64),  # whether the opponent is hit in the last step of the run
        ("last", np.int64),  # the last step that both play
        ("layers", np.int64),  # the number of steps that can be followed by one that matters
        ("goal", np.int64),  # the step in which the opponent would finish
        ("target", np.int64),  # the square on which the opponent is hit, or -1
        ("low", np.int64),  # the columns that the piece stays in: the first, and how many
        ("width", np.int64),
        ("exact", np.int64),  # whether keys are exact, see _key_written
        ("own_weight", np.int64),
        ("other_weight", np.int64),
    ]
)


class KnownBoard(NamedTuple):
    """The opponent's board on the common grid."""

    cells: Array
    """(steps,) uint16: the square of its piece after each step, see rounds.pack."""
    score: Array
    """(steps,) uint16: its points so far."""
    since: Array
    """(squares,) uint16: the step from which the square holds one of its traps, or NEVER."""
    visited: Array
    """(squares,) int64: the last step in which its piece is there, or -1."""
    until: Array
    """(squares,) int64: the last step before the run's last in which its piece is there, or -1.

    A trap set later than this does not bite before the run's last step.
    """


@kernel
def value_of(run: Record, own: Int, other: Int) -> Int:
    """The objective for the points of both."""
    return own * run.own_weight - other * run.other_weight


@kernel
def step_outcome(run: Record, opponent: KnownBoard, k: Int, row: Int, col: Int, armed: Int) -> Any:
    """Whether step k decides the round for a piece on (row, col), and its value then.

    Row -1 is the goal. Value IMPOSSIBLE: this run ends otherwise, and another run covers it.
    """
    own = run.side - 1 - row
    if k > run.last:
        return _outcome_alone(run, opponent, row, col, own)
    other: Int = np.int64(opponent.score[k])
    if k == run.last:
        if run.hits:
            if row >= 0 and row * run.side + col == opponent.cells[k]:  # R21
                return True, value_of(run, max(0, own - 1), max(0, other - 1))
            if not armed:
                return True, IMPOSSIBLE
            other = max(0, other - 1)
        elif k < run.goal:
            return True, IMPOSSIBLE
    if row < 0:  # R23
        return True, value_of(run, own, other)
    cell = row * run.side + col
    if cell == opponent.cells[k] and k < run.last:  # R21
        return True, value_of(run, max(0, own - 1), max(0, other - 1))
    hit = opponent.since[cell] <= k  # R22
    if hit and run.live and k < run.last:
        return True, _stopped(run, opponent, k, cell, own, armed)
    if hit or k == run.last:
        points = max(0, own - 1) if hit else own
        goes_on = not hit and run.live != 0 and run.hits != 0
        return not goes_on, value_of(run, points, other)
    return False, 0


@kernel
def _outcome_alone(run: Record, opponent: KnownBoard, row: Int, col: Int, own: Int) -> Any:
    """The same once the opponent is stopped (R22, ``live``): its traps no longer change."""
    other = max(0, np.int64(opponent.score[run.last]) - 1)
    if row < 0:
        return True, value_of(run, own, other)
    if opponent.since[row * run.side + col] <= run.last:
        return True, value_of(run, max(0, own - 1), other)
    return False, 0


@kernel
def _stopped(run: Record, opponent: KnownBoard, k: Int, cell: Int, own: Int, armed: Int) -> Int:
    """``live``: hit in step k, before the opponent, which goes on alone and may run into the stopped piece (R21)."""
    if run.hits and not armed:
        return IMPOSSIBLE
    if not run.hits and run.last < run.goal:
        return IMPOSSIBLE
    if opponent.visited[cell] > k:
        for later in range(k + 1, min(run.last + 1, run.goal)):
            if opponent.cells[later] == cell:
                return value_of(run, max(0, own - 2), max(0, np.int64(opponent.score[later]) - 1))
    other = np.int64(opponent.score[run.last])
    return value_of(run, max(0, own - 1), max(0, other - 1) if run.hits else other)


# The table: (steps, rows, columns, headings, armed or not, constraints) int8, the best value after a step that
# decided nothing. Once the opponent is stopped, time stands still: the last step's layer serves for all later ones.


@entry
def fill_bounds(runs: Any, opponent: KnownBoard, table: Array) -> None:
    """Fill the table of runs[0], for all squares that can be reached by then."""
    run = runs[0]
    for k in range(run.layers - 1, -1, -1):
        highest = max(0, run.side - 1 - k) if k < run.last else 0
        for row in range(highest, run.side):
            for heading in (LEFTWARD, RIGHTWARD, ENTERED):
                for i in range(run.width):
                    # where time stands still, the squares ahead come first
                    at = run.width - 1 - i if heading == RIGHTWARD else i
                    for armed in range(2):
                        _fill_square(run, opponent, table, k, row, run.low + at, heading, armed)


@kernel
def _fill_square(
    run: Record, opponent: KnownBoard, table: Array, k: Int, row: Int, col: Int, heading: int, armed: int
) -> None:
    at = col - run.low
    up = left = right = IMPOSSIBLE
    for what in (UP, LEFT, RIGHT):
        bound = _step_bound(run, opponent, table, k, row, col, heading, armed, what)
        if what == UP:
            up = bound
        elif what == LEFT:
            left = bound
        else:
            right = bound
    piece = max(up, left, right)
    table[k, row, at, heading, armed, MUST_MOVE] = piece
    if run.live:
        table[k, row, at, heading, armed, NOT_UP] = max(left, right)
        table[k, row, at, heading, armed, NOT_LEFT] = max(up, right)
        table[k, row, at, heading, armed, NOT_RIGHT] = max(up, left)
    if row > 0 and k < run.last:
        piece = max(piece, _trap_bound(run, opponent, table, k + 1, row, col, heading, armed))
    table[k, row, at, heading, armed, FREE] = piece


@kernel
def _step_bound(
    run: Record, opponent: KnownBoard, table: Array, k: Int, row: Int, col: Int, heading: Int, armed: Int, what: Int
) -> Int:
    """The best value of a piece step after step k, or of the finish."""
    to_row, to_col, to_heading = row - 1, col, ENTERED
    if what != UP:
        to_row, to_col, to_heading = row, col + (-1 if what == LEFT else 1), LEFTWARD if what == LEFT else RIGHTWARD
        if (
            row == 0 or heading + to_heading == LEFTWARD + RIGHTWARD or not 0 <= to_col - run.low < run.width
        ):  # R12, R8, R4
            return IMPOSSIBLE
    if k == run.last and not armed:
        return IMPOSSIBLE
    if run.live and armed and to_row >= 0 and to_row * run.side + to_col == run.target:  # R16
        return IMPOSSIBLE
    over, value = step_outcome(run, opponent, k + 1, to_row, to_col, armed)
    if over:
        return value
    return np.int64(table[min(k + 1, run.last), to_row, to_col - run.low, to_heading, armed, FREE])


@kernel
def _trap_bound(
    run: Record, opponent: KnownBoard, table: Array, k: Int, row: Int, col: Int, heading: Int, armed: Int
) -> Int:
    """The best value if step k sets a trap from (row, col)."""
    best = IMPOSSIBLE
    for place in range(len(PLACES)):
        if not may_trap(run, opponent, k, row, col, place):
            continue
        arms = trap_cell(run, row, col, place) == run.target
        if arms and armed:  # R10
            continue
        now = 1 if armed or arms else 0
        over, value = step_outcome(run, opponent, k, row, col, now)
        if not over:
            constraint = CONSTRAINT_AFTER_TRAP_LIVE[place] if run.live else CONSTRAINT_AFTER_TRAP_WRITTEN[place]
            value = np.int64(table[min(k, run.last), row, col - run.low, heading, now, constraint])
        best = max(best, value)
    return best


@kernel
def trap_cell(run: Record, row: Int, col: Int, place: Int) -> Int:
    """The square of a trap in this place."""
    return (row + ROW_OF_PLACE[place]) * run.side + col + COL_OF_PLACE[place]


@kernel
def may_trap(run: Record, opponent: KnownBoard, k: Int, row: Int, col: Int, place: Int) -> bool:
    """Whether step k may set a trap there, ignoring one's own other traps: R5, R13, and not biting too soon."""
    to_row = row + ROW_OF_PLACE[place]
    to_col = col + COL_OF_PLACE[place]
    if to_row < 0 or to_row >= run.side or to_col < 0 or to_col >= run.side:
        return False
    if run.live and (to_row == 0 or not LIVE_PLACES[place]):
        return False
    return bool(opponent.until[to_row * run.side + to_col] < k)


FOUND, NONE, OUT_OF_NODES = range(3)

ROW, COL, HEADING, ARMED, CONSTRAINT, TRAPS, KEY, TRIED = range(8)
"""Columns of a frame: the state after a step, and the number of continuations tried."""
KEPT = TRAPS + 1
"""The number of columns that a step copies from the previous frame."""

_TRAP_ORDER = [UNDERFOOT, 7, 6, 8, 3, 5, 1, 0, 2]
ORDER = np.array([UP, LEFT, RIGHT, FINISH] + [FIRST_TRAP + place for place in _TRAP_ORDER])
"""Piece steps first; then traps, those least in the way first: on the own square, behind."""

PROBES = 8


@entry
def search_response(
    runs: Any,
    opponent: KnownBoard,
    table: Array,
    min_value: Int,
    limit: Int,
    frames: Array,
    actions: Array,
    own_traps: Array,
    keys: Array,
    stamps: Array,
    stamp: Int,
) -> Any:
    """Search for a board worth ``min_value``; return the outcome, the number of steps, and the nodes visited.

    frames: (longest + 1, 8) int64; actions: (longest,) uint8, the steps up to where the round is decided, if found;
    own_traps: (squares,) uint8, all 0; keys: (a power of 2,) int64 and stamps: (the same, 2) int32, of which entries
    stamped with ``stamp`` count.
    """
    run = runs[0]
    nodes = 0
    depth = 0
    frames[0, TRIED] = 0
    while True:
        at = frames[depth, TRIED]
        if at == (run.width if depth == 0 else len(ORDER)):
            if depth == 0:
                return NONE, 0, nodes
            _remember(keys, stamps, stamp, frames[depth, KEY], frames[depth, TRAPS] * run.live)
            depth -= 1
            _take_back(run, frames, depth, actions[depth], own_traps)
            continue
        frames[depth, TRIED] = at + 1
        action = run.low + at if depth == 0 else run.side + ORDER[at]
        if not _lay(run, opponent, frames, own_traps, depth, action):
            continue
        actions[depth] = action
        after = depth + 1
        over, value = step_outcome(run, opponent, depth, frames[after, ROW], frames[after, COL], frames[after, ARMED])
        if over:
            if value >= min_value:
                return FOUND, after, nodes
        elif _bound_after(run, table, frames, depth) >= min_value:
            if nodes == limit:
                return OUT_OF_NODES, 0, nodes
            nodes += 1
            frames[after, KEY] = _key(run, frames, own_traps, after)
            if not _failed(keys, stamps, stamp, frames[after, KEY], frames[after, TRAPS] * run.live):
                depth = after
                frames[depth, TRIED] = 0
                continue
        _take_back(run, frames, depth, action, own_traps)


@kernel
def _bound_after(run: Record, table: Array, frames: Array, k: Int) -> Int:
    """The bound after step k."""
    row, col, heading = frames[k + 1, ROW], frames[k + 1, COL], frames[k + 1, HEADING]
    return np.int64(
        table[min(k, run.last), row, col - run.low, heading, frames[k + 1, ARMED], frames[k + 1, CONSTRAINT]]
    )


# Taking steps (R17)


@kernel
def _lay(run: Record, opponent: KnownBoard, frames: Array, own_traps: Array, k: Int, action: Int) -> bool:
    """Take step k and write the frame after it; False if it is not legal, or leaves the run."""
    if k == 0:
        frames[1, ROW], frames[1, COL], frames[1, HEADING] = run.side - 1, action, ENTERED
        frames[1, ARMED] = frames[1, TRAPS] = 0
        frames[1, CONSTRAINT] = FREE
        return True
    row, col, heading = frames[k, ROW], frames[k, COL], frames[k, HEADING]
    what = action - run.side
    if (what == FINISH) != (row == 0):  # R6, R12
        return False
    for column in range(KEPT):
        frames[k + 1, column] = frames[k, column]
    if FIRST_TRAP <= what < FINISH:
        return _lay_trap(run, opponent, frames, own_traps, k, what - FIRST_TRAP)
    frames[k + 1, CONSTRAINT] = FREE
    if what in (UP, FINISH):
        frames[k + 1, ROW] = row - 1
        frames[k + 1, HEADING] = ENTERED
        return not (run.live and what == UP and own_traps[(row - 1) * run.side + col])  # R16
    to = col - 1 if what == LEFT else col + 1
    frames[k + 1, COL] = to
    frames[k + 1, HEADING] = LEFTWARD if what == LEFT else RIGHTWARD
    return bool(0 <= to - run.low < run.width) and _side_is_open(run, own_traps, row, col, heading, what)


@kernel
def _side_is_open(run: Record, own_traps: Array, row: Int, col: Int, heading: Int, what: Int) -> bool:
    """R4, R8, R16."""
    to = col - 1 if what == LEFT else col + 1
    back = RIGHTWARD if what == LEFT else LEFTWARD
    if to < 0 or to >= run.side or heading == back:
        return False
    return not (run.live and own_traps[row * run.side + to])


@kernel
def _lay_trap(run: Record, opponent: KnownBoard, frames: Array, own_traps: Array, k: Int, place: Int) -> bool:
    row, col, heading = frames[k, ROW], frames[k, COL], frames[k, HEADING]
    if frames[k, CONSTRAINT] != FREE or k > run.last:  # R11, R15; once alone, traps are useless
        return False
    if run.live and frames[k, TRAPS] == run.side - 1:  # R14
        return False
    if not may_trap(run, opponent, k, row, col, place):
        return False
    cell = trap_cell(run, row, col, place)
    if own_traps[cell]:  # R10
        return False
    constraint = CONSTRAINT_AFTER_TRAP_LIVE[place] if run.live else CONSTRAINT_AFTER_TRAP_WRITTEN[place]
    if constraint == NOT_UP:  # R17
        open_sides = 0
        for what in (LEFT, RIGHT):
            if _side_is_open(run, own_traps, row, col, heading, what):
                open_sides += 1
        if open_sides == 0:
            return False
    own_traps[cell] = 1
    frames[k + 1, TRAPS] += 1
    frames[k + 1, CONSTRAINT] = constraint
    if cell == run.target:
        frames[k + 1, ARMED] = 1
    return True


@kernel
def _take_back(run: Record, frames: Array, k: Int, action: Int, own_traps: Array) -> None:
    """Remove the trap that step k set, if it set one."""
    what = np.int64(action) - run.side
    if FIRST_TRAP <= what < FINISH:
        own_traps[trap_cell(run, frames[k, ROW], frames[k, COL], what - FIRST_TRAP)] = 0


# Remembering failures


@kernel
def _key(run: Record, frames: Array, own_traps: Array, laid: Int) -> Int:
    """Everything that matters after ``laid`` steps, except the number of traps."""
    row, col, heading = frames[laid, ROW], frames[laid, COL], frames[laid, HEADING]
    key = min(laid - 1, run.last) * run.side + row
    key = (key * run.side + col) * 3 + heading
    key = (key * 2 + frames[laid, ARMED]) * 5 + frames[laid, CONSTRAINT]
    if run.live:
        return _key_live(run, own_traps, row, col, heading, key)
    return _key_written(run, own_traps, row, col, heading, key)


@kernel
def _key_live(run: Record, own_traps: Array, row: Int, col: Int, heading: Int, key: Int) -> Int:
    """Own traps block the piece (R16), but only the nearest ones on this row and the next can be reached."""
    size = run.side
    left = right = above = 0
    for to in range(size):
        away = abs(to - col)
        if own_traps[row * size + to]:
            if to < col:
                left = away
            elif to > col and right == 0:
                right = away
        if row > 0 and own_traps[(row - 1) * size + to] and (above == 0 or away + 1 < above):
            above = away + 1
    if heading == RIGHTWARD:  # traps behind matter only for a trap on the next square (R10)
        left = 1 if left == 1 else 0
    if heading == LEFTWARD:
        right = 1 if right == 1 else 0
    return ((key * size + left) * size + right) * (size + 1) + above


@kernel
def _key_written(run: Record, own_traps: Array, row: Int, col: Int, heading: Int, key: Int) -> Int:
    """Own traps block further traps (R10): those on three rows, except where the piece has passed."""
    size = run.side
    for to_row in range(max(0, row - 1), min(size, row + 2)):
        first = col - 1 if heading == RIGHTWARD and to_row > row else 0
        last = col + 1 if heading == LEFTWARD and to_row > row else size - 1
        for to_col in range(size):
            lies = own_traps[to_row * size + to_col] != 0 and first <= to_col <= last
            if run.exact:
                key = key * 2 + (1 if lies else 0)
            elif lies:
                key = np.int64(mix(np.uint64(key) + np.uint64(to_row * size + to_col)) >> np.uint64(1))
    return key


@kernel
def _slot(keys: Array, key: Int) -> Int:
    return np.int64(mix(np.uint64(key)) & np.uint64(len(keys) - 1))


@kernel
def _failed(keys: Array, stamps: Array, stamp: Int, key: Int, traps: Int) -> bool:
    """Whether this has failed before with no more traps set (R14)."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if stamps[slot, 0] != stamp:
            return False
        if keys[slot] == key:
            return bool(stamps[slot, 1] <= traps)
    return False


@kernel
def _remember(keys: Array, stamps: Array, stamp: Int, key: Int, traps: Int) -> None:
    """Store a failure; if there is no free slot, replace the first one."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if stamps[slot, 0] != stamp or keys[slot] == key:
            at = slot
            break
    keys[at] = key
    stamps[at, 0] = stamp
    stamps[at, 1] = traps
