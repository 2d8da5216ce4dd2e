"""Tic-tac-toe's rules for machines: the state's record, and the rules. RULES.md tells the same to people.

Kernels trust their input: whether a state or a move is one is decided in ``codec.py`` and by ``fault``.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.jit import Array, Int, Record, entry, kernel, record_dtype

SIDE = 3
CELLS = SIDE * SIDE
SEATS = 2
REASONS = ("", "three in a row", "a full board")
RUNNING, THREE, FULL = range(len(REASONS))
OCCUPIED = 2
"""The fault of a cell that is not empty; number 1 is ``GAME_OVER`` in all games."""

DTYPE = record_dtype(
    [
        ("signs", np.uint16, (SEATS,)),  # by seat: the cells with its signs, as a bit set
        ("ply", np.uint8),  # how many signs there are
        ("winner", np.int8),
        ("reason", np.uint8),
    ]
)
"""One state. Every game has ``winner`` (-1 for nobody) and ``reason`` (the number of one of REASONS)."""

# Numba makes int64 or float64 of uint64 + 1, so numbers that meet bit sets are typed.
ONE = np.uint64(1)


def _lines() -> Array:
    """The bit sets of three cells in a row."""
    rows = [[row * SIDE + column for column in range(SIDE)] for row in range(SIDE)]
    columns = [[row * SIDE + column for row in range(SIDE)] for column in range(SIDE)]
    diagonals = [[k * SIDE + k for k in range(SIDE)], [k * SIDE + SIDE - 1 - k for k in range(SIDE)]]
    return np.array([sum(1 << cell for cell in line) for line in (*rows, *columns, *diagonals)], np.uint64)


LINES = _lines()


@kernel
def reset(s: Record, seed: Any) -> None:
    """R1: an empty board."""
    s.signs[0] = 0
    s.signs[1] = 0
    s.ply = 0
    s.winner = -1
    s.reason = RUNNING


@kernel
def taken(s: Record) -> Any:
    """The cells with a sign."""
    return np.uint64(s.signs[0]) | np.uint64(s.signs[1])


@kernel
def has_line(signs: Any) -> Any:
    """R3: whether three of them are in a row."""
    for line in LINES:
        if signs & line == line:
            return True
    return False


@kernel
def judge(s: Record) -> None:
    """R3, R4: how the position ends the game, if it does."""
    s.winner = -1
    s.reason = RUNNING
    for seat in range(SEATS):
        if has_line(np.uint64(s.signs[seat])):
            s.winner = seat
            s.reason = THREE
            return
    if s.ply == CELLS:
        s.reason = FULL


@kernel
def mover(s: Record) -> Int:
    """R2: the seats take turns."""
    return np.int64(-1) if s.reason != RUNNING else np.int64(s.ply) % SEATS


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """R2: the empty cells."""
    if s.reason != RUNNING:
        return 0
    cells = taken(s)
    count = 0
    for cell in range(CELLS):
        if not (cells >> np.uint64(cell)) & ONE:
            buffer[count] = cell
            count += 1
    return count


@kernel
def fault(s: Record, action: Int) -> Int:
    """R2: why a sign cannot be put there; 0 if it can."""
    if s.reason != RUNNING:
        return GAME_OVER
    return OCCUPIED if (taken(s) >> np.uint64(action)) & ONE else 0


@kernel
def play(s: Record, action: Int) -> None:
    """R2: a sign on an empty cell."""
    seat = np.int64(s.ply) % SEATS
    s.signs[seat] |= np.uint16(1 << action)
    s.ply += 1
    judge(s)


@kernel
def winner(s: Record) -> Int:
    """R3, R4: the seat that has won, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """How many moves have been made."""
    return np.int64(s.ply)


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def judge_array(states: Any) -> None:
    """Judge states[0]. The codec calls this, so it is an entry point: compiled, and cached on disk."""
    judge(states[0])
