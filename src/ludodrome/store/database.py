"""Open a database: SQLite in a file, or PostgreSQL by its URL.

SQLite uses a write-ahead log, so a killed program leaves whole transactions. A new database gets its tables, an older
one is migrated, a newer one is refused. The tables are in ``models.py``, the migrations in ``migrations/``.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from ludodrome.atomic_io import close_to_others
from ludodrome.store import migrations
from ludodrome.store.league_models import METADATA, PLAYING, LadderRow, LiveMatchRow, MatchRow
from ludodrome.store.models import AccountRow, SettingRow, now_ms
from ludodrome.system import data_folder

PATIENCE = 30
"""Seconds that a writer waits for another writer."""
CONNECTIONS = 40
"""Greatest number of connections: as many as a server has threads."""
ADVISORY_LOCK = 0x6C75646F
"""The advisory lock of migrations in PostgreSQL; the number spells ``ludo``."""
AT_ONCE = "begin_immediate"
"""Execution option of a connection that takes the write lock when its transaction begins."""
VARIABLE = "LUDODROME_DATABASE_URL"
"""Environment variable of the server's database."""
FILE = "ludodrome.db"
"""Default file of the server's database, in the user's data folder."""


def open_database(where: Path | str, *, create: bool = False, durable: bool = False) -> Engine:
    """Open the database in a file, or at a URL like ``postgresql://user@host/name``.

    ``create``: make it if it does not exist. ``durable``: committed transactions survive a power failure, not only a
    crash of the program. ValueError if it does not exist or is not a database of ludodrome.
    """
    url = read_url(where)
    shown = url.render_as_string(hide_password=True) if url.get_backend_name() == "postgresql" else str(url.database)
    engine = _sqlite(url, create, durable) if url.get_backend_name() == "sqlite" else _postgresql(url)
    try:
        _bring_up_to_date(engine, shown)
    except DatabaseError as error:
        engine.dispose()
        raise ValueError(f"{shown} cannot be used as a database: {_reason(error)}") from error
    except ValueError:
        engine.dispose()
        raise
    return engine


def read_url(where: Path | str) -> URL:
    """The URL of a database; a plain path is an SQLite file. ValueError if it is not valid."""
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise ValueError("a database's URL is written like postgresql://user:password@host:5432/name") from error
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and url.database:
        return url
    raise ValueError("a database is an SQLite file or a URL that begins with postgresql://")


def server_database(named: str | None) -> Path | str:
    """The server's database: as named, or the environment's, or the user's own. ValueError if there is no place."""
    place = server_place(named)
    if not (named or os.environ.get(VARIABLE)):
        try:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"there is no place for a database ({error}); name one with --db") from error
    return place


def server_place(named: str | None) -> Path | str:
    """The same, without making its folder."""
    if chosen := named or os.environ.get(VARIABLE):
        return chosen if "://" in chosen else Path(chosen)
    try:
        return data_folder() / FILE
    except OSError as error:
        raise ValueError(f"there is no place for a database ({error}); name one with --db") from error


def look(where: Path | str) -> str | None:
    """The revision of a database's tables; None if it has none. Changes nothing.

    ValueError if it cannot be opened, is not a database of ludodrome, or lacks tables or columns of its revision.
    """
    url = read_url(where)
    if url.get_backend_name() == "sqlite":
        file = Path(str(url.database)).absolute()
        url, shown = make_url(f"sqlite:///{file.as_uri()}?mode=ro&uri=true"), str(file)
        engine = create_engine(url, poolclass=NullPool)
    else:
        shown = url.render_as_string(hide_password=True)
        engine = _postgresql(url)
    try:
        with engine.connect() as connection:
            found = _revision(connection, shown)
            if found == migrations.REVISIONS[-1]:
                _check_columns(connection, shown)
            return found
    except DatabaseError as error:
        raise ValueError(f"{shown} cannot be used as a database: {_reason(error)}") from error
    finally:
        engine.dispose()


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """A transaction that reads, then writes. It commits unless something is raised.

    SQLite refuses to write after a read that another writer has overtaken, so the write lock is taken first. With
    PostgreSQL rows are locked as they are read, by ``with_for_update``.
    """
    with engine.connect().execution_options(**{AT_ONCE: True}) as connection, Session(connection) as session:
        yield session
        session.commit()


# Parts


def _reason(error: DatabaseError) -> str:
    """The database's own message, in one line."""
    return str(error.orig).strip().replace("\n", " ")


def _sqlite(url: URL, create: bool, durable: bool) -> Engine:
    if not create and not os.path.exists(str(url.database)):
        raise ValueError(f"there is no file {url.database}")
    _keep_private(Path(str(url.database)))
    pool = {"pool_size": CONNECTIONS, "max_overflow": 0}
    engine = create_engine(url, connect_args={"timeout": PATIENCE}, **pool)

    def set_up(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # else Python begins transactions by its own rules
        _write_ahead(connection)
        for pragma in (f"synchronous={'FULL' if durable else 'NORMAL'}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _keep_private(file: Path) -> None:
    """Let nobody else read a database: create it with mode 0600, and close an own one that others can read.

    SQLite gives the log and the shared memory the mode of the file when it creates them.
    """
    if not file.exists():
        with suppress(OSError):  # SQLite says it
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
    for suffix in ("", "-wal", "-shm"):
        close_to_others(file.with_name(file.name + suffix))


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the file to write-ahead logging.

    If two processes switch at once, SQLite refuses one of them without waiting: it tries again.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(AT_ONCE) else "BEGIN")


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, pool_size=CONNECTIONS // 2, max_overflow=CONNECTIONS // 2, pool_pre_ping=True)
    except ImportError as error:
        raise ValueError(
            "PostgreSQL needs psycopg, which is not installed: pip install 'ludodrome[postgresql]'"
        ) from error


def _bring_up_to_date(engine: Engine, shown: str) -> None:
    """Migrate the tables to the last revision; ValueError if their revision is unknown."""
    with engine.connect() as connection:
        if _revision(connection, shown) == migrations.REVISIONS[-1]:
            _check_columns(connection, shown)
            return
    with engine.connect().execution_options(**{AT_ONCE: True}) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK})
        found = _revision(connection, shown)  # once more: another process may have been quicker
        if found != migrations.REVISIONS[-1]:
            migrations.upgrade(connection, found)
        _check_columns(connection, shown)


def _check_columns(connection: Connection, shown: str) -> None:
    """Compare tables and columns with the models, by name; ValueError that names what is missing."""
    found = {
        table: {column["name"] for column in columns}
        for (_, table), columns in inspect(connection).get_multi_columns().items()
    }
    missing = []
    for table in METADATA.sorted_tables:
        if table.name not in found:
            missing.append(f"the table {table.name}")
            continue
        absent = (column.name for column in table.columns if column.name not in found[table.name])
        missing += [f"the column {table.name}.{name}" for name in absent]
    if missing:
        raise ValueError(
            f"{shown} says that its tables are of revision {migrations.REVISIONS[-1]}, but it lacks "
            f"{' and '.join(sorted(missing))}; restore a backup into a new database"
        )


def _revision(connection: Connection, shown: str) -> str | None:
    """The revision of the tables; None if there are none."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    if SettingRow.__tablename__ not in tables:
        raise ValueError(f"{shown} is a database, but not one of ludodrome")
    found = migrations.revision_of(connection, tables)
    if found not in migrations.REVISIONS:
        raise ValueError(
            f"{shown} has tables of revision {found or 'unknown'}, and this program knows revision "
            f"{migrations.REVISIONS[-1]}; use the version of ludodrome that wrote it, or begin a new database"
        )
    return found


# Time


AHEAD_MS = 5_000
"""A time further in the future than this is wrong: the clock was ahead when it was written."""


def clock_ms(session: Session) -> int:
    """The time that claims and signs of life are compared with: the database server's, or in SQLite this machine's."""
    if session.get_bind().dialect.name == "postgresql":
        return int(session.scalar(text("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")) or 0)
    return now_ms()


def is_recent(seen: Any, moment: int, span_ms: int) -> Any:
    """SQL: whether a sign of life was given in the last ``span_ms``. One from the future does not count."""
    return (seen >= moment - span_ms) & (seen <= moment + AHEAD_MS)


def row_count(result: Any) -> int:
    """Number of rows changed by a statement."""
    return int(result.rowcount)


# Health and metrics


PROBE_SECONDS = 2
"""Seconds that a check of the database waits: for a connection, a lock, an answer."""
MIN_FREE_BYTES = 16 * 1024 * 1024
"""A disk with less room counts as full: SQLite can still write into the room that its log has, for a while."""
HEARTBEAT = "heartbeat"
"""The row of ``settings`` that checks write."""


class WriteState(NamedTuple):
    """Whether a database can be reached, and why it cannot be written; empty if it can."""

    reachable: bool
    fault: str


def write_state(engine: Engine) -> WriteState:
    """Write a row, read it back and commit, on a connection of its own and within a few seconds."""
    try:
        connection = probe_engine(engine).connect()
    except DatabaseError as error:
        return WriteState(False, f"the database cannot be reached: {_reason(error)}")
    try:
        with connection.execution_options(**{AT_ONCE: True}):
            return WriteState(True, _heartbeat(connection) or _disk_fault(engine.url))
    except DatabaseError as error:
        full = getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        return WriteState(True, f"the database cannot be written: {'the disk is full' if full else _reason(error)}")


def probe_engine(engine: Engine) -> Engine:
    """An engine for checks of the same database. It keeps no connection, and its waits are short."""
    return _probe_engine(engine.url)


@lru_cache(4)
def _probe_engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        limits = f"-c statement_timeout={PROBE_SECONDS}s -c lock_timeout={PROBE_SECONDS}s"
        waits = {"connect_timeout": PROBE_SECONDS, "options": limits}
        return create_engine(url, poolclass=NullPool, connect_args=waits)
    file = Path(str(url.database)).absolute()
    there = make_url(f"sqlite:///{file.as_uri()}?mode=rw&uri=true")  # a file that is gone is not made anew
    probe = create_engine(there, poolclass=NullPool, connect_args={"timeout": PROBE_SECONDS})

    def set_up(connection: Any, record: Any) -> None:
        connection.isolation_level = None

    event.listen(probe, "connect", set_up)
    event.listen(probe, "begin", _begin)
    return probe


def _heartbeat(connection: Connection) -> str:
    """Write and read back; what was wrong, if the database did not object."""
    value = str(now_ms())
    kept = update(SettingRow).where(SettingRow.name == HEARTBEAT).values(value=value)
    with connection.begin():
        if connection.execute(kept).rowcount == 0:
            try:
                with connection.begin_nested():
                    connection.execute(insert(SettingRow).values(name=HEARTBEAT, value=value))
            except IntegrityError:  # another process was quicker
                connection.execute(kept)
        found = connection.execute(select(SettingRow.value).where(SettingRow.name == HEARTBEAT)).scalar()
    return "" if found == value else "the database did not keep what was written"


def _disk_fault(url: URL) -> str:
    """Whether the disk of an SQLite file has no room; the disk of PostgreSQL is not visible from here."""
    if url.get_backend_name() != "sqlite" or not hasattr(os, "statvfs"):
        return ""
    found = os.statvfs(Path(str(url.database)).absolute().parent)
    free = found.f_frsize * (found.f_bfree if os.geteuid() == 0 else found.f_bavail)
    if free >= MIN_FREE_BYTES:
        return ""
    return f"the disk of the database is almost full: {free / 1_000_000:.1f} MB are free"


def matches_playing(engine: Engine) -> int:
    """Number of league matches in progress."""
    with Session(engine) as session:
        playing = MatchRow.status == PLAYING
        return session.scalar(select(func.count()).select_from(LiveMatchRow).join(MatchRow).where(playing)) or 0


def rated_games(engine: Engine) -> int:
    """Number of rated league games."""
    with Session(engine) as session:
        return session.scalar(select(func.sum(LadderRow.games))) or 0


def accounts_made(engine: Engine) -> int:
    """Number of accounts."""
    with Session(engine) as session:
        return session.scalar(select(func.count()).select_from(AccountRow)) or 0
