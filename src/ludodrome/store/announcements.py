"""What web processes on one database tell each other (announcements), and caches that they share.

PostgreSQL delivers announcements itself, by NOTIFY at the commit. SQLite keeps them in a table that every process
reads. A ``Listener`` is the thread that receives them.
"""

import itertools
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Delete, Engine, delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from ludodrome.store.models import AnnouncementRow, CacheEntryRow, now_ms, packed, unpacked

CHANNEL = "ludodrome"
PLAY, PRESENCE, ACCOUNT, BOT, TOKEN, LEAGUE = "play", "presence", "account", "bot", "token", "league"
"""Topics: a play has new events; who is present at a play; the sessions of an account, the connections of a bot or the
holders of a token must prove themselves again; a match of the league has changed."""
KEPT_ROWS = 10_000
"""Announcements that SQLite keeps at least: more than any process is behind."""
TRIM_EVERY = 50
"""Old rows are deleted once per so many writes."""
POLL_SECONDS = 0.05
"""Seconds between two looks at SQLite."""
WAIT_SECONDS = 0.25
"""Seconds that a wait for PostgreSQL takes at most, so that the thread can end."""
FIRST_BACKOFF, MAX_BACKOFF = 0.1, 5.0
"""Seconds before a lost connection is opened again."""
KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""TCP keepalive of the listening connection: it only waits, and must notice that the other side has gone."""

_log = logging.getLogger(__name__)
_ADD = "INSERT INTO announcements (topic, subject, at) VALUES (?, ?, ?)"
_count = itertools.count()


def trim_to(rows: int) -> Delete:
    """The statement that deletes all announcements but the last ones."""
    last = select(func.max(AnnouncementRow.id)).scalar_subquery()
    return delete(AnnouncementRow).where(AnnouncementRow.id <= last - rows)


_TRIM = trim_to(KEPT_ROWS)
_NOTIFY = text("SELECT pg_notify(:channel, message) FROM unnest(CAST(:messages AS text[])) AS message")


def announce(session: Session, topic: str, subject: str) -> None:
    """Announce a change when the transaction of ``session`` commits."""
    announce_all(session.connection(), topic, (subject,))


def announce_all(connection: Connection, topic: str, subjects: Iterable[str]) -> None:
    """Announce changes when the transaction of ``connection`` commits."""
    if connection.dialect.name == "postgresql":
        messages = [f"{topic} {subject}" for subject in subjects]
        connection.execute(_NOTIFY, {"channel": CHANNEL, "messages": messages})
        return
    moment = now_ms()
    connection.exec_driver_sql(_ADD, [(topic, subject, moment) for subject in subjects])  # a tenth of the time
    if next(_count) % TRIM_EVERY == 0:
        connection.execute(_TRIM)


class Listener:
    """The thread that receives the announcements of all processes, its own included.

    ``subscribe`` before ``start``. Callbacks run in this thread and must be quick. After a lost connection some
    announcements may be missing: the callbacks of ``on_gap`` run, and must look at everything again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._subscribers: dict[str, list[Callable[[str], None]]] = {}
        self._gap: list[Callable[[], None]] = []
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="announcements", daemon=True)

    def subscribe(self, topic: str, callback: Callable[[str], None]) -> None:
        """Call ``callback`` with the subject of every announcement of a topic."""
        self._subscribers.setdefault(topic, []).append(callback)

    def on_gap(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` whenever announcements may have been missed."""
        self._gap.append(callback)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait until it listens; whether it does."""
        return self._ready.wait(seconds)

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(4 * WAIT_SECONDS)

    def _run(self) -> None:
        receive = self._from_postgresql if self._engine.dialect.name == "postgresql" else self._from_sqlite
        backoff, again = FIRST_BACKOFF, False
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                for topic, subject in receive():
                    if again:  # it listens again
                        again = False
                        self._tell_gap()
                    if topic:
                        self._tell(topic, subject)
            except Exception as error:  # the database is away: try again
                again = True
                if not self._stop.is_set():
                    _log.warning("announcements: the connection was lost (%s)", str(error).strip())
            backoff = FIRST_BACKOFF if time.monotonic() - began > MAX_BACKOFF else min(2 * backoff, MAX_BACKOFF)
            self._stop.wait(backoff)

    def _tell(self, topic: str, subject: str) -> None:
        for callback in self._subscribers.get(topic, ()):
            try:
                callback(subject)
            except Exception:
                _log.exception("announcements: %s %s", topic, subject)

    def _tell_gap(self) -> None:
        for callback in self._gap:
            try:
                callback()
            except Exception:
                _log.exception("announcements: after a gap")

    def _from_postgresql(self) -> Iterator[tuple[str, str]]:
        """Announcements as (topic, subject); ("", "") once it listens."""
        import psycopg  # optional extra

        where: Any = self._engine.dialect.create_connect_args(self._engine.url)[1]
        with psycopg.connect(**{**KEEPALIVE, **where}, autocommit=True) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._ready.set()
            yield "", ""
            while not self._stop.is_set():
                for notice in connection.notifies(timeout=WAIT_SECONDS):
                    topic, _, subject = notice.payload.partition(" ")
                    yield topic, subject
                    if self._stop.is_set():
                        return

    def _from_sqlite(self) -> Iterator[tuple[str, str]]:
        """The same, by looking whether another connection has changed the file."""
        file = Path(str(self._engine.url.database)).absolute()
        connection = sqlite3.connect(f"{file.as_uri()}?mode=rw", isolation_level=None, uri=True)
        try:
            last = _first(connection, "SELECT coalesce(max(id), 0) FROM announcements")
            version = None
            self._ready.set()
            yield "", ""
            while not self._stop.wait(POLL_SECONDS):
                now = _first(connection, "PRAGMA data_version")
                if now == version:
                    continue
                version = now
                wanted = "SELECT id, topic, subject FROM announcements WHERE id > ? ORDER BY id"
                rows = connection.execute(wanted, (last,)).fetchall()
                if rows and rows[0][0] != last + 1:  # deleted before they were read
                    self._tell_gap()
                for number, topic, subject in rows:
                    last = number
                    yield topic, subject
        finally:
            connection.close()


def _first(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])


# Caches that web processes share. With one process, these values stay in its memory.


ID_BYTES = 9
"""Random bytes of a key: too many to guess."""
USED_EVERY_MS = 10_000
"""Resolution of the time of last use, so that not every use is a write."""


class SharedCache:
    """JSON values of one kind in the database: at most ``capacity``, each for ``seconds`` after its last use.

    ``share``: values of one owner, at most; an owner who inserts more evicts their own least recently used ones.
    """

    def __init__(self, engine: Engine, kind: str, capacity: int, seconds: float, share: int | None = None) -> None:
        self._engine, self._kind, self._share = engine, kind, capacity if share is None else share
        self._capacity, self._ms = capacity, int(seconds * 1000)
        self._writes = 0

    @staticmethod
    def new_id() -> str:
        """A new random key."""
        return secrets.token_urlsafe(ID_BYTES)

    def put(self, key: str, value: Any, owner: str | None = None, *, use: bool = True) -> None:
        """Insert or replace a value; ``owner``: of a new one; ``use``: replacing it counts as a use."""
        mine = (CacheEntryRow.kind == self._kind, CacheEntryRow.key == key)
        moment = now_ms()
        values = {"content": packed(value), "written": moment}
        used = {"used": moment}
        with suppress(IntegrityError), Session(self._engine) as session:  # another process has just written it
            changed: Any = session.execute(update(CacheEntryRow).where(*mine).values(**values, **(used if use else {})))
            if not changed.rowcount:
                session.execute(insert(CacheEntryRow).values(kind=self._kind, key=key, owner=owner, **values, **used))
                if owner is not None:
                    self._trim_share(session, owner)
            self._writes += 1
            if self._writes % TRIM_EVERY == 1:
                self._trim(session, moment)
            session.commit()

    def get(self, key: str, fresh_seconds: float | None = None) -> Any:
        """The value of a key; None if there is none, or it was written more than ``fresh_seconds`` ago."""
        mine = (CacheEntryRow.kind == self._kind, CacheEntryRow.key == key)
        moment = now_ms()
        with Session(self._engine) as session:
            wanted = select(CacheEntryRow.content, CacheEntryRow.written, CacheEntryRow.used).where(*mine)
            found = session.execute(wanted).tuples().first()
            if found is None or found[2] < moment - self._ms:
                return None
            if fresh_seconds is not None and found[1] < moment - fresh_seconds * 1000:
                return None
        if moment - found[2] > USED_EVERY_MS:
            with suppress(OperationalError), Session(self._engine) as session:  # the next use writes it too
                session.execute(update(CacheEntryRow).where(*mine).values(used=moment))
                session.commit()
        return unpacked(found[0])

    def idle_seconds(self, key: str) -> float | None:
        """Seconds since the last use of a key, to ten seconds; None if there is no such key."""
        mine = (CacheEntryRow.kind == self._kind, CacheEntryRow.key == key)
        with Session(self._engine) as session:
            used = session.scalar(select(CacheEntryRow.used).where(*mine))
        return None if used is None else max(0.0, (now_ms() - used) / 1000)

    def _trim_share(self, session: Session, owner: str) -> None:
        """Delete what an owner has too much of, the least recently used first."""
        mine = (CacheEntryRow.kind == self._kind, CacheEntryRow.owner == owner)
        newest = (
            select(CacheEntryRow.key).where(*mine).order_by(CacheEntryRow.used.desc(), CacheEntryRow.written.desc())
        )
        old = session.scalars(newest.offset(self._share)).all()
        if old:
            session.execute(delete(CacheEntryRow).where(*mine, CacheEntryRow.key.in_(old)))

    def _trim(self, session: Session, moment: int) -> None:
        ours = CacheEntryRow.kind == self._kind
        session.execute(delete(CacheEntryRow).where(ours, CacheEntryRow.used < moment - self._ms))
        oldest = select(CacheEntryRow.used).where(ours).order_by(CacheEntryRow.used.desc()).offset(self._capacity)
        limit = session.scalar(oldest.limit(1))
        if limit is not None:
            session.execute(delete(CacheEntryRow).where(ours, CacheEntryRow.used <= limit))
