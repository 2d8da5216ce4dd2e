"""The best response: the legal board that does best against a known one.

The work is done in *runs* (see ``respond_bounds.py``): one for every step in which the other may be
hit, and one without a hit. Each has a bound, at first a rough one, then one by dynamic
programming; the run with the highest bound is searched for a board that is worth as much
(``respond_search.py``). If there is one, no other board is better, and that is proven. If not, the
bound of this run falls by one. A round is symmetric (R18), so the seat does not matter.
"""

import heapq
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces.boards import SMALLEST, format_board
from ludodrome.games.spaces.legality import finished
from ludodrome.games.spaces.response_search import (
    ENTERED,
    FOUND,
    FREE,
    MOODS_LIVE,
    MOODS_WRITTEN,
    NONE,
    NOTHING,
    RUN,
    TRIED,
    Course,
    fill_bounds,
    search_response,
)
from ludodrome.games.spaces.rounds import pack_many, play_round
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, new_states

OBJECTIVES = {"margin": (1, 1), "points": (1, 0)}
"""What is maximised: the weights of one's own points and, taken off, of the other's."""

NODES = 20_000_000
"""The search visits no more than this unless told otherwise."""
_SLICE = 100_000
"""So many nodes for a first try; a table of so many bytes counts as one node for each 16 of them."""
_NODES_A_SECOND = 1_000_000
"""Careful, for slices that end in time."""
_MOST_KEYS = 1 << 22
"""How many failures are remembered; a power of 2."""

FULL_WIDTH = 20
"""Up to this size a run looks at the whole grid, above at a band of columns and at the beginning of long boards."""
EXACT_WRITTEN = 10
"""Up to this size the search knows exactly what has failed under ``written``; above by a hash, which proves nothing."""
_BAND = 11
_BEGINNING = 4


@dataclass(frozen=True, slots=True)
class Response:
    """A board that answers another one."""

    board: dict[str, Any]
    margin: int
    """Own points less the other's."""
    points: tuple[int, int]
    """Own, the other's."""
    proven: bool
    """No legal board does better."""
    bound: int
    """No legal board is worth more than this, by the objective."""
    nodes: int


def respond(
    board: Any,
    size: int,
    rules: str = "written",
    objective: str = "margin",
    nodes: int = NODES,
    seconds: float | None = None,
) -> Response:
    """The best legal board against a playable one.

    ``objective``: ``margin``, own points less the other's, or ``points``, own points alone. Within
    ``nodes``, and ``seconds`` if given, the best board found is given, with ``proven`` and
    ``bound``. Without ``seconds`` the answer is always the same. IllegalMove if the board is not playable.
    """
    weights = OBJECTIVES[validation.choice(objective, tuple(OBJECTIVES), "the objective", ValueError)]
    nodes = validation.integer(nodes, 0, 10**15, "nodes", ValueError)
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"seconds is a number from 0 on, not {validation.show(seconds)}")
    packed = Packed([board], size, rules)
    return _Hunt(packed, weights, nodes, seconds).answer()


def prepare() -> None:
    """Have all that an answer may need compiled or loaded.

    Many boards are answered without bounds and search, so that an answer to any of them does not do this.
    """
    straight = format_board(finished(bytes([0]), SMALLEST, False), SMALLEST)
    hunt = _Hunt(Packed([straight], SMALLEST, "written"), OBJECTIVES["margin"], 1, None)
    hunt.answer()
    hunt._search(hunt._candidates()[0], 1)


class _Candidate(NamedTuple):
    """A run that may hold the best board; the first in order is looked at first."""

    least: int
    """The bound, negative."""
    rough: bool
    step: int
    low: int


class _Hunt:
    """The search for one response."""

    def __init__(self, packed: Packed, weights: tuple[int, int], nodes: int, seconds: float | None) -> None:
        self.size, self.live, self.weights = packed.size, packed.live, weights
        self.most_nodes, self.nodes = nodes, 0
        self.deadline = None if seconds is None else time.monotonic() + seconds
        cells, score, since = packed.arrays(rotated=True)
        self.goal = len(cells) - 1
        visited = np.full(self.size * self.size, -1)
        visited[cells[:-1]] = np.arange(self.goal)
        self.course = Course(cells, score, since[0], visited, np.empty_like(visited))
        self.rough = self._rough_bounds()
        self.full = self.size <= FULL_WIDTH
        self.width = self.size if self.full else _BAND
        self.horizon = self.goal if self.full else min(self.goal, _BEGINNING * self.size)
        self.exact = self.live or self.size <= EXACT_WRITTEN
        self.runs = new_states(RUN, 1)
        self.table: Array = np.empty(0, np.int8)
        self.filled: tuple[int, int] | None = None
        self.run_bound = NOTHING
        self.best = b""
        self.value = NOTHING
        self.points = (0, 0)
        most = longest(self.size)
        self.frames = np.zeros((most + 1, TRIED + 1), np.int64)
        self.actions = np.zeros(most, np.uint8)
        self.keys: Array = np.empty(0, np.int64)
        self.mark = 0

    def answer(self) -> Response:
        """The best board that the budget allows."""
        for col in range(self.size):
            self._consider(finished(bytes([col]), self.size, self.live))
        waiting = self._candidates()
        given_up = self._first_round(waiting)
        limit = _SLICE
        while given_up and limit < self.most_nodes and not self._spent():
            limit *= 8
            given_up = [run for run in sorted(given_up) if not self._settled(run, limit)]
        bound = max([self.value, *(-one.least for one in (*waiting, *given_up))])
        if not self.full:
            bound = max(self.value, int(self.rough.max()))
        own, other = self.points
        board = format_board(self.best, self.size)
        return Response(board, own - other, self.points, bound == self.value, bound, self.nodes)

    # Which run next

    def _candidates(self) -> list[_Candidate]:
        """All runs with their rough bounds, as a heap."""
        middle = self.width // 2
        most_low = self.size - self.width
        waiting = []
        for step in range(1, self.horizon):
            low = min(max(int(self.course.cells[step]) % self.size - middle, 0), most_low)
            waiting.append(_Candidate(-int(self.rough[step]), True, step, low))
        for low in range(0, most_low + 1, max(1, middle)):
            waiting.append(_Candidate(-int(self.rough[self.goal]), True, self.goal, low))
        heapq.heapify(waiting)
        return waiting

    def _first_round(self, waiting: list[_Candidate]) -> list[_Candidate]:
        """Take the most promising run again and again; what takes long is given up for now, at its bound."""
        given_up: list[_Candidate] = []
        while waiting and -waiting[0].least > self.value and not self._spent():
            run = heapq.heappop(waiting)
            if run.rough:
                heapq.heappush(waiting, run._replace(least=max(run.least, -self._bound(run)), rough=False))
            elif not self._search(run, _SLICE):
                given_up.append(run)
                heapq.heappush(waiting, run._replace(least=run.least + 1))
            elif self.value < -run.least:
                heapq.heappush(waiting, run._replace(least=run.least + 1))
        return given_up

    def _settled(self, run: _Candidate, limit: int) -> bool:
        """Whether a run that was given up is of no more interest, after another try with so many nodes."""
        return -run.least <= self.value or (not self._spent() and self._search(run, limit))

    def _spent(self) -> bool:
        return self.nodes >= self.most_nodes or (self.deadline is not None and time.monotonic() >= self.deadline)

    # Bounds

    def _worth(self, own: Any, other: Any) -> Any:
        return own * self.weights[0] - other * self.weights[1]

    def _rough_bounds(self) -> Array:
        """For the run of each step, and as that of the goal for the one without a hit: no board is worth more."""
        size, steps = self.size, np.arange(self.goal + 1)
        score, rows = self.course.score.astype(np.int64), self.course.cells.astype(np.int64) // size
        hit = np.maximum(score - 1, 0)
        # the other is not hit: either somebody is home, or the round ends with a loss of one's own
        ends = np.where(steps >= size, self._worth(size, score), self._worth(np.clip(steps - 1, 0, size), hit))
        unhit = np.maximum.accumulate(ends)
        # it is: once the trap can be there (R5, R13)
        there = (steps >= np.maximum(1, size - 1 - rows)) & ((rows > 0) | (not self.live)) & (steps < self.goal)
        own = np.full_like(steps, size) if self.live else np.clip(steps - 1, 0, size)
        return np.where(there, np.maximum(unhit, self._worth(own, hit)), unhit)

    def _bound(self, candidate: _Candidate) -> int:
        """Make a run and its table the current ones; the most that it can be worth."""
        run, course = self.runs[0], self.course
        step, low = candidate.step, candidate.low
        if self.filled != (step, low):
            self.filled = (step, low)
            run.side, run.live, run.low, run.width = self.size, self.live, low, self.width
            run.hits = step < self.goal
            run.last = step if run.hits else self.horizon
            run.goal = self.goal
            run.target = course.cells[step] if run.hits else -1
            run.exact = self.exact
            run.own_weight, run.other_weight = self.weights
            course.until[:] = -1
            course.until[course.cells[: run.last]] = np.arange(run.last)
            run.layers = run.last + 1 if self.live and run.hits else run.last
            moods = MOODS_LIVE if self.live else MOODS_WRITTEN
            self.table = np.empty((int(run.layers), self.size, self.width, 3, 2, moods), np.int8)
            fill_bounds(self.runs, course, self.table)
            self.run_bound = int(self.table[0, -1, :, ENTERED, 0, FREE].max())  # the start itself decides nothing
            self.nodes += self.table.size // 16
        return self.run_bound

    # Searching

    def _search(self, candidate: _Candidate, limit: int) -> bool:
        """Search a run for a board worth its bound; False if it is not decided whether there is one."""
        self._bound(candidate)
        limit = min(limit, self.most_nodes - self.nodes)
        if self.deadline is not None:
            limit = min(limit, max(_SLICE // 10, int((self.deadline - time.monotonic()) * _NODES_A_SECOND)))
        room = min(_MOST_KEYS, 1 << max(0, 2 * limit).bit_length())
        if len(self.keys) < room:
            self.keys = np.zeros(room, np.int64)
            self.marks = np.zeros((room, 2), np.int32)
        self.mark += 1
        mine = np.zeros(self.size * self.size, np.uint8)
        how, steps, nodes = search_response(
            self.runs,
            self.course,
            self.table,
            -candidate.least,
            limit,
            self.frames,
            self.actions,
            mine,
            self.keys,
            self.marks,
            self.mark,
        )
        self.nodes += nodes
        if how == FOUND:
            self._consider(finished(self.actions[:steps].tobytes(), self.size, self.live))
            return True
        return bool(how == NONE) and self.exact

    def _consider(self, actions: bytes) -> None:
        """Play a board, and keep it if it is the best so far."""
        length = len(actions)
        cells, score = np.empty((2, length), np.uint16)
        since = np.empty((1, self.size * self.size), np.uint16)
        laid = np.frombuffer(actions, np.uint8)
        pack_many(laid, np.array([length]), self.size, self.live, False, cells, score, since)
        other = self.course
        own_points, other_points, *_ = play_round(
            cells, score, since[0], other.cells, other.score, other.since, self.live
        )
        value = self._worth(own_points, other_points)
        if value > self.value:
            self.value, self.best, self.points = value, actions, (int(own_points), int(other_points))
