"""The best response to a mixture of known boards, of which only the weights are known.

The search runs in slices, so that progress can be reported. If it ends, no legal board does
better. If the nodes run out, the bound is the sum of the bounds against each board alone.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces import rounds
from ludodrome.games.spaces.best_response import MixedResponse
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, format_board
from ludodrome.games.spaces.legality import finished
from ludodrome.games.spaces.response_search import (
    CONSTRAINT_AFTER_TRAP_LIVE,
    CONSTRAINT_AFTER_TRAP_WRITTEN,
    CONSTRAINTS_LIVE,
    CONSTRAINTS_WRITTEN,
    ENTERED,
    FREE,
    IMPOSSIBLE,
    LEFTWARD,
    NOT_LEFT,
    NOT_RIGHT,
    NOT_UP,
    RIGHTWARD,
    RUN,
    KnownBoard,
    fill_bounds,
)
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sampling import pool
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, Int, entry, kernel, new_states

# The search in compiled code
#
# The board is laid step by step, and all rounds are played at once. Each opponent is *running*,
# *stopped* (hit by a trap; the own piece goes on alone, ``live``) or *decided*. Its moves are known,
# and so is the step in which the traps already set will hit it, unless another trap hits sooner:
# its *hit step*. A branch is cut if the decided margins plus, for each undecided opponent, the best
# margin that is still possible (the bounds of ``response_search.py``) do not exceed the best value.
#
# Under ``live`` a trap that changes no hit step only passes time, and a trap on the own square does
# that best: it blocks no path, and no trap on that square could be useful later. So the others are
# skipped. Squares are those of the common grid, steps count from 0.


ROW, COL, HEADING, CONSTRAINT, TRAPS, ACTIVE, TRIED = range(7)
"""Columns of a frame: the state after some steps, the number of undecided opponents, the next try."""

ORDER = np.array([UP, LEFT, RIGHT, FINISH, *range(FIRST_TRAP, FINISH)])

NODES, BEST, FOUND, DEPTH = range(4)
"""Columns of a search record: nodes visited, best value, improvements, depth to continue from."""


class OpponentTables(NamedTuple):
    """What is known of n opponents, none with more than ``never`` steps before its finish."""

    cells: Array
    """(n, never + 1) int64: the square of each piece after each step."""
    score: Array
    """(n, never + 1) int64: points so far."""
    since: Array
    """(n, squares) int64: the step from which the square holds one of its traps."""
    goals: Array
    """(n,) int64: the step of its finish."""
    visits: Array
    """(n, never + 2, squares) int64: the first step from the given one on in which it is there, or ``never``."""
    weights: Array
    """(n,) int64."""
    bounds: Array
    """(steps, rows, columns, headings, constraints, n, never + 1) int8: the best margin still possible, by hit step."""


@kernel
def outcome(tables: OpponentTables, live: bool, j: Int, k: Int, cell: Int, own: Int, home: bool, hit_step: Int) -> Any:
    """Whether step k decides the round against j, and the margin then. ``own``: own points so far (R19 to R23)."""
    never = tables.cells.shape[1] - 1
    if hit_step < k:  # j is stopped
        other = max(0, tables.score[j, hit_step] - 1)
        if home:
            return True, own - other
        return tables.since[j, cell] <= hit_step, max(0, own - 1) - other
    other = tables.score[j, k]
    other_home = k == tables.goals[j]
    if not home and not other_home and cell == tables.cells[j, k]:  # R21
        return True, max(0, own - 1) - max(0, other - 1)
    hit = not home and tables.since[j, cell] <= k  # R22
    left = max(0, own - 1) if hit else own
    other_hit = hit_step == k and not other_home  # the longest opponents finish in the step that means never
    if other_hit:
        other = max(0, other - 1)
    if home or other_home or (hit and other_hit) or (not live and (hit or other_hit)):  # R23
        return True, left - other
    if not hit:
        return False, 0
    meets = tables.visits[j, k + 1, cell]  # j goes on alone and may run into the stopped piece
    if meets < never and meets <= hit_step:
        return True, max(0, left - 1) - max(0, tables.score[j, meets] - 1)
    if hit_step < never:
        return True, left - max(0, tables.score[j, hit_step] - 1)
    return True, left - tables.score[j, tables.goals[j]]


@kernel
def _lay(size: Int, live: bool, frames: Array, own_traps: Array, k: Int, what: Int) -> bool:
    """Write the frame after step k, except for the opponents; False if the step is not legal (R17)."""
    row, col, heading, constraint = frames[k, ROW], frames[k, COL], frames[k, HEADING], frames[k, CONSTRAINT]
    if (what == FINISH) != (row == 0):  # R6, R12
        return False
    for column in range(ACTIVE):
        frames[k + 1, column] = frames[k, column]
    if FIRST_TRAP <= what < FINISH:
        return _lay_trap(size, live, frames, own_traps, k, what - FIRST_TRAP)
    frames[k + 1, CONSTRAINT] = FREE
    if what in (UP, FINISH):
        frames[k + 1, ROW] = row - 1
        frames[k + 1, HEADING] = ENTERED
        return what == FINISH or not (live and (constraint == NOT_UP or own_traps[(row - 1) * size + col]))  # R16
    frames[k + 1, COL] = col - 1 if what == LEFT else col + 1
    frames[k + 1, HEADING] = LEFTWARD if what == LEFT else RIGHTWARD
    return constraint != (NOT_LEFT if what == LEFT else NOT_RIGHT) and _open(
        size, live, own_traps, row, col, heading, what
    )


@kernel
def _open(size: Int, live: bool, own_traps: Array, row: Int, col: Int, heading: Int, what: Int) -> bool:
    """R4, R8, R16: whether a step to the side is possible."""
    to = col - 1 if what == LEFT else col + 1
    if to < 0 or to >= size or heading == (RIGHTWARD if what == LEFT else LEFTWARD):
        return False
    return not (live and own_traps[row * size + to])


@kernel
def _lay_trap(size: Int, live: bool, frames: Array, own_traps: Array, k: Int, place: Int) -> bool:
    row, col, heading = frames[k, ROW], frames[k, COL], frames[k, HEADING]
    if frames[k, CONSTRAINT] != FREE or (live and (frames[k, TRAPS] == size - 1 or not LIVE_PLACES[place])):
        return False
    to_row = row + ROW_OF_PLACE[place]
    to_col = col + COL_OF_PLACE[place]
    if to_row < 0 or to_row >= size or to_col < 0 or to_col >= size or own_traps[to_row * size + to_col]:
        return False
    if live and to_row == 0:  # R13
        return False
    constraint = CONSTRAINT_AFTER_TRAP_LIVE[place] if live else CONSTRAINT_AFTER_TRAP_WRITTEN[place]
    if constraint == NOT_UP and not (
        _open(size, live, own_traps, row, col, heading, LEFT) or _open(size, live, own_traps, row, col, heading, RIGHT)
    ):
        return False
    frames[k + 1, CONSTRAINT] = constraint
    frames[k + 1, TRAPS] += 1
    return True


@kernel
def _play_step(
    tables: OpponentTables,
    size: Int,
    live: bool,
    least: Int,
    frames: Array,
    sums: Array,
    undecided: Array,
    hit_steps: Array,
    k: Int,
    trap: Int,
) -> Any:
    """Play step k against all undecided opponents; ``trap``: the square of the trap it sets, or -1.

    Returns the upper bound, the number of running opponents whose hit step changes, and whether a margin of at least
    ``least`` is still possible against each.
    """
    row, col = frames[k + 1, ROW], frames[k + 1, COL]
    home = row < 0
    cell = max(row, 0) * size + col
    own = size - 1 - row
    never = tables.cells.shape[1] - 1
    layer = min(k, never)
    total = sums[k]
    bound_after = 0
    changed = count = 0
    for i in range(frames[k, ACTIVE]):
        j = undecided[k, i]
        hit_step = hit_steps[k, i]
        if trap >= 0 and hit_step >= k and tables.visits[j, k, trap] < hit_step:
            hit_step = tables.visits[j, k, trap]
            changed += 1
        decided, margin = outcome(tables, live, j, k, cell, own, home, hit_step)
        if not decided:
            best_left = np.int64(
                tables.bounds[layer, row, col, frames[k + 1, HEADING], frames[k + 1, CONSTRAINT], j, hit_step]
            )
        if (margin if decided else best_left) < least:
            return total, changed, False
        if decided:
            total += tables.weights[j] * margin
        else:
            undecided[k + 1, count] = j
            hit_steps[k + 1, count] = hit_step
            count += 1
            bound_after += tables.weights[j] * best_left
    frames[k + 1, ACTIVE] = count
    sums[k + 1] = total
    return total + bound_after, changed, True


@entry
def search_mixture(
    tables: OpponentTables,
    size: Int,
    live: bool,
    columns: Int,
    least: Int,
    limit: Int,
    frames: Array,
    sums: Array,
    undecided: Array,
    hit_steps: Array,
    own_traps: Array,
    laid: Array,
    record: Array,
    best: Array,
) -> bool:
    """Search for boards worth more than record[BEST]; True at the end, False after ``limit`` nodes.

    ``columns``: the number of start columns to try. ``least``: the minimum margin against every opponent. frames:
    (longest + 1, 7) int64; sums: (longest + 1,) int64; undecided and hit_steps: (longest + 1, n) int64; own_traps:
    (squares,) uint8; laid: (longest,) uint8; record: (4,) int64. best: (rows, longest + 1) uint8: the last len(best)
    boards found, each with its number of steps first, up to where everything is decided.
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
                own_traps[_square(size, frames, depth, done)] = 0
            continue
        what = -1 if depth == 0 else ORDER[at]
        trap = -1
        if depth == 0:
            frames[1, ROW], frames[1, COL], frames[1, HEADING], frames[1, CONSTRAINT] = size - 1, at, ENTERED, FREE
            frames[1, TRAPS] = 0
        elif not _lay(size, live, frames, own_traps, depth, what):
            continue
        elif FIRST_TRAP <= what < FINISH:
            trap = _square(size, frames, depth, what)
        nodes += 1
        bound_after, changed, possible = _play_step(
            tables, size, live, least, frames, sums, undecided, hit_steps, depth, trap
        )
        if not possible or bound_after <= record[BEST] or (live and trap >= 0 and changed == 0 and what != HERE):
            continue
        laid[depth] = at if depth == 0 else size + what
        if frames[depth + 1, ACTIVE] == 0:
            record[BEST] = bound_after
            row = best[record[FOUND] % len(best)]
            row[0] = depth + 1
            for k in range(depth + 1):
                row[k + 1] = laid[k]
            record[FOUND] += 1
            continue
        if trap >= 0:
            own_traps[trap] = 1
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
    """Copy the bounds of one run about opponent j (``response_search.fill_bounds``).

    ``hit``: the step in which the run has j hit, or ``never``. bounds: as in OpponentTables, initially IMPOSSIBLE.
    table: (steps, rows, columns, headings, armed, constraints) int8. A hit step before the run's learns nothing from
    it. At this very hit step the trap is set (armed), at a later one it is not set yet.
    """
    for k in range(bounds.shape[0]):
        for row in range(bounds.shape[1]):
            for col in range(bounds.shape[2]):
                for heading in range(bounds.shape[3]):
                    for constraint in range(bounds.shape[4]):
                        here = bounds[k, row, col, heading, constraint, j]
                        if hit < never and min(k, hit) < len(table):
                            here[hit] = max(here[hit], table[min(k, hit), row, col, heading, 1, constraint])
                        if k < hit and k < len(table):
                            yet = table[k, row, col, heading, 0, constraint]
                            for hit_step in range(hit + 1 if hit < never else never, never + 1):
                                here[hit_step] = max(here[hit_step], yet)


USUAL_NODES = 20_000_000
"""Default node limit of the search."""
SLICE, WHOLE = 1_000_000, 10**12
"""Nodes of a slice of the search; weights become whole numbers with about the sum WHOLE."""
_KEPT = 64
"""The number of boards found that are kept."""


def respond_to_mixture(
    boards: Sequence[Any], weights: Sequence[float], size: int, rules: str = "written", nodes: int = USUAL_NODES
) -> MixedResponse:
    """The best board found against playable boards with these weights. They must be finished."""
    others = Packed(boards, size, rules)
    for number in others.unfinished:
        raise IllegalMove(f"board {number}: it is unfinished, and a mixture has finished boards only")
    search = MixtureSearch(others, np.rint(normalised(weights, len(others)) * WHOLE))
    search.consider(pool(size))  # legal under both rule sets
    search.run(nodes)
    return MixedResponse(format_board(search.best, size), search.value, search.over, search.bound)


def normalised(weights: Sequence[float], count: int) -> Array:
    """Weights that add up to 1."""
    if len(weights) != count or count == 0:
        raise ValueError(f"a mixture has one weight for each of its boards, not {len(weights)} for {count}")
    total = sum(weights)
    if not (isfinite(total) and total > 0 and min(weights) >= 0):
        raise ValueError("the weights of a mixture are numbers from 0 on, and not all of them are 0")
    return np.array(weights, np.float64) / total


class MixtureSearch:
    """The search for the best response to a mixture.

    ``weights``: whole numbers. ``floor``: only boards worth more count. ``least``: the minimum margin against every
    opponent (it is negative). ``mirrored``: the mixture is its own mirror image, so half of the start columns suffice.
    """

    def __init__(
        self, others: Packed, weights: Array, floor: float = -1000.0, mirrored: bool = False, least: int = -1000
    ) -> None:
        size = self.size = others.size
        self.live = others.live
        self.least = least
        self.others = (*others.arrays(rotated=True), others.ends)
        self.columns = (size + 1) // 2 if mirrored else size
        self.tables = build_tables(others, weights.astype(np.int64))
        self._whole = max(1, int(self.tables.weights.sum()))
        most = longest(size)
        count = len(others)
        self._frames = np.zeros((most + 1, TRIED + 1), np.int64)
        self._frames[0, TRIED - 1] = count
        self._sums = np.zeros(most + 1, np.int64)
        self._undecided = np.zeros((most + 1, count), np.int64)
        self._undecided[0] = np.arange(count)
        self._fates = np.full((most + 1, count), self.tables.cells.shape[1] - 1, np.int64)
        self._mine = np.zeros(size * size, np.uint8)
        self._laid = np.zeros(most, np.uint8)
        self._record = np.zeros(4, np.int64)
        self._record[BEST] = round(floor * self._whole)
        self._found = np.zeros((_KEPT, most + 1), np.uint8)
        self.over = False
        self.best = b""

    def consider(self, boards: Sequence[bytes]) -> None:
        """Start with the best of these boards if it is above the floor."""
        values = self.worth(boards)
        at = int(np.argmax(values))
        if values[at] > self._record[BEST]:
            self._record[BEST] = values[at]
            self.best = boards[at]

    def worth(self, boards: Sequence[bytes]) -> Array:
        """The values of boards, in units of 1 / the sum of the weights."""
        values = np.empty(len(boards), np.int64)
        rounds.play_mixture(
            np.frombuffer(b"".join(boards), np.uint8),
            np.cumsum([len(board) for board in boards]),
            self.size,
            self.live,
            *self.others,
            self.tables.weights,
            values,
        )
        return values

    def run(self, nodes: int, report: Callable[[int, float], None] | None = None) -> list[bytes]:
        """Search up to ``nodes`` more nodes; return the boards found meanwhile, each better than the one before."""
        begin, found = int(self._record[NODES]), int(self._record[FOUND])
        while not self.over and (left := nodes - (int(self._record[NODES]) - begin)) > 0:
            self.over = search_mixture(
                self.tables,
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
        """Upper bound on the average margin of any legal board."""
        if self.over:
            return self.value
        alone = self.tables.bounds[0, -1, :, ENTERED, FREE, :, -1].max(axis=0).astype(np.int64)
        return max(self.value, int(alone @ self.tables.weights) / self._whole)


def build_tables(others: Packed, weights: Array) -> OpponentTables:
    """Collect what the search needs to know about the opponents."""
    size, live, count = others.size, others.live, len(others)
    flat_cells, flat_score, since = others.arrays(rotated=True)
    begins = np.concatenate([[0], others.ends[:-1]])
    goals = others.ends - begins - 1
    never = int(goals.max())
    cells = np.full((count, never + 1), -1)
    score = np.zeros((count, never + 1), np.int64)
    visits = np.full((count, never + 2, size * size), never)
    constraints = CONSTRAINTS_LIVE if live else CONSTRAINTS_WRITTEN
    bounds = np.full((never + 1, size, size, 3, constraints, count, never + 1), IMPOSSIBLE, np.int8)
    for j, (begin, goal) in enumerate(zip(begins.tolist(), goals.tolist(), strict=True)):
        part = slice(begin, begin + goal + 1)
        cells[j, : goal + 1], score[j, : goal + 1] = flat_cells[part], flat_score[part]
        for k in range(goal - 1, -1, -1):
            visits[j, k] = visits[j, k + 1]
            visits[j, k, cells[j, k]] = k
        _gather_bounds(flat_cells[part], flat_score[part], since[j], size, live, never, bounds, j)
    return OpponentTables(cells, score, since.astype(np.int64), goals, visits, weights, bounds)


def _gather_bounds(
    cells: Array, score: Array, since: Array, size: int, live: bool, never: int, bounds: Array, j: int
) -> None:
    """The bounds for one opponent, from the run of every step in which it may be hit, and the run without a hit."""
    goal = len(cells) - 1
    visited = np.full(size * size, -1)
    visited[cells[:-1]] = np.arange(goal)
    opponent = KnownBoard(cells, score, since, visited, np.empty_like(visited))
    runs = new_states(RUN, 1)
    run = runs[0]
    run.side, run.live, run.low, run.width, run.goal, run.exact = size, live, 0, size, goal, 1
    run.own_weight = run.other_weight = 1
    constraints = CONSTRAINTS_LIVE if live else CONSTRAINTS_WRITTEN
    for step in range(1, goal + 1):
        run.hits = step < goal
        run.last = step
        run.target = cells[step] if run.hits else -1
        opponent.until[:] = -1
        opponent.until[cells[:step]] = np.arange(step)
        run.layers = step + 1 if live and run.hits else step
        table = np.full((int(run.layers), size, size, 3, 2, constraints), IMPOSSIBLE, np.int8)
        fill_bounds(runs, opponent, table)
        gather_bounds(table, step if run.hits else never, never, bounds, j)
