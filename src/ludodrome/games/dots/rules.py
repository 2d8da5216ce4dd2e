"""The compiled rules of dots and boxes. R-numbers refer to RULES.md in this folder.

Kernels trust their input; ``codec.py`` validates JSON and text. The drawn edges are one machine word, so a board has at
most 64. All boards share the same kernels: a record holds its index in ``BOARDS``, and the tables have a row for each.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.jit import Array, Int, Record, entry, kernel, lowest, mix, popcount, record_dtype

MAX_EDGES = 64
NONCE_BITS = 53
"""Every JSON reader keeps integers of this size exact."""

DTYPE = record_dtype(
    [
        ("edges", np.uint64),  # drawn edges, bit e for edge number e
        ("nonce", np.uint64),
        ("boxes", np.uint32, (2,)),  # owned boxes by seat, bit r * cols + c
        ("rows", np.uint8),  # an option, never changed by a kernel
        ("cols", np.uint8),  # the same
        ("board", np.uint8),  # the index of (rows, cols) in BOARDS (not "shape": every NumPy scalar has one)
        ("turn", np.uint8),
        ("to_move", np.int8),  # -1: the game is over
        ("winner", np.int8),  # -1: none
        ("reason", np.uint8),  # an index into REASONS
    ]
)

RUNNING, MORE, EQUAL = range(3)
REASONS = ("", "more boxes", "equal boxes")

# Faults (1 is game_spec.GAME_OVER)
DRAWN = 2

ONE = np.uint64(1)


# Tables

BOARDS = tuple(
    (rows, cols)
    for rows in range(1, MAX_EDGES)
    for cols in range(1, MAX_EDGES)
    if rows * (cols + 1) + cols * (rows + 1) <= MAX_EDGES
)
"""All board sizes, as rows and columns of boxes."""
MAX_LINES = max(rows for rows, _ in BOARDS)
"""The maximum number of rows or columns of any board."""
MAX_BOXES = max(rows * cols for rows, cols in BOARDS)


def board_edges(rows: int, cols: int) -> list[tuple[str, int, int]]:
    """R1: the edges of a board. An edge's number, also its action, is its index in this list.

    •─ 0─•─ 1─•
    6    7    8
    •─ 2─•─ 3─•
    9   10   11
    •─ 4─•─ 5─•
    """
    horizontal = [("H", r, c) for r in range(rows + 1) for c in range(cols)]
    return horizontal + [("V", r, c) for r in range(rows) for c in range(cols + 1)]


def box_sides(r: int, c: int) -> list[tuple[str, int, int]]:
    """R1: the four sides of box (r, c)."""
    return [("H", r, c), ("H", r + 1, c), ("V", r, c), ("V", r, c + 1)]


ALL = np.zeros(len(BOARDS), np.uint64)
"""board -> the set of all edges."""
SIDES = np.zeros((len(BOARDS), MAX_BOXES), np.uint64)
"""(board, box) -> the set of its four sides."""
BESIDE = np.zeros((len(BOARDS), MAX_EDGES, 2), np.uint8)
"""(board, edge) -> the boxes on its two sides; for an outer edge the same box twice."""
for _board, (_rows, _cols) in enumerate(BOARDS):
    _number = {edge: number for number, edge in enumerate(board_edges(_rows, _cols))}
    _beside: list[list[int]] = [[] for _ in _number]
    for _box in range(_rows * _cols):
        for _side in box_sides(_box // _cols, _box % _cols):
            SIDES[_board, _box] |= ONE << np.uint64(_number[_side])
            _beside[_number[_side]].append(_box)
    for _edge, _boxes in enumerate(_beside):
        BESIDE[_board, _edge] = _boxes[0], _boxes[-1]
    ALL[_board] = (1 << len(_number)) - 1


# Kernels


@kernel
def bit(number: int) -> Any:
    """The set of one edge or one box."""
    return ONE << np.uint64(number)


@kernel
def reset(s: Record, seed: Any) -> None:
    """R2: an empty board and seat 0 to move; R13: the seed only determines the nonce."""
    s.edges = np.uint64(0)
    s.nonce = mix(seed) >> np.uint64(64 - NONCE_BITS)
    s.boxes[0] = 0
    s.boxes[1] = 0
    s.turn = 0
    s.to_move = 0
    s.winner = -1
    s.reason = RUNNING


@kernel
def mover(s: Record) -> Int:
    """The seat to move; R9: -1 once the game is over."""
    return np.int64(s.to_move)


@kernel
def legal(s: Record, buffer: Array) -> int:
    """R3, R7: every undrawn edge, ascending; R12: there is one while the game runs."""
    undrawn = ALL[s.board] & ~s.edges
    count = 0
    while undrawn:
        buffer[count] = lowest(undrawn)
        undrawn &= undrawn - ONE
        count += 1
    return count


@kernel
def fault(s: Record, action: int) -> Int:
    """0 if the action is legal, else the first fault."""
    if s.reason != RUNNING:  # R9
        return GAME_OVER
    return DRAWN if s.edges & bit(action) else 0  # R3


@kernel
def play(s: Record, action: int) -> None:
    """Draw an undrawn edge, then check for the end."""
    seat = s.to_move
    s.edges |= bit(action)
    s.turn += 1  # R8
    closed = _closed(s, BESIDE[s.board, action, 0]) | _closed(s, BESIDE[s.board, action, 1])
    if closed:  # R4, R5: one box or two, the seat moves again
        s.boxes[seat] |= np.uint32(closed)
    else:  # R6
        s.to_move = 1 - seat
    judge(s)


@kernel
def _closed(s: Record, box: int) -> Any:
    """The set of this box if all its sides are drawn, else the empty set."""
    return np.uint64(0) if SIDES[s.board, box] & ~s.edges else bit(box)


@kernel
def closed_boxes(s: Record) -> Int:
    """R4: the set of all boxes whose four sides are drawn."""
    boxes = np.uint64(0)
    for box in range(np.int64(s.rows) * np.int64(s.cols)):
        boxes |= _closed(s, box)
    return boxes


@kernel
def judge(s: Record) -> None:
    """R9: end the game when all edges are drawn; the boxes owned decide."""
    s.winner = -1
    s.reason = RUNNING
    if s.edges != ALL[s.board]:
        return
    s.to_move = -1
    first, second = popcount(s.boxes[0]), popcount(s.boxes[1])
    if first == second:  # R11
        s.reason = EQUAL
    else:  # R10
        s.reason = MORE
        s.winner = 0 if first > second else 1


@kernel
def winner(s: Record) -> Int:
    """The winning seat, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """R8: the number of drawn edges."""
    return np.int64(s.turn)


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def closed_boxes_of(states: Any) -> Int:
    """The closed boxes of states[0]: for the codec."""
    return closed_boxes(states[0])


@entry
def judge_array(states: Any) -> None:
    """Judge states[0]: for the codec."""
    judge(states[0])
