"""Skysummit: the rules page and the rulings, rule by rule.

A test is named after its rule (R1 to R15 of RULES.md); rulings of RULINGS.md are named in docstrings.
"""

import copy
import json
import re
from itertools import permutations
from typing import Any

import pytest

import ludodrome

pytestmark = pytest.mark.xdist_group("skysummit")

GAME = ludodrome.make("skysummit")

START = "00000/00000/00000/00000/00000 - - 0"
ONE_PLACED = "00000/00000/00000/00000/00000 B2C3 - 1"
BOTH_PLACED = "00000/00000/00000/00000/00000 B2C3 B4D2 2"
DRAWN = "00000/00000/00000/00020/00000 B2C4 B4D3 4"
# Around C3 (height 1): B3 level, B4 one up, C2 too high, C4 a dome, D2 and D3 occupied, B2 and D4 down.
STEPS = "00000/00120/03140/00000/00000 C3D2 D3E5 2"
# Around C4: B3 height 3, B4 a dome, B5 and D5 occupied.
BUILDS = "00000/00340/00000/00000/00000 C3B5 D5E1 2"
CLIMB = "00000/03200/00111/00000/00000 B3E5 C4D2 8"
# Seat 1 sits in the corner and can get out over B1 only; C2-C1 with a build on B1 shuts it in.
CORNER = "00200/12200/00000/00000/00000 C2E5 A1A2 8"
SHUT: Any = {"t": "move", "w": 0, "to": 10, "build": 5}
# The same with seat 1 standing one storey higher than seat 0.
HIGH_CORNER = "10200/23200/00000/00000/00000 C2E5 A1A2 8"


def game(turn_limit: int = 200) -> ludodrome.Game:
    return ludodrome.make("skysummit", turn_limit=turn_limit)


def at(line: str, turn_limit: int = 200) -> Any:
    return game(turn_limit).parse_state(line)


def place(first: int, second: int) -> Any:
    return {"t": "place", "to": [first, second]}


def step(worker: int, to: int, build: int | None) -> Any:
    return {"t": "move", "w": worker, "to": to, "build": build}


def cell(name: str) -> int:
    return "ABCDE".index(name[0]) * 5 + int(name[1]) - 1


def cells(names: str) -> list[int]:
    return [cell(name) for name in names.split()]


def destinations(state: Any, worker: int) -> list[int]:
    return sorted({move["to"] for move in GAME.legal_moves(state) if move["w"] == worker})


def builds(state: Any, worker: int, to: str) -> list[int | None]:
    return [move["build"] for move in GAME.legal_moves(state) if (move["w"], move["to"]) == (worker, cell(to))]


def changed(state: Any, **changes: Any) -> Any:
    return {**copy.deepcopy(state), **changes}


def refuse(state: Any, move: Any, match: str, turn_limit: int = 200) -> None:
    """A move is refused by apply with that sentence, by is_legal without; and nothing is changed by either."""
    room = game(turn_limit)
    before = json.dumps(state)
    assert room.is_legal(state, move) is False
    with pytest.raises(ludodrome.IllegalMove, match=match):
        room.apply(state, move)
    assert json.dumps(state) == before


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
    room = game(turn_limit)
    state = room.initial_state()
    for move in (place(12, 6), place(8, 16))[:turn_limit]:
        state = room.apply(state, move)
    assert (state["phase"], state["ply"]) == (phase, turn_limit)
    assert (state["winner"], state["reason"]) == (None, "turn limit: draw")
    assert room.to_move(state) is None
    assert room.legal_moves(state) == []


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
    room = game(10)
    state = room.parse_state(f"{heights}0/00000/00000/00000/00000 A1A2 A3A4 10")
    assert (state["winner"], state["reason"]) == (winner, reason)
    scores = {None: [0.5, 0.5], 0: [1.0, 0.0], 1: [0.0, 1.0]}[winner]
    returns = {None: [0.0, 0.0], 0: [1.0, -1.0], 1: [-1.0, 1.0]}[winner]
    assert room.outcome(state) == ludodrome.Outcome(winner, scores, returns, reason)


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
    room = game(limit)
    before = at(line, limit)
    after = room.apply(before, move)
    assert after["reason"]
    assert after["ply"] == before["ply"] + 1
    assert room.legal_moves(after) == []
    assert room.to_move(after) is None
    for attempt in (move, step(0, 1, 2), place(1, 2), None, "nonsense", {"t": 1.0}):
        refuse(after, attempt, "(?i)^the game is over", limit)
    with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
        room.parse_move("nonsense", after)
    with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
        room.move(0, after)


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


# Encodings


def test_action_numbers_of_placements() -> None:
    state = GAME.initial_state()
    assert GAME.num_actions == 744
    for a, b in permutations(range(25), 2):
        assert GAME.action(place(a, b), state) == a * 24 + (b if b < a else b - 1)
    assert [GAME.action(move, state) for move in GAME.legal_moves(state)] == list(range(600))
    assert GAME.action(place(12, 6), state) == 294
    assert GAME.action(place(8, 16), at(ONE_PLACED)) == 207


@pytest.mark.parametrize("line", [BOTH_PLACED, STEPS, BUILDS, CLIMB, CORNER])
def test_action_numbers_of_turns(line: str) -> None:
    state = at(line)
    directions = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

    def towards(start: int, end: int) -> int:
        return directions.index((end // 5 - start // 5, end % 5 - start % 5))

    listed = GAME.legal_moves(state)
    for move in listed:
        source = state["workers"][state["ply"] % 2][move["w"]]
        direction = towards(source, move["to"])
        build = 8 if move["build"] is None else towards(move["to"], move["build"])
        number = 600 + move["w"] * 72 + direction * 9 + build
        assert GAME.action(move, state) == number
        assert GAME.move(number, state) == move
    assert listed == sorted(listed, key=lambda move: (move["w"], move["to"], move["build"] or 0))


def test_the_actions_of_the_example() -> None:
    state = at(BOTH_PLACED)
    assert GAME.action(step(0, 0, 1), state) == 604
    assert GAME.action(step(1, 18, 24), state) == 742
    assert GAME.action(step(1, 13, 18), state) == 714
    assert GAME.action(step(0, 6, None), at(CLIMB)) == 635


@pytest.mark.parametrize("number", [-1, 744, True, 1.0, "604", None])
def test_a_number_that_is_no_action_is_refused(number: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove, match="0 to 743"):
        GAME.move(number, at(BOTH_PLACED))


def test_an_action_that_is_illegal_here_is_refused() -> None:
    for number in (0, 599, 608, 743):
        with pytest.raises(ludodrome.IllegalMove):
            GAME.move(number, at(BOTH_PLACED))
    legal = {GAME.action(move, at(BOTH_PLACED)) for move in GAME.legal_moves(at(BOTH_PLACED))}
    for number in set(range(744)) - legal:
        with pytest.raises(ludodrome.IllegalMove):
            GAME.move(number, at(BOTH_PLACED))


def test_the_example_of_the_page() -> None:
    state = GAME.initial_state()
    state = GAME.apply(state, place(12, 6))
    assert state == changed(GAME.initial_state(), ply=1, workers=[[6, 12], [None, None]])
    state = GAME.apply(state, place(8, 16))
    assert state == changed(GAME.initial_state(), phase="play", ply=2, workers=[[6, 12], [8, 16]])
    state = GAME.apply(state, step(1, 13, 18))
    board = [0] * 25
    board[18] = 1
    assert state == changed(at(BOTH_PLACED), ply=3, board=board, workers=[[6, 13], [8, 16]])
    assert len(GAME.legal_moves(state)) == 72
    assert GAME.action(step(1, 17, 18), state) == 712
    assert GAME.format_move(step(1, 17, 18), state) == "2D2-D3 ↑D4"
    state = GAME.apply(state, step(1, 17, 18))
    assert state == at(DRAWN)
    assert len(GAME.legal_moves(state)) == 64


# Notation


@pytest.mark.parametrize(
    ("line", "move", "text"),
    [
        (START, place(6, 12), "place B2 C3"),
        (START, place(12, 6), "place C3 B2"),
        (BOTH_PLACED, step(1, 13, 18), "2C3-C4 ↑D4"),
        (BOTH_PLACED, step(0, 0, 1), "1B2-A1 ↑A2"),
        (CLIMB, step(0, 6, None), "1B3-B2"),
    ],
)
def test_moves_are_written_exactly_like_this(line: str, move: Any, text: str) -> None:
    assert GAME.format_move(move, at(line)) == text
    assert GAME.parse_move(text, at(line)) == move


@pytest.mark.parametrize(
    "text",
    [
        "2C3-C4 ↑D4",
        "2c3-c4 ↑d4",
        "c4 d4",
        "C4D4",
        "c4d4",
        "2 C4 + D4",
        "c3-c4^d4",
        "C3-C4+D4",
        "C3-C4 ↑ D4",
        "2C3-C4D4",
        "2C3-C4 D4",
        "2c4d4",
        "2c4^d4",
        "  2 C 3 - C 4  ↑  D 4  ",
        "2 c3 - c4 d4",
        "C3 -C4 ^ D4",
    ],
)
def test_reading_a_turn_is_generous(text: str) -> None:
    assert GAME.parse_move(text, at(BOTH_PLACED)) == step(1, 13, 18)


@pytest.mark.parametrize("text", ["place B2 C3", "PLACE b2c3", "placeB2C3", " Place  b 2  c 3 ", "pLaCe B2C3"])
def test_reading_a_placement_is_generous(text: str) -> None:
    assert GAME.parse_move(text, GAME.initial_state()) == place(6, 12)


@pytest.mark.parametrize("text", ["1B3-B2", "1b3-b2", "b3-b2", "B2", "b 2", "1B2", " 1 b3 - b2 "])
def test_reading_a_winning_step_is_generous(text: str) -> None:
    assert GAME.parse_move(text, at(CLIMB)) == step(0, 6, None)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (START, "B2 C3"),  # the word place stays
        (START, "place B2"),
        (START, "place B2 B2"),
        (START, "place B2 C3 D4"),
        (START, "place B2 F1"),
        (ONE_PLACED, "place B2 D4"),
        (START, "2C3-C4 ↑D4"),
        (BOTH_PLACED, "place A1 A2"),
        (BOTH_PLACED, "2C3-C4"),  # so does the build of a step that does not win
        (BOTH_PLACED, "C4"),
        (BOTH_PLACED, "1C3-C4 ↑D4"),  # the wrong worker
        (BOTH_PLACED, "2B2-C4 ↑D4"),
        (BOTH_PLACED, "3C3-C4 ↑D4"),
        (BOTH_PLACED, "C5 D5"),
        (BOTH_PLACED, "C4 A1"),
        (BOTH_PLACED, "2C3-C4 ↑D4 ↑D4"),
        (BOTH_PLACED, "north please"),
        (BOTH_PLACED, ""),
        (BOTH_PLACED, "-C4 D4 x"),
        (CLIMB, "1B3-B2 ↑A1"),
        (CLIMB, "1B3-B2 ↑B3"),
    ],
)
def test_a_text_that_fits_no_legal_move_is_refused(line: str, text: str) -> None:
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.parse_move(text, at(line))
    assert "no legal move" in str(refusal.value) or "is written like" in str(refusal.value)


def test_a_text_that_fits_more_than_one_legal_move_is_refused() -> None:
    state = at(BOTH_PLACED)
    both = [step(0, cell("B3"), cell("A3")), step(1, cell("B3"), cell("A3"))]
    assert all(move in GAME.legal_moves(state) for move in both)
    with pytest.raises(ludodrome.IllegalMove, match="more than one legal move"):
        GAME.parse_move("B3 A3", state)
    assert GAME.parse_move("1 B3 A3", state) == GAME.parse_move("b2-b3 a3", state) == both[0]
    assert GAME.parse_move("2 B3 A3", state) == GAME.parse_move("c3-b3 a3", state) == both[1]


@pytest.mark.parametrize("text", [None, 7, ["2C3-C4 ↑D4"], {"t": "move"}, b"c4d4"])
def test_only_a_text_is_read(text: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove):
        GAME.parse_move(text, at(BOTH_PLACED))


# One line


@pytest.mark.parametrize(
    ("line", "limit"),
    [
        (START, 200),
        (ONE_PLACED, 200),
        (ONE_PLACED, 1),
        (BOTH_PLACED, 2),
        (DRAWN, 200),
        (DRAWN, 4),
        (STEPS, 200),
        ("00200/22200/00000/00000/00000 C1E5 A1A2 9", 200),
        ("00000/03200/00111/00000/00000 B2E5 C4D2 9", 200),
        ("44444/44444/44444/44444/00000 E5E1 E4E2 1000", 1000),
    ],
)
def test_the_one_line_form_there_and_back(line: str, limit: int) -> None:
    assert game(limit).format_state(at(line, limit)) == line


def test_what_follows_from_the_line() -> None:
    assert at(DRAWN) == {
        "phase": "play",
        "ply": 4,
        "board": [0] * 18 + [2] + [0] * 6,
        "workers": [[6, 13], [8, 17]],
        "winner": None,
        "reason": "",
    }
    assert at(ONE_PLACED)["phase"] == "place"
    assert at(DRAWN, 4)["reason"] == "turn limit: draw"
    stuck = at("00200/22200/00000/00000/00000 C1E5 A1A2 9")
    assert (stuck["winner"], stuck["reason"]) == (0, "no legal moves")
    climbed = at("00000/03200/00111/00000/00000 B2E5 C4D2 9")
    assert (climbed["winner"], climbed["reason"]) == (0, "reached level 3")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nonsense",
        "00000/00000/00000/00000/00000 - -",
        "00000/00000/00000/00000/00000 - - 0 0",
        "00000/00000/00000/00000 - - 0",
        "00000/00000/00000/00000/00000/00000 - - 0",
        "00000/00000/00000/00000/0000 - - 0",
        "0000000000000000000000000 - - 0",
        "00000/00000/00000/00000/00005 B2C3 B4D2 2",
        "00000/00000/00000/00000/0000x B2C3 B4D2 2",
        "00000/00000/00000/00000/0000² B2C3 B4D2 2",
        "00000/00000/00000/00000/00000 B2 B4D2 2",
        "00000/00000/00000/00000/00000 B2C3D4 B4D2 2",
        "00000/00000/00000/00000/00000 B2F3 B4D2 2",
        "00000/00000/00000/00000/00000 B2C6 B4D2 2",
        "00000/00000/00000/00000/00000 B2C0 B4D2 2",
        "00000/00000/00000/00000/00000 - B4D2 2",
        "00000/00000/00000/00000/00000 B2C3 - 2",
        "00000/00000/00000/00000/00000 B2C3 B4D2 1",
        "00000/00000/00000/00000/00000 B2C3 - 0",
        "00000/00000/00000/00000/00000 - B2C3 1",
        "00000/00000/00000/00000/00000 C3B2 - 1",
        "00000/00000/00000/00000/00000 B2C3 B4B2 2",
        "00000/00000/00000/00000/00001 B2C3 - 1",
        "00000/00000/00000/00000/00000 B2C3 B4D2 x",
        "00000/00000/00000/00000/00000 B2C3 B4D2 -2",
        "00000/00000/00000/00000/00000 B2C3 B4D2 2.0",
        "00000/00000/00000/00000/00000 B2C3 B4D2 201",
        "00000/04000/00000/00000/00000 B2C3 B4D2 2",
        "00000/03000/00000/00000/00000 B2C3 B4D2 2",
    ],
)
def test_a_line_that_is_no_position_is_refused(line: str) -> None:
    with pytest.raises(ludodrome.BadState) as refusal:
        at(line)
    assert len(str(refusal.value)) > 10


@pytest.mark.parametrize("line", [None, 7, [START], {}, b"x"])
def test_a_line_is_a_text(line: Any) -> None:
    with pytest.raises(ludodrome.BadState):
        GAME.parse_state(line)


# Drawing

DRAWING = """\
     1     2     3     4     5
  ┌─────┬─────┬─────┬─────┬─────┐
A │ 0   │ 0   │ 0   │ 0   │ 0   │ A
  ├─────┼─────┼─────┼─────┼─────┤
B │ 0   │ 0 ●1│ 0   │ 0 ◆1│ 0   │ B
  ├─────┼─────┼─────┼─────┼─────┤
C │ 0   │ 0   │ 0   │ 0 ●2│ 0   │ C
  ├─────┼─────┼─────┼─────┼─────┤
D │ 0   │ 0   │ 0 ◆2│ 2   │ 0   │ D
  ├─────┼─────┼─────┼─────┼─────┤
E │ 0   │ 0   │ 0   │ 0   │ 0   │ E
  └─────┴─────┴─────┴─────┴─────┘
     1     2     3     4     5
ply 4, seat 0 ● to move"""


def test_the_drawing_is_that_of_the_page_to_the_character() -> None:
    assert GAME.render(at(DRAWN)) == DRAWING


@pytest.mark.parametrize(
    ("line", "limit", "last"),
    [
        (START, 200, "ply 0, seat 0 ● to move"),
        (ONE_PLACED, 200, "ply 1, seat 1 ◆ to move"),
        ("00000/03200/00111/00000/00000 B2E5 C4D2 9", 200, "ply 9, over: seat 0 ● wins (reached level 3)"),
        ("00200/22200/00000/00000/00000 A1A2 C1E5 10", 200, "ply 10, over: seat 1 ◆ wins (no legal moves)"),
        ("00000/00000/00000/00000/00000 B2C3 B4D2 200", 200, "ply 200, over: drawn (turn limit: draw)"),
        ("00000/01000/00000/00000/00000 B2C3 B4D2 9", 9, "ply 9, over: seat 0 ● wins (turn limit: higher altitude)"),
        ("00000/02010/00000/01000/00000 B2C3 B4D2 9", 9, "ply 9, over: seat 0 ● wins (turn limit: higher peak)"),
    ],
)
def test_the_line_below_the_drawing(line: str, limit: int, last: str) -> None:
    drawing = game(limit).render(at(line, limit)).split("\n")
    assert drawing[-1] == last
    assert len(drawing) == 14
    assert all(row == row.rstrip() for row in drawing)


# What is refused: states

RUNNING = at(DRAWN)
FRESH = at(START)
PLACED = at(ONE_PLACED)
STUCK = GAME.apply(at(CORNER), SHUT)
CLIMBED = GAME.apply(at(CLIMB), step(0, 6, None))


def board_with(index: int, height: Any) -> list[Any]:
    board: list[Any] = list(RUNNING["board"])
    board[index] = height
    return board


def without(key: str) -> Any:
    return {name: value for name, value in RUNNING.items() if name != key}


BOARDS: list[Any] = [None, 0, "0" * 25, {}, [], [0] * 24, [0] * 26, [[0] * 5] * 5]
WORKERS: list[Any] = [
    None,
    {},
    [],
    [6, 13, 8, 17],
    [[6, 13]],
    [[6, 13], [8, 17], [0, 1]],
    [[6, 13], [8]],
    [[6, 13], [8, 17, 18]],
    [[6, 13], None],
    [[6, 13], "B4D3"],
    [[None, None], [8, 17]],
    [[6, 13], [None, None]],
    [[6, None], [8, 17]],
    [[6, 13], [None, 17]],
    [[6, 25], [8, 17]],
    [[-1, 13], [8, 17]],
    [[6, 13], [8, 10**30]],
    [[True, 13], [8, 17]],
    [[6, 13], [8, 17.0]],
    [["B2", 13], [8, 17]],
]

BAD_STATES: list[tuple[str, Any, str]] = [
    # The shape
    *[(f"not an object: {value!r}", value, "object|keys") for value in (None, [], "", 7, True, [RUNNING])],
    ("empty", {}, "phase"),
    *[(f"no {key}", without(key), key) for key in RUNNING],
    ("unknown key", changed(RUNNING, to_move=0), "to_move"),
    ("unknown key turn_limit", changed(RUNNING, turn_limit=200), "turn_limit"),
    ("a key in another spelling", {**without("ply"), "Ply": 4}, "ply"),
    # ply and phase
    *[(f"ply {ply!r}", changed(RUNNING, ply=ply), "ply") for ply in (True, 4.0, "4", None, [4], -1, -2, 201, 10**30)],
    *[
        (f"phase {phase!r}", changed(RUNNING, phase=phase), "phase")
        for phase in ("place", "over", "", "Play", None, 1, True)
    ],
    ("phase play at ply 0", changed(FRESH, phase="play"), "phase"),
    ("phase play at ply 1", changed(PLACED, phase="play"), "phase"),
    # board
    *[(f"board {board!r}", changed(RUNNING, board=board), "board") for board in BOARDS],
    *[
        (f"height {height!r}", changed(RUNNING, board=board_with(0, height)), "board")
        for height in (5, 9, -1, True, False, 1.0, 0.0, None, "0", [0], 10**30)
    ],
    ("a tower before the first placement", changed(FRESH, board=[1] + [0] * 24), "board"),
    ("a tower before the second placement", changed(PLACED, board=[0] * 24 + [4]), "board"),
    # workers
    *[(f"workers {workers!r}", changed(RUNNING, workers=workers), "workers") for workers in WORKERS],
    ("two of one seat on a cell", changed(RUNNING, workers=[[6, 6], [8, 17]]), "workers"),
    ("two seats on a cell", changed(RUNNING, workers=[[6, 13], [13, 17]]), "workers"),
    ("seat 0 has not placed at ply 1", changed(PLACED, workers=[[None, None], [None, None]]), "workers"),
    ("half a placement", changed(PLACED, workers=[[6, None], [None, None]]), "workers"),
    ("seat 0 has placed at ply 0", changed(FRESH, workers=[[6, 12], [None, None]]), "workers"),
    ("seat 1 has placed at ply 0", changed(FRESH, workers=[[None, None], [6, 12]]), "workers"),
    ("seat 1 has placed at ply 1", changed(PLACED, workers=[[6, 12], [8, 16]]), "workers"),
    ("half of seat 1 has placed at ply 1", changed(PLACED, workers=[[6, 12], [None, 16]]), "workers"),
    ("a placed pair in descending order", changed(PLACED, workers=[[12, 6], [None, None]]), "workers"),
    # Where workers stand
    ("seat 0 on a dome", changed(RUNNING, board=board_with(6, 4)), "(?i)worker.*dome|dome.*worker"),
    ("seat 1 on a dome", changed(RUNNING, board=board_with(17, 4)), "(?i)worker.*dome|dome.*worker"),
    ("the seat to move on height 3", changed(RUNNING, board=board_with(6, 3)), "3"),
    (
        "the seat to move on height 3, said to have won",
        changed(RUNNING, board=board_with(6, 3), winner=0, reason="reached level 3"),
        "3",
    ),
    (
        "two of the last mover on height 3",
        changed(
            RUNNING,
            board=[3 if index in (8, 17) else 0 for index in range(25)],
            winner=1,
            reason="reached level 3",
        ),
        "3",
    ),
    (
        "one of each seat on height 3",
        changed(
            RUNNING,
            board=[3 if index in (6, 17) else 0 for index in range(25)],
            winner=1,
            reason="reached level 3",
        ),
        "3",
    ),
    ("at ply 2 the last mover is seat 1", changed(at(BOTH_PLACED), board=board_with(6, 3)), "3"),
    # winner and reason
    *[(f"winner {winner!r} of a running game", changed(RUNNING, winner=winner), "winner") for winner in (0, 1)],
    *[
        (f"winner {winner!r}", changed(RUNNING, winner=winner), "winner")
        for winner in (2, -1, True, False, 0.0, "0", "", [0])
    ],
    *[
        (f"winner {winner!r} of a finished game", changed(CLIMBED, winner=winner), "winner")
        for winner in (None, 1, False, 0.0, 2)
    ],
    *[
        (f"reason {reason!r} of a running game", changed(RUNNING, reason=reason), "reason")
        for reason in ("no legal moves", "reached level 3", "turn limit: draw", "because", " ", None, 0, False)
    ],
    *[
        (f"reason {reason!r} of a finished game", changed(CLIMBED, reason=reason), "reason")
        for reason in ("no legal moves", "turn limit: higher altitude", "Reached level 3", None)
    ],
    ("over although running", changed(RUNNING, winner=1, reason="no legal moves"), "winner|reason"),
    ("drawn although running", changed(RUNNING, reason="turn limit: draw"), "reason"),
    ("running although stuck", changed(STUCK, winner=None, reason=""), "winner|reason"),
    ("no winner although stuck", changed(STUCK, winner=None), "winner"),
    ("the stuck seat as the winner", changed(STUCK, winner=1), "winner"),
    ("no reason although stuck", changed(STUCK, reason=""), "reason"),
    ("running although on level 3", changed(CLIMBED, winner=None, reason=""), "winner|reason"),
]


@pytest.mark.parametrize(("state", "field"), [pytest.param(*case[1:], id=case[0]) for case in BAD_STATES])
def test_a_bad_state_is_refused_with_its_field_named(state: Any, field: str) -> None:
    """Rulings (all games): a state is refused when its own fields contradict each other or the rules."""
    kept = copy.deepcopy(state)
    for question in (GAME.legal_moves, GAME.to_move, GAME.outcome, GAME.encode, GAME.render, GAME.format_state):
        with pytest.raises(ludodrome.BadState, match=field):
            question(state)
    with pytest.raises(ludodrome.BadState, match=field):
        GAME.apply(state, step(0, 0, 1))
    with pytest.raises(ludodrome.BadState, match=field):
        GAME.is_legal(state, step(0, 0, 1))
    assert state == kept


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({}, "winner|reason"),
        ({"winner": 0}, "winner|reason"),
        ({"reason": "turn limit: draw", "winner": 1}, "winner"),
        ({"reason": "turn limit: higher peak", "winner": None}, "reason"),
        ({"reason": "turn limit: higher altitude", "winner": 0}, "winner|reason"),
        ({"ply": 5}, "ply"),
        ({"ply": 6}, "ply"),
    ],
)
def test_a_state_at_the_turn_limit_must_say_what_the_tie_break_says(changes: Any, field: str) -> None:
    with pytest.raises(ludodrome.BadState, match=field):
        game(4).outcome(changed(RUNNING, **changes))


def test_a_state_of_a_longer_game_is_refused_by_a_shorter_one() -> None:
    with pytest.raises(ludodrome.BadState, match="ply"):
        game(3).to_move(RUNNING)
    with pytest.raises(ludodrome.BadState, match=r"winner|reason"):
        GAME.to_move(at(DRAWN, 4))


@pytest.mark.parametrize(
    "line",
    [
        "33333/33333/33333/33333/00000 E1E3 E4E5 2",  # heights that two turns could not have built
        "00000/00000/00000/00000/00000 B2C3 B4D2 150",  # or that 150 turns should have
        "12121/21212/12121/21212/12121 A1E5 C3D4 7",
        "44444/44444/44444/44444/00000 E1E2 E4E5 3",
        "00000/00000/00000/00000/00000 C3B2 D2B4 2",  # workers in either order
        "00000/00000/00000/00000/00000 E5A1 A2E4 199",
        "00000/03210/00000/00000/00000 B3B4 A1A2 13",
    ],
)
def test_positions_that_contradict_nothing_are_welcome(line: str) -> None:
    """Rulings (all games): positions that could hardly arise but contradict nothing are welcome."""
    state = at(line)
    assert GAME.to_move(state) == state["ply"] % 2
    assert GAME.format_state(state) == line
    moves = GAME.legal_moves(state)
    assert moves
    assert all(GAME.apply(state, move)["ply"] == state["ply"] + 1 for move in moves)


def test_the_last_mover_is_reckoned_from_ply_alone_at_ply_2_as_well() -> None:
    won = at("00000/00030/00000/00000/00000 B2C3 B4D2 2")
    assert (won["winner"], won["reason"]) == (1, "reached level 3")
    stuck = at("04444/44444/44444/44444/04400 A1E1 E4E5 2")
    assert (stuck["winner"], stuck["reason"]) == (1, "no legal moves")
    with pytest.raises(ludodrome.BadState, match="3"):
        at("00000/03000/00000/00000/00000 B2C3 B4D2 2")


def test_level_3_comes_before_the_turn_limit_in_a_set_up_position_too() -> None:
    state = at("00000/00030/00000/22000/00000 D1D2 B4E5 10", 10)
    assert (state["winner"], state["reason"]) == (1, "reached level 3")
    at_limit = at("04444/44444/44444/44444/04410 A1E1 E4E5 10", 10)
    assert (at_limit["winner"], at_limit["reason"]) == (1, "turn limit: higher altitude")


# What is refused: moves

SHAPES: list[Any] = [
    None,
    True,
    0,
    604,
    "2C3-C4 ↑D4",
    [],
    [1, 13, 18],
    {},
    {"t": "move"},
    {"t": "move", "w": 1, "to": 13},
    {"t": "move", "w": 1, "build": 18},
    {"t": "move", "to": 13, "build": 18},
    {"w": 1, "to": 13, "build": 18},
    {"t": "move", "w": 1, "to": 13, "build": 18, "from": 12},
    {"t": "Move", "w": 1, "to": 13, "build": 18},
    {"t": "step", "w": 1, "to": 13, "build": 18},
    {"t": None, "w": 1, "to": 13, "build": 18},
    {"t": ["move"], "w": 1, "to": 13, "build": 18},
    {"t": "move", "w": True, "to": 13, "build": 18},
    {"t": "move", "w": 1.0, "to": 13, "build": 18},
    {"t": "move", "w": 2, "to": 13, "build": 18},
    {"t": "move", "w": -1, "to": 13, "build": 18},
    {"t": "move", "w": "1", "to": 13, "build": 18},
    {"t": "move", "w": None, "to": 13, "build": 18},
    {"t": "move", "w": 1, "to": 13.0, "build": 18},
    {"t": "move", "w": 0, "to": True, "build": 2},
    {"t": "move", "w": 1, "to": "C4", "build": 18},
    {"t": "move", "w": 1, "to": None, "build": 18},
    {"t": "move", "w": 1, "to": [13], "build": 18},
    {"t": "move", "w": 1, "to": 13, "build": 18.0},
    {"t": "move", "w": 0, "to": 0, "build": True},
    {"t": "move", "w": 1, "to": 13, "build": "D4"},
    {"t": "move", "w": 1, "to": 13, "build": False},
    {"t": "place", "to": 13},
    {"t": "place", "to": []},
    {"t": "place", "to": [13]},
    {"t": "place", "to": [13, 14, 15]},
    {"t": "place", "to": [True, 13]},
    {"t": "place", "to": [13, 14.0]},
    {"t": "place", "to": [None, None]},
    {"t": "place", "to": "A1A2"},
    {"t": "place"},
    {"t": "place", "to": [13, 14], "w": 0},
]


@pytest.mark.parametrize("line", [BOTH_PLACED, START, ONE_PLACED])
@pytest.mark.parametrize("move", SHAPES, ids=repr)
def test_a_move_of_the_wrong_shape_is_refused(line: str, move: Any) -> None:
    """Rulings (all games): unknown keys, and true or 1.0 where an integer belongs, are refused in moves."""
    state = at(line)
    refuse(state, move, r"(?i)\bmove\b|\bt\b|\bw\b|\bto\b|\bbuild\b|placement")
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.apply(state, move)
    assert not re.search("occupied|adjacent|dome|phase", str(refusal.value))
    with pytest.raises(ludodrome.IllegalMove):
        GAME.action(move, state)
    with pytest.raises(ludodrome.IllegalMove):
        GAME.format_move(move, state)


PHASE = "first turn"
OFF = "0 to 24"
TWICE = "twice"
OCCUPIED = "occupied|free"
ADJACENT = "not (adjacent|next) to"
DOME = "dome"
HIGH = "more than one level higher"
WINNING = "wins at once"
NO_BUILD = "followed by a build"


@pytest.mark.parametrize(
    ("line", "move", "match"),
    [
        # The phase, before anything about cells
        (BOTH_PLACED, place(0, 1), PHASE),
        (BOTH_PLACED, place(99, 99), PHASE),
        (BOTH_PLACED, place(6, 6), PHASE),
        (START, step(0, 0, 1), PHASE),
        (ONE_PLACED, step(0, 99, None), PHASE),
        # Placements: off the board, one cell twice, occupied
        (START, place(0, 25), OFF),
        (START, place(-1, 3), OFF),
        (START, place(25, 25), OFF),
        (ONE_PLACED, place(6, 25), OFF),
        (ONE_PLACED, place(10**30, 6), OFF),
        (START, place(7, 7), TWICE),
        (ONE_PLACED, place(6, 6), TWICE),
        (ONE_PLACED, place(6, 7), OCCUPIED),
        (ONE_PLACED, place(7, 12), OCCUPIED),
        # Steps: off the board or not adjacent, occupied, a dome, too high
        (STEPS, step(0, 25, 12), OFF),
        (STEPS, step(0, -1, 12), OFF),
        (STEPS, step(0, 10**30, None), OFF),
        (STEPS, step(0, 0, 1), ADJACENT),
        (STEPS, step(0, 12, 13), ADJACENT),
        (STEPS, step(0, 24, 99), ADJACENT),  # occupied as well, and so is the build wrong
        (STEPS, step(0, 16, 12), OCCUPIED),
        (STEPS, step(0, 17, 17), OCCUPIED),
        (STEPS, step(0, 13, 12), DOME),  # too high as well
        (STEPS, step(0, 13, None), DOME),
        (STEPS, step(0, 11, None), HIGH),
        (STEPS, step(0, 11, 12), HIGH),
        (STEPS, step(0, 11, 99), HIGH),
        (STEPS, step(1, 11, 12), HIGH),
        # Builds: named with a winning step, not named with another, off the board or not adjacent, occupied, a dome
        (CLIMB, step(0, 6, 7), WINNING),
        (CLIMB, step(0, 6, 99), WINNING),
        (CLIMB, step(0, 6, 24), WINNING),
        (BUILDS, step(0, 13, None), NO_BUILD),
        (BUILDS, step(0, 13, 25), OFF),
        (BUILDS, step(0, 13, -1), OFF),
        (BUILDS, step(0, 13, 0), ADJACENT),
        (BUILDS, step(0, 13, 13), ADJACENT),  # where it now stands itself
        (BUILDS, step(0, 13, 20), ADJACENT),  # occupied as well
        (BUILDS, step(0, 13, 9), OCCUPIED),
        (BUILDS, step(0, 13, 19), OCCUPIED),
        (BUILDS, step(0, 13, 8), DOME),
    ],
)
def test_the_sentence_names_the_first_thing_that_is_wrong(line: str, move: Any, match: str) -> None:
    refuse(at(line), move, match)
    # A refusal for one cause does not speak of the others.
    others = {PHASE, OFF, TWICE, OCCUPIED, ADJACENT, DOME, HIGH, WINNING, NO_BUILD} - {match}
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.apply(at(line), move)
    assert not any(re.search(other, str(refusal.value)) for other in others)


@pytest.mark.parametrize(
    ("line", "move", "name"),
    [
        (START, place(7, 7), "B3"),
        (STEPS, step(0, 17, 12), "D3"),
        (STEPS, step(0, 13, 12), "C4"),
        (STEPS, step(0, 11, None), "C2"),
        (STEPS, step(0, 0, 1), "A1"),
        (BUILDS, step(0, 13, 9), "B5"),
        (BUILDS, step(0, 13, 8), "B4"),
        (BUILDS, step(0, 13, 0), "A1"),
    ],
)
def test_the_sentence_names_the_cell(line: str, move: Any, name: str) -> None:
    refuse(at(line), move, rf"\b{name}\b")
