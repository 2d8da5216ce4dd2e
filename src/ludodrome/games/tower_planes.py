"""What learners see of the 5 x 5 tower board: heights and workers as planes of 25 cells.

Shared by the two tower games; which plane is which is said in each room's ``planes.py``.
"""

from typing import Any

import numpy as np

from ludodrome.games.towers import CELLS, DOME, ONE
from ludodrome.jit import Array, Int, kernel

HEIGHTS = tuple(f"higher than {level}" for level in range(DOME))
"""The first planes: 1 where a cell is higher than that."""


@kernel
def fill(out: Array, plane: Int, number: Int) -> None:
    """The same number on a whole plane."""
    for cell in range(CELLS):
        out[plane, cell] = number


@kernel
def draw_heights(levels: Array, out: Array) -> None:
    """The first four planes; levels: see ``towers.py``."""
    for level in range(DOME):
        cells = np.uint64(levels[level])
        for cell in range(CELLS):
            out[level, cell] = (cells >> np.uint64(cell)) & ONE


@kernel
def draw_worker(cell: Any, out: Array, plane: Int) -> None:
    """A 1 where a worker stands; no cell of the board, and the plane is empty."""
    fill(out, plane, 0)
    if cell < CELLS:
        out[plane, cell] = 1
