"""One at a time: short work in many threads, without their getting into each other's way.

Compiled kernels let the interpreter go at every call. When many threads do that at once, each waits for all others at
every kernel, and a move that takes half a millisecond takes a hundred. So whoever works has the floor, and steps off
it while waiting for the disk.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Floor:
    """Held by one thread at a time; a thread that holds it may take it again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
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
    def left(self) -> Iterator[None]:
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
