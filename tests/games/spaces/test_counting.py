"""Counts against all boards made one by one, and against the numbers that are known."""

from collections import Counter

import pytest

from ludodrome.games.spaces.counting import count_boards, count_by, quick_count
from ludodrome.games.spaces.generation import BoardWalk, generate
from ludodrome.jit import COMPILED

pytestmark = pytest.mark.xdist_group("spaces")

KNOWN = {
    **{(size, "live"): count for size, count in zip((2, 3, 4, 5), (14, 796, 114_450, 31_510_818), strict=True)},
    (2, "written"): 362,
    (3, "written"): 121_439_363,
    (4, "written"): 968_799_595_254_970,
}


@pytest.mark.parametrize(("size", "rules"), KNOWN)
def test_the_known_numbers(size: int, rules: str) -> None:
    count = KNOWN[size, rules]
    assert count_boards(size, rules) == quick_count(size, rules) == count
    for kind in ("start", "traps", "length"):
        assert sum(count_by(size, rules, kind).values()) == count


@pytest.mark.parametrize(
    ("size", "rules"), [(2, "live"), (3, "live"), (2, "written"), *([(4, "live")] if COMPILED else [])]
)
def test_counts_are_what_making_them_all_gives(size: int, rules: str) -> None:
    boards = list(generate(size, rules))
    traps = range(size + 3, size + 12)
    by = {
        "start": Counter(board[0] for board in boards),
        "traps": Counter(sum(action in traps for action in board[1:]) for board in boards),
        "length": Counter(map(len, boards)),
    }
    for kind, counted in by.items():
        assert count_by(size, rules, kind) == dict(sorted(counted.items()))


def test_size_5_live_made_one_by_one(long: bool) -> None:
    if not (long and COMPILED):
        pytest.skip("31,510,818 boards are made in the long run only")
    walk, count = BoardWalk(5, "live"), 0
    while made := len(walk.next().ends):
        count += made
    assert count == 31_510_818


def test_columns_are_counted_alike_from_both_sides() -> None:
    for size, rules in ((6, "live"), (9, "live"), (3, "written")):
        counts = list(count_by(size, rules).values())
        assert counts == counts[::-1]
        assert len(counts) == size


def test_large_counts_are_exact() -> None:
    assert count_boards(10, "live") == 16_367_090_874_108_447_535_366
    assert quick_count(11, "live") is None


def test_sizes_that_cannot_be_counted_are_refused() -> None:
    with pytest.raises(ValueError, match=r"under 'live' the boards can be counted up to size 40; size 41"):
        count_boards(41, "live")
    with pytest.raises(ValueError, match=r"under 'written' the boards can be counted by traps up to size 5; size 6"):
        count_by(6, "written", "traps")
    with pytest.raises(ValueError, match=r"by length up to size 14; size 15"):
        count_by(15, "live", "length")
    with pytest.raises(ValueError, match="what boards are counted by is 'start', 'traps' or 'length', not 'luck'"):
        count_by(3, "live", "luck")
    with pytest.raises(ValueError, match="the rules of spaces"):
        count_by(3, "mine")
