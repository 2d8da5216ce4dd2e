"""Evaluator of santorini. ``tower_evaluate.py`` has the parts shared with skysummit.

With three players a value compares ``pov_seat`` with the better of the others, and a threat is one of the next seat.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator
from ludodrome.games.santorini.rules import BUILDS, MAX_SEATS, STEPS_OF_WORKER, WORKERS, occupied, seat_after
from ludodrome.games.tower_evaluate import (
    MAX_MOVE_SCORE,
    WEIGHTS,
    build_score,
    built_cells,
    change_keys,
    clock_keys,
    duel_value,
    step_score,
    step_turns,
    summits,
    tower_context,
    trio_value,
    within_bounds,
)
from ludodrome.games.tower_network import built_bucket, tower_network
from ludodrome.games.towers import CELLS, DIRECTION, DIRECTIONS, STEP, bit
from ludodrome.jit import Array, Int, Record, kernel, lowest

NUM_MOVE_IDS = CELLS * STEPS_OF_WORKER

_BUILT = built_cells(BUILDS)
_CLOCK = clock_keys((MAX_SEATS + 1) * MAX_SEATS)
"""players * 3 + seat -> word"""


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Value of a running position to ``pov_seat``."""
    mover = seat_after(s.players, np.int64(s.ply))
    if s.players == 2:
        return within_bounds(duel_value(WEIGHTS, s.levels, s.workers, mover, pov_seat))
    return within_bounds(trio_value(WEIGHTS, s.levels, s.workers, mover, pov_seat))


@kernel
def winning(s: Record) -> Int:
    """R10: a step onto level 3, or -1. It builds on the cell just left, which is always free (R8).

    The search finds wins by blocking the next seat.
    """
    if not s.levels[2]:
        return -1
    seat = seat_after(s.players, np.int64(s.ply))
    taken = occupied(s)
    for worker in range(WORKERS):
        source = s.workers[seat, worker]
        tops = summits(s.levels, source, taken)
        if tops:
            direction = DIRECTION[source, lowest(tops)]
            return np.int64(worker * STEPS_OF_WORKER + direction * BUILDS + (DIRECTIONS - 1 - direction))
    return -1


@kernel
def _threats(s: Record) -> Any:
    """The cells on which the next seat threatens to win."""
    if not s.levels[2]:
        return np.uint64(0)
    seat = seat_after(s.players, np.int64(s.ply) + 1)
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
    seat = seat_after(s.players, np.int64(s.ply))
    first, second = s.workers[seat, 0], s.workers[seat, 1]
    kept = np.int64(0)
    for k in range(count):
        action = np.int64(buffer[k])
        built = _BUILT[first, action] if action < STEPS_OF_WORKER else _BUILT[second, action - STEPS_OF_WORKER]
        buffer[kept] = action
        kept += np.int64(built == cell)
    return kept


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """False: there are no captures."""
    return False


@kernel
def move_context(s: Record) -> Any:
    """The inputs of ``move_score``."""
    seat = seat_after(s.players, np.int64(s.ply))
    first, second = s.workers[seat, 0], s.workers[seat, 1]
    return tower_context(s.levels, first, second, occupied(s) & ~(bit(first) | bit(second)))


@kernel
def move_score(s: Record, context: Any, action: Int) -> Int:
    """Prefer steps up, builds for one's own climbs, and builds against the others'."""
    worker = action // STEPS_OF_WORKER
    source = context[3] if worker == 0 else context[4]
    to = STEP[source, action % STEPS_OF_WORKER // BUILDS]
    good = step_score(context, source, to)
    if good == MAX_MOVE_SCORE:  # R10: with any build
        return good
    return good + build_score(context, worker, to, STEP[to, action % BUILDS])


@kernel
def gain(before: Record, after: Record) -> Int:
    """0: there are no points."""
    return 0


@kernel
def move_id(s: Record, action: Int) -> Int:
    """Source, step and build, whichever worker makes them."""
    worker = action // STEPS_OF_WORKER
    source = np.int64(s.workers[seat_after(s.players, np.int64(s.ply)), worker])
    return source * STEPS_OF_WORKER + action % STEPS_OF_WORKER


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """Update the keys by heights, workers, number of players and seat to move."""
    change_keys(before, after, np.int64(after.players), _CLOCK[_clock(before)] ^ _CLOCK[_clock(after)], keys, at)


@kernel
def _clock(s: Record) -> Int:
    return np.int64(s.players) * MAX_SEATS + seat_after(s.players, np.int64(s.ply))


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
    move_id_symmetries=step_turns(BUILDS),
    by_points=False,
    has_no_tactics=True,
)


@kernel
def bucket(s: Record) -> Int:
    """The network's bucket; with three players there is none."""
    return built_bucket(s.levels) if s.players == 2 else -1


NETWORK = tower_network(bucket)
