"""Tic-tac-toe as learners see it: planes of 3 x 3, the observing seat's signs first."""

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.jit import Array, Int, Record, kernel
from ludodrome_tictactoe.rules import CELLS, ONE, SEATS, SIDE, mover

NAMES = ("own signs", "other signs", "to move")
TO_MOVE = SEATS
PLANES = Planes(NAMES, SIDE, SIDE, (1, 1, SEATS), np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """What a seat sees; out: (planes, 9) uint8."""
    for place in range(SEATS):
        signs = np.uint64(s.signs[(seat + place) % SEATS])
        for cell in range(CELLS):
            out[place, cell] = (signs >> np.uint64(cell)) & ONE
    moving = mover(s)
    for cell in range(CELLS):
        out[TO_MOVE, cell] = 0 if moving < 0 else 1 + (moving - seat) % SEATS
