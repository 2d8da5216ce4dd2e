"""The eight symmetries of a square, for hash keys and move ids that are the same in every orientation of a board.

Their order: 0 to 3 keep rows as rows (as it is, left and right swapped, top and bottom swapped, both);
4 to 7 are the same after rows and columns have changed places. On an oblong the last four are taken to be
the first four once more: a search that picks the first of several equal symmetries never picks those.
"""

from typing import TypeVar

import numpy as np

from ludodrome.jit import Array

Place = TypeVar("Place", int, Array)

SYMMETRIES = 8
INVERSE = np.array([0, 1, 2, 3, 4, 6, 5, 7])
"""symmetry -> the one that undoes it."""


def turn(symmetry: int, row: Place, column: Place, rows: int, columns: int) -> tuple[Place, Place]:
    """Where the cell (row, column) of a board goes, or many cells; on an oblong symmetry k + 4 is symmetry k."""
    if symmetry >= 4 and rows == columns:
        row, column = column, row
    if symmetry & 1:
        column = columns - 1 - column
    if symmetry & 2:
        row = rows - 1 - row
    return row, column


def cell_turns(rows: int, columns: int) -> Array:
    """(8, cells): the cell after each symmetry, cells numbered row by row."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    turns = [turn(symmetry, row, column, rows, columns) for symmetry in range(SYMMETRIES)]
    return np.stack([down * columns + right for down, right in turns])


def direction_turns(compass: tuple[tuple[int, int], ...]) -> Array:
    """(8, directions): the direction after each symmetry of a square."""
    table = np.zeros((SYMMETRIES, len(compass)), np.int64)
    for symmetry in range(SYMMETRIES):
        for number, (down, right) in enumerate(compass):
            row, column = turn(symmetry, down + 1, right + 1, 3, 3)
            table[symmetry, number] = compass.index((row - 1, column - 1))
    return table


def key_table(turns: Array, kinds: int, seed: int) -> Array:
    """(kinds, places, 8) uint64: what a thing of a kind on a place adds to each of the eight keys.

    Zobrist (1970): random words, one for each kind and place; under symmetry k the word is that of
    the place to which the symmetry moves it. turns: (8, places).
    """
    places = turns.shape[1]
    words = np.random.Generator(np.random.PCG64(seed)).integers(0, 1 << 64, (kinds, places), np.uint64)
    return np.ascontiguousarray(words[:, turns].transpose(0, 2, 1))
