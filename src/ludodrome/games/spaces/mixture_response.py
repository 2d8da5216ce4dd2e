"""The best response to a mixture: for one who knows only how likely each of several boards is.

``mixture_search.py`` does the work; here its book is written, and it is run in slices, so that
one can see how far it is. If it ends, no legal board does better, and that is proven. If the
nodes run out, the bound is what nobody can do better against each board alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.spaces import rounds
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, format_board
from ludodrome.games.spaces.legality import finished
from ludodrome.games.spaces.response_search import (
    ENTERED,
    FREE,
    LEFTWARD,
    MOOD_LIVE,
    MOOD_WRITTEN,
    MOODS_LIVE,
    MOODS_WRITTEN,
    NOT_LEFT,
    NOT_RIGHT,
    NOT_UP,
    NOTHING,
    RIGHTWARD,
    RUN,
    Course,
    fill_bounds,
)
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sampling import pool
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, Int, entry, kernel, new_states

# The best board against a mixture of known boards, by search in compiled code.
# The board is laid step by step, and all rounds are played along at once. Each of the others is
# *running*, *stopped* (hit by a trap; one goes on alone, ``live``) or *decided*. Since its moves
# are known, so is the step in which the traps that lie already will hit it, unless another trap
# does sooner: its *fate*. A branch is cut when all that is decided, and for each of the others the
# best that can still be had from here (the bounds of ``respond_bounds.py``), is not more than
# what a board is worth that was found before.
# Under ``live`` a trap that changes nobody's fate only passes the time, and one that is set
# underfoot does it best: it closes no way, and no trap on that square could be of use later. So
# the others of these are not tried. Squares are those of the common grid, steps count from 0.


ROW, COL, WAY, MOOD, TRAPS, ACTIVE, TRIED = range(7)
"""The columns of a frame: what is known after so many steps, how many are undecided, what is tried next."""

ORDER = np.array([UP, LEFT, RIGHT, FINISH, *range(FIRST_TRAP, FINISH)])

NODES, BEST, FOUND, DEPTH = range(4)
"""The columns of the record of a search: nodes visited, the best worth, how often it rose, the depth to go on from."""


class Book(NamedTuple):
    """What is known of the others; n of them, none with more than ``never`` steps before its finish."""

    cells: Array
    """(n, never + 1) int64: where each stands after each step."""
    score: Array
    """(n, never + 1) int64: its points so far."""
    since: Array
    """(n, squares) int64: from which step on a trap of it lies there."""
    goals: Array
    """(n,) int64: the step of its finish."""
    visits: Array
    """(n, never + 2, squares) int64: the first step from the given one on in which it stands there, or ``never``."""
    weights: Array
    """(n,) int64."""
    bounds: Array
    """(steps, rows, columns, ways, moods, n, never + 1) int8: the best margin that can still come, by its fate."""


@kernel
def outcome(book: Book, live: bool, j: Int, k: Int, cell: Int, own: Int, home: bool, fate: Int) -> Any:
    """Whether step k decides the round against j, and the margin then. ``own``: one's points so far (R19 to R23)."""
    never = book.cells.shape[1] - 1
    if fate < k:  # j is stopped
        other = max(0, book.score[j, fate] - 1)
        if home:
            return True, own - other
        return book.since[j, cell] <= fate, max(0, own - 1) - other
    other = book.score[j, k]
    other_home = k == book.goals[j]
    if not home and not other_home and cell == book.cells[j, k]:  # R21
        return True, max(0, own - 1) - max(0, other - 1)
    hit = not home and book.since[j, cell] <= k  # R22
    left = max(0, own - 1) if hit else own
    other_hit = fate == k and not other_home  # the longest of the others are home in the step that means never
    if other_hit:
        other = max(0, other - 1)
    if home or other_home or (hit and other_hit) or (not live and (hit or other_hit)):  # R23
        return True, left - other
    if not hit:
        return False, 0
    meets = book.visits[j, k + 1, cell]  # j goes on alone, and may run into the stopped piece
    if meets < never and meets <= fate:
        return True, max(0, left - 1) - max(0, book.score[j, meets] - 1)
    if fate < never:
        return True, left - max(0, book.score[j, fate] - 1)
    return True, left - book.score[j, book.goals[j]]


@kernel
def _lay(size: Int, live: bool, frames: Array, mine: Array, k: Int, what: Int) -> bool:
    """Write the frame after step k, but for who is undecided; False if the step is not legal (R17)."""
    row, col, way, mood = frames[k, ROW], frames[k, COL], frames[k, WAY], frames[k, MOOD]
    if (what == FINISH) != (row == 0):  # R6, R12
        return False
    for column in range(ACTIVE):
        frames[k + 1, column] = frames[k, column]
    if FIRST_TRAP <= what < FINISH:
        return _lay_trap(size, live, frames, mine, k, what - FIRST_TRAP)
    frames[k + 1, MOOD] = FREE
    if what in (UP, FINISH):
        frames[k + 1, ROW] = row - 1
        frames[k + 1, WAY] = ENTERED
        return what == FINISH or not (live and (mood == NOT_UP or mine[(row - 1) * size + col]))  # R16
    frames[k + 1, COL] = col - 1 if what == LEFT else col + 1
    frames[k + 1, WAY] = LEFTWARD if what == LEFT else RIGHTWARD
    return mood != (NOT_LEFT if what == LEFT else NOT_RIGHT) and _open(size, live, mine, row, col, way, what)


@kernel
def _open(size: Int, live: bool, mine: Array, row: Int, col: Int, way: Int, what: Int) -> bool:
    """R4, R8, R16: whether a step to the side is possible."""
    to = col - 1 if what == LEFT else col + 1
    if to < 0 or to >= size or way == (RIGHTWARD if what == LEFT else LEFTWARD):
        return False
    return not (live and mine[row * size + to])


@kernel
def _lay_trap(size: Int, live: bool, frames: Array, mine: Array, k: Int, place: Int) -> bool:
    row, col, way = frames[k, ROW], frames[k, COL], frames[k, WAY]
    if frames[k, MOOD] != FREE or (live and (frames[k, TRAPS] == size - 1 or not LIVE_PLACES[place])):
        return False
    to_row = row + ROW_OF_PLACE[place]
    to_col = col + COL_OF_PLACE[place]
    if to_row < 0 or to_row >= size or to_col < 0 or to_col >= size or mine[to_row * size + to_col]:
        return False
    if live and to_row == 0:  # R13
        return False
    mood = MOOD_LIVE[place] if live else MOOD_WRITTEN[place]
    if mood == NOT_UP and not (
        _open(size, live, mine, row, col, way, LEFT) or _open(size, live, mine, row, col, way, RIGHT)
    ):
        return False
    frames[k + 1, MOOD] = mood
    frames[k + 1, TRAPS] += 1
    return True


@kernel
def _settle(
    book: Book,
    size: Int,
    live: bool,
    least: Int,
    frames: Array,
    sums: Array,
    undecided: Array,
    fates: Array,
    k: Int,
    trap: Int,
) -> Any:
    """Play step k against all that are undecided; ``trap``: the square of the trap it sets, or -1.

    Gives the most that can come of it, how many of the running have another fate now, and whether it
    is still possible to do no worse than ``least`` against each.
    """
    row, col = frames[k + 1, ROW], frames[k + 1, COL]
    home = row < 0
    cell = max(row, 0) * size + col
    own = size - 1 - row
    never = book.cells.shape[1] - 1
    layer = min(k, never)
    total = sums[k]
    hope = 0
    changed = count = 0
    for i in range(frames[k, ACTIVE]):
        j = undecided[k, i]
        fate = fates[k, i]
        if trap >= 0 and fate >= k and book.visits[j, k, trap] < fate:
            fate = book.visits[j, k, trap]
            changed += 1
        decided, margin = outcome(book, live, j, k, cell, own, home, fate)
        if not decided:
            hoped = np.int64(book.bounds[layer, row, col, frames[k + 1, WAY], frames[k + 1, MOOD], j, fate])
        if (margin if decided else hoped) < least:
            return total, changed, False
        if decided:
            total += book.weights[j] * margin
        else:
            undecided[k + 1, count] = j
            fates[k + 1, count] = fate
            count += 1
            hope += book.weights[j] * hoped
    frames[k + 1, ACTIVE] = count
    sums[k + 1] = total
    return total + hope, changed, True


@entry
def search_mixture(
    book: Book,
    size: Int,
    live: bool,
    columns: Int,
    least: Int,
    limit: Int,
    frames: Array,
    sums: Array,
    undecided: Array,
    fates: Array,
    mine: Array,
    laid: Array,
    record: Array,
    best: Array,
) -> bool:
    """Look for boards worth more than record[BEST]; True when there are no more, False after ``limit`` nodes.

    ``columns``: the start columns that are tried, from 0. ``least``: only boards that lose no more than this to
    any of the others count. frames: (longest + 1, 7) int64; sums: (longest + 1,)
    int64; undecided and fates: (longest + 1, n) int64; mine: (squares,) uint8; laid: (longest,) uint8;
    record: (4,) int64. best: (rows, longest + 1) uint8: the boards found, the last len(best) of them,
    with their number of steps first, up to where all is decided.
    """
    depth = record[DEPTH]
    nodes = 0
    while nodes < limit:
        at = frames[depth, TRIED]
        frames[depth, TRIED] = at + 1
        if at == (columns if depth == 0 else len(ORDER)):
            if depth == 0:
                record[NODES] += nodes
                return True
            depth -= 1
            done = np.int64(laid[depth]) - size
            if FIRST_TRAP <= done < FINISH:
                mine[_square(size, frames, depth, done)] = 0
            continue
        what = -1 if depth == 0 else ORDER[at]
        trap = -1
        if depth == 0:
            frames[1, ROW], frames[1, COL], frames[1, WAY], frames[1, MOOD] = size - 1, at, ENTERED, FREE
            frames[1, TRAPS] = 0
        elif not _lay(size, live, frames, mine, depth, what):
            continue
        elif FIRST_TRAP <= what < FINISH:
            trap = _square(size, frames, depth, what)
        nodes += 1
        hope, changed, possible = _settle(book, size, live, least, frames, sums, undecided, fates, depth, trap)
        if not possible or hope <= record[BEST] or (live and trap >= 0 and changed == 0 and what != HERE):
            continue
        laid[depth] = at if depth == 0 else size + what
        if frames[depth + 1, ACTIVE] == 0:
            record[BEST] = hope
            row = best[record[FOUND] % len(best)]
            row[0] = depth + 1
            for k in range(depth + 1):
                row[k + 1] = laid[k]
            record[FOUND] += 1
            continue
        if trap >= 0:
            mine[trap] = 1
        depth += 1
        frames[depth, TRIED] = 0
    record[NODES] += nodes
    record[DEPTH] = depth
    return False


@kernel
def _square(size: Int, frames: Array, k: Int, what: Int) -> Int:
    """The square of a trap that step k sets."""
    place = what - FIRST_TRAP
    return (frames[k, ROW] + ROW_OF_PLACE[place]) * size + frames[k, COL] + COL_OF_PLACE[place]


@entry
def gather_bounds(table: Array, hit: Int, never: Int, bounds: Array, j: Int) -> None:
    """Take over what the run of one step knows about j (``respond_bounds.fill``).

    ``hit``: the step in which the run has j hit, or ``never``. bounds: as in Book, at first all -128.
    table: (steps, rows, columns, ways, armed, moods) int8. In a fate no later than the run's, nothing is to be
    learned from the run. In this very fate the trap lies (armed), in a later one it is yet to be set.
    """
    for k in range(bounds.shape[0]):
        for row in range(bounds.shape[1]):
            for col in range(bounds.shape[2]):
                for way in range(bounds.shape[3]):
                    for mood in range(bounds.shape[4]):
                        here = bounds[k, row, col, way, mood, j]
                        if hit < never and min(k, hit) < len(table):
                            here[hit] = max(here[hit], table[min(k, hit), row, col, way, 1, mood])
                        if k < hit and k < len(table):
                            yet = table[k, row, col, way, 0, mood]
                            for fate in range(hit + 1 if hit < never else never, never + 1):
                                here[fate] = max(here[fate], yet)


USUAL_NODES = 20_000_000
"""The search visits no more than this unless told otherwise."""
SLICE = 1_000_000
WHOLE = 10**12
"""Weights become whole numbers that add up to about this."""
_KEPT = 64
"""So many of the boards found are kept."""


@dataclass(frozen=True, slots=True)
class MixedResponse:
    """A board that answers a mixture of others."""

    board: dict[str, Any]
    margin: float
    """Own points less the other's, on average."""
    proven: bool
    """No legal board does better."""
    bound: float
    """No legal board has a greater average margin than this."""


def respond_to_mixture(
    boards: Sequence[Any], weights: Sequence[float], size: int, rules: str = "written", nodes: int = USUAL_NODES
) -> MixedResponse:
    """The best board found against playable boards that are met with these weights."""
    others = Packed(boards, size, rules)
    hunt = MixtureHunt(others, np.rint(shares(weights, len(others)) * WHOLE))
    hunt.consider(pool(size))  # legal under both rule sets
    hunt.run(nodes)
    return MixedResponse(format_board(hunt.best, size), hunt.value, hunt.over, hunt.bound)


def shares(weights: Sequence[float], count: int) -> Array:
    """Weights that add up to 1."""
    if len(weights) != count or count == 0:
        raise ValueError(f"a mixture has one weight for each of its boards, not {len(weights)} for {count}")
    total = sum(weights)
    if not (isfinite(total) and total > 0 and min(weights) >= 0):
        raise ValueError("the weights of a mixture are numbers from 0 on, and not all of them are 0")
    return np.array(weights, np.float64) / total


def pack(boards: Sequence[bytes], size: int, live: bool) -> Packed:
    """Legal boards, as actions, made ready for rounds."""
    packed = Packed([], size, "live" if live else "written")
    packed.actions = np.frombuffer(b"".join(boards), np.uint8)
    packed.ends = np.cumsum([len(board) for board in boards], dtype=np.int64)
    return packed


class MixtureHunt:
    """The search for the best response to a mixture.

    ``weights``: whole numbers. ``floor``: only boards that are worth more are of interest; ``least``: only boards that
    lose no more than this to any of the others (it is negative). ``mirrored``: the mixture is its own mirror image, so
    that half of the start columns will do.
    """

    def __init__(
        self, others: Packed, weights: Array, floor: float = -1000.0, mirrored: bool = False, least: int = -1000
    ) -> None:
        size = self.size = others.size
        self.live = others.live
        self.least = least
        self.others = (*others.arrays(rotated=True), others.ends)
        self.columns = (size + 1) // 2 if mirrored else size
        self.book = write_book(others, weights.astype(np.int64))
        self._whole = max(1, int(self.book.weights.sum()))
        most = longest(size)
        count = len(others)
        self._frames = np.zeros((most + 1, TRIED + 1), np.int64)
        self._frames[0, TRIED - 1] = count
        self._sums = np.zeros(most + 1, np.int64)
        self._undecided = np.zeros((most + 1, count), np.int64)
        self._undecided[0] = np.arange(count)
        self._fates = np.full((most + 1, count), self.book.cells.shape[1] - 1, np.int64)
        self._mine = np.zeros(size * size, np.uint8)
        self._laid = np.zeros(most, np.uint8)
        self._record = np.zeros(4, np.int64)
        self._record[BEST] = round(floor * self._whole)
        self._found = np.zeros((_KEPT, most + 1), np.uint8)
        self.over = False
        self.best = b""

    def consider(self, boards: Sequence[bytes]) -> None:
        """Begin with the best of these boards, if it is of interest."""
        values = self.worth(boards)
        at = int(np.argmax(values))
        if values[at] > self._record[BEST]:
            self._record[BEST] = values[at]
            self.best = boards[at]

    def worth(self, boards: Sequence[bytes]) -> Array:
        """What boards are worth, in parts of the sum of the weights."""
        values = np.empty(len(boards), np.int64)
        rounds.play_mixture(
            np.frombuffer(b"".join(boards), np.uint8),
            np.cumsum([len(board) for board in boards]),
            self.size,
            self.live,
            *self.others,
            self.book.weights,
            values,
        )
        return values

    def run(self, nodes: int, report: Callable[[int, float], None] | None = None) -> list[bytes]:
        """Search on for so many nodes, or to the end; the boards found meanwhile, each better than the one before."""
        begin, found = int(self._record[NODES]), int(self._record[FOUND])
        while not self.over and (left := nodes - (int(self._record[NODES]) - begin)) > 0:
            self.over = search_mixture(
                self.book,
                self.size,
                self.live,
                self.columns,
                self.least,
                min(left, SLICE),
                self._frames,
                self._sums,
                self._undecided,
                self._fates,
                self._mine,
                self._laid,
                self._record,
                self._found,
            )
            if report is not None:
                report(int(self._record[NODES]), self.value)
        fresh = [self._board(number) for number in range(max(found, self.found - _KEPT), self.found)]
        self.best = fresh[-1] if fresh else self.best
        return fresh

    def _board(self, number: int) -> bytes:
        row = self._found[number % _KEPT]
        return finished(row[1 : row[0] + 1].tobytes(), self.size, self.live)

    @property
    def found(self) -> int:
        """How often a better board was found."""
        return int(self._record[FOUND])

    @property
    def nodes(self) -> int:
        """Nodes visited."""
        return int(self._record[NODES])

    @property
    def value(self) -> float:
        """The average margin of the best board so far, or the floor."""
        return int(self._record[BEST]) / self._whole

    @property
    def bound(self) -> float:
        """No legal board has a greater average margin."""
        if self.over:
            return self.value
        alone = self.book.bounds[0, -1, :, ENTERED, FREE, :, -1].max(axis=0).astype(np.int64)
        return max(self.value, int(alone @ self.book.weights) / self._whole)


def write_book(others: Packed, weights: Array) -> Book:
    """What the search must know of the others."""
    size, live, count = others.size, others.live, len(others)
    flat_cells, flat_score, since = others.arrays(rotated=True)
    begins = np.concatenate([[0], others.ends[:-1]])
    goals = others.ends - begins - 1
    never = int(goals.max())
    cells = np.full((count, never + 1), -1)
    score = np.zeros((count, never + 1), np.int64)
    visits = np.full((count, never + 2, size * size), never)
    moods = MOODS_LIVE if live else MOODS_WRITTEN
    bounds = np.full((never + 1, size, size, 3, moods, count, never + 1), NOTHING, np.int8)
    for j, (begin, goal) in enumerate(zip(begins.tolist(), goals.tolist(), strict=True)):
        part = slice(begin, begin + goal + 1)
        cells[j, : goal + 1], score[j, : goal + 1] = flat_cells[part], flat_score[part]
        for k in range(goal - 1, -1, -1):
            visits[j, k] = visits[j, k + 1]
            visits[j, k, cells[j, k]] = k
        _gather_bounds(flat_cells[part], flat_score[part], since[j], size, live, never, bounds, j)
    return Book(cells, score, since.astype(np.int64), goals, visits, weights, bounds)


def _gather_bounds(
    cells: Array, score: Array, since: Array, size: int, live: bool, never: int, bounds: Array, j: int
) -> None:
    """The bounds for one of the others, from the run of every step in which it may be hit, and the one without."""
    goal = len(cells) - 1
    visited = np.full(size * size, -1)
    visited[cells[:-1]] = np.arange(goal)
    course = Course(cells, score, since, visited, np.empty_like(visited))
    runs = new_states(RUN, 1)
    run = runs[0]
    run.side, run.live, run.low, run.width, run.goal, run.exact = size, live, 0, size, goal, 1
    run.own_weight = run.other_weight = 1
    moods = MOODS_LIVE if live else MOODS_WRITTEN
    for step in range(1, goal + 1):
        run.hits = step < goal
        run.last = step
        run.target = cells[step] if run.hits else -1
        course.until[:] = -1
        course.until[cells[:step]] = np.arange(step)
        run.layers = step + 1 if live and run.hits else step
        table = np.full((int(run.layers), size, size, 3, 2, moods), NOTHING, np.int8)
        fill_bounds(runs, course, table)
        gather_bounds(table, step if run.hits else never, never, bounds, j)
