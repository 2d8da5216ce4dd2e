"""Ratings of a tournament's bots, from its counted games. How they are estimated is in ``ratings.py``."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ludodrome.arena.statistics.ratings import rate

Counted = Counter[tuple[tuple[str, ...], tuple[float, ...]]]
"""How often a seating (names by seat) came to these returns."""


class Strength(NamedTuple):
    """A rating with its 95 % interval, in Elo points from the mean."""

    rating: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.rating:+.0f} ({self.low:+.0f} to {self.high:+.0f})"


class Strengths(NamedTuple):
    """The ratings of all who have played, by name, and what is to be said about them."""

    ratings: dict[str, Strength]
    notes: list[str]


def strengths(games: Sequence[Counted]) -> Strengths:
    """Ratings over several games together.

    Those with two seats count together, as if they were one game. Where there are some with two seats and some with
    three, those with three are left out.
    """
    fewest = min((len(names) for counted in games for names, _ in counted), default=0)
    together: Counted = Counter()
    for counted in games:
        together.update({game: times for game, times in counted.items() if len(game[0]) == fewest})
    if not together:
        return Strengths({}, [])
    found = rate(dict(sorted(together.items())))  # in one order, so that the same games give the same digits
    return Strengths({line.name: Strength(line.rating, line.low, line.high) for line in found.table}, found.notes)
