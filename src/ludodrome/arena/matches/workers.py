"""Workers: processes of this machine, a Dask cluster, any executor, or this process; and the calls they make.

``pool.py`` dispatches the jobs. The calls are module-level functions, so that they can be sent to any process or
machine that has this package.
"""

import json
import multiprocessing
import os
import secrets
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ludodrome.arena import game_loop
from ludodrome.arena.clocks import Clock
from ludodrome.arena.matches.openings import DrawnOpening, opening
from ludodrome.arena.play_spec import KEYED, PlaySpec
from ludodrome.arena.transports.child import KeptProcesses
from ludodrome.arena.transports.orphans import become_subreaper, left_behind, sweep
from ludodrome.games import make
from ludodrome.system import core_count

GRACE = 2.0
"""Seconds that a worker has to end its bots before it is killed."""
PRELOADED = ["ludodrome.arena.matches.workers", "ludodrome.arena.game_loop", "ludodrome.arena.matches.openings"]
"""Modules imported once, before the workers are forked."""
MARK_VARIABLE = "LUDODROME_CREW"
"""Environment variable of every process that the workers of one executor start."""
NO_SESSION = -1
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS")
OWN_FAULTS = [-getattr(signal, name) for name in _FAULTS if hasattr(signal, name)]
"""Exit codes of a process that ended by a fault of its own."""
ANSWER = 10
"""Timeout of the first call to a cluster, in seconds."""
ASKED_AGAIN = 5.0
"""Seconds for which the number of a cluster's workers is cached."""


class Workers(Protocol):
    """Where jobs run. A broken executor is replaced by a new one."""

    @property
    def width(self) -> int:
        """Number of jobs that run at once."""

    def open(self) -> Executor:
        """Open an executor that takes calls of module-level functions."""

    def end(self, executor: Executor) -> None:
        """End an executor at once and drop its calls."""

    def is_loss(self, error: BaseException) -> bool:
        """Whether an error means that a worker was lost, and nothing about the game."""

    def close(self) -> None:
        """Release everything."""


class AnyExecutor:
    """The workers of an executor that belongs to the caller."""

    def __init__(self, executor: Executor, width: int) -> None:
        self.executor, self.width = executor, width

    def open(self) -> Executor:
        """Return the executor; there is no second one if it breaks."""
        return self.executor

    def end(self, executor: Executor) -> None:
        """Do nothing: it belongs to the caller."""

    def is_loss(self, error: BaseException) -> bool:
        """Return False: a broken executor stays broken."""
        return False

    def close(self) -> None:
        """Do nothing: it belongs to the caller."""


class InlineWorkers:
    """The calling process: games are played one after another."""

    width = 1

    def open(self) -> Executor:
        """An executor that makes each call at once."""
        return _Inline()

    def end(self, executor: Executor) -> None:
        """End the bots that stayed for another game."""
        _kept.close()

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
    """Worker processes on this machine."""

    def __init__(self, count: int, chosen: bool = True) -> None:
        """``chosen``: whether somebody asked for this number, rather than for no number at all."""
        self.width, self.chosen = count, chosen
        self.were_killed = False
        """Whether the processes of the last pool were killed from outside, if they ended before their time."""
        self._killed_for_memory = 0

    def open(self) -> Executor:
        """Open a process pool; its processes start when they are needed."""
        self._killed_for_memory = killed_for_memory()
        return _Processes(self.width)

    def end(self, executor: Executor) -> None:
        """Ask the processes to end their bots and exit, then kill those that do not."""
        assert isinstance(executor, _Processes)
        executor.end()
        self.were_killed = not executor.had_faults and killed_for_memory() == self._killed_for_memory

    def is_loss(self, error: BaseException) -> bool:
        """Whether a process of the pool died."""
        return isinstance(error, BrokenExecutor | CancelledError)

    def close(self) -> None:
        """Nothing is held open."""


def killed_for_memory() -> int:
    """How many processes the kernel has killed because memory ran out; 0 if it does not say."""
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


class _Processes(ProcessPoolExecutor):
    """Processes that ignore Ctrl-C and exit when their parent has died."""

    had_faults = False
    """Whether one of them ended by a fault of its own."""

    def __init__(self, count: int) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(PRELOADED)
        self._mark = f"{MARK_VARIABLE}={secrets.token_hex(8)}"
        super().__init__(count, context, initializer=begin_worker, initargs=(self._mark,))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Submit a call. Processes start here with Ctrl-C blocked, so that it never hits one that is half started."""
        with _interrupts_blocked():
            return super().submit(function, *arguments, **named)

    def end(self) -> None:
        """End all processes, and the bots of those that died.

        Idle processes exit on their own: two that are signalled while they read the same queue would corrupt it.
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
        self._join(workers)  # a killed process takes a moment to end
        self.had_faults = any(process.exitcode in OWN_FAULTS for process in workers)
        end_processes_with(self._mark)

    @staticmethod
    def _join(workers: list[Any]) -> None:
        """Wait up to ``GRACE`` seconds for them to exit."""
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
    """Raised in a worker that must exit: its bots are ended on the way out."""


def begin_worker(mark: str) -> None:
    """Initialize a worker process: ignore Ctrl-C, exit on SIGTERM and when the parent dies."""
    name, _, value = mark.partition("=")
    os.environ[name] = value  # for the bots; this process started without it, so it is not taken for one of them
    # An empty handler, not SIG_IGN, which the bots would inherit.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    become_subreaper()
    threading.Thread(target=_follow_parent, args=(mark,), daemon=True).start()


def processes_with(entry: str) -> list[int]:
    """Processes that started with this entry in their environment; empty where there is no /proc."""
    return left_behind(NO_SESSION, entry.encode())


def end_processes_with(entry: str) -> None:
    """Kill these processes and wait until they are gone."""
    sweep(NO_SESSION, entry)


def _leave(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise Dismissed


def _follow_parent(mark: str) -> None:
    """Exit when the parent is killed. A worker would wait forever: it holds the other end of its own queue."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        end_processes_with(mark)
        os._exit(1)


class Cluster:
    """A Dask cluster, by the address of its scheduler, like ``tcp://host:8786``."""

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
        """Threads of all its workers; at least one, since workers may still join."""
        if time.monotonic() - self._asked > ASKED_AGAIN:
            self._width = max(1, sum(self._client.nthreads().values()))
            self._asked = time.monotonic()
        return self._width

    def open(self) -> Executor:
        """The cluster as an executor that repeats equal calls."""
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def end(self, executor: Executor) -> None:
        """Cancel calls that have not started; those that have run to their end."""
        executor.shutdown(wait=False)

    def is_loss(self, error: BaseException) -> bool:
        """Whether several workers died while they had the task."""
        return isinstance(error, import_module("distributed.scheduler").KilledWorker)

    def close(self) -> None:
        """Disconnect from the cluster, which goes on."""
        self._client.close()


# Which workers


INLINE_GAMES = 20
"""Up to this many games of instant bots are played in this process: starting workers would take longer."""
WorkersLike = int | str | Executor | Workers | None


@contextmanager
def workers_for(wanted: WorkersLike) -> Iterator[Workers]:
    """Workers for as long as they are needed; those of the caller stay open."""
    if isinstance(wanted, Executor):
        yield AnyExecutor(wanted, getattr(wanted, "_max_workers", None) or core_count())
        return
    if not isinstance(wanted, int | str | None):
        yield wanted
        return
    workers: Workers
    if isinstance(wanted, str):
        workers = Cluster(wanted)
    elif wanted == 0:
        workers = InlineWorkers()
    elif wanted is not None and wanted < 0:
        raise ValueError(f"workers is 0 or more, not {wanted}")
    else:
        _check_main()
        workers = LocalWorkers(wanted) if wanted else LocalWorkers(core_count(), chosen=False)
    try:
        yield workers
    finally:
        workers.close()


def fitted(workers: Workers, games: int, instant: bool, clock: Clock) -> Workers:
    """No more workers than games. If nobody chose a number, a few games of instant bots are played without any."""
    if not isinstance(workers, LocalWorkers):
        return workers
    if workers.chosen:
        warn_if_crowded(workers.width, clock)
    elif instant and games <= INLINE_GAMES:
        return InlineWorkers()
    return LocalWorkers(min(workers.width, games), workers.chosen)


def warn_if_crowded(workers: int, clock: Clock) -> None:
    """Warn if bots that are timed would have to share cores."""
    if clock.runs and workers > core_count():
        warnings.warn(
            f"{workers} workers share {core_count()} cores, so bots lose time on their clocks: with a clock that "
            f"counts time, use at most {core_count()} workers",
            stacklevel=4,
        )


def _check_main() -> None:
    """RuntimeError in a worker process that is importing the caller's script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "worker processes import this script, and it begins a match when it is imported: put the call below "
            'if __name__ == "__main__":, or play with workers=0'
        )


# Calls


class OpeningRequest(NamedTuple):
    """An opening to draw."""

    game: str
    options: dict[str, Any]
    seed: int
    number: int
    version: int = KEYED


def work(function: Callable[[Any], Any], argument: Any) -> Any:
    """Make a call. A worker that must exit ends its bots and exits silently."""
    try:
        return function(argument)
    except Dismissed:
        _kept.close()
        os._exit(0)


def play_game(play_spec: PlaySpec, log: str | None = None) -> dict[str, Any]:
    """Play a game and return its record. Bots that can play several games stay for the next game in this process.

    ``log``: a file to which all lines to and from the bots are appended, as JSON Lines; several workers can share it.
    """
    if log is None:
        return game_loop.play(play_spec, kept=_kept)
    with open(log, "ab", buffering=0) as file:

        def append(entry: dict[str, Any]) -> None:
            file.write(json.dumps(entry).encode() + b"\n")

        return game_loop.play(play_spec, kept=_kept, traffic=append)


_kept = KeptProcesses()


def draw_opening(request: OpeningRequest) -> DrawnOpening:
    """Draw an opening, or take it from the game's book."""
    return opening(make(request.game, **request.options), request.seed, request.number, request.version)
