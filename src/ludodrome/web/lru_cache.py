"""Things that live in memory for a while: a cache with so many places, from which the longest untouched falls off.

What must outlast the server belongs to ``store/``.
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")

ID_BYTES = 9
"""Of an id: long enough that nobody guesses one."""


class LruCache(Generic[Thing]):
    """Things by id. Looking at one makes it the youngest."""

    def __init__(
        self,
        places: int,
        seconds: float,
        drop: Callable[[Thing], None] = lambda thing: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places, self._seconds, self._drop, self._clock = places, seconds, drop, clock
        self._things: OrderedDict[str, tuple[float, Thing]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._things)

    @staticmethod
    def new_id() -> str:
        """An id for a thing that is about to be put here."""
        return secrets.token_urlsafe(ID_BYTES)

    def put(self, name: str, thing: Thing) -> None:
        """Keep a thing; what is too old or too much falls off."""
        with self._lock:
            self._things[name] = (self._clock(), thing)
            fallen = self._overdue()
        for one in fallen:
            self._drop(one)

    def get(self, name: str) -> Thing | None:
        """The thing of that id, if it is still here."""
        with self._lock:
            kept = self._things.get(name)
            if kept is None or self._clock() - kept[0] > self._seconds:
                return None
            self._things[name] = (self._clock(), kept[1])
            self._things.move_to_end(name)
            return kept[1]

    def clear(self) -> None:
        """Everything falls off."""
        with self._lock:
            fallen = [thing for _, thing in self._things.values()]
            self._things.clear()
        for one in fallen:
            self._drop(one)

    def _overdue(self) -> list[Thing]:
        """Takes out what has no place any more. The lock is held."""
        fallen = []
        for name, (touched, thing) in list(self._things.items()):
            if len(self._things) <= self._places and self._clock() - touched <= self._seconds:
                break
            del self._things[name]
            fallen.append(thing)
        return fallen
