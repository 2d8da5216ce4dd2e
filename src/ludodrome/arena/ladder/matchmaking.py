"""Matchmaking of the ladder, by uncertainty and closeness: pure functions on arrays, fast for 10,000 bots.

The bot with the most uncertain rating plays first. Its opponent is the one whose game is most informative: close in
rating, because the result is open, and uncertain itself. Random factors vary the choice among similar opponents.
"""

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.ratings import SIGMA

BETA = SIGMA / 2
"""Standard deviation of a bot's performance in one game, as in ``ratings.py``."""
NARROW = 1.75
"""A bot with a smaller sigma rests; its interval is then about 100 Elo to each side."""
JITTER = 0.5
"""Randomness of a choice: a random factor between 1 - JITTER and 1 multiplies each value."""

Numbers = NDArray[np.float64]


def information(mu: Numbers, sigma: Numbers, one: int) -> Numbers:
    """The information of a game of one bot against each other: variance of the result times uncertainty."""
    spread = np.sqrt(2 * BETA**2 + sigma**2 + sigma[one] ** 2)
    expected = 1 / (1 + np.exp(-(mu - mu[one]) / spread))
    worth: Numbers = expected * (1 - expected) * (sigma**2 + sigma[one] ** 2) / spread**2
    worth[one] = 0.0
    return worth


def choose_pair(
    mu: Numbers, sigma: Numbers, eager: NDArray[np.bool_], free: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[int, int] | None:
    """Choose the next pair, one of the ``eager`` bots and a ``free`` opponent; None if nobody should play.

    ``eager``: [bots] bool, those whose games are wanted. ``free``: [bots] bool, those that can play now. An eager bot
    with a small sigma rests until others need it.
    """
    wanting = eager & free & (sigma > NARROW)
    if not wanting.any() or np.count_nonzero(free) < 2:
        return None
    first = int(np.argmax(np.where(wanting, sigma * _random_factors(rng, len(mu)), -1.0)))
    worth = information(mu, sigma, first) * _random_factors(rng, len(mu))
    worth[~free] = -1.0
    worth[first] = -1.0
    second = int(np.argmax(worth))
    return first, second


def choose_pairs(mu: Numbers, sigma: Numbers, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose many disjoint pairs at once, [pairs, 2], for leagues on many machines.

    The most uncertain bots are paired first; each considers only its neighbours in rating, so the work grows little
    faster than the number of bots.
    """
    order = np.argsort(mu + rng.normal(0.0, 1.0, len(mu)) * sigma / 2, kind="stable")
    place = np.empty(len(mu), dtype=np.int64)
    place[order] = np.arange(len(mu))
    taken = np.zeros(len(mu), dtype=bool)
    found: list[tuple[int, int]] = []
    for first in np.argsort(-sigma * _random_factors(rng, len(mu)), kind="stable"):
        if len(found) >= count:
            break
        if taken[first]:
            continue
        near = order[max(0, place[first] - NEAR) : place[first] + NEAR + 1]
        near = near[~taken[near] & (near != first)]
        if not len(near):
            continue
        both = np.concatenate(([first], near))
        worth = information(mu[both], sigma[both], 0) * _random_factors(rng, len(both))
        second = int(both[int(np.argmax(worth))])
        taken[first] = taken[second] = True
        found.append((int(first), second))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


NEAR = 16
"""Neighbours to each side that ``choose_pairs`` considers."""


def _random_factors(rng: np.random.Generator, count: int) -> Numbers:
    return 1.0 - JITTER * rng.random(count)
