"""Exact numbers of legal boards (R17), by dynamic programming over their completions.

Both rule sets are computed from the goal down, row by row. A piece never returns to a row (R9),
and within a row it keeps its direction (R8).

Counts are *series*: long integers with one field of bits for each number of traps, of steps, or
both. One more trap is a shift by one field, so the same code counts by traps and by length.
"""

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import TypeAlias

from ludodrome import validation
from ludodrome.games.spaces.boards import PLACES, checked_size, is_live
from ludodrome.games.spaces.rules import longest

Series: TypeAlias = int


@dataclass(frozen=True, slots=True)
class SeriesLayout:
    """The layout of a series: ``bits`` per count, the shift for a trap and for a step, and a mask."""

    bits: int
    trap: int
    step: int
    keep: int
    """A mask; under ``live`` it drops counts with too many traps (R14)."""

    def coefficient(self, series: Series, shift: int) -> int:
        """The count at a shift."""
        return series >> shift & ((1 << self.bits) - 1)


# live
#
# At most one trap is set from each square (R15): up, here, left, right or none. Own traps block the
# piece (R16), but of those set from the row below only the nearest matters, on the side from which
# the piece came. A walk to the left mirrors a walk to the right, so only walks to the right are
# computed.
#
# R14 limits the traps: field t of a series counts the completions with at most t more traps.


WAYS = (
    *(("", "up"), ("here", "up"), ("left", "up"), ("right", "up")),
    *(("", "right"), ("here", "right"), ("up", "right"), ("left", "right")),
)
"""Choices of a piece that has moved right onto a square: a trap or none, and a piece step."""
ENTRIES = (
    *(("", "up"), ("here", "up")),
    *(("right", "up"), ("", "right"), ("here", "right"), ("up", "right"), ("left", "right")),
    *(("left", "up"), ("", "left"), ("here", "left"), ("up", "left"), ("right", "left")),
)
"""The same for a piece that has just entered its row."""


def live_bits(size: int) -> int:
    """Enough bits for any count: a start and a step up in each row, and traps of four kinds on the path."""
    ways: int = size**size * size * comb(size * size, size - 1) * 4 ** (size - 1)
    return ways.bit_length()


def live_fields(size: int, by_length: bool = False) -> SeriesLayout:
    """The layout by traps, and optionally by steps; a board has at most size * size + 1 steps."""
    bits = live_bits(size)
    block = bits * (size + 1)
    row = (1 << bits * size) - 1
    if not by_length:
        return SeriesLayout(bits, bits, 0, row)
    return SeriesLayout(bits, bits, block, sum(row << block * length for length in range(size * size + 2)))


class LiveRow:
    """The completions from one row, given those from the row above.

    ``above[col][distance]`` is the series of a piece that has just moved up there, with the nearest trap at this
    distance to its left; distance 0: no trap. ``top``: the row above is row 0, where traps are not allowed (R13).
    """

    def __init__(self, size: int, fields: SeriesLayout, above: list[list[Series]], top: bool) -> None:
        self.size, self.fields, self.above, self.top = size, fields, above, top
        self.walks: dict[tuple[int, int, int, bool], Series] = {}
        for last in range(size):
            for col in range(last, 0, -1):
                for distance in range(col + 1):
                    for behind in (False, True):
                        self.walks[col, last, distance, behind] = self._walk(col, last, distance, behind)

    def step(self, series: Series) -> Series:
        """Add a step."""
        return series << self.fields.step & self.fields.keep

    def trap(self, series: Series) -> Series:
        """Add a trap, which is also a step."""
        return series << self.fields.trap + self.fields.step & self.fields.keep

    def up(self, col: int, distance: int) -> Series:
        """A step up from a column, with the nearest trap up there at this distance to the left."""
        return self.step(self.above[col][distance])

    def _walk(self, col: int, last: int, distance: int, behind: bool) -> Series:
        """A piece that has just moved right into a column."""
        return sum(self.ways(col, last, distance, behind))

    def ways(self, col: int, last: int, distance: int, behind: bool) -> list[Series]:
        """The completions of each of WAYS for such a piece.

        ``last``: the last open column of the row; ``distance`` as in ``above``; ``behind``: the square to the left
        holds a trap.
        """
        up = self.up(col, distance)
        trapped = self.trap(up)
        found = [up, trapped, 0 if behind else trapped]
        if col == last:
            return [*found, *[0] * 5]
        onward = self._onward(col, last, distance)
        return [*found, trapped, *onward, 0 if behind else self.trap(onward[0])]

    def _onward(self, col: int, last: int, distance: int) -> list[Series]:
        """A step to the right, after no trap, a trap on the own square, or a trap above."""
        farther = distance + 1 if distance else 0
        return [
            self.step(self.walks[col + 1, last, farther, False]),
            self.trap(self.step(self.walks[col + 1, last, farther, True])),
            0 if self.top else self.trap(self.step(self.walks[col + 1, last, 1, False])),
        ]

    def entries(self, col: int, first: int, last: int) -> list[Series]:
        """The completions of each of ENTRIES for a piece that has just entered this row.

        The columns from first to last are open.
        """
        up = self.up(col, 0)
        trapped = self.trap(up)
        found = [up, trapped]
        end = self.size - 1
        for there, stop, other_open in ((col, last, first < col), (end - col, end - first, col < last)):
            if there == stop:
                found += [0] * 5
                continue
            onward = self._onward(there, stop, 0)
            found += [trapped, *onward, self.trap(onward[0]) if other_open else 0]
        return found

    def arrivals(self) -> list[list[Series]]:
        """The completions from this row, as ``above`` for the row below."""
        return [
            [
                sum(self.entries(col, col - distance + 1 if distance else 0, self.size - 1))
                for distance in range(col + 1)
            ]
            for col in range(self.size)
        ]


def live_arrivals(size: int, fields: SeriesLayout) -> list[list[list[Series]]]:
    """For each row, from row 0 on, the completions of a piece that has just entered it."""
    finish = sum(1 << fields.trap * traps for traps in range(size)) << fields.step  # at most this many are left
    rows = [[[finish] * (col + 1) for col in range(size)]]
    for row in range(1, size):
        rows.append(LiveRow(size, fields, rows[-1], top=row == 1).arrivals())
    return rows


# written
#
# Own traps only block further traps (R10), so traps on three rows matter: the row above the piece,
# its own, the one below. A set of traps is a number with ``size`` bits for each of these rows, in
# this order from the lowest bit. A list of counts has one entry per set.


def written_fields(size: int, by: str = "") -> SeriesLayout:
    """The layout by traps or by length (``"traps"``, ``"length"``), or for a single count."""
    bits = 6 * size * size  # ample: size 4 has 50 bits, size 5 has 85
    return SeriesLayout(bits, bits if by in ("traps", "length") else 0, bits if by == "length" else 0, -1)


class WrittenRow:
    """The completions from one row, given those of a piece that has just entered the row above, by column and set."""

    def __init__(self, size: int, fields: SeriesLayout, above: list[list[Series]], bottom: bool) -> None:
        self.size, self.bottom = size, bottom
        self.sets = 1 << 3 * size
        self._trap = fields.trap
        rising = [
            [above[col][traps << size & self.sets - 1] << fields.step for traps in range(self.sets)]
            for col in range(size)
        ]
        self.moves: dict[tuple[int, str], list[list[Series]]] = {}
        """For a piece that has come up, or moves to a side: its piece steps up, left and right."""
        self.free: dict[tuple[int, str], list[Series]] = {}
        """The same if it may set traps first."""
        nothing = [0] * self.sets
        for side, columns in (("left", range(size)), ("right", range(size - 1, -1, -1))):
            onward = nothing
            for col in columns:
                lists = [rising[col], onward, nothing] if side == "left" else [rising[col], nothing, onward]
                self.moves[col, side] = lists
                self.free[col, side] = self._with_traps(col, lists)
                onward = [ways << fields.step for ways in self.free[col, side]]
        for col in range(size):
            left = self.free[col - 1, "left"] if col else nothing
            right = self.free[col + 1, "right"] if col < size - 1 else nothing
            lists = [rising[col], *([ways << fields.step for ways in one] for one in (left, right))]
            self.moves[col, "up"] = lists
            self.free[col, "up"] = self._with_traps(col, lists)

    def around(self, col: int) -> list[tuple[int, int]]:
        """The trap places other than the own square, and the bits of their squares."""
        return [
            (place, 1 << (down + 1) * self.size + col + right)
            for place, (down, right) in enumerate(PLACES)
            if (down, right) != (0, 0) and 0 <= col + right < self.size and not (self.bottom and down == 1)
        ]

    def here(self, col: int) -> int:
        """The bit of the piece's own square."""
        return 1 << self.size + col

    def _with_traps(self, col: int, moves: list[list[Series]]) -> list[Series]:
        """Set traps around in any order, then perhaps one on the own square (R10, R11)."""
        going = [up + left + right for up, left, right in zip(*moves, strict=True)]
        here, trap = self.here(col), self._trap
        bits = [bit for _, bit in self.around(col)]
        free = [0] * self.sets
        for traps in range(self.sets - 1, -1, -1):
            ways = going[traps] + (0 if traps & here else going[traps | here] << trap)
            for bit in bits:
                if not traps & bit:
                    ways += free[traps | bit] << trap
            free[traps] = ways
        return free


def written_rows(size: int, fields: SeriesLayout) -> list[WrittenRow]:
    """The rows from row 1 on; row 0 leaves no choice (R12)."""
    above = [[1 << fields.step] * (1 << 3 * size)] * size
    rows = []
    for row in range(1, size):
        rows.append(WrittenRow(size, fields, above, bottom=row == size - 1))
        above = [rows[-1].free[col, "up"] for col in range(size)]
    return rows


# The number of legal boards (R17), in total and by start, traps or length


MAX_QUICK_COUNT = {"live": 10, "written": 4}
"""Up to these sizes counting takes about a second or less."""
MAX_COUNT = {"live": 40, "written": 5}
"""Larger sizes would take hours, or more memory than there is."""
MAX_COUNT_BY_LENGTH = {"live": 14, "written": 5}
KINDS = ("start", "traps", "length")


def quick_count(size: int, rules: str) -> int | None:
    """The number of legal boards if it is quick to compute, else None."""
    return count_boards(size, rules) if size <= MAX_QUICK_COUNT[rules] else None


@cache
def count_boards(size: int, rules: str = "written") -> int:
    """The number of legal boards; ValueError names the largest size that can be counted.

    >>> from ludodrome import spaces
    >>> spaces.count_boards(3, "live"), spaces.count_boards(4)
    (796, 968799595254970)
    """
    return sum(count_by(size, rules, "start").values())


def count_by(size: int, rules: str = "written", kind: str = "start") -> dict[int, int]:
    """The number of legal boards by start column, number of traps or number of steps; ValueError as above.

    >>> from ludodrome import spaces
    >>> spaces.count_by(3, "live", "traps")
    {0: 27, 1: 210, 2: 559}
    """
    checked_size(size)
    live = is_live(rules)
    validation.choice(kind, KINDS, "what boards are counted by", ValueError)
    most = (MAX_COUNT_BY_LENGTH if kind == "length" else MAX_COUNT)[rules]
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
    # the start, and the steps counted after it
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


def _spread(series: int, fields: SeriesLayout, most: int, offset: int) -> dict[int, int]:
    """The counts of a series that are not 0."""
    counts = {number + offset: fields.coefficient(series, fields.bits * number) for number in range(most + 1)}
    return {number: count for number, count in counts.items() if count}
