"""A play at one moment, and what each viewer is shown of it.

A snapshot never changes: reading it needs no lock, and it contains nothing that is not saved yet.
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
    """The state of a play after an event."""

    version: int
    """The number of events so far."""
    records: Sequence[bytes]
    """The positions, opening included; the list may go on behind ``length``. Bytes, because thousands of small lists
    would slow down the garbage collector."""
    moves: Sequence[Json]
    length: int
    mover: int | None
    left: Sequence[float | None]
    """Seconds on the clock of each seat when the turn began."""
    asked: float
    """When the turn began."""
    allowance: float
    """Seconds of the turn that are not charged."""
    flag: float | None
    """When the clock of the person to move runs out."""
    result: Json | None
    undo_to: int | None
    has_hidden_information: bool
    """Whether some viewers may not see everything."""
    hidden: bool
    """Whether the last move lies face down."""
    positions: dict[int | None, Json] = field(default_factory=dict, compare=False)
    """Position views by seat, cached; None for everybody."""

    def at(self, game: Game, number: int) -> Any:
        """The position after ``number`` moves in compiled form."""
        states = game.new_states(1)
        states[:] = np.frombuffer(self.records[number], game.dtype)
        return states

    def position(self, game: Game, eyes: int | None) -> Json:
        """The position as a seat sees it; None for everybody."""
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
        """The moves; the last one without its text if it lies face down."""
        shown = list(self.moves[: self.length])
        if self.hidden and shown:
            shown[-1] = {**shown[-1], "text": "face down", "move": None}
        return shown

    def left_ms(self, seat: int) -> int | None:
        """Milliseconds on the clock of a seat now."""
        left = self.left[seat]
        if left is None:
            return None
        if self.mover == seat:
            left = max(0.0, left - max(0.0, time.perf_counter() - self.asked - self.allowance))
        return int(left * 1000)
