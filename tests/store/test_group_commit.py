"""Group commits: the writer thread outlives cancelled futures and work that fails."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, text

from ludodrome.store import group_commit
from ludodrome.store.database import open_database
from ludodrome.store.group_commit import GroupCommitter, RowInsert
from ludodrome.store.models import SettingRow

PATIENCE = 10
"""Seconds that a write may take before the test fails."""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_database(tmp_path / "group.db", create=True)


@pytest.fixture
def committer(engine: Engine) -> Iterator[GroupCommitter]:
    made = GroupCommitter(engine)
    yield made
    made.close()


def setting(name: str) -> RowInsert:
    return RowInsert(insert(SettingRow), {"name": name, "value": "1"})


def names(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(text("SELECT name FROM settings WHERE value = '1'")).scalars())


def test_a_cancelled_future_neither_ends_the_thread_nor_loses_its_work(
    engine: Engine, committer: GroupCommitter
) -> None:
    busy, released = threading.Event(), threading.Event()

    def block(connection: Connection) -> None:
        busy.set()
        released.wait(PATIENCE)

    blocked = committer.submit(block)
    assert busy.wait(PATIENCE)
    waiting = committer.submit(setting("cancelled"))
    waiting.cancel()
    blocked.cancel()
    released.set()
    committer.submit(setting("later")).result(PATIENCE)
    assert names(engine) == {"cancelled", "later"}


def test_work_that_fails_fails_alone(engine: Engine, committer: GroupCommitter) -> None:
    def fail(connection: Connection) -> None:
        raise SystemExit("not here")

    with pytest.raises(SystemExit, match="not here"):
        committer.submit(fail).result(PATIENCE)
    committer.submit(setting("later")).result(PATIENCE)
    assert names(engine) == {"later"}


def test_work_submitted_during_close_is_written(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    class ClosingQueue(SimpleQueue[Any]):
        """Lets another thread close the committer just before the first job is put."""

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if item is not None and closing.ident is None:
                closing.start()
                closing.join(0.2)  # not for long: close may have to wait for this job
            super().put(item)

    monkeypatch.setattr(group_commit, "SimpleQueue", ClosingQueue)
    committer = GroupCommitter(engine)
    closing = threading.Thread(target=committer.close)
    committer.submit(setting("first")).result(PATIENCE)
    closing.join(PATIENCE)
    assert not closing.is_alive()
    committer.submit(setting("second")).result(PATIENCE)
    committer.close()
    assert names(engine) == {"first", "second"}


def test_close_and_submit_in_many_threads_complete_every_future(engine: Engine) -> None:
    committer = GroupCommitter(engine)

    def write(start: int) -> None:
        for number in range(start, start + 10):
            committer.submit(setting(f"{number}")).result(PATIENCE)
            committer.close()

    threads = [threading.Thread(target=write, args=(10 * number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert names(engine) == {f"{number}" for number in range(40)}
