"""Locks and notifications between threads and coroutines, and threads that callers share.

Compiled kernels release the GIL at every call. When many threads do that at once, each waits for all others at every
kernel, and a move of half a millisecond takes a hundred. So short work holds the kernel lock, and releases it while it
waits for the disk.
"""

import asyncio
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

_log = logging.getLogger(__name__)


class KernelLock:
    """A reentrant lock that its holder can release for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock."""
        if getattr(self._mine, "held", False):
            yield
            return
        with self._lock:
            self._mine.held = True
            try:
                yield
            finally:
                self._mine.held = False

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the lock for a while, if the calling thread holds it."""
        if not getattr(self._mine, "held", False):
            yield
            return
        self._mine.held = False
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
            self._mine.held = True


class Notifier:
    """A condition that threads notify and coroutines wait for."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def notify_all(self) -> None:
        """Wake all waiting coroutines. Thread-safe."""
        for loop, event in list(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self, changed: Callable[[], bool], seconds: float) -> None:
        """Wait until notified, at most ``seconds``; not at all if ``changed()`` holds."""
        mine = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(mine)
        try:
            if not changed():
                async with asyncio.timeout(seconds):  # cheaper than the extra task of wait_for
                    await mine[1].wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(mine)


class FairExecutor:
    """An executor for calls of many owners: those who have fewer calls running come first.

    ``share``: calls of one owner that run at once, so that one thread is free for somebody else.
    """

    def __init__(self, executor: Executor, share: int) -> None:
        self._executor, self._share = executor, share
        self._lock = threading.Lock()
        self._waiting: dict[str | None, deque[Callable[[], Any]]] = {}
        self._running = Counter[str | None]()

    def submit(self, owner: str | None, call: Callable[[], Any]) -> None:
        """Submit a call; None has no share."""
        with self._lock:
            self._waiting.setdefault(owner, deque()).append(call)
        self._executor.submit(self._work)

    def _work(self) -> None:
        """Run waiting calls until none may run. Whoever ends a call looks for the next."""
        while (found := self._next()) is not None:
            owner, call = found
            try:
                call()
            except Exception:
                _log.exception("a call of the fair executor failed")
            with self._lock:
                self._running[owner] -= 1
                if not self._running[owner]:
                    del self._running[owner]

    def _next(self) -> tuple[str | None, Callable[[], Any]] | None:
        with self._lock:
            free = [one for one in self._waiting if one is None or self._running[one] < self._share]
            if not free:
                return None
            owner = min(free, key=lambda one: self._running[one])  # the first of those who wait longest
            call = self._waiting[owner].popleft()
            queue = self._waiting.pop(owner)
            if queue:
                self._waiting[owner] = queue  # behind the others
            self._running[owner] += 1
            return owner, call
