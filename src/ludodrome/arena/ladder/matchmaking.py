"""Who meets whom on the ladder: by uncertainty and closeness. Pure functions on arrays, quick for 10,000 bots.

A bot of which little is known plays first. It meets whoever its game says most about: somebody near, because the result
of a game between equals is open, and somebody uncertain, because then it teaches about two. A lot decides among many
that are about as good, so that nobody meets the same rival for ever.
"""

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.skill import SIGMA

BETA = SIGMA / 2
"""How far a bot's single game strays from its strength, as in ``skill.py``."""
NARROW = 1.75
"""A sigma that is small enough: the bot rests. In Elo its interval is then some 100 points to each side."""
LOT = 0.5
"""How much of a choice is left to the lot: a value between 1 - LOT and 1 multiplies every worth."""

Numbers = NDArray[np.float64]


def information(mu: Numbers, sigma: Numbers, one: int) -> Numbers:
    """What a game of one bot against each other is worth: the variance of its result times what is uncertain."""
    spread = np.sqrt(2 * BETA**2 + sigma**2 + sigma[one] ** 2)
    expected = 1 / (1 + np.exp(-(mu - mu[one]) / spread))
    worth: Numbers = expected * (1 - expected) * (sigma**2 + sigma[one] ** 2) / spread**2
    worth[one] = 0.0
    return worth


def choose_pair(
    mu: Numbers, sigma: Numbers, eager: NDArray[np.bool_], free: NDArray[np.bool_], dice: np.random.Generator
) -> tuple[int, int] | None:
    """The next pair: one that is eager to play, and its rival among those who are free; None if nobody should play.

    ``eager`` are those whose games are wanted; ``free`` those who can play now. Somebody eager whose sigma is narrow
    rests until others need it.
    """
    wanting = eager & free & (sigma > NARROW)
    if not wanting.any() or np.count_nonzero(free) < 2:
        return None
    first = int(np.argmax(np.where(wanting, sigma * _lots(dice, len(mu)), -1.0)))
    worth = information(mu, sigma, first) * _lots(dice, len(mu))
    worth[~free] = -1.0
    worth[first] = -1.0
    second = int(np.argmax(worth))
    return first, second


def choose_pairs(mu: Numbers, sigma: Numbers, count: int, dice: np.random.Generator) -> NDArray[np.int64]:
    """Many pairs at once, nobody in two of them: (pairs, 2). For leagues that play on many machines.

    Those who need games most are taken first; each looks for its rival among its neighbours in rating alone, so the
    work grows little faster than the number of bots.
    """
    order = np.argsort(mu + dice.normal(0.0, 1.0, len(mu)) * sigma / 2, kind="stable")
    place = np.empty(len(mu), dtype=np.int64)
    place[order] = np.arange(len(mu))
    taken = np.zeros(len(mu), dtype=bool)
    found: list[tuple[int, int]] = []
    for first in np.argsort(-sigma * _lots(dice, len(mu)), kind="stable"):
        if len(found) >= count:
            break
        if taken[first]:
            continue
        near = order[max(0, place[first] - NEAR) : place[first] + NEAR + 1]
        near = near[~taken[near] & (near != first)]
        if not len(near):
            continue
        both = np.concatenate(([first], near))
        worth = information(mu[both], sigma[both], 0) * _lots(dice, len(both))
        second = int(both[int(np.argmax(worth))])
        taken[first] = taken[second] = True
        found.append((int(first), second))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


NEAR = 16
"""How many neighbours to each side are looked at by ``pairings``."""


def _lots(dice: np.random.Generator, count: int) -> Numbers:
    return 1.0 - LOT * dice.random(count)
