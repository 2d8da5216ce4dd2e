"""Caldera's 7 x 7 ground: cells, directions, heights as bit sets. Pieces and turns are in ``rules.py``.

Ground is kept as four bit sets ``levels``: bit c of ``levels[k]`` is set where cell c is higher
than k, and a vent counts as height 4. So ``levels[3]`` are the vents (R2).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ludodrome.jit import Array, Int, kernel

SIDE = 7
CELLS = SIDE * SIDE
VENT = 4
"""The height at which a cell erupts, and the height that a vent counts as."""
NOWHERE = 63
"""A cell off the board that has no neighbours: where fallen pieces stand."""

#  0  1  2  3  4  5  6
#  7  8  9 10 11 12 13
# ...               48
COMPASS = tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0))
"""The eight directions in reading order, so that a higher direction is a higher cell."""
DIRECTIONS = len(COMPASS)
ORTHOGONAL = tuple(direction for direction, (row, column) in enumerate(COMPASS) if not (row and column))
"""The four orthogonal directions in the same order, as numbers among the eight."""


def neighbour(cell: int, direction: int, steps: int = 1) -> int:
    """The cell so many steps away, or NOWHERE."""
    down, right = COMPASS[direction]
    row, column = cell // SIDE + down * steps, cell % SIDE + right * steps
    return row * SIDE + column if cell < CELLS and 0 <= row < SIDE and 0 <= column < SIDE else NOWHERE


def cell_set(cells: Iterable[int]) -> np.uint64:
    """The set of some cells."""
    return np.uint64(sum(1 << cell for cell in cells))


_ALL = range(CELLS)
BOARD = cell_set(_ALL)
NEIGHBOURS = np.array([cell_set({neighbour(cell, d) for d in range(DIRECTIONS)} - {NOWHERE}) for cell in _ALL])
"""cell -> the set of its neighbours."""
INSIDE = np.array([cell_set(cell for cell in _ALL if neighbour(cell, d) != NOWHERE) for d in range(DIRECTIONS)])
"""direction -> the cells that have a next cell there."""

_OFFSETS = [down * SIDE + right for down, right in COMPASS]
_ONWARD = np.array([offset % 64 for offset in _OFFSETS], np.uint64)
_BACK = np.array([-offset % 64 for offset in _OFFSETS], np.uint64)

ZERO, ONE = np.uint64(0), np.uint64(1)
_ROW = np.uint64(SIDE)
_WEST_EDGE, _EAST_EDGE = cell_set(range(0, CELLS, SIDE)), cell_set(range(SIDE - 1, CELLS, SIDE))


@kernel
def bit(cell: Int) -> Any:
    """The set that holds one cell."""
    return ONE << np.uint64(cell)


@kernel
def height(levels: Array, cell: Int) -> Int:
    """R2: how high a cell is, 0 to 4."""
    at = np.uint64(cell)
    total = ZERO
    for k in range(VENT):
        total += (levels[k] >> at) & ONE
    return np.int64(total)


@kernel
def beside(cells: Any, direction: Int) -> Any:
    """The cells whose next cell in a direction belongs to the set; those not INSIDE mean nothing.

    The word is turned, not shifted, so that north and south need no case of their own.
    """
    return (cells >> _ONWARD[direction]) | (cells << _BACK[direction])


@kernel
def lift(levels: Array, cells: Any) -> None:
    """Raise every cell of a set by 1, the highest first; a vent stays what it is."""
    for k in range(VENT - 1, 0, -1):
        levels[k] |= levels[k - 1] & cells
    levels[0] |= cells


@kernel
def chain(levels: Array, erupting: Any) -> None:
    """R12, R13: an eruption wave after wave; a cell that has just reached 4 lifts its neighbours once."""
    vents = levels[VENT - 1]
    while erupting:
        lift(levels, erupting >> _ROW)
        lift(levels, (erupting & ~_WEST_EDGE) >> ONE)
        lift(levels, (erupting & ~_EAST_EDGE) << ONE)
        lift(levels, (erupting << _ROW) & BOARD)
        erupting = levels[VENT - 1] & ~vents
        vents |= erupting
