"""Observation planes of caldera: 7 x 7, the observing seat's pieces first. The board is never rotated."""

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.games.caldera.rules import CELLS, NOWHERE, ONE, SEATS, SIDE, SLOTS, VENT, mover
from ludodrome.jit import Array, Int, Record, kernel

MAX_LEFT = 255
HEIGHTS = (*(f"higher than {level}" for level in range(VENT - 1)), "vent")
PIECES = ("crown", "lancer 1", "lancer 2", "smith 1", "smith 2")
NAMES = (*HEIGHTS, *(f"{whose} {piece}" for whose in ("own", "other") for piece in PIECES), "to move", "turns left")
FIRST_PIECE = len(HEIGHTS)
TO_MOVE = FIRST_PIECE + SEATS * SLOTS
LEFT = TO_MOVE + 1


def planes_of(turn_limit: int) -> Planes:
    """The planes of a game with this turn limit."""
    highest = (1,) * TO_MOVE + (SEATS, min(turn_limit, MAX_LEFT))
    return Planes(NAMES, SIDE, SIDE, highest, np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """Write a seat's observation to ``out``: [planes, 49] uint8."""
    for level in range(VENT):
        cells = s.levels[level]
        for cell in range(CELLS):
            out[level, cell] = (cells >> np.uint64(cell)) & ONE
    for place in range(SEATS):
        for slot in range(SLOTS):
            plane = FIRST_PIECE + place * SLOTS + slot
            _fill(out, plane, 0)
            cell = s.cells[(seat + place) % SEATS, slot]
            if cell != NOWHERE:
                out[plane, cell] = 1
    moving = mover(s)
    _fill(out, TO_MOVE, 0 if moving < 0 else 1 + (moving - seat) % SEATS)
    _fill(out, LEFT, min(np.int64(s.turn_limit) - np.int64(s.ply), MAX_LEFT))


@kernel
def _fill(out: Array, plane: Int, number: Int) -> None:
    """Fill a plane with one number."""
    for cell in range(CELLS):
        out[plane, cell] = number
