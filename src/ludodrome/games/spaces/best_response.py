"""The best response: the legal board that does best against a known board.

The search is split into *runs* (see ``response_search.py``): one for every step in which the
opponent may be hit, and one without a hit. Each run has an upper bound, first a rough one, then
one by dynamic programming. The run with the highest bound is searched for a board that reaches
it. If there is one, it is proven optimal; if not, the bound of this run drops by one. A round is
symmetric (R18), so the seat does not matter.
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
    CONSTRAINTS_LIVE,
    CONSTRAINTS_WRITTEN,
    ENTERED,
    FOUND,
    FREE,
    IMPOSSIBLE,
    NONE,
    RUN,
    TRIED,
    KnownBoard,
    fill_bounds,
    search_response,
)
from ludodrome.games.spaces.rounds import pack_many, play_round
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, new_states

OBJECTIVES = {"margin": (1, 1), "points": (1, 0)}
"""Weights of the own points and of the opponent's, which are subtracted."""

NODES = 20_000_000
"""Default node limit of the search."""
_SLICE = 100_000
"""Node limit of a first try; 16 bytes of a table count as one node."""
_NODES_A_SECOND = 1_000_000
"""Conservative, so that searches end in time."""
_MAX_KEYS = 1 << 22
"""Maximum number of failures remembered; a power of 2."""

FULL_WIDTH = 20
"""Up to this size a run covers the whole grid; above, a band of columns and the beginning of long boards."""
EXACT_WRITTEN = 10
"""Up to this size failures are stored exactly under ``written``; above, by hash, which proves nothing."""
_BAND = 11
_BEGINNING = 4


@dataclass(frozen=True, slots=True)
class MixedResponse:
    """A board that answers a mixture of others.

    >>> from ludodrome import spaces
    >>> mixture = spaces.perfect(3, "live")
    >>> mixed = spaces.respond_to_mixture(mixture.json_boards(), mixture.weights, 3, "live")
    >>> isinstance(mixed, spaces.MixedResponse), mixed.margin
    (True, 0.0)
    """

    board: dict[str, Any]
    margin: float
    """Own points minus the opponent's, on average."""
    proven: bool
    """Whether no legal board does better."""
    bound: float
    """Upper bound on the average margin of any legal board."""


@dataclass(frozen=True, slots=True)
class Response:
    """A board that answers another one.

    >>> from ludodrome import spaces
    >>> answer = spaces.respond(spaces.parse_board("2:0:uf"), 2)
    >>> isinstance(answer, spaces.Response), answer.margin == answer.bound
    (True, True)
    """

    board: dict[str, Any]
    margin: int
    """Own points minus the opponent's."""
    points: tuple[int, int]
    """Own, the opponent's."""
    proven: bool
    """Whether no legal board does better."""
    bound: int
    """Upper bound on the objective over all legal boards."""
    nodes: int


def respond(
    board: Any,
    size: int,
    rules: str = "written",
    objective: str = "margin",
    nodes: int = NODES,
    seconds: float | None = None,
) -> Response:
    """The best legal board against a playable one, which may be unfinished.

    ``objective``: ``margin``, own points minus the opponent's, or ``points``, own points only. The search stops after
    ``nodes`` nodes, or ``seconds`` if given, and returns the best board found, with ``proven`` and ``bound``. Without
    ``seconds`` the result is deterministic. IllegalMove if the board is not playable.

    >>> from ludodrome import spaces
    >>> run = spaces.parse_board("3:0:uuf")
    >>> answer = spaces.respond(run, 3, "live")
    >>> answer.margin, answer.proven, spaces.simulate(answer.board, run, 3, "live").points == list(answer.points)
    (3, True, True)
    """
    weights = OBJECTIVES[validation.choice(objective, tuple(OBJECTIVES), "the objective", ValueError)]
    nodes = validation.integer(nodes, 0, 10**15, "nodes", ValueError)
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"seconds is a number from 0 on, not {validation.show(seconds)}")
    packed = Packed([board], size, rules)
    waiting = packed.waiting(max(longest(size), packed.longest) + 1)  # until every legal board has finished
    return _ResponseSearch(waiting, weights, nodes, seconds).answer()


def prepare() -> None:
    """Compile or load everything that an answer may need.

    Many boards are answered without bounds and search, so answering one of them is not enough.
    """
    straight = format_board(finished(bytes([0]), SMALLEST, False), SMALLEST)
    search = _ResponseSearch(Packed([straight], SMALLEST, "written"), OBJECTIVES["margin"], 1, None)
    search.answer()
    search._search(search._candidates()[0], 1)


class _Candidate(NamedTuple):
    """A run that may hold the best board; the smallest tuple is searched first."""

    least: int
    """The negated bound."""
    rough: bool
    step: int
    low: int


class _ResponseSearch:
    """The search for one response."""

    def __init__(self, packed: Packed, weights: tuple[int, int], nodes: int, seconds: float | None) -> None:
        self.size, self.live, self.weights = packed.size, packed.live, weights
        self.most_nodes, self.nodes = nodes, 0
        self.deadline = None if seconds is None else time.monotonic() + seconds
        cells, score, since = packed.arrays(rotated=True)
        self.goal = len(cells) - 1
        visited = np.full(self.size * self.size, -1)
        visited[cells[:-1]] = np.arange(self.goal)
        self.opponent = KnownBoard(cells, score, since[0], visited, np.empty_like(visited))
        self.rough = self._rough_bounds()
        self.full = self.size <= FULL_WIDTH
        self.width = self.size if self.full else _BAND
        self.horizon = self.goal if self.full else min(self.goal, _BEGINNING * self.size)
        self.exact = self.live or self.size <= EXACT_WRITTEN
        self.runs = new_states(RUN, 1)
        self.table: Array = np.empty(0, np.int8)
        self.filled: tuple[int, int] | None = None
        self.run_bound = IMPOSSIBLE
        self.best = b""
        self.value = IMPOSSIBLE
        self.points = (0, 0)
        most = longest(self.size)
        self.frames = np.zeros((most + 1, TRIED + 1), np.int64)
        self.actions = np.zeros(most, np.uint8)
        self.keys: Array = np.empty(0, np.int64)
        self.stamp = 0

    def answer(self) -> Response:
        """The best board within the budget."""
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

    # Choosing the next run

    def _candidates(self) -> list[_Candidate]:
        """All runs with their rough bounds, as a heap."""
        middle = self.width // 2
        most_low = self.size - self.width
        waiting = []
        for step in range(1, self.horizon):
            low = min(max(int(self.opponent.cells[step]) % self.size - middle, 0), most_low)
            waiting.append(_Candidate(-int(self.rough[step]), True, step, low))
        for low in range(0, most_low + 1, max(1, middle)):
            waiting.append(_Candidate(-int(self.rough[self.goal]), True, self.goal, low))
        heapq.heapify(waiting)
        return waiting

    def _first_round(self, waiting: list[_Candidate]) -> list[_Candidate]:
        """Search the most promising run repeatedly; postpone runs that exceed the node limit."""
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
        """Whether a postponed run is decided, or irrelevant, after another try with ``limit`` nodes."""
        return -run.least <= self.value or (not self._spent() and self._search(run, limit))

    def _spent(self) -> bool:
        return self.nodes >= self.most_nodes or (self.deadline is not None and time.monotonic() >= self.deadline)

    # Bounds

    def _worth(self, own: Any, other: Any) -> Any:
        return own * self.weights[0] - other * self.weights[1]

    def _rough_bounds(self) -> Array:
        """An upper bound for the run of each step; that of the goal is for the run without a hit."""
        size, steps = self.size, np.arange(self.goal + 1)
        score, rows = self.opponent.score.astype(np.int64), self.opponent.cells.astype(np.int64) // size
        hit = np.maximum(score - 1, 0)
        # the opponent is not hit: someone finishes, or the round ends with a loss for us
        ends = np.where(steps >= size, self._worth(size, score), self._worth(np.clip(steps - 1, 0, size), hit))
        unhit = np.maximum.accumulate(ends)
        # the opponent is hit, as soon as the trap can be there (R5, R13)
        there = (steps >= np.maximum(1, size - 1 - rows)) & ((rows > 0) | (not self.live)) & (steps < self.goal)
        own = np.full_like(steps, size) if self.live else np.clip(steps - 1, 0, size)
        return np.where(there, np.maximum(unhit, self._worth(own, hit)), unhit)

    def _bound(self, candidate: _Candidate) -> int:
        """Make this run the current one and fill its table; return its upper bound."""
        run, opponent = self.runs[0], self.opponent
        step, low = candidate.step, candidate.low
        if self.filled != (step, low):
            self.filled = (step, low)
            run.side, run.live, run.low, run.width = self.size, self.live, low, self.width
            run.hits = step < self.goal
            run.last = step if run.hits else self.horizon
            run.goal = self.goal
            run.target = opponent.cells[step] if run.hits else -1
            run.exact = self.exact
            run.own_weight, run.other_weight = self.weights
            opponent.until[:] = -1
            opponent.until[opponent.cells[: run.last]] = np.arange(run.last)
            run.layers = run.last + 1 if self.live and run.hits else run.last
            constraints = CONSTRAINTS_LIVE if self.live else CONSTRAINTS_WRITTEN
            self.table = np.empty((int(run.layers), self.size, self.width, 3, 2, constraints), np.int8)
            fill_bounds(self.runs, opponent, self.table)
            self.run_bound = int(self.table[0, -1, :, ENTERED, 0, FREE].max())  # the start decides nothing
            self.nodes += self.table.size // 16
        return self.run_bound

    # Searching

    def _search(self, candidate: _Candidate, limit: int) -> bool:
        """Search a run for a board that reaches its bound; False if undecided."""
        self._bound(candidate)
        limit = min(limit, self.most_nodes - self.nodes)
        if self.deadline is not None:
            limit = min(limit, max(_SLICE // 10, int((self.deadline - time.monotonic()) * _NODES_A_SECOND)))
        room = min(_MAX_KEYS, 1 << max(0, 2 * limit).bit_length())
        if len(self.keys) < room:
            self.keys = np.zeros(room, np.int64)
            self.stamps = np.zeros((room, 2), np.int32)
        self.stamp += 1
        own_traps = np.zeros(self.size * self.size, np.uint8)
        how, steps, nodes = search_response(
            self.runs,
            self.opponent,
            self.table,
            -candidate.least,
            limit,
            self.frames,
            self.actions,
            own_traps,
            self.keys,
            self.stamps,
            self.stamp,
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
        other = self.opponent
        own_points, other_points, *_ = play_round(
            cells, score, since[0], other.cells, other.score, other.since, self.live
        )
        value = int(self._worth(own_points, other_points))
        if value > self.value:
            self.value, self.best, self.points = value, actions, (int(own_points), int(other_points))
