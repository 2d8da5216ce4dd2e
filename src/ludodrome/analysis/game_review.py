"""A whole game graded: what every position was worth, what every move gave away, how well each seat played.

It goes from the end to the beginning (``appraisers.py`` says why) and can be looked at meanwhile. Where the positions
come from does not matter here; records are read in ``arena/records``.
"""

import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ludodrome.analysis.move_review import MoveReview, reviewer_of
from ludodrome.analysis.win_probability import LEAST_LOSS, MISTAKE, Value, accuracy, grade, point_unit, win_probability
from ludodrome.game import Game

NODES = 200_000
"""For the best move of a position, and as many for the one that was made."""
LEAST_NODES = 2_000
"""When the time is up the rest is graded with so many."""


@dataclass(frozen=True, slots=True)
class GradedMove:
    """One move, with what it was worth beside the best."""

    ply: int
    seat: int
    review: MoveReview
    win_probability: float
    """Of the position before the move, to the seat that moved: 0 is lost, 1 is won."""
    loss: float
    """How much of that the move gave away."""
    points: float | None
    """In games of points how many it gave away."""
    grade: str | None
    """None: it was forced, or not the seat's own."""


class GameReview:
    """The moves of a game, being graded. ``states`` are the positions, one more than ``moves``.

    ``own``: whether each move was the choice of its seat; others are not graded. ``seconds`` bounds the whole: what
    is graded later is graded with little work.
    """

    def __init__(
        self,
        game: Game,
        states: Sequence[Any],
        moves: Sequence[Any],
        own: Sequence[bool] | None = None,
        nodes: int = NODES,
        seconds: float | None = None,
    ) -> None:
        if len(states) != len(moves) + 1:
            raise ValueError(f"{len(moves)} moves have {len(moves) + 1} positions, not {len(states)}")
        self.game, self.nodes, self.seconds = game, nodes, seconds
        self._states, self._moves = states, moves
        self._own = own if own is not None else [True] * len(moves)
        self.plies: dict[int, GradedMove] = {}
        """What is graded so far, by ply."""

    @property
    def total(self) -> int:
        """How many plies there are."""
        return len(self._moves)

    @property
    def done(self) -> bool:
        """Whether all are graded."""
        return len(self.plies) == self.total

    def work(self, now: Callable[[], float] = clock.monotonic) -> Iterator[GradedMove]:
        """Grades the plies, the last first."""
        begin = now()
        judge = reviewer_of(self.game) if self._moves else None
        after, mover = self._ending(), None
        for ply in reversed(range(self.total)):
            assert judge is not None
            late = self.seconds is not None and now() - begin > self.seconds
            state, move = self._states[ply], self._moves[ply]
            seat = self.game.to_move(state)
            assert seat is not None
            known = self._seen_by(seat, mover, after)
            found = judge.review(state, move, known, min(self.nodes, LEAST_NODES) if late else self.nodes)
            self.plies[ply] = graded = self._graded(ply, seat, found)
            after, mover = found.best, seat
            yield graded

    def _ending(self) -> Value | None:
        """What the end is worth to seat 0, if the game was played to its end."""
        ending = self.game.outcome(self._states[-1])
        if ending is None or self.game.seats != 2:
            return None
        if point_unit(self.game) is not None:
            return Value(ending.scores[0] - ending.scores[1], proven=True)
        return Value(ending.returns[0], 0 if ending.winner is not None else None, proven=True)

    def _seen_by(self, seat: int, mover: int | None, after: Value | None) -> Value | None:
        """What the position after a move is worth to the seat that made it; ``mover``: to whom ``after`` is known."""
        if after is None or self.game.seats != 2:
            return None
        return after.earlier() if (mover or 0) == seat else after.negated(1)

    def _graded(self, ply: int, seat: int, found: MoveReview) -> GradedMove:
        game = self.game
        before = win_probability(game, found.best)
        loss = max(0.0, before - win_probability(game, found.played))
        points = max(0.0, found.best.score - found.played.score) if point_unit(game) is not None else None
        counts = self._own[ply] and not self._forced(ply)
        return GradedMove(ply, seat, found, before, loss, points, grade(loss) if counts else None)

    def _forced(self, ply: int) -> bool:
        if self.game.actions_a_turn > 1:
            return False
        return len(self.game.legal_moves(self._states[ply])) == 1

    # What it comes to

    def accuracy(self, seat: int) -> float | None:
        """Of a seat's graded moves, in per cent; None if there are none."""
        return accuracy(one.loss for one in self.plies.values() if one.seat == seat and one.grade is not None)

    def turning_points(self) -> list[int]:
        """The plies of mistakes and blunders."""
        return sorted(
            ply for ply, one in self.plies.items() if one.grade is not None and one.loss >= LEAST_LOSS[MISTAKE]
        )
