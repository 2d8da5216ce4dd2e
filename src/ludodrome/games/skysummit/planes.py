"""Observation planes of skysummit: 5 x 5, the observing seat's workers first."""

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.games.skysummit.rules import WORKERS, mover
from ludodrome.games.towers import HEIGHTS, SIDE, draw_heights, draw_worker, fill
from ludodrome.jit import Array, Int, Record, kernel

SEATS = 2
MAX_LEFT = 255
NAMES = (
    *HEIGHTS,
    *(f"{whose} worker {worker}" for whose in ("own", "other") for worker in range(WORKERS)),
    "to move",
    "turns left",
)
FIRST_WORKER = len(HEIGHTS)
TO_MOVE = FIRST_WORKER + SEATS * WORKERS
LEFT = TO_MOVE + 1


def planes_of(turn_limit: int) -> Planes:
    """The planes of a game with this turn limit."""
    highest = (1,) * TO_MOVE + (SEATS, min(turn_limit, MAX_LEFT))
    return Planes(NAMES, SIDE, SIDE, highest, np.uint8)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """Write a seat's observation to ``out``: [planes, 25] uint8."""
    draw_heights(s.levels, out)
    for place in range(SEATS):
        for worker in range(WORKERS):
            draw_worker(s.workers[(seat + place) % SEATS, worker], out, FIRST_WORKER + place * WORKERS + worker)
    moving = mover(s)
    fill(out, TO_MOVE, 0 if moving < 0 else 1 + (moving - seat) % SEATS)
    fill(out, LEFT, min(np.int64(s.turn_limit) - np.int64(s.ply), MAX_LEFT))
