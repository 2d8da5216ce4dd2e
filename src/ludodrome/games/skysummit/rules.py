"""The compiled rules of skysummit. R-numbers refer to RULES.md in this folder.

Kernels trust their input; ``codec.py`` validates JSON and text.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.games.towers import (
    CELLS,
    DIRECTION,
    DIRECTIONS,
    ONE,
    RIMMED,
    STEP,
    SUMMIT,
    around,
    bit,
    build,
    build_fault,
    height,
    lay,
    list_builds,
    reach,
    rimmed,
    step_fault,
)
from ludodrome.jit import Array, Int, Record, entry, kernel, lowest, record_dtype

WORKERS = 2
PLACEMENT_TURNS = 2
NOWHERE = 255
"""The cell of a worker that has not been placed."""

DTYPE = record_dtype(
    [
        ("levels", np.uint32, (4,)),  # see games/towers.py
        ("workers", np.uint8, (2, WORKERS)),  # cell by seat, or NOWHERE
        ("ply", np.uint16),
        ("turn_limit", np.uint16),  # an option, never changed by a kernel
        ("winner", np.int8),  # -1: none
        ("reason", np.uint8),  # an index into REASONS
    ]
)

RUNNING, SUMMITED, STUCK, ALTITUDE, PEAK, DRAWN = range(6)
REASONS = (
    "",
    "reached level 3",
    "no legal moves",
    "turn limit: higher altitude",
    "turn limit: higher peak",
    "turn limit: draw",
)

# Actions: first the placements (a, b), then worker * 72 + direction * 9 + build direction.
PLACEMENTS = CELLS * (CELLS - 1)
NO_BUILD = DIRECTIONS
BUILDS = DIRECTIONS + 1
STEPS_OF_WORKER = DIRECTIONS * BUILDS
NUM_ACTIONS = PLACEMENTS + WORKERS * STEPS_OF_WORKER
MAX_TURNS = 2 + 4 * CELLS  # every turn of the play phase builds, except one that wins

# Faults beyond those of towers.py
WRONG_PHASE = 9
PLACE_OCCUPIED = 10
BUILD_WITH_WIN = 11
BUILD_MISSING = 12


@kernel
def placement(a: int, b: int) -> int:
    """The action that places on a and b, in this order."""
    return a * (CELLS - 1) + (b if b < a else b - 1)


@kernel
def placed(action: int) -> Any:
    """The two cells of a placement."""
    a = action // (CELLS - 1)
    b = action % (CELLS - 1)
    return a, (b if b < a else b + 1)


@kernel
def occupied(s: Record) -> Any:
    """R2: the set of cells with workers."""
    cells = np.uint64(0)
    for seat in range(2):
        if s.workers[seat, 0] != NOWHERE:
            cells |= bit(s.workers[seat, 0]) | bit(s.workers[seat, 1])
    return cells


@kernel
def reset(s: Record, seed: Any) -> None:
    """R1, R2: an empty board without workers. Nothing is random."""
    for k in range(4):
        s.levels[k] = 0
    for seat in range(2):
        for worker in range(WORKERS):
            s.workers[seat, worker] = NOWHERE
    s.ply = 0
    s.winner = -1
    s.reason = RUNNING


@kernel
def mover(s: Record) -> Int:
    """R3: the seats alternate; R15: -1 once the game is over."""
    return -1 if s.reason != RUNNING else np.int64(s.ply) % 2


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """All legal actions, ascending."""
    if s.reason != RUNNING:
        return 0
    if s.ply < PLACEMENT_TURNS:
        return _placements(s, buffer)
    seat = np.uint64(s.ply) % np.uint64(2)
    taken = occupied(s)
    levels = s.levels
    summits = levels[2]  # includes domes, but reach excludes them
    free = rimmed(~(taken | levels[3]))  # R10
    count = np.uint64(0)
    for worker in range(WORKERS):
        source = s.workers[seat, np.uint64(worker)]
        buildable = free | (ONE << RIMMED[source])  # R9: the cell just left is free
        steps = reach(levels, source, taken)  # R7
        while steps:
            to = np.uint64(lowest(steps))
            steps &= steps - ONE
            action = np.uint64(PLACEMENTS + worker * STEPS_OF_WORKER + DIRECTION[source, to] * BUILDS)
            if (summits >> to) & ONE:  # R8
                buffer[count] = action + np.uint64(NO_BUILD)
                count += ONE
            else:
                count = list_builds(buffer, count, action, around(buildable, to))
    return np.int64(count)


@kernel
def _placements(s: Record, buffer: Array) -> Int:
    """R4: every ordered pair of free cells."""
    if s.ply == 0:
        for action in range(PLACEMENTS):
            buffer[action] = action
        return np.int64(PLACEMENTS)
    taken = occupied(s)
    count = np.uint64(0)
    for a in range(CELLS):
        if taken & bit(a):
            continue
        others = taken | bit(a)
        for b in range(CELLS):
            buffer[count] = placement(a, b)
            count += ~(others >> np.uint64(b)) & ONE  # always written, counted only if b is free
    return np.int64(count)


@kernel
def fault(s: Record, action: int) -> int:
    """0 if the action is legal, else the first fault."""
    if s.reason != RUNNING:  # R15
        return GAME_OVER
    taken = occupied(s)
    if (action < PLACEMENTS) != (s.ply < PLACEMENT_TURNS):  # R4, R6
        return WRONG_PHASE
    if action < PLACEMENTS:
        a, b = placed(action)
        return PLACE_OCCUPIED if taken & (bit(a) | bit(b)) else 0
    worker, to_direction, build_direction = split(action)
    source = s.workers[np.int64(s.ply) % 2, worker]
    to = STEP[source, to_direction]
    wrong = step_fault(s.levels, source, to, taken)  # R7, R10
    if wrong:
        return wrong
    if height(s.levels, to) == SUMMIT:  # R8
        return 0 if build_direction == NO_BUILD else BUILD_WITH_WIN
    if build_direction == NO_BUILD:
        return BUILD_MISSING
    return build_fault(s.levels, STEP[to, build_direction], taken ^ bit(source))  # R9, R10


@kernel
def split(action: int) -> Any:
    """Worker, direction of the step, direction of the build."""
    rest = action - PLACEMENTS
    return rest // STEPS_OF_WORKER, rest % STEPS_OF_WORKER // BUILDS, rest % BUILDS


@kernel
def play(s: Record, action: int) -> None:
    """Play a legal action, then check for the end."""
    seat = np.int64(s.ply) % 2
    if action < PLACEMENTS:  # R4, R5
        a, b = placed(action)
        s.workers[seat, 0] = min(a, b)
        s.workers[seat, 1] = max(a, b)
    else:  # R6
        worker, to_direction, build_direction = split(action)
        to = STEP[s.workers[seat, worker], to_direction]
        s.workers[seat, worker] = to
        if build_direction != NO_BUILD:
            build(s.levels, STEP[to, build_direction])
    s.ply += 1
    judge(s)


@kernel
def judge(s: Record) -> None:
    """R14: derive the end from the position: a summit, the turn limit, a stuck seat, in this order."""
    s.winner = -1
    s.reason = RUNNING
    next_seat = np.int64(s.ply) % 2
    last = 1 - next_seat
    if s.ply >= PLACEMENT_TURNS:
        standing = bit(s.workers[last, 0]) | bit(s.workers[last, 1])
        if standing & s.levels[SUMMIT - 1]:  # R8
            s.winner = last
            s.reason = SUMMITED
            return
    if s.ply == s.turn_limit:  # R11
        _break_tie(s)
    elif s.ply >= PLACEMENT_TURNS:
        taken = occupied(s)
        first, second = s.workers[next_seat, 0], s.workers[next_seat, 1]
        if not reach(s.levels, first, taken) and not reach(s.levels, second, taken):  # R13
            s.winner = last
            s.reason = STUCK


@kernel
def _break_tie(s: Record) -> None:
    """R12: altitude, then peak, then a draw. Unplaced workers count 0."""
    s.reason = DRAWN
    if s.ply < PLACEMENT_TURNS:
        return
    a, b = height(s.levels, s.workers[0, 0]), height(s.levels, s.workers[0, 1])
    c, d = height(s.levels, s.workers[1, 0]), height(s.levels, s.workers[1, 1])
    if a + b != c + d:
        s.reason = ALTITUDE
        s.winner = 0 if a + b > c + d else 1
    elif max(a, b) != max(c, d):
        s.reason = PEAK
        s.winner = 0 if max(a, b) > max(c, d) else 1


@kernel
def winner(s: Record) -> Int:
    """The winning seat, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """R3: placements count as turns."""
    return np.int64(s.ply)


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def set_up(states: Any, heights: bytes) -> None:
    """Set the heights of states[0], then judge: for the codec."""
    lay(states[0].levels, heights)
    judge(states[0])
