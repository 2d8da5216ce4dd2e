"""Locks and notifications between threads and coroutines.

Compiled kernels release the GIL at every call. When many threads do that at once, each waits for all others at every
kernel, and a move of half a millisecond takes a hundred. So short work holds the kernel lock, and releases it while it
waits for the disk.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
