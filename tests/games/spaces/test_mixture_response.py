"""Best responses to mixtures, against all boards one by one; bounds and refusals."""

import random
from typing import Any

import numpy as np
import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces import rounds as round_kernels
from ludodrome.games.spaces.boards import parse_code
from ludodrome.games.spaces.generation import BoardWalk
from ludodrome.games.spaces.mixture_response import MixtureSearch
from ludodrome.jit import COMPILED
from tests.games.spaces.boards import board
from tests.games.spaces.oracle_samples import random_legal, random_playable

pytestmark = pytest.mark.xdist_group("spaces")

BOTH = pytest.mark.parametrize("rules", ["written", "live"])


@BOTH
def test_a_mixture_of_one_is_that_board(rules: str) -> None:
    for code in ("3:1:uuf", "3:0:u6uf"):
        answer = spaces.respond_to_mixture([board(code)], [0.5], 3, rules)
        assert answer.proven
        assert answer.margin == answer.bound == spaces.respond(board(code), 3, rules).margin


@pytest.mark.parametrize(("size", "rules"), [(2, "live"), (2, "written"), (3, "live")])
def test_a_response_to_a_mixture_is_legal_and_worth_what_it_says(size: int, rules: str) -> None:
    rng = random.Random(size)
    for _ in range(10 if COMPILED else 1):
        others = [random_legal(size, rules, rng) for _ in range(4)]
        weights = [rng.randint(0, 3) for _ in range(3)] + [1]
        answer = spaces.respond_to_mixture(others, weights, size, rules)
        assert spaces.check(answer.board, size, rules) == []
        own, other = spaces.simulate_matrix([answer.board], others, size, rules)
        margins = (own[0].astype(int) - other[0]).tolist()
        met = sum(margin * weight for margin, weight in zip(margins, weights, strict=True)) / sum(weights)
        assert answer.margin == pytest.approx(met)
        assert answer.proven
        assert answer.margin == answer.bound == pytest.approx(best_of_all(others, weights, size, rules))


@pytest.mark.parametrize("make", [random_legal, random_playable])
def test_it_is_the_best_of_all_boards_at_size_4_live(make: Any) -> None:
    if not COMPILED:
        pytest.skip("114,450 boards want a compiled kernel")
    rng = random.Random(5)
    for _ in range(6):
        others = [make(4, "live", rng) for _ in range(rng.randint(1, 6))]
        weights = [rng.randint(1, 3) for _ in others]
        answer = spaces.respond_to_mixture(others, weights, 4, "live")
        assert answer.proven
        assert answer.margin == pytest.approx(best_of_all(others, weights, 4, "live"))
        own, other = spaces.simulate_matrix([answer.board], others, 4, "live")
        assert answer.margin == pytest.approx(float((own - other)[0] @ np.array(weights)) / sum(weights))


def best_of_all(others: list[Any], weights: list[int], size: int, rules: str) -> float:
    """The best average margin, by trying all boards."""
    packed, walk, best = spaces.Packed(others, size, rules), BoardWalk(size, rules), -1000
    while len((chunk := walk.next()).ends):
        worth = np.empty(len(chunk.ends), np.int64)
        against = (*packed.arrays(rotated=True), packed.ends, np.array(weights))
        round_kernels.play_mixture(*chunk, size, rules == "live", *against, worth)
        best = max(best, int(worth.max()))
    return best / sum(weights)


def test_the_other_may_run_into_a_piece_that_its_trap_has_stopped() -> None:
    others = [board("3:1:8uuf"), board("3:0:uuf")]
    answer = spaces.respond_to_mixture(others, [3, 1], 3, "live")
    assert answer.proven
    assert answer.margin == pytest.approx(best_of_all(others, [3, 1], 3, "live"))


@pytest.mark.parametrize("weights", [[2, 3, 2], [1, 5, 1], [7, 1, 2]])
@BOTH
def test_the_best_answer_to_a_skewed_mixture_of_runs(rules: str, weights: list[int]) -> None:
    others = [board(f"3:{col}:uuf") for col in range(3)]
    answer = spaces.respond_to_mixture(others, weights, 3, rules)
    right = best_of_all(others, weights, 3, "live") if rules == "live" else 0
    assert answer.proven
    assert answer.margin == pytest.approx(right)


def test_a_search_starts_with_the_best_board_above_the_floor() -> None:
    search = MixtureSearch(spaces.Packed([board("3:1:uuf")], 3, "live"), np.ones(1), floor=2.0)
    search.consider([parse_code("3:0:uuf")[1]])
    assert (search.best, search.value) == (b"", 2.0)
    found = search.run(10**6)
    assert (len(found), search.over, search.value) == (1, True, 3.0)


def test_without_enough_nodes_it_is_not_proven_but_bounded() -> None:
    rng = random.Random(3)
    size = 4 if COMPILED else 3
    others = [random_legal(size, "written", rng) for _ in range(3)]
    hasty = spaces.respond_to_mixture(others, [1, 1, 1], size, "written", nodes=10)
    assert not hasty.proven
    assert hasty.margin < hasty.bound
    alone = [spaces.respond(other, size, "written").bound for other in others]
    assert hasty.bound <= size
    assert hasty.bound >= sum(alone) / 3 - 1e-9


@pytest.mark.parametrize("weights", [[], [1], [1, -1], [0, 0], [1, float("inf")], [1, float("nan")]])
def test_invalid_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="mixture"):
        spaces.respond_to_mixture([board("3:1:uuf"), board("3:0:uuf")], weights, 3)


def test_an_empty_mixture_and_an_unplayable_board_are_refused() -> None:
    with pytest.raises(ValueError, match="mixture"):
        spaces.respond_to_mixture([], [], 3)
    with pytest.raises(IllegalMove, match="board 1"):
        spaces.respond_to_mixture([board("3:1:uuf"), board("3:1:uu")], [1, 1], 3)
