"""Positions of skysummit, and short words for its moves, cells and refusals."""

import copy
import json
from typing import Any

import pytest

import ludodrome

GAME = ludodrome.make("skysummit")

START = "00000/00000/00000/00000/00000 - - 0"
ONE_PLACED = "00000/00000/00000/00000/00000 B2C3 - 1"
BOTH_PLACED = "00000/00000/00000/00000/00000 B2C3 B4D2 2"
DRAWN = "00000/00000/00000/00020/00000 B2C4 B4D3 4"
# Around C3 (height 1): B3 level, B4 one up, C2 too high, C4 a dome, D2 and D3 occupied, B2 and D4 down.
STEPS = "00000/00120/03140/00000/00000 C3D2 D3E5 2"
# Around C4: B3 height 3, B4 a dome, B5 and D5 occupied.
BUILDS = "00000/00340/00000/00000/00000 C3B5 D5E1 2"
CLIMB = "00000/03200/00111/00000/00000 B3E5 C4D2 8"
# Seat 1 sits in the corner and can get out over B1 only; C2-C1 with a build on B1 shuts it in.
CORNER = "00200/12200/00000/00000/00000 C2E5 A1A2 8"
SHUT: Any = {"t": "move", "w": 0, "to": 10, "build": 5}
# The same with seat 1 standing one storey higher than seat 0.
HIGH_CORNER = "10200/23200/00000/00000/00000 C2E5 A1A2 8"


def game(turn_limit: int = 200) -> ludodrome.Game:
    return ludodrome.make("skysummit", turn_limit=turn_limit)


def at(line: str, turn_limit: int = 200) -> Any:
    return game(turn_limit).parse_state(line)


def place(first: int, second: int) -> Any:
    return {"t": "place", "to": [first, second]}


def step(worker: int, to: int, build: int | None) -> Any:
    return {"t": "move", "w": worker, "to": to, "build": build}


def cell(name: str) -> int:
    return "ABCDE".index(name[0]) * 5 + int(name[1]) - 1


def cells(names: str) -> list[int]:
    return [cell(name) for name in names.split()]


def destinations(state: Any, worker: int) -> list[int]:
    return sorted({move["to"] for move in GAME.legal_moves(state) if move["w"] == worker})


def builds(state: Any, worker: int, to: str) -> list[int | None]:
    return [move["build"] for move in GAME.legal_moves(state) if (move["w"], move["to"]) == (worker, cell(to))]


def changed(state: Any, **changes: Any) -> Any:
    return {**copy.deepcopy(state), **changes}


def refuse(state: Any, move: Any, match: str, turn_limit: int = 200) -> None:
    """A move is refused by apply with that sentence, by is_legal without; and nothing is changed by either."""
    variant = game(turn_limit)
    before = json.dumps(state)
    assert variant.is_legal(state, move) is False
    with pytest.raises(ludodrome.IllegalMove, match=match):
        variant.apply(state, move)
    assert json.dumps(state) == before
