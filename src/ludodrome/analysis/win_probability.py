"""From scores to worths: what a position is worth to a seat between 0 (lost) and 1 (won), grades of moves, accuracy.

docs/explanation/grading.md tells where the numbers come from. What a score is, the search and the solvers say
(``appraisers.py``).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ludodrome.game import Game

STEEPNESS = {"skysummit": 0.83, "santorini": 0.8, "caldera": 1.36}
"""A score of s is worth 1 / (1 + exp(-steepness s)), fitted to games of bots (``benchmarks/steepness.py``)."""
USUAL_STEEPNESS = 0.8
USUAL_SIDE = 5
"""Of a board on which points are won, where the options do not tell."""
STEEPEST = 500.0
"""Beyond this nothing changes any more."""
BEST, GOOD, INACCURACY, MISTAKE, BLUNDER = GRADES = ("best", "good", "inaccuracy", "mistake", "blunder")
LEAST_LOSS = {INACCURACY: 0.06, MISTAKE: 0.12, BLUNDER: 0.25}
"""A move that loses so much of its worth, or more, has this grade."""
STRICTNESS = 4.5
"""A move that loses the share d of its worth has the accuracy 100 exp(-strictness d)."""
NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Value:
    """What a position, or a move, is worth to a seat."""

    score: float
    """In games of points the final margin; elsewhere in the units of the search."""
    distance: int | None = None
    """The plies to a decided end; the sign of the score says whose."""
    proven: bool = False

    def turned(self, plies: int = 0) -> "Value":
        """The same for the other of two seats, seen from so many plies earlier."""
        return Value(-self.score, None if self.distance is None else self.distance + plies, self.proven)

    def earlier(self) -> "Value":
        """The same for the same seat, one ply earlier."""
        return Value(self.score, None if self.distance is None else self.distance + 1, self.proven)


def win_probability(game: Game, value: Value) -> float:
    """Between 0 and 1."""
    unit = point_unit(game)
    if unit is not None:
        return 0.5 + 0.5 * math.tanh(value.score / unit)
    if value.distance is not None:
        return 1.0 if value.score > 0 else 0.0
    if value.proven:
        return 0.5
    steep = STEEPNESS.get(game.id, USUAL_STEEPNESS) * value.score
    return 1 / (1 + math.exp(-max(-STEEPEST, min(STEEPEST, steep))))


def point_unit(game: Game) -> float | None:
    """The margin that is worth 0.88, where points count: the side of the board; None where games are just won."""
    if game.id == "spaces":
        return float(game.options["size"])
    if game.evaluator is not None and game.evaluator.by_points:
        return math.sqrt(game.options.get("rows", USUAL_SIDE) * game.options.get("cols", USUAL_SIDE))
    return None


def why_not_searchable(game: Game) -> str:
    """Why a game without an insight is not searched move by move, as a part of a sentence."""
    if game.id == "spaces":
        return "ludodrome.spaces.respond finds the best answer"
    return "its room has no insight, which would say what a position is worth"


def grade(loss: float) -> str:
    """The grade of a move that loses so much of its worth."""
    if loss <= NOTHING:
        return BEST
    return next((name for name, least in reversed(LEAST_LOSS.items()) if loss >= least - NOTHING), GOOD)


def accuracy(losses: Iterable[float]) -> float | None:
    """The mean accuracy of moves in per cent; None if there are none."""
    each = [100 * math.exp(-STRICTNESS * loss) for loss in losses]
    return sum(each) / len(each) if each else None
