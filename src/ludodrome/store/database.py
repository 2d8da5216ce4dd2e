"""Opening a database: SQLite in a file, with a write-ahead log, so that a killed program leaves whole transactions.

The tables are in ``models.py``, the questions in ``tournaments.py``.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, insert
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from ludodrome.store import account_models
from ludodrome.store.models import SCHEMA, Base, Setting

TABLES = (account_models,)
"""The modules whose tables belong to every database, besides those of ``models``."""

PATIENCE = 30
"""Seconds that a writer waits for another one."""


def open_database(path: Path, *, create: bool = False) -> Engine:
    """The database in a file; ValueError if there is none (unless it may be made) or if it is not one of ours."""
    if not path.exists() and not create:
        raise ValueError(f"there is no file {path}")
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": PATIENCE})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    try:
        _check_schema(engine, path)
    except DatabaseError as error:
        engine.dispose()
        raise ValueError(f"{path} cannot be used as a database: {error.orig}") from error
    except ValueError:
        engine.dispose()
        raise
    return engine


def _set_up(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # else Python begins transactions by its own rules, and none for new tables
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN")


def _check_schema(engine: Engine, path: Path) -> None:
    """Makes the tables of a new database; ValueError if they are of another version."""
    with engine.connect() as connection:
        found = set(engine.dialect.get_table_names(connection))
    if found and Setting.__tablename__ not in found:
        raise ValueError(f"{path} is a database, but not one of ludodrome's")
    if not found:
        with engine.begin() as connection:  # all tables or none, should somebody be killed here
            Base.metadata.create_all(connection)
            connection.execute(insert(Setting).values(name="schema", value=str(SCHEMA)))
    with Session(engine) as session:
        setting = session.get(Setting, "schema")
    version = setting.value if setting is not None else "unknown"
    if version != str(SCHEMA):
        raise ValueError(
            f"{path} has tables of version {version}, and this program knows version {SCHEMA}; "
            "use the version of ludodrome that wrote it, or begin a new file"
        )
