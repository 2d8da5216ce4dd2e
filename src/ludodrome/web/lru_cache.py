"""A thread-safe LRU cache with a time limit. What must outlast the server belongs to ``store/``."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")

ID_BYTES = 9
"""Random bytes of an id: too many to guess."""


class LruCache(Generic[Value]):
    """Values by key, at most ``capacity`` of them, each for ``seconds`` after its last use.

    ``on_evict`` gets every value that leaves the cache, replaced ones included.
    """

    def __init__(
        self,
        capacity: int,
        seconds: float,
        on_evict: Callable[[Value], None] = lambda value: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._capacity, self._seconds, self._on_evict, self._clock = capacity, seconds, on_evict, clock
        self._entries: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        """The time of the last use, and the value; the least recently used first."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @staticmethod
    def new_id() -> str:
        """A new random key."""
        return secrets.token_urlsafe(ID_BYTES)

    def put(self, key: str, value: Value) -> None:
        """Insert a value as the most recently used; evict what it replaces, and what is expired or too much."""
        with self._lock:
            replaced = self._entries.pop(key, None)
            self._entries[key] = (self._clock(), value)
            evicted = self._trim()
        if replaced is not None and replaced[1] is not value:
            evicted.append(replaced[1])
        for one in evicted:
            self._on_evict(one)

    def get(self, key: str) -> Value | None:
        """The value of a key, now the most recently used; None if there is none or it has expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or self._clock() - entry[0] > self._seconds:
                return None
            self._entries[key] = (self._clock(), entry[1])
            self._entries.move_to_end(key)
            return entry[1]

    def peek(self, key: str) -> Value | None:
        """The value of a key, expired or not; this is no use of it."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry[1]

    def values(self) -> list[Value]:
        """All values, the least recently used first."""
        with self._lock:
            return [value for _, value in self._entries.values()]

    def clear(self) -> None:
        """Evict everything."""
        with self._lock:
            evicted = [value for _, value in self._entries.values()]
            self._entries.clear()
        for one in evicted:
            self._on_evict(one)

    def _trim(self) -> list[Value]:
        """Remove what is expired or over capacity. The lock is held."""
        evicted = []
        for key, (used, value) in list(self._entries.items()):
            if len(self._entries) <= self._capacity and self._clock() - used <= self._seconds:
                break
            del self._entries[key]
            evicted.append(value)
        return evicted
