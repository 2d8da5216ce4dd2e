"""Dots and boxes as learners see it: planes with one place for each dot, the observing seat's boxes first.

The place (r, c) stands for dot (r, c), for the edge to its right, the edge below it, and the box between them. So a
board of 5 x 5 boxes has planes of 6 x 6, and what a place does not have (the last column has no edge to the right)
is 0.
"""

import numpy as np

from ludodrome.games.dots.rules import BOARDS, MOST_BOXES, MOST_EDGES, ONE, SIDES, board_edges, mover
from ludodrome.jit import Array, Int, Record, kernel, popcount
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

PLACE = np.zeros((len(BOARDS), MOST_EDGES), np.uint8)
"""(board, edge) -> its place."""
BOX_PLACE = np.zeros((len(BOARDS), MOST_BOXES), np.uint8)
"""(board, box) -> its place."""
for _board, (_rows, _cols) in enumerate(BOARDS):
    for _edge, (_, _r, _c) in enumerate(board_edges(_rows, _cols)):
        PLACE[_board, _edge] = _r * (_cols + 1) + _c
    for _box in range(_rows * _cols):
        BOX_PLACE[_board, _box] = _box // _cols * (_cols + 1) + _box % _cols


def planes_of(rows: int, cols: int) -> Planes:
    """The planes of a board of so many boxes."""
    return Planes(NAMES, rows + 1, cols + 1, (1, 1, 1, 1, 4, SEATS), np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """What a seat sees; out: (planes, places) uint8."""
    rows, cols, board = np.int64(s.rows), np.int64(s.cols), np.int64(s.board)
    horizontals = (rows + 1) * cols
    moving = mover(s)
    waiting = 0 if moving < 0 else 1 + (moving - seat) % SEATS
    for place in range(out.shape[1]):
        for plane in range(TO_MOVE):
            out[plane, place] = 0
        out[TO_MOVE, place] = waiting
    edges = s.edges
    for edge in range(horizontals):
        out[HORIZONTAL, PLACE[board, edge]] = (edges >> np.uint64(edge)) & ONE
    for edge in range(horizontals, horizontals + rows * (cols + 1)):
        out[VERTICAL, PLACE[board, edge]] = (edges >> np.uint64(edge)) & ONE
    own, other = np.uint64(s.boxes[seat]), np.uint64(s.boxes[1 - seat])
    for box in range(rows * cols):
        place = BOX_PLACE[board, box]
        out[OWN, place] = (own >> np.uint64(box)) & ONE
        out[OTHER, place] = (other >> np.uint64(box)) & ONE
        out[UNDRAWN, place] = popcount(SIDES[board, box] & ~edges)
