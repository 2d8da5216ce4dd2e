"""Observation planes of dots and boxes: one cell per dot, the observing seat's boxes first.

Cell (r, c) holds dot (r, c), the edge to its right, the edge below it, and the box between them. So a board of 5 x 5
boxes has planes of 6 x 6. Missing parts (the last column has no edge to the right) are 0.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.games.dots.rules import ONE, mover
from ludodrome.jit import SPREAD, Array, Int, Record, kernel, store_eight

SEATS = 2
NAMES = (
    "horizontal edges drawn",
    "vertical edges drawn",
    "own boxes",
    "other's boxes",
    "undrawn sides",
    "to move",
)
BYTES = 8
"""Cells written at once."""
LOW = np.uint64(0xFF)
HORIZONTAL, VERTICAL, OWN, OTHER, UNDRAWN, TO_MOVE = range(len(NAMES))


def planes_of(rows: int, cols: int) -> Planes:
    """The planes of a board of ``rows`` x ``cols`` boxes."""
    return Planes(NAMES, rows + 1, cols + 1, (1, 1, 1, 1, 4, SEATS), np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """Write a seat's observation to ``out``: [planes, cells] uint8, contiguous.

    Writes eight cells at once, from the first plane on; later writes overwrite the excess.
    """
    rows, cols = np.int64(s.rows), np.int64(s.cols)
    horizontals = s.edges
    verticals = s.edges >> np.uint64((rows + 1) * cols)  # R1: in this order
    draw(horizontals, rows + 1, cols, cols, out, HORIZONTAL)
    draw(verticals, rows + 1, cols + 1, cols, out, VERTICAL)
    draw(np.uint64(s.boxes[seat]), rows + 1, cols, cols, out, OWN)
    draw(np.uint64(s.boxes[1 - seat]), rows + 1, cols, cols, out, OTHER)
    draw_undrawn(horizontals, verticals, rows, cols, out)
    moving = mover(s)
    relative = 0 if moving < 0 else 1 + (moving - seat) % SEATS
    for cell in range(out.shape[1]):
        out[TO_MOVE, cell] = relative


@kernel
def row_of(bits: Any, row: Int, cols: Int) -> Any:
    """One row of a set with ``cols`` members per row, at most 22."""
    return (bits >> np.uint64(row * cols)) & ((ONE << np.uint64(cols)) - ONE)


@kernel
def draw(bits: Any, rows: Int, members: Int, cols: Int, out: Array, plane: Int) -> None:
    """Write a set with ``members`` members per row; rows past its last row become 0."""
    at = plane * out.shape[1]
    for r in range(rows):
        row = row_of(bits, r, members)
        store_eight(out, at, SPREAD[row & LOW])
        for c in range(BYTES, cols + 1, BYTES):
            store_eight(out, at + c, SPREAD[(row >> np.uint64(c)) & LOW])
        at += cols + 1


@kernel
def draw_undrawn(horizontals: Any, verticals: Any, rows: Int, cols: Int, out: Array) -> None:
    """Write the number of undrawn sides of each box: counts eight boxes at once, one byte each."""
    cells = out.shape[1]
    boxes = (ONE << np.uint64(cols)) - ONE
    for r in range(rows):
        at = UNDRAWN * cells + r * (cols + 1)
        above = boxes & ~row_of(horizontals, r, cols)
        below = boxes & ~row_of(horizontals, r + 1, cols)
        sides = ~row_of(verticals, r, cols + 1)
        left, right = boxes & sides, boxes & (sides >> ONE)
        for c in range(0, cols + 1, BYTES):
            shift = np.uint64(c)
            level = SPREAD[(above >> shift) & LOW] + SPREAD[(below >> shift) & LOW]
            store_eight(out, at + c, level + SPREAD[(left >> shift) & LOW] + SPREAD[(right >> shift) & LOW])
    for cell in range(rows * (cols + 1), cells):
        out[UNDRAWN, cell] = 0
