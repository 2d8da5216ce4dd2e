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

    ``on_evict`` gets every value that leaves the cache, replaced ones included. ``share``: values of one owner, at
    most; an owner who inserts more evicts their own least recently used ones, and nobody else's.
    """

    def __init__(
        self,
        capacity: int,
        seconds: float,
        on_evict: Callable[[Value], None] = lambda value: None,
        clock: Callable[[], float] = time.monotonic,
        share: int | None = None,
    ) -> None:
        self._capacity, self._seconds, self._on_evict, self._clock = capacity, seconds, on_evict, clock
        self._share = capacity if share is None else share
        self._entries: OrderedDict[str, tuple[float, Value, str | None]] = OrderedDict()
        """The time of the last use, the value, and its owner; the least recently used first."""
        self._owned: dict[str, OrderedDict[str, None]] = {}
        """The keys of each owner; the least recently used first."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @staticmethod
    def new_id() -> str:
        """A new random key."""
        return secrets.token_urlsafe(ID_BYTES)

    def put(self, key: str, value: Value, owner: str | None = None) -> None:
        """Insert a value as the most recently used; evict what it replaces, and what is expired or too much."""
        with self._lock:
            replaced = self._pop(key) if key in self._entries else value
            self._entries[key] = (self._clock(), value, owner)
            evicted = []
            if owner is not None:
                mine = self._owned.setdefault(owner, OrderedDict())
                mine[key] = None
                while len(mine) > self._share:
                    evicted.append(self._pop(next(iter(mine))))
            evicted += self._trim()
        if replaced is not value:
            evicted.append(replaced)
        for one in evicted:
            self._on_evict(one)

    def get(self, key: str) -> Value | None:
        """The value of a key, now the most recently used; None if there is none or it has expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or self._clock() - entry[0] > self._seconds:
                return None
            _, value, owner = entry
            self._entries[key] = (self._clock(), value, owner)
            self._entries.move_to_end(key)
            if owner is not None:
                self._owned[owner].move_to_end(key)
            return value

    def peek(self, key: str) -> Value | None:
        """The value of a key, expired or not; this is no use of it."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry[1]

    def values(self) -> list[Value]:
        """All values, the least recently used first."""
        with self._lock:
            return [value for _, value, _ in self._entries.values()]

    def clear(self) -> None:
        """Evict everything."""
        with self._lock:
            evicted = [value for _, value, _ in self._entries.values()]
            self._entries.clear()
            self._owned.clear()
        for one in evicted:
            self._on_evict(one)

    def _trim(self) -> list[Value]:
        """Remove what is expired or over capacity. The lock is held."""
        evicted = []
        for key, (used, _, _) in list(self._entries.items()):
            if len(self._entries) <= self._capacity and self._clock() - used <= self._seconds:
                break
            evicted.append(self._pop(key))
        return evicted

    def _pop(self, key: str) -> Value:
        """Remove an entry; returns its value. The lock is held."""
        _, value, owner = self._entries.pop(key)
        if owner is not None:
            mine = self._owned[owner]
            del mine[key]
            if not mine:
                del self._owned[owner]
        return value
