"""The moves of dots and boxes: their order, the notation, and what is refused."""

import copy
from typing import Any

import pytest

import ludodrome
from ludodrome import Game, IllegalMove
from tests.games.dots.positions import draw, edge, names

pytestmark = pytest.mark.xdist_group("dots")


def test_ruling_the_first_undrawn_edge_is_the_first_legal_move(square: Game) -> None:
    state = draw(square, "H(0,0) V(1,2) H(1,0)")
    assert names(square.legal_moves(state)) == "H(0,1) H(1,1) H(2,0) H(2,1) V(0,0) V(0,1) V(0,2) V(1,0) V(1,1)"
    state = draw(square, "H(0,1) H(1,1) H(2,0) H(2,1)", state)
    assert names(square.legal_moves(state)[:1]) == "V(0,0)"


def test_ruling_the_game_knows_only_the_mover_and_substitutes_nothing(small: Game) -> None:
    """The arena decides what a match does about an illegal action; the game raises."""
    state = draw(small, "H(0,0)")
    before = copy.deepcopy(state)
    for move in (edge("H(0,0)"), {"orient": "H"}, None):
        with pytest.raises(IllegalMove):
            small.apply(state, move)
    assert state == before


# Notation


@pytest.mark.parametrize("text", ["H(2,3)", "h 2 3", "H2,3", "h(2, 3)", "H23", " h  23 ", "H 2 3", "h[2,3]"])
def test_notation_is_read_leniently(usual: Game, text: str) -> None:
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


@pytest.mark.parametrize("text", [None, 7, ["H(2,3)"], {"orient": "H", "r": 2, "c": 3}, b"H23", "H" + " " * 99 + "23"])
def test_notation_is_a_short_text(usual: Game, text: Any) -> None:
    with pytest.raises(IllegalMove, match=r"^a move is a short text like 'H\(2,3\)', not "):
        usual.parse_move(text, usual.initial_state())
