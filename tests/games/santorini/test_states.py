"""Santorini: the one-line form, the drawing, and the states that are refused or welcome."""

import copy
from typing import Any

import pytest

import ludodrome
from tests.games.santorini.positions import (
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
    changed,
    game_of,
)

pytestmark = pytest.mark.xdist_group("santorini")


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
        "44444/44444/44444/44444/00000 E5E1 E4E2 999999980",
    ],
)
def test_the_one_line_form_there_and_back(line: str) -> None:
    assert game_of(line).format_state(at(line)) == line


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
        "00000/00000/00000/00000/00000 C2B3 D3C4 999999900",  # or that many should have
        "12121/21212/12121/21212/12121 A1E5 C3D4 7",
        "00000/00000/00000/00000/00000 E5A1 A2E4 1",
        "44444/44444/44444/44444/00000 E1E3 E4E5 2",
        "44444/44444/44444/00000/00000 E1E3 E4E5 D1D2 2",
    ],
)
def test_positions_that_contradict_nothing_are_welcome(line: str) -> None:
    """Rulings (all games): positions that could hardly arise but contradict nothing are welcome."""
    game, state = game_of(line), at(line)
    assert game.to_move(state) == state["to_move"] == state["ply"] % game.seats
    assert game.format_state(state) == line
    moves = game.legal_moves(state)
    assert moves
    assert all(game.apply(state, move)["ply"] == state["ply"] + 1 for move in moves)


def test_at_ply_0_the_last_mover_is_the_last_seat() -> None:
    won = at("00000/00000/00000/00300/00000 C2B3 D3C4 0")
    assert (won["winner"], won["reason"], won["to_move"]) == (1, "reached level 3", None)
    three = at("00000/00000/00000/03000/00000 C3B3 D3B4 D2D4 0")
    assert (three["winner"], three["reason"]) == (2, "reached level 3")
    stuck = at("04444/44444/44444/44444/04400 A1E1 E4E5 0")
    assert (stuck["winner"], stuck["reason"]) == (1, "no legal moves")
    with pytest.raises(ludodrome.BadState, match="3"):
        at("00000/00000/03000/00000/00000 C2B3 D3C4 0")
