"""Legal actions by lot, for thousands of games in one compiled call."""

import numpy as np

from ludodrome.game import Game
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


def sample_legal(observations: Observations, lots: Array) -> Array:
    """A legal action for each row, (rows,) int64, the caller's own."""
    actions: Array = np.empty(len(observations.counts), np.int64)
    sample_legal_many(observations.choices, observations.counts, lots, actions)
    return actions


def new_observations(game: Game, rows: int) -> Observations:
    """Room for what is seen of so many games."""
    planes = game.planes
    return Observations(
        np.zeros((rows, game.max_legal), np.int16),
        np.zeros(rows, np.int32),
        np.zeros((rows, game.num_actions), np.int8),
        np.zeros((rows, len(planes.names), planes.rows * planes.cols), planes.dtype),
    )


def as_planes(game: Game, observations: Observations) -> Array:
    """The planes of observations as (rows, planes, rows of the board, columns): the same memory."""
    return observations.planes.reshape(len(observations.planes), *game.planes.shape)
