"""Santorini: the rules page and the rulings, rule by rule.

A test is named after its rule (R1 to R14 of RULES.md); rulings of RULINGS.md are named in docstrings.
"""

import copy
import json
import random
import re
from typing import Any

import pytest

import ludodrome
from tests.games.santorini.positions import (
    BARE,
    BUILDS,
    CLIMB,
    CORNER,
    CORNER_OF_THREE,
    SHUT,
    START,
    START_OF_THREE,
    STEPS,
    THREE,
    TWO,
    at,
    builds,
    destinations,
    game_of,
    height,
    refuse,
)

pytestmark = pytest.mark.xdist_group("santorini")


# The rules


def test_r1_two_or_three_seats_with_two_workers_each_and_nothing_hidden_or_random() -> None:
    """Ruling (santorini): option players, 2 or 3, default 2."""
    assert (TWO.seats, THREE.seats) == (2, 3)
    assert TWO.options == {"players": 2}
    for game, letters in ((TWO, "NW"), (THREE, "NWG")):
        state = game.initial_state()
        assert [len(pair) for pair in state["workers"]] == [2] * game.seats
        assert all(game.initial_state(seed) == state for seed in (1, 2, 3**40))
        for seat in (None, *range(game.seats)):
            assert game.observation(state, seat) == state
        for letter in letters:
            moves = game.legal_moves(state)
            assert {move[1:3] for move in moves} == {letter + "1", letter + "2"}
            state = game.apply(state, moves[0])
    with pytest.raises(ValueError, match="seat"):
        TWO.observation(TWO.initial_state(), 2)


def test_r1_a_worker_keeps_its_number() -> None:
    state = TWO.apply(at(START), "[N2B3A3B3]")
    assert state["workers"] == [["C2", "A3"], ["D3", "C4"]]
    state = TWO.apply(state, "[W1D3E3D3]")
    state = TWO.apply(state, "[N1C2D2D1]")
    assert state["workers"] == [["D2", "A3"], ["E3", "C4"]]
    assert TWO.apply(state, "[W2C4D4C4]")["workers"] == [["D2", "A3"], ["E3", "D4"]]


def test_r2_all_heights_are_0_at_the_start_and_go_from_0_to_4() -> None:
    assert TWO.initial_state()["board"] == THREE.initial_state()["board"] == BARE
    assert at("01234/00000/00000/00000/00000 A1A2 A3E5 2")["board"][0] == [0, 1, 2, 3, 4]
    with pytest.raises(ludodrome.BadState):
        at("01235/00000/00000/00000/00000 A1A2 A3E5 2")
    with pytest.raises(ludodrome.BadState):
        at("01234/00000/00000/00000/00000 A1A2 A2E5 2")


def test_r3_start_with_two_players() -> None:
    """Ruling (santorini): the state, and start squares as in the document."""
    assert TWO.initial_state() == {
        "players": 2,
        "ply": 0,
        "to_move": 0,
        "board": BARE,
        "workers": [["C2", "B3"], ["D3", "C4"]],
        "winner": None,
        "reason": "",
    }
    assert at(START) == TWO.initial_state()
    assert TWO.format_state(TWO.initial_state()) == START


def test_r3_rows_are_letters_and_columns_digits() -> None:
    """Ruling (santorini): C2 is row C, column 2."""
    state = at("00000/00000/03000/00000/00000 A1A2 E4E5 0")
    assert state["board"][2][1] == 3
    drawing = TWO.render(at(START)).split("\n")
    assert drawing[6] == "C │ 0   │ 0 N1│ 0   │ 0 W2│ 0   │ C"


def test_r4_start_with_three_players() -> None:
    assert THREE.initial_state() == {
        "players": 3,
        "ply": 0,
        "to_move": 0,
        "board": BARE,
        "workers": [["C3", "B3"], ["D3", "B4"], ["D2", "D4"]],
        "winner": None,
        "reason": "",
    }
    assert at(START_OF_THREE) == THREE.initial_state()
    assert THREE.format_state(THREE.initial_state()) == START_OF_THREE


@pytest.mark.parametrize("game", [TWO, THREE], ids=["two", "three"])
def test_r5_the_seats_take_turns_in_order_from_navy_on(game: ludodrome.Game) -> None:
    state = game.initial_state()
    for ply in range(7):
        assert state["ply"] == ply
        assert state["to_move"] == game.to_move(state) == ply % game.seats
        moves = game.legal_moves(state)
        assert {move[1] for move in moves} == {"NWG"[ply % game.seats]}
        state = game.apply(state, moves[-1])


@pytest.mark.parametrize("no_move", [None, "", "[]", "pass", "[pass]"])
def test_r5_there_is_no_passing(no_move: Any) -> None:
    refuse(START, no_move, "^Format")


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER])
def test_r6_every_turn_is_a_step_and_a_build_of_the_same_worker(line: str) -> None:
    game, state = game_of(line), at(line)
    seat = state["to_move"]
    for move in game.legal_moves(state):
        worker, source, to, build = move[1:3], move[3:5], move[5:7], move[7:9]
        assert state["workers"][seat][int(worker[1]) - 1] == source
        after = game.apply(state, move)
        workers = copy.deepcopy(state["workers"])
        workers[seat][int(worker[1]) - 1] = to
        assert after["workers"] == workers
        raised = [
            row + column
            for row in "ABCDE"
            for column in "12345"
            if height(after, row + column) != height(state, row + column)
        ]
        assert raised == [build]
        assert height(after, build) == height(state, build) + 1


@pytest.mark.parametrize("text", ["[N1C2B2]", "[N1C2C2]", "[N1C2]", "[N1C3]"])
def test_r6_both_parts_are_compulsory(text: str) -> None:
    refuse(START, text, "^Format")


def test_r7_a_step_goes_level_down_or_one_up_to_a_free_square_that_is_no_dome() -> None:
    assert destinations(at(STEPS), "N1") == ["B2", "B3", "B4", "D4"]


def test_r7_going_down_any_number_of_levels_is_free() -> None:
    state = at("00000/00000/00200/00000/00000 C3A1 E1E5 2")
    assert destinations(state, "N1") == ["B2", "B3", "B4", "C2", "C4", "D2", "D3", "D4"]
    assert height(TWO.apply(state, "[N1C3B2C3]"), "C3") == 3


def test_r7_a_step_stays_on_the_board() -> None:
    state = at("00000/00000/00000/00000/00000 A1A5 E1E5 2")
    assert destinations(state, "N1") == ["A2", "B1", "B2"]
    assert destinations(state, "N2") == ["A4", "B4", "B5"]


def test_r7_staying_put_is_no_step() -> None:
    refuse(START, "[N1C2C2C1]", "^Cannot move there: .*C2")


def test_r8_a_build_goes_on_a_free_adjacent_square_below_a_dome() -> None:
    state = at(BUILDS)
    assert builds(state, "N1", "C4") == ["B3", "C3", "C5", "D3", "D4"]
    assert height(TWO.apply(state, "[N1C3C4C5]"), "C5") == 1


def test_r8_raising_3_sets_the_dome() -> None:
    assert height(TWO.apply(at(BUILDS), "[N1C3C4B3]"), "B3") == 4


def test_r8_the_square_just_left_may_be_built_on() -> None:
    state = TWO.apply(TWO.apply(at(START), "[N1C2B2C3]"), "[W1D3D2C3]")
    after = TWO.apply(state, "[N2B3A3B3]")
    assert height(after, "B3") == 1
    assert TWO.format_state(after) == "00000/00100/00200/00000/00000 B2A3 D2C4 3"
    # Walled in by domes, it is the only place to build.
    alone = at("00444/44444/00000/00000/00000 A1E5 E1E2 2")
    assert [move for move in TWO.legal_moves(alone) if move[1:3] == "N1"] == ["[N1A1A2A1]"]


def test_r9_nobody_enters_or_raises_a_dome() -> None:
    for line, dome in ((STEPS, "C4"), (BUILDS, "B4")):
        assert height(at(line), dome) == 4
        assert all(dome not in (move[5:7], move[7:9]) for move in TWO.legal_moves(at(line)))
    refuse(STEPS, "[N1C3C4B4]", "^Cannot move there: .*C4.*dome")
    refuse(BUILDS, "[N1C3C4B4]", "^Cannot build there: .*B4.*dome")


def test_r10_a_step_onto_level_3_wins_and_is_listed_once_for_each_build() -> None:
    """Ruling (santorini): every move names a build, a winning one too."""
    state = at(CLIMB)
    assert [move for move in TWO.legal_moves(state) if move.startswith("[N1B2B3")] == [
        "[N1B2B3A2]",
        "[N1B2B3A3]",
        "[N1B2B3A4]",
        "[N1B2B3B2]",
        "[N1B2B3B4]",
        "[N1B2B3C2]",
        "[N1B2B3C3]",
    ]
    assert TWO.is_legal(state, "[N1B2B3]") is False


def test_r10_the_build_of_a_winning_turn_is_carried_out() -> None:
    """Ruling (santorini): the build is carried out, in a winning move too."""
    after = TWO.apply(at(CLIMB), "[N1B2B3B2]")
    assert after == {
        "players": 2,
        "ply": 9,
        "to_move": None,
        "board": [[0] * 5, [0, 3, 3, 0, 0], [0, 0, 1, 1, 0], [0] * 5, [0] * 5],
        "workers": [["B3", "E5"], ["D3", "C4"]],
        "winner": 0,
        "reason": "reached level 3",
    }
    assert TWO.outcome(after) == ludodrome.Outcome(0, [1, 0], [1, -1], "reached level 3")


@pytest.mark.parametrize(
    ("line", "move", "outcome"),
    [
        (
            "00000/02300/00110/00000/00000 D3C4 B2E5 9",
            "[W1B2B3A3]",
            ludodrome.Outcome(1, [0, 1], [-1, 1], "reached level 3"),
        ),
        (
            "00000/02300/00110/00000/00000 D3C4 B2E5 A1A5 10",
            "[W1B2B3A3]",
            ludodrome.Outcome(1, [0, 1, 0], [-0.5, 1, -0.5], "reached level 3"),
        ),
        (
            "00000/02300/00110/00000/00000 D3C4 A1A5 E5B2 11",
            "[G2B2B3A3]",
            ludodrome.Outcome(2, [0, 0, 1], [-0.5, -0.5, 1], "reached level 3"),
        ),
    ],
)
def test_r10_the_winner_is_the_seat_that_stepped(line: str, move: str, outcome: ludodrome.Outcome) -> None:
    """Rulings (all games): with three players returns are 1 for the winner and -0.5 for the others."""
    after = game_of(line).apply(at(line), move)
    assert game_of(line).outcome(after) == outcome
    assert (after["winner"], after["to_move"]) == (outcome.winner, None)


def test_r10_only_a_step_onto_exactly_3_wins() -> None:
    state = at("00000/02200/00000/00000/00000 B2E5 D3C4 8")
    after = TWO.apply(state, "[N1B2B3B2]")
    assert (height(after, "B2"), after["reason"], after["winner"], after["to_move"]) == (3, "", None, 1)


def test_r10_climbing_is_the_reason_even_if_the_next_seat_is_stuck_as_well() -> None:
    after = TWO.apply(at("00200/22200/00000/00000/00023 E4C5 A1A2 8"), "[N1E4E5E4]")
    assert (after["winner"], after["reason"]) == (0, "reached level 3")


def test_r11_leaving_the_next_seat_without_a_move_wins_at_once() -> None:
    """Rulings (all games, santorini): the player who has just moved wins at once, in that very state."""
    after = TWO.apply(at(CORNER), SHUT)
    assert TWO.format_state(after) == "00200/22200/00000/00000/00000 C1E5 A1A2 9"
    assert (after["winner"], after["reason"], after["to_move"], after["ply"]) == (0, "no legal moves", None, 9)
    assert TWO.outcome(after) == ludodrome.Outcome(0, [1, 0], [1, -1], "no legal moves")


def test_r11_one_way_out_is_enough() -> None:
    after = TWO.apply(at(CORNER), "[N1C2C1D1]")
    assert after["reason"] == ""
    assert {move[5:7] for move in TWO.legal_moves(after)} == {"B1"}


def test_r11_navy_can_be_stuck_too() -> None:
    after = TWO.apply(at("00200/12200/00000/00000/00000 A1A2 C2E5 9"), "[W1C2C1B1]")
    assert TWO.outcome(after) == ludodrome.Outcome(1, [0, 1], [-1, 1], "no legal moves")


def test_r12_among_three_the_next_seat_alone_is_looked_at_and_the_game_ends_for_everybody() -> None:
    """Ruling (santorini): no legal moves, with three players as with two."""
    after = THREE.apply(at(CORNER_OF_THREE), SHUT)
    assert after == {
        "players": 3,
        "ply": 10,
        "to_move": None,
        "board": [[0, 0, 2, 0, 0], [2, 2, 2, 0, 0], [0] * 5, [0] * 5, [0] * 5],
        "workers": [["C1", "E5"], ["A1", "A2"], ["E1", "E3"]],
        "winner": 0,
        "reason": "no legal moves",
    }
    assert THREE.outcome(after) == ludodrome.Outcome(0, [1, 0, 0], [1, -0.5, -0.5], "no legal moves")
    grey = at("00200/22200/00000/00000/00000 C1E5 A1A2 E1E3 11")
    assert len(THREE.legal_moves(grey)) == 43


def test_r12_a_stuck_seat_that_is_not_the_next_changes_nothing() -> None:
    # Grey is shut in while White can move: the game runs on, and ends when White has moved and Grey is still stuck.
    state = THREE.apply(at("00200/12200/00000/00000/00000 C2E5 E1E3 A1A2 9"), SHUT)
    assert (state["reason"], state["to_move"]) == ("", 1)
    after = THREE.apply(state, "[W1E1D1D2]")
    assert THREE.outcome(after) == ludodrome.Outcome(1, [0, 1, 0], [-0.5, 1, -0.5], "no legal moves")


@pytest.mark.parametrize(
    ("line", "move"), [(CLIMB, "[N1B2B3B2]"), (CORNER, SHUT), (CORNER_OF_THREE, SHUT)], ids=["climb", "block", "three"]
)
def test_r13_a_finished_game_has_no_moves_and_no_seat_to_move(line: str, move: str) -> None:
    """Rulings (all games): a finished state says so itself; to_move is null; the list of moves is empty."""
    game = game_of(line)
    after = game.apply(at(line), move)
    assert after["to_move"] is None
    assert game.to_move(after) is None
    assert game.legal_moves(after) == []
    assert after["ply"] == at(line)["ply"] + 1
    assert after["winner"] == (after["ply"] - 1) % game.seats
    for attempt in (move, "[W1A1A2A3]", "nonsense", None, 7):
        assert game.is_legal(after, attempt) is False
        with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
            game.apply(after, attempt)
    for text in (move, "nonsense", ""):
        with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
            game.parse_move(text, after)


def test_r14_there_is_no_turn_limit() -> None:
    with pytest.raises(ValueError, match="turn_limit"):
        ludodrome.make("santorini", turn_limit=200)
    late = at(START.replace(" 0", " 999999900"))
    assert TWO.to_move(late) == 0
    assert TWO.to_move(TWO.apply(late, TWO.legal_moves(late)[0])) == 1


@pytest.mark.parametrize("game", [TWO, THREE], ids=["two", "three"])
def test_r14_every_game_ends_with_a_winner_within_100_turns(game: ludodrome.Game) -> None:
    rng = random.Random(14)
    for _ in range(8):
        state = game.initial_state()
        while moves := game.legal_moves(state):
            calm = [move for move in moves if height(state, move[5:7]) < 3]
            state = game.apply(state, rng.choice(calm or moves))
            assert sum(map(sum, state["board"])) == state["ply"] <= 100
        outcome = game.outcome(state)
        assert outcome is not None
        assert outcome.winner == (state["ply"] - 1) % game.seats
        assert outcome.reason in ("reached level 3", "no legal moves")
        assert sum(outcome.returns) == 0
        assert sorted(outcome.scores) == [0] * (game.seats - 1) + [1]


# Options


@pytest.mark.parametrize("value", [0, 1, 4, -2, True, 2.0, 3.0, "2", None, [2]])
def test_players_is_2_or_3(value: Any) -> None:
    with pytest.raises(ValueError, match="players"):
        ludodrome.make("santorini", players=value)


# Rulings on all games


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER, CORNER_OF_THREE])
def test_states_and_moves_are_plain_json_and_apply_changes_nothing(line: str) -> None:
    """Rulings (all games): plain JSON values; apply never changes its input; one fixed order, no doubles."""
    game, state = game_of(line), at(line)
    assert json.loads(json.dumps(state)) == state
    before = copy.deepcopy(state)
    moves = game.legal_moves(state)
    assert moves == game.legal_moves(state)
    assert all(re.fullmatch(r"\[[NWG][12]([A-E][1-5]){3}\]", move) for move in moves)
    actions = [game.action(move, state) for move in moves]
    assert actions == sorted(set(actions))
    assert moves == sorted(moves)  # worker, destination, build: for one seat that is the order of the texts
    for move in moves[:: max(1, len(moves) // 10)]:
        after = game.apply(state, move)
        assert state == before
        after["board"][0][0] = 9
        after["workers"][0][0] = "Z9"
        assert state == before
    assert game.decode(game.encode(state)) == state


def test_a_running_game_has_no_outcome() -> None:
    """Rulings (all games): reason is empty while the game runs."""
    assert TWO.outcome(at(STEPS)) is None
    assert (at(STEPS)["winner"], at(STEPS)["reason"]) == (None, "")
