"""Features of caldera for a learned evaluation: heights of cells, and pieces by kind, height of their cell and cell.

Output weights change with the number of lancers and smiths, and with the turns that are left before the tie-break
counts (R18).
"""

import numpy as np

from ludodrome.game_spec import Network
from ludodrome.games.caldera.evaluate import LATE
from ludodrome.games.caldera.rules import CELLS, CROWN, NOWHERE, ONE, SEATS, SIDE, SLOTS, VENT, height
from ludodrome.jit import Array, Int, Record, kernel, lowest
from ludodrome.search.symmetry import SYMMETRIES, cell_turns

KINDS = 3
KIND_OF_SLOT = np.array([0, 1, 1, 2, 2])
"""slot -> crown, lancer or smith."""
SEAT_FEATURES = KINDS * VENT * CELLS
FIRST_PIECE = VENT * CELLS
NUM_FEATURES = FIRST_PIECE + SEATS * SEAT_FEATURES
COUNTS = SEATS * (SLOTS - 1) + 1
"""0 to 8 lancers and smiths."""
PHASES = 3
"""Shortly before the turn limit, not long before it, and earlier."""
BUCKETS = PHASES * COUNTS
_LONG = 4 * LATE

_CELL = np.arange(NUM_FEATURES) % CELLS
_CELL_TURNS = cell_turns(SIDE, SIDE)
_SYMMETRIES = np.stack([np.arange(NUM_FEATURES) - _CELL + _CELL_TURNS[k][_CELL] for k in range(SYMMETRIES)])
_MIRRORED = np.arange(NUM_FEATURES)
_MIRRORED[FIRST_PIECE:] = np.roll(_MIRRORED[FIRST_PIECE:], SEAT_FEATURES)


@kernel
def _height_feature(levels: Array, cell: Int) -> Int:
    """The feature of a cell's height; ash is none."""
    up = height(levels, cell)
    return (up - 1) * CELLS + cell if up else NUM_FEATURES


@kernel
def _piece_feature(s: Record, seat: Int, slot: Int) -> Int:
    """The feature of a piece; a fallen one has none."""
    cell = np.int64(s.cells[seat, slot])
    if cell == NOWHERE:
        return NUM_FEATURES
    kind = KIND_OF_SLOT[slot] * VENT + min(height(s.levels, cell), VENT - 1)
    return FIRST_PIECE + seat * SEAT_FEATURES + kind * CELLS + cell


@kernel
def list_features(s: Record, out: Array) -> Int:
    """List the heights, then the pieces."""
    count: Int = 0
    for cell in range(CELLS):
        out[count] = _height_feature(s.levels, cell)
        count += np.int64(out[count] != NUM_FEATURES)
    for seat in range(SEATS):
        for slot in range(SLOTS):
            out[count] = _piece_feature(s, seat, slot)
            count += np.int64(out[count] != NUM_FEATURES)
    return count


@kernel
def list_changes(before: Record, after: Record, removed: Array, added: Array) -> Int:
    """List the heights and pieces that differ."""
    count: Int = 0
    changed = np.uint64(0)
    for k in range(VENT):
        changed |= before.levels[k] ^ after.levels[k]
    while changed:
        cell = np.int64(lowest(changed))
        changed &= changed - ONE
        removed[count] = _height_feature(before.levels, cell)
        added[count] = _height_feature(after.levels, cell)
        count += 1
    for seat in range(SEATS):
        for slot in range(SLOTS):
            was, now = _piece_feature(before, seat, slot), _piece_feature(after, seat, slot)
            removed[count] = was
            added[count] = now
            count += np.int64(was != now)
    return count


@kernel
def bucket(s: Record) -> Int:
    """The number of lancers and smiths, and the phase."""
    left = np.int64(s.turn_limit) - np.int64(s.ply)
    count: Int = COUNTS * (np.int64(left > LATE) + np.int64(left > _LONG))
    for seat in range(SEATS):
        for slot in range(CROWN + 1, SLOTS):
            count += np.int64(s.cells[seat, slot] != NOWHERE)
    return count


NETWORK = Network(
    num_features=NUM_FEATURES,
    max_active=CELLS + SEATS * SLOTS,
    list_features=list_features,
    list_changes=list_changes,
    mirrored=_MIRRORED,
    symmetries=_SYMMETRIES,
    num_buckets=BUCKETS,
    bucket=bucket,
)
