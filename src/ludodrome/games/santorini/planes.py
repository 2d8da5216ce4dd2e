"""Observation planes of santorini: 5 x 5, the observing seat's workers first, then those of the next."""

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.games.santorini.rules import WORKERS, mover
from ludodrome.games.towers import HEIGHTS, SIDE, draw_heights, draw_worker, fill
from ludodrome.jit import Array, Int, Record, kernel

WHOSE = ("own", "next seat's", "last seat's")
FIRST_WORKER = len(HEIGHTS)


def planes_of(players: int) -> Planes:
    """The planes of a game of ``players`` players."""
    workers = tuple(f"{whose} worker {worker + 1}" for whose in WHOSE[:players] for worker in range(WORKERS))
    names = (*HEIGHTS, *workers, "to move")
    return Planes(names, SIDE, SIDE, (1,) * (len(names) - 1) + (players,), np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """Write a seat's observation to ``out``: [planes, 25] uint8."""
    players = np.int64(s.players)
    draw_heights(s.levels, out)
    for place in range(players):
        for worker in range(WORKERS):
            draw_worker(s.workers[(seat + place) % players, worker], out, FIRST_WORKER + place * WORKERS + worker)
    moving = mover(s)
    fill(out, FIRST_WORKER + players * WORKERS, 0 if moving < 0 else 1 + (moving - seat) % players)
