"""docs/explanation/ratings.md names tests that exist, and its tables are what the functions say."""

import re
from pathlib import Path

import numpy as np
import pytest

from ludodrome.arena.statistics.scores import GAME_VALUES, PAIR_VALUES, expected_share, fit
from ludodrome.arena.statistics.sprt import expected_pairs, limits
from tests.arena.statistics.simulated import game_chances, pair_chances

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "ratings.md").read_text("utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)[^`]*`", PAGE))
    there = {
        name
        for file in (ROOT / "tests" / "arena").rglob("*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert len(named) > 20
    assert named <= there


def test_the_table_of_shares() -> None:
    rows = re.findall(r"^\| (\d+)(?: Elo)? \| ([\d.]+) % \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for difference, share in rows:
        assert f"{100 * expected_share(float(difference)):.1f}" == share


def test_the_table_of_expected_pairs() -> None:
    rows = re.findall(r"^\| (\d+), (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for low, high, *written in rows:
        elo0, elo1 = float(low), float(high)
        for true, pairs in zip((elo0, (elo0 + elo1) / 2, elo1), written, strict=True):
            assert f"{expected_pairs(true, elo0, elo1, *limits(0.05, 0.05)):,.0f}" == pairs


@pytest.mark.parametrize("number", [5, 10, 50])
def test_small_matches_are_less_exact(number: int) -> None:
    dice = np.random.default_rng(number)
    for difference, draws in ((0, 0), (0, 1.3), (200, 0), (200, 1.3)):
        pairs = dice.multinomial(number, pair_chances(difference, draws), size=4000)
        held = fit(PAIR_VALUES, pairs, np.full(4000, expected_share(difference))) >= -1.9207
        assert 0.88 < held.mean() <= 1
        chances = game_chances(difference / 173.7, draws)[::-1]
        singles = dice.multinomial(2 * number, chances, size=4000)
        held = fit(GAME_VALUES, singles, np.full(4000, chances @ GAME_VALUES)) >= -1.9207
        assert 0.88 < held.mean() <= 1
