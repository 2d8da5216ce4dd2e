"""Positions for a page: what is shown, what is legal, and what a board draws beside it. No board is drawn here.

The page decides nothing: legal moves, eruptions, chains and rounds all come from the rules through this module. What a
viewer may see of a running game comes from ``SeenPosition`` alone.
"""

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome.game import Cell, Game, IllegalMove, Outcome, TooManyMoves
from ludodrome.games import BUILT_IN, find
from ludodrome.position import SeenPosition, observed_states

GENERIC = "generic"
"""The board module of games without one of their own."""
_BOARDS = Path(__file__).parent / "static" / "boards"

MAX_PLAIN = 64 * 1024
"""Bytes of a position that is kept as it is; larger ones are compressed."""

Json = dict[str, Any]


@cache
def board_of(game_id: str) -> str:
    """The board module of a game."""
    return game_id if game_id in BUILT_IN and (_BOARDS / f"{game_id}.js").is_file() else GENERIC


def open_game(game_id: str, options: Json | None) -> Game:
    """A game within the limits of the page; ValueError says what would be right."""
    game = find(game_id).game_class()(**(options or {}))
    game.check_page()
    return game


def position_view(game: Game, state: Any, seat: int | None = None) -> Json:
    """A position for the page, as a seat sees it; None for everybody."""
    states = game.new_states(1)
    states[0] = game.encode(state)  # once: encoding takes longer than the rest
    return position_view_of(game, states, seat)


def position_view_of(game: Game, states: Any, seat: int | None = None) -> Json:
    """``position_view`` of a position in compiled form, states[0]."""
    seen = SeenPosition(game, states, seat)
    legal, ending = _legal(seen), seen.outcome
    return {
        "state": game.page_state(seen.state),
        "to_move": seen.to_move,
        "legal": legal,
        "marks": _marks(seen, legal or []),
        "outcome": None if ending is None else outcome_json(ending),
    }


def open_position_view(game: Game, state: Any) -> Json:
    """``position_view`` with nothing hidden: of a game that is over, or for the author of a position."""
    shown = position_view(game, state)
    if game.may_hide:
        shown["state"] = game.page_state(state)
        if board_of(game.id) != GENERIC:
            shown["marks"] = observation_marks(game, state)
    return shown


def outcome_json(ending: Outcome) -> Json:
    """How a game ended."""
    return {
        "winner": ending.winner,
        "reason": ending.reason,
        "scores": list(ending.scores),
        "returns": list(ending.returns),
    }


def why_illegal(game: Game, state: Any, move: Any) -> str:
    """Why a move is illegal, for people; empty if it is legal."""
    try:
        game.apply(state, move)
    except IllegalMove as wrong:
        return str(wrong)
    return ""


def line_labels(game: Game, state: Any, texts: Sequence[str]) -> list[str]:
    """A line of play, given in notation, as people read it; as it is from the first text that is not a legal move."""
    labels: list[str] = []
    for text in texts:
        try:
            move = game.parse_move(text, state)
        except IllegalMove:
            break
        labels.append(game.move_label(move, state))
        state = game.apply(state, move)
    return [*labels, *texts[len(labels) :]]


def _legal(seen: SeenPosition) -> list[Any] | None:
    """All legal moves; None if there are too many, or if moves are built step by step."""
    if seen.game.actions_a_turn > 1:
        return None
    try:
        return seen.legal_moves()
    except TooManyMoves:
        return None


def observation_marks(game: Game, observation: Any) -> Json:
    """What the board draws besides an observation, which may be a whole state."""
    visible = {name: value for name, value in observation.items() if name != "you"}
    if board_of(game.id) != GENERIC:
        return game.observation_marks(visible, lambda: observed_states(game, observation), [])
    return _generic_marks(game.render_observation(visible), game.cells(visible), [])


def _marks(seen: SeenPosition, legal: list[Any]) -> Json:
    """What the board draws besides a position and some of its legal moves."""
    if board_of(seen.game.id) != GENERIC:
        return seen.game.observation_marks(seen.bare_state, seen.states, legal)
    return _generic_marks(seen.drawing(), seen.cells(), seen.move_texts(legal))


def _generic_marks(drawing: str, cells: list[list[Cell]] | None, texts: list[str]) -> Json:
    """For the generic board: the drawing, the cells if the game has any, the texts of the legal moves."""
    rows = None if cells is None else [[cell._asdict() for cell in row] for row in cells]
    return {"drawing": drawing, "cells": rows, "texts": texts}


def pack_position(game: Game, states: Any) -> bytes:
    """A position as bytes. Large records are mostly zeros, so they are kept compressed."""
    record: bytes = states.tobytes()
    return zlib.compress(record, 1) if game.dtype.itemsize > MAX_PLAIN else record


def unpack_position(game: Game, record: bytes) -> Any:
    """The position of ``pack_position``, as an array of one state."""
    states = game.new_states(1)
    states[:] = np.frombuffer(zlib.decompress(record) if game.dtype.itemsize > MAX_PLAIN else record, game.dtype)
    return states


# The positions of a play.


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a play after an event.

    It never changes: reading it needs no lock, and it contains nothing that is not saved yet.
    """

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
    open_moves: int
    """The number of moves that everybody may see; those after them are face down."""
    positions: dict[int | None, Json] = field(default_factory=dict, compare=False)
    """Position views by seat, cached; None for everybody."""

    def at(self, game: Game, number: int) -> Any:
        """The position after ``number`` moves in compiled form."""
        return unpack_position(game, self.records[number])

    def position(self, game: Game, eyes: int | None) -> Json:
        """The position as a seat sees it; None for everybody."""
        known = self.positions.get(eyes)
        if known is None:
            known = position_view_of(game, self.at(game, self.length), eyes)
            if self.result is not None and known["legal"] is not None:
                known["legal"] = []
            self.positions[eyes] = known
        return known

    def position_at(self, game: Game, number: int, seats: frozenset[int]) -> Json:
        """The position after ``number`` moves, as the holder of ``seats`` may see it; after the end, all of it."""
        states = self.at(game, number)
        if self.result is not None and self.has_hidden_information:
            return open_position_view(game, game.decode(states[0]))
        eyes = next(iter(seats)) if self.has_hidden_information and len(seats) == 1 else None
        return position_view_of(game, states, eyes)

    def point_of_view(self, seats: frozenset[int]) -> int | None:
        """The seat through whose eyes the holder of ``seats`` sees the position: the one to move, or their only one."""
        if not self.has_hidden_information:
            return None
        if self.mover in seats:
            return self.mover
        return next(iter(seats)) if len(seats) == 1 else None

    def move_list(self, seats: frozenset[int] = frozenset()) -> list[Json]:
        """The moves; those that are face down without their texts, unless they are those of the viewer's only seat."""
        own = next(iter(seats)) if len(seats) == 1 else None
        later = [
            move if move["seat"] == own else {**move, "text": "face down", "move": None}
            for move in self.moves[self.open_moves : self.length]
        ]
        return [*self.moves[: self.open_moves], *later]

    def left_ms(self, seat: int) -> int | None:
        """Milliseconds on the clock of a seat now."""
        left = self.left[seat]
        if left is None:
            return None
        if self.mover == seat:
            left = max(0.0, left - max(0.0, time.perf_counter() - self.asked - self.allowance))
        return int(left * 1000)

    def free_ms(self) -> int:
        """Milliseconds from now on that are not charged to the seat to move; 0 if it has no clock."""
        free = self.asked + self.allowance - time.perf_counter()
        runs = self.mover is not None and self.left[self.mover] is not None and free < float("inf")
        return int(max(0.0, free) * 1000) if runs else 0


def count_open_moves(game: Game, records: Sequence[bytes], length: int) -> int:
    """The number of moves up to the last position in which nothing is hidden from spectators, of ``length`` moves."""
    if not game.may_hide:
        return length
    opened = (
        number
        for number in range(length, 0, -1)
        if not SeenPosition(game, unpack_position(game, records[number])).is_partial
    )
    return next(opened, 0)
