"""What a search knows about skysummit, against the rules."""

import itertools
from typing import Any

import pytest

from ludodrome.games.skysummit.evaluate import EVALUATOR
from tests.games.skysummit.positions import CLIMB, CORNER, GAME, ONE_PLACED, START, game
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

pytestmark = pytest.mark.xdist_group("skysummit")
KERNELS: Any = GAME.kernels
PLIES = (8, 9, 40, 41)


def test_symmetric_positions_have_equal_values_and_keys() -> None:
    for line in (START, ONE_PLACED, CLIMB, CORNER):
        check_symmetry(GAME, states_of(GAME, line))
    for states in built_positions(GAME, enough(60, 4), seed=1, plies=PLIES):
        check_symmetry(GAME, states)


def test_keys_change_with_the_game() -> None:
    for seed in range(enough(30, 1)):
        check_keys_along(GAME, seed)


@pytest.mark.parametrize(
    "other",
    [
        "00000/03200/00111/00000/00001 B3E5 C4D2 8",
        "00000/03200/00111/00000/00000 B3E5 C4D2 9",
        "00000/03200/00111/00000/00000 B3E5 C4D2 10",
        "00000/03200/00111/00000/00000 C4D2 B3E5 8",
        "00000/02200/00111/00000/00000 B3E5 C4D2 8",
    ],
)
def test_whatever_decides_how_the_game_goes_on_is_in_the_key(other: str) -> None:
    assert not set(keys_of(GAME, states_of(GAME, CLIMB))) & set(keys_of(GAME, states_of(GAME, other)))


def test_r11_turns_left_are_in_the_key() -> None:
    assert keys_of(GAME, states_of(GAME, CLIMB))[0] != keys_of(game(100), states_of(game(100), CLIMB))[0]


def test_values_are_zero_sum_and_bounded() -> None:
    for states in [*walks(GAME, enough(20, 1), seed=2), *built_positions(GAME, enough(500, 10), seed=3, plies=PLIES)]:
        navy, white = values(GAME, states)
        assert navy == -white
        assert abs(navy) < 10_000


def test_values_know_what_is_good() -> None:
    """Higher is better, and so is the centre, and two threats win."""

    def worth(line: str) -> int:
        return values(GAME, states_of(GAME, line))[0]

    assert worth("00000/02000/00000/00000/00000 B2D4 B4D2 8") > worth("00000/01000/00000/00000/00000 B2D4 B4D2 8") > 0
    assert worth("00000/00000/00000/00000/00000 C2C3 - 1") > worth("00000/00000/00000/00000/00000 A1E5 - 1")
    assert worth("03000/32000/00000/00000/00000 B2E5 D4D2 9") > 1000


def test_threats_agree_with_the_rules() -> None:
    positions = itertools.chain(
        built_positions(GAME, enough(500, 40), seed=5, plies=PLIES),
        (states for states in walks(GAME, enough(10, 1), seed=4) if GAME.kernels.turns(states) >= 2),
    )
    assert check_threats(GAME, positions, most=enough(60, 1)) == {"winning", "saved", "lost", "calm"}


def test_r11_nobody_is_pressed_in_the_last_turn() -> None:
    line = "02300/00000/00000/00000/00000 E5E4 A2C3 8"
    assert KERNELS.in_check(states_of(GAME, line))
    assert not KERNELS.in_check(states_of(game(9), line))
    assert KERNELS.in_check(states_of(game(10), line))


def test_nothing_is_threatened_while_workers_are_placed() -> None:
    for line in (START, ONE_PLACED):
        states = states_of(GAME, line)
        assert KERNELS.winning(states) == -1
        assert not KERNELS.in_check(states)


def test_move_ids_are_distinct_and_follow_symmetries() -> None:
    check_inverses(EVALUATOR.move_id_symmetries, EVALUATOR.num_move_ids)
    for states in built_positions(GAME, enough(30, 2), seed=6, plies=PLIES):
        check_move_ids(GAME, states, EVALUATOR.move_id_symmetries)


def test_move_ids_of_placements() -> None:
    for line in (START, ONE_PLACED)[: enough(2, 1)]:
        states = states_of(GAME, line)
        move_ids = [int(KERNELS.move_id(states, action)) for action in legal(GAME, states)]
        assert len(set(move_ids)) == len(move_ids)
    start, first = states_of(GAME, START), GAME.action({"t": "place", "to": [0, 6]}, GAME.initial_state())
    turned = GAME.action({"t": "place", "to": [4, 8]}, GAME.initial_state())  # left and right swapped
    assert EVALUATOR.move_id_symmetries[1][KERNELS.move_id(start, first)] == KERNELS.move_id(start, turned)


def test_move_scores() -> None:
    """A win scores highest, or a dome before the other's last step; the centre more than corners."""
    states = states_of(GAME, CLIMB)
    scores = {action: int(KERNELS.move_score(states, action)) for action in legal(GAME, states)}
    assert max(scores, key=lambda action: scores[action]) == KERNELS.winning(states)
    saving = "02300/00000/00000/00000/00000 B5C3 A2E5 8"
    states = states_of(GAME, saving)
    scores = {action: int(KERNELS.move_score(states, action)) for action in legal(GAME, states)}
    best = after(GAME, states, max(scores, key=lambda action: scores[action]))
    assert not wins_next(best)
    start = states_of(GAME, START)
    centre, corners = (GAME.action({"t": "place", "to": to}, GAME.initial_state()) for to in ([12, 7], [0, 24]))
    assert KERNELS.move_score(start, centre) > KERNELS.move_score(start, corners)
    for states in built_positions(GAME, enough(50, 3), seed=7, plies=PLIES):
        assert all(-1000 <= KERNELS.move_score(states, action) <= 1000 for action in legal(GAME, states))


def wins_next(states: Any) -> bool:
    return bool(KERNELS.winning(states) >= 0)


def test_there_are_no_points_and_nothing_is_loud() -> None:
    record = states_of(GAME, CLIMB)[0]
    assert (EVALUATOR.is_tactical(record, 635), EVALUATOR.gain(record, record)) == (False, 0)
    assert (EVALUATOR.has_no_tactics, EVALUATOR.by_points) == (True, False)
