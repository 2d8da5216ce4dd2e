"""The best response to a mixture: for one who knows only how likely each of several boards is.

``mixture_search.py`` does the work; here its book is written, and it is run in slices, so that
one can see how far it is. If it ends, no legal board does better, and that is proven. If the
nodes run out, the bound is what nobody can do better against each board alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.building import finished
from ludodrome.games.spaces.mixture_search import BEST, FOUND, NODES, TRIED, Book
from ludodrome.games.spaces.respond_bounds import ENTERED, FREE, MOODS_LIVE, MOODS_WRITTEN, NOTHING, RUN, Course
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sensible_ import pool
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, new_states

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
        kernels.play_mixture(
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
            self.over = kernels.search_mixture(
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
        kernels.fill_bounds(runs, course, table)
        kernels.gather_bounds(table, step if run.hits else never, never, bounds, j)
