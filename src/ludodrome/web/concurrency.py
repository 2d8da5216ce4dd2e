"""Locks, notifications, shared threads, caches and open connections, for threads and coroutines.

Compiled kernels release the GIL at every call. When many threads do that at once, each waits for all others at every
kernel, and a move of half a millisecond takes a hundred. So short work holds the kernel lock, and releases it while it
waits for the disk.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

    @property
    def is_awaited(self) -> bool:
        """Whether a coroutine waits."""
        return bool(self._waiting)

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


# A cache. What must outlast the server belongs to ``store/``.

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

    def discard(self, key: str) -> None:
        """Evict the value of a key, if there is one."""
        with self._lock:
            evicted = [self._pop(key)] if key in self._entries else []
        for one in evicted:
            self._on_evict(one)

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


# Open WebSockets and streams. They end within a second when whoever opened them is banned, signed out or revoked, in
# this process or another.


POLICY_VIOLATION = 1008
"""Close code of a WebSocket that is not allowed."""
Key = tuple[str, str]
"""A topic of announcements and a subject: an account, a token or a bot."""
Check = Callable[[], Awaitable[bool]]
ENDED = "this session or token is no longer valid: sign in or connect again"
TRIES, TRY_AGAIN = 5, 0.2
"""How often, and after how many seconds, a check is repeated that the database could not answer."""
CHECKS = 8
"""Checks at once."""
MEMORY_SECONDS = 60.0
"""Seconds that an announcement is remembered, for callers that are being identified meanwhile."""


@dataclass(frozen=True, slots=True)
class ConnectionProof:
    """Why a connection is allowed: what it depends on, and a check whether it still is."""

    keys: frozenset[Key]
    is_valid: Check


def hold(
    connection: HTTPConnection, keys: frozenset[Key], is_valid: Callable[[], Awaitable[bool]], begun: float
) -> None:
    """Let a connection stay open as long as ``is_valid``; ``begun``: when that was first looked up (monotonic)."""
    if not keys:
        connection.state.proof = None
        return
    connection.state.proof = ConnectionProof(keys, is_valid)
    one: OpenConnection | None = getattr(connection.state, "open_connection", None)
    if one is not None:
        sockets: OpenSockets = connection.app.state.sockets
        sockets.held(one, begun)


class OpenConnection:
    """A WebSocket or a response between the server and the app, which can be ended from outside."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self._receive, self._send = scope, receive, send
        self.is_open = scope["type"] == "websocket"
        """Whether it outlasts its first answer: a WebSocket, or a stream that has begun."""
        self._revoked = self._ended = False

    @property
    def proof(self) -> ConnectionProof | None:
        """Why it is allowed; None if anybody may have it."""
        found: ConnectionProof | None = self.scope["state"].get("proof")
        return found

    async def receive(self) -> Message:
        """The next message to the app; after the end, nothing but the disconnect."""
        message = None if self._ended else await self._receive()
        if message is not None and not self._ended:
            return message
        if self.scope["type"] == "websocket":
            return {"type": "websocket.disconnect", "code": POLICY_VIOLATION, "reason": ENDED}
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """The next message of the app; after the end, it goes nowhere."""
        if not self._ended:
            if message["type"] == "http.response.body":
                self.is_open = bool(message.get("more_body", False))
            await self._send(message)
            if self._revoked:
                await self.end()

    async def end(self) -> None:
        """Close a WebSocket with a sentence, complete a stream; a response that is no stream (yet) goes on."""
        self._revoked = True
        if self._ended or not self.is_open:
            return
        self._ended = True
        if self.scope["type"] == "websocket":
            await self._send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ENDED})
        else:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class OpenSockets:
    """The open connections of this process. ``announced`` and ``look`` may be called from any thread."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._open: set[OpenConnection] = set()
        self._recent: dict[Key, float] = {}
        """When a key was last announced."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(CHECKS)

    def __len__(self) -> int:
        return sum(one.is_open for one in self._open)

    def announced(self, topic: str, subject: str) -> None:
        """Check the connections that depend on an account, a token or a bot."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._announced, (topic, subject))

    def look(self) -> None:
        """Check all connections: announcements may have been missed."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._look)

    def held(self, one: OpenConnection, begun: float) -> None:
        """A connection has got its proof, looked up since ``begun``: check again if that was announced meanwhile."""
        if one.proof is not None and any(self._recent.get(key, 0.0) >= begun for key in one.proof.keys):
            self._check(one)

    def add(self, one: OpenConnection) -> None:
        """A connection has begun."""
        self._open.add(one)

    def remove(self, one: OpenConnection) -> None:
        """A connection is over."""
        self._open.discard(one)

    def _announced(self, key: Key) -> None:
        moment = time.monotonic()
        self._recent = {old: at for old, at in self._recent.items() if at > moment - MEMORY_SECONDS}
        self._recent[key] = moment
        for one in list(self._open):
            if one.proof is not None and key in one.proof.keys:
                self._check(one)

    def _look(self) -> None:
        for one in list(self._open):
            if one.proof is not None:
                self._check(one)

    def _check(self, one: OpenConnection) -> None:
        task = asyncio.get_running_loop().create_task(self._end_unless_valid(one))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_unless_valid(self, one: OpenConnection) -> None:
        proof = one.proof
        if proof is None:
            return
        for _ in range(TRIES):
            try:
                async with self._slots:
                    valid = await proof.is_valid()
                break
            except Exception:
                _log.exception("an open connection could not be checked")
                await asyncio.sleep(TRY_AGAIN)
        else:
            valid = False
        if not valid and one in self._open:
            with suppress(RuntimeError, OSError):  # the other side may have closed it
                await one.end()


class OpenSocketsMiddleware:
    """Registers every connection with the ``OpenSockets``."""

    def __init__(self, app: ASGIApp, sockets: OpenSockets) -> None:
        self._app, self._sockets = app, sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        one = scope["state"]["open_connection"] = OpenConnection(scope, receive, send)
        self._sockets.add(one)
        try:
            await self._app(scope, one.receive, one.send)
        finally:
            self._sockets.remove(one)
