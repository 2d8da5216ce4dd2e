"""What a search knows about santorini, for two and three players, against the rules."""

import itertools
from typing import Any

import pytest

import ludodrome
from ludodrome.games.santorini.evaluate import EVALUATOR
from tests.games.santorini.positions import CLIMB, CORNER, CORNER_OF_THREE, START, START_OF_THREE, THREE, TWO, room_of
from tests.games.tower_evaluator import (
    after,
    check_keys_along,
    check_marks,
    check_symmetry,
    check_threats,
    check_turned,
    enough,
    keys_of,
    legal,
    states_of,
    towns,
    values,
    walks,
)

pytestmark = pytest.mark.xdist_group("santorini")
KERNELS: Any = TWO.kernels
PLIES = (6, 7, 8)
both_rooms = pytest.mark.parametrize("room", [TWO, THREE], ids=["two", "three"])


@both_rooms
def test_symmetric_positions_have_equal_values_and_keys(room: ludodrome.Game) -> None:
    for line in (START, START_OF_THREE, CLIMB, CORNER, CORNER_OF_THREE):
        if room_of(line) is room:
            check_symmetry(room, states_of(room, line))
    for states in towns(room, enough(60, 3), seed=1, plies=PLIES):
        check_symmetry(room, states)


@both_rooms
def test_keys_change_with_the_game(room: ludodrome.Game) -> None:
    for seed in range(enough(30, 1)):
        check_keys_along(room, seed)


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
        keys, others = (keys_of(room_of(text), states_of(room_of(text), text)) for text in (line, other))
        assert not set(keys) & set(others)


def test_a_later_turn_of_the_same_seat_has_the_same_key() -> None:
    later = CLIMB.replace(" 8", " 10")
    assert list(keys_of(TWO, states_of(TWO, CLIMB))) == list(keys_of(TWO, states_of(TWO, later)))


def test_values_of_two_are_zero_sum_and_bounded() -> None:
    for states in [*walks(TWO, enough(20, 1), seed=2), *towns(TWO, enough(500, 10), seed=3, plies=PLIES)]:
        navy, white = values(TWO, states)
        assert navy == -white
        assert abs(navy) < 10_000


def test_values_of_three_have_one_leader_at_most() -> None:
    for states in [*walks(THREE, enough(20, 1), seed=2), *towns(THREE, enough(500, 10), seed=3, plies=PLIES)]:
        worth = values(THREE, states)
        assert sum(value > 0 for value in worth) <= 1
        assert max(worth) >= 0
        assert all(abs(value) < 10_000 for value in worth)


def test_values_know_what_is_good() -> None:
    """Higher is better, and two threats win."""

    def worth(line: str) -> int:
        return values(room_of(line), states_of(room_of(line), line))[0]

    assert worth("00000/02000/00000/00000/00000 B2D4 B4D2 8") > worth("00000/01000/00000/00000/00000 B2D4 B4D2 8") > 0
    assert worth("03000/32000/00000/00000/00000 B2E5 D4D2 9") > 1000
    assert worth("03000/32000/00000/00000/00000 B2E5 D4D2 E1E2 10") > 1000


@both_rooms
def test_threats_agree_with_the_rules(room: ludodrome.Game) -> None:
    positions = itertools.chain(towns(room, enough(500, 40), seed=5, plies=PLIES), walks(room, enough(10, 1), seed=4))
    assert check_threats(room, positions, most=enough(60, 1)) == {"winning", "saved", "lost", "calm"}


@both_rooms
def test_marks_are_distinct_and_turn_with_the_board(room: ludodrome.Game) -> None:
    check_turned(EVALUATOR.move_id_symmetries, EVALUATOR.num_move_ids)
    for states in towns(room, enough(30, 2), seed=6, plies=PLIES):
        check_marks(room, states, EVALUATOR.move_id_symmetries)


@both_rooms
def test_promises(room: ludodrome.Game) -> None:
    """A step up to level 3 promises most."""
    for states in towns(room, enough(60, 10), seed=7, plies=PLIES):
        promised = {action: int(KERNELS.move_score(states, action)) for action in legal(room, states)}
        assert all(-1000 <= promise <= 1000 for promise in promised.values())
        if (win := KERNELS.winning(states)) >= 0:
            assert promised[win] == 1000


def test_a_dome_that_saves_promises_most() -> None:
    states = states_of(TWO, "02300/00000/00000/00000/00000 B5C3 A2E5 8")
    promised = {action: int(KERNELS.move_score(states, action)) for action in legal(TWO, states)}
    best = after(TWO, states, max(promised, key=lambda action: promised[action]))
    assert KERNELS.winning(best) == -1


def test_there_are_no_points_and_nothing_is_loud() -> None:
    record = states_of(TWO, CLIMB)[0]
    assert (EVALUATOR.is_tactical(record, 0), EVALUATOR.gain(record, record)) == (False, 0)
    assert (EVALUATOR.has_no_tactics, EVALUATOR.by_points) == (True, False)
