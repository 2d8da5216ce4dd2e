"""The rules of picks for machines."""

from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.jit import Array, Int, Record, entry, kernel, record_dtype

MAX_SEATS = 3
NUMBERS = 4
REASONS = ("", "all have picked")
NO_NUMBER = 2

DTYPE = record_dtype(
    [
        ("picks", np.uint8, (MAX_SEATS,)),
        ("ply", np.uint8),
        ("players", np.uint8),
        ("winner", np.int8),
        ("reason", np.uint8),
    ]
)


@kernel
def reset(s: Record, seed: Any) -> None:
    """R1."""
    for seat in range(MAX_SEATS):
        s.picks[seat] = 0
    s.ply = 0
    s.winner = -1
    s.reason = 0


@kernel
def mover(s: Record) -> Int:
    """R2: the seat to move, -1 when the game is over."""
    return np.int64(-1) if s.reason != 0 else np.int64(s.ply)


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """R2: all numbers."""
    if s.reason != 0:
        return 0
    for action in range(NUMBERS):
        buffer[action] = action
    return NUMBERS


@kernel
def fault(s: Record, action: Int) -> Int:
    """R2."""
    return GAME_OVER if s.reason != 0 else 0 if 0 <= action < NUMBERS else NO_NUMBER


@kernel
def judge(s: Record) -> None:
    """R3."""
    s.winner = -1
    s.reason = 0
    if s.ply == s.players:
        total = np.int64(0)
        for seat in range(MAX_SEATS):
            total += np.int64(s.picks[seat])
        s.winner = total % np.int64(s.players)
        s.reason = 1


@kernel
def play(s: Record, action: Int) -> None:
    """R2."""
    s.picks[s.ply] = action + 1
    s.ply += 1
    judge(s)


@kernel
def winner(s: Record) -> Int:
    """R3."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """How many have picked."""
    return np.int64(s.ply)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """The numbers that a seat may see, 5 for those that are face down; and whether it is to move."""
    for other in range(MAX_SEATS):
        hidden = s.reason == 0 and other != seat and s.picks[other] > 0
        out[0, other] = NUMBERS + 1 if hidden else s.picks[other]
        out[1, other] = 1 if mover(s) == seat else 0


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def judge_array(states: Any) -> None:
    """Judge states[0]."""
    judge(states[0])
