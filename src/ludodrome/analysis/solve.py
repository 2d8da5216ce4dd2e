"""Exact values: what a position is worth if nobody errs."""

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ludodrome.analysis.analyse import HUNDREDTHS, checked_time, lead, notations
from ludodrome.game import Game
from ludodrome.search.alphabeta import MOST_DEPTH
from ludodrome.search.thinking import Finding, Thinker

TABLE_BITS = 22
PULSE = 0.05
"""A solver rests after about so many seconds, to look at the clock and to report."""


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


class Solving:
    """A solution in the making: ``run`` works for a while, and goes on where it stopped when it is called again."""

    def __init__(self, game: Game, state: Any = None) -> None:
        if game.insight is None:
            raise ValueError(f"{game.id} is not solved move by move; ludodrome.spaces.respond finds the best answer")
        if game.seats != 2:
            raise ValueError(f"only games of two seats have one exact value; this {game.id} has {game.seats}")
        self.game = game
        self._states = game._states(game.initial_state() if state is None else state)
        game._check_running(self._states)
        self._thinker = Thinker(game, TABLE_BITS, reductions=False, shortest=not game.insight.by_points)
        self._thinker.warm_up()
        self._finding: Finding | None = None
        self._work = self._deepening()
        self._earlier = 0
        self.seconds = 0.0
        self.done = False
        """Whether there is nothing left to find out."""

    @property
    def depth(self) -> int:
        """How deep the search has looked."""
        return self._finding.depth if self._finding else 0

    @property
    def nodes(self) -> int:
        """How many positions have been visited."""
        return self._earlier + self._thinker.nodes

    def _deepening(self) -> Iterator[None]:
        """One depth after another. A win alone is not enough: the depth must reach it, so that it is the shortest."""
        for depth in range(1, MOST_DEPTH + 1):
            for finding in self._thinker.search(self._states, depth, first=depth, pulse=PULSE):
                if finding.depth == depth:
                    self._finding = finding
                yield
            self._earlier += self._thinker.nodes
            if self._finding and self._finding.proven and (self._finding.distance or 0) <= depth:
                return

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

    @property
    def solution(self) -> Solution:
        """What is known so far."""
        finding = self._finding
        if finding is None:
            return Solution(None, False, None, None, [])
        move = self.game.codec.format_moves([finding.action], self._states[0])[0]
        line = notations(self.game, self._states, finding.line)
        value = self._value(finding) if finding.proven else None
        return Solution(value, finding.proven, finding.distance, move, line)

    def _value(self, finding: Finding) -> int:
        if self.game.insight is not None and self.game.insight.by_points:
            return finding.score // HUNDREDTHS + lead(self.game, self._states)
        return (finding.score > 0) - (finding.score < 0)


def solve(
    game: Game, state: Any = None, time: float | None = None, progress: Callable[[Solving], None] | None = None
) -> Solution:
    """The exact value of a position (the initial one if none is given), or what was found in so many seconds.

    ``progress`` is shown the work now and then.
    """
    limit = checked_time(time)
    solving = Solving(game, state)
    while not solving.run(PULSE) and (limit is None or solving.seconds < limit):
        if progress:
            progress(solving)
    return solving.solution
