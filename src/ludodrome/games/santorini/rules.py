"""The compiled rules of santorini. R-numbers refer to RULES.md in this folder.

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
    lay,
    list_builds,
    reach,
    rimmed,
    step_fault,
)
from ludodrome.jit import Array, Int, Record, entry, kernel, lowest, record_dtype

MAX_SEATS = 3
WORKERS = 2

DTYPE = record_dtype(
    [
        ("levels", np.uint32, (4,)),  # see games/towers.py
        ("workers", np.uint8, (MAX_SEATS, WORKERS)),  # cell by seat; the third row is unused with two players
        ("players", np.uint8),  # an option, never changed by a kernel
        ("winner", np.int8),  # -1: none
        ("reason", np.uint8),  # an index into REASONS
        ("ply", np.int32),
    ]
)

RUNNING, SUMMITED, STUCK = range(3)
REASONS = ("", "reached level 3", "no legal moves")

# C2 is row C, column 2: cell 11
START = np.array([[[11, 7], [17, 13], [0, 0]], [[12, 7], [17, 8], [16, 18]]], np.uint8)
"""R3, R4: (players - 2, seat, worker) -> cell."""

# Actions: worker * 64 + direction of the step * 8 + direction of the build.
BUILDS = DIRECTIONS
STEPS_OF_WORKER = DIRECTIONS * BUILDS
NUM_ACTIONS = WORKERS * STEPS_OF_WORKER
MAX_LEGAL = NUM_ACTIONS + DIRECTIONS  # see list_builds
MAX_TURNS = 4 * CELLS
"""R14: every turn builds a level."""


@kernel
def seat_after(players: Int, ply: Int) -> Int:
    """R5: the seats take turns. Division by a constant is faster."""
    return ply % 2 if players == 2 else ply % 3


@kernel
def occupied(s: Record) -> Any:
    """R1: the set of cells with workers."""
    cells = np.uint64(0)
    for seat in range(s.players):
        cells |= bit(s.workers[seat, 0]) | bit(s.workers[seat, 1])
    return cells


@kernel
def reset(s: Record, seed: Any) -> None:
    """R2, R3, R4: bare ground, workers on their start squares. Nothing is random."""
    for k in range(4):
        s.levels[k] = 0
    for seat in range(MAX_SEATS):
        for worker in range(WORKERS):
            s.workers[seat, worker] = START[s.players - 2, seat, worker]
    s.ply = 0
    s.winner = -1
    s.reason = RUNNING


@kernel
def mover(s: Record) -> Int:
    """R5: the seat to move; R13: -1 once the game is over."""
    return -1 if s.reason != RUNNING else seat_after(s.players, np.int64(s.ply))


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """R6: all legal actions, ascending. A winning step is listed with each of its builds (R10)."""
    if s.reason != RUNNING:
        return 0
    seat = np.uint64(seat_after(s.players, np.int64(s.ply)))
    taken = occupied(s)
    levels = s.levels
    free = rimmed(~(taken | levels[3]))  # R9
    count = np.uint64(0)
    for worker in range(WORKERS):
        source = s.workers[seat, np.uint64(worker)]
        buildable = free | (ONE << RIMMED[source])  # R8: the cell just left is free
        steps = reach(levels, source, taken)  # R7
        while steps:
            to = np.uint64(lowest(steps))
            steps &= steps - ONE
            action = np.uint64(worker * STEPS_OF_WORKER + DIRECTION[source, to] * BUILDS)
            count = list_builds(buffer, count, action, around(buildable, to))
    return np.int64(count)


@kernel
def split(action: int) -> Any:
    """Worker, direction of the step, direction of the build."""
    return action // STEPS_OF_WORKER, action % STEPS_OF_WORKER // BUILDS, action % BUILDS


@kernel
def fault(s: Record, action: int) -> int:
    """0 if the action is legal, else the first fault."""
    if s.reason != RUNNING:  # R13
        return GAME_OVER
    taken = occupied(s)
    worker, to_direction, build_direction = split(action)
    source = s.workers[seat_after(s.players, np.int64(s.ply)), worker]
    to = STEP[source, to_direction]
    wrong = step_fault(s.levels, source, to, taken)  # R7, R9
    if wrong:
        return wrong
    return build_fault(s.levels, STEP[to, build_direction], taken ^ bit(source))  # R8, R9


@kernel
def play(s: Record, action: int) -> None:
    """R6: step, then build, even after a winning step (R10); then check for the end."""
    seat = seat_after(s.players, np.int64(s.ply))
    worker, to_direction, build_direction = split(action)
    to = STEP[s.workers[seat, worker], to_direction]
    s.workers[seat, worker] = to
    build(s.levels, STEP[to, build_direction])
    s.ply += 1
    judge(s)


@kernel
def judge(s: Record) -> None:
    """R10, R11, R12: derive the end from the position; the seat that has just moved wins."""
    next_seat = seat_after(s.players, np.int64(s.ply))
    last = (next_seat if next_seat > 0 else np.int64(s.players)) - 1
    s.winner = -1
    s.reason = RUNNING
    standing = bit(s.workers[last, 0]) | bit(s.workers[last, 1])
    if standing & s.levels[SUMMIT - 1]:
        s.winner = last
        s.reason = SUMMITED
        return
    # A worker that can step can build: the cell just left is free (R8).
    taken = occupied(s)
    first, second = s.workers[next_seat, 0], s.workers[next_seat, 1]
    if not reach(s.levels, first, taken) and not reach(s.levels, second, taken):
        s.winner = last
        s.reason = STUCK


@kernel
def winner(s: Record) -> Int:
    """The winning seat, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """R5: the number of turns made."""
    return np.int64(s.ply)


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def set_up(states: Any, heights: bytes) -> None:
    """Set the heights of states[0], then judge: for the codec."""
    lay(states[0].levels, heights)
    judge(states[0])
