"""Evaluator of dots and boxes: value, move ordering and hash keys for searches. ``solver/`` has the exact solver.

The value counts the boxes that can be taken at once; then the first seat without a safe edge must open a chain for
the other. An edge is safe if neither of its boxes has two sides yet: drawing it gives nothing away.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator
from ludodrome.games.dots.rules import ALL, BOARDS, MAX_EDGES, MAX_LINES, ONE, board_edges
from ludodrome.games.dots.solver.board import STRIDE, degrees, edges_of
from ludodrome.jit import Array, Int, Record, kernel, lowest, popcount
from ludodrome.search.symmetry import SYMMETRIES, key_table, turn

BOX = 100
"""Value of a box."""
CONTROL = 60
"""Estimated value of each remaining box to the side that does not have to open the first chain."""
TEMPO = 12
"""Bonus for the side likely to draw the last safe edge."""

NUM_MOVE_IDS = len(BOARDS) * MAX_EDGES

MOVE_ID_SYMMETRIES = np.arange(NUM_MOVE_IDS, dtype=np.uint16)[None].repeat(SYMMETRIES, 0)
KEYS = np.zeros((len(BOARDS), MAX_EDGES, SYMMETRIES), np.uint64)
"""(board, edge, symmetry) -> hash key of a drawn edge."""
MOVER_KEY = np.uint64(0x9D39247E33776D41)


def _edge_turns(rows: int, cols: int) -> Array:
    """(8, edges): the edge after each symmetry of the board."""
    # On a grid of dots, edges and boxes every edge has its own cell, and the grid has the board's symmetries.
    places = [(2 * r, 2 * c + 1) if kind == "H" else (2 * r + 1, 2 * c) for kind, r, c in board_edges(rows, cols)]
    row, column = np.array(places).T
    height, width = 2 * rows + 1, 2 * cols + 1
    grid = np.zeros((height, width), np.int64)
    grid[row, column] = np.arange(len(places))
    return np.stack([grid[turn(symmetry, row, column, height, width)] for symmetry in range(SYMMETRIES)])


for _board, _size in enumerate(BOARDS):
    _turns = _edge_turns(*_size)
    MOVE_ID_SYMMETRIES[:, _board * MAX_EDGES : _board * MAX_EDGES + _turns.shape[1]] = _board * MAX_EDGES + _turns
    KEYS[_board, : _turns.shape[1]] = key_table(_turns, 1, seed=_board)[0]


# All boxes at once: the two words of ``solver/board.py``. Vertical edges already have its bit order; row r of the
# horizontal edges must shift by r, done by the binary digits of r, the highest first.

SIZES = np.zeros((len(BOARDS), 2), np.uint64)
"""(board, STRIDE or BOXES), as in ``BoardTables``."""
HORIZONTAL = np.zeros(len(BOARDS), np.uint64)
"""board -> the number of horizontal edges; they come first."""
DIGITS = MAX_LINES.bit_length()
SHIFTS = np.array([1 << digit for digit in reversed(range(DIGITS))], np.uint64)
MOVING = np.zeros((len(BOARDS), DIGITS), np.uint64)
"""(board, step) -> the edges that shift in this step, at their current bits."""
ALONE = np.zeros((len(BOARDS), 2), np.uint64)
"""(board, horizontal or vertical) -> the outer edges, which have only one box."""
for _board, (_rows, _cols) in enumerate(BOARDS):
    _stride = _cols + 1
    _row, _column = (1 << _cols) - 1, sum(1 << r * _stride for r in range(_rows))
    SIZES[_board] = _stride, sum(_row << r * _stride for r in range(_rows))
    HORIZONTAL[_board] = _cols * (_rows + 1)
    for _step, _shift in enumerate(SHIFTS.tolist()):
        _higher = [(r, r & ~(2 * _shift - 1)) for r in range(_rows + 1) if r & _shift]
        MOVING[_board, _step] = sum(_row << r * _cols + moved for r, moved in _higher)
    ALONE[_board] = _row | _row << _rows * _stride, _column | _column << _cols


@kernel
def undrawn(s: Record) -> Any:
    """The two words of undrawn edges: horizontal and vertical."""
    board = np.uint64(s.board)
    edges = ALL[board] & ~s.edges
    v = edges >> HORIZONTAL[board]
    h = edges ^ v << HORIZONTAL[board]
    for step in range(DIGITS):
        moving = h & MOVING[board, step]
        h ^= moving ^ moving << SHIFTS[step]
    return h, v


@kernel
def numbered(board: Any, h: Any, v: Any) -> Any:
    """Inverse of ``undrawn``: two words of edges as a set of edge numbers."""
    for step in range(DIGITS - 1, -1, -1):
        moved = h & MOVING[board, step] << SHIFTS[step]
        h ^= moved ^ moved >> SHIFTS[step]
    return h | v << HORIZONTAL[board]


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Estimate of the boxes still to come, from the side of ``pov_seat``."""
    h, v = undrawn(s)
    sizes = SIZES[s.board]
    one, two, more = degrees(h, v, sizes)
    taken: Int = np.int64(0)
    if one:  # take everything that can be taken, all ends at once
        left = popcount(one | two | more)
        while one:
            own_h, own_v = edges_of(one, h, v, sizes)
            h ^= own_h
            v ^= own_v
            one, two, more = degrees(h, v, sizes)
        taken = left - popcount(two | more)
    risky_h, risky_v = edges_of(two, h, v, sizes)
    safe = popcount(h ^ risky_h) + popcount(v ^ risky_v)
    if safe == 0:
        rest = -CONTROL * popcount(two | more)
        worth = BOX * taken + rest
        if taken >= 2:  # or leave the last two to the other side, with the move
            worth = max(worth, BOX * (taken - 4) - rest)
    else:
        worth = BOX * taken + (TEMPO if safe % 2 else -TEMPO)
    return worth if np.int64(s.to_move) == pov_seat else -worth


@kernel
def winning(s: Record) -> Int:
    """-1: points decide, so no move wins at once."""
    return np.int64(-1)


@kernel
def in_check(s: Record) -> Any:
    """False: no move loses at once."""
    return False


@kernel
def evasions(s: Record, buffer: Array, count: Int) -> Int:
    """Keep all actions."""
    return count


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """False: the value already counts boxes that can be taken."""
    return False


@kernel
def move_context(s: Record) -> Any:
    """Sets of edges: closing a box; opening one; of the rest, those next to a box with one side, and only to such."""
    board = np.uint64(s.board)
    sizes, alone = SIZES[board], ALONE[board]
    h, v = undrawn(s)
    one, two, more = degrees(h, v, sizes)
    begun = more & ~(h & h >> sizes[STRIDE] & v & v >> ONE)
    below, right = begun << sizes[STRIDE], begun << ONE
    begun_h, begun_v = edges_of(begun, h, v, sizes)
    closing = numbered(board, *edges_of(one, h, v, sizes))
    opening = numbered(board, *edges_of(two, h, v, sizes)) & ~closing
    others = ~(closing | opening)
    beside = numbered(board, begun_h, begun_v) & others
    between = numbered(board, begun_h & (begun & below | alone[0]), begun_v & (begun & right | alone[1])) & others
    return closing, opening, beside, between


@kernel
def move_score(s: Record, seen: Any, action: Int) -> Int:
    """Closing edges first, then safe edges, then those that give boxes away."""
    closing, opening, beside, between = seen
    edge = np.uint64(action)
    safe = 100 * np.int64((beside >> edge & ONE) + (between >> edge & ONE))
    return safe + 900 * np.int64(closing >> edge & ONE) - 600 * np.int64(opening >> edge & ONE)


@kernel
def gain(before: Record, after: Record) -> Int:
    """Value of the boxes that the last edge closed."""
    return BOX * popcount((before.boxes[0] ^ after.boxes[0]) | (before.boxes[1] ^ after.boxes[1]))


@kernel
def move_id(s: Record, action: Int) -> Int:
    """Number of the edge among the edges of all boards."""
    return np.int64(s.board) * MAX_EDGES + action


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """Update the keys by the drawn edges and the seat to move."""
    changed = before.edges ^ after.edges
    mover = MOVER_KEY if (before.to_move == 1) != (after.to_move == 1) else np.uint64(0)
    for k in range(SYMMETRIES):
        keys[at + 1, k] = keys[at, k] ^ mover
    while changed:
        edge = lowest(changed)
        changed &= changed - ONE
        for k in range(SYMMETRIES):
            keys[at + 1, k] ^= KEYS[after.board, edge, k]


EVALUATOR = Evaluator(
    value=value,
    winning=winning,
    in_check=in_check,
    evasions=evasions,
    is_tactical=is_tactical,
    move_context=move_context,
    move_score=move_score,
    gain=gain,
    move_id=move_id,
    update_hash=update_hash,
    num_move_ids=NUM_MOVE_IDS,
    move_id_symmetries=MOVE_ID_SYMMETRIES,
    by_points=True,
    has_no_tactics=True,
)
