"""Grade a whole game: the win probability of every position, the loss of every move, the accuracy of every seat.

Plies are graded from the last to the first (``move_review.py`` says why); results can be read meanwhile.
"""

import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ludodrome.analysis.move_review import MoveReview, check_can_review, reviewer_of
from ludodrome.analysis.win_probability import LEAST_LOSS, MISTAKE, Value, accuracy, grade, win_probability
from ludodrome.game import Game

NODES = 200_000
"""Limit for the best move of a position, and again for the move played."""
LATE_NODES = 2_000
"""Limit once the time is up."""


@dataclass(frozen=True, slots=True)
class GradedMove:
    """A move with its loss and its grade."""

    ply: int
    seat: int
    review: MoveReview
    win_probability: float
    """Of the position before the move, for the seat that moved: 0 is lost, 1 is won."""
    loss: float
    """The win probability that the move lost."""
    points: float | None
    """The points that it lost, in games of points."""
    grade: str | None
    """None: the move was forced, or not the seat's own choice."""


class GameReview:
    """Grades the moves of a game. ``states``: the positions, one more than ``moves``.

    ``own``: whether each move was the seat's own choice; others get no grade. ``seconds``: time limit for the whole
    game; plies after it get ``LATE_NODES``. Raises ValueError if the numbers of positions and moves do not match,
    or if the game has no evaluator.
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
        check_can_review(game)
        self.game, self.nodes, self.seconds = game, nodes, seconds
        self._states, self._moves = states, moves
        self._own = own if own is not None else [True] * len(moves)
        self._even = self._even_margin()
        self.plies: dict[int, GradedMove] = {}
        """The moves graded so far, by ply. Another thread may add to it, so readers iterate over a copy."""

    @property
    def total(self) -> int:
        """The number of plies."""
        return len(self._moves)

    @property
    def done(self) -> bool:
        """Whether all plies are graded."""
        return len(self.plies) == self.total

    def work(self, now: Callable[[], float] = clock.monotonic) -> Iterator[GradedMove]:
        """Grade the plies, the last one first, and yield each."""
        begin = now()
        reviewer = reviewer_of(self.game) if self._moves else None
        after, mover = self._ending(), None
        for ply in reversed(range(self.total)):
            assert reviewer is not None
            late = self.seconds is not None and now() - begin > self.seconds
            state, move = self._states[ply], self._moves[ply]
            seat = self.game.to_move(state)
            assert seat is not None
            known = self._seen_by(seat, mover, after)
            found = reviewer.review(state, move, known, min(self.nodes, LATE_NODES) if late else self.nodes)
            self.plies[ply] = graded = self._graded(ply, seat, found)
            after, mover = found.best, seat
            yield graded

    def _ending(self) -> Value | None:
        """The value of the end for seat 0; None if the game did not end."""
        ending = self.game.outcome(self._states[-1])
        if ending is None or self.game.seats != 2:
            return None
        if self.game.point_unit is not None:
            return Value(ending.scores[0] - ending.scores[1], proven=True)
        return Value(ending.returns[0], 0 if ending.winner is not None else None, proven=True)

    def _even_margin(self) -> float:
        """The margin of an even game of points: with more than two seats, a seat's margin is over all others together.

        The last position says how many points there are.
        """
        if self.game.point_unit is None or self.game.seats == 2:
            return 0.0
        points = sum(self.game.scores_of(None, self.game.encode_array(self._states[-1])))
        return points * (2 / self.game.seats - 1)

    def _win_probability(self, value: Value) -> float:
        return win_probability(self.game, replace(value, score=value.score - self._even))

    def _seen_by(self, seat: int, mover: int | None, after: Value | None) -> Value | None:
        """The value of the position after a move for the seat that moved; ``after`` is the value for ``mover``."""
        if after is None or self.game.seats != 2:
            return None
        return after.earlier() if (mover or 0) == seat else after.negated(1)

    def _graded(self, ply: int, seat: int, found: MoveReview) -> GradedMove:
        game = self.game
        before = self._win_probability(found.best)
        loss = max(0.0, before - self._win_probability(found.played))
        points = max(0.0, found.best.score - found.played.score) if game.point_unit is not None else None
        counts = self._own[ply] and not self._forced(ply)
        return GradedMove(ply, seat, found, before, loss, points, grade(loss) if counts else None)

    def _forced(self, ply: int) -> bool:
        if self.game.actions_a_turn > 1:
            return False
        return len(self.game.legal_moves(self._states[ply])) == 1

    def accuracy(self, seat: int) -> float | None:
        """The mean accuracy of a seat's graded moves in per cent; None without moves."""
        return accuracy(one.loss for one in list(self.plies.values()) if one.seat == seat and one.grade is not None)

    def turning_points(self) -> list[int]:
        """The plies of mistakes and blunders."""
        return sorted(
            ply for ply, one in list(self.plies.items()) if one.grade is not None and one.loss >= LEAST_LOSS[MISTAKE]
        )
