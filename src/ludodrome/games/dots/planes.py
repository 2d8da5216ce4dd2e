"""Dots and boxes as learners see it: planes with one place for each dot, the observing seat's boxes first.

The place (r, c) stands for dot (r, c), for the edge to its right, the edge below it, and the box between them. So a
board of 5 x 5 boxes has planes of 6 x 6, and what a place does not have (the last column has no edge to the right)
is 0.
"""

import numpy as np

from ludodrome.games.dots.rules import ONE, mover
from ludodrome.jit import Array, Int, Record, kernel
from ludodrome.room import Planes

SEATS = 2
NAMES = (
    "horizontal edges drawn",
    "vertical edges drawn",
    "own boxes",
    "other's boxes",
    "undrawn sides",
    "to move",
)
HORIZONTAL, VERTICAL, OWN, OTHER, UNDRAWN, TO_MOVE = range(len(NAMES))


def planes_of(rows: int, cols: int) -> Planes:
    """The planes of a board of so many boxes."""
    return Planes(NAMES, rows + 1, cols + 1, (1, 1, 1, 1, 4, SEATS), np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """What a seat sees; out: (planes, places) uint8."""
    rows, cols = np.int64(s.rows), np.int64(s.cols)
    width = cols + 1
    moving = mover(s)
    waiting = 0 if moving < 0 else 1 + (moving - seat) % SEATS
    for place in range(out.shape[1]):
        out[TO_MOVE, place] = waiting
    horizontal, vertical = s.edges, s.edges >> np.uint64((rows + 1) * cols)  # R1: in this order
    own, other = np.uint64(s.boxes[seat]), np.uint64(s.boxes[1 - seat])
    for r in range(rows + 1):
        at = r * width
        for c in range(width):
            out[HORIZONTAL, at + c] = (horizontal >> np.uint64(c)) & ONE
            out[VERTICAL, at + c] = (vertical >> np.uint64(c)) & ONE
            out[OWN, at + c] = (own >> np.uint64(c)) & ONE
            out[OTHER, at + c] = (other >> np.uint64(c)) & ONE
        out[HORIZONTAL, at + cols] = 0  # these were the first of the next row
        out[OWN, at + cols] = 0
        out[OTHER, at + cols] = 0
        horizontal >>= np.uint64(cols)
        vertical >>= np.uint64(width)
        own >>= np.uint64(cols)
        other >>= np.uint64(cols)
    for r in range(rows):
        at = r * width
        for c in range(cols):
            drawn = out[HORIZONTAL, at + c] + out[HORIZONTAL, at + width + c]
            out[UNDRAWN, at + c] = 4 - drawn - out[VERTICAL, at + c] - out[VERTICAL, at + c + 1]
        out[UNDRAWN, at + cols] = 0
    for c in range(width):
        out[UNDRAWN, rows * width + c] = 0
