"""A board that is worth so much against a known one: depth first, guided by ``respond_bounds.py``.

Every step laid is legal (R17), so a board that is found is a proof; where the search comes to its
end, there is none in this run. What has failed once is remembered by all that can matter from
there on: the step, the place, and of one's own traps those that can still be in the way.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, PLACES, RIGHT, UP
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.jit import Array, Int, Record, entry, kernel, mix, record_dtype

# What a round against a known board can come to at best: bounds for ``respond_search.py``.
# The other's board is known, so where its piece stands and which of its traps lie are functions of
# the step, until the round ends or its piece is hit. A *run* settles when that is: in the run of a
# step, the other is hit in that step and no sooner (a trap that would bite before may not be set);
# in the run without a hit, never. All that one's own traps do to the other is thereby one bit:
# whether the trap that bites in the run's last step lies already (*armed*).
# ``fill`` computes by dynamic programming, backwards over the steps, what can be had from each
# place in each step, with one's own earlier traps forgotten: they close squares to the piece
# (R16, ``live``), to further traps (R10) and are limited in number (R14, ``live``), so what is
# really to be had is never more. Squares are those of the common grid (R18), the responder's side
# is the one that is not rotated, and points follow R20 to R23. Steps count from 0.


NOTHING = -128
"""Worth less than anything: there is no such board. Bounds are kept as int8: no round is worth more than 100."""

ENTERED, LEFTWARD, RIGHTWARD = range(3)
"""The way of a piece along its row: it has come up and not yet moved, or goes on to one side (R8, R9)."""

FREE, MUST_MOVE, NOT_UP, NOT_LEFT, NOT_RIGHT = range(5)
"""What may follow: anything; a piece step (R11, R15); a piece step but into the trap just set (R16)."""
MOODS_LIVE, MOODS_WRITTEN = 5, 2

MOOD_LIVE = np.array(
    [{(-1, 0): NOT_UP, (0, -1): NOT_LEFT, (0, 1): NOT_RIGHT}.get(place, MUST_MOVE) for place in PLACES]
)
MOOD_WRITTEN = np.array([MUST_MOVE if place == (0, 0) else FREE for place in PLACES])
"""What may follow a trap in each place."""
UNDERFOOT = HERE - FIRST_TRAP

RUN = record_dtype(
    [
        ("side", np.int64),  # the size
        ("live", np.int64),
        ("hits", np.int64),  # whether the other is hit in the last step of the run
        ("last", np.int64),  # the last step that is played by both
        ("layers", np.int64),  # how many steps, from the first, can be followed by one that matters
        ("goal", np.int64),  # the step in which the other would be home
        ("target", np.int64),  # the square on which the other is hit, or -1
        ("low", np.int64),  # the columns that the piece keeps to: the first, and how many
        ("width", np.int64),
        ("exact", np.int64),  # whether keys are to be exact, see respond_search
        ("own_weight", np.int64),
        ("other_weight", np.int64),
    ]
)


class Course(NamedTuple):
    """What the other's board does, on the common grid."""

    cells: Array
    """(steps,) uint16: where its piece stands after each step, see rounds.pack."""
    score: Array
    """(steps,) uint16: its points so far."""
    since: Array
    """(squares,) uint16: from which step on a trap of it lies there, or NEVER."""
    visited: Array
    """(squares,) int64: the last step in which its piece stands there, or -1."""
    until: Array
    """(squares,) int64: the last step before the run's last in which its piece stands there, or -1.

    A trap that is set later than this does not bite before the run's last step.
    """


@kernel
def worth(run: Record, own: Int, other: Int) -> Int:
    """The objective for the points of both."""
    return own * run.own_weight - other * run.other_weight


@kernel
def judge(run: Record, course: Course, k: Int, row: Int, col: Int, armed: Int) -> Any:
    """Whether step k decides the round for a piece that it finds on (row, col), and what it is then worth.

    Row -1 is the goal. Worth NOTHING: this run ends otherwise, another one looks at it.
    """
    own = run.side - 1 - row
    if k > run.last:
        return _judge_alone(run, course, row, col, own)
    other: Int = np.int64(course.score[k])
    if k == run.last:
        if run.hits:
            if row >= 0 and row * run.side + col == course.cells[k]:  # R21
                return True, worth(run, max(0, own - 1), max(0, other - 1))
            if not armed:
                return True, NOTHING
            other = max(0, other - 1)
        elif k < run.goal:
            return True, NOTHING
    if row < 0:  # R23
        return True, worth(run, own, other)
    cell = row * run.side + col
    if cell == course.cells[k] and k < run.last:  # R21
        return True, worth(run, max(0, own - 1), max(0, other - 1))
    hit = course.since[cell] <= k  # R22
    if hit and run.live and k < run.last:
        return True, _stopped(run, course, k, cell, own, armed)
    if hit or k == run.last:
        points = max(0, own - 1) if hit else own
        goes_on = not hit and run.live != 0 and run.hits != 0
        return not goes_on, worth(run, points, other)
    return False, 0


@kernel
def _judge_alone(run: Record, course: Course, row: Int, col: Int, own: Int) -> Any:
    """The same once the other is stopped (R22, ``live``): its traps lie as they lay then."""
    other = max(0, np.int64(course.score[run.last]) - 1)
    if row < 0:
        return True, worth(run, own, other)
    if course.since[row * run.side + col] <= run.last:
        return True, worth(run, max(0, own - 1), other)
    return False, 0


@kernel
def _stopped(run: Record, course: Course, k: Int, cell: Int, own: Int, armed: Int) -> Int:
    """``live``: hit in step k, before the other; it goes on alone, and may run into the stopped piece (R21)."""
    if run.hits and not armed:
        return NOTHING
    if not run.hits and run.last < run.goal:
        return NOTHING
    if course.visited[cell] > k:
        for later in range(k + 1, min(run.last + 1, run.goal)):
            if course.cells[later] == cell:
                return worth(run, max(0, own - 2), max(0, np.int64(course.score[later]) - 1))
    other = np.int64(course.score[run.last])
    return worth(run, max(0, own - 1), max(0, other - 1) if run.hits else other)


# The table: (steps, rows, columns, ways, armed or not, moods) int8, the best worth after a step that decided
# nothing. Once the other is stopped, time stands still: the last step's layer serves for all later ones.


@entry
def fill_bounds(runs: Any, course: Course, table: Array) -> None:
    """Fill the table of runs[0], for all places that can be reached by then."""
    run = runs[0]
    for k in range(run.layers - 1, -1, -1):
        highest = max(0, run.side - 1 - k) if k < run.last else 0
        for row in range(highest, run.side):
            for way in (LEFTWARD, RIGHTWARD, ENTERED):
                for i in range(run.width):
                    # in the layer in which time stands still, the squares ahead come first
                    at = run.width - 1 - i if way == RIGHTWARD else i
                    for armed in range(2):
                        _fill_square(run, course, table, k, row, run.low + at, way, armed)


@kernel
def _fill_square(run: Record, course: Course, table: Array, k: Int, row: Int, col: Int, way: int, armed: int) -> None:
    at = col - run.low
    up = left = right = NOTHING
    for what in (UP, LEFT, RIGHT):
        bound = _step_bound(run, course, table, k, row, col, way, armed, what)
        if what == UP:
            up = bound
        elif what == LEFT:
            left = bound
        else:
            right = bound
    piece = max(up, left, right)
    table[k, row, at, way, armed, MUST_MOVE] = piece
    if run.live:
        table[k, row, at, way, armed, NOT_UP] = max(left, right)
        table[k, row, at, way, armed, NOT_LEFT] = max(up, right)
        table[k, row, at, way, armed, NOT_RIGHT] = max(up, left)
    if row > 0 and k < run.last:
        piece = max(piece, _trap_bound(run, course, table, k + 1, row, col, way, armed))
    table[k, row, at, way, armed, FREE] = piece


@kernel
def _step_bound(
    run: Record, course: Course, table: Array, k: Int, row: Int, col: Int, way: Int, armed: Int, what: Int
) -> Int:
    """The most that can come of a piece step after step k, or of the finish."""
    to_row, to_col, to_way = row - 1, col, ENTERED
    if what != UP:
        to_row, to_col, to_way = row, col + (-1 if what == LEFT else 1), LEFTWARD if what == LEFT else RIGHTWARD
        if row == 0 or way + to_way == LEFTWARD + RIGHTWARD or not 0 <= to_col - run.low < run.width:  # R12, R8, R4
            return NOTHING
    if k == run.last and not armed:
        return NOTHING
    if run.live and armed and to_row >= 0 and to_row * run.side + to_col == run.target:  # R16
        return NOTHING
    over, value = judge(run, course, k + 1, to_row, to_col, armed)
    if over:
        return value
    return np.int64(table[min(k + 1, run.last), to_row, to_col - run.low, to_way, armed, FREE])


@kernel
def _trap_bound(run: Record, course: Course, table: Array, k: Int, row: Int, col: Int, way: Int, armed: Int) -> Int:
    """The most that can come of step k if it sets a trap from (row, col)."""
    best = NOTHING
    for place in range(len(PLACES)):
        if not may_trap(run, course, k, row, col, place):
            continue
        arms = trap_cell(run, row, col, place) == run.target
        if arms and armed:  # R10
            continue
        now = 1 if armed or arms else 0
        over, value = judge(run, course, k, row, col, now)
        if not over:
            mood = MOOD_LIVE[place] if run.live else MOOD_WRITTEN[place]
            value = np.int64(table[min(k, run.last), row, col - run.low, way, now, mood])
        best = max(best, value)
    return best


@kernel
def trap_cell(run: Record, row: Int, col: Int, place: Int) -> Int:
    """The square of a trap in that place."""
    return (row + ROW_OF_PLACE[place]) * run.side + col + COL_OF_PLACE[place]


@kernel
def may_trap(run: Record, course: Course, k: Int, row: Int, col: Int, place: Int) -> bool:
    """Whether step k may set a trap there, but for one's own other traps: R5, R13, and not to bite too soon."""
    to_row = row + ROW_OF_PLACE[place]
    to_col = col + COL_OF_PLACE[place]
    if to_row < 0 or to_row >= run.side or to_col < 0 or to_col >= run.side:
        return False
    if run.live and (to_row == 0 or not LIVE_PLACES[place]):
        return False
    return bool(course.until[to_row * run.side + to_col] < k)


FOUND, NONE, OUT_OF_NODES = range(3)

ROW, COL, WAY, ARMED, MOOD, TRAPS, KEY, TRIED = range(8)
"""The columns of a frame: what is known after a step, and how many continuations have been tried."""
KEPT = TRAPS + 1
"""So many of them a step takes over from the one before, unless it changes them."""

_TRAP_ORDER = [UNDERFOOT, 7, 6, 8, 3, 5, 1, 0, 2]
ORDER = np.array([UP, LEFT, RIGHT, FINISH] + [FIRST_TRAP + place for place in _TRAP_ORDER])
"""Piece steps first; traps that only pass the time go where they are least in the way: underfoot, behind."""

PROBES = 8


@entry
def search_response(
    runs: Any,
    course: Course,
    table: Array,
    wanted: Int,
    limit: Int,
    frames: Array,
    actions: Array,
    mine: Array,
    keys: Array,
    marks: Array,
    mark: Int,
) -> Any:
    """Look for a board worth ``wanted``; gives how it went, the steps laid, and the nodes visited.

    frames: (longest + 1, 7) int64; actions: (longest,) uint8, the steps up to where the round is
    decided, if found; mine: (squares,) uint8, all 0; keys: (a power of 2,) int64 and marks: (the
    same, 2) int64, of which entries marked with ``mark`` count.
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
            _remember(keys, marks, mark, frames[depth, KEY], frames[depth, TRAPS] * run.live)
            depth -= 1
            _take_back(run, frames, depth, actions[depth], mine)
            continue
        frames[depth, TRIED] = at + 1
        action = run.low + at if depth == 0 else run.side + ORDER[at]
        if not _lay(run, course, frames, mine, depth, action):
            continue
        actions[depth] = action
        after = depth + 1
        over, value = judge(run, course, depth, frames[after, ROW], frames[after, COL], frames[after, ARMED])
        if over:
            if value >= wanted:
                return FOUND, after, nodes
        elif _bound_after(run, table, frames, depth) >= wanted:
            if nodes == limit:
                return OUT_OF_NODES, 0, nodes
            nodes += 1
            frames[after, KEY] = _key(run, frames, mine, after)
            if not _failed(keys, marks, mark, frames[after, KEY], frames[after, TRAPS] * run.live):
                depth = after
                frames[depth, TRIED] = 0
                continue
        _take_back(run, frames, depth, action, mine)


@kernel
def _bound_after(run: Record, table: Array, frames: Array, k: Int) -> Int:
    """How much can still be had after step k."""
    row, col, way = frames[k + 1, ROW], frames[k + 1, COL], frames[k + 1, WAY]
    return np.int64(table[min(k, run.last), row, col - run.low, way, frames[k + 1, ARMED], frames[k + 1, MOOD]])


# Laying steps (R17)


@kernel
def _lay(run: Record, course: Course, frames: Array, mine: Array, k: Int, action: Int) -> bool:
    """Lay step k and write the frame after it; False if it is not legal, or leaves the run."""
    if k == 0:
        frames[1, ROW], frames[1, COL], frames[1, WAY] = run.side - 1, action, ENTERED
        frames[1, ARMED] = frames[1, TRAPS] = 0
        frames[1, MOOD] = FREE
        return True
    row, col, way = frames[k, ROW], frames[k, COL], frames[k, WAY]
    what = action - run.side
    if (what == FINISH) != (row == 0):  # R6, R12
        return False
    for column in range(KEPT):
        frames[k + 1, column] = frames[k, column]
    if FIRST_TRAP <= what < FINISH:
        return _lay_trap(run, course, frames, mine, k, what - FIRST_TRAP)
    frames[k + 1, MOOD] = FREE
    if what in (UP, FINISH):
        frames[k + 1, ROW] = row - 1
        frames[k + 1, WAY] = ENTERED
        return not (run.live and what == UP and mine[(row - 1) * run.side + col])  # R16
    to = col - 1 if what == LEFT else col + 1
    frames[k + 1, COL] = to
    frames[k + 1, WAY] = LEFTWARD if what == LEFT else RIGHTWARD
    return bool(0 <= to - run.low < run.width) and _side_is_open(run, mine, row, col, way, what)


@kernel
def _side_is_open(run: Record, mine: Array, row: Int, col: Int, way: Int, what: Int) -> bool:
    """R4, R8, R16."""
    to = col - 1 if what == LEFT else col + 1
    back = RIGHTWARD if what == LEFT else LEFTWARD
    if to < 0 or to >= run.side or way == back:
        return False
    return not (run.live and mine[row * run.side + to])


@kernel
def _lay_trap(run: Record, course: Course, frames: Array, mine: Array, k: Int, place: Int) -> bool:
    row, col, way = frames[k, ROW], frames[k, COL], frames[k, WAY]
    if frames[k, MOOD] != FREE or k > run.last:  # R11, R15; alone, traps are of no use
        return False
    if run.live and frames[k, TRAPS] == run.side - 1:  # R14
        return False
    if not may_trap(run, course, k, row, col, place):
        return False
    cell = trap_cell(run, row, col, place)
    if mine[cell]:  # R10
        return False
    mood = MOOD_LIVE[place] if run.live else MOOD_WRITTEN[place]
    if mood == NOT_UP:  # R17
        open_sides = 0
        for what in (LEFT, RIGHT):
            if _side_is_open(run, mine, row, col, way, what):
                open_sides += 1
        if open_sides == 0:
            return False
    mine[cell] = 1
    frames[k + 1, TRAPS] += 1
    frames[k + 1, MOOD] = mood
    if cell == run.target:
        frames[k + 1, ARMED] = 1
    return True


@kernel
def _take_back(run: Record, frames: Array, k: Int, action: Int, mine: Array) -> None:
    """Take up again the trap that step k set, if it set one."""
    what = np.int64(action) - run.side
    if FIRST_TRAP <= what < FINISH:
        mine[trap_cell(run, frames[k, ROW], frames[k, COL], what - FIRST_TRAP)] = 0


# Remembering what has failed


@kernel
def _key(run: Record, frames: Array, mine: Array, laid: Int) -> Int:
    """All that matters after so many steps, but the number of traps."""
    row, col, way = frames[laid, ROW], frames[laid, COL], frames[laid, WAY]
    key = min(laid - 1, run.last) * run.side + row
    key = (key * run.side + col) * 3 + way
    key = (key * 2 + frames[laid, ARMED]) * 5 + frames[laid, MOOD]
    if run.live:
        return _key_live(run, mine, row, col, way, key)
    return _key_written(run, mine, row, col, way, key)


@kernel
def _key_live(run: Record, mine: Array, row: Int, col: Int, way: Int, key: Int) -> Int:
    """Own traps close the way (R16), but beyond the nearest ones on this row and the next nothing can be reached."""
    size = run.side
    left = right = above = 0
    for to in range(size):
        away = abs(to - col)
        if mine[row * size + to]:
            if to < col:
                left = away
            elif to > col and right == 0:
                right = away
        if row > 0 and mine[(row - 1) * size + to] and (above == 0 or away + 1 < above):
            above = away + 1
    if way == RIGHTWARD:  # what lies behind matters only to a trap on the next square (R10)
        left = 1 if left == 1 else 0
    if way == LEFTWARD:
        right = 1 if right == 1 else 0
    return ((key * size + left) * size + right) * (size + 1) + above


@kernel
def _key_written(run: Record, mine: Array, row: Int, col: Int, way: Int, key: Int) -> Int:
    """Own traps close squares to further traps (R10): those on three rows, except where the piece has passed."""
    size = run.side
    for to_row in range(max(0, row - 1), min(size, row + 2)):
        first = col - 1 if way == RIGHTWARD and to_row > row else 0
        last = col + 1 if way == LEFTWARD and to_row > row else size - 1
        for to_col in range(size):
            lies = mine[to_row * size + to_col] != 0 and first <= to_col <= last
            if run.exact:
                key = key * 2 + (1 if lies else 0)
            elif lies:
                key = np.int64(mix(np.uint64(key) + np.uint64(to_row * size + to_col)) >> np.uint64(1))
    return key


@kernel
def _slot(keys: Array, key: Int) -> Int:
    return np.int64(mix(np.uint64(key)) & np.uint64(len(keys) - 1))


@kernel
def _failed(keys: Array, marks: Array, mark: Int, key: Int, traps: Int) -> bool:
    """Whether this has failed before, with no more traps set (R14)."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if marks[slot, 0] != mark:
            return False
        if keys[slot] == key:
            return bool(marks[slot, 1] <= traps)
    return False


@kernel
def _remember(keys: Array, marks: Array, mark: Int, key: Int, traps: Int) -> None:
    """Note that this has failed; where there is no room, what was noted first makes some."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if marks[slot, 0] != mark or keys[slot] == key:
            at = slot
            break
    keys[at] = key
    marks[at, 0] = mark
    marks[at, 1] = traps
