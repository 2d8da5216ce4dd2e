"""Positions of santorini, and short words for its squares and refusals."""

import copy
from typing import Any

import pytest

import ludodrome

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


def game_of(line: str) -> ludodrome.Game:
    """The game with as many players as the line has groups of workers."""
    return THREE if len(line.split()) == 5 else TWO


def at(line: str) -> Any:
    return game_of(line).parse_state(line)


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
    game, state = game_of(line), at(line)
    before = copy.deepcopy(state)
    assert game.is_legal(state, move) is False
    with pytest.raises(ludodrome.IllegalMove, match=match):
        game.apply(state, move)
    assert state == before
