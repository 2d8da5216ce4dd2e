"""/health on a disk that cannot be written, many monitors at once, and /ready from start to end."""

import os
import resource
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from httpx import Client
from sqlalchemy import create_engine, text

from ludodrome.store import database as store
from ludodrome.store.database import open_database, write_state
from ludodrome.web import metrics, warm_up
from ludodrome.web.app import create_app
from ludodrome.web.budgets import BUDGETS, Budgets
from ludodrome.web.routes import games
from tests.web.hosting import hosting
from tests.web.serving import serving


@contextmanager
def _healthy(path: Path) -> Iterator[Client]:
    """A client of a server on that database, which is healthy before and after."""
    engine = open_database(path, create=True)
    try:
        with serving(create_app(engine)) as address, Client(base_url=address) as client:
            for moment in ("before", "after"):
                answer = client.get("/health")
                assert (answer.status_code, answer.json()["status"]) == (200, "ok"), moment
                assert answer.json()["reason"] == ""
                if moment == "before":
                    yield client
    finally:
        engine.dispose()


def test_point_16_health_is_ill_if_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of this process can be written for a moment: a limit that needs no rights."""
    monkeypatch.setattr(metrics, "HEALTH_AGE", 0.0)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    with _healthy(tmp_path / "a.db") as client:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))
            answer = client.get("/health")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
    said = answer.json()
    assert (answer.status_code, said["status"], said["database"]) == (503, "ill", "unwritable")
    assert said["reason"].startswith("the database cannot be written: ")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB in memory."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system: no full disk was tried")
    folder = tmp_path / "disk"
    folder.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    made = subprocess.run(asked, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"a small file system cannot be mounted ({made.stderr.strip()}): no full disk was tried")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_point_16_health_is_ill_on_a_full_disk(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "HEALTH_AGE", 0.0)
    filler = small_disk / "filler"
    with _healthy(small_disk / "a.db") as client:
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            for _ in range(24 * 256 + 1):
                file.write(bytes(4096))
        answer = client.get("/health")
        filler.unlink()
    assert (answer.status_code, answer.json()["status"]) == (503, "ill")
    assert "full" in answer.json()["reason"]


def test_point_16_a_disk_without_room_is_ill_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_database(tmp_path / "a.db", create=True)
    assert write_state(engine) == (True, "")
    monkeypatch.setattr(store, "MIN_FREE_BYTES", 10**18)
    reachable, fault = write_state(engine)
    assert reachable
    assert fault.startswith("the disk of the database is almost full: ")
    engine.dispose()


def test_point_16_a_database_that_is_read_only(database: str) -> None:
    engine = open_database(database, create=True)
    assert write_state(engine) == (True, "")
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            name = connection.execute(text("SELECT current_database()")).scalar()
            connection.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'))
        expected = "read-only"
    else:
        with engine.begin() as connection:
            connection.execute(text("CREATE TRIGGER no BEFORE UPDATE ON settings BEGIN SELECT RAISE(FAIL, 'no'); END"))
        expected = "no"
    reachable, fault = write_state(engine)
    assert reachable
    assert fault.startswith("the database cannot be written: ")
    assert expected in fault
    engine.dispose()


def test_point_16_a_database_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    engine = open_database(path, create=True)
    engine.dispose()
    for file in tmp_path.iterdir():
        file.unlink()
    assert not write_state(engine).reachable
    assert list(tmp_path.iterdir()) == []


def test_point_16_a_writer_that_holds_the_lock_does_not_hold_up_monitors(tmp_path: Path) -> None:
    """The monitor gives up after two seconds, not after the thirty of everybody else."""
    engine = open_database(tmp_path / "a.db", create=True)
    with engine.connect().execution_options(begin_immediate=True) as connection:
        connection.execute(text("SELECT 1"))
        assert "locked" in write_state(engine).fault
    assert write_state(engine) == (True, "")
    engine.dispose()


def test_point_16_many_monitors_write_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0
    real = store.write_state

    def counted(engine: Any) -> Any:
        nonlocal written
        written += 1
        return real(engine)

    monkeypatch.setattr(metrics, "write_state", counted)
    monkeypatch.setattr(metrics, "HEALTH_AGE", 3600.0)
    with hosting() as running, ThreadPoolExecutor(8) as pool, running.client() as client:
        answers = list(pool.map(lambda _: client.get("/health").status_code, range(100)))
    assert set(answers) == {200}
    assert written == 1


def test_point_16_monitors_are_not_limited_by_rate() -> None:
    with hosting() as running, running.client() as guest:
        rates = {kind: one._replace(amount=1, seconds=3600.0) for kind, one in BUDGETS.items() if one.seconds}
        running.app.state.limits = Budgets({**BUDGETS, **rates})
        assert [guest.get("/api/v1/games").status_code for _ in range(3)] == [200, 429, 429]
        for path in ("/health", "/ready"):
            assert {guest.get(path).status_code for _ in range(20)} == {200}


def test_point_16_a_database_that_hangs_is_ill_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    going = threading.Event()

    def hang(engine: Any) -> Any:
        going.wait(60)
        return store.WriteState(True, "")

    monkeypatch.setattr(metrics, "write_state", hang)
    monkeypatch.setattr(metrics, "HEALTH_SECONDS", 0.2)
    try:
        with hosting() as running, running.client() as guest:
            for _ in range(2):
                answer = guest.get("/health")
                assert answer.status_code == 503
                assert "did not answer within" in answer.json()["reason"]
            going.set()
    finally:
        going.set()


def test_point_16_health_needs_no_connection_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if requests hold all connections, the monitor sees the truth."""
    with hosting() as running, running.client() as guest:
        held = [running.engine.connect() for _ in range(store.CONNECTIONS)]
        try:
            assert guest.get("/health").status_code == 200
        finally:
            for one in held:
                one.close()


def test_ready_follows_start_and_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm = threading.Event()
    monkeypatch.setattr(warm_up, "is_compiled", lambda game_id, what="": True)
    monkeypatch.setattr(games, "warm_up", lambda game_id: warm.wait(60))
    engine = open_database(tmp_path / "a.db", create=True)
    app = create_app(engine, warm=("dots",))
    assert not app.state.readiness.is_ready  # nothing has started
    with serving(app) as address, Client(base_url=address) as client:
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()) == (
            503,
            {"status": "not ready", "reason": "the game dots is being loaded"},
        )
        assert client.get("/health").status_code == 200
        warm.set()
        for _ in range(500):
            if app.state.readiness.is_ready:
                break
            threading.Event().wait(0.01)
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready", "reason": ""})
        app.state.readiness.stop()
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()["reason"]) == (503, "the server is shutting down")
    engine.dispose()


def test_ready_says_that_a_game_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(game_id: str) -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(warm_up, "is_compiled", lambda game_id, what="": True)
    monkeypatch.setattr(games, "warm_up", fail)
    engine = open_database(tmp_path / "a.db", create=True)
    app = create_app(engine, warm=("dots",))
    with serving(app) as address, Client(base_url=address) as client:
        for _ in range(500):
            if "cannot" in (reason := client.get("/ready").json()["reason"]):
                break
        assert reason == "the game dots cannot be loaded: no compiler"
    assert not app.state.readiness.is_ready  # the server has ended
    engine.dispose()


def test_an_engine_of_nowhere_is_unreachable() -> None:
    reachable, fault = write_state(create_engine("sqlite:////no/where/at/all.db"))
    assert not reachable
    assert fault.startswith("the database cannot be reached: ")
