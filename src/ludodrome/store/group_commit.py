"""Committing in groups: a thread that writes what has gathered in one transaction, and tells everybody when it is done.

A commit waits for the disk, whoever asked for it; so many small facts that come at once share one. Each is still
all or nothing, and whoever handed it in goes on only after its commit.
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
    """One row for a statement; rows of one statement that come together go together."""

    statement: Executable
    values: dict[str, Any]


Work = Callable[[Connection], None] | RowInsert

LARGEST_GROUP = 200
GATHERING = 0.01
"""Seconds from one commit to the next at least: what comes meanwhile gathers. Nobody who comes alone waits for it."""


class GroupCommitter:
    """The thread that writes to one database. It begins with the first work, and ends with the process or ``close``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[tuple[Work, Future[None]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def commit(self, work: Work) -> None:
        """Returns once the work is committed; raises what it raised, and then nothing of it is written."""
        self.hand_in(work).result()

    def hand_in(self, work: Work) -> "Future[None]":
        """The same without waiting."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
                self._thread.start()
        done: Future[None] = Future()
        self._waiting.put((work, done))
        return done

    def close(self) -> None:
        """Waits until everything that was handed in is written."""
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
            while len(group) < LARGEST_GROUP and not self._waiting.empty():
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
        except Exception as error:
            if len(group) == 1:
                group[0][1].set_exception(error)
                return
            for one in group:  # one of them cannot be written, and the others must not suffer for it
                self._write([one])
        else:
            for _, done in group:
                done.set_result(None)


def _carry_out(connection: Connection, works: list[Work]) -> None:
    """All of them, in their order."""
    for statement, some in groupby(works, lambda work: work.statement if isinstance(work, RowInsert) else None):
        if statement is not None:
            connection.execute(statement, [work.values for work in some if isinstance(work, RowInsert)])
            continue
        for work in some:
            assert not isinstance(work, RowInsert)
            work(connection)
