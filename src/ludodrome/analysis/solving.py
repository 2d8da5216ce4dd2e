"""Exact values of positions under perfect play, and files that keep what a long solve has proven."""

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ludodrome.analysis.lines import HUNDREDTHS, check_time, lead, notations
from ludodrome.game import Game
from ludodrome.game_extras import extra
from ludodrome.search.frames import MAX_DEPTH
from ludodrome.search.iterative import Searcher, SearchResult

TABLE_BITS = 22
PROOF_TABLE_BITS = 16
"""The table of ``proven_value``, which visits few positions."""
PULSE = 0.05
"""Seconds between two reports of a solver."""


def recommended_table_bits(game: Game, state: Any) -> int:
    """The table size for solving a position, log2 of entries: what the game recommends, or the default."""
    own = extra(game.analysis_module, "table_bits")
    return TABLE_BITS if own is None else int(own(game, state))


@dataclass(frozen=True, slots=True)
class Solution:
    """The value of a position, as far as it is known.

    >>> import ludodrome
    >>> solution = ludodrome.solve(ludodrome.make("dots", rows=1, cols=2))
    >>> solution.value, solution.proven, len(solution.line)
    (0, True, 7)
    """

    value: int | None
    """For the seat to move: in games of points the final margin, elsewhere 1, 0 or -1. None while it is unknown.

    If only the winner is asked for, 1, 0 or -1 in every game.
    """
    proven: bool
    distance: int | None
    """Plies to the end of a decided game: the winner plays the fastest win, the loser the slowest loss."""
    move: Any
    """A best move, or the best so far. If only the winner is asked for, None in a lost position."""
    line: list[str]
    """The best continuation, in notation."""


class SolverBackend(Protocol):
    """A method of solving positions in steps."""

    @property
    def nodes(self) -> int:
        """Positions visited."""

    @property
    def state(self) -> str:
        """Progress as a readable string."""

    @property
    def solution(self) -> Solution:
        """The solution so far."""

    def work(self) -> Iterator[None]:
        """Work until the position is solved or the method reaches its limit; yield regularly."""


class Solving:
    """A solve in progress: ``run`` works for a while and continues where it stopped when called again."""

    def __init__(
        self,
        game: Game,
        state: Any = None,
        *,
        table_bits: int = TABLE_BITS,
        saved: Any = None,
        who_wins: bool = False,
    ) -> None:
        """``table_bits``: log2 of the table's entries. ``saved``: what a game's ``load_solver`` read from a file.

        ``who_wins``: find only who wins, neither the margin nor the number of plies; that takes less time.
        Raises ValueError for games without an evaluator, with three seats, or if the game is over.
        """
        if game.evaluator is None:
            raise ValueError(f"{game.id} is not solved move by move: {game.why_not_searchable}")
        if game.seats != 2:
            raise ValueError(f"only games of two seats have one exact value; this {game.id} has {game.seats}")
        states = game.encode_array(game.initial_state() if state is None else state)
        game.check_running(states)
        self.game = game
        make_solver = extra(game.analysis_module, "make_solver")
        self.backend: SolverBackend
        if make_solver is not None:
            asked = {"who_wins": True} if who_wins else {}
            self.backend = make_solver(game, states, table_bits, saved, **asked)
        else:
            self.backend = DeepeningBackend(game, states, table_bits, who_wins)
        self._work = self.backend.work()
        self.seconds = 0.0
        self.done = False
        """Whether the work has ended: the position is solved, or the maximum depth is exhausted."""

    @property
    def nodes(self) -> int:
        """Positions visited."""
        return self.backend.nodes

    @property
    def state(self) -> str:
        """Progress as a readable string."""
        return self.backend.state

    @property
    def solution(self) -> Solution:
        """The solution so far."""
        return self.backend.solution

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
    """Games without a solver of their own: alpha-beta without reductions, with iterative deepening."""

    def __init__(self, game: Game, states: Any, table_bits: int, who_wins: bool = False) -> None:
        self._game, self._states, self._who_wins = game, states, who_wins
        self._searcher = Searcher(game, table_bits, reductions=False, shortest=not who_wins)
        self._searcher.warm_up()
        self._result: SearchResult | None = None
        self._finished_nodes = 0

    @property
    def nodes(self) -> int:
        """Positions visited, at all depths together."""
        return self._finished_nodes + self._searcher.nodes

    @property
    def state(self) -> str:
        """The last complete depth."""
        return f"depth {self._result.depth if self._result else 0}"

    def work(self) -> Iterator[None]:
        """Deepen until the value is proven (win, loss or draw) and the depth reaches its distance, or up to MAX_DEPTH.

        The proven distance is then the shortest win or the longest loss. If only the winner is asked for, any proof
        ends the work.
        """
        for depth in range(1, MAX_DEPTH + 1):
            for result in self._searcher.search(self._states, depth, first=depth, pulse=PULSE):
                if result.depth == depth:
                    self._result = result
                yield
            self._finished_nodes += self._searcher.nodes
            self._searcher.reset_nodes()
            if self._result and self._result.proven and (self._who_wins or (self._result.distance or 0) <= depth):
                return

    @property
    def solution(self) -> Solution:
        """The result of the last complete depth."""
        result = self._result
        if result is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([result.action], self._states[0])[0]
        line = notations(self._game, self._states, result.line)
        if self._who_wins:
            value = self._value(result)
            winner = None if value is None else (value > 0) - (value < 0)
            return Solution(winner, result.proven, None, None if winner == -1 else move, line if winner != -1 else [])
        return Solution(self._value(result), result.proven, result.distance, move, line)

    def _value(self, result: SearchResult) -> int | None:
        """The final margin in games of points, elsewhere 1, 0 or -1; None while it is unknown."""
        if not result.proven:
            return None
        if self._game.evaluator is not None and self._game.evaluator.by_points:
            return round(result.score / HUNDREDTHS) + lead(self._game, self._states)
        return (result.score > 0) - (result.score < 0)


def solve(
    game: Game,
    state: Any = None,
    time: float | None = None,
    progress: Callable[[Solving], None] | None = None,
    *,
    who_wins: bool = False,
) -> Solution:
    """Solve a position (default: the initial one). After ``time`` seconds the solution may be unproven.

    ``who_wins``: find only who wins, not the margin of a game of points or the number of plies to the end.
    ``progress`` is called about every ``PULSE`` seconds with the solve in progress. The table has 2**TABLE_BITS
    entries; for a larger one pass ``recommended_table_bits`` to ``Solving``. Raises ValueError as ``Solving`` does.

    >>> import ludodrome
    >>> solution = solve(ludodrome.make("dots", rows=2, cols=2))
    >>> solution.value, solution.proven
    (2, True)
    >>> solve(ludodrome.make("dots", rows=2, cols=2), who_wins=True).value
    1
    """
    limit = check_time(time)
    solving = Solving(game, state, who_wins=who_wins)
    while not solving.run(PULSE) and (limit is None or solving.seconds < limit):
        if progress:
            progress(solving)
    return solving.solution


def proven_value(game: Game, states: Any, nodes: int) -> int | None:
    """The value of states[0], a running game of two seats, for the seat to move; None if ``nodes`` do not prove it.

    In games of points it is the final margin, elsewhere 1, 0 or -1. It depends on the arguments alone: nothing is
    kept between two calls, and nothing is timed.
    """
    own = extra(game.analysis_module, "proven_value")
    if own is not None:
        value: int | None = own(game, states, nodes)
        return value
    searcher = Searcher(game, PROOF_TABLE_BITS, reductions=False)
    *_, result = searcher.search(states, nodes=nodes)
    if not result.proven:
        return None
    if game.evaluator is not None and game.evaluator.by_points:
        return round(result.score / HUNDREDTHS) + lead(game, states)
    return (result.score > 0) - (result.score < 0)


# Checkpoints, for games whose positions can take hours. A game's analysis module defines ``load_solver`` and its
# solver has ``save``. A loaded solver restarts its search with the saved table of proven positions.


def check_can_save(game: Game) -> None:
    """Raise ValueError if a game has no checkpoints."""
    if extra(game.analysis_module, "load_solver") is None:
        raise ValueError(f"the solving of {game.id} cannot be kept in a file")


def save_solving(solving: Solving, path: Path) -> None:
    """Write a checkpoint. Raises ValueError for games without them, OSError if it cannot be written."""
    check_can_save(solving.game)
    backend: Any = solving.backend
    backend.save(path)


def load_solving(
    game: Game, state: Any, path: Path, table_bits: int | None = None, *, who_wins: bool = False
) -> Solving:
    """Continue from a checkpoint of this game, also with another position: the table holds for all of them.

    ``table_bits``: the expected size of the table, None for any. Raises ValueError if the file does not fit.
    """
    check_can_save(game)
    saved = extra(game.analysis_module, "load_solver")(game, path, table_bits)
    return Solving(game, state, saved=saved, who_wins=who_wins)
