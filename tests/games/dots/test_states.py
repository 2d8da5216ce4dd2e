"""What boards and states of dots and boxes there are and which are refused; one line, the drawing."""

from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, Game
from tests.games.dots.positions import draw, edge

pytestmark = pytest.mark.xdist_group("dots")


def test_ruling_the_observation_of_a_seat_adds_you_and_the_state_has_none(small: Game) -> None:
    state = draw(small, "V(0,0)")
    assert small.observation(state, 0) == {**state, "you": 0}
    assert small.observation(state, 1) == {**state, "you": 1}
    assert small.observation(state) == state
    with pytest.raises(BadState, match="you"):
        small.legal_moves({**state, "you": 0})
    with pytest.raises(ValueError, match="a seat of dots"):
        small.observation(state, 2)


def test_ruling_boards_of_up_to_64_edges_and_no_more() -> None:
    for rows in range(1, 22):
        for cols in range(1, 22):
            if rows * (cols + 1) + cols * (rows + 1) <= 64:
                assert ludodrome.make("dots", rows=rows, cols=cols).num_actions <= 64
            else:
                with pytest.raises(ValueError, match="5x5, 4x6, 3x8, 2x12 and 1x21"):
                    ludodrome.make("dots", rows=rows, cols=cols)
    assert ludodrome.make("dots").options == {"rows": 5, "cols": 5}


@pytest.mark.parametrize("wrong", [0, -1, 22, 64, 5.0, True, "5", None])
def test_ruling_rows_and_cols_are_whole_numbers_from_1(wrong: Any) -> None:
    for name in ("rows", "cols"):
        with pytest.raises(ValueError, match=f"the option {name} of dots"):
            ludodrome.make("dots", **{name: wrong})


def test_ruling_either_seat_may_be_to_move_and_own_any_closed_box(small: Game) -> None:
    for to_move in (0, 1):
        for owner in ("0", "1"):
            state = small.parse_state(f"1x2 10/10 110 {owner}. {to_move} 7")
            assert (state["to_move"], state["owner"][0][0]) == (to_move, int(owner))
            assert small.apply(state, edge("V(0,2)"))["to_move"] == 1 - to_move


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


# One line, drawing


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
