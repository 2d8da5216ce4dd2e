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

from ludodrome.store.announcements import announce_all


@dataclass(frozen=True, slots=True)
class RowInsert:
    """One row for a statement; adjacent rows of the same statement are executed together."""

    statement: Executable
    values: dict[str, Any]


Work = Callable[[Connection], None] | RowInsert
Subject = tuple[str, str]
"""The topic and the subject of an announcement."""


@dataclass(frozen=True, slots=True)
class WriteJob:
    """Work, what to announce with it, and the future to complete."""

    work: Work
    subject: Subject | None
    done: "Future[None]"


Jobs = SimpleQueue[WriteJob | None]
"""None ends the thread."""

MAX_GROUP = 200
MIN_COMMIT_INTERVAL = 0.01
"""Minimum seconds between two commits. Work that arrives meanwhile shares the next one; work that arrives later is
written at once."""


class GroupCommitter:
    """The thread that writes to one database. It starts with the first work and ends with ``close`` or the process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: Jobs = SimpleQueue()
        """The queue of the running thread; the next thread gets a new one."""
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def commit(self, work: Work, subject: Subject | None = None) -> None:
        """Write work and wait for the commit. If it fails, re-raise its exception; the transaction is rolled back."""
        self.submit(work, subject).result()

    def submit(self, work: Work, subject: Subject | None = None) -> "Future[None]":
        """Write work later. The future completes after the commit or with the exception of the work.

        It cannot be cancelled. ``subject`` is announced by the same commit.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        with self._lock:  # put under the lock: after close, no thread would read this queue
            if self._thread is None:
                self._jobs = SimpleQueue()
                self._thread = threading.Thread(target=self._run, args=(self._jobs,), name="group-commit", daemon=True)
                self._thread.start()
            self._jobs.put(WriteJob(work, subject, done))
        return done

    def close(self) -> None:
        """Wait until all submitted work is done, and end the thread. Later work starts a new one."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self, jobs: Jobs) -> None:
        earliest = 0.0
        while (first := jobs.get()) is not None:
            time.sleep(max(0.0, earliest - time.monotonic()))
            group, ends = [first], False
            while len(group) < MAX_GROUP and not jobs.empty():
                more = jobs.get()
                if more is None:
                    ends = True
                    break
                group.append(more)
            self._write(group)
            earliest = time.monotonic() + MIN_COMMIT_INTERVAL
            if ends:
                return

    def _write(self, group: list[WriteJob]) -> None:
        try:
            with self._engine.begin() as connection:
                _execute(connection, [job.work for job in group])
                _announce(connection, [job.subject for job in group if job.subject is not None])
        except BaseException as error:  # deliver any failure to the caller's future; keep the thread alive
            if len(group) == 1:
                group[0].done.set_exception(error)
                return
            for one in group:  # one of them cannot be written: write each in a transaction of its own
                self._write([one])
        else:
            for job in group:
                job.done.set_result(None)


def _announce(connection: Connection, subjects: list[Subject]) -> None:
    for topic in dict.fromkeys(topic for topic, _ in subjects):
        announce_all(connection, topic, [subject for about, subject in subjects if about == topic])


def _execute(connection: Connection, jobs: list[Work]) -> None:
    """Execute all jobs in order, adjacent rows of the same statement together."""
    for statement, some in groupby(jobs, lambda work: work.statement if isinstance(work, RowInsert) else None):
        if statement is not None:
            connection.execute(statement, [work.values for work in some if isinstance(work, RowInsert)])
            continue
        for work in some:
            assert not isinstance(work, RowInsert)
            work(connection)
