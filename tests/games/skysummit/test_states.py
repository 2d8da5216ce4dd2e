"""Skysummit: the one-line form, the drawing, and the states that are refused or welcome."""

import copy
from typing import Any

import pytest

import ludodrome
from tests.games.skysummit.positions import (
    BOTH_PLACED,
    CLIMB,
    CORNER,
    DRAWN,
    GAME,
    ONE_PLACED,
    SHUT,
    START,
    STEPS,
    at,
    changed,
    game,
    step,
)

pytestmark = pytest.mark.xdist_group("skysummit")


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
