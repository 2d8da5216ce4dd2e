"""Evaluator of skysummit. ``tower_evaluate.py`` has the parts shared with santorini."""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator
from ludodrome.games.skysummit.rules import (
    BUILDS,
    NO_BUILD,
    PLACEMENT_TURNS,
    PLACEMENTS,
    STEPS_OF_WORKER,
    WORKERS,
    occupied,
    placed,
    placement,
    split,
)
from ludodrome.games.tower_evaluate import (
    CELL_TURNS,
    ORBIT,
    WEIGHTS,
    build_score,
    built_cells,
    change_keys,
    clock_keys,
    duel_value,
    placement_value,
    step_score,
    step_turns,
    summits,
    tower_context,
    within_bounds,
)
from ludodrome.games.tower_network import built_bucket, tower_network
from ludodrome.games.towers import CELLS, DIRECTION, STEP, bit
from ludodrome.jit import Array, Int, Record, kernel, lowest, python
from ludodrome.search.symmetry import SYMMETRIES

NUM_STEP_IDS = CELLS * STEPS_OF_WORKER
NUM_MOVE_IDS = NUM_STEP_IDS + PLACEMENTS
MAX_TURN_LIMIT = 1000

_BUILT = built_cells(BUILDS)
_CLOCK = clock_keys(2 * (MAX_TURN_LIMIT + 1))
"""turns left * 2 + seat -> word"""
_TURN = 10
_CENTRE_SCORE = np.array([-200, -100, -50, 100, 150, 200])
"""orbit -> score of a placement there."""


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Value of a running position to ``pov_seat``."""
    mover = np.int64(s.ply) % 2
    if s.ply < PLACEMENT_TURNS:
        placing = _TURN if pov_seat == mover else -_TURN
        if s.ply == 0:
            return np.int64(placing)
        return placing + placement_value(s.workers, 0) * (1 - 2 * pov_seat)
    return within_bounds(duel_value(WEIGHTS, s.levels, s.workers, mover, pov_seat))


@kernel
def winning(s: Record) -> Int:
    """R8: a step onto level 3, or -1. The search finds wins by blocking the other seat."""
    if not s.levels[2]:
        return -1
    seat = np.int64(s.ply) % 2
    taken = occupied(s)
    for worker in range(WORKERS):
        source = s.workers[seat, worker]
        tops = summits(s.levels, source, taken)
        if tops:
            return np.int64(PLACEMENTS + worker * STEPS_OF_WORKER + DIRECTION[source, lowest(tops)] * BUILDS + NO_BUILD)
    return -1


@kernel
def _threats(s: Record) -> Any:
    """The cells on which the next seat threatens to win. R11: there is no turn after the last."""
    if not s.levels[2] or s.ply + 1 >= s.turn_limit:
        return np.uint64(0)
    seat = 1 - np.int64(s.ply) % 2
    taken = occupied(s)
    return summits(s.levels, s.workers[seat, 0], taken) | summits(s.levels, s.workers[seat, 1], taken)


@kernel
def in_check(s: Record) -> Any:
    """Whether the next seat threatens to step onto level 3."""
    return _threats(s) != 0


@kernel
def evasions(s: Record, buffer: Array, count: Int) -> Int:
    """Keep the actions that build a dome on the threatened cell. Nothing else helps: occupying it would be a win."""
    threats = _threats(s)
    if threats & (threats - np.uint64(1)):
        return 0
    cell = lowest(threats)
    seat = np.int64(s.ply) % 2
    first, second = s.workers[seat, 0], s.workers[seat, 1]
    kept = np.int64(0)
    for k in range(count):
        action = np.int64(buffer[k])
        rest = action - PLACEMENTS
        built = _BUILT[first, rest] if rest < STEPS_OF_WORKER else _BUILT[second, rest - STEPS_OF_WORKER]
        buffer[kept] = action
        kept += np.int64(built == cell)
    return kept


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """False: there are no captures."""
    return False


@kernel
def move_context(s: Record) -> Any:
    """The inputs of ``move_score``; unused before both seats have placed."""
    seat = np.int64(s.ply) % 2
    if s.ply < PLACEMENT_TURNS:
        return tower_context(s.levels, np.uint8(0), np.uint8(0), np.uint64(0))
    others = bit(s.workers[1 - seat, 0]) | bit(s.workers[1 - seat, 1])
    return tower_context(s.levels, s.workers[seat, 0], s.workers[seat, 1], others)


@kernel
def move_score(s: Record, context: Any, action: Int) -> Int:
    """Prefer steps up, builds for one's own climbs and against the others', and placements in the centre."""
    if action < PLACEMENTS:
        a, b = placed(action)
        return _CENTRE_SCORE[ORBIT[a]] + _CENTRE_SCORE[ORBIT[b]]
    worker, to_direction, build_direction = split(action)
    source = context[3] if worker == 0 else context[4]
    to = STEP[source, to_direction]
    good = step_score(context, source, to)
    if build_direction == NO_BUILD:
        return good
    return good + build_score(context, worker, to, STEP[to, build_direction])


@kernel
def gain(before: Record, after: Record) -> Int:
    """0: there are no points."""
    return 0


@kernel
def move_id(s: Record, action: Int) -> Int:
    """Source, step and build, whichever worker makes them; then the placements."""
    if action < PLACEMENTS:
        return np.int64(NUM_STEP_IDS + action)
    rest = action - PLACEMENTS
    worker = rest // STEPS_OF_WORKER
    return np.int64(s.workers[np.int64(s.ply) % 2, worker]) * STEPS_OF_WORKER + rest % STEPS_OF_WORKER


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """Update the keys by heights, workers, seat to move and turns left (R11)."""
    change_keys(before, after, 2, _CLOCK[_clock(before)] ^ _CLOCK[_clock(after)], keys, at)


@kernel
def _clock(s: Record) -> Int:
    return 2 * (np.int64(s.turn_limit) - np.int64(s.ply)) + np.int64(s.ply) % 2


def _move_id_symmetries() -> Array:
    turned = np.zeros((SYMMETRIES, NUM_MOVE_IDS), np.uint16)
    turned[:, :NUM_STEP_IDS] = step_turns(BUILDS)
    for symmetry in range(SYMMETRIES):
        cells = CELL_TURNS[symmetry]
        for action in range(PLACEMENTS):
            a, b = python(placed)(action)
            turned[symmetry, NUM_STEP_IDS + action] = NUM_STEP_IDS + python(placement)(int(cells[a]), int(cells[b]))
    return turned


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
    move_id_symmetries=_move_id_symmetries(),
    by_points=False,
    has_no_tactics=True,
)


@kernel
def bucket(s: Record) -> Int:
    """The network's bucket; there is none while workers are being placed."""
    return built_bucket(s.levels) if s.ply >= PLACEMENT_TURNS else -1


NETWORK = tower_network(bucket)
