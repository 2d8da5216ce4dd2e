"""Dispatch jobs to workers and take the results as they finish.

A *job source* names the next job and takes results, which may lead to more jobs. If a worker dies, its jobs are
dispatched again; a job that kills several workers while it runs alone is given up. Each worker holds at most two jobs,
so Ctrl-C ends quickly.
"""

import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.matches.workers import Workers, work

AHEAD = 2
"""Jobs per worker: one running, one waiting."""
MAX_DEATHS = 3
"""A job that has killed this many workers, each while it ran alone, is given up."""
WORKERS_DIED = f"{MAX_DEATHS} workers in a row died while running only this"
"""Why a job is given up ..."""
WORKERS_KILLED = f"{MAX_DEATHS} workers in a row were killed while running only this"
"""... if nothing but a signal from outside ended them: neither a fault of their own nor a lack of memory."""
TICK_SECONDS = 0.1
"""Seconds between two checks for Ctrl-C, and between two calls of ``on_tick``."""


class Job(NamedTuple):
    """A call for a worker: a module-level function with one picklable argument."""

    name: str
    """Unique."""
    function: Callable[[Any], Any]
    argument: Any


class JobSource(Protocol):
    """Where jobs come from, and where results go."""

    @property
    def stopping(self) -> bool:
        """Whether it is over: running jobs may be dropped too."""

    def next(self) -> Job | None:
        """The next job; None if there is none now. If there is none and all results are in, the run ends."""

    def done(self, job: Job, result: Any) -> None:
        """Take the result of a job."""

    def failed(self, job: Job, why: str) -> bool | None:
        """Take the failure of a job that raised an error or killed its workers; ``why`` is a sentence.

        Return True if the failure is explained, so that it says nothing about other jobs.
        """


class ClusterLost(ValueError):
    """The executor takes no more work. Finished results are kept."""


def run(source: JobSource, workers: Workers, on_tick: Callable[[], None] = lambda: None) -> None:
    """Run all jobs. ``on_tick`` is called after results arrive, and at least ten times a second.

    Ctrl-C raises KeyboardInterrupt after all finished results were taken; running jobs are dropped.
    """
    dispatcher = _Dispatcher(source, workers)
    try:
        with _interruption() as interrupted:
            while not (interrupted.is_set() or source.stopping) and dispatcher.dispatch():
                dispatcher.collect(TICK_SECONDS)
                on_tick()
            dispatcher.collect(0)
        if interrupted.is_set():
            raise KeyboardInterrupt
    finally:
        dispatcher.close()


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, so that no write is interrupted. A second one raises KeyboardInterrupt."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: Any) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    signal.signal(signal.SIGINT, stop)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


class _Dispatcher:
    """The jobs in flight."""

    def __init__(self, source: JobSource, workers: Workers) -> None:
        self.source, self.workers = source, workers
        self.executor: Executor | None = None
        self.in_flight: dict[Future[Any], Job] = {}
        self.suspects: deque[Job] = deque()
        """Jobs that were in flight when a worker died. They run one at a time, to find the one that kills workers."""
        self.alone: Job | None = None
        self.deaths: Counter[str] = Counter()
        self.given_up = 0
        self.any_success = False

    def dispatch(self) -> bool:
        """Dispatch as many jobs as allowed; return whether there is anything to wait for."""
        if self.suspects:
            if not self.in_flight:
                self.alone = self.suspects.popleft()
                self.submit(self.alone)
            return True
        while self.alone is None and len(self.in_flight) < AHEAD * self.workers.width:
            job = self.source.next()
            if job is None:
                break
            self.submit(job)
        return bool(self.in_flight or self.suspects)

    def submit(self, job: Job) -> None:
        """Submit a job, to a new executor if the last one broke."""
        if self.executor is None:
            self.executor = self.workers.open()
        try:
            future = self.executor.submit(work, job.function, job.argument)
        except Exception as error:
            if not self.workers.is_loss(error):
                raise ClusterLost(f"the workers take no more jobs: {error}") from error
            self.lose(job, error)
        else:
            self.in_flight[future] = job

    def collect(self, patience: float) -> None:
        """Take finished results; wait at most ``patience`` seconds for the first."""
        finished, _ = wait(self.in_flight, patience, FIRST_COMPLETED)
        for future in finished:
            job = self.in_flight.pop(future)
            try:
                result = future.result()
            except Exception as error:
                self.lose(job, error)
            else:
                self.any_success = True
                self.forgive(job)
                self.source.done(job, result)

    def lose(self, job: Job, error: Exception) -> None:
        """Handle a job without a result: dispatch it again if a worker was lost, else give it up."""
        if not self.workers.is_loss(error):
            if isinstance(error, BrokenExecutor | CancelledError):
                raise ClusterLost("the workers dropped their jobs; are they still running?") from error
            self.forgive(job)
            self.source.failed(job, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
            return
        if isinstance(error, BrokenExecutor):
            self.discard()
        if job is not self.alone:
            self.suspects.append(job)
            return
        self.alone = None
        self.deaths[job.name] += 1
        if self.deaths[job.name] < MAX_DEATHS:
            self.suspects.appendleft(job)
            return
        killed = getattr(self.workers, "were_killed", False)
        if self.source.failed(job, WORKERS_KILLED if killed else WORKERS_DIED) is True:
            self.any_success = True
            return
        self.given_up += 1
        if self.given_up >= MAX_DEATHS and not self.any_success:
            raise ClusterLost("every worker dies, whatever its job; nothing was played")

    def forgive(self, job: Job) -> None:
        """Clear a job of suspicion."""
        self.deaths.pop(job.name, None)
        if job is self.alone:
            self.alone = None

    def discard(self) -> None:
        """End a broken executor. Its other jobs fail with the same error or are finished."""
        if self.executor is not None:
            broken, self.executor = self.executor, None
            self.workers.end(broken)

    def close(self) -> None:
        """End the executor."""
        if self.executor is not None:
            self.workers.end(self.executor)
