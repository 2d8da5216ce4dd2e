"""Ratings of a tournament's bots, from its counted games. How they are estimated is in ``ratings.py``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Counted = Counter[tuple[tuple[str, ...], tuple[float, ...]]]
"""How often a seating (names by seat) came to these returns."""


@dataclass(frozen=True, slots=True)
class Strength:
    """A rating with its 95 % interval, in Elo points from the mean of all."""

    rating: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.rating:+.0f} ± {(self.high - self.low) / 2:.0f}"


def strengths(names: Sequence[str], games: Sequence[Counted]) -> dict[str, Strength]:
    """The ratings of all who have played."""
    return {}
