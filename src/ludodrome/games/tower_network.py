"""Features of the tower board for a learned evaluation, shared by santorini and skysummit with two seats.

A feature is a height from 1 to 4 on a cell, or a seat's worker on a cell of height 0, 1 or 2. Output weights
change with the number of levels that have been built.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Network
from ludodrome.games.tower_evaluate import CELL_TURNS, HEIGHTS
from ludodrome.games.towers import CELLS, DOME, ONE, height
from ludodrome.jit import Array, Int, Record, kernel, lowest, popcount
from ludodrome.search.symmetry import SYMMETRIES

SEATS, WORKERS = 2, 2
WORKER_FEATURES = HEIGHTS * CELLS
FIRST_WORKER = DOME * CELLS
NUM_FEATURES = FIRST_WORKER + SEATS * WORKER_FEATURES
MAX_ACTIVE = CELLS + SEATS * WORKERS
BUCKETS = 8
LEVELS_A_BUCKET = 5

_CELL = np.arange(NUM_FEATURES) % CELLS
_SYMMETRIES = np.stack([np.arange(NUM_FEATURES) - _CELL + CELL_TURNS[k][_CELL] for k in range(SYMMETRIES)])
_MIRRORED = np.arange(NUM_FEATURES)
_MIRRORED[FIRST_WORKER:] = np.roll(_MIRRORED[FIRST_WORKER:], WORKER_FEATURES)


@kernel
def _height_feature(levels: Array, cell: Int) -> Int:
    """The feature of a cell's height; bare ground is none."""
    built = height(levels, cell)
    return (built - 1) * CELLS + cell if built else NUM_FEATURES


@kernel
def _worker_feature(s: Record, seat: Int, worker: Int) -> Int:
    """The feature of a worker; none before it is placed."""
    cell = np.int64(s.workers[seat, worker])
    if cell >= CELLS:
        return NUM_FEATURES
    return FIRST_WORKER + seat * WORKER_FEATURES + min(height(s.levels, cell), HEIGHTS - 1) * CELLS + cell


@kernel
def list_features(s: Record, out: Array) -> Int:
    """List the heights, then the workers."""
    count: Int = 0
    for cell in range(CELLS):
        out[count] = _height_feature(s.levels, cell)
        count += np.int64(out[count] != NUM_FEATURES)
    for seat in range(SEATS):
        for worker in range(WORKERS):
            out[count] = _worker_feature(s, seat, worker)
            count += np.int64(out[count] != NUM_FEATURES)
    return count


@kernel
def list_changes(before: Record, after: Record, removed: Array, added: Array) -> Int:
    """List the heights and workers that differ."""
    old, new = before.levels, after.levels
    changed = np.uint64((old[0] ^ new[0]) | (old[1] ^ new[1]) | (old[2] ^ new[2]) | (old[3] ^ new[3]))
    count: Int = 0
    while changed:
        cell = np.int64(lowest(changed))
        changed &= changed - ONE
        removed[count] = _height_feature(old, cell)
        added[count] = _height_feature(new, cell)
        count += 1
    for seat in range(SEATS):
        for worker in range(WORKERS):
            was, now = _worker_feature(before, seat, worker), _worker_feature(after, seat, worker)
            removed[count] = was
            added[count] = now
            count += np.int64(was != now)
    return count


@kernel
def built_bucket(levels: Array) -> Int:
    """The bucket by the number of levels on the board."""
    total = popcount(levels[0]) + popcount(levels[1]) + popcount(levels[2]) + popcount(levels[3])
    return min(total // LEVELS_A_BUCKET, BUCKETS - 1)


def tower_network(bucket: Any) -> Network:
    """The network of a tower game; ``bucket`` (s): its bucket, or -1."""
    return Network(
        num_features=NUM_FEATURES,
        max_active=MAX_ACTIVE,
        list_features=list_features,
        list_changes=list_changes,
        mirrored=_MIRRORED,
        symmetries=_SYMMETRIES,
        num_buckets=BUCKETS,
        bucket=bucket,
    )
