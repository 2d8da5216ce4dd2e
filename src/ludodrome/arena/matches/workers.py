"""Where games are played: processes of this machine, or a Dask cluster. Both are ``concurrent.futures`` executors.

``pool.py`` hands the work out; here is what it needs to know of the workers: how many they are, how an executor is
opened, and how it is ended at once.
"""

import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from ludodrome.arena import game_loop
from ludodrome.arena.matches.openings import opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.transports.processes import left_behind, sweep
from ludodrome.games import make

GRACE = 2.0
"""Seconds that a worker has to end its bots before it is ended itself."""
PRELOADED = ["ludodrome.arena.matches.workers", "ludodrome.arena.game_loop", "ludodrome.arena.matches.openings"]
"""What every worker has from the beginning."""
CREW = "LUDODROME_CREW"
"""Whatever the workers of one executor start bears this in its environment."""
NO_SESSION = -1
ANSWER = 10
"""Seconds that a cluster has to answer the first call."""
ASKED_AGAIN = 5.0
"""Seconds after which a cluster is asked anew how many workers it has."""


class Workers(Protocol):
    """Those who play. An executor that broke is replaced by a new one."""

    @property
    def width(self) -> int:
        """How many games they play at once."""

    def open(self) -> Executor:
        """An executor that takes calls of module-level functions."""

    def end(self, executor: Executor) -> None:
        """Ends an executor now; what it was doing is dropped."""

    def is_loss(self, error: BaseException) -> bool:
        """Whether an error means that a worker was lost, and says nothing about the game."""

    def close(self) -> None:
        """They are not needed any more."""


class AnyExecutor:
    """Workers behind an executor that somebody else has opened, and will close."""

    def __init__(self, executor: Executor, width: int) -> None:
        self.executor, self.width = executor, width

    def open(self) -> Executor:
        """The executor; there is no second one if it breaks."""
        return self.executor

    def end(self, executor: Executor) -> None:
        """It is not ours to end."""

    def is_loss(self, error: BaseException) -> bool:
        """A broken executor stays broken, so there is nothing to wait for."""
        return False

    def close(self) -> None:
        """It is not ours to close."""


class InlineWorkers:
    """The calling process: games are played one after another."""

    width = 1

    def open(self) -> Executor:
        """An executor that makes each call at once."""
        return _Inline()

    def end(self, executor: Executor) -> None:
        """Do nothing: no call is ever pending."""

    def is_loss(self, error: BaseException) -> bool:
        """Return False: an error is always one of the game."""
        return False

    def close(self) -> None:
        """Do nothing: nothing is held open."""


class _Inline(Executor):
    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class LocalWorkers:
    """Processes of this machine."""

    def __init__(self, count: int) -> None:
        self.width = count

    def open(self) -> Executor:
        """New processes; they are started when they are needed."""
        return _Processes(self.width)

    def end(self, executor: Executor) -> None:
        """Asks the processes to end their bots and leave, and ends those that do not."""
        assert isinstance(executor, _Processes)
        executor.end()

    def is_loss(self, error: BaseException) -> bool:
        """A process of the pool died."""
        return isinstance(error, BrokenExecutor | CancelledError)

    def close(self) -> None:
        """Nothing is held open."""


class _Processes(ProcessPoolExecutor):
    """Processes that know nothing of Ctrl-C, and leave when their parent has died."""

    def __init__(self, count: int) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(PRELOADED)  # what is imported there need not be imported by every worker
        self._crew = f"{CREW}={secrets.token_hex(8)}"
        super().__init__(count, context, initializer=begin_worker, initargs=(self._crew,))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Processes are started here. They inherit that Ctrl-C is blocked, so that it never meets a half-made one."""
        with _interrupts_blocked():
            return super().submit(function, *arguments, **named)

    def end(self) -> None:
        """Dismisses all processes, and ends those that do not leave, and the bots of those that died.

        Processes that wait for work leave by themselves: two that are disturbed while they read the same queue
        would take each other's bytes.
        """
        workers = list((self._processes or {}).values())
        if not self._pending_work_items:
            self.shutdown(wait=False)
            self._join(workers)
        for process in workers:
            with suppress(OSError, ValueError):
                process.terminate()
        self.shutdown(wait=False, cancel_futures=True)
        self._join(workers)
        for process in workers:
            with suppress(OSError, ValueError, AssertionError):
                if process.is_alive():
                    process.kill()
        self._join(workers)  # a killed process lives for a moment longer
        end_processes_with(self._crew)

    @staticmethod
    def _join(workers: list[Any]) -> None:
        """Waits a little until they have left."""
        deadline = time.monotonic() + GRACE
        for process in workers:
            with suppress(OSError, ValueError, AssertionError):
                process.join(max(0.0, deadline - time.monotonic()))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Dismissed(SystemExit):
    """A worker was told to leave: its bots are ended on the way out."""


def begin_worker(crew: str) -> None:
    """What a worker process does first: Ctrl-C is the parent's alone, SIGTERM means leave, and so does its death."""
    name, _, value = crew.partition("=")
    os.environ[name] = value  # for the bots: this process began without it, and is not taken for one of them
    # A handler that does nothing, not SIG_IGN: the bots that a worker starts must not inherit it.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_follow_parent, args=(crew,), daemon=True).start()


def processes_with(entry: str) -> list[int]:
    """The processes that were born with this in their environment; none where there is no /proc."""
    return left_behind(NO_SESSION, entry.encode())


def end_processes_with(entry: str) -> None:
    """Ends them at once, and waits until they are gone."""
    sweep(NO_SESSION, entry)


def _leave(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: nothing disturbs the way out
    raise Dismissed


def _follow_parent(crew: str) -> None:
    """A worker whose parent was killed would wait for work for ever: it holds the other end of its own queue."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        end_processes_with(crew)
        os._exit(1)


class Cluster:
    """A Dask cluster: its scheduler's address, like ``tcp://host:8786``."""

    def __init__(self, address: str) -> None:
        try:
            distributed = import_module("distributed")
        except ImportError as error:
            raise ValueError(
                "a cluster needs Dask's package distributed: install it with pip install 'ludodrome[cluster]'"
            ) from error
        try:
            self._client: Any = distributed.Client(address, timeout=ANSWER, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"there is no cluster at {address}: {error}") from error
        self._width, self._asked = 1, float("-inf")

    @property
    def width(self) -> int:
        """The threads of all its workers; at least one, since workers may still come."""
        if time.monotonic() - self._asked > ASKED_AGAIN:
            self._width = max(1, sum(self._client.nthreads().values()))
            self._asked = time.monotonic()
        return self._width

    def open(self) -> Executor:
        """The cluster as an executor; every call is made, even if the same one was made before."""
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def end(self, executor: Executor) -> None:
        """What has not begun is cancelled; what has begun ends by itself, unheard."""
        executor.shutdown(wait=False)

    def is_loss(self, error: BaseException) -> bool:
        """Several workers died while they had the task."""
        return isinstance(error, import_module("distributed.scheduler").KilledWorker)

    def close(self) -> None:
        """Leaves the cluster, which goes on."""
        self._client.close()


# What runs in a worker: one call at a time. It is imported there once, before the workers part.
# The functions are module-level, so that they can be sent to any process or machine that has this package.


class OpeningRequest(NamedTuple):
    """An opening to be drawn."""

    game: str
    options: dict[str, Any]
    seed: int
    number: int


def work(function: Callable[[Any], Any], argument: Any) -> Any:
    """The call. A worker that is told to leave ends its bots and goes without another word."""
    try:
        return function(argument)
    except Dismissed:
        os._exit(0)


def play_game(assignment: PlaySpec) -> dict[str, Any]:
    """The record of a game."""
    return game_loop.play(assignment)


def draw_opening(wanted: OpeningRequest) -> list[Any]:
    """The moves of an opening."""
    return opening(make(wanted.game, **wanted.options), wanted.seed, wanted.number)
