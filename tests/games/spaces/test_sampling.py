"""Random boards, all equally likely."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from ludodrome import spaces
from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.counting import count_by
from ludodrome.games.spaces.generation import generate
from ludodrome.games.spaces.sampling import BATCH, choose_exactly, sample
from ludodrome.jit import COMPILED

pytestmark = pytest.mark.xdist_group("spaces")


def surprise(seen: list[int], expected: list[float]) -> float:
    """How many standard deviations the chi-square statistic is above what rng gives."""
    statistic = sum((one - right) ** 2 / right for one, right in zip(seen, expected, strict=True))
    freedom = len(seen) - 1
    return float((statistic - freedom) / (2 * freedom) ** 0.5)


@pytest.mark.parametrize(("size", "rules"), [(2, "live"), (3, "live"), (2, "written")])
def test_all_boards_are_equally_likely(size: int, rules: str) -> None:
    boards = list(generate(size, rules))
    each = 50 if COMPILED else 5
    counted = Counter(sample(size, each * len(boards), rules, seed=7))
    assert set(counted) <= set(boards)
    assert surprise([counted[board] for board in boards], [each] * len(boards)) < 3.5


@pytest.mark.parametrize(("size", "rules"), [(4, "live"), (5, "live"), (9, "live"), (3, "written"), (4, "written")])
def test_in_buckets_they_come_as_they_are_counted(size: int, rules: str) -> None:
    if not COMPILED and size in (5, 9):
        pytest.skip("many boards want compiled kernels")
    many = 4000 if COMPILED else 300
    boards = sample(size, many, rules, seed=8)
    traps = range(size + 3, size + 12)
    kinds: dict[str, Callable[[bytes], int]] = {
        "start": lambda board: board[0],
        "traps": lambda board: sum(action in traps for action in board[1:]),
        "length": len,
    }
    for kind, value in kinds.items():
        counts, seen = count_by(size, rules, kind), Counter(map(value, boards))
        total = sum(counts.values())
        common = [key for key in counts if counts[key] * many / total >= 10]
        expected = [counts[key] * many / total for key in common]
        found = [seen[key] for key in common]
        expected.append(many - sum(expected) + 1e-9)
        found.append(many - sum(found))
        if expected[-1] < 5:  # too few for a bucket of their own
            rest, others = expected.pop(), found.pop()
            expected[0], found[0] = expected[0] + rest, found[0] + others
        assert surprise(found, expected) < 3.5, kind


@pytest.mark.parametrize(("size", "rules"), [(3, "written"), (6, "live"), *([(20, "live")] if COMPILED else [])])
def test_they_are_legal_and_the_same_for_a_seed(size: int, rules: str) -> None:
    boards = sample(size, 40, rules, seed=3)
    assert all(spaces.check(format_board(board, size), size, rules) == [] for board in boards)
    assert sample(size, 40, rules, seed=3) == boards
    assert sample(size, 40, rules, seed=4) != boards
    assert sample(size, 0, rules) == []


def test_more_than_a_batch() -> None:
    many = BATCH + 5
    assert len(sample(2, many, "live")) == many


@pytest.mark.parametrize("wrong", [1.0, 0.03])
def test_the_exact_counts_choose_what_the_rounded_ones_choose(wrong: float) -> None:
    for size in (2, 4, 6) if COMPILED else (2, 4):
        assert sample(size, 60, "live", seed=1, wrong=wrong) == sample(size, 60, "live", seed=1)


def test_a_draw_on_the_border_takes_more_bits() -> None:
    half = 1 << 52
    assert choose_exactly([1, 1], half, random.Random(1)) == 1
    assert choose_exactly([1, 1], half - 1, random.Random(1)) == 0
    third = (1 << 53) // 3  # its interval holds the border of 1 and 2 in 3
    drawn = {choose_exactly([1, 0, 2], third, random.Random(seed)) for seed in range(50)}
    assert drawn == {0, 2}


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"under 'live' boards can be drawn uniformly up to size 40, not at size 41"):
        sample(41, 1, "live")
    with pytest.raises(ValueError, match=r"under 'written' .* up to size 4, not at size 5"):
        sample(5, 1)
    with pytest.raises(ValueError, match="the number of boards is a whole number from 0"):
        sample(3, -1)
    with pytest.raises(ValueError, match="the seed is a whole number"):
        sample(3, 1, seed=1.5)  # type: ignore[arg-type]
