"""Skysummit: the rules page and the rulings, rule by rule.

A test is named after its rule (R1 to R15 of RULES.md); rulings of RULINGS.md are named in docstrings.
"""

import copy
import json
from itertools import permutations
from typing import Any

import pytest

import ludodrome
from tests.games.skysummit.positions import (
    BOTH_PLACED,
    BUILDS,
    CLIMB,
    CORNER,
    DRAWN,
    GAME,
    HIGH_CORNER,
    ONE_PLACED,
    SHUT,
    START,
    STEPS,
    at,
    builds,
    cell,
    cells,
    destinations,
    game,
    place,
    refuse,
    step,
)

pytestmark = pytest.mark.xdist_group("skysummit")


# The rules


def test_r1_two_seats_two_workers_each_and_nothing_hidden_or_random() -> None:
    state = at(BOTH_PLACED)
    assert GAME.seats == 2
    assert state["workers"] == [[6, 12], [8, 16]]
    for seat in (None, 0, 1):
        assert GAME.observation(state, seat) == state
    with pytest.raises(ValueError, match="seat"):
        GAME.observation(state, 2)
    assert {move["w"] for move in GAME.legal_moves(state)} == {0, 1}
    assert all(GAME.initial_state(seed) == GAME.initial_state() for seed in (1, 2, 3**40))


def test_r2_all_heights_are_0_at_the_start() -> None:
    """Ruling (skysummit): the state's six keys, and [null, null] for a player who has not placed."""
    assert GAME.initial_state() == {
        "phase": "place",
        "ply": 0,
        "board": [0] * 25,
        "workers": [[None, None], [None, None]],
        "winner": None,
        "reason": "",
    }
    assert at(START) == GAME.initial_state()


def test_r2_heights_go_from_0_to_4_and_a_cell_holds_one_worker() -> None:
    assert at("01234/00000/00000/00000/00000 A1A2 A3E5 2")["board"][:5] == [0, 1, 2, 3, 4]
    with pytest.raises(ludodrome.BadState):
        at("01235/00000/00000/00000/00000 A1A2 A3E5 2")
    with pytest.raises(ludodrome.BadState):
        at("01234/00000/00000/00000/00000 A1A2 A2E5 2")


def test_r3_the_seats_alternate_and_ply_counts_placements_too() -> None:
    """Ruling (skysummit): ply counts turns made, placements included; seat to move is ply % 2."""
    state = GAME.initial_state()
    moves = [place(12, 6), place(8, 16), step(1, 13, 18), step(1, 17, 18), step(0, 0, 1)]
    for ply, move in enumerate(moves):
        assert state["ply"] == ply
        assert GAME.to_move(state) == ply % 2
        assert "to_move" not in state
        state = GAME.apply(state, move)
    assert state["ply"] == 5
    assert GAME.to_move(state) == 1


@pytest.mark.parametrize("line", [START, ONE_PLACED, BOTH_PLACED])
@pytest.mark.parametrize("no_move", [None, {}, "", "pass", {"t": "pass"}])
def test_r3_there_is_no_passing(line: str, no_move: Any) -> None:
    refuse(at(line), no_move, "^a move ")


def test_r4_a_placement_is_an_ordered_pair_of_free_cells() -> None:
    """Ruling (skysummit): both orders are legal, 600 moves at the start and 506 for the second player."""
    moves = GAME.legal_moves(GAME.initial_state())
    assert len(moves) == 600
    assert moves == [place(a, b) for a, b in permutations(range(25), 2)]
    free = [index for index in range(25) if index not in (6, 12)]
    answers = GAME.legal_moves(at(ONE_PLACED))
    assert len(answers) == 506
    assert answers == [place(a, b) for a, b in permutations(free, 2)]


def test_r4_nothing_is_built_by_a_placement() -> None:
    first = GAME.apply(GAME.initial_state(), place(0, 24))
    second = GAME.apply(first, place(1, 23))
    assert first["board"] == second["board"] == [0] * 25
    assert (first["phase"], second["phase"]) == ("place", "play")
    assert second["workers"] == [[0, 24], [1, 23]]


def test_r5_both_orders_of_a_placement_give_the_same_position() -> None:
    """Ruling (skysummit): workers are stored in ascending order."""
    state = GAME.initial_state()
    assert GAME.apply(state, place(12, 6)) == GAME.apply(state, place(6, 12)) == at(ONE_PLACED)
    assert GAME.apply(at(ONE_PLACED), place(16, 8)) == GAME.apply(at(ONE_PLACED), place(8, 16)) == at(BOTH_PLACED)


def test_r5_a_worker_keeps_its_number_wherever_it_goes() -> None:
    """Ruling (skysummit): worker 0 is the one on the lower index at placement, and keeps its number."""
    state = GAME.apply(at("00000/00000/00000/00000/00000 B2B3 E1E5 2"), step(0, cell("C3"), cell("C4")))
    assert state["workers"][0] == cells("C3 B3")
    state = GAME.apply(state, step(0, cell("D1"), cell("C1")))
    assert GAME.legal_moves(state)[0]["w"] == 0
    assert GAME.apply(state, step(1, cell("A3"), cell("A2")))["workers"][0] == cells("C3 A3")


def test_r6_a_turn_is_a_step_and_a_build_of_the_same_worker() -> None:
    state = at(BOTH_PLACED)
    moves = GAME.legal_moves(state)
    assert len(moves) == 67
    assert moves[0] == step(0, 0, 1)
    assert moves[-1] == step(1, 18, 24)
    for move in moves:
        after = GAME.apply(state, move)
        assert after["workers"][0][move["w"]] == move["to"]
        assert after["workers"][0][1 - move["w"]] == state["workers"][0][1 - move["w"]]
        assert after["workers"][1] == state["workers"][1]
        assert [after["board"][index] - state["board"][index] for index in range(25)] == [
            int(index == move["build"]) for index in range(25)
        ]


def test_r6_the_other_worker_does_not_build() -> None:
    refuse(at(BOTH_PLACED), step(1, cell("D3"), cell("A1")), "(?i)adjacent|next to")


def test_r7_a_step_goes_level_down_or_one_up_to_a_free_cell_that_is_no_dome() -> None:
    state = at(STEPS)
    assert destinations(state, 0) == cells("B2 B3 B4 D4")


def test_r7_going_down_any_number_of_levels_is_free() -> None:
    state = at("00000/00000/00200/00000/00000 C3A1 E1E5 2")
    assert destinations(state, 0) == cells("B2 B3 B4 C2 C4 D2 D3 D4")
    assert GAME.apply(state, step(0, cell("B2"), cell("C3")))["board"][12] == 3


def test_r7_a_step_stays_on_the_board() -> None:
    state = at("00000/00000/00000/00000/00000 A1A5 E1E5 2")
    assert destinations(state, 0) == cells("A2 B1 B2")
    assert destinations(state, 1) == cells("A4 B4 B5")
    assert GAME.is_legal(state, step(1, cell("B1"), cell("B2"))) is False


def test_r7_staying_put_is_no_step() -> None:
    refuse(at(BOTH_PLACED), step(1, cell("C3"), cell("C4")), "(?i)adjacent|next to")


def test_r8_a_step_onto_level_3_wins_at_once() -> None:
    """Ruling (skysummit): a move onto level 3 is listed once, with "build": null."""
    state = at(CLIMB)
    assert len(GAME.legal_moves(state)) == 52
    assert builds(state, 0, "B2") == [None]
    after = GAME.apply(state, step(0, 6, None))
    assert after == {
        "phase": "play",
        "ply": 9,
        "board": [0, 0, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 1, 1, 1] + [0] * 10,
        "workers": [[6, 24], [13, 16]],
        "winner": 0,
        "reason": "reached level 3",
    }
    assert GAME.outcome(after) == ludodrome.Outcome(0, [1, 0], [1, -1], "reached level 3")


def test_r8_seat_1_wins_by_climbing_as_well() -> None:
    after = GAME.apply(at("00000/03200/00000/00000/00000 D4E5 B3D2 9"), step(0, 6, None))
    assert GAME.outcome(after) == ludodrome.Outcome(1, [0, 1], [-1, 1], "reached level 3")


def test_r8_naming_a_build_with_a_winning_step_is_illegal() -> None:
    """Ruling (skysummit): a winning move that comes with a build is illegal."""
    for build in cells("B3 A1 C2"):
        refuse(at(CLIMB), step(0, 6, build), "(?i)w[io]n")


def test_r8_only_exactly_3_wins() -> None:
    state = at("00000/02200/00000/00000/00000 B3E5 C4D2 8")
    after = GAME.apply(state, step(0, cell("B2"), cell("B3")))
    assert after["reason"] == ""
    assert after["board"][cell("B3")] == 3
    assert GAME.to_move(after) == 1


def test_r8_raising_a_cell_to_3_wins_nothing() -> None:
    after = GAME.apply(at("00000/00000/00000/00020/00000 B2C4 B4D2 4"), step(1, cell("C5"), cell("D4")))
    assert (after["board"][cell("D4")], after["reason"], after["winner"]) == (3, "", None)


def test_r9_a_build_goes_on_a_free_adjacent_cell_below_a_dome() -> None:
    state = at(BUILDS)
    assert builds(state, 0, "C4") == cells("B3 C3 C5 D3 D4")
    assert GAME.apply(state, step(0, cell("C4"), cell("C5")))["board"][cell("C5")] == 1


def test_r9_raising_3_makes_a_dome() -> None:
    after = GAME.apply(at(BUILDS), step(0, cell("C4"), cell("B3")))
    assert after["board"][cell("B3")] == 4


def test_r9_the_cell_just_left_may_be_built_on() -> None:
    """Ruling (skysummit): the square just left may be built on."""
    after = GAME.apply(at(BUILDS), step(0, cell("C4"), cell("C3")))
    assert after["board"][cell("C3")] == 1
    # Walled in by domes, it is the only place to build.
    alone = at("00444/44444/00000/00000/00000 A1E5 E1E2 2")
    assert [move for move in GAME.legal_moves(alone) if move["w"] == 0] == [step(0, 1, 0)]


def test_r9_leaving_the_build_out_is_illegal() -> None:
    """Ruling (skysummit): any other move without a build is illegal."""
    refuse(at(BUILDS), step(0, cell("C4"), None), "(?i)build")


def test_r10_nobody_enters_or_raises_a_dome() -> None:
    for line in (STEPS, BUILDS):
        state = at(line)
        dome = state["board"].index(4)
        assert all(dome not in (move["to"], move["build"]) for move in GAME.legal_moves(state))
    # Not even from right below it.
    high = at("00000/03420/00000/00000/00000 B4E5 E1E2 2")
    assert cell("B3") not in destinations(high, 0)


def test_r11_the_turn_limit_ends_the_game() -> None:
    """Rulings (all games): turn_limit is an option, 1 to 1,000, default 200."""
    assert GAME.options == {"turn_limit": 200}
    state = game(3).initial_state()
    for move in (place(6, 12), place(8, 16)):
        state = game(3).apply(state, move)
        assert game(3).outcome(state) is None
    state = game(3).apply(state, step(1, 13, 18))
    assert (state["ply"], state["winner"], state["reason"]) == (3, None, "turn limit: draw")
    assert game(3).outcome(state) == ludodrome.Outcome(None, [0.5, 0.5], [0, 0], "turn limit: draw")


@pytest.mark.parametrize(("turn_limit", "phase"), [(1, "place"), (2, "play")])
def test_r11_placements_count_for_the_turn_limit(turn_limit: int, phase: str) -> None:
    variant = game(turn_limit)
    state = variant.initial_state()
    for move in (place(12, 6), place(8, 16))[:turn_limit]:
        state = variant.apply(state, move)
    assert (state["phase"], state["ply"]) == (phase, turn_limit)
    assert (state["winner"], state["reason"]) == (None, "turn limit: draw")
    assert variant.to_move(state) is None
    assert variant.legal_moves(state) == []


def test_r11_a_win_by_climbing_in_the_last_turn_counts() -> None:
    """Rulings (all games): the tie-break decides unless that turn itself decided the game."""
    after = game(9).apply(at(CLIMB, 9), step(0, 6, None))
    assert (after["winner"], after["reason"]) == (0, "reached level 3")


@pytest.mark.parametrize(
    ("heights", "winner", "reason"),
    [
        ("2010", 0, "turn limit: higher altitude"),
        ("1020", 1, "turn limit: higher altitude"),
        ("1120", 1, "turn limit: higher peak"),
        ("0211", 0, "turn limit: higher peak"),
        ("2111", 0, "turn limit: higher altitude"),
        ("1122", 1, "turn limit: higher altitude"),
        ("1212", None, "turn limit: draw"),
        ("1221", None, "turn limit: draw"),
        ("0000", None, "turn limit: draw"),
        ("2222", None, "turn limit: draw"),
    ],
)
def test_r12_the_tie_break_is_altitude_then_peak_then_a_draw(heights: str, winner: int | None, reason: str) -> None:
    """Ruling (skysummit): sum of heights under the two workers, then the higher single one, else a draw."""
    variant = game(10)
    state = variant.parse_state(f"{heights}0/00000/00000/00000/00000 A1A2 A3A4 10")
    assert (state["winner"], state["reason"]) == (winner, reason)
    scores = {None: [0.5, 0.5], 0: [1.0, 0.0], 1: [0.0, 1.0]}[winner]
    returns = {None: [0.0, 0.0], 0: [1.0, -1.0], 1: [-1.0, 1.0]}[winner]
    assert variant.outcome(state) == ludodrome.Outcome(winner, scores, returns, reason)


def test_r12_the_last_turn_is_counted_in_the_tie_break() -> None:
    state = at("10000/10000/00000/00000/00000 A2E5 B1E1 8", 9)
    up, level = step(0, 0, 6), step(0, 2, 3)
    assert game(9).apply(state, up)["reason"] == "turn limit: draw"
    after = game(9).apply(state, level)
    assert (after["winner"], after["reason"]) == (1, "turn limit: higher altitude")


def test_r12_workers_not_yet_placed_count_0() -> None:
    """Ruling (skysummit): a player still unplaced counts 0."""
    state = game(1).apply(game(1).initial_state(), place(12, 6))
    assert state["workers"] == [[6, 12], [None, None]]
    assert game(1).outcome(state) == ludodrome.Outcome(None, [0.5, 0.5], [0, 0], "turn limit: draw")


def test_r13_a_stuck_seat_loses_in_that_very_state() -> None:
    """Rulings (all games): as soon as a turn leaves the next player without a legal move, it is over."""
    after = GAME.apply(at(CORNER), SHUT)
    assert (after["ply"], after["winner"], after["reason"]) == (9, 0, "no legal moves")
    assert GAME.outcome(after) == ludodrome.Outcome(0, [1, 0], [1, -1], "no legal moves")
    assert GAME.to_move(after) is None
    assert GAME.format_state(after) == "00200/22200/00000/00000/00000 C1E5 A1A2 9"


def test_r13_one_way_out_is_enough() -> None:
    after = GAME.apply(at(CORNER), step(0, cell("C1"), cell("D1")))
    assert after["reason"] == ""
    assert {move["to"] for move in GAME.legal_moves(after)} == {cell("B1")}


def test_r13_seat_0_can_be_stuck_too() -> None:
    after = GAME.apply(at(CORNER.replace("C2E5 A1A2 8", "A1A2 C2E5 9")), SHUT)
    assert GAME.outcome(after) == ludodrome.Outcome(1, [0, 1], [-1, 1], "no legal moves")


def test_r14_climbing_comes_before_the_turn_limit_and_before_being_stuck() -> None:
    line = "00200/22200/00000/00000/00023 E4C5 A1A2 8"
    for limit in (9, 10):
        after = game(limit).apply(at(line, limit), step(0, cell("E5"), None))
        assert (after["winner"], after["reason"]) == (0, "reached level 3")


def test_r14_the_turn_limit_comes_before_being_stuck() -> None:
    """Rulings (all games): the turn limit comes before "no legal moves"."""
    assert game(9).apply(at(CORNER, 9), SHUT)["reason"] == "turn limit: draw"
    last = game(9).apply(at(HIGH_CORNER, 9), SHUT)
    assert (last["winner"], last["reason"]) == (1, "turn limit: higher altitude")
    earlier = game(10).apply(at(HIGH_CORNER, 10), SHUT)
    assert (earlier["winner"], earlier["reason"]) == (0, "no legal moves")


@pytest.mark.parametrize(
    ("line", "move", "limit"),
    [(CLIMB, step(0, 6, None), 200), (CORNER, SHUT, 200), (CORNER, SHUT, 9), (START, place(6, 12), 1)],
)
def test_r15_a_finished_game_has_no_moves_and_no_seat_to_move(line: str, move: Any, limit: int) -> None:
    """Rulings (all games): a finished state says so itself; the list of moves is empty once it is over."""
    variant = game(limit)
    before = at(line, limit)
    after = variant.apply(before, move)
    assert after["reason"]
    assert after["ply"] == before["ply"] + 1
    assert variant.legal_moves(after) == []
    assert variant.to_move(after) is None
    for attempt in (move, step(0, 1, 2), place(1, 2), None, "nonsense", {"t": 1.0}):
        refuse(after, attempt, "(?i)^the game is over", limit)
    with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
        variant.parse_move("nonsense", after)
    with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
        variant.move(0, after)


# Options


@pytest.mark.parametrize("value", [0, -1, 1001, True, 1.0, "200", None, [200]])
def test_the_turn_limit_is_an_integer_from_1_to_1000(value: Any) -> None:
    with pytest.raises(ValueError, match="turn_limit"):
        ludodrome.make("skysummit", turn_limit=value)
    assert game(1).options["turn_limit"] == 1
    assert game(1000).options["turn_limit"] == 1000


def test_there_is_no_other_option() -> None:
    with pytest.raises(ValueError, match="players"):
        ludodrome.make("skysummit", players=2)


# Rulings on all games


@pytest.mark.parametrize("line", [START, ONE_PLACED, BOTH_PLACED, DRAWN, STEPS, BUILDS, CLIMB, CORNER])
def test_states_and_moves_are_plain_json_and_apply_changes_nothing(line: str) -> None:
    """Rulings (all games): plain JSON values; apply never changes its input; one fixed order, no doubles."""
    state = at(line)
    assert json.loads(json.dumps(state)) == state
    before = copy.deepcopy(state)
    moves = GAME.legal_moves(state)
    assert json.loads(json.dumps(moves)) == moves == GAME.legal_moves(state)
    actions = [GAME.action(move, state) for move in moves]
    assert actions == sorted(set(actions))
    for move in moves[:: max(1, len(moves) // 10)]:
        kept = copy.deepcopy(move)
        after = GAME.apply(state, move)
        assert (state, move) == (before, kept)
        assert after["workers"] is not state["workers"]
        after["board"][0] = 9
        after["workers"][0][0] = 99
        assert state == before
    assert GAME.decode(GAME.encode(state)) == state


def test_scores_and_returns_are_zero_sum_numbers() -> None:
    """Rulings (all games): scores 1, 0.5 or 0; returns 1 and -1, or 0 and 0."""
    won = GAME.outcome(GAME.apply(at(CLIMB), step(0, 6, None)))
    drawn = game(4).outcome(at(DRAWN, 4))
    assert won is not None
    assert drawn is not None
    assert (won.scores, won.returns) == ([1, 0], [1, -1])
    assert (drawn.scores, drawn.returns) == ([0.5, 0.5], [0, 0])


def test_a_running_game_has_no_outcome() -> None:
    """Rulings (all games): reason is empty while the game runs."""
    state = at(DRAWN)
    assert GAME.outcome(state) is None
    assert (state["winner"], state["reason"]) == (None, "")
