"""How many legal boards there are (R17), exactly, without making them.

Both counts go row by row, from the bottom up. A piece never comes back to a row (R9), and within
a row it goes on in the direction in which it set out (R8), so a row is one walk: in at a column,
along to the left or to the right or not at all, and up. Under ``live`` own traps close the way,
but only the nearest one on the row above can matter once the piece has come up there; under
``written`` they only close squares for further traps, and the traps of three rows matter.
"""

from collections import defaultdict
from functools import cache

from ludodrome.games.spaces.boards import PLACES

COUNTED = {"live": 10, "written": 4}
"""Counts of larger sizes take longer than a second or so, and are not made unasked."""


def known_count(size: int, rules: str) -> int | None:
    """The number of legal boards, where it is quickly had, else None."""
    return count_boards(size, rules) if size <= COUNTED[rules] else None


@cache
def count_boards(size: int, rules: str) -> int:
    """The number of legal boards, however long it takes to find it."""
    return _count_live(size) if rules == "live" else _count_written(size)


# live
#
# At most one trap is set on each square where the piece stands (R15): up, here, left, right or
# none. All that a row hands up to the next is the column of the piece and the column of the nearest
# trap on that row, on the side from which the piece came; farther ones are out of its reach.
# R14 bounds the number of traps: counts are polynomials in the number of traps, written as one
# long integer with a field of bits for each power.


def _count_live(size: int) -> int:
    field = 3 * (size * size + 2)  # bits of a count: no step has more than 7 continuations, no board more steps
    within = (1 << field * size) - 1  # R14: powers up to size - 1
    arrivals: dict[tuple[int, int | None], int] = {(col, None): 1 for col in range(size)}
    for row in range(size - 1, 0, -1):
        following: dict[tuple[int, int | None], int] = defaultdict(int)
        for (col, closed), ways in arrivals.items():
            for way, factor in _row_of_live(size, col, closed, row > 1, field).items():
                following[way] = following[way] + ways * factor & within
        arrivals = following
    total = sum(arrivals.values())
    return sum(total >> field * power & (1 << field) - 1 for power in range(size))


@cache
def _row_of_live(
    size: int, entry: int, closed: int | None, may_trap_up: bool, field: int
) -> dict[tuple[int, int | None], int]:
    """All walks along a row: (column of the step up, nearest trap up there) -> polynomial.

    ``closed`` is the column of a trap on this row that was set from below.
    """
    trap = 1 << field  # one trap more
    results: dict[tuple[int, int | None], int] = defaultdict(int)
    # the entry: the piece may leave to either side
    free = [col for col in (entry - 1, entry + 1) if 0 <= col < size and col != closed]
    # none, here, or a trap on a free neighbour, then up
    results[entry, None] += 1 + trap * (1 + len(free))
    for direction in (-1, 1):
        ahead = entry + direction
        if ahead not in free:
            continue
        aside = trap * (len(free) - 1)  # a trap on the other side
        # (trap underfoot of the square left behind, nearest trap on the row above) -> polynomial
        walk: dict[tuple[bool, int | None], int] = defaultdict(int)
        walk[False, None] += 1 + aside
        walk[True, None] += trap
        if may_trap_up:
            walk[False, entry] += trap
        while walk:
            col, ahead = ahead, ahead + direction
            open_ahead = 0 <= ahead < size and ahead != closed
            onward: dict[tuple[bool, int | None], int] = defaultdict(int)
            for (behind_trapped, above), ways in walk.items():
                behind = 0 if behind_trapped else trap
                results[col, above] += ways * (1 + trap + behind + (trap if open_ahead else 0))
                if open_ahead:
                    onward[False, above] += ways * (1 + behind)
                    onward[True, above] += ways * trap
                    if may_trap_up:
                        onward[False, col] += ways * trap
            walk = onward
    return results


# written
#
# Own traps close squares to further traps only, so the traps on three rows matter: the row above
# the piece, its own, the one below. A set of traps is a number with ``size`` bits for each of these,
# in this order from the lowest. A list of counts has one for each set.


def _count_written(size: int) -> int:
    sets = 1 << 3 * size
    arrivals = [[1] + [0] * (sets - 1) for _ in range(size)]
    for row in range(size - 1, 0, -1):
        leaving = _row_of_written(size, arrivals, bottom=row == size - 1)
        arrivals = [[0] * sets for _ in range(size)]
        for new, old in zip(arrivals, leaving, strict=True):
            for traps, ways in enumerate(old):
                new[(traps << size) % sets] += ways  # a row up: the rows shift, the lowest is out of reach
    return sum(map(sum, arrivals))  # R12: on row 0 there is nothing left to choose


def _row_of_written(size: int, arrivals: list[list[int]], bottom: bool) -> list[list[int]]:
    """All walks along a row, by the column of the step up."""
    squares = [_bits(size, col, bottom) for col in range(size)]
    risen = [_set_traps(ways, *square) for ways, square in zip(arrivals, squares, strict=True)]
    leaving = risen.copy()
    for columns in (range(size), range(size - 1, -1, -1)):
        passing = risen[columns[0]]
        for col in columns[1:]:
            walked = _set_traps(passing, *squares[col])
            leaving[col] = _sum(leaving[col], walked)
            passing = _sum(risen[col], walked)
    return leaving


def _bits(size: int, col: int, bottom: bool) -> tuple[list[int], int]:
    """The bits of the squares around the piece, and of its own."""
    around = [
        1 << (down + 1) * size + col + right
        for down, right in PLACES
        if (down, right) != (0, 0) and 0 <= col + right < size and not (bottom and down == 1)
    ]
    return around, 1 << size + col


def _set_traps(ways: list[int], around: list[int], here: int) -> list[int]:
    """Traps on squares around, one after another in any order, then perhaps one underfoot (R10, R11)."""
    ways = ways.copy()
    for traps in range(len(ways)):
        for bit in around:
            if traps & bit:
                ways[traps] += ways[traps ^ bit]
    return [count + ways[traps ^ here] if traps & here else count for traps, count in enumerate(ways)]


def _sum(a: list[int], b: list[int]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]
