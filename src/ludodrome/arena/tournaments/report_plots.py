"""Plots as HTML and SVG texts: they stand in the page itself, take their colours from it, and need nothing else.

Places across are in per cent, so that a plot fits any width and its words and dots keep their size. Every shape that
means a number says it in a title, so that it can be read without seeing its place or its colour.
"""

import math
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ludodrome.arena.tournaments.strengths import Strength

ROW = 28
"""Height of a line, in pixels."""
TALL = 140
"""Height of a histogram."""
BARS = 40
"""At most so many bars in a histogram."""


class Scale(NamedTuple):
    """From where to where a plot goes."""

    low: float
    high: float

    def across(self, value: float) -> str:
        """Where a value stands, in per cent."""
        return f"{4 + 92 * (value - self.low) / max(self.high - self.low, 1e-9):.2f}%"


def scale(ratings: Sequence[Strength]) -> Scale:
    """What holds all of them with their intervals."""
    return Scale(min((one.low for one in ratings), default=0.0), max((one.high for one in ratings), default=0.0))


def steps(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers between two others, about so many."""
    rough = max(high - low, 1e-9) / wanted
    size = 10 ** math.floor(math.log10(rough))
    step = next((size * times for times in (1, 2, 5) if size * times >= rough), size * 10)
    return [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


def interval(one: Strength, on: Scale, marks: Sequence[float] = (0.0,)) -> str:
    """A rating as a dot on its interval, with lines where the marks are."""
    lines = "".join(_upright(on.across(mark), mark == 0) for mark in marks if on.low <= mark <= on.high)
    return (
        f'<svg class="interval" height="{ROW}" role="img" aria-label="{one}"><title>{one}</title>{lines}'
        f'<line class="reach" x1="{on.across(one.low)}" x2="{on.across(one.high)}" y1="50%" y2="50%"/>'
        f'<circle class="dot" cx="{on.across(one.rating)}" cy="50%" r="5"/></svg>'
    )


def _upright(place: str, zero: bool) -> str:
    return f'<line class="{"axis" if zero else "grid"}" x1="{place}" x2="{place}" y1="0" y2="100%"/>'


def rating_plot(ratings: Sequence[tuple[str, Strength]]) -> str:
    """Each bot's rating as a dot on its interval, under one another, with an axis below."""
    on = scale([one for _, one in ratings])
    marks = steps(on.low, on.high)
    rows = "".join(
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>{interval(one, on, marks)}'
        for name, one in ratings
    )
    words = "".join(
        f'<text x="{on.across(mark)}" y="16" text-anchor="middle">{f"{mark:+.0f}" if mark else "0"}</text>'
        for mark in marks
    )
    return f'<div class="rows">{rows}<span></span><svg height="24" aria-hidden="true">{words}</svg></div>'


def share_bars(counts: Sequence[tuple[str, int]]) -> str:
    """Counts as bars, each with its number."""
    total = max(sum(count for _, count in counts), 1)
    rows = "".join(
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>'
        f'<svg height="{ROW}" aria-hidden="true"><rect class="bar" y="6" width="{100 * count / total:.2f}%" '
        f'height="{ROW - 12}"/></svg><span class="number">{count:,} <small>{count / total:.1%}</small></span>'
        for name, count in counts
    )
    return f'<div class="rows three">{rows}</div>'


def length_plot(lengths: Counter[int]) -> str:
    """How long the games were: a bar for each number of turns, or for several together."""
    least, most = min(lengths), max(lengths)
    wide = math.ceil((most - least + 1) / BARS)
    bars: Counter[int] = Counter()
    for length, count in lengths.items():
        bars[(length - least) // wide] += count
    columns = (most - least) // wide + 1
    tallest, step = max(bars.values()), 100 / max(columns, 8)
    parts = []
    for bar, count in sorted(bars.items()):
        high = max(1.0, count / tallest * TALL)
        parts.append(
            f'<rect class="bar" x="{bar * step + step / 20:.2f}%" width="{step * 0.9:.2f}%" y="{TALL - high:.1f}" '
            f'height="{high:.1f}"><title>{_turns(least + bar * wide, wide, most)}: {count:,} games</title></rect>'
        )
    often = min(bars, key=lambda bar: (-bars[bar], bar))
    told = (
        f"from {least} to {most} turns, most often {_turns(least + often * wide, wide, most)} ({bars[often]:,} games)"
    )
    return (
        f'<svg height="{TALL + 1}" role="img" aria-label="{told}">{"".join(parts)}'
        f'<line class="axis" x1="0" x2="100%" y1="{TALL + 0.5}" y2="{TALL + 0.5}"/></svg><p class="muted">{told}</p>'
    )


def _turns(first: int, wide: int, most: int) -> str:
    last = min(first + wide - 1, most)
    return str(first) if first == last else f"{first} to {last}"
