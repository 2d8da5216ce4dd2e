"""Backups: write a whole database to a file while it is in use, and restore it into an empty one.

A backup of SQLite is a database file. A backup of PostgreSQL is JSON Lines: a header, then one row per line. Either can
be restored into either kind of database.
"""

import base64
import json
import os
import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import chain, groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, Integer, LargeBinary, Table, func, insert, select, text

from ludodrome.store import migrations
from ludodrome.store.database import AT_ONCE, open_database, read_url
from ludodrome.store.models import METADATA

SQLITE_MARK = b"SQLite format 3\0"
FORMAT = "ludodrome backup"
ROWS = 500
"""Rows read or written at once."""
Row = dict[str, Any]


def back_up(engine: Engine, path: Path) -> int:
    """Write the current content to a new file and return the number of rows; ValueError if it cannot be written."""
    if path.exists():
        raise ValueError(f"{path} is there already; name a new file")
    part = path.with_name(f"{path.name}.part")
    try:
        if engine.dialect.name == "sqlite":
            _copy_sqlite(str(engine.url.database), part)
        else:
            _write_lines(engine, part)
        _to_disk(part)
        part.replace(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from error
    except sqlite3.Error as error:
        raise ValueError(f"{path} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return _count(path)


def restore(path: Path, where: Path | str, *, replace: bool = False) -> int:
    """Restore a backup and return the number of rows.

    ValueError if it is not a backup, or, without ``replace``, if the database has rows.
    """
    with _reading(path) as rows:
        engine = open_database(where, create=True, durable=True)
        try:
            with engine.connect().execution_options(**{AT_ONCE: True}) as connection, connection.begin():
                return _fill(connection, rows, str(read_url(where).database), replace)
        finally:
            engine.dispose()


# Writing


def _copy_sqlite(source: str, path: Path) -> None:
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(path)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode=DELETE")  # one file, and nothing beside it


def _write_lines(engine: Engine, path: Path) -> None:
    moment = engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    with moment as connection, path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": FORMAT, "revision": migrations.REVISIONS[-1]}) + "\n")
        for table in METADATA.sorted_tables:
            for row in _rows(connection, table):
                file.write(json.dumps({"table": table.name, "row": _plain(table, row)}) + "\n")


def _rows(connection: Connection, table: Table) -> Iterator[Row]:
    """All rows in key order: a row may refer to an earlier one of its table."""
    found = connection.execution_options(yield_per=ROWS).execute(select(table).order_by(*table.primary_key.columns))
    yield from (dict(row) for row in found.mappings())


def _plain(table: Table, row: Row) -> Row:
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in row.items()}


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


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
        try:
            with engine.connect() as connection:
                yield ((table, row) for table in METADATA.sorted_tables for row in _rows(connection, table))
        finally:
            engine.dispose()


def _lines(path: Path) -> Generator[tuple[Table, Row], None, None]:
    """The rows of a backup in JSON Lines."""
    with path.open(encoding="utf-8", errors="replace") as file:
        try:
            head = json.loads(file.readline())
            fits = head["format"] == FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            fits = False
        if not fits:
            raise ValueError(f"{path} is not a backup of ludodrome")
        if head["revision"] != migrations.REVISIONS[-1]:
            raise ValueError(
                f"{path} is of revision {head['revision']}, and this program knows {migrations.REVISIONS[-1]}; "
                "bring it back with the version of ludodrome that wrote it"
            )
        for number, line in enumerate(file, 2):
            try:
                data = json.loads(line)
                table = METADATA.tables[data["table"]]
                yield table, _unplain(table, data["row"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number} of {path} is damaged") from error


def _unplain(table: Table, row: Row) -> Row:
    binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    return {key: base64.b64decode(value) if key in binary and value else value for key, value in row.items()}


def _count(path: Path) -> int:
    with _reading(path) as rows:
        return sum(1 for _ in rows)


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
