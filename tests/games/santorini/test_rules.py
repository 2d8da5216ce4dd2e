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

pytestmark = pytest.mark.xdist_group("santorini")

TWO = ludodrome.make("santorini")
THREE = ludodrome.make("santorini", players=3)

BARE: list[list[int]] = [[0] * 5 for _ in range(5)]
START = "00000/00000/00000/00000/00000 C2B3 D3C4 0"
START_OF_THREE = "00000/00000/00000/00000/00000 C3B3 D3B4 D2D4 0"
# Around C3 (height 1): B3 level, B4 one up, C2 too high, C4 a dome, D2 and D3 occupied, B2 and D4 down.
STEPS = "00000/00120/03140/00000/00000 C3D2 D3E5 2"
# Around C4: B3 height 3, B4 a dome, B5 and D5 occupied.
BUILDS = "00000/00340/00000/00000/00000 C3B5 D5E1 2"
CLIMB = "00000/02300/00110/00000/00000 B2E5 D3C4 8"
# White sits in the corner and can get out over B1 only; [N1C2C1B1] shuts it in.
CORNER = "00200/12200/00000/00000/00000 C2E5 A1A2 8"
CORNER_OF_THREE = "00200/12200/00000/00000/00000 C2E5 A1A2 E1E3 9"
SHUT = "[N1C2C1B1]"


def room_of(line: str) -> ludodrome.Game:
    """The game with as many players as the line has groups of workers."""
    return THREE if len(line.split()) == 5 else TWO


def at(line: str) -> Any:
    return room_of(line).parse_state(line)


def changed(state: Any, **changes: Any) -> Any:
    return {**copy.deepcopy(state), **changes}


def destinations(state: Any, worker: str) -> list[str]:
    return sorted({move[5:7] for move in TWO.legal_moves(state) if move[1:3] == worker})


def builds(state: Any, worker: str, to: str) -> list[str]:
    return [move[7:9] for move in TWO.legal_moves(state) if (move[1:3], move[5:7]) == (worker, to)]


def height(state: Any, square: str) -> int:
    found: int = state["board"]["ABCDE".index(square[0])][int(square[1]) - 1]
    return found


def refuse(line: str, move: Any, match: str) -> None:
    """A move is refused by apply with that sentence, by is_legal without; and nothing is changed by either."""
    room, state = room_of(line), at(line)
    before = copy.deepcopy(state)
    assert room.is_legal(state, move) is False
    with pytest.raises(ludodrome.IllegalMove, match=match):
        room.apply(state, move)
    assert state == before


# The rules


def test_r1_two_or_three_seats_with_two_workers_each_and_nothing_hidden_or_random() -> None:
    """Ruling (santorini): option players, 2 or 3, default 2."""
    assert (TWO.seats, THREE.seats) == (2, 3)
    assert TWO.options == {"players": 2}
    for room, letters in ((TWO, "NW"), (THREE, "NWG")):
        state = room.initial_state()
        assert [len(pair) for pair in state["workers"]] == [2] * room.seats
        assert all(room.initial_state(seed) == state for seed in (1, 2, 3**40))
        for seat in (None, *range(room.seats)):
            assert room.observation(state, seat) == state
        for letter in letters:
            moves = room.legal_moves(state)
            assert {move[1:3] for move in moves} == {letter + "1", letter + "2"}
            state = room.apply(state, moves[0])
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


@pytest.mark.parametrize("room", [TWO, THREE], ids=["two", "three"])
def test_r5_the_seats_take_turns_in_order_from_navy_on(room: ludodrome.Game) -> None:
    state = room.initial_state()
    for ply in range(7):
        assert state["ply"] == ply
        assert state["to_move"] == room.to_move(state) == ply % room.seats
        moves = room.legal_moves(state)
        assert {move[1] for move in moves} == {"NWG"[ply % room.seats]}
        state = room.apply(state, moves[-1])


@pytest.mark.parametrize("no_move", [None, "", "[]", "pass", "[pass]"])
def test_r5_there_is_no_passing(no_move: Any) -> None:
    refuse(START, no_move, "^Format")


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER])
def test_r6_every_turn_is_a_step_and_a_build_of_the_same_worker(line: str) -> None:
    room, state = room_of(line), at(line)
    seat = state["to_move"]
    for move in room.legal_moves(state):
        worker, source, to, build = move[1:3], move[3:5], move[5:7], move[7:9]
        assert state["workers"][seat][int(worker[1]) - 1] == source
        after = room.apply(state, move)
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
    after = room_of(line).apply(at(line), move)
    assert room_of(line).outcome(after) == outcome
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
    room = room_of(line)
    after = room.apply(at(line), move)
    assert after["to_move"] is None
    assert room.to_move(after) is None
    assert room.legal_moves(after) == []
    assert after["ply"] == at(line)["ply"] + 1
    assert after["winner"] == (after["ply"] - 1) % room.seats
    for attempt in (move, "[W1A1A2A3]", "nonsense", None, 7):
        assert room.is_legal(after, attempt) is False
        with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
            room.apply(after, attempt)
    for text in (move, "nonsense", ""):
        with pytest.raises(ludodrome.IllegalMove, match=r"(?i)^the game is over"):
            room.parse_move(text, after)


def test_r14_there_is_no_turn_limit() -> None:
    with pytest.raises(ValueError, match="turn_limit"):
        ludodrome.make("santorini", turn_limit=200)
    assert TWO.to_move(at(START.replace(" 0", " 1000000000"))) == 0


@pytest.mark.parametrize("room", [TWO, THREE], ids=["two", "three"])
def test_r14_every_game_ends_with_a_winner_within_100_turns(room: ludodrome.Game) -> None:
    rng = random.Random(14)
    for _ in range(8):
        state = room.initial_state()
        while moves := room.legal_moves(state):
            calm = [move for move in moves if height(state, move[5:7]) < 3]
            state = room.apply(state, rng.choice(calm or moves))
            assert sum(map(sum, state["board"])) == state["ply"] <= 100
        outcome = room.outcome(state)
        assert outcome is not None
        assert outcome.winner == (state["ply"] - 1) % room.seats
        assert outcome.reason in ("reached level 3", "no legal moves")
        assert sum(outcome.returns) == 0
        assert sorted(outcome.scores) == [0] * (room.seats - 1) + [1]


# Options


@pytest.mark.parametrize("value", [0, 1, 4, -2, True, 2.0, 3.0, "2", None, [2]])
def test_players_is_2_or_3(value: Any) -> None:
    with pytest.raises(ValueError, match="players"):
        ludodrome.make("santorini", players=value)


# Rulings on all games


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER, CORNER_OF_THREE])
def test_states_and_moves_are_plain_json_and_apply_changes_nothing(line: str) -> None:
    """Rulings (all games): plain JSON values; apply never changes its input; one fixed order, no doubles."""
    room, state = room_of(line), at(line)
    assert json.loads(json.dumps(state)) == state
    before = copy.deepcopy(state)
    moves = room.legal_moves(state)
    assert moves == room.legal_moves(state)
    assert all(re.fullmatch(r"\[[NWG][12]([A-E][1-5]){3}\]", move) for move in moves)
    actions = [room.action(move, state) for move in moves]
    assert actions == sorted(set(actions))
    assert moves == sorted(moves)  # worker, destination, build: for one seat that is the order of the texts
    for move in moves[:: max(1, len(moves) // 10)]:
        after = room.apply(state, move)
        assert state == before
        after["board"][0][0] = 9
        after["workers"][0][0] = "Z9"
        assert state == before
    assert room.decode(room.encode(state)) == state


def test_a_running_game_has_no_outcome() -> None:
    """Rulings (all games): reason is empty while the game runs."""
    assert TWO.outcome(at(STEPS)) is None
    assert (at(STEPS)["winner"], at(STEPS)["reason"]) == (None, "")


# Encodings


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER_OF_THREE])
def test_action_numbers(line: str) -> None:
    room, state = room_of(line), at(line)
    directions = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

    def towards(start: str, end: str) -> int:
        return directions.index((ord(end[0]) - ord(start[0]), ord(end[1]) - ord(start[1])))

    numbers = []
    for move in room.legal_moves(state):
        number = (int(move[2]) - 1) * 64 + towards(move[3:5], move[5:7]) * 8 + towards(move[5:7], move[7:9])
        assert room.action(move, state) == number
        assert room.move(number, state) == move
        numbers.append(number)
    for number in set(range(128)) - set(numbers):
        with pytest.raises(ludodrome.IllegalMove):
            room.move(number, state)


@pytest.mark.parametrize("number", [-1, 128, True, 1.0, "1", None])
def test_a_number_that_is_no_action_is_refused(number: Any) -> None:
    assert TWO.num_actions == THREE.num_actions == 128
    with pytest.raises(ludodrome.IllegalMove, match="0 to 127"):
        TWO.move(number, at(START))


def test_the_example_of_the_page() -> None:
    state = at(START)
    moves = TWO.legal_moves(state)
    assert len(moves) == 68
    assert moves[:4] == ["[N1C2B1A1]", "[N1C2B1A2]", "[N1C2B1B2]", "[N1C2B1C1]"]
    assert [TWO.action(move, state) for move in moves[:4]] == [1, 2, 4, 6]
    assert (moves[-1], TWO.action(moves[-1], state)) == ("[N2B3C3D4]", 119)
    three = THREE.legal_moves(at(START_OF_THREE))
    assert (len(three), three[0], three[-1]) == (45, "[N1C3B2A1]", "[N2B3C4D5]")
    assert [THREE.action(move, at(START_OF_THREE)) for move in (three[0], three[-1])] == [0, 127]

    assert TWO.action("[N1C2B2C3]", state) == 15
    state = TWO.apply(state, "[N1C2B2C3]")
    board = copy.deepcopy(BARE)
    board[2][2] = 1
    assert state == changed(at(START), ply=1, to_move=1, board=board, workers=[["B2", "B3"], ["D3", "C4"]])
    assert len(TWO.legal_moves(state)) == 75
    assert TWO.action("[W1D3D2C3]", state) == 26
    state = TWO.apply(state, "[W1D3D2C3]")
    board[2][2] = 2
    assert state == changed(at(START), ply=2, to_move=0, board=board, workers=[["B2", "B3"], ["D2", "C4"]])
    assert len(TWO.legal_moves(state)) == 52
    assert TWO.action("[N2B3A3B3]", state) == 78
    state = TWO.apply(state, "[N2B3A3B3]")
    board[1][2] = 1
    assert state == changed(at(START), ply=3, to_move=1, board=board, workers=[["B2", "A3"], ["D2", "C4"]])


# Notation


@pytest.mark.parametrize(
    "text",
    [
        "[N1C2B2C3]",
        "[n1c2b2c3]",
        "[ n1 c2 b2 c3 ]",
        "[N 1 C 2 B 2 C 3]",
        "[\tN1\nC2  B2\r\nC3 ]",
        "I play [n1c2b2c3].",
        "I thought of [C3] first, but I play [ n1 c2 b2 c3 ] and not [N2B3A3A2].",
        "[N1C2B2C3] [N1C2C3B3]",
        "[N1C2B2C3][N2B3A3A2]",
        "My move:\n\n  **[N1C2B2C3]**\n",
        "[N3C2B2C3] [X1C2B2C3] [N1F2B2C3] [N1C2B2C6] [N1C2B2] [] [N1C2B2C3]",
        "[N1C2B2C3D4] then [N1C2B2C3]",
        "[[N1C2B2C3]]",
        "[ [N1C2B2C3]",
        "[N1C2[N1C2B2C3]",
        "(N2B3A3A2) {N2B3A3A2} [N1C2B2C3]",
        "x" * 5000 + "[N1C2B2C3]" + "y" * 5000,
    ],
)
def test_reading_is_generous(text: str) -> None:
    """Ruling (santorini): either case, blanks inside the brackets, text around them, the first one counts."""
    assert TWO.parse_move(text, at(START)) == "[N1C2B2C3]"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "north please",
        "N1C2B2C3",
        "n1 c2 b2 c3",
        "[N1C2B2C3",
        "N1C2B2C3]",
        "(N1C2B2C3)",
        "[N1C2B2]",
        "[N1C2B2C3D4]",
        "[N3C2B2C3]",
        "[N0C2B2C3]",
        "[X1C2B2C3]",
        "[N1F2B2C3]",
        "[N1C2B6C3]",
        "[N1C2B2C0]",
        "[N1-C2-B2-C3]",
        "[N1,C2,B2,C3]",
        "[N\uff11C2B2C3]",
        "[N1C2B2C\uff13]",
        "[1NC2B2C3]",
        "[C3]",
    ],
)
def test_a_text_without_a_bracketed_move_is_a_matter_of_format(text: str) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.parse_move(text, at(START))


@pytest.mark.parametrize("text", [None, 7, ["[N1C2B2C3]"], {"move": "[N1C2B2C3]"}, b"[N1C2B2C3]", True])
def test_only_a_text_is_read(text: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.parse_move(text, at(START))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[N1C2C3B3] or rather [N1C2B2C3]", "Cannot build there"),
        ("[W1D3D2C3], no, [N1C2B2C3]", "Not your worker"),
        ("[n1 d2 d1 c1] [N1C2B2C3]", "No such worker there"),
        ("[C3] [n1c2b3b2] [N1C2B2C3]", "Cannot move there"),
    ],
)
def test_a_first_bracketed_move_that_is_illegal_is_not_replaced_by_a_later_one(text: str, kind: str) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=f"^{kind}"):
        TWO.parse_move(text, at(START))


def test_nothing_but_legality_is_judged() -> None:
    """Ruling (santorini): parse_move does not judge more than that the move is legal."""
    state = at(CLIMB)
    for move in TWO.legal_moves(state):
        assert TWO.parse_move(f"Well, {move.lower()}!", state) == move
        assert TWO.format_move(move, state) == move


def test_the_two_sample_moves_of_the_document() -> None:
    """Ruling (page): the samples show the format only; both are refused at the start."""
    refuse(START, "[N1C2C3B3]", "^Cannot build there: .*B3.*N2")
    white = START.replace(" 0", " 1")
    refuse(white, "[W2D3E3E4]", "^No such worker there: .*W2.*C4.*D3")
    with pytest.raises(ludodrome.IllegalMove, match=r"^No such worker there"):
        TWO.parse_move("[w2 d3 e3 e4]", at(white))


# One line


@pytest.mark.parametrize(
    "line",
    [
        START,
        START_OF_THREE,
        STEPS,
        CORNER_OF_THREE,
        "00200/22200/00000/00000/00000 C1E5 A1A2 9",
        "00000/03300/00110/00000/00000 B3E5 D3C4 9",
        "44444/44444/44444/44444/00000 E5E1 E4E2 1000000000",
    ],
)
def test_the_one_line_form_there_and_back(line: str) -> None:
    assert room_of(line).format_state(at(line)) == line


def test_what_follows_from_the_line() -> None:
    stuck = at("00200/22200/00000/00000/00000 C1E5 A1A2 9")
    assert (stuck["to_move"], stuck["winner"], stuck["reason"]) == (None, 0, "no legal moves")
    climbed = at("00000/03300/00110/00000/00000 B3E5 D3C4 9")
    assert (climbed["to_move"], climbed["winner"], climbed["reason"]) == (None, 0, "reached level 3")
    running = at(START_OF_THREE.replace(" 0", " 5"))
    assert (running["to_move"], running["winner"], running["reason"]) == (2, None, "")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nonsense",
        "00000/00000/00000/00000/00000 C2B3 D3C4",
        "00000/00000/00000/00000/00000 C2B3 0",
        START_OF_THREE,  # three groups of workers in a game of two
        "00000/00000/00000/00000/00000 C2B3 D3C4 A1A2 E1E2 0",
        "00000/00000/00000/00000 C2B3 D3C4 0",
        "00000/00000/00000/00000/00000/00000 C2B3 D3C4 0",
        "00000/00000/00000/00000/0000 C2B3 D3C4 0",
        "00000/00000/00000/00000/00005 C2B3 D3C4 0",
        "00000/00000/00000/00000/0000x C2B3 D3C4 0",
        "00000/00000/00000/00000/0000² C2B3 D3C4 0",
        "00000/00000/00000/00000/00000 C2 D3C4 0",
        "00000/00000/00000/00000/00000 C2B3A1 D3C4 0",
        "00000/00000/00000/00000/00000 C2F3 D3C4 0",
        "00000/00000/00000/00000/00000 C2B6 D3C4 0",
        "00000/00000/00000/00000/00000 - D3C4 0",
        "00000/00000/00000/00000/00000 C2B3 C2C4 0",
        "00000/00000/00000/00000/00000 C2B3 D3C4 x",
        "00000/00000/00000/00000/00000 C2B3 D3C4 -1",
        "00000/00000/00000/00000/00000 C2B3 D3C4 1.0",
        "00000/00000/00000/00000/00000 C2B3 D3C4 1000000001",
        "00000/00000/04000/00000/00000 C2B3 D3C4 0",
        "00000/00000/03000/00000/00000 C2B3 D3C4 0",
    ],
)
def test_a_line_that_is_no_position_is_refused(line: str) -> None:
    with pytest.raises(ludodrome.BadState) as refusal:
        TWO.parse_state(line)
    assert len(str(refusal.value)) > 10


def test_a_line_for_two_is_refused_by_a_game_of_three() -> None:
    with pytest.raises(ludodrome.BadState):
        THREE.parse_state(START)


@pytest.mark.parametrize("line", [None, 7, [START], {}, b"x"])
def test_a_line_is_a_text(line: Any) -> None:
    with pytest.raises(ludodrome.BadState):
        TWO.parse_state(line)


# Drawing

DRAWING = """\
     1     2     3     4     5
  ┌─────┬─────┬─────┬─────┬─────┐
A │ 0   │ 0   │ 0   │ 0   │ 0   │ A
  ├─────┼─────┼─────┼─────┼─────┤
B │ 0   │ 0 N1│ 0 N2│ 0   │ 0   │ B
  ├─────┼─────┼─────┼─────┼─────┤
C │ 0   │ 0   │ 1   │ 0 W2│ 0   │ C
  ├─────┼─────┼─────┼─────┼─────┤
D │ 0   │ 0   │ 0 W1│ 0   │ 0   │ D
  ├─────┼─────┼─────┼─────┼─────┤
E │ 0   │ 0   │ 0   │ 0   │ 0   │ E
  └─────┴─────┴─────┴─────┴─────┘
     1     2     3     4     5"""

DRAWING_OF_THREE = """\
     1     2     3     4     5
  ┌─────┬─────┬─────┬─────┬─────┐
A │ 0 W1│ 0 W2│ 2   │ 0   │ 0   │ A
  ├─────┼─────┼─────┼─────┼─────┤
B │ 2   │ 2   │ 2   │ 0   │ 0   │ B
  ├─────┼─────┼─────┼─────┼─────┤
C │ 0 N1│ 0   │ 4   │ 0   │ 0   │ C
  ├─────┼─────┼─────┼─────┼─────┤
D │ 0   │ 0   │ 0   │ 0   │ 0   │ D
  ├─────┼─────┼─────┼─────┼─────┤
E │ 0 G1│ 0   │ 0 G2│ 0   │ 0 N2│ E
  └─────┴─────┴─────┴─────┴─────┘
     1     2     3     4     5"""


def test_the_drawing_is_that_of_the_document_to_the_character() -> None:
    """Ruling (santorini): the drawing is the one in the document, which shows the position after [N1C2B2C3]."""
    assert TWO.render(TWO.apply(TWO.initial_state(), "[N1C2B2C3]")) == DRAWING


def test_the_drawing_of_a_finished_game_of_three() -> None:
    state = at("00200/22200/00400/00000/00000 C1E5 A1A2 E1E3 10")
    assert state["reason"] == "no legal moves"
    assert THREE.render(state) == DRAWING_OF_THREE


# What is refused: states

RUNNING = at("00000/00000/00200/00000/00000 B2B3 D2C4 2")
RUNNING_OF_THREE = at(START_OF_THREE)
STUCK = TWO.apply(at(CORNER), SHUT)
CLIMBED = TWO.apply(at(CLIMB), "[N1B2B3B2]")


def board_with(square: str, value: Any) -> list[list[Any]]:
    board: list[list[Any]] = copy.deepcopy(RUNNING["board"])
    board["ABCDE".index(square[0])][int(square[1]) - 1] = value
    return board


def row_with(row: Any) -> list[Any]:
    return [row, *copy.deepcopy(RUNNING["board"][1:])]


def without(key: str) -> Any:
    return {name: value for name, value in RUNNING.items() if name != key}


BOARDS: list[Any] = [None, 0, "0" * 25, {}, [], [0] * 25, [[0] * 5] * 4, [[0] * 5] * 6]
WORKERS: list[Any] = [
    None,
    {},
    [],
    ["B2", "B3", "D2", "C4"],
    [["B2", "B3"]],
    [["B2", "B3"], ["D2", "C4"], ["E1", "E2"]],
    [["B2", "B3"], ["D2"]],
    [["B2", "B3"], ["D2", "C4", "E1"]],
    [["B2", "B3"], None],
    [["B2", "B3"], "D2C4"],
    [["B2", None], ["D2", "C4"]],
    [[None, None], ["D2", "C4"]],
    [["b2", "B3"], ["D2", "C4"]],
    [["B2", "F3"], ["D2", "C4"]],
    [["B2", "B0"], ["D2", "C4"]],
    [["B2", "B6"], ["D2", "C4"]],
    [["B2", "B33"], ["D2", "C4"]],
    [["B2", "B\uff13"], ["D2", "C4"]],
    [["B2", " B3"], ["D2", "C4"]],
    [["B2", "B3\n"], ["D2", "C4"]],
    [["B2", "3B"], ["D2", "C4"]],
    [["B2", ""], ["D2", "C4"]],
    [["B2", 7], ["D2", "C4"]],
    [["B2", True], ["D2", "C4"]],
    [["B2", ["B3"]], ["D2", "C4"]],
]
ROWS: list[Any] = [None, 0, "00000", {}, [], [0] * 4, [0] * 6]

BAD_STATES: list[tuple[str, Any, str]] = [
    # The shape
    *[(f"not an object: {value!r}", value, "object|keys") for value in (None, [], "", 7, True, [RUNNING])],
    ("empty", {}, "players"),
    *[(f"no {key}", without(key), key) for key in RUNNING],
    ("unknown key", changed(RUNNING, phase="play"), "phase"),
    ("a key in another spelling", {**without("ply"), "Ply": 2}, "ply"),
    # players
    *[
        (f"players {players!r}", changed(RUNNING, players=players), "players")
        for players in (3, 1, 0, 4, True, 2.0, "2", None)
    ],
    ("a state for three in a game of two", RUNNING_OF_THREE, "players"),
    # ply
    *[
        (f"ply {ply!r}", changed(RUNNING, ply=ply), "ply")
        for ply in (True, 2.0, "2", None, [2], -1, -2, 1_000_000_002, 10**30)
    ],
    # board
    *[(f"board {board!r}", changed(RUNNING, board=board), "board") for board in BOARDS],
    *[(f"row {row!r}", changed(RUNNING, board=row_with(row)), "board") for row in ROWS],
    *[
        (f"height {value!r}", changed(RUNNING, board=board_with("A1", value)), "board")
        for value in (5, 9, -1, True, False, 1.0, 0.0, None, "0", [0], 10**30)
    ],
    # workers
    *[(f"workers {workers!r}", changed(RUNNING, workers=workers), "workers") for workers in WORKERS],
    ("two of one seat on a square", changed(RUNNING, workers=[["B2", "B2"], ["D2", "C4"]]), "workers"),
    ("two seats on a square", changed(RUNNING, workers=[["B2", "B3"], ["D2", "B3"]]), "workers"),
    # Where workers stand
    ("Navy on a dome", changed(RUNNING, board=board_with("B2", 4)), "(?i)worker.*dome|dome.*worker"),
    ("White on a dome", changed(RUNNING, board=board_with("C4", 4)), "(?i)worker.*dome|dome.*worker"),
    ("the seat to move on height 3", changed(RUNNING, board=board_with("B2", 3)), "3"),
    (
        "the seat to move on height 3, said to have won",
        changed(RUNNING, board=board_with("B2", 3), to_move=None, winner=0, reason="reached level 3"),
        "3",
    ),
    (
        "two of the last mover on height 3",
        changed(
            CLIMBED,
            board=[[0] * 5, [0, 3, 3, 0, 0], [0, 0, 1, 1, 0], [0] * 5, [0, 0, 0, 0, 3]],
        ),
        "3",
    ),
    (
        "one of each seat on height 3",
        changed(CLIMBED, board=[[0] * 5, [0, 3, 3, 0, 0], [0, 0, 1, 3, 0], [0] * 5, [0] * 5]),
        "3",
    ),
    ("at ply 0 the last mover is not Navy", changed(RUNNING, ply=0, board=board_with("B2", 3)), "3"),
    # to_move
    *[
        (f"to_move {seat!r}", changed(RUNNING, to_move=seat), "to_move")
        for seat in (1, 2, -1, False, 0.0, "0", None, [0])
    ],
    ("to_move true for 1", changed(RUNNING, ply=3, to_move=True), "to_move"),
    ("to_move 1.0", changed(RUNNING, ply=3, to_move=1.0), "to_move"),
    ("to_move against ply", changed(RUNNING, ply=3), "to_move"),
    *[(f"to_move {seat!r} although over", changed(CLIMBED, to_move=seat), "to_move") for seat in (0, 1, "", False)],
    # winner and reason
    *[
        (f"winner {winner!r} of a running game", changed(RUNNING, winner=winner), "winner")
        for winner in (0, 1, 2, -1, True, False, 0.0, "0", "", [0])
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
        for reason in ("no legal moves", "", "Reached level 3", None)
    ],
    (
        "over although running",
        changed(RUNNING, to_move=None, winner=1, reason="no legal moves"),
        "to_move|winner|reason",
    ),
    ("running although stuck", changed(STUCK, to_move=1, winner=None, reason=""), "to_move|winner|reason"),
    ("no winner although stuck", changed(STUCK, winner=None), "winner"),
    ("the stuck seat as the winner", changed(STUCK, winner=1), "winner"),
    ("no reason although stuck", changed(STUCK, reason=""), "reason"),
    ("running although on level 3", changed(CLIMBED, to_move=1, winner=None, reason=""), "to_move|winner|reason"),
]


@pytest.mark.parametrize(("state", "field"), [pytest.param(*case[1:], id=case[0]) for case in BAD_STATES])
def test_a_bad_state_is_refused_with_its_field_named(state: Any, field: str) -> None:
    """Rulings (all games): a state is refused when its own fields contradict each other or the rules."""
    kept = copy.deepcopy(state)
    for question in (TWO.legal_moves, TWO.to_move, TWO.outcome, TWO.encode, TWO.render, TWO.format_state):
        with pytest.raises(ludodrome.BadState, match=field):
            question(state)
    with pytest.raises(ludodrome.BadState, match=field):
        TWO.apply(state, "[N1B2A1A2]")
    with pytest.raises(ludodrome.BadState, match=field):
        TWO.is_legal(state, "[N1B2A1A2]")
    assert state == kept


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"players": 2}, "players"),
        ({"workers": [["C3", "B3"], ["D3", "B4"]]}, "workers"),
        ({"to_move": 1}, "to_move"),
        ({"ply": 1}, "to_move"),
        ({"winner": 2}, "winner"),
        ({"workers": [["C3", "B3"], ["D3", "B4"], ["D2", "C3"]]}, "workers"),
    ],
)
def test_a_bad_state_of_three_is_refused(changes: Any, field: str) -> None:
    assert THREE.outcome(RUNNING_OF_THREE) is None
    with pytest.raises(ludodrome.BadState, match=field):
        THREE.outcome(changed(RUNNING_OF_THREE, **changes))


def test_among_three_only_the_last_mover_may_stand_on_3() -> None:
    for ply, line in enumerate(("E1E2 E3E4 A1A5", "A1A5 E1E2 E3E4", "E1E2 A1A5 E3E4")):
        state = at(f"30000/00000/00000/00000/00000 {line} {ply}")
        assert (state["winner"], state["reason"], state["to_move"]) == ((ply - 1) % 3, "reached level 3", None)
        for other in (1, 2):
            with pytest.raises(ludodrome.BadState, match="3"):
                at(f"30000/00000/00000/00000/00000 {line} {ply + other}")


@pytest.mark.parametrize(
    "line",
    [
        "33333/33333/33333/33333/00000 E1E3 E4E5 0",  # heights that no turns could have built
        "00000/00000/00000/00000/00000 C2B3 D3C4 999999999",  # or that many should have
        "12121/21212/12121/21212/12121 A1E5 C3D4 7",
        "00000/00000/00000/00000/00000 E5A1 A2E4 1",
        "44444/44444/44444/44444/00000 E1E3 E4E5 2",
        "44444/44444/44444/00000/00000 E1E3 E4E5 D1D2 2",
    ],
)
def test_positions_that_contradict_nothing_are_welcome(line: str) -> None:
    """Rulings (all games): positions that could hardly arise but contradict nothing are welcome."""
    room, state = room_of(line), at(line)
    assert room.to_move(state) == state["to_move"] == state["ply"] % room.seats
    assert room.format_state(state) == line
    moves = room.legal_moves(state)
    assert moves
    assert all(room.apply(state, move)["ply"] == state["ply"] + 1 for move in moves)


def test_at_ply_0_the_last_mover_is_the_last_seat() -> None:
    won = at("00000/00000/00000/00300/00000 C2B3 D3C4 0")
    assert (won["winner"], won["reason"], won["to_move"]) == (1, "reached level 3", None)
    three = at("00000/00000/00000/03000/00000 C3B3 D3B4 D2D4 0")
    assert (three["winner"], three["reason"]) == (2, "reached level 3")
    stuck = at("04444/44444/44444/44444/04400 A1E1 E4E5 0")
    assert (stuck["winner"], stuck["reason"]) == (1, "no legal moves")
    with pytest.raises(ludodrome.BadState, match="3"):
        at("00000/00000/03000/00000/00000 C2B3 D3C4 0")


# What is refused: moves


@pytest.mark.parametrize(
    "move",
    [
        None,
        True,
        15,
        1.0,
        [],
        ["[N1C2B2C3]"],
        {},
        {"move": "[N1C2B2C3]"},
        "",
        "north please",
        "N1C2B2C3",
        "[n1c2b2c3]",
        "[N1c2B2C3]",
        "[N1 C2 B2 C3]",
        "[ N1C2B2C3 ]",
        " [N1C2B2C3]",
        "[N1C2B2C3] ",
        "[N1C2B2C3]\n",
        "I play [N1C2B2C3]",
        "[N1C2B2C3][N1C2B2C3]",
        "[N1C2B2]",
        "[N3C2B2C3]",
        "[X1C2B2C3]",
        "[N1C2B2F3]",
        "[N1C2B2C6]",
        "[N\uff11C2B2C3]",
        b"[N1C2B2C3]",
    ],
    ids=repr,
)
def test_apply_takes_exactly_the_canonical_text(move: Any) -> None:
    """Ruling (santorini): apply and is_legal take exactly the canonical text."""
    refuse(START, move, "^Format")
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.action(move, at(START))
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.format_move(move, at(START))


KINDS: list[tuple[str, str, str]] = [
    # Not your worker, before anything about squares
    (START, "[W1D3D2C3]", "Not your worker: .*W1.*Navy"),
    (START, "[W2A1E5E5]", "Not your worker: .*W2.*Navy"),
    (START, "[G1D2D1C1]", "Not your worker: .*G1.*Navy"),  # Grey in a game of two
    (START.replace(" 0", " 1"), "[N1C2B2C3]", "Not your worker: .*N1.*White"),
    (START_OF_THREE.replace(" 0", " 2"), "[W1D3E3E2]", "Not your worker: .*W1.*Grey"),
    (START_OF_THREE, "[G1D2D1C1]", "Not your worker: .*G1.*Navy"),
    # No such worker there, before the step
    (START, "[N1D2D1C1]", "No such worker there: .*N1.*C2.*D2"),
    (START, "[N1B3B2A2]", "No such worker there: .*N1.*C2.*B3"),  # N2's square
    (START, "[N2C2B2C3]", "No such worker there: .*N2.*B3.*C2"),
    (START, "[N1E5A1A1]", "No such worker there: .*N1.*C2.*E5"),
    # Cannot move there: not adjacent (or the same square), occupied, a dome, too high; before the build
    (START, "[N1C2E5E5]", "Cannot move there: .*E5"),
    (START, "[N1C2C2B2]", "Cannot move there: .*C2"),
    (START, "[N1C2C4C3]", "Cannot move there: .*C4"),
    (START, "[N1C2B3B2]", "Cannot move there: .*B3.*occupied.*N2"),
    (START, "[N1C2D3C2]", "Cannot move there: .*D3.*occupied.*W1"),
    (START, "[N1C2B3E5]", "Cannot move there: .*B3"),
    (START, "[N1C2B3B3]", "Cannot move there: .*B3"),
    (STEPS, "[N1C3C4C3]", "Cannot move there: .*C4.*dome"),
    (STEPS, "[N1C3C2C3]", "Cannot move there: .*C2.*high"),
    (STEPS, "[N1C3C2E5]", "Cannot move there: .*C2.*high"),
    (STEPS, "[N2D2C2D2]", "Cannot move there: .*C2.*high"),
    # Cannot build there: not adjacent to the destination (or the destination itself), occupied, a dome
    (START, "[N1C2B2D5]", "Cannot build there: .*D5.*B2"),
    (START, "[N1C2B2D2]", "Cannot build there: .*D2.*B2"),  # adjacent to where it came from only
    (START, "[N1C2B2B2]", "Cannot build there: .*B2"),
    (START, "[N1C2B2B3]", "Cannot build there: .*B3.*occupied.*N2"),
    (START, "[N1C2C3D3]", "Cannot build there: .*D3.*occupied.*W1"),
    (START, "[N1C2B2C4]", "Cannot build there: .*C4.*B2"),  # occupied as well
    (BUILDS, "[N1C3C4B4]", "Cannot build there: .*B4.*dome"),
    (CLIMB, "[N1B2B3C4]", "Cannot build there: .*C4.*occupied.*W2"),  # a winning step as well
    (CLIMB, "[N1B2B3E1]", "Cannot build there: .*E1.*B3"),
]


@pytest.mark.parametrize(("line", "move", "sentence"), KINDS)
def test_each_kind_of_mistake_has_its_own_sentence(line: str, move: str, sentence: str) -> None:
    """Ruling (santorini): format; not your worker; no such worker there; cannot move there; cannot build there."""
    refuse(line, move, f"^{sentence}")
    with pytest.raises(ludodrome.IllegalMove, match=f"^{sentence}"):
        room_of(line).parse_move(f"My move is {move.lower()}, I think", at(line))


@pytest.mark.parametrize(
    ("move", "parts"),
    [
        ("[N1C2E5E4]", ["E5", "adjacent"]),
        ("[N1C2B2D5]", ["D5", "B2", "adjacent"]),
    ],
)
def test_the_sentence_says_what_is_not_adjacent(move: str, parts: list[str]) -> None:
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        TWO.apply(at(START), move)
    assert all(part in str(refusal.value) for part in parts)


def test_the_sentence_of_format_shows_the_text() -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format: .*north please"):
        TWO.parse_move("north please", at(START))
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format") as refusal:
        TWO.parse_move("please " * 10_000, at(START))
    assert len(str(refusal.value)) < 500
