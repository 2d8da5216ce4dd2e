"""Opening databases, and what is kept in them."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from ludodrome.store.database import open_database
from ludodrome.store.tournaments import Ledger, tournaments


def test_a_new_database_and_an_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    engine = open_database(path, create=True)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
    assert tournaments(engine) == []
    Ledger.begin(engine, "spring", {"pairs": 3})
    (found,) = tournaments(open_database(path))
    assert (found.name, found.plan, found.games) == ("spring", {"pairs": 3}, 0)


def test_what_is_no_database_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        open_database(tmp_path / "none.sqlite")
    (tmp_path / "text").write_text("not a database at all, but long enough to be looked at " * 20)
    with pytest.raises(ValueError, match="cannot be used as a database: file is not a database"):
        open_database(tmp_path / "text")
    with pytest.raises(ValueError, match="cannot be used as a database: unable to open database file"):
        open_database(tmp_path / "no" / "folder.sqlite", create=True)
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("CREATE TABLE things (id INTEGER)")
    connection.close()
    with pytest.raises(ValueError, match="is a database, but not one of ludodrome's"):
        open_database(tmp_path / "other.sqlite")


@pytest.mark.parametrize("version", ["2", "0"])
def test_another_version_is_refused(tmp_path: Path, version: str) -> None:
    path = tmp_path / "a.sqlite"
    engine = open_database(path, create=True)
    with engine.begin() as connection:
        connection.execute(text("UPDATE settings SET value = :version"), {"version": version})
    engine.dispose()
    with pytest.raises(ValueError, match=f"has tables of version {version}, and this program knows version 1"):
        open_database(path)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    engine = open_database(path, create=True)
    ledger = Ledger.begin(engine, "spring", {})
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE games"))
    with pytest.raises(ValueError, match=r"a\.sqlite cannot be written: no such table: games"):
        ledger.add_game("m-1", "dots", True, {}, {})


def test_a_ledger(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "a.sqlite", create=True)
    ledger = Ledger.begin(engine, "spring", {})
    other = Ledger.begin(engine, "autumn", {})
    with pytest.raises(ValueError, match="there is a tournament spring already"):
        Ledger.begin(engine, "spring", {})
    assert Ledger.find(engine, "winter") is None
    record = {"match": "m-1", "text": "ä" * 1000}
    assert ledger.add_game("m-1", "dots", True, {"points": 1}, record)
    assert not ledger.add_game("m-1", "dots", True, {"points": 2}, record)
    assert other.add_game("m-1", "dots", False, {"points": 3}, record)
    assert list(ledger.games()) == [("dots", {"points": 1})]
    assert list(ledger.records()) == [record]
    ledger.add_opening("dots", 0, [["H", 0, 0]])
    ledger.add_opening("dots", 0, [["V", 0, 0]])
    assert list(ledger.openings()) == [("dots", 0, [["H", 0, 0]])]
    assert (ledger.forget_unrated(), other.forget_unrated()) == (0, 1)
    assert [one.games for one in tournaments(engine)] == [1, 0]
