"""From scores to win probabilities between 0 (lost) and 1 (won), grades of moves, and accuracy.

docs/explanation/grading.md explains the constants. Scores come from searches and solvers (``move_review.py``).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ludodrome.game import Game

MAX_EXPONENT = 500.0
"""Larger exponents make no difference, and would overflow."""
BEST, GOOD, INACCURACY, MISTAKE, BLUNDER = GRADES = ("best", "good", "inaccuracy", "mistake", "blunder")
LEAST_LOSS = {INACCURACY: 0.06, MISTAKE: 0.12, BLUNDER: 0.25}
"""Grade -> its minimum loss of win probability."""
STRICTNESS = 4.5
"""A move that loses d of win probability has the accuracy 100 exp(-strictness * d)."""
NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a position or a move for a seat."""

    score: float
    """In games of points the final margin; elsewhere in the units of the search."""
    distance: int | None = None
    """Plies to a decided end; the sign of the score says who wins."""
    proven: bool = False

    def negated(self, plies: int = 0) -> "Value":
        """The value for the other of two seats, ``plies`` earlier."""
        return Value(-self.score, None if self.distance is None else self.distance + plies, self.proven)

    def earlier(self) -> "Value":
        """The value for the same seat, one ply earlier."""
        return Value(self.score, None if self.distance is None else self.distance + 1, self.proven)


def win_probability(game: Game, value: Value) -> float:
    """The probability of winning, from 0 to 1; in games of points a smooth step of the margin.

    >>> import ludodrome
    >>> round(win_probability(ludodrome.make("skysummit"), Value(1.0)), 2)
    0.64
    """
    unit = game.point_unit
    if unit is not None:
        return 0.5 + 0.5 * math.tanh(value.score / unit)
    if value.distance is not None:
        return 1.0 if value.score > 0 else 0.0
    if value.proven:
        return 0.5
    exponent = game.win_steepness * value.score
    return 1 / (1 + math.exp(-max(-MAX_EXPONENT, min(MAX_EXPONENT, exponent))))


def grade(loss: float) -> str:
    """The grade of a move that loses this much win probability."""
    if loss <= NOTHING:
        return BEST
    return next((name for name, least in reversed(LEAST_LOSS.items()) if loss >= least - NOTHING), GOOD)


def accuracy(losses: Iterable[float]) -> float | None:
    """The mean accuracy of moves in per cent; None without moves."""
    each = [100 * math.exp(-STRICTNESS * loss) for loss in losses]
    return sum(each) / len(each) if each else None
