"""What a search knows about dots and boxes beyond its rules. The exact solver is in ``solve.py``.

A position is worth the boxes that can be taken at once; then whoever is the first to have no safe edge must open a
chain for the other. An edge is safe if neither of its boxes has two sides already: drawing it gives nothing away.
"""

from typing import Any

import numpy as np

from ludodrome.games.dots.rules import ALL, BESIDE, BOARDS, MOST_EDGES, ONE, SIDES, board_edges
from ludodrome.jit import Array, Int, Record, kernel, lowest, popcount
from ludodrome.room import Insight
from ludodrome.search.symmetry import SYMMETRIES, key_table, turn

BOX = 100
"""What a box is worth."""
CONTROL = 60
"""What each box left is worth, as a guess, to the side that need not open the first chain."""
TEMPO = 12
"""What it is worth to be likely to draw the last safe edge."""

MARKS = len(BOARDS) * MOST_EDGES

TURNED = np.arange(MARKS, dtype=np.uint16)[None].repeat(SYMMETRIES, 0)
KEYS = np.zeros((len(BOARDS), MOST_EDGES, SYMMETRIES), np.uint64)
"""(board, edge, symmetry) -> what a drawn edge adds to a key."""
MOVER_KEY = np.uint64(0x9D39247E33776D41)


def _edge_turns(rows: int, cols: int) -> Array:
    """(8, edges): the edge after each symmetry of the board."""
    # On a grid of dots, edges and boxes every edge has a place of its own, and the grid turns like a board.
    places = [(2 * r, 2 * c + 1) if kind == "H" else (2 * r + 1, 2 * c) for kind, r, c in board_edges(rows, cols)]
    row, column = np.array(places).T
    height, width = 2 * rows + 1, 2 * cols + 1
    grid = np.zeros((height, width), np.int64)
    grid[row, column] = np.arange(len(places))
    return np.stack([grid[turn(symmetry, row, column, height, width)] for symmetry in range(SYMMETRIES)])


for _board, _size in enumerate(BOARDS):
    _turns = _edge_turns(*_size)
    TURNED[:, _board * MOST_EDGES : _board * MOST_EDGES + _turns.shape[1]] = _board * MOST_EDGES + _turns
    KEYS[_board, : _turns.shape[1]] = key_table(_turns, 1, seed=_board)[0]


@kernel
def drawn_sides(s: Record, box: Int, edges: Any) -> Int:
    """How many sides of a box are drawn."""
    return popcount(SIDES[s.board, box] & edges)


@kernel
def cascade(s: Record, edges: Any) -> Any:
    """Take box after box as long as there is one with three sides; how many, and the edges drawn then."""
    taken = 0
    for first in range(np.int64(s.rows) * np.int64(s.cols)):
        box: Int = first
        missing = SIDES[s.board, box] & ~edges
        while missing != np.uint64(0) and missing & (missing - ONE) == np.uint64(0):
            taken += 1
            edges |= missing
            edge = lowest(missing)
            other = np.int64(BESIDE[s.board, edge, 0]) + np.int64(BESIDE[s.board, edge, 1]) - box
            if other == box:  # an edge of the rim
                break
            box = other
            missing = SIDES[s.board, box] & ~edges
            if missing == np.uint64(0):  # two boxes with one edge
                taken += 1
    return taken, edges


@kernel
def safe_edges(s: Record, edges: Any) -> Any:
    """The undrawn edges that give nothing away, if no box has three sides."""
    risky = np.uint64(0)
    for box in range(np.int64(s.rows) * np.int64(s.cols)):
        if drawn_sides(s, box, edges) >= 2:
            risky |= SIDES[s.board, box]
    return ALL[s.board] & ~(edges | risky)


@kernel
def value(s: Record, hero: Int) -> Int:
    """The boxes still to come, more or less."""
    taken, edges = cascade(s, s.edges)
    safe = popcount(safe_edges(s, edges))
    total = np.int64(s.rows) * np.int64(s.cols)
    left = total - popcount(s.boxes[0]) - popcount(s.boxes[1]) - taken
    if safe == 0:
        rest = -CONTROL * left
        worth = BOX * taken + rest
        if taken >= 2:  # the last two can be left to the other side, with the move
            worth = max(worth, BOX * (taken - 4) - rest)
    else:
        worth = BOX * taken + (TEMPO if safe % 2 else -TEMPO)
    return worth if np.int64(s.to_move) == hero else -worth


@kernel
def winning(s: Record) -> Int:
    """Points decide: nothing wins at once."""
    return np.int64(-1)


@kernel
def pressed(s: Record) -> Any:
    """Nor does anything lose at once."""
    return False


@kernel
def narrow(s: Record, buffer: Array, count: Int) -> Int:
    """All actions stay."""
    return count


@kernel
def loud(s: Record, action: Int) -> Any:
    """Boxes that can be taken are counted by the value."""
    return False


@kernel
def promise(s: Record, action: Int) -> Int:
    """Boxes first, then safe edges, then what gives boxes away."""
    first, second = np.int64(BESIDE[s.board, action, 0]), np.int64(BESIDE[s.board, action, 1])
    a, b = drawn_sides(s, first, s.edges), drawn_sides(s, second, s.edges)
    if a == 3 or b == 3:
        return 900
    return -600 if a == 2 or b == 2 else 100 * (a + b)


@kernel
def gain(before: Record, after: Record) -> Int:
    """The boxes that the last edge has closed."""
    closed = popcount(after.boxes[0]) + popcount(after.boxes[1]) - popcount(before.boxes[0]) - popcount(before.boxes[1])
    return BOX * closed


@kernel
def mark(s: Record, action: Int) -> Int:
    """An edge of a board."""
    return np.int64(s.board) * MOST_EDGES + action


@kernel
def rekey(before: Record, after: Record, keys: Array, at: Int) -> None:
    """The edges drawn, and whose turn it is."""
    changed = before.edges ^ after.edges
    mover = MOVER_KEY if (before.to_move == 1) != (after.to_move == 1) else np.uint64(0)
    for k in range(SYMMETRIES):
        keys[at + 1, k] = keys[at, k] ^ mover
    while changed:
        edge = lowest(changed)
        changed &= changed - ONE
        for k in range(SYMMETRIES):
            keys[at + 1, k] ^= KEYS[after.board, edge, k]


INSIGHT = Insight(
    value=value,
    winning=winning,
    pressed=pressed,
    narrow=narrow,
    loud=loud,
    promise=promise,
    gain=gain,
    mark=mark,
    rekey=rekey,
    marks=MARKS,
    turned=TURNED,
    by_points=True,
    quiet=True,
)
