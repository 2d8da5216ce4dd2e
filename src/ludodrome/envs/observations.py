"""Observations as arrays: buffers for many games, single positions, random legal actions; and rendered frames."""

from typing import Any

import numpy as np

from ludodrome.game import Game
from ludodrome.jit import GOLDEN, Array, Record, below, entry, mix
from ludodrome.search.vector import Observations
from ludodrome.validation import listing, show


@entry
def sample_legal_many(choices: Array, counts: Array, rng: Array, actions: Array) -> None:
    """Set actions[i] to a random one of the first counts[i] of choices[i], or to 0 if there is none.

    choices: [n, max_legal] int16; counts: [n] int32; rng: [n] uint64, advanced; actions: [n] int64, filled.
    """
    for i in range(len(counts)):
        rng[i] += GOLDEN
        count = counts[i]
        actions[i] = choices[i, below(mix(rng[i]), count)] if count > 0 else 0


def sample_legal(observations: Observations, rng: Array) -> Array:
    """A random legal action for each row, [n] int64, a new array. ``rng``: [n] uint64, advanced."""
    actions: Array = np.empty(len(observations.counts), np.int64)
    sample_legal_many(observations.choices, observations.counts, rng, actions)
    return actions


def new_observations(game: Game, rows: int) -> Observations:
    """Buffers for the observations of ``rows`` games, filled by the kernel ``look_many``."""
    planes = game.planes
    return Observations(
        np.zeros((rows, game.max_legal), np.int16),
        np.zeros(rows, np.int32),
        np.zeros((rows, game.num_actions), np.int8),
        np.zeros((rows, len(planes.names), planes.rows * planes.cols), planes.dtype),
    )


def as_planes(game: Game, observations: Observations) -> Array:
    """The planes as [n, planes, rows, columns], a view of the same memory."""
    return observations.planes.reshape(len(observations.planes), *game.planes.shape)


class PositionEncoder:
    """Encodes single positions of a game as a seat sees them."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._observations = new_observations(game, 1)
        self._shape = game.planes.shape
        self._rows: Array = np.zeros(1, np.int64)
        self._seats: Array = np.zeros(1, np.int8)

    def encode(self, states: Any, seat: int) -> tuple[Array, Array]:
        """New arrays for states[0]: planes [planes, rows, columns], and a mask of legal actions [num_actions] int8."""
        self._seats[0] = seat
        self.game.kernels.look_many(states, self._rows, self._seats, self._observations)
        planes: Array = self._observations.planes[0].reshape(self._shape)
        return planes.copy(), self._observations.mask[0].copy()


HUMAN = "human"
MODES = ("ansi", "rgb_array", HUMAN)
"""Values of ``render_mode``: text, pictures, and text that every reset and step prints."""


def check_render_mode(mode: str | None) -> str | None:
    """Return a valid render mode or None. Raises ValueError otherwise."""
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(mode)}")
    return mode


def frame(game: Game, record: Record, mode: str) -> Any:
    """A position as text, or as a picture [height, width, 3] uint8; in the mode "human" it is printed, for None."""
    if mode == "rgb_array":
        return game.paint(record)
    text = game.render_record(record)
    return show_text(text) if mode == HUMAN else text


def show_text(text: str) -> None:
    """Print a position for people."""
    print(text, flush=True)
