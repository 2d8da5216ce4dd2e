"""Exact values: what a position is worth if nobody errs."""

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
"""A solver rests after about so many seconds, to look at the clock and to report."""


def recommended_table_bits(game: Game, state: Any) -> int:
    """How large a table it takes to solve a position to its end, if nobody minds a quarter of the machine's memory.

    In dots, 31 undrawn edges are well served by the usual table, and the 40 of 4x4 by one 32 times as
    large (docs/results/solving-dots.md). Elsewhere it is the usual one.
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
    """What is known of a position's value."""

    value: int | None
    """For the seat to move: in dots the final margin of boxes, elsewhere 1, 0 or -1. None as long as it is unknown."""
    proven: bool
    distance: int | None
    """The plies to the end of a game that is won or lost, if the winner hurries and the loser does not."""
    move: Any
    """A best move, or the best so far."""
    line: list[str]
    """How the game goes on, in the notation for people."""


class SolverBackend(Protocol):
    """A way to solve positions, a little at a time."""

    @property
    def nodes(self) -> int:
        """How many positions have been visited."""

    @property
    def state(self) -> str:
        """How far it has come, for people."""

    @property
    def solution(self) -> Solution:
        """What is known so far."""

    def work(self) -> Iterator[None]:
        """Comes to an end when all is known, and rests now and then."""


class Solving:
    """A solution in the making: ``run`` works for a while, and goes on where it stopped when it is called again."""

    def __init__(
        self, game: Game, state: Any = None, *, table_bits: int = TABLE_BITS, solver: Solver | None = None
    ) -> None:
        """``table_bits``: room for two to the power of so many positions; ``solver``: one that knows something."""
        if game.evaluator is None:
            raise ValueError(f"{game.id} is not solved move by move: {why_not_searchable(game)}")
        if game.seats != 2:
            raise ValueError(f"only games of two seats have one exact value; this {game.id} has {game.seats}")
        states = game.encode_array(game.initial_state() if state is None else state)
        game.check_running(states)
        self.game = game
        self._worker: SolverBackend
        if game.evaluator.by_points:
            self._worker = DotsBackend(game, states, solver or Solver(**game.options, table_bits=table_bits))
        else:
            self._worker = DeepeningBackend(game, states, table_bits)
        self._work = self._worker.work()
        self.seconds = 0.0
        self.done = False
        """Whether there is nothing left to find out."""

    @property
    def nodes(self) -> int:
        """How many positions have been visited."""
        return self._worker.nodes

    @property
    def state(self) -> str:
        """How far it has come, for people."""
        return self._worker.state

    @property
    def solution(self) -> Solution:
        """What is known so far."""
        return self._worker.solution

    @property
    def solver(self) -> Solver | None:
        """The solver of dots, if it is that which works."""
        return self._worker.solver if isinstance(self._worker, DotsBackend) else None

    def run(self, seconds: float | None = None) -> bool:
        """Works for about so long, or until it is done; whether it is done."""
        begin = clock.perf_counter()
        for _ in self._work:
            if seconds is not None and clock.perf_counter() - begin >= seconds:
                break
        else:
            self.done = True
        self.seconds += clock.perf_counter() - begin
        return self.done


class DeepeningBackend:
    """Games that are won: alpha-beta without reductions, one depth after another."""

    def __init__(self, game: Game, states: Any, table_bits: int) -> None:
        self._game, self._states = game, states
        self._thinker = Searcher(game, table_bits, reductions=False, shortest=True)
        self._thinker.warm_up()
        self._finding: SearchResult | None = None
        self._earlier = 0

    @property
    def nodes(self) -> int:
        """Of all depths together."""
        return self._earlier + self._thinker.nodes

    @property
    def state(self) -> str:
        """The depth that is done."""
        return f"depth {self._finding.depth if self._finding else 0}"

    def work(self) -> Iterator[None]:
        """A win alone is not enough: the depth must reach it, so that it is the shortest."""
        for depth in range(1, MAX_DEPTH + 1):
            for finding in self._thinker.search(self._states, depth, first=depth, pulse=PULSE):
                if finding.depth == depth:
                    self._finding = finding
                yield
            self._earlier += self._thinker.nodes
            self._thinker.rest()
            if self._finding and self._finding.proven and (self._finding.distance or 0) <= depth:
                return

    @property
    def solution(self) -> Solution:
        """Who wins, and how soon."""
        finding = self._finding
        if finding is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([finding.action], self._states[0])[0]
        line = notations(self._game, self._states, finding.line)
        value = (finding.score > 0) - (finding.score < 0) if finding.proven else None
        return Solution(value, finding.proven, finding.distance, move, line)


class DotsBackend:
    """Dots: the exact solver of its room."""

    def __init__(self, game: Game, states: Any, solver: Solver) -> None:
        self._game, self._states = game, states
        self.solver = solver
        self.solver.begin(states[0])
        self.solver.run(1)

    @property
    def nodes(self) -> int:
        """Of the solver."""
        return self.solver.nodes

    @property
    def state(self) -> str:
        """The bounds of the value."""
        low, high = (bound + lead(self._game, self._states) for bound in self.solver.bounds)
        return f"the margin is between {low:+d} and {high:+d}"

    def work(self) -> Iterator[None]:
        """Rests after so many positions."""
        while not self.solver.run(SLICE):
            yield

    @property
    def solution(self) -> Solution:
        """The final margin; there is none as long as its bounds are apart."""
        edge, value = self.solver.best_edge, self.solver.value
        if edge is None or value is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([edge], self._states[0])[0]
        line = notations(self._game, self._states, tuple(self.solver.line()))
        return Solution(value + lead(self._game, self._states), True, None, move, line)


def solve(
    game: Game, state: Any = None, time: float | None = None, progress: Callable[[Solving], None] | None = None
) -> Solution:
    """The exact value of a position (the initial one if none is given), or what was found in so many seconds.

    ``progress`` is shown the work now and then.
    """
    limit = check_time(time)
    solving = Solving(game, state)
    while not solving.run(PULSE) and (limit is None or solving.seconds < limit):
        if progress:
            progress(solving)
    return solving.solution


# Solving that is put aside in a file and taken up again: of dots, since only its boards take hours.
# What is kept is the question and the solver's table. The search begins anew with all that was proved, and is soon where
# it was; no file, however it was made, can lead it astray in memory.


def check_can_save(game: Game) -> None:
    """ValueError if a game's solving cannot be kept."""
    if game.evaluator is None or not game.evaluator.by_points:
        raise ValueError(f"only the solving of dots can be kept in a file, not that of {game.id}")


def save_solving(solving: Solving, path: Path) -> None:
    """Keep what was proved so far; OSError says why it cannot be."""
    check_can_save(solving.game)
    solver = solving.solver
    assert solver is not None
    with whole_file(path) as file:
        np.savez(file, board=np.array([solver.rows, solver.cols], np.int64), table=solver.table)


def load_solving(game: Game, state: Any, path: Path, table_bits: int | None = None) -> Solving:
    """Go on with what a file knows of this board. The position may be another one: what was proved holds for all."""
    check_can_save(game)
    try:
        with zipfile.ZipFile(path) as packed:
            if any(part.compress_type != zipfile.ZIP_STORED for part in packed.infolist()):
                raise ValueError("it is compressed, and may be of any size")
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
    room = new_table(bits)
    room[:] = table
    del table
    return Solving(game, state, solver=Solver(**game.options, table=room))
