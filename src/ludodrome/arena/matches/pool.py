"""Handing work out to workers, whoever they are, and taking it back in the order in which it is finished.

An *agenda* says what is to be done next and takes the results; it may think of more as they come in. Workers die:
what they had is handed out again, and only what has killed several that did nothing else is given up. No more is handed
out than two jobs a worker, so that Ctrl-C need not wait.
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
"""Jobs that are handed out for each worker: one that it does and one that lies ready."""
MOST_DEATHS = 3
"""A job that has killed so many workers, each of which did nothing else, is given up."""
GLANCE = 0.1
"""Seconds between two looks at whether somebody wants to stop."""


class Job(NamedTuple):
    """A call that a worker makes: a module-level function of one argument that can be sent."""

    name: str
    """Of no other job."""
    function: Callable[[Any], Any]
    argument: Any


class JobSource(Protocol):
    """What is to be done."""

    @property
    def enough(self) -> bool:
        """Whether the rest may be dropped, what is being done now as well."""

    def next(self) -> Job | None:
        """The next job; None if there is none now. When all results are in and there still is none, it is over."""

    def done(self, job: Job, result: Any) -> None:
        """A job is finished."""

    def failed(self, job: Job, why: str) -> None:
        """A job was given up: it raised an error, or killed its workers; ``why`` is a sentence."""


class ClusterLost(ValueError):
    """The executor does not take work any more. What was finished is kept."""


def run(agenda: JobSource, workers: Workers, glance: Callable[[], None] = lambda: None) -> None:
    """Does all that is on the agenda. ``glance`` is called several times a second.

    Ctrl-C ends it with KeyboardInterrupt after all that is finished was taken; what is still being done is dropped.
    """
    floor = _Floor(agenda, workers)
    try:
        with _interruption() as interrupted:
            while not (interrupted.is_set() or agenda.enough) and floor.hand_out():
                floor.take_back(GLANCE)
                glance()
            floor.take_back(0)
        if interrupted.is_set():
            raise KeyboardInterrupt
    finally:
        floor.close()


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, instead of breaking in while a result is written down. A second Ctrl-C breaks in."""
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


class _Floor:
    """Who has what."""

    def __init__(self, agenda: JobSource, workers: Workers) -> None:
        self.agenda, self.workers = agenda, workers
        self.executor: Executor | None = None
        self.given: dict[Future[Any], Job] = {}
        self.suspects: deque[Job] = deque()
        """Jobs that some worker had when it died. They are done one at a time, so that the guilty one is known."""
        self.alone: Job | None = None
        self.deaths: Counter[str] = Counter()
        self.given_up = 0
        self.any_success = False

    def hand_out(self) -> bool:
        """Gives the workers all that they may have; whether there is anything to wait for."""
        if self.suspects:
            if not self.given:
                self.alone = self.suspects.popleft()
                self.give(self.alone)
            return True
        while self.alone is None and len(self.given) < AHEAD * self.workers.width:
            job = self.agenda.next()
            if job is None:
                break
            self.give(job)
        return bool(self.given or self.suspects)

    def give(self, job: Job) -> None:
        """To the executor, a new one if the last one broke."""
        if self.executor is None:
            self.executor = self.workers.open()
        try:
            future = self.executor.submit(work, job.function, job.argument)
        except Exception as error:
            if not self.workers.is_loss(error):
                raise ClusterLost(f"no more work is taken: {error}") from error
            self.lose(job, error)
        else:
            self.given[future] = job

    def take_back(self, patience: float) -> None:
        """Takes what is finished, after so many seconds at most."""
        finished, _ = wait(self.given, patience, FIRST_COMPLETED)
        for future in finished:
            job = self.given.pop(future)
            try:
                result = future.result()
            except Exception as error:
                self.lose(job, error)
            else:
                self.any_success = True
                self.forgive(job)
                self.agenda.done(job, result)

    def lose(self, job: Job, error: Exception) -> None:
        """A job did not come back: hands it out again if a worker was lost, else gives it up."""
        if not self.workers.is_loss(error):
            if isinstance(error, BrokenExecutor | CancelledError):
                raise ClusterLost("the workers have dropped what they were given; are they still there?") from error
            self.forgive(job)
            self.agenda.failed(job, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
            return
        if isinstance(error, BrokenExecutor):
            self.discard()
        if job is not self.alone:
            self.suspects.append(job)
            return
        self.alone = None
        self.deaths[job.name] += 1
        if self.deaths[job.name] < MOST_DEATHS:
            self.suspects.appendleft(job)
            return
        self.given_up += 1
        if self.given_up >= MOST_DEATHS and not self.any_success:
            raise ClusterLost("every worker dies, whatever it is given; nothing was played")
        self.agenda.failed(job, f"{MOST_DEATHS} workers in a row died while they did nothing but this")

    def forgive(self, job: Job) -> None:
        """It came back."""
        self.deaths.pop(job.name, None)
        if job is self.alone:
            self.alone = None

    def discard(self) -> None:
        """Ends an executor that broke. The other jobs that it had come back with the same error, or are finished."""
        if self.executor is not None:
            broken, self.executor = self.executor, None
            self.workers.end(broken)

    def close(self) -> None:
        """Ends the executor."""
        if self.executor is not None:
            self.workers.end(self.executor)
