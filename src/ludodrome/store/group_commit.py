"""Group commits: one thread writes all waiting work in one transaction, then completes the futures.

A commit waits for the disk, so small writes that arrive together share one. Each is still all or nothing, and its
future completes only after the commit.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby
from queue import SimpleQueue
from typing import Any

from sqlalchemy import Connection, Engine, Executable


@dataclass(frozen=True, slots=True)
class RowInsert:
    """One row for a statement; adjacent rows of the same statement are executed together."""

    statement: Executable
    values: dict[str, Any]


Work = Callable[[Connection], None] | RowInsert

MAX_GROUP = 200
GATHERING = 0.01
"""Minimum seconds between two commits; work that arrives meanwhile shares the next one. A lone write does not wait."""


class GroupCommitter:
    """The thread that writes to one database. It starts with the first work and ends with ``close`` or the process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[tuple[Work, Future[None]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def commit(self, work: Work) -> None:
        """Write work and return once it is committed; raise what it raised, and then nothing of it is written."""
        self.submit(work).result()

    def submit(self, work: Work) -> "Future[None]":
        """Write work later. Its future cannot be cancelled: submitted work is always written."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="group-commit", daemon=True)
                self._thread.start()
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        self._waiting.put((work, done))
        return done

    def close(self) -> None:
        """Wait until all submitted work is written, and end the thread."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            thread.join()

    def _run(self) -> None:
        earliest = 0.0
        while (first := self._waiting.get()) is not None:
            time.sleep(max(0.0, earliest - time.monotonic()))
            group, ends = [first], False
            while len(group) < MAX_GROUP and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    ends = True
                    break
                group.append(more)
            self._write(group)
            earliest = time.monotonic() + GATHERING
            if ends:
                return

    def _write(self, group: list[tuple[Work, "Future[None]"]]) -> None:
        try:
            with self._engine.begin() as connection:
                _carry_out(connection, [work for work, _ in group])
        except BaseException as error:  # whatever it is, it belongs to the work, and the thread goes on
            if len(group) == 1:
                group[0][1].set_exception(error)
                return
            for one in group:  # one of them cannot be written: write each in a transaction of its own
                self._write([one])
        else:
            for _, done in group:
                done.set_result(None)


def _carry_out(connection: Connection, works: list[Work]) -> None:
    """Execute all works in order."""
    for statement, some in groupby(works, lambda work: work.statement if isinstance(work, RowInsert) else None):
        if statement is not None:
            connection.execute(statement, [work.values for work in some if isinstance(work, RowInsert)])
            continue
        for work in some:
            assert not isinstance(work, RowInsert)
            work(connection)
