"""Edges and positions of dots and boxes, written briefly."""

from typing import Any

from ludodrome import Game

State = dict[str, Any]
Move = dict[str, Any]


def edge(text: str) -> Move:
    """``H(2,3)`` as JSON."""
    r, c = text[2:-1].split(",")
    return {"orient": text[0], "r": int(r), "c": int(c)}


def edges(text: str) -> list[Move]:
    """Several, separated by blanks."""
    return [edge(word) for word in text.split()]


def names(moves: list[Move]) -> str:
    """The other way round."""
    return " ".join(f"{move['orient']}({move['r']},{move['c']})" for move in moves)


def draw(game: Game, text: str, state: State | None = None) -> State:
    """The position after edges have been drawn, from the start if none is given."""
    if state is None:
        state = game.initial_state()
    for move in edges(text):
        state = game.apply(state, move)
    return state


def finish(game: Game, state: State) -> State:
    """The end of a game in which everybody draws the first undrawn edge."""
    while moves := game.legal_moves(state):
        state = game.apply(state, moves[0])
    return state
