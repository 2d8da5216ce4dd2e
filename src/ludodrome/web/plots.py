"""Small plots of pages, as numbers for SVG: ratings on an axis, sparklines."""

from collections.abc import Sequence
from typing import NamedTuple

from ludodrome.arena.ladder.beliefs import MIDDLE
from ludodrome.arena.tournaments.report_plots import steps
from ludodrome.web.positions import Json

EDGE = 3.0
"""Per cent that stay free at both ends of an axis."""
WIDE, TALL = 100.0, 24.0
"""The size of a sparkline."""


class Axis(NamedTuple):
    """From where to where a plot of ratings goes."""

    low: float
    high: float

    @staticmethod
    def around(lines: Sequence[Json]) -> "Axis":
        """One that holds all ratings with their intervals."""
        ratings = [line["rating"] for line in lines if line["rating"] is not None]
        low = min((one["low"] for one in ratings), default=MIDDLE - 100)
        high = max((one["high"] for one in ratings), default=MIDDLE + 100)
        return Axis(low, high)

    def across(self, value: float) -> str:
        """Where a rating stands, in per cent."""
        return f"{EDGE + (100 - 2 * EDGE) * (value - self.low) / max(self.high - self.low, 1e-9):.2f}%"

    @property
    def marks(self) -> list[int]:
        """Round numbers along it."""
        return [round(mark) for mark in steps(self.low, self.high, 3)]


def sparkline(values: Sequence[float]) -> str:
    """The points of a line through some values; empty if there are fewer than two."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    wide, tall = WIDE / (len(values) - 1), (TALL - 6) / max(high - low, 1e-9)
    if high == low:
        tall = 0.0
    return " ".join(f"{at * wide:.1f},{TALL - 3 - (value - low) * tall:.1f}" for at, value in enumerate(values))
