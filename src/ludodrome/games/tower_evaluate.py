"""Evaluation of the tower board: values, threats, move scores, move ids and hash keys.

Shared by ``evaluate.py`` of santorini and skysummit. Works on the heights of ``towers.py`` (four bit sets) and the
cells of workers. A value is linear in the weights, so that they can be fitted. Each seat has one of two roles: the
mover, or waiting.
"""

from typing import Any

import numpy as np

from ludodrome.games.towers import (
    CELLS,
    COMPASS,
    DIRECTIONS,
    NEIGHBOURS,
    OFF_BOARD,
    ONE,
    SIDE,
    STEP,
    bit,
    height,
    reach,
)
from ludodrome.jit import Array, Int, kernel, lowest, popcount, python
from ludodrome.search.symmetry import SYMMETRIES, cell_turns, direction_turns, key_table

# Weights of the features, in hundredths of a level, by role: of two equal sides the one to move is better off.
# ``benchmarks/tune.py`` fits and prints this table.


HEIGHTS = 3
"""In a running game a worker is on level 0, 1 or 2."""
ORBITS = 6
"""Kinds of cells: corner, next to it, middle of an edge; the inner corners and edges; the centre."""
FEW_STEPS = 8
"""Step counts from this minus one on share a weight."""

GROUPS: dict[str, tuple[int, ...]] = {
    "PLACE": (HEIGHTS, ORBITS),
    "NEAR": (HEIGHTS, 4),
    "FAR": (HEIGHTS, 4),
    "STEPS": (FEW_STEPS,),
    "SECOND": (4,),
    "ALONE": (4,),
    "ALONE_SECOND": (4,),
    "THREATS": (3,),
    "TURN": (1,),
}
"""name -> shape, in the order of a role's row."""

MOVER_WEIGHTS: dict[str, Any] = {
    "PLACE": [[-22, -17, -11, -6, 5, 24], [26, 44, 54, 69, 82, 101], [163, 157, 163, 200, 225, 218]],
    "NEAR": [[-1, 24, 9, 1], [-6, 17, 68, 10], [-18, -1, 124, 600]],
    "FAR": [[-1, 4, 9, 12], [-2, 2, 12, 19], [-2, 5, 6, 13]],
    "STEPS": [-400, -199, -119, -73, -43, -17, -10, 7],
    "SECOND": [4, 9, 28, 122],
    "ALONE": [4, -2, 54, 200],
    "ALONE_SECOND": [-5, -4, 30, 72],
    "THREATS": [6, 600, 900],
    "TURN": [26],
}
WAITING_WEIGHTS: dict[str, Any] = {
    "PLACE": [[-21, -22, -18, 1, 4, 20], [25, 46, 52, 78, 85, 93], [159, 157, 155, 200, 221, 217]],
    "NEAR": [[3, 16, 10, 0], [-6, 20, 50, 13], [-15, 8, 119, 40]],
    "FAR": [[0, 2, 6, 11], [-1, 7, 18, 15], [-2, -1, 18, 3]],
    "STEPS": [-599, -299, -147, -76, -42, -23, -13, 3],
    "SECOND": [5, 5, 7, 62],
    "ALONE": [-4, -10, 41, 2000],
    "ALONE_SECOND": [-6, -4, 33, 55],
    "THREATS": [-6, 60, 2000],
    "TURN": [-6],
}


def row(role: dict[str, Any]) -> Array:
    """A role's weights in one row; raise ValueError if a table does not have its group's shape."""
    return np.concatenate([np.array(role[name], np.int64).reshape(np.prod(shape)) for name, shape in GROUPS.items()])


WEIGHTS = np.ascontiguousarray([row(MOVER_WEIGHTS), row(WAITING_WEIGHTS)])
"""(role, feature)"""


MOVER, WAITING = np.uint64(0), np.uint64(1)
MAX_VALUE = 9_000
"""Values stay below 10,000 for any weights."""

_BOARD = np.uint64((1 << CELLS) - 1)
_WEST_EDGE = np.uint64(sum(1 << row * SIDE for row in range(SIDE)))
_EAST_EDGE = _WEST_EDGE << np.uint64(SIDE - 1)
_NOT_WEST, _NOT_EAST = _BOARD ^ _WEST_EDGE, _BOARD ^ _EAST_EDGE
_SIDE = np.uint64(SIDE)

CELL_TURNS = cell_turns(SIDE, SIDE)
"""(8, cells)"""
_SMALLEST = CELL_TURNS.min(axis=0)
ORBIT = np.searchsorted(np.unique(_SMALLEST), _SMALLEST).astype(np.uint64)
"""cell -> its kind, 0 to 5."""


@kernel
def spread(cells: Any) -> Any:
    """The cells of a set and their neighbours."""
    wide = cells | ((cells & _NOT_EAST) << ONE) | ((cells & _NOT_WEST) >> ONE)
    return (wide | (wide << _SIDE) | (wide >> _SIDE)) & _BOARD


RING = np.array(
    [python(spread)(NEIGHBOURS[_cell]) & ~(NEIGHBOURS[_cell] | ONE << np.uint64(_cell)) for _cell in range(CELLS)]
)
"""cell -> the cells two king's steps away."""

# Start of each group of weights in a role's row.
_SIZES = [int(np.prod(shape)) for shape in GROUPS.values()]
_BEGIN = dict(zip(GROUPS, (np.uint64(sum(_SIZES[:k])) for k in range(len(_SIZES))), strict=True))
_PLACE, _NEAR, _FAR = _BEGIN["PLACE"], _BEGIN["NEAR"], _BEGIN["FAR"]
_STEPS, _THREATS, _TURN = _BEGIN["STEPS"], _BEGIN["THREATS"], _BEGIN["TURN"]
_SECOND, _ALONE, _ALONE_SECOND = _BEGIN["SECOND"], _BEGIN["ALONE"], _BEGIN["ALONE_SECOND"]
_ORBITS, _LEVELS = np.uint64(ORBITS), np.uint64(4)
_2, _3 = np.uint64(2), np.uint64(3)


# Values


@kernel
def levelled(levels: Array, among: Any) -> Any:
    """Split a set by height: the cells of height 0, 1, 2 and 3."""
    l0, l1, l2, l3 = np.uint64(levels[0]), np.uint64(levels[1]), np.uint64(levels[2]), np.uint64(levels[3])
    return among & ~l0, among & l0 & ~l1, among & l1 & ~l2, among & l2 & ~l3


@kernel
def counted(weights: Array, role: Any, begin: Any, sets: Any, among: Any) -> Int:
    """Weighted count of the cells of four sets that are in ``among``, one weight per set."""
    return (
        popcount(sets[0] & among) * weights[role, begin]
        + popcount(sets[1] & among) * weights[role, begin + ONE]
        + popcount(sets[2] & among) * weights[role, begin + _2]
        + popcount(sets[3] & among) * weights[role, begin + _3]
    )


@kernel
def worker_value(weights: Array, role: Any, levels: Array, free: Any, cell: Any) -> Int:
    """Value of a worker's cell and height, and of the free cells near and far by height. free: four sets."""
    at = np.uint64(cell)
    stand = ((levels[0] >> at) & ONE) + ((levels[1] >> at) & ONE)
    return (
        weights[role, _PLACE + stand * _ORBITS + ORBIT[at]]
        + counted(weights, role, _NEAR + stand * _LEVELS, free, NEIGHBOURS[at])
        + counted(weights, role, _FAR + stand * _LEVELS, free, RING[at])
    )


@kernel
def seat_value(
    weights: Array, role: Any, levels: Array, free: Any, first: Any, second: Any, steps: Any, count: Any, answered: Any
) -> Int:
    """Value of a seat's two workers, and of what both can reach together.

    free: the unoccupied cells by height, four sets; steps: the cells they can step to; count: the number of steps;
    answered: the cells that other seats can build on in their next turn.
    """
    second_steps = (
        (spread(steps & free[0]) & ~np.uint64(levels[1]))
        | (spread(steps & free[1]) & ~np.uint64(levels[2]))
        | (spread(steps & free[2]) & ~np.uint64(levels[3]))
    ) & ~steps
    threats = min(popcount(steps & free[3]), 2)
    return (
        worker_value(weights, role, levels, free, first)
        + worker_value(weights, role, levels, free, second)
        + weights[role, _STEPS + np.uint64(min(count, FEW_STEPS - 1))]
        + weights[role, _THREATS + np.uint64(threats)]
        + weights[role, _TURN]
        + counted(weights, role, _SECOND, free, second_steps)
        + counted(weights, role, _ALONE, free, steps & ~answered)
        + counted(weights, role, _ALONE_SECOND, free, second_steps & ~answered)
    )


@kernel
def within_bounds(value: Int) -> Int:
    """Clamp a value so that it cannot look like a proven win."""
    return max(-MAX_VALUE, min(MAX_VALUE, value))


@kernel
def duel_value(weights: Array, levels: Array, workers: Array, mover: Int, pov_seat: Int) -> Int:
    """Two seats: the mover against the waiting seat, from the side of ``pov_seat``. Linear in the weights."""
    a, b = workers[mover, 0], workers[mover, 1]
    c, d = workers[1 - mover, 0], workers[1 - mover, 1]
    taken = bit(a) | bit(b) | bit(c) | bit(d)
    free = levelled(levels, _BOARD & ~taken)
    from_a, from_b = reach(levels, a, taken), reach(levels, b, taken)
    from_c, from_d = reach(levels, c, taken), reach(levels, d, taken)
    ours, theirs = from_a | from_b, from_c | from_d
    our_count, their_count = popcount(from_a) + popcount(from_b), popcount(from_c) + popcount(from_d)
    value = seat_value(weights, MOVER, levels, free, a, b, ours, our_count, spread(theirs)) - seat_value(
        weights, WAITING, levels, free, c, d, theirs, their_count, spread(ours)
    )
    return value if pov_seat == mover else -value


@kernel
def seat_steps(levels: Array, workers: Array, seat: Int, taken: Any) -> Any:
    """(cells that a seat's workers can step to, number of steps)."""
    first, second = reach(levels, workers[seat, 0], taken), reach(levels, workers[seat, 1], taken)
    return first | second, popcount(first) + popcount(second)


@kernel
def trio_value(weights: Array, levels: Array, workers: Array, mover: Int, pov_seat: Int) -> Int:
    """Three seats: ``pov_seat`` against the better of the two others."""
    taken = np.uint64(0)
    for seat in range(3):
        taken |= bit(workers[seat, 0]) | bit(workers[seat, 1])
    free = levelled(levels, _BOARD & ~taken)
    own = np.int64(0)
    best = np.int64(-(1 << 40))
    for seat in range(3):
        steps, count = seat_steps(levels, workers, seat, taken)
        one, _ = seat_steps(levels, workers, (seat + 1) % 3, taken)
        other, _ = seat_steps(levels, workers, (seat + 2) % 3, taken)
        role = MOVER if seat == mover else WAITING
        first, second = workers[seat, 0], workers[seat, 1]
        value = seat_value(weights, role, levels, free, first, second, steps, count, spread(one | other))
        if seat == pov_seat:
            own = value
        else:
            best = max(best, value)
    return own - best


@kernel
def placement_value(workers: Array, seat: Int) -> Int:
    """Value of a seat's placement before anything is built: nearer to the centre is better."""
    first, second = ORBIT[workers[seat, 0]], ORBIT[workers[seat, 1]]
    return WEIGHTS[WAITING, _PLACE + first] + WEIGHTS[WAITING, _PLACE + second]


# Threats


@kernel
def summits(levels: Array, cell: Any, taken: Any) -> Any:
    """The cells on which a worker could win if it were its turn."""
    at = np.uint64(cell)
    high = np.uint64(0) - ((levels[1] >> at) & ONE)
    return NEIGHBOURS[at] & levels[2] & ~(levels[3] | taken) & high


# Move scores

MAX_MOVE_SCORE = 1000
_CLIMB = np.array([[0, 150, 0, 0], [-120, 0, 350, 0], [-200, -150, 60, MAX_MOVE_SCORE]])
"""(height left, height reached) -> score of a step. With any build the sum stays within MAX_MOVE_SCORE."""
_FOR_OWN = np.array([30, 120, 300, -150])
_FOR_OTHERS = np.array([-20, -150, -800, 500])
"""height before -> score of a build that a nearby worker could then climb; the last is a dome."""
_BUILT_FOR = np.stack([0 * _FOR_OWN, _FOR_OWN, _FOR_OTHERS, _FOR_OWN + _FOR_OTHERS])
"""(1 for the own workers + 2 for the others, height before)"""


@kernel
def tower_context(levels: Array, first: Any, second: Any, others: Any) -> Any:
    """The inputs of move scores, for a seat with two workers and a set of others.

    Eight words: three levels; the cells of the two workers; and the cells ``_climbable`` by the first of them, by the
    second, by the others.
    """
    low, middle, high = np.uint64(levels[0]), np.uint64(levels[1]), np.uint64(levels[2])
    theirs = np.uint64(0)
    while others:
        theirs |= _climbable(low, middle, np.uint64(lowest(others)))
        others &= others - ONE
    a, b = np.uint64(first), np.uint64(second)
    return low, middle, high, a, b, _climbable(low, middle, a), _climbable(low, middle, b), theirs


@kernel
def _climbable(low: Any, middle: Any, cell: Any) -> Any:
    """The cells near a worker that it could climb after a build there; counts domes as level 3."""
    too_high = (low & ((low >> cell & ONE) - ONE)) | (middle & ((middle >> cell & ONE) - ONE))
    return NEIGHBOURS[cell] & ~too_high


@kernel
def _height(context: Any, cell: Any) -> Any:
    """The height of a cell that is not a dome."""
    return (context[0] >> cell & ONE) + (context[1] >> cell & ONE) + (context[2] >> cell & ONE)


@kernel
def step_score(context: Any, source: Any, to: Any) -> Int:
    """Score of a step: up is good, down is bad."""
    return _CLIMB[_height(context, source), _height(context, np.uint64(to))]


@kernel
def build_score(context: Any, worker: Int, to: Any, at: Any) -> Int:
    """Score of a build after a step: it makes a cell climbable for workers near and high enough, or a dome."""
    cell = np.uint64(at)
    before = _height(context, cell)
    partner = context[6] if worker == 0 else context[5]
    own = np.uint64(min(before, _2) <= _height(context, np.uint64(to))) | partner >> cell & ONE
    return _BUILT_FOR[own + _2 * (context[7] >> cell & ONE), before]


# Move ids: source * 8 * builds + direction of the step * builds + direction of the build


def step_turns(builds: int) -> Array:
    """(8, num_move_ids): the move id of a step under each symmetry. A ninth build direction means no build."""
    directions = direction_turns(COMPASS)
    turned = np.zeros((SYMMETRIES, CELLS, DIRECTIONS, builds), np.uint16)
    for symmetry in range(SYMMETRIES):
        built = np.append(directions[symmetry], DIRECTIONS)[:builds]
        for cell in range(CELLS):
            start = CELL_TURNS[symmetry, cell] * DIRECTIONS
            turned[symmetry, cell] = (start + directions[symmetry][:, None]) * builds + built
    return turned.reshape(SYMMETRIES, -1)


def built_cells(builds: int) -> Array:
    """(cells, 8 * builds): the cell raised by a step and a build from a cell, or OFF_BOARD."""
    table = np.full((CELLS, DIRECTIONS, builds), OFF_BOARD, np.int8)
    for cell in range(CELLS):
        for direction in range(DIRECTIONS):
            if (to := int(STEP[cell, direction])) != OFF_BOARD:
                table[cell, direction, :DIRECTIONS] = STEP[to]
    return table.reshape(CELLS, -1)


# Hash keys: one row of eight words for each height or worker on each cell; all zero for what does not count

_SEED = 20_240_229
NO_CELL = CELLS
"""A cell that never holds anything: its row is zero, so that there is always a row to read."""
_NO_CELL = ONE << np.uint64(NO_CELL)
PLACES = CELLS + 1


def _keys(kinds: int, seed: int) -> Array:
    table = np.zeros((kinds, PLACES, SYMMETRIES), np.uint64)
    table[:, :CELLS] = key_table(CELL_TURNS, kinds, seed)
    return table


_HEIGHT_KEYS = _keys(5, _SEED)
"""Bare ground does not count."""
_HEIGHT_KEYS[0] = 0
_KEYS = np.concatenate([*_HEIGHT_KEYS, *_keys(3, _SEED + 1)])
"""(row, 8): rows of heights, height * PLACES + cell, then of workers, seat * PLACES + cell."""
_PLACES = np.uint64(PLACES)
_FIRST_WORKER = np.uint64(5 * PLACES)


def clock_keys(count: int) -> Array:
    """Words for things off the board, such as the seat to move: the same under every symmetry."""
    return np.random.Generator(np.random.PCG64(_SEED + 2)).integers(0, 1 << 64, count, np.uint64)


@kernel
def change_keys(before: Any, after: Any, seats: Int, clock: Any, keys: Array, at: Int) -> None:
    """Set keys[at + 1] to keys[at] changed by the difference of two records; clock: the difference off the board.

    A turn changes one height and one worker, so this handles one of each directly and loops only for more. It removes
    and re-adds all workers, which is faster than finding the one that moved. Two on one cell, as in a blank record,
    cancel out, and NOWHERE does not count.
    """
    old, new = before.levels, after.levels
    here, there = np.uint64(at), np.uint64(at) + ONE
    changed = np.uint64((old[0] ^ new[0]) | (old[1] ^ new[1]) | (old[2] ^ new[2]) | (old[3] ^ new[3])) | _NO_CELL
    cell = np.uint64(lowest(changed))
    was, now = _height_row(old, cell), _height_row(new, cell)
    a, b = _worker_row(before, 0, 0), _worker_row(before, 0, 1)
    c, d = _worker_row(before, 1, 0), _worker_row(before, 1, 1)
    e, f = _worker_row(after, 0, 0), _worker_row(after, 0, 1)
    g, h = _worker_row(after, 1, 0), _worker_row(after, 1, 1)
    for lane in range(keys.shape[1]):
        k = np.uint64(lane)
        keys[there, k] = (
            (keys[here, k] ^ clock)
            ^ (_KEYS[was, k] ^ _KEYS[now, k])
            ^ (_KEYS[a, k] ^ _KEYS[b, k] ^ _KEYS[c, k] ^ _KEYS[d, k])
            ^ (_KEYS[e, k] ^ _KEYS[f, k] ^ _KEYS[g, k] ^ _KEYS[h, k])
        )
    if seats == 3:
        _change_third(before, after, keys, there)
    changed &= changed - ONE
    while changed:
        cell = np.uint64(lowest(changed))
        changed &= changed - ONE
        was, now = _height_row(old, cell), _height_row(new, cell)
        for lane in range(keys.shape[1]):
            k = np.uint64(lane)
            keys[there, k] ^= _KEYS[was, k] ^ _KEYS[now, k]


@kernel
def _height_row(levels: Array, cell: Any) -> Any:
    return np.uint64(height(levels, cell)) * _PLACES + cell


@kernel
def _worker_row(s: Any, seat: Int, worker: Int) -> Any:
    return _FIRST_WORKER + np.uint64(seat) * _PLACES + min(np.uint64(s.workers[seat, worker]), np.uint64(NO_CELL))


@kernel
def _change_third(before: Any, after: Any, keys: Array, there: Any) -> None:
    """Update the keys by the third seat's workers."""
    a, b, c, d = (
        _worker_row(before, 2, 0),
        _worker_row(before, 2, 1),
        _worker_row(after, 2, 0),
        _worker_row(after, 2, 1),
    )
    for lane in range(keys.shape[1]):
        k = np.uint64(lane)
        keys[there, k] ^= _KEYS[a, k] ^ _KEYS[b, k] ^ _KEYS[c, k] ^ _KEYS[d, k]
