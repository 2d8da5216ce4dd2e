"""Announcements between processes on one database, and the caches that they share."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from ludodrome.store import announcements
from ludodrome.store.announcements import BOT, PLAY, Listener, SharedCache, announce, announce_all
from ludodrome.store.database import open_database
from ludodrome.store.models import AnnouncementRow

OTHER = """
import sys
from sqlalchemy.orm import Session
from ludodrome.store.announcements import announce
from ludodrome.store.database import open_database
with Session(open_database(sys.argv[1])) as session:
    announce(session, "bot", "from another process")
    session.commit()
"""


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _say(engine: Engine, topic: str, *subjects: str) -> None:
    with engine.begin() as connection:
        announce_all(connection, topic, subjects)


def test_a_commit_is_heard_in_every_process_and_a_rollback_is_not(engine: Engine) -> None:
    heard: list[str] = []
    listener = Listener(engine)
    listener.subscribe(BOT, heard.append)
    listener.start()
    assert listener.wait(60)
    with Session(engine) as session:
        announce(session, BOT, "rolled back")
        session.rollback()
    with Session(engine) as session:
        announce(session, PLAY, "another topic")
        announce(session, BOT, "one")
        session.commit()
    _say(engine, BOT, "two", "three")
    _until(lambda: len(heard) == 3)
    where = engine.url.render_as_string(hide_password=False)
    where = where.removeprefix("sqlite:///")
    subprocess.run([sys.executable, "-c", OTHER, where], check=True)
    _until(lambda: len(heard) == 4)
    assert heard == ["one", "two", "three", "from another process"]
    listener.stop()


def test_a_callback_that_fails_stops_nothing(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def fail(subject: str) -> None:
        raise ValueError(subject)

    listener = Listener(engine)
    listener.subscribe(BOT, fail)
    listener.subscribe(BOT, heard.append)
    listener.start()
    assert listener.wait(60)
    _say(engine, BOT, "one", "two")
    _until(lambda: heard == ["one", "two"])
    assert "announcements: bot one" in caplog.text
    listener.stop()


def test_a_lost_connection_is_opened_again_and_the_gap_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    gaps, cut = threading.Event(), threading.Event()
    listener = Listener(engine)
    way = "_from_postgresql" if engine.dialect.name == "postgresql" else "_from_sqlite"
    real = getattr(listener, way)

    def breaking() -> object:
        for one in real():
            yield one
            if not cut.is_set():
                cut.set()
                raise ConnectionError("cut off")

    monkeypatch.setattr(listener, way, breaking)
    listener.subscribe(BOT, heard.append)
    listener.on_gap(gaps.set)
    listener.start()
    assert gaps.wait(60)
    _say(engine, BOT, "after all")
    _until(lambda: heard == ["after all"])
    listener.stop()


def test_sqlite_keeps_few_rows_and_tells_who_has_missed_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_database(tmp_path / "a.db", create=True)
    monkeypatch.setattr(announcements, "_count", count())
    monkeypatch.setattr(announcements, "_TRIM", announcements.trim_to(5))
    monkeypatch.setattr(announcements, "POLL_SECONDS", 0.2)
    gaps, first = threading.Event(), threading.Event()
    heard: list[str] = []

    def hear(subject: str) -> None:
        heard.append(subject)
        first.set()

    listener = Listener(engine)
    listener.subscribe(BOT, hear)
    listener.on_gap(gaps.set)
    listener.start()
    assert listener.wait(60)
    _say(engine, BOT, "0")
    assert first.wait(60)
    for number in range(0, 10 * announcements.TRIM_EVERY, 10):
        _say(engine, BOT, *map(str, range(number, number + 10)))
    assert gaps.wait(60)
    with Session(engine) as session:
        assert session.scalar(select(func.count()).select_from(AnnouncementRow)) == 5
    listener.stop()
    engine.dispose()


def test_a_shared_cache_keeps_values_for_a_while(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000_000]
    monkeypatch.setattr(announcements, "now_ms", lambda: now[0])
    cache, other = (SharedCache(engine, "puzzle", 3, 100) for _ in range(2))
    elsewhere = SharedCache(engine, "record", 3, 100)
    cache.put("a", {"one": 1})
    elsewhere.put("a", [2])
    assert other.get("a") == {"one": 1}
    assert elsewhere.get("a") == [2]
    other.put("a", {"one": 2})
    assert cache.get("a") == {"one": 2}
    now[0] += 60_000
    assert cache.get("a", fresh_seconds=30) is None
    assert cache.get("a") == {"one": 2}  # a use
    assert cache.idle_seconds("a") == 0
    now[0] += 60_000
    assert cache.idle_seconds("a") == 60
    cache.put("a", {"one": 3}, use=False)
    assert cache.idle_seconds("a") == 60
    now[0] += 60_000
    assert cache.get("a") is None
    for number in range(announcements.TRIM_EVERY + 1):
        now[0] += 1
        cache.put(f"{number}", number)
    assert cache.get("0") is None
    assert cache.get(f"{announcements.TRIM_EVERY}") == announcements.TRIM_EVERY
    assert elsewhere.idle_seconds("a") is not None
    assert cache.idle_seconds("missing") is None
    assert cache.new_id() != cache.new_id()
