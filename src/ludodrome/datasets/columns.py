"""What a row of a dataset holds: one position, what was played there, and what came of it.

The planes are those of the environments for learners, as the seat to move sees them.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import Game
from ludodrome.jit import Array


class Row(NamedTuple):
    """A position in which somebody chose an action."""

    planes: Array
    """(planes, rows, columns)"""
    mask: Array
    """(actions,) uint8: 1 where an action is legal."""
    action: int
    outcome: float
    """What the game came to for the seat to move."""
    ply: int
    seat: int
    policy: Array | None = None
    """(actions,) float32: how a search shared its visits out; adds up to 1."""


class Told(NamedTuple):
    """A game: facts about it, and its rows."""

    facts: dict[str, Any]
    rows: list[Row]


class Column(NamedTuple):
    """A column of a dataset."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    """Of one row; () for a single number."""
    meaning: str


def columns_of(game: Game, policy: bool) -> tuple[Column, ...]:
    """The columns of a dataset of a game."""
    planes = game.planes
    columns = (
        Column("planes", np.dtype(planes.dtype), planes.shape, "the position as the seat to move sees it"),
        Column("mask", np.dtype(np.uint8), (game.num_actions,), "1 where an action is legal"),
        Column("action", np.dtype(np.int16), (), "the action that was played"),
        Column("outcome", np.dtype(np.float32), (), "what the game came to for the seat to move, from -1 to 1"),
        Column("ply", np.dtype(np.int32), (), "the number of the turn, from 0"),
        Column("seat", np.dtype(np.int8), (), "the seat to move"),
        Column("game", np.dtype(np.int32), (), "the number of the game; games.jsonl has a line for each"),
    )
    share = Column("policy", np.dtype(np.float32), (game.num_actions,), "the search's visits, scaled to add up to 1")
    return (*columns, share) if policy else columns


class Eyes:
    """Looks at positions of one game, one at a time."""

    def __init__(self, game: Game) -> None:
        from ludodrome.envs.classroom import new_sights, shaped

        self.game = game
        self._sights = new_sights(game, 1)
        self._planes = shaped(game, self._sights)
        self._rows: Array = np.zeros(1, np.int64)
        self._views: Array = np.zeros(1, np.int8)

    def look(self, states: Any) -> tuple[int, Array, Array]:
        """The seat to move in states[0], and copies of what it sees: planes and mask."""
        seat = int(self.game.kernels.mover(states))
        self._views[0] = seat
        self.game.kernels.look_many(states, self._rows, self._views, self._sights)
        return seat, self._planes[0].copy(), self._sights.mask[0].astype(np.uint8)
