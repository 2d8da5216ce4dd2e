"""Caldera: the order of the legal moves, the notation, and the moves that are refused."""

import copy

import pytest

from tests.games.caldera.positions import CHAIN, at, game, refusal

pytestmark = pytest.mark.xdist_group("caldera")


def test_ruling_apply_never_changes_its_input() -> None:
    state = at(CHAIN)
    before = copy.deepcopy(state)
    for move in game.legal_moves(state):
        game.apply(state, move)
    assert state == before


def test_ruling_the_legal_moves_are_in_ascending_order_without_doubles() -> None:
    state = at(CHAIN)
    actions = [game.action(move, state) for move in game.legal_moves(state)]
    assert actions == sorted(set(actions))
    assert [game.move(action, state) for action in actions] == game.legal_moves(state)


def test_notation_is_lenient() -> None:
    state = game.initial_state()
    move = {"action": "move", "from": [6, 1], "to": [4, 3]}
    for text in ("l61-43", "61 43", "6,1 4,3", "L6143", " L 61 x 43 ", "6-1x4,3"):
        assert game.parse_move(text, state) == move
    assert game.parse_move("62^52", state) == {"action": "forge", "smith": [6, 2], "target": [5, 2]}
    assert game.parse_move("62 52", state) == {"action": "move", "from": [6, 2], "to": [5, 2]}
    assert refusal(state, "C61-43") == "your piece on 61 is a lancer, not a crown"
    assert refusal(state, "61-49") == "rows and columns go from 0 to 6, and '61-49' has a 9"
    for text in ("", "castle", "61", "61-434", "L61-43!", "٦١-٤٣"):
        assert "a move is written like" in refusal(state, text)
