"""What a search knows about santorini, for two and three players, against the rules."""

import itertools
from typing import Any

import pytest

import ludodrome
from ludodrome.games.santorini.evaluate import EVALUATOR
from tests.games.santorini.positions import CLIMB, CORNER, CORNER_OF_THREE, START, START_OF_THREE, THREE, TWO, game_of
from tests.games.tower_evaluator import (
    after,
    built_positions,
    check_inverses,
    check_keys_along,
    check_move_ids,
    check_symmetry,
    check_threats,
    enough,
    keys_of,
    legal,
    states_of,
    values,
    walks,
)

pytestmark = pytest.mark.xdist_group("santorini")
KERNELS: Any = TWO.kernels
PLIES = (6, 7, 8)
both_games = pytest.mark.parametrize("game", [TWO, THREE], ids=["two", "three"])


@both_games
def test_symmetric_positions_have_equal_values_and_keys(game: ludodrome.Game) -> None:
    for line in (START, START_OF_THREE, CLIMB, CORNER, CORNER_OF_THREE):
        if game_of(line) is game:
            check_symmetry(game, states_of(game, line))
    for states in built_positions(game, enough(60, 3), seed=1, plies=PLIES):
        check_symmetry(game, states)


@both_games
def test_keys_change_with_the_game(game: ludodrome.Game) -> None:
    for seed in range(enough(30, 1)):
        check_keys_along(game, seed)


@pytest.mark.parametrize(
    "other",
    [
        "00000/02300/00110/00000/00001 B2E5 D3C4 8",
        "00000/02300/00110/00000/00000 B2E5 D3C4 9",
        "00000/02300/00110/00000/00000 D3C4 B2E5 8",
        "00000/02200/00110/00000/00000 B2E5 D3C4 8",
        "00000/02300/00110/00000/00000 B2E5 D3C4 E1E2 8",
        "00000/02300/00110/00000/00000 B2E5 D3C4 E1E3 8",
        "00000/02300/00110/00000/00000 B2E5 D3C4 E1E2 9",
    ],
)
def test_whatever_decides_how_the_game_goes_on_is_in_the_key(other: str) -> None:
    for line in (CLIMB, "00000/02300/00110/00000/00000 B2E5 D3C4 E1E2 7"):
        keys, others = (keys_of(game_of(text), states_of(game_of(text), text)) for text in (line, other))
        assert not set(keys) & set(others)


def test_a_later_turn_of_the_same_seat_has_the_same_key() -> None:
    later = CLIMB.replace(" 8", " 10")
    assert list(keys_of(TWO, states_of(TWO, CLIMB))) == list(keys_of(TWO, states_of(TWO, later)))


def test_values_of_two_are_zero_sum_and_bounded() -> None:
    for states in [*walks(TWO, enough(20, 1), seed=2), *built_positions(TWO, enough(500, 10), seed=3, plies=PLIES)]:
        navy, white = values(TWO, states)
        assert navy == -white
        assert abs(navy) < 10_000


def test_values_of_three_have_one_leader_at_most() -> None:
    for states in [*walks(THREE, enough(20, 1), seed=2), *built_positions(THREE, enough(500, 10), seed=3, plies=PLIES)]:
        worth = values(THREE, states)
        assert sum(value > 0 for value in worth) <= 1
        assert max(worth) >= 0
        assert all(abs(value) < 10_000 for value in worth)


def test_values_know_what_is_good() -> None:
    """Higher is better, and two threats win."""

    def worth(line: str) -> int:
        return values(game_of(line), states_of(game_of(line), line))[0]

    assert worth("00000/02000/00000/00000/00000 B2D4 B4D2 8") > worth("00000/01000/00000/00000/00000 B2D4 B4D2 8") > 0
    assert worth("03000/32000/00000/00000/00000 B2E5 D4D2 9") > 1000
    assert worth("03000/32000/00000/00000/00000 B2E5 D4D2 E1E2 10") > 1000


@both_games
def test_threats_agree_with_the_rules(game: ludodrome.Game) -> None:
    positions = itertools.chain(
        built_positions(game, enough(500, 40), seed=5, plies=PLIES), walks(game, enough(10, 1), seed=4)
    )
    assert check_threats(game, positions, most=enough(60, 1)) == {"winning", "saved", "lost", "calm"}


@both_games
def test_move_ids_are_distinct_and_follow_symmetries(game: ludodrome.Game) -> None:
    check_inverses(EVALUATOR.move_id_symmetries, EVALUATOR.num_move_ids)
    for states in built_positions(game, enough(30, 2), seed=6, plies=PLIES):
        check_move_ids(game, states, EVALUATOR.move_id_symmetries)


@both_games
def test_move_scores(game: ludodrome.Game) -> None:
    """A step up to level 3 scores highest."""
    for states in built_positions(game, enough(60, 10), seed=7, plies=PLIES):
        scores = {action: int(KERNELS.move_score(states, action)) for action in legal(game, states)}
        assert all(-1000 <= score <= 1000 for score in scores.values())
        if (win := KERNELS.winning(states)) >= 0:
            assert scores[win] == 1000


def test_a_dome_that_saves_scores_highest() -> None:
    states = states_of(TWO, "02300/00000/00000/00000/00000 B5C3 A2E5 8")
    scores = {action: int(KERNELS.move_score(states, action)) for action in legal(TWO, states)}
    best = after(TWO, states, max(scores, key=lambda action: scores[action]))
    assert KERNELS.winning(best) == -1


def test_there_are_no_points_and_nothing_is_loud() -> None:
    record = states_of(TWO, CLIMB)[0]
    assert (EVALUATOR.is_tactical(record, 0), EVALUATOR.gain(record, record)) == (False, 0)
    assert (EVALUATOR.has_no_tactics, EVALUATOR.by_points) == (True, False)
