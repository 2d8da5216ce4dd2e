"""What dots and boxes reads and writes: states and their refusals, the notation, one line, the drawing."""

from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, Game, IllegalMove
from tests.games.dots.positions import draw, edge


@pytest.fixture(scope="module")
def usual() -> Game:
    return ludodrome.make("dots")


@pytest.fixture(scope="module")
def small() -> Game:
    """1 x 2 boxes, the board of the example in RULES.md."""
    return ludodrome.make("dots", rows=1, cols=2)


# States that are refused


@pytest.mark.parametrize(
    ("field", "wrong", "complaint"),
    [
        ("rows", 2, "rows"),
        ("rows", True, "rows"),
        ("cols", 3, "cols"),
        ("cols", 2.0, "cols"),
        ("h", [[True, True]], "h is a list of 2"),
        ("h", [[True, True], [True]], r"h\[1\] is a list of 2"),
        ("h", [[1, True], [True, False]], r"h\[0\]\[0\] is true or false"),
        ("v", [[True, True, 0]], r"v\[0\]\[2\] is true or false"),
        ("owner", [[2, -1]], r"owner\[0\]\[0\]"),
        ("owner", [[1.0, -1]], r"owner\[0\]\[0\]"),
        ("owner", [[-1, -1]], "all four sides of that box are drawn"),
        ("owner", [[1, 0]], "that box is open"),
        ("scores", [1, 0], "scores"),
        ("scores", [0, True], "scores"),
        ("scores", [0], "scores"),
        ("turn", 5, "turn"),
        ("turn", 6.0, "turn"),
        ("to_move", None, "to_move"),
        ("to_move", 2, "to_move"),
        ("to_move", True, "to_move"),
        ("winner", 1, "winner"),
        ("reason", "more boxes", "reason"),
        ("reason", None, "reason"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(small: Game, field: str, wrong: Any, complaint: str) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0) V(0,1)")
    assert (small.to_move(state), state["owner"]) == (1, [[1, -1]])
    with pytest.raises(BadState, match=complaint):
        small.to_move({**state, field: wrong})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("to_move", 0), ("winner", None), ("winner", 0), ("reason", ""), ("reason", "equal boxes"), ("turn", 6)],
)
def test_a_finished_state_says_how_it_ended(small: Game, field: str, wrong: Any) -> None:
    state = small.parse_state("1x2 11/11 111 11 - 7")
    assert (state["winner"], state["reason"]) == (1, "more boxes")
    with pytest.raises(BadState, match=field):
        small.outcome({**state, field: wrong})


def test_unknown_and_missing_keys_are_refused(small: Game) -> None:
    state = small.initial_state()
    with pytest.raises(BadState, match="unknown key 'colour'"):
        small.to_move({**state, "colour": 1})
    for key in state:
        with pytest.raises(BadState, match=key):
            small.to_move({name: value for name, value in state.items() if name != key})
    strange: list[Any] = [None, [], "1x2 00/00 000 .. 0 0", 7]
    for no_state in strange:
        with pytest.raises(BadState):
            small.to_move(no_state)


# Notation, one line, drawing


@pytest.mark.parametrize("text", ["H(2,3)", "h 2 3", "H2,3", "h(2, 3)", "H23", " h  23 ", "H 2 3", "h[2,3]"])
def test_notation_is_read_generously(usual: Game, text: str) -> None:
    state = usual.initial_state()
    assert usual.parse_move(text, state) == edge("H(2,3)")
    assert usual.format_move(edge("H(2,3)"), state) == "H(2,3)"


def test_notation_of_two_digits_needs_a_comma_or_a_blank() -> None:
    game = ludodrome.make("dots", rows=1, cols=21)
    state = game.initial_state()
    assert game.parse_move("V 0 12", state) == game.parse_move("v0,12", state) == edge("V(0,12)")
    assert game.parse_move("H12", state) == edge("H(1,2)")
    for text in ("V012", "V0", "V", "12", "", "V 0 1 2", "VH01", "V(0,22)"):
        with pytest.raises(IllegalMove):
            game.parse_move(text, state)


def test_notation_of_a_drawn_edge_is_refused_with_a_sentence(usual: Game) -> None:
    with pytest.raises(IllegalMove, match=r"V\(0,5\) is already drawn"):
        usual.parse_move("v05", draw(usual, "V(0,5)"))


def test_one_line_and_drawing_of_the_rules_page(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0)", {**small.initial_state(), "nonce": 7})
    assert small.format_state(state) == "1x2 11/10 101 .. 1 7"
    assert small.parse_state("1x2 11/10 101 .. 1 7") == state
    assert small.render(state) == (
        "   0   1   2\n 0 •───•───•\n   │       │\n 1 •───•   •\nturn 5, boxes 0-0, seat 1 to move"
    )
    state = draw(small, "V(0,1) H(1,1)", state)
    assert small.format_state(state) == "1x2 11/11 111 11 - 7"
    assert small.render(state) == (
        "   0   1   2\n 0 •───•───•\n   │ 1 │ 1 │\n 1 •───•───•\nturn 7, boxes 0-2, seat 1 won: more boxes"
    )


def test_drawing_of_the_board_on_the_rules_page() -> None:
    game = ludodrome.make("dots", rows=3, cols=4)
    state = game.parse_state("3x4 1000/1000/0000/0010 11000/01000/00000 0.../..../.... 1 0")
    assert game.render(state) == (
        "   0   1   2   3   4\n"
        " 0 •───•   •   •   •\n"
        "   │ 0 │\n"
        " 1 •───•   •   •   •\n"
        "       │\n"
        " 2 •   •   •   •   •\n"
        "\n"
        " 3 •   •   •───•   •\n"
        "turn 6, boxes 1-0, seat 1 to move"
    )


@pytest.mark.parametrize(
    "text",
    [
        "1x2 11/10 101 .. 1",
        "2x1 11/10 101 .. 1 7",
        "1x2 11/1 101 .. 1 7",
        "1x2 11/12 101 .. 1 7",
        "1x2 11/10 10 .. 1 7",
        "1x2 11/10 101 .2 1 7",
        "1x2 11/10 101 0. 1 7",
        "1x2 11/10 101 .. - 7",
        "1x2 11/11 111 11 0 7",
        "1x2 11/10 101 .. 2 7",
        "1x2 11/10 101 .. 1 -7",
        "1x2 11/10 101 .. 1 9007199254740992",
        "",
        None,
    ],
)
def test_one_line_that_is_no_position_is_refused(small: Game, text: Any) -> None:
    with pytest.raises(BadState):
        small.parse_state(text)
