"""The state of a play at one moment (``Snapshot``), and who takes part in it (``Participants``).

A snapshot never changes: reading it needs no lock, and it contains nothing that is not saved yet.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludodrome.game import Game
from ludodrome.position import SeenPosition
from ludodrome.store.plays import FRIEND, FriendSeat, digest_of
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
    open_moves: int
    """The number of moves that everybody may see; those after them are face down."""
    positions: dict[int | None, Json] = field(default_factory=dict, compare=False)
    """Position views by seat, cached; None for everybody."""

    def at(self, game: Game, number: int) -> Any:
        """The position after ``number`` moves in compiled form."""
        return _position(game, self.records[number])

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
        """The moves; those that are face down without their texts."""
        face_down = [{**move, "text": "face down", "move": None} for move in self.moves[self.open_moves : self.length]]
        return [*self.moves[: self.open_moves], *face_down]

    def left_ms(self, seat: int) -> int | None:
        """Milliseconds on the clock of a seat now."""
        left = self.left[seat]
        if left is None:
            return None
        if self.mover == seat:
            left = max(0.0, left - max(0.0, time.perf_counter() - self.asked - self.allowance))
        return int(left * 1000)


# Participants. The store keeps the seats of friends and offers of a rematch; presence lives as long as the server.


SILENT_SECONDS = 30.0
"""Seconds after which a web process that says nothing about presence is forgotten."""
PERSON, BOT = "person", "bot"
"""Kinds of seats, besides ``friend``. A ``person`` is at the screen of the owner; records call both ``person``."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at a play: the seats they hold, and whether they own it."""

    seats: frozenset[int] = frozenset()
    owner: bool = False


class Participants:
    """The seats of a play, who holds them, and who is present."""

    def __init__(
        self, kinds: tuple[str, ...], friends: dict[int, FriendSeat], owner: str | None, digest: str | None
    ) -> None:
        self.kinds = kinds
        self.friends = dict(friends)
        self.owner = owner
        self.digest = digest
        """Digest of the key of an owner without an account."""
        self.offers: set[int] = set()
        """Seats that offer a rematch."""
        self.next: str | None = None
        """Id of the rematch."""
        self._here: Counter[int] = Counter()
        self._elsewhere: dict[str, tuple[frozenset[int], float]] = {}
        """By web process: the seats that are present there, and when that was heard."""

    @property
    def missing(self) -> list[int]:
        """Seats that nobody has taken yet; the game has not started."""
        return [seat for seat, friend in self.friends.items() if friend.digest is None]

    @property
    def shared(self) -> bool:
        """Whether people at different screens play."""
        return FRIEND in self.kinds

    def is_person(self, seat: int) -> bool:
        """Whether a person plays this seat, here or by link."""
        return self.kinds[seat] != BOT

    def people(self) -> frozenset[int]:
        """The seats that people play."""
        return frozenset(seat for seat in range(len(self.kinds)) if self.is_person(seat))

    def viewer(self, account: str | None, key: str | None) -> Viewer:
        """The viewer with this account or key. A key takes precedence over the account."""
        own = frozenset(seat for seat, kind in enumerate(self.kinds) if kind == PERSON)
        if key is None:
            return Viewer(own, True) if account is not None and account == self.owner else Viewer()
        digest = digest_of(key)
        if self.digest == digest:
            return Viewer(own, True)
        return Viewer(frozenset(seat for seat, friend in self.friends.items() if friend.digest == digest))

    def described(self, seat: int, viewer: Viewer) -> Json:
        """A seat as a viewer may see it."""
        friend = self.friends.get(seat)
        link = friend.link if friend is not None and viewer.owner else None
        return {
            "kind": self.kinds[seat],
            "person": self.is_person(seat),
            "yours": seat in viewer.seats,
            "taken": friend is None or friend.digest is not None,
            "here": not self.is_person(seat) or self._here[seat] > 0 or self._is_elsewhere(seat),
            "link": None if link is None else f"/join/{link}",
            "offers": seat in self.offers,
        }

    def arrive(self, viewer: Viewer) -> bool:
        """Count a viewer as present; returns whether the presence of a seat has changed."""
        return self._count(viewer, 1)

    def leave(self, viewer: Viewer) -> bool:
        """Count a viewer as gone; returns whether the presence of a seat has changed."""
        return self._count(viewer, -1)

    @property
    def present(self) -> list[int]:
        """The seats that are present in this process."""
        return [seat for seat, count in self._here.items() if count > 0]

    def hear(self, process: str, seats: frozenset[int]) -> bool:
        """The seats that are present in another process; returns whether that is news."""
        before = self._elsewhere.get(process)
        self._elsewhere[process] = seats, time.monotonic()
        return (frozenset() if before is None else before[0]) != seats

    def forget_silent(self) -> bool:
        """Forget processes that have been silent; returns whether somebody was present there."""
        silent = [name for name, (_, at) in self._elsewhere.items() if time.monotonic() - at > SILENT_SECONDS]
        gone = [self._elsewhere.pop(name)[0] for name in silent]
        return any(gone)

    def _is_elsewhere(self, seat: int) -> bool:
        return any(seat in seats for seats, _ in list(self._elsewhere.values()))

    def _count(self, viewer: Viewer, step: int) -> bool:
        before = [self._here[seat] > 0 for seat in viewer.seats]
        for seat in viewer.seats:
            self._here[seat] += step
        return self.shared and before != [self._here[seat] > 0 for seat in viewer.seats]


def count_open_moves(game: Game, records: Sequence[bytes], length: int) -> int:
    """The number of moves up to the last position in which nothing is hidden from spectators, of ``length`` moves."""
    if not game.may_hide:
        return length
    opened = (
        number for number in range(length, 0, -1) if not SeenPosition(game, _position(game, records[number])).is_partial
    )
    return next(opened, 0)


def _position(game: Game, record: bytes) -> Any:
    states = game.new_states(1)
    states[:] = np.frombuffer(record, game.dtype)
    return states
