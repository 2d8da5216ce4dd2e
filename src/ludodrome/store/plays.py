"""Queries about games that people play: the game, its events, its record, seats behind links; solved puzzles.

Writes go through a ``GroupCommitter``, so that many moves share a commit.
"""

import hashlib
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, defer

from ludodrome.store.announcements import PLAY
from ludodrome.store.group_commit import GroupCommitter, RowInsert
from ludodrome.store.models import PlayEventRow, PlayRow, PlaySeatRow, SolvedPuzzleRow, now_ms, packed, unpacked

Json = dict[str, Any]

LINK_BYTES, KEY_BYTES = 18, 24
FRIEND = "friend"
"""The kind of a seat offered by a link."""
JOIN, OFFER, REMATCH = "join", "offer", "rematch"
"""Kinds of events that the store knows: a seat is taken, seats offer a rematch, the rematch has begun."""


@dataclass(frozen=True, slots=True)
class PlayEvent:
    """Something that happened in a game."""

    kind: str
    content: Json
    at: int = 0
    """When it was stored; 0 if it is not stored yet."""


@dataclass(frozen=True, slots=True)
class FriendSeat:
    """A seat offered by a link."""

    seat: int
    link: str | None
    """The secret of the link, until the seat is taken."""
    digest: str | None
    """Digest of the key of the player who took it."""
    name: str | None


@dataclass(frozen=True, slots=True)
class StoredPlay:
    """A stored game."""

    id: str
    owner: str | None
    digest: str | None
    play_spec: Json
    kinds: tuple[str, ...]
    friends: dict[int, FriendSeat]
    events: tuple[PlayEvent, ...]
    at: int = 0
    """When it was started."""


@dataclass(frozen=True, slots=True)
class PlaySummary:
    """A game for lists."""

    id: str
    game: str
    names: list[str]
    begun: int
    finished: int | None
    result: Json | None


def digest_of(key: str) -> str:
    """The digest of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def new_key() -> str:
    """A random key."""
    return secrets.token_urlsafe(KEY_BYTES)


def new_link(seat: int) -> FriendSeat:
    """A new seat offered by a link."""
    return FriendSeat(seat, secrets.token_urlsafe(LINK_BYTES), None, None)


# Queries


def find(engine: Engine, name: str, after: int = 0) -> StoredPlay | None:
    """A game with its events, or only those after the first ``after``."""
    with Session(engine) as session:
        row = session.get(PlayRow, name, options=[defer(PlayRow.record), defer(PlayRow.result)])
        if row is None:
            return None
        wanted = (
            select(PlayEventRow.kind, PlayEventRow.content, PlayEventRow.at)
            .where(PlayEventRow.play_id == name, PlayEventRow.number >= after)
            .order_by(PlayEventRow.number)
        )
        events = tuple(PlayEvent(*values) for values in session.execute(wanted).tuples())
        seats = session.scalars(select(PlaySeatRow).where(PlaySeatRow.play_id == name))
        friends = {one.seat: FriendSeat(one.seat, one.link, one.digest, one.name) for one in seats}
        return StoredPlay(
            row.id, row.owner_id, row.digest, row.assignment, tuple(row.kinds), friends, events, row.begun
        )


def event_count(engine: Engine, name: str) -> int:
    """The number of events of a game."""
    with Session(engine) as session:
        last = session.scalar(select(func.max(PlayEventRow.number)).where(PlayEventRow.play_id == name))
    return 0 if last is None else last + 1


def find_link(engine: Engine, link: str) -> tuple[str, int] | None:
    """The game and the seat of a link."""
    wanted = select(PlaySeatRow.play_id, PlaySeatRow.seat).where(PlaySeatRow.link == link)
    with Session(engine) as session:
        return session.execute(wanted).tuples().first()


def record_of(engine: Engine, name: str) -> Json | None:
    """The record of a finished game."""
    with Session(engine) as session:
        content = session.scalar(select(PlayRow.record).where(PlayRow.id == name))
    return None if content is None else unpacked(content)


def lines_of(engine: Engine, owner: str, most: int, before: int | None = None) -> list[PlaySummary]:
    """The games that an account started, latest first; only those started before ``before``, if given."""
    wanted = select(PlayRow.id, PlayRow.game, PlayRow.assignment, PlayRow.begun, PlayRow.finished, PlayRow.result)
    wanted = wanted.where(PlayRow.owner_id == owner).order_by(PlayRow.begun.desc(), PlayRow.id).limit(most)
    if before is not None:
        wanted = wanted.where(PlayRow.begun < before)
    with Session(engine) as session:
        rows = session.execute(wanted).tuples()
        return [PlaySummary(name, game, begun_as["names"], *rest) for name, game, begun_as, *rest in rows]


# Writing


def begin(committer: GroupCommitter, kept: StoredPlay) -> None:
    """Store a new game."""
    committer.commit(_beginning(kept))


def begin_rematch(committer: GroupCommitter, kept: StoredPlay, origin: str, name: str, number: int) -> PlayEvent:
    """Store a new game as the rematch of the game ``name``, by its event ``number``; returns the event."""
    event = PlayEvent(REMATCH, {"next": kept.id}, now_ms())
    begin_it = _beginning(kept)

    def work(connection: Connection) -> None:
        begin_it(connection)
        connection.execute(_ADD, _row(name, number, event))

    committer.commit(work, _subject(origin, name, number))
    return event


def _beginning(kept: StoredPlay) -> Callable[[Connection], None]:
    values = {"owner_id": kept.owner, "digest": kept.digest, "game": kept.play_spec["game"]}
    values |= {"assignment": kept.play_spec, "kinds": list(kept.kinds)}

    def work(connection: Connection) -> None:
        connection.execute(insert(PlayRow).values(id=kept.id, begun=now_ms(), **values))
        for one in kept.friends.values():
            seat = {"seat": one.seat, "link": one.link, "digest": one.digest, "name": one.name}
            connection.execute(insert(PlaySeatRow).values(play_id=kept.id, **seat))

    return work


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """The end of a game, with its record; or no record if the game goes on."""

    record: Json | None


_ADD = insert(PlayEventRow)


def _row(name: str, number: int, event: PlayEvent) -> Json:
    return {"play_id": name, "number": number, "kind": event.kind, "content": event.content, "at": event.at}


def _subject(origin: str, name: str, number: int) -> tuple[str, str]:
    """The announcement of the event ``number``: the game, the process that writes it, the number of events then."""
    return PLAY, f"{name} {origin} {number + 1}"


def add(
    committer: GroupCommitter, origin: str, name: str, number: int, event: PlayEvent, end: PlayEnd | None = None
) -> "Future[None]":
    """Write an event; ``end``: it ends the game, or reopens it."""
    row = _row(name, number, event) | {"at": now_ms()}
    subject = _subject(origin, name, number)
    if end is None:
        return committer.submit(RowInsert(_ADD, row), subject)
    over = end.record is not None
    values: Json = {"finished": row["at"] if over else None, "result": end.record and end.record["result"]}
    values["record"] = packed(end.record) if over else None

    def work(connection: Connection) -> None:
        connection.execute(_ADD, row)
        connection.execute(update(PlayRow).where(PlayRow.id == name).values(values))

    return committer.submit(work, subject)


def take_seat(
    committer: GroupCommitter, origin: str, name: str, number: int, friend: FriendSeat, key: str, called: str | None
) -> FriendSeat:
    """Take a seat by its link, which is then void. Raises if the seat was taken meanwhile."""
    taken = FriendSeat(friend.seat, None, digest_of(key), called)
    row = _row(name, number, PlayEvent(JOIN, {"seat": friend.seat}, now_ms()))

    def work(connection: Connection) -> None:
        connection.execute(_ADD, row)
        here = (PlaySeatRow.play_id == name, PlaySeatRow.seat == friend.seat)
        connection.execute(update(PlaySeatRow).where(*here).values(link=None, digest=taken.digest, name=called))

    committer.commit(work, _subject(origin, name, number))
    return taken


# Which puzzles an account has solved. What the person at this machine has solved is in their own file.


def solved_puzzles(engine: Engine, account_id: str) -> set[str]:
    """The names of the puzzles that an account has solved."""
    with Session(engine) as session:
        return set(session.scalars(select(SolvedPuzzleRow.puzzle).where(SolvedPuzzleRow.account_id == account_id)))


def add_solved(engine: Engine, account_id: str, puzzle: str) -> None:
    """Record that an account has solved a puzzle."""
    with Session(engine) as session:
        session.add(SolvedPuzzleRow(account_id=account_id, puzzle=puzzle))
        try:
            session.commit()
        except IntegrityError:
            session.rollback()
