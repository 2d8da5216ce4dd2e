"""One at a time: short work in many threads, without their getting into each other's way.

Compiled kernels let the interpreter go at every call. When many threads do that at once, each waits for all others at
every kernel, and a move that takes half a millisecond takes a hundred. So whoever works has the floor, and steps off
it while waiting for the disk.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class KernelLock:
    """Held by one thread at a time; a thread that holds it may take it again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The thread that calls works."""
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
        """The thread that calls waits for something, and others may work."""
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


# Waking those who wait for something to change.


class Notifier:
    """May be rung from any thread; those who wait are coroutines."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def notify_all(self) -> None:
        """Everybody who waits goes on."""
        for loop, event in list(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self, changed: Callable[[], bool], seconds: float) -> None:
        """Until the notifier rings, unless ``changed`` is true by then; at most so long."""
        mine = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(mine)
        try:
            if not changed():
                async with asyncio.timeout(seconds):  # a task of its own, as by wait_for, would cost more than all else
                    await mine[1].wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(mine)
