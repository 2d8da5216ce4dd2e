"""Backups of damaged databases, and who can read databases and backups."""

import json
import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from ludodrome import installation
from ludodrome.store import audit, backups
from ludodrome.store.accounts import accounts, add_account, ensure_local
from ludodrome.store.backups import back_up, restore
from ludodrome.store.database import open_database
from tests.cli.running import complaint, run

PAGE = 4096


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _filled(path: Path) -> None:
    """A database with 150 accounts, all in the file itself."""
    engine = open_database(path, create=True)
    ensure_local(engine)
    for number in range(150):
        add_account(engine, f"Name{number}", "hash" * 45)
    engine.dispose()
    with sqlite3.connect(path) as connection_:
        connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection_.close()


def _page_of(path: Path, marker: bytes) -> int:
    """The number of a page that has this text in it, counted from 0."""
    return path.read_bytes().rindex(marker) // PAGE


def _overwrite(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(b"\xa5" * PAGE)


@pytest.mark.parametrize("damage", ["table", "index", "json", "reference"])
def test_point_15_a_damaged_database_leaves_no_backup(tmp_path: Path, damage: str) -> None:
    path, backup = tmp_path / "server.db", tmp_path / "backups" / "monday.db"
    backup.parent.mkdir()
    _filled(path)
    engine = open_database(path)
    with sqlite3.connect(path) as connection:
        if damage == "json":
            connection.execute("INSERT INTO tournaments (id, name, plan, begun) VALUES (1, 'spring', '{\"pa', 1)")
        if damage == "reference":
            connection.execute("INSERT INTO solved_puzzles VALUES ('nobody', 'dots-1')")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
    connection.close()
    if damage == "table":
        _overwrite(path, _page_of(path, b"Name77"))
    if damage == "index":
        _overwrite(path, roots["sqlite_autoindex_accounts_2"] - 1)
    with pytest.raises(ValueError, match=r"server\.db is damaged: .*; no backup was written") as refused:
        back_up(engine, backup)
    engine.dispose()
    assert "\n" not in str(refused.value)
    assert list(backup.parent.iterdir()) == []


def test_point_15_the_command_says_it_in_a_sentence(tmp_path: Path) -> None:
    path, backup = tmp_path / "server.db", tmp_path / "monday.db"
    _filled(path)
    _overwrite(path, _page_of(path, b"Name77"))
    assert "is damaged" in complaint(run("admin", "backup", str(backup), "--db", str(path)))
    assert not backup.exists()


def test_point_15_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        path, backup = tmp_path / "server.db", tmp_path / "monday.db"
        engine = open_database(path, create=True)
        ensure_local(engine)
        with engine.connect() as connection:
            connection.execute(text("SELECT COUNT(*) FROM accounts"))
            there = {file.name: _mode(file) for file in tmp_path.iterdir()}
        assert there == dict.fromkeys(("server.db", "server.db-wal", "server.db-shm"), 0o600)
        back_up(engine, backup)
        assert _mode(backup) == 0o600
        engine.dispose()
        assert restore(backup, tmp_path / "again.db") == 1
        assert _mode(tmp_path / "again.db") == 0o600
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(old)


def test_point_15_a_backup_of_postgresql_too(engine: Engine, tmp_path: Path) -> None:
    ensure_local(engine)
    seen: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.001):
            for file in (tmp_path / "backups").iterdir():
                try:
                    seen.append(_mode(file))
                except FileNotFoundError:
                    continue

    (tmp_path / "backups").mkdir()
    watcher = threading.Thread(target=look)
    watcher.start()
    for number in range(5):
        back_up(engine, tmp_path / "backups" / f"{number}.backup")
    done.set()
    watcher.join()
    assert set(seen) <= {0o600}
    assert {_mode(file) for file in (tmp_path / "backups").iterdir()} == {0o600}


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o664, 0o600), (0o604, 0o600), (0o660, 0o660)])
def test_point_15_an_own_database_is_closed_to_others(tmp_path: Path, before: int, after: int) -> None:
    path = tmp_path / "server.db"
    engine = open_database(path, create=True)
    with engine.connect() as connection:  # keeps the log and the shared memory there
        for name in ("server.db", "server.db-wal", "server.db-shm"):
            (tmp_path / name).chmod(before)
        again = open_database(path)
        assert {_mode(tmp_path / name) for name in ("server.db", "server.db-wal", "server.db-shm")} == {after}
        connection.execute(text("SELECT COUNT(*) FROM accounts"))
    again.dispose()
    engine.dispose()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give a file away")
def test_point_15_the_database_of_another_user_is_left(tmp_path: Path) -> None:
    path = tmp_path / "server.db"
    open_database(path, create=True).dispose()
    path.chmod(0o644)
    os.chown(path, 61999, -1)
    open_database(path).dispose()
    assert _mode(path) == 0o644


def test_the_doctor_names_a_database_that_others_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.db"
    open_database(path, create=True).dispose()
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(path))
    assert installation.database().grade == "ok"
    path.chmod(0o644)
    status = installation.database()
    assert status.grade == "warning"
    assert "can be read by others" in status.sentence
    assert "chmod 600" in status.advice


@pytest.mark.parametrize("damage", ["table", "reference"])
def test_a_damaged_backup_is_not_restored(tmp_path: Path, damage: str) -> None:
    _filled(tmp_path / "server.db")
    engine = open_database(tmp_path / "server.db")
    back_up(engine, tmp_path / "monday.db")
    before = len(accounts(engine))
    engine.dispose()
    if damage == "table":
        _overwrite(tmp_path / "monday.db", _page_of(tmp_path / "monday.db", b"Name77"))
    else:
        with sqlite3.connect(tmp_path / "monday.db") as connection:
            connection.execute("INSERT INTO solved_puzzles VALUES ('nobody', 'dots-1')")
        connection.close()
    with pytest.raises(ValueError, match=r"monday\.db is damaged: "):
        restore(tmp_path / "monday.db", tmp_path / "server.db", replace=True)
    engine = open_database(tmp_path / "server.db")
    assert len(accounts(engine)) == before
    engine.dispose()


def test_a_cut_backup_of_lines_is_refused(tmp_path: Path, postgresql: Path) -> None:
    from tests.postgresql import new_database

    place = new_database(postgresql)
    engine = open_database(place, create=True)
    ensure_local(engine)
    for name in ("Ada", "Eve"):
        add_account(engine, name, "hash")
    rows = back_up(engine, tmp_path / "whole")
    engine.dispose()
    lines = (tmp_path / "whole").read_text("utf-8").splitlines(keepends=True)
    for number in range(1, len(lines)):
        (tmp_path / "cut").write_text("".join(lines[:number]), "utf-8")
        with pytest.raises(ValueError, match="cut is not whole: its last line is missing"):
            restore(tmp_path / "cut", tmp_path / f"{number}.db")
    end = json.loads(lines[-1])
    (tmp_path / "less").write_text("".join([*lines[:-2], json.dumps(end)]), "utf-8")
    with pytest.raises(ValueError, match=f"less is damaged: it has {rows - 1} rows and says {rows}"):
        restore(tmp_path / "less", tmp_path / "less.db")
    changed = "".join(lines).replace("Ada", "Ida")
    (tmp_path / "changed").write_text(changed, "utf-8")
    with pytest.raises(ValueError, match="changed is damaged: its content does not have the hash"):
        restore(tmp_path / "changed", tmp_path / "changed.db")
    assert (
        restore(tmp_path / "whole", tmp_path / "whole.db") == rows == 3 + 2
    )  # accounts, and their entries in the audit log


def test_lines_that_are_not_written_as_they_were_meant_leave_no_backup(
    tmp_path: Path, postgresql: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.postgresql import new_database

    engine = open_database(new_database(postgresql), create=True)
    ensure_local(engine)
    write = backups._write_lines

    def lose(engine: Engine, path: Path) -> int:
        count = write(engine, path)
        content = path.read_bytes()
        path.write_bytes(content.replace(b"local", b"loca1", 1))
        return count

    monkeypatch.setattr(backups, "_write_lines", lose)
    with pytest.raises(ValueError, match="does not have the hash"):
        back_up(engine, tmp_path / "lost")
    engine.dispose()
    assert list(tmp_path.iterdir()) == []


def test_a_backup_while_others_write_is_of_one_moment(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "a.db", create=True)
    ensure_local(engine)
    stop = threading.Event()

    def write() -> None:
        for number in range(100_000):
            if stop.is_set():
                return
            add_account(engine, f"Name {number}", "hash")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [back_up(engine, tmp_path / f"{number}.db") for number in range(4)]
    finally:
        stop.set()
        writer.join()
    assert counts == sorted(counts)
    for number, count in enumerate(counts):
        restored = open_database(tmp_path / f"{number}.db")
        found = len(accounts(restored))
        assert found + len(audit.entries(restored, most=10**6)) == count == 1 + 2 * (found - 1)
        restored.dispose()
    engine.dispose()
