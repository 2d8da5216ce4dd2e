"""Budgets: what one caller may use, over HTTP and WebSockets alike, by address and by account.

A rate is a leaky bucket: an amount at once, refilled within some seconds. Everything else is limited by how much is
open at once. One web process counts in its memory. Several web processes share their counts by the database: the rare
kinds in one transaction each, all others a few times a second, so that their limits are exact up to that interval.
"""

import asyncio
import ipaddress
import logging
import math
import re
import threading
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ludodrome.store import usage
from ludodrome.store.usage import Addition, Bucket
from ludodrome.system import API, is_loopback
from ludodrome.web.auth import OWNER, Caller, caller
from ludodrome.web.concurrency import POLICY_VIOLATION
from ludodrome.web.metrics import route_template

MAX_KEYS = 100_000
"""Buckets that are remembered; the least recently used are forgotten."""
IPV6_NETWORK = 64
"""Prefix length of an IPv6 network that counts as one address."""
EXCHANGE_SECONDS = 0.25
"""Seconds between two exchanges of counts between web processes."""
CONFIRM_SECONDS = 5.0
"""Seconds after which a process confirms what is open, changed or not."""
EXPIRE_SECONDS = 60.0
POLL_SECONDS = 0.1
RETRY_SECONDS = 5
"""When to try again what is refused because too much is open."""
WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")

_log = logging.getLogger(__name__)


class Allowance(NamedTuple):
    """An amount of something per ``seconds``; without seconds, an amount at once."""

    amount: int
    seconds: float | None
    meaning: str = "uses"
    """What is counted, in the plural; for the documentation and for refusals."""
    by: str = "address, account"
    strict: bool = False
    """Count in one transaction with all other processes, because it is rare and must be exact."""


SIGN_IN, SIGN_UP, ANALYSIS, UPLOADS, MATCHES = "sign-in", "sign-up", "analysis", "uploads", "matches"
ATTEMPTS, EXPORTS = "sign-in attempts", "exports"
WRITES, READS, MESSAGES, BOT_MESSAGES, DOWNLOADS = "writes", "reads", "messages", "bot messages", "downloads"
SEARCH_SECONDS, CHECK_SECONDS, READING_SECONDS = "search seconds", "check seconds", "reading seconds"
CONNECTIONS, REQUESTS, SOCKETS, STREAMS = "connections", "requests", "WebSockets", "streams"
SEARCHES, CHECKS, GRADINGS, BOTS_THINKING = "searches", "checks", "gradings", "bots thinking"
READINGS = "readings"
REPLAYS = "replays"
PLAYS_CACHED, PUZZLES_CACHED, RECORDS_CACHED = "plays cached", "puzzles cached", "records cached"
REVIEWS_CACHED, BOTS_CACHED, PROGRAMS = "reviews cached", "bots cached", "programs"
REMOTE_BOTS = "remote bots"
ADDRESS = "address"
GUEST_ADDRESS = "account, or address of a guest"
BUDGETS = {
    SIGN_IN: Allowance(10, 300, "wrong passwords and codes", "address, name, known browser", strict=True),
    ATTEMPTS: Allowance(100, 300, "attempts to sign in, successful ones included", ADDRESS, strict=True),
    EXPORTS: Allowance(10, 3600, "exports of an account's data"),
    SIGN_UP: Allowance(5, 3600, "new accounts", strict=True),
    UPLOADS: Allowance(30, 3600, "bots entered or checked", strict=True),
    MATCHES: Allowance(60, 3600, "requested matches and tournaments", strict=True),
    DOWNLOADS: Allowance(120, 3600, "downloads of all records of a bot"),
    ANALYSIS: Allowance(120, 60, "questions to the engine: analysis, values, gradings, puzzle moves"),
    WRITES: Allowance(600, 60, "other writes: requests, and moves, undos, resignations, rematches over WebSockets"),
    READS: Allowance(3000, 60, "other requests, and WebSockets opened"),
    MESSAGES: Allowance(3000, 60, "messages over WebSockets, pings included"),
    BOT_MESSAGES: Allowance(12_000, 60, "messages of remote bots; further ones wait", "address, bot"),
    SEARCH_SECONDS: Allowance(60, 60, "seconds of the engine"),
    CHECK_SECONDS: Allowance(900, 3600, "seconds of the doctor"),
    READING_SECONDS: Allowance(30, 60, "seconds in which a source is read for the editor"),
    CONNECTIONS: Allowance(400, None, "connections", "address, except behind a proxy"),
    REQUESTS: Allowance(200, None, "requests that are being answered, streams included", ADDRESS),
    SOCKETS: Allowance(200, None, "WebSockets"),
    STREAMS: Allowance(100, None, "streams: events of games, records of a bot, findings of the doctor"),
    SEARCHES: Allowance(3, None, "searches of the engine, running or waiting, of 10"),
    CHECKS: Allowance(1, None, "checks of bots, running or waiting, of 2"),
    READINGS: Allowance(1, None, "sources being read for the editor, of 4; further ones wait"),
    REPLAYS: Allowance(3, None, "replays being prepared, of 8"),
    GRADINGS: Allowance(2, None, "games being graded, running or waiting, of 8"),
    BOTS_THINKING: Allowance(3, None, "bots thinking in games, of 4; further ones wait", GUEST_ADDRESS),
    PLAYS_CACHED: Allowance(100, None, "games in memory, of 1000", GUEST_ADDRESS),
    PUZZLES_CACHED: Allowance(50, None, "attempts at puzzles, of 500", GUEST_ADDRESS),
    RECORDS_CACHED: Allowance(20, None, "uploaded records, of 200", GUEST_ADDRESS),
    REVIEWS_CACHED: Allowance(10, None, "graded games in memory, of 100", GUEST_ADDRESS),
    BOTS_CACHED: Allowance(4, None, "bots that keep their search between moves, of 16", GUEST_ADDRESS),
    PROGRAMS: Allowance(2, None, "uploaded bots that keep running between moves, of 8", GUEST_ADDRESS),
    REMOTE_BOTS: Allowance(2, None, "remote bots reserved by games", GUEST_ADDRESS),
}
"""All budgets. The last seven: a caller who exceeds them evicts their own oldest entries."""
KINDS = (
    (EXPORTS, re.compile(rf"GET {API}/account/export")),
    (SIGN_UP, re.compile(rf"POST {API}/accounts")),
    (ANALYSIS, re.compile(rf"POST {API}/(analysis|values|replays|attempts/.*)|GET {API}/replays/.*/grading")),
    (UPLOADS, re.compile(rf"POST {API}/(checks|bots(/.*)?)")),
    (MATCHES, re.compile(rf"POST {API}/(matches|tournaments)")),
    (DOWNLOADS, re.compile(rf"GET {API}/bots/[^/]+/records")),
)
"""The kind of a request by method and route; the rest are writes and reads. Failures to sign in (``SIGN_IN``) and
attempts (``ATTEMPTS``) are counted by the routes of accounts."""


def budget_table() -> str:
    """All budgets as a table in Markdown, for the documentation."""
    lines = ["| what | at most | counted by |", "| --- | --- | --- |"]
    spans = {60: "a minute", 300: "in 5 minutes", 3600: "an hour"}
    for one in BUDGETS.values():
        per = "at once" if one.seconds is None else spans[int(one.seconds)]
        lines.append(f"| {one.meaning} | {one.amount:,} {per} | {one.by} |")
    return "\n".join(lines)


class Budgets:
    """Counts what callers use. Thread-safe.

    ``engine``: the database by which several web processes share their counts; None for a single process.
    """

    def __init__(
        self,
        allowances: Mapping[str, Allowance] | None = None,
        clock: Callable[[], float] = time.monotonic,
        engine: Engine | None = None,
    ) -> None:
        self._allowances = BUDGETS if allowances is None else allowances
        self._clock, self._engine = clock, engine
        self.process = uuid.uuid4().hex
        """The name of this process in the database."""
        self._lock = threading.Lock()
        self._levels: OrderedDict[Bucket, tuple[float, float]] = OrderedDict()
        """How full a bucket was, and when; the least recently used first."""
        self._open = Counter[Bucket]()
        self._owed: dict[Bucket, float] = {}
        """What the other processes do not know yet."""
        self._changed: set[Bucket] = set()
        """What was opened or closed since the last exchange."""
        self._elsewhere: dict[Bucket, int] = {}
        self._confirmed = self._expired = -math.inf
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def amount(self, kind: str) -> int:
        """The amount of a budget."""
        return self._allowances[kind].amount

    # Rates

    def take(self, kind: str, *keys: str, cost: float = 1.0) -> None:
        """Count a use for these keys; 429 if it is too many. Without keys nothing is counted."""
        if not keys:
            return
        allowance = self._allowances[kind]
        assert allowance.seconds is not None
        if self._engine is not None and allowance.strict:
            additions = {(kind, key): Addition(cost, allowance.amount / allowance.seconds) for key in keys}
            found, good = usage.add_to_levels(self._engine, additions, allowance.amount)
            if not good:
                raise _refusal(kind, allowance, max(found.values()) + cost - allowance.amount)
            return
        with self._lock:
            moment = self._clock()
            fullest = max(self._level((kind, key), allowance, moment) for key in keys)
            if fullest + cost <= allowance.amount:
                self._add(kind, keys, cost, allowance, moment)
                return
        raise _refusal(kind, allowance, fullest + cost - allowance.amount)

    def give_back(self, kind: str, *keys: str) -> None:
        """Uncount a use of these keys: it turned out not to be of a kind that is limited."""
        allowance = self._allowances[kind]
        if self._engine is not None and allowance.strict and keys:
            usage.add_to_levels(self._engine, {(kind, key): Addition(-1.0, self._leak(kind)) for key in keys})
        else:
            self.charge(kind, *keys, cost=-1.0)

    async def take_async(self, kind: str, *keys: str) -> None:
        """``take`` for coroutines: in a thread if it asks the database."""
        if self._engine is not None and self._allowances[kind].strict:
            await run_in_threadpool(self.take, kind, *keys)
        else:
            self.take(kind, *keys)

    def charge(self, kind: str, *keys: str, cost: float) -> None:
        """Count a use that has already happened, over the limit or not."""
        if keys:
            with self._lock:
                self._add(kind, keys, cost, self._allowances[kind], self._clock())

    def _add(self, kind: str, keys: tuple[str, ...], cost: float, allowance: Allowance, moment: float) -> None:
        for bucket in {(kind, key) for key in keys}:
            self._levels[bucket] = (max(0.0, self._level(bucket, allowance, moment) + cost), moment)
            self._levels.move_to_end(bucket)
            if self._engine is not None:
                self._owed[bucket] = self._owed.get(bucket, 0.0) + cost
        while len(self._levels) > MAX_KEYS:
            self._levels.popitem(last=False)

    def _level(self, bucket: Bucket, allowance: Allowance, moment: float) -> float:
        level, since = self._levels.get(bucket, (0.0, moment))
        assert allowance.seconds is not None
        return max(0.0, level - (moment - since) * allowance.amount / allowance.seconds)

    # What is open

    def acquire(self, kind: str, *keys: str) -> None:
        """Count something that is open from now on; 429 if it is too much. Without keys nothing is counted."""
        if not keys:
            return
        amount = self._allowances[kind].amount
        with self._lock:
            buckets = {(kind, key) for key in keys}
            if any(self._open[one] + self._elsewhere.get(one, 0) >= amount for one in buckets):
                raise _refusal(kind, self._allowances[kind])
            for one in buckets:
                self._open[one] += 1
            if self._engine is not None:
                self._changed |= buckets

    def release(self, kind: str, *keys: str) -> None:
        """Count something that is no longer open."""
        with self._lock:
            buckets = {(kind, key) for key in keys}
            self._open.subtract(buckets)
            for one in buckets:
                if not self._open[one]:
                    del self._open[one]
            if self._engine is not None:
                self._changed |= buckets

    @contextmanager
    def hold(self, kind: str, *keys: str) -> Iterator[None]:
        """Hold something open; 429 if it is too much."""
        self.acquire(kind, *keys)
        try:
            yield
        finally:
            self.release(kind, *keys)

    def open_of(self, kind: str, key: str) -> int:
        """How much a caller has open at this process."""
        with self._lock:
            return self._open.get((kind, key), 0)

    # Several processes

    def start(self) -> None:
        """Start to exchange counts with other processes, if there is a database for it."""
        if self._engine is not None and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="budgets", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop, and take back what this process had open."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._engine is not None:
            try:
                usage.leave(self._engine, self.process)
            except SQLAlchemyError:  # it expires
                _log.warning("budgets: the database did not delete what was open")

    def _run(self) -> None:
        failing = False
        while not self._ending.wait(EXCHANGE_SECONDS):
            try:
                self.exchange()
                failing = False
            except SQLAlchemyError:  # this process goes on to count for itself
                if not failing:
                    _log.exception("budgets: the counts of other processes could not be read")
                failing = True

    def exchange(self) -> None:
        """Write what this process has counted since the last exchange, and read what the others have."""
        assert self._engine is not None
        with self._lock:
            owed, self._owed = self._owed, {}
            changed, self._changed = self._changed, set()
            confirming = self._clock() - self._confirmed > CONFIRM_SECONDS
            buckets = changed | set(self._open) if confirming else changed
            counts = {one: self._open.get(one, 0) for one in buckets}
        try:
            additions = {one: Addition(amount, self._leak(one[0])) for one, amount in owed.items()}
            levels = usage.add_to_levels(self._engine, additions)[0] if additions else {}
            if counts:
                usage.confirm_open(self._engine, self.process, counts)
            elsewhere = usage.open_elsewhere(self._engine, self.process)
            if self._clock() - self._expired > EXPIRE_SECONDS:
                usage.expire(self._engine)
                self._expired = self._clock()
        except SQLAlchemyError:
            with self._lock:
                self._changed |= changed
                for one, amount in owed.items():
                    self._owed[one] = self._owed.get(one, 0.0) + amount
            raise
        with self._lock:
            self._elsewhere = elsewhere
            for one, level in levels.items():
                self._levels[one] = (level + self._owed.get(one, 0.0), self._clock())
            if confirming:
                self._confirmed = self._clock()

    def _leak(self, kind: str) -> float:
        allowance = self._allowances[kind]
        return allowance.amount / (allowance.seconds or math.inf)


def _refusal(kind: str, allowance: Allowance, excess: float = 0.0) -> HTTPException:
    if allowance.seconds is None:
        sentence = f"too many {kind} at once: at most {allowance.amount}; try again in a moment"
        return HTTPException(429, sentence, {"retry-after": str(RETRY_SECONDS)})
    wait = max(1, math.ceil(excess * allowance.seconds / allowance.amount))
    return HTTPException(429, f"too many requests; try again in {wait} seconds", {"retry-after": str(wait)})


# Callers


class CallerBudget:
    """The budgets of one caller; those of the owner of the machine have no limits."""

    def __init__(self, limits: Budgets, keys: tuple[str, ...]) -> None:
        self._limits, self.keys = limits, keys

    @property
    def owner(self) -> str | None:
        """The caller as the owner of cache entries: account, or address of a guest; None without limits."""
        return self.keys[-1] if self.keys else None

    def take(self, kind: str, cost: float = 1.0) -> None:
        """Count a use; 429 if it is too many."""
        self._limits.take(kind, *self.keys, cost=cost)

    @contextmanager
    def hold(self, kind: str) -> Iterator[None]:
        """Hold something open; 429 if it is too much."""
        with self._limits.hold(kind, *self.keys):
            yield

    @asynccontextmanager
    async def hold_patiently(self, kind: str, seconds: float) -> AsyncIterator[None]:
        """The same, after a wait of at most ``seconds`` for what this caller has open."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._limits.acquire(kind, *self.keys)
                break
            except HTTPException:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self._limits.release(kind, *self.keys)

    @contextmanager
    def hold_for_account(self, kind: str) -> Iterator[None]:
        """The same, where the address is counted already."""
        with self._limits.hold(kind, *self.keys[1:]):
            yield

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Count the seconds that something takes; 429 at the beginning if too many are used."""
        self.take(kind, 0.0)
        begun = time.monotonic()
        try:
            yield
        finally:
            self._limits.charge(kind, *self.keys, cost=time.monotonic() - begun)


UNLIMITED = CallerBudget(Budgets({}), ())


def is_exempt(mode: str, address: str) -> bool:
    """Whether the connections of an address are not counted: in local mode, and those of this machine in lan mode."""
    return mode == "local" or (mode == "lan" and is_loopback(address))


def budget_of(connection: HTTPConnection) -> CallerBudget:
    """The budgets of the caller of a route."""
    state, who = connection.app.state, getattr(connection.state, "caller", None)
    free = who is OWNER or (who is None and is_exempt(state.mode, client_address(connection)))  # None: a remote bot
    return CallerBudget(state.limits, () if free else tuple(caller_keys(connection, who)))


async def count_request(connection: HTTPConnection) -> None:
    """A dependency of every route: identify the caller, count the request, refuse it over the budget."""
    who, state = await caller(connection), connection.app.state
    if who is OWNER:
        return
    method = connection.scope.get("method", "GET")
    asked = f"{method} {route_template(connection.scope)}"
    kind = next((name for name, form in KINDS if form.fullmatch(asked)), WRITES if method in WRITE_METHODS else READS)
    await state.limits.take_async(kind, *caller_keys(connection, who))


def caller_keys(connection: HTTPConnection, who: Caller | None) -> list[str]:
    """The keys of a caller: address, and account."""
    return [address_key(client_address(connection)), *([f"account {who.account}"] if who and who.account else [])]


def client_address(connection: HTTPConnection) -> str:
    """The address of a caller, or an empty text."""
    return connection.client.host if connection.client else ""


def network_of(address: str) -> str:
    """The address that counts as one caller; for IPv6 its network, since the rest changes often."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address[:100] or "nowhere"
    if isinstance(read, ipaddress.IPv6Address):
        if read.ipv4_mapped is not None:
            return str(read.ipv4_mapped)
        return str(ipaddress.ip_network((int(read), IPV6_NETWORK), strict=False).network_address)
    return str(read)


def client_network(connection: HTTPConnection) -> str:
    """The address of a caller, or its network."""
    return network_of(client_address(connection))


def address_key(address: str) -> str:
    """The key of an address."""
    return f"from {network_of(address)}"


class BudgetMiddleware:
    """Counts the requests and WebSockets that an address has open."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        address = scope["client"][0] if scope.get("client") else ""
        if scope["type"] not in ("http", "websocket") or is_exempt(scope["app"].state.mode, address):
            await self._app(scope, receive, send)
            return
        limits: Budgets = scope["app"].state.limits
        kind = SOCKETS if scope["type"] == "websocket" else REQUESTS
        key = address_key(address)
        try:
            limits.acquire(kind, key)
        except HTTPException as refusal:
            await _refuse(refusal, scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            limits.release(kind, key)


async def _refuse(refusal: HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the refusal; a WebSocket is not opened."""
    response = JSONResponse({"error": refusal.detail}, refusal.status_code, dict(refusal.headers or {}))
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
    await response(scope, receive, send)
