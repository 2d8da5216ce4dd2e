"""Exact values of positions under perfect play, and files that keep what a long solve has proven."""

import os
import time as clock
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ludodrome.analysis.lines import check_time, lead, notations
from ludodrome.analysis.win_probability import why_not_searchable
from ludodrome.atomic_io import whole_file
from ludodrome.game import Game
from ludodrome.games.dots.solver import MAX_BITS, MIN_BITS, SLICE, Solver
from ludodrome.games.dots.solver.table import BUCKET, CACHE_LINE, new_table
from ludodrome.search.alphabeta import MAX_DEPTH
from ludodrome.search.iterative import Searcher, SearchResult

TABLE_BITS, MAX_TABLE_BITS = 22, 27
PULSE = 0.05
"""Seconds between two reports of a solver."""


def recommended_table_bits(game: Game, state: Any) -> int:
    """The table size for solving a position, log2 of entries: at most a quarter of the machine's memory.

    In dots the default is enough for 31 undrawn edges; the 40 of 4x4 need a table 32 times as large
    (docs/results/solving-dots.md). Other games get the default.
    """
    if game.evaluator is None or not game.evaluator.by_points:
        return TABLE_BITS
    undrawn = len(game.legal_moves(state))
    wanted = TABLE_BITS + max(0, undrawn - 31) * 5 // 9
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    affordable = (memory // 4 // (CACHE_LINE // BUCKET)).bit_length() - 1
    return max(TABLE_BITS, min(wanted, affordable, MAX_TABLE_BITS))


@dataclass(frozen=True, slots=True)
class Solution:
    """The value of a position, as far as it is known."""

    value: int | None
    """For the seat to move: in dots the final margin of boxes, elsewhere 1, 0 or -1. None while it is unknown."""
    proven: bool
    distance: int | None
    """Plies to the end of a decided game: the winner plays the fastest win, the loser the slowest loss."""
    move: Any
    """A best move, or the best so far."""
    line: list[str]
    """The best continuation, in notation."""


class SolverBackend(Protocol):
    """A method of solving positions in steps."""

    @property
    def nodes(self) -> int:
        """Positions visited."""

    @property
    def state(self) -> str:
        """Its progress, for people."""

    @property
    def solution(self) -> Solution:
        """What is known so far."""

    def work(self) -> Iterator[None]:
        """Work until the position is solved; yields now and then."""


class Solving:
    """A solve in progress: ``run`` works for a while and continues where it stopped when called again."""

    def __init__(
        self, game: Game, state: Any = None, *, table_bits: int = TABLE_BITS, solver: Solver | None = None
    ) -> None:
        """``table_bits``: log2 of the table's entries. ``solver``: a solver of dots with a filled table.

        Raises ValueError for games without an evaluator, with three seats, or if the game is over.
        """
        if game.evaluator is None:
            raise ValueError(f"{game.id} is not solved move by move: {why_not_searchable(game)}")
        if game.seats != 2:
            raise ValueError(f"only games of two seats have one exact value; this {game.id} has {game.seats}")
        states = game.encode_array(game.initial_state() if state is None else state)
        game.check_running(states)
        self.game = game
        self._backend: SolverBackend
        if game.evaluator.by_points:
            self._backend = DotsBackend(game, states, solver or Solver(**game.options, table_bits=table_bits))
        else:
            self._backend = DeepeningBackend(game, states, table_bits)
        self._work = self._backend.work()
        self.seconds = 0.0
        self.done = False
        """Whether the position is solved."""

    @property
    def nodes(self) -> int:
        """Positions visited."""
        return self._backend.nodes

    @property
    def state(self) -> str:
        """Its progress, for people."""
        return self._backend.state

    @property
    def solution(self) -> Solution:
        """What is known so far."""
        return self._backend.solution

    @property
    def solver(self) -> Solver | None:
        """The solver of dots; None for other games."""
        return self._backend.solver if isinstance(self._backend, DotsBackend) else None

    def run(self, seconds: float | None = None) -> bool:
        """Work for about ``seconds``, None for no limit. Returns whether it is done."""
        begin = clock.perf_counter()
        for _ in self._work:
            if seconds is not None and clock.perf_counter() - begin >= seconds:
                break
        else:
            self.done = True
        self.seconds += clock.perf_counter() - begin
        return self.done


class DeepeningBackend:
    """Games without points: alpha-beta without reductions, with iterative deepening."""

    def __init__(self, game: Game, states: Any, table_bits: int) -> None:
        self._game, self._states = game, states
        self._searcher = Searcher(game, table_bits, reductions=False, shortest=True)
        self._searcher.warm_up()
        self._result: SearchResult | None = None
        self._earlier = 0

    @property
    def nodes(self) -> int:
        """Positions visited, at all depths together."""
        return self._earlier + self._searcher.nodes

    @property
    def state(self) -> str:
        """The last complete depth."""
        return f"depth {self._result.depth if self._result else 0}"

    def work(self) -> Iterator[None]:
        """Deepen until a win is proven and the depth has reached it, so that it is the shortest."""
        for depth in range(1, MAX_DEPTH + 1):
            for result in self._searcher.search(self._states, depth, first=depth, pulse=PULSE):
                if result.depth == depth:
                    self._result = result
                yield
            self._earlier += self._searcher.nodes
            self._searcher.rest()
            if self._result and self._result.proven and (self._result.distance or 0) <= depth:
                return

    @property
    def solution(self) -> Solution:
        """The winner and the distance."""
        result = self._result
        if result is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([result.action], self._states[0])[0]
        line = notations(self._game, self._states, result.line)
        value = (result.score > 0) - (result.score < 0) if result.proven else None
        return Solution(value, result.proven, result.distance, move, line)


class DotsBackend:
    """Dots: the exact solver."""

    def __init__(self, game: Game, states: Any, solver: Solver) -> None:
        self._game, self._states = game, states
        self.solver = solver
        self.solver.begin(states[0])
        self.solver.run(1)

    @property
    def nodes(self) -> int:
        """Positions visited."""
        return self.solver.nodes

    @property
    def state(self) -> str:
        """The bounds of the value."""
        low, high = (bound + lead(self._game, self._states) for bound in self.solver.bounds)
        return f"the margin is between {low:+d} and {high:+d}"

    def work(self) -> Iterator[None]:
        """Solve in slices of positions."""
        while not self.solver.run(SLICE):
            yield

    @property
    def solution(self) -> Solution:
        """The final margin; unknown until the bounds meet."""
        edge, value = self.solver.best_edge, self.solver.value
        if edge is None or value is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([edge], self._states[0])[0]
        line = notations(self._game, self._states, tuple(self.solver.line()))
        return Solution(value + lead(self._game, self._states), True, None, move, line)


def solve(
    game: Game, state: Any = None, time: float | None = None, progress: Callable[[Solving], None] | None = None
) -> Solution:
    """Solve a position (default: the initial one). After ``time`` seconds the solution may be unproven.

    ``progress`` is called now and then with the solve in progress. Raises ValueError as ``Solving`` does.

    >>> import ludodrome
    >>> solution = solve(ludodrome.make("dots", rows=2, cols=2))
    >>> solution.value, solution.proven
    (2, True)
    """
    limit = check_time(time)
    solving = Solving(game, state)
    while not solving.run(PULSE) and (limit is None or solving.seconds < limit):
        if progress:
            progress(solving)
    return solving.solution


# Checkpoints, only for dots: only its boards take hours.
# A file holds the board's size and the solver's table. The search starts again with everything that was proven and is
# soon where it was; a forged file cannot corrupt memory.


def check_can_save(game: Game) -> None:
    """Raise ValueError if a game has no checkpoints."""
    if game.evaluator is None or not game.evaluator.by_points:
        raise ValueError(f"only the solving of dots can be kept in a file, not that of {game.id}")


def save_solving(solving: Solving, path: Path) -> None:
    """Write a checkpoint. Raises ValueError for other games than dots, OSError if it cannot be written."""
    check_can_save(solving.game)
    solver = solving.solver
    assert solver is not None
    with whole_file(path) as file:
        np.savez(file, board=np.array([solver.rows, solver.cols], np.int64), table=solver.table)


def load_solving(game: Game, state: Any, path: Path, table_bits: int | None = None) -> Solving:
    """Continue from a checkpoint of this board, also with another position: the table holds for all of them.

    ``table_bits``: the expected size of the table, None for any. Raises ValueError if the file does not fit.
    """
    check_can_save(game)
    try:
        with zipfile.ZipFile(path) as packed:
            if any(part.compress_type != zipfile.ZIP_STORED for part in packed.infolist()):
                raise ValueError("it is compressed, and could expand to any size")
        with np.load(path, allow_pickle=False) as kept:
            board, table = kept["board"].tolist(), kept["table"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no file of `ludodrome solve`: {error}") from error
    if board != [game.options["rows"], game.options["cols"]]:
        raise ValueError(
            f"{path} is about a board of {board}, not {game.options['rows']} x {game.options['cols']} boxes"
        )
    bits = max(1, table.size // 2).bit_length() - 1
    if (
        table.dtype != np.uint64
        or table.shape != ((1 << bits) // BUCKET, 2 * BUCKET)
        or not (MIN_BITS <= bits <= MAX_BITS)
    ):
        raise ValueError(f"{path} has no table of the solver in it")
    if table_bits not in (None, bits):
        raise ValueError(f"the table in {path} has 2^{bits} positions, not 2^{table_bits}: the size cannot be changed")
    aligned = new_table(bits)
    aligned[:] = table
    del table
    return Solving(game, state, solver=Solver(**game.options, table=aligned))
