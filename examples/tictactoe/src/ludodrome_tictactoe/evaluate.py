"""What a search knows about tic-tac-toe beyond its rules: values, threats, move ids and hash keys; and what a learner sees."""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator, Planes
from ludodrome.jit import Array, Int, Record, kernel, lowest, popcount
from ludodrome.search.symmetry import SYMMETRIES, cell_turns, key_table
from ludodrome_tictactoe.rules import CELLS, LINES, ONE, SEATS, SIDE, mover, taken

SEED = 3
"""Of the random words in the keys."""
LINE_WORTH = np.array([5, 20, 80, 0])
"""signs in a line that is otherwise empty -> what it is worth."""
CELL_SCORES = np.array([50, 0, 50, 0, 100, 0, 50, 0, 50])
"""cell -> how good it looks: the centre is on four lines, a corner on three."""
TURNS = cell_turns(SIDE, SIDE)
KEYS = key_table(TURNS, SEATS, SEED)
"""(seats, cells, 8)"""


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Lines that can still become three in a row, the pov_seat's minus the other's."""
    own, other = np.uint64(s.signs[pov_seat]), np.uint64(s.signs[1 - pov_seat])
    worth = np.int64(0)
    for line in LINES:
        if not line & other:
            worth += LINE_WORTH[popcount(line & own)]
        if not line & own:
            worth -= LINE_WORTH[popcount(line & other)]
    return worth


@kernel
def completing(s: Record, seat: Int) -> Any:
    """The empty cells with which a seat would have three in a row (R3), as a bit set."""
    own = np.uint64(s.signs[seat])
    other = np.uint64(s.signs[1 - seat])
    cells = np.uint64(0)
    for line in LINES:
        missing = line & ~own
        if popcount(missing) == 1 and not missing & other:
            cells |= missing
    return cells


@kernel
def winning(s: Record) -> Int:
    """A cell that wins at once, or -1."""
    cells = completing(s, np.int64(s.ply) % SEATS)
    return np.int64(lowest(cells)) if cells else np.int64(-1)


@kernel
def in_check(s: Record) -> Any:
    """Whether the other seat could complete a line."""
    return completing(s, 1 - np.int64(s.ply) % SEATS) != 0


@kernel
def evasions(s: Record, buffer: Array, count: Int) -> Int:
    """Keep the one cell that stops the threat; against two there is none."""
    threats = completing(s, 1 - np.int64(s.ply) % SEATS)
    if threats & (threats - ONE):
        return 0
    buffer[0] = lowest(threats)
    return 1


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """Nothing is ever captured."""
    return False


@kernel
def move_context(s: Record) -> Any:
    """Promises depend on the empty cells alone."""
    return taken(s)


@kernel
def move_score(s: Record, seen: Any, action: Int) -> Int:
    """The centre, then the corners."""
    return CELL_SCORES[action]


@kernel
def gain(before: Record, after: Record) -> Int:
    """There are no points."""
    return 0


@kernel
def move_id(s: Record, action: Int) -> Int:
    """A move is known by its cell."""
    return np.int64(action)


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """The signs are all; they tell whose turn it is."""
    for k in range(SYMMETRIES):
        keys[at + 1, k] = keys[at, k]
    for seat in range(SEATS):
        changed = np.uint64(before.signs[seat]) ^ np.uint64(after.signs[seat])
        while changed:
            cell = lowest(changed)
            changed &= changed - ONE
            for k in range(SYMMETRIES):
                keys[at + 1, k] ^= KEYS[seat, cell, k]


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
    num_move_ids=CELLS,
    move_id_symmetries=TURNS.astype(np.uint16),
    by_points=False,
    has_no_tactics=True,
)


# For learners: planes of 3 x 3, the observing seat's signs first

PLANE_NAMES = ("own signs", "other signs", "to move")
TO_MOVE = SEATS
PLANES = Planes(PLANE_NAMES, SIDE, SIDE, (1, 1, SEATS), np.uint8)


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
