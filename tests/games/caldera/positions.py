"""Positions of caldera in the one-line form, and short words for what may be done in them."""

import copy
from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, IllegalMove

State = dict[str, Any]

game = ludodrome.make("caldera")

FLAT = "0000000/0000000/0000000/0000000/0000000/0000000/0000000"
START = f"{FLAT} c63l61l65s62s64 c03l01l05s02s04 0"
CHAIN = "0001000/0023000/0033200/0020000/0000000/0000000/0000000 c63l24s32 c12l23l03s05 40"
WALLED = "0000000/0000000/0000000/0000000/0000000/2200000/0200000"
"""In the corner 60 nobody gets out: all three neighbours are two higher."""


def ground(text: str = "") -> str:
    """Flat ground but for some cells: ``22=3 12=x``."""
    rows = [["0"] * 7 for _ in range(7)]
    for word in text.split():
        cell, _, height = word.partition("=")
        rows[int(cell[0])][int(cell[1])] = height
    return "/".join("".join(row) for row in rows)


def at(line: str) -> State:
    state: State = game.parse_state(line)
    return state


def play(state: State, *moves: str) -> State:
    for text in moves:
        state = game.apply(state, game.parse_move(text, state))
    return state


def end(state: State) -> tuple[int | None, str]:
    """Winner and reason; the state and the outcome say the same."""
    outcome = game.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (state["winner"], state["reason"])
    assert game.to_move(state) is None
    return outcome.winner, outcome.reason


def notations(state: State, start: str) -> list[str]:
    """The legal moves of the piece on a cell, in order, without the letter and the cell."""
    every = [game.format_move(move, state) for move in game.legal_moves(state)]
    return [text[3:] for text in every if text[1:3] == start]


def steps(state: State, start: str) -> set[str]:
    """Where the piece on a cell may move to."""
    return {text[1:] for text in notations(state, start) if text[0] in "-x"}


def forges(state: State, start: str) -> list[str]:
    """What the smith on a cell may raise."""
    return [text[1:] for text in notations(state, start) if text[0] == "^"]


def refusal(state: State, move: Any) -> str:
    """The sentence with which a move is refused, in text or JSON; nothing changes."""
    before = copy.deepcopy(state)
    with pytest.raises(IllegalMove) as caught:
        game.apply(state, game.parse_move(move, state) if isinstance(move, str) else move)
    assert state == before
    return str(caught.value)


def bad(line: Any) -> str:
    """The sentence with which a position is refused."""
    with pytest.raises(BadState) as caught:
        game.parse_state(line)
    return str(caught.value)
