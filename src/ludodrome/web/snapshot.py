"""A game on the page as it stands at one moment, and what each of those who look at it is shown.

A snapshot is never changed: whoever reads one needs no lock, and sees nothing that is not written down yet.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludodrome.game import Game
from ludodrome.web.position_view import Json, position_view_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a game stands."""

    version: int
    """The number of events so far."""
    records: Sequence[bytes]
    """The positions, the opening's among them; there may be later ones behind ``length``. As bytes, a game is not
    thousands of small lists through which the search for garbage has to go."""
    moves: Sequence[Json]
    length: int
    mover: int | None
    left: Sequence[float | None]
    """Of each seat's clock, in seconds, when the turn began."""
    asked: float
    """When the turn began ..."""
    allowance: float
    """... and how much of it is not charged."""
    flag: float | None
    """When the clock of the person to move runs out."""
    result: Json | None
    undo_to: int | None
    has_hidden_information: bool
    """Not everybody may see everything ..."""
    hidden: bool
    """... and what was laid last lies face down."""
    positions: dict[int | None, Json] = field(default_factory=dict, compare=False)
    """The position by whose eyes see it, made when it is first asked for."""

    def at(self, game: Game, number: int) -> Any:
        """The position after so many moves, as the kernels have it."""
        states = game.new_states(1)
        states[:] = np.frombuffer(self.records[number], game.dtype)
        return states

    def position(self, game: Game, eyes: int | None) -> Json:
        """The position as somebody sees it."""
        known = self.positions.get(eyes)
        if known is None:
            known = position_view_of(game, self.at(game, self.length), eyes)
            if self.result is not None and known["legal"] is not None:
                known["legal"] = []
            self.positions[eyes] = known
        return known

    def point_of_view(self, seats: frozenset[int]) -> int | None:
        """The seat through whose eyes the holder of ``seats`` sees the position: the one to move, or their only one."""
        if not self.has_hidden_information:
            return None
        if self.mover in seats:
            return self.mover
        return next(iter(seats)) if len(seats) == 1 else None

    def move_list(self) -> list[Json]:
        """The moves; the last one without its words if it lies face down."""
        shown = list(self.moves[: self.length])
        if self.hidden and shown:
            shown[-1] = {**shown[-1], "text": "face down", "move": None}
        return shown

    def left_ms(self, seat: int) -> int | None:
        """What the clock of a seat shows now."""
        left = self.left[seat]
        if left is None:
            return None
        if self.mover == seat:
            left = max(0.0, left - max(0.0, time.perf_counter() - self.asked - self.allowance))
        return int(left * 1000)
