"""Backups: write a whole database to a file while it is in use, and restore it into an empty one.

A backup of SQLite is a database file. A backup of PostgreSQL is JSON Lines: a header, one row per line, and a last line
with the number of rows and the hash of all lines before. Either can be restored into either kind of database.
"""

import base64
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import JSON, Connection, Engine, Integer, LargeBinary, Table, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from ludodrome.atomic_io import replacement
from ludodrome.store import migrations
from ludodrome.store.database import AT_ONCE, open_database, read_url
from ludodrome.store.league_models import METADATA

SQLITE_MARK = b"SQLite format 3\0"
FORMAT = "ludodrome backup"
ROWS = 500
"""Rows read or written at once."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
Row = dict[str, Any]
Counts = dict[str, int]
"""Rows by table."""


def back_up(engine: Engine, path: Path) -> int:
    """Write the current content to a new file and return the number of rows.

    The file gets its name only after it was read back and verified; only its owner can read it. ValueError if the
    database is damaged or the file cannot be written; nothing is left then.
    """
    if path.exists():
        raise ValueError(f"{path} is there already; name a new file")
    try:
        with replacement(path, 0o600) as part:
            if engine.dialect.name == "sqlite":
                rows = _copy_sqlite(str(engine.url.database), part)
            else:
                rows = _write_lines(engine, part)
                _verify_lines(part, rows)
        _sync_folder(path.absolute().parent)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from error
    except DBAPIError as error:
        raise ValueError(f"the database cannot be read: {str(error.orig).strip()}; no backup was written") from error
    except sqlite3.Error as error:
        raise ValueError(f"{path} cannot be written: {error}") from error
    return rows


def restore(path: Path, where: Path | str, *, replace: bool = False) -> int:
    """Restore a backup and return the number of rows.

    ValueError if it is not a backup, or, without ``replace``, if the database has rows.
    """
    with _reading(path) as rows:
        engine = open_database(where, create=True, durable=True)
        try:
            with engine.connect().execution_options(**{AT_ONCE: True}) as connection, connection.begin():
                return _fill(connection, rows, str(read_url(where).database), replace)
        except DBAPIError as error:
            raise ValueError(f"the backup cannot be restored: {str(error.orig).strip()}; nothing changed") from error
        finally:
            engine.dispose()


# Writing


def _copy_sqlite(source: str, path: Path) -> int:
    """Copy a database as it is at this moment, and verify the copy; the number of rows."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(path)) as new:
        old.isolation_level = None
        try:
            old.execute("BEGIN")  # the counts are those of the moment that is copied
            counts = _table_counts(old)
            old.backup(new)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in DAMAGED:
                raise _damaged(source, str(error)) from error
            raise
        new.execute("PRAGMA journal_mode=DELETE")  # one file, and nothing beside it
        fault = _fault(new) or ("" if _table_counts(new) == counts else "the copy has other rows")
    if fault:
        raise _damaged(source, fault)
    return sum(counts[table.name] for table in METADATA.sorted_tables)


def _fault(copy: sqlite3.Connection) -> str:
    """What is wrong with the structure, the references or the JSON of a database; empty if nothing is."""
    try:
        trouble = str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if trouble != "ok":
            return trouble
        broken = copy.execute("PRAGMA foreign_key_check").fetchone()
        if broken is not None:
            return f"a row of {broken[0]} refers to a row of {broken[2]} that does not exist"
        for table in METADATA.sorted_tables:
            for column in table.columns:
                if isinstance(column.type, JSON) and not _is_json(copy, table.name, column.name):
                    return f"{column.name} of a row of {table.name} is not JSON"
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


def _is_json(copy: sqlite3.Connection, table: str, column: str) -> bool:
    try:
        for (content,) in copy.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL'):
            json.loads(content)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _table_counts(connection: sqlite3.Connection) -> Counts:
    """The number of rows of every table, ours or not."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}


def _damaged(source: str, reason: str) -> ValueError:
    reason = " ".join(reason.split())
    return ValueError(f"{source} is damaged: {reason}; no backup was written. Restore the last good one")


def _write_lines(engine: Engine, path: Path) -> int:
    """Write all rows, and at last their number and the hash of all lines before; the number of rows."""
    moment = engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    digest, count = hashlib.sha256(), 0
    with moment as connection, path.open("wb") as file:

        def write(value: Any) -> None:
            line = json.dumps(value).encode() + b"\n"
            digest.update(line)
            file.write(line)

        write({"format": FORMAT, "revision": migrations.REVISIONS[-1]})
        for table in METADATA.sorted_tables:
            for row in _rows(connection, table):
                write({"table": table.name, "row": _plain(table, row)})
                count += 1
        write({"rows": count, "sha256": digest.hexdigest()})
    return count


def _verify_lines(path: Path, rows: int) -> None:
    """Read the lines back; ValueError if they are not those that were written."""
    found = sum(1 for _ in _lines(path))
    if found != rows:
        raise ValueError(f"{path} has {found} rows and not the {rows} that were written; no backup was written")


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _rows(connection: Connection, table: Table) -> Iterator[Row]:
    """All rows in key order: a row may refer to an earlier one of its table."""
    found = connection.execution_options(yield_per=ROWS).execute(select(table).order_by(*table.primary_key.columns))
    yield from (dict(row) for row in found.mappings())


def _plain(table: Table, row: Row) -> Row:
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in row.items()}


# Reading


@contextmanager
def _reading(path: Path) -> Iterator[Iterator[tuple[Table, Row]]]:
    """The rows of a backup of either kind; ValueError if it is not a backup."""
    try:
        with path.open("rb") as file:
            mark = file.read(len(SQLITE_MARK))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    if mark != SQLITE_MARK:
        with closing(_lines(path)) as lines:
            yield lines
        return
    with TemporaryDirectory() as folder:  # a copy: an older one is brought up to date, and the backup stays as it is
        copy = Path(folder) / "backup.db"
        shutil.copy(path, copy)
        engine = open_database(copy)
        with closing(sqlite3.connect(copy)) as opened:
            fault = _fault(opened)
        if fault:
            engine.dispose()
            raise ValueError(f"{path} is damaged: {' '.join(fault.split())}")
        try:
            with engine.connect() as connection:
                yield ((table, row) for table in METADATA.sorted_tables for row in _rows(connection, table))
        finally:
            engine.dispose()


def _lines(path: Path) -> Generator[tuple[Table, Row], None, None]:
    """The rows of a backup in JSON Lines. Its last line says how many there are, and the hash of all lines before."""
    with path.open("rb") as file:
        first = file.readline()
        try:
            head = json.loads(first)
            fits = head["format"] == FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            fits = False
        if not fits:
            raise ValueError(f"{path} is not a backup of ludodrome")
        if head.get("revision") != migrations.REVISIONS[-1]:
            raise ValueError(
                f"{path} is of revision {head.get('revision')}, and this program knows {migrations.REVISIONS[-1]}; "
                "bring it back with the version of ludodrome that wrote it"
            )
        digest, count, end = hashlib.sha256(first), 0, None
        for number, line in enumerate(file, 2):
            try:
                data = json.loads(line)
                if isinstance(data, dict) and "sha256" in data:
                    end = data
                    break
                table = METADATA.tables[data["table"]]
                row = _unplain(table, data["row"])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError(f"line {number} of {path} is damaged") from error
            digest.update(line)
            count += 1
            yield table, row
    if end is None:
        raise ValueError(f"{path} is not whole: its last line is missing")
    if end.get("rows") != count:
        raise ValueError(f"{path} is damaged: it has {count} rows and says {end.get('rows')}")
    if end["sha256"] != digest.hexdigest():
        raise ValueError(f"{path} is damaged: its content does not have the hash that its last line says")


def _unplain(table: Table, row: Row) -> Row:
    binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    return {key: base64.b64decode(value) if key in binary and value else value for key, value in row.items()}


# Filling


def _fill(connection: Connection, rows: Iterator[tuple[Table, Row]], shown: str, replace: bool) -> int:
    first = next(rows, None)  # a file that is not a backup is refused before anything is deleted
    if any(connection.execute(select(func.count()).select_from(table)).scalar() for table in METADATA.sorted_tables):
        if not replace:
            raise ValueError(f"{shown} is not empty; say --replace to lose what is in it")
        for table in reversed(METADATA.sorted_tables):
            connection.execute(table.delete())
    count = 0
    for name, group in groupby(chain([] if first is None else [first], rows), lambda pair: pair[0].name):
        while waiting := [row for _, row in islice(group, ROWS)]:
            connection.execute(insert(METADATA.tables[name]), waiting)
            count += len(waiting)
    if connection.dialect.name == "postgresql":
        _set_sequences(connection)
    return count


def _set_sequences(connection: Connection) -> None:
    """Let PostgreSQL's sequences continue after the restored rows."""
    for table in METADATA.sorted_tables:
        keys = list(table.primary_key.columns)
        if len(keys) == 1 and isinstance(keys[0].type, Integer):
            name = keys[0].name
            asked = text(
                f"SELECT setval(s, (SELECT COALESCE(MAX({name}), 0) + 1 FROM {table.name}), false) "
                f"FROM pg_get_serial_sequence('{table.name}', '{name}') AS s WHERE s IS NOT NULL"
            )
            connection.execute(asked)
