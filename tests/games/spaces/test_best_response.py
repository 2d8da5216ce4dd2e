"""The best response against all boards, one by one; its budget, its bound, its objectives."""

import importlib
import random
from typing import Any
from unittest.mock import Mock

import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.jit import COMPILED
from tests.games.spaces.boards import board
from tests.games.spaces.brute import best_by_force
from tests.games.spaces.oracle_samples import random_legal, random_playable

pytestmark = pytest.mark.xdist_group("spaces")

module: Any = importlib.import_module("ludodrome.games.spaces.best_response")
Board = dict[str, Any]

COUNTS = {(2, "live"): 14, (2, "written"): 362, (3, "live"): 796, (4, "live"): 114_450, (3, "written"): 121_439_363}
SMALL = pytest.mark.parametrize(("size", "rules"), [(2, "live"), (2, "written"), (3, "live")])
BOTH = pytest.mark.parametrize("rules", ["written", "live"])


def answered(other: Board, size: int, rules: str, **options: Any) -> spaces.Response:
    """A response that is legal, and worth what it says."""
    response: spaces.Response = spaces.respond(other, size, rules, **options)
    assert spaces.check(response.board, size, rules) == []
    own, others = spaces.simulate(response.board, other, size, rules).points
    assert response.points == (own, others)
    assert response.margin == own - others
    value = own if options.get("objective") == "points" else own - others
    assert value <= response.bound
    assert response.proven == (value == response.bound)
    return response


def agree(others: list[Board], size: int, rules: str) -> None:
    """Best responses are what all boards, tried one by one, say."""
    count, margins, points = best_by_force(others, size, rules)
    assert count == COUNTS[size, rules]
    for other, margin, most in zip(others, margins, points, strict=True):
        response = answered(other, size, rules)
        assert (response.margin, response.proven) == (margin, True)
        response = answered(other, size, rules, objective="points")
        assert (response.points[0], response.proven) == (most, True)


@SMALL
def test_it_equals_brute_force(size: int, rules: str) -> None:
    """500 random boards, of which there are fewer at size 2: there, all of them are among these."""
    rng = random.Random(size)
    agree([random_legal(size, rules, rng) for _ in range(500 if COMPILED else 10)], size, rules)


@SMALL
def test_it_equals_brute_force_against_boards_that_are_merely_playable(size: int, rules: str) -> None:
    rng = random.Random(10 + size)
    agree([random_playable(size, rules, rng) for _ in range(300 if COMPILED else 10)], size, rules)


@pytest.mark.skipif(not COMPILED, reason="114,450 boards want a compiled kernel")
def test_it_equals_brute_force_at_size_4_live() -> None:
    rng = random.Random(4)
    others = [random_legal(4, "live", rng) for _ in range(40)]
    others += [random_playable(4, "live", rng) for _ in range(20)]
    agree(others + [answered(other, 4, "live").board for other in others], 4, "live")


def test_it_equals_brute_force_at_size_3_written(long: bool) -> None:
    """All boards are made only in the long run; the values that it found are here."""
    codes = {"3:1:uuf": 0, "3:0:5u865uf": 2, "3:1:9486r4uuf": 1, "3:1:u6uf": 1, "3:2:l5u3l82uf": 3}
    for code, margin in codes.items():
        response = answered(board(code), 3, "written")
        assert (response.margin, response.proven) == (margin, True), code
    if long and COMPILED:
        rng = random.Random(3)
        others = [random_legal(3, "written", rng) for _ in range(5)]
        agree([*map(board, codes), *others, answered(others[0], 3, "written").board], 3, "written")


@pytest.mark.skipif(not COMPILED, reason="large boards want compiled kernels")
@pytest.mark.parametrize(("rules", "sizes"), [("live", (4, 5, 7, 10, 16)), ("written", (3, 4, 5, 8, 12))])
def test_it_is_proven_far_beyond_what_can_be_listed(rules: str, sizes: tuple[int, ...]) -> None:
    for size in sizes:
        rng = random.Random(size)
        for kind in (random_legal, random_playable):
            for _ in range(10):
                other = kind(size, rules, rng)
                for _ in range(3):  # and against the answer, which is a harder board than one by chance
                    response = answered(other, size, rules)
                    assert response.proven
                    other = response.board


@BOTH
def test_a_mirrored_board_is_worth_the_same(rules: str) -> None:
    size = 6 if COMPILED else 3
    mirror = str.maketrans("lr794613", "rl976431")
    rng = random.Random(6)
    for _ in range(20 if COMPILED else 2):
        other = random_legal(size, rules, rng)
        _, start, signs = spaces.encode_board(other).split(":")
        mirrored = f"{size}:{size - 1 - int(start)}:{signs.translate(mirror)}"
        margin = answered(other, size, rules).margin
        assert answered(board(mirrored), size, rules).margin == margin


@BOTH
def test_the_runner_in_the_middle_is_caught(rules: str) -> None:
    """It is known when it passes: under live the trap stops it early and the rest is a walk."""
    response = answered(board("4:1:uuuf"), 4, rules)
    assert response.margin == {"written": 0, "live": 3}[rules]


def test_a_response_need_not_come_home_itself() -> None:
    """A trap ends the round under written; what the board had to come is still a legal way to the goal."""
    response = answered(board("2:0:6uf"), 2, "written")
    assert response.proven
    assert spaces.simulate(response.board, board("2:0:6uf"), 2).ended == "trap"


# Budgets


@BOTH
def test_without_nodes_the_straight_runs_are_tried(rules: str) -> None:
    response = answered(board("4:1:uuuf"), 4, rules, nodes=0)
    assert response.nodes == 0
    straight = [spaces.simulate(board(f"4:{col}:uuuf"), board("4:1:uuuf"), 4, rules).points for col in range(4)]
    assert response.margin == max(own - other for own, other in straight)


@BOTH
def test_without_seconds_too(rules: str) -> None:
    assert answered(board("4:1:5uuuf"), 4, rules, seconds=0).nodes == 0
    assert answered(board("4:1:5uuuf"), 4, rules, seconds=60.0).proven


HARD_3 = ["3:1:644uuf", "3:1:46l555u5uf"]
HARD = {
    "live": ["2:0:666uf", "2:1:444ul5f", "2:1:444lr5uldu5f", "2:0:8ruf"],
    "written": ["2:0:ru5525ld855ru2f", "2:0:8u25222dud966uf", "2:1:u1l2rd8uduld9uf", "2:0:u333r52l3d88urf"],
}
"""The few where the best margin is below the bounds."""


@BOTH
def test_postponed_runs_are_searched_again(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLICE", 1)
    rng = random.Random(2)
    others = [board(code) for code in HARD[rules]]
    others += [random_playable(2, rules, rng) for _ in range(100 if COMPILED else 0)]
    _, margins, _ = best_by_force(others, 2, rules)
    for other, margin in zip(others, margins, strict=True):
        for most in (30, 90, 150):
            response = answered(other, 2, rules, nodes=most)
            assert response.margin <= margin <= response.bound
        assert (response := answered(other, 2, rules)).margin == margin
        assert response.proven


@SMALL
@pytest.mark.parametrize("memory", [8, 1 << 20])
def test_the_search_is_right_whatever_the_bounds(
    size: int, rules: str, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds that exclude nothing: the search alone must find the best, and remember what has failed."""

    def exclude_nothing(runs: Any, course: Any, table: Any) -> None:
        table.fill(size)

    monkeypatch.setattr(module, "_MAX_KEYS", memory)
    monkeypatch.setattr(module, "fill_bounds", exclude_nothing)
    rng = random.Random(size)
    tried = 40 if COMPILED else 4
    others = [random_legal(size, rules, rng) for _ in range(tried)]
    others += [random_playable(size, rules, rng) for _ in range(tried)]
    others += [board(code) for code in (HARD[rules] if size == 2 else HARD_3)]
    _, margins, _ = best_by_force(others, size, rules)
    for other, margin in zip(others, margins, strict=True):
        response = answered(other, size, rules)
        assert (response.margin, response.proven) == (margin, True)


@SMALL
def test_a_band_of_columns_has_a_bound_for_the_whole_grid(
    size: int, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FULL_WIDTH", 1)
    monkeypatch.setattr(module, "_BAND", 2)
    monkeypatch.setattr(module, "_BEGINNING", 1)
    rng = random.Random(size)
    others = [random_playable(size, rules, rng) for _ in range(100 if COMPILED else 3)]
    others.append(board({2: "2:0:6uf", 3: "3:1:46u8uf"}[size]))
    _, margins, _ = best_by_force(others, size, rules)
    for other, margin in zip(others, margins, strict=True):
        response = answered(other, size, rules)
        assert response.margin <= margin <= response.bound


def test_a_hash_proves_nothing_but_finds_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    others = [board(code) for code in HARD["written"]]
    others += [random_playable(2, "written", rng) for _ in range(200 if COMPILED else 4)]
    right = [answered(other, 2, "written").margin for other in others]
    monkeypatch.setattr(module, "EXACT_WRITTEN", 1)
    assert [answered(other, 2, "written").margin for other in others] == right


@pytest.mark.skipif(not COMPILED, reason="large boards want compiled kernels")
@BOTH
def test_size_100(rules: str) -> None:
    other = board("100:50:" + "uuu6lu" * 20 + "u" * 19 + "f")
    response = answered(other, 100, rules, nodes=3_000_000)
    assert response.margin > 0


# What is refused


def test_a_board_that_cannot_be_played_is_refused() -> None:
    with pytest.raises(IllegalMove, match=r"board 0: .*\(R6\)"):
        spaces.respond(board("3:1:uuff"), 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objective": "glory"}, "the objective is 'margin' or 'points', not 'glory'"),
        ({"nodes": -1}, "nodes is a whole number from 0"),
        ({"seconds": -1}, "seconds is a number from 0 on, not -1"),
        ({"seconds": float("nan")}, "seconds is a number from 0 on, not nan"),
        ({"rules": "mine"}, "the rules of spaces"),
        ({"size": 1}, "the size of spaces"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        spaces.respond(board("3:1:uuf"), **{"size": 3, **options})


def test_preparing_calls_bounds_and_search(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ("fill_bounds", "search_response", "pack_many", "play_round")
    spies = {name: Mock(wraps=getattr(module, name)) for name in wanted}
    for name, spy in spies.items():
        monkeypatch.setattr(module, name, spy)
    module.prepare()
    assert [name for name, spy in spies.items() if not spy.called] == []
