"""Legal actions by lot, for thousands of games in one compiled call."""

import numpy as np

from ludodrome.jit import GOLDEN, Array, below, entry, mix
from ludodrome.search.vector import Observations


@entry
def sample_legal_many(choices: Array, counts: Array, lots: Array, actions: Array) -> None:
    """One of the first counts[i] of choices[i], each as likely as the others; 0 where there is none.

    choices: (n, max_legal) int16; counts: (n,) int32; lots: (n,) uint64, moved on; actions: (n,) int64.
    """
    for i in range(len(counts)):
        lots[i] += GOLDEN
        count = counts[i]
        actions[i] = choices[i, below(mix(lots[i]), count)] if count > 0 else 0


def sample_legal(sights: Observations, lots: Array) -> Array:
    """A legal action for each row, (rows,) int64, the caller's own."""
    actions: Array = np.empty(len(sights.counts), np.int64)
    sample_legal_many(sights.choices, sights.counts, lots, actions)
    return actions
