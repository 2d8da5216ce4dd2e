"""What a round against a known board can come to at best: bounds for ``respond_search.py``.

The other's board is known, so where its piece stands and which of its traps lie are functions of
the step, until the round ends or its piece is hit. A *run* settles when that is: in the run of a
step, the other is hit in that step and no sooner (a trap that would bite before may not be set);
in the run without a hit, never. All that one's own traps do to the other is thereby one bit:
whether the trap that bites in the run's last step lies already (*armed*).

``fill`` computes by dynamic programming, backwards over the steps, what can be had from each
place in each step, with one's own earlier traps forgotten: they close squares to the piece
(R16, ``live``), to further traps (R10) and are limited in number (R14, ``live``), so what is
really to be had is never more. Squares are those of the common grid (R18), the responder's side
is the one that is not rotated, and points follow R20 to R23. Steps count from 0.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.spaces.boards import FIRST_TRAP, HERE, LEFT, PLACES, RIGHT, UP
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.jit import Array, Int, Record, kernel, record_dtype

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


@kernel
def fill_bounds(run: Record, course: Course, table: Array) -> None:
    """Fill the table of a run, for all places that can be reached by then."""
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
