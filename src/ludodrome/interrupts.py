"""Ctrl-C and the compiler: LLVM crashes at its next use if it is interrupted, so Ctrl-C waits until it is done.

``jit.py`` calls ``hold_while_compiling`` once; programs with worker threads call ``end_compiling`` before they exit.
"""

import signal
import threading
from types import FrameType
from typing import Any

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

_event: Any = event
_lock: Any = global_compiler_lock
_LOCK = "numba:compiler_lock"
"""What Numba calls the times in which it compiles, or loads what it has compiled before."""


def hold_while_compiling() -> None:
    """Delay Ctrl-C until the current compilation is done; a second Ctrl-C ends the process at once."""
    _event.register(_LOCK, _Hold())


def end_compiling() -> None:
    """Wait for the current compilation, and let no other thread begin one: this process is about to end.

    A process that ends while a thread is in the compiler may crash.
    """
    _lock.acquire()


class _Hold(_event.Listener):  # type: ignore[misc]
    """Replaces the handler of Ctrl-C while the main thread, which receives it, holds the compiler lock."""

    def __init__(self) -> None:
        self._depth = 0
        self._before: Any = None
        self._caught: tuple[int, FrameType | None] | None = None

    def on_start(self, event: Any) -> None:
        """The main thread asks for the lock, possibly nested."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0:
            self._caught = None
            handler = signal.getsignal(signal.SIGINT)
            self._before = handler if callable(handler) else None  # else the signal is ignored, or ends the process
            if self._before is not None:
                signal.signal(signal.SIGINT, self._catch)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """The main thread released the lock: after the outermost release, handle a Ctrl-C that came meanwhile."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._caught is not None:
                self._before(*self._caught)

    def _catch(self, number: int, frame: FrameType | None) -> None:
        if self._caught is not None:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._caught = (number, frame)
