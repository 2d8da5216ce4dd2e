"""Sound first choices (`sensible`), random boards (`quick`) and the pool of candidates."""

from typing import Any

import pytest

from ludodrome import spaces
from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.sampling import pool
from ludodrome.jit import COMPILED

pytestmark = pytest.mark.xdist_group("spaces")

BOTH = pytest.mark.parametrize("rules", ["written", "live"])
SIZES = (2, 3, 4, 5, 6, 9, 10, 11, 30, 100) if COMPILED else (2, 4, 5)


@BOTH
@pytest.mark.parametrize("make", [spaces.sensible, spaces.quick])
def test_they_are_legal_at_all_sizes_and_the_same_for_a_seed(make: Any, rules: str) -> None:
    for size in SIZES:
        made = [make(size, rules, seed) for seed in range(8)]
        for one in made:
            assert spaces.check(one, size, rules) == []
        assert [make(size, rules, seed) for seed in range(8)] == made
        assert len({spaces.encode_board(one) for one in made}) > 1


def test_every_board_of_the_pool_is_legal_under_both_rule_sets() -> None:
    for size in SIZES:
        boards = [format_board(actions, size) for actions in pool(size)]
        assert len({spaces.encode_board(one) for one in boards}) == len(boards)
        for rules in ("written", "live"):
            assert all(spaces.check(one, size, rules) == [] for one in boards)


def test_under_written_nothing_beats_the_straight_run() -> None:
    for size in (2, 3, 5, 10, 25, 100) if COMPILED else (2, 3):
        for seed in range(5):
            response = spaces.respond(spaces.sensible(size, "written", seed), size, "written")
            assert (response.margin, response.proven) == (0, True)


def test_a_straight_run_that_is_foreseen_is_stopped_halfway_under_live() -> None:
    for size in (3, 4, 5, 10, 20) if COMPILED else (3, 4):
        laid = spaces.sensible(size, "live", foreseen=True)
        assert spaces.respond(laid, size, "live").margin == size // 2 + (2 if size == 3 else 1) + (size % 2) * (
            size > 3
        )


@pytest.mark.parametrize("size", [3, 5, 10] if COMPILED else [4])
def test_under_live_the_mix_does_well_against_the_pool_and_against_chance(size: int) -> None:
    mine = [spaces.sensible(size, "live", seed) for seed in range(200 if COMPILED else 40)]
    against = [format_board(actions, size) for actions in pool(size)][:: 1 if COMPILED else 8]
    own, other = spaces.simulate_matrix(mine, against, size, "live")
    averages = (own.astype(int) - other).mean(axis=0)
    assert averages.mean() > 0.3
    assert averages.min() > -1
    by_chance = [spaces.quick(size, "live", seed) for seed in range(50)]
    own, other = spaces.simulate_matrix(mine, by_chance, size, "live")
    assert (own.astype(int) - other).mean() > size / 5


@pytest.mark.parametrize("make", [spaces.sensible, spaces.quick])
def test_bad_input_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="the size of spaces is a whole number from 2 to 100, not 101"):
        make(101)
    with pytest.raises(ValueError, match="the rules of spaces"):
        make(3, "mine")
    with pytest.raises(ValueError, match="the seed is a whole number, not 'x'"):
        make(3, seed="x")
