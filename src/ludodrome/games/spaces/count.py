"""How many legal boards there are (R17), exactly, without making them: in all, and by what they have in common.

The work is done in ``completions.py``.
"""

from functools import cache

from ludodrome import validation
from ludodrome.games.spaces.boards import checked_size, is_live
from ludodrome.games.spaces.completions import (
    Fields,
    live_arrivals,
    live_fields,
    written_fields,
    written_rows,
)
from ludodrome.games.spaces.rules import longest

COUNTED = {"live": 10, "written": 4}
"""Counts of larger sizes take longer than a second or so, and are not made unasked."""
COUNTABLE = {"live": 40, "written": 5}
"""Counts of larger sizes would take hours, or more memory than there is."""
COUNTABLE_BY_LENGTH = {"live": 14, "written": 5}
KINDS = ("start", "traps", "length")


def known_count(size: int, rules: str) -> int | None:
    """The number of legal boards, where it is quickly had, else None."""
    return count_boards(size, rules) if size <= COUNTED[rules] else None


@cache
def count_boards(size: int, rules: str = "written") -> int:
    """The number of legal boards; ValueError says how far one can count."""
    return sum(count_by(size, rules, "start").values())


def count_by(size: int, rules: str = "written", kind: str = "start") -> dict[int, int]:
    """The number of legal boards by start column, by traps or by length, steps in all; ValueError as above."""
    checked_size(size)
    live = is_live(rules)
    validation.choice(kind, KINDS, "what boards are counted by", ValueError)
    most = (COUNTABLE_BY_LENGTH if kind == "length" else COUNTABLE)[rules]
    if size > most:
        by = f" by {kind}" if kind != "start" else ""
        raise ValueError(
            f"under {rules!r} the boards can be counted{by} up to size {most}; size {size} would take far too long"
        )
    return dict(_live_by(size, kind) if live else _written_by(size, kind))


@cache
def _live_by(size: int, kind: str) -> dict[int, int]:
    fields = live_fields(size, by_length=kind == "length")
    starts = [by_distance[0] for by_distance in live_arrivals(size, fields)[-1]]
    most = size - 1  # R14
    if kind == "start":
        return {col: fields.coefficient(series, fields.trap * most) for col, series in enumerate(starts)}
    total = sum(starts)
    if kind == "traps":
        up_to = [fields.coefficient(total, fields.trap * traps) for traps in range(size)]
        return {traps: count - (up_to[traps - 1] if traps else 0) for traps, count in enumerate(up_to)}
    # a start, and what is counted by steps after it
    counts = {
        steps + 1: fields.coefficient(total, fields.trap * most + fields.step * steps)
        for steps in range(size * size + 1)
    }
    return {length: count for length, count in counts.items() if count}


@cache
def _written_by(size: int, kind: str) -> dict[int, int]:
    fields = written_fields(size, kind)
    bottom = written_rows(size, fields)[-1]
    starts = [bottom.free[col, "up"][0] for col in range(size)]
    if kind == "start":
        return dict(enumerate(starts))
    return _spread(sum(starts), fields, longest(size), 0 if kind == "traps" else 1)


def _spread(series: int, fields: Fields, most: int, offset: int) -> dict[int, int]:
    """The counts of a series that are not 0."""
    counts = {number + offset: fields.coefficient(series, fields.bits * number) for number in range(most + 1)}
    return {number: count for number, count in counts.items() if count}
