"""The rules of coins for machines: the record of a state, and seven functions. RULES.md tells the same to people.

Kernels trust their input: ``codec.py`` and ``fault`` decide whether a state or a move is valid.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.jit import Array, Int, Record, entry, kernel, record_dtype

VALUES = np.array([2, 1, 3, 1, 2, 3, 1, 3, 2, 1, 3, 2, 1, 2, 3])
"""Coin -> its points."""
COINS = len(VALUES)
COPPER = 1
MAX_SEATS = 3
REASONS = ("", "all coins taken")
RUNNING, ALL_TAKEN = range(len(REASONS))
NOT_AN_END = 2
"""The fault of a coin that is not at an end of the row; number 1 is ``GAME_OVER`` in all games."""

DTYPE = record_dtype(
    [
        ("first", np.uint8),  # the coin at the left end
        ("end", np.uint8),  # one past the coin at the right end
        ("scores", np.uint8, (MAX_SEATS,)),
        ("to_move", np.uint8),
        ("players", np.uint8),  # the option
        ("winner", np.int8),
        ("reason", np.uint8),
    ]
)
"""One state. Every game has ``winner`` (-1 for nobody) and ``reason`` (the number of one of REASONS)."""


@kernel
def reset(s: Record, seed: Any) -> None:
    """R1: the whole row."""
    s.first = 0
    s.end = COINS
    s.to_move = 0
    for seat in range(MAX_SEATS):
        s.scores[seat] = 0
    judge(s)


@kernel
def judge(s: Record) -> None:
    """R4: decide whether the game is over, and who has won.

    A finished game has one form: ``first``, ``end`` and ``to_move`` are 0, whatever coin and seat were last.
    """
    s.winner = -1
    s.reason = RUNNING
    if s.first < s.end:
        return
    s.reason = ALL_TAKEN
    s.first = 0
    s.end = 0
    s.to_move = 0
    most = 0
    for seat in range(MAX_SEATS):  # a seat that does not play has no points
        if s.scores[seat] > most:
            most = s.scores[seat]
            s.winner = seat
        elif s.scores[seat] == most:
            s.winner = -1


@kernel
def mover(s: Record) -> Int:
    """R3: the seat to move, -1 when the game is over."""
    return np.int64(-1) if s.reason != RUNNING else np.int64(s.to_move)


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """R2: the coins at the two ends."""
    if s.reason != RUNNING:
        return 0
    buffer[0] = s.first
    last = np.int64(s.end) - 1
    if last == s.first:
        return 1
    buffer[1] = last
    return 2


@kernel
def fault(s: Record, action: Int) -> Int:
    """R2: why a coin cannot be taken; 0 if it can."""
    if s.reason != RUNNING:
        return GAME_OVER
    return 0 if action == s.first or action == np.int64(s.end) - 1 else NOT_AN_END


@kernel
def play(s: Record, action: Int) -> None:
    """R2, R3: take a coin; a copper one gives another turn."""
    if action == s.first:
        s.first += 1
    else:
        s.end -= 1
    points = VALUES[action]
    s.scores[s.to_move] += points
    if points != COPPER:
        s.to_move = (np.int64(s.to_move) + 1) % np.int64(s.players)
    judge(s)


@kernel
def winner(s: Record) -> Int:
    """R4: the seat that has won, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """Count the coins taken."""
    return COINS - (np.int64(s.end) - np.int64(s.first))


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def judge_array(states: Any) -> None:
    """Judge states[0]. The codec calls this, so it is an entry point: compiled, and cached on disk."""
    judge(states[0])
