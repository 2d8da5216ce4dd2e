"""Rate limits for callers from elsewhere; the person at this machine has none.

Counts are in the memory of each process: several web processes multiply the limits.
"""

import ipaddress
import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from fastapi import HTTPException
from starlette.requests import HTTPConnection

from ludodrome.system import API
from ludodrome.web.auth import Caller, caller, is_loopback
from ludodrome.web.metrics import route_template

MAX_KEYS = 100_000
"""Addresses and accounts that are remembered; the least recently seen are forgotten."""
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
IPV6_NETWORK = 64
"""Prefix length of an IPv6 network that counts as one client."""


class RateLimit(NamedTuple):
    """``many`` requests at once, refilled within ``seconds``."""

    many: int
    seconds: float


SIGN_IN, SIGN_UP, ANALYSIS, UPLOADS, MATCHES = "sign-in", "sign-up", "analysis", "uploads", "matches"
WRITING, READING = "writes", "reads"
RATE_LIMITS = {
    SIGN_IN: RateLimit(10, 300),
    SIGN_UP: RateLimit(5, 3600),
    ANALYSIS: RateLimit(120, 60),
    UPLOADS: RateLimit(30, 3600),
    MATCHES: RateLimit(60, 3600),
    WRITING: RateLimit(600, 60),
    READING: RateLimit(3000, 60),
}
KINDS = (
    (SIGN_IN, re.compile(rf"POST {API}/(session|account/password)")),
    (SIGN_UP, re.compile(rf"POST {API}/accounts")),
    (ANALYSIS, re.compile(rf"POST {API}/(analysis|values|replays|attempts/.*)|GET {API}/replays/.*/grading")),
    (UPLOADS, re.compile(rf"POST {API}/(checks|bots(/.*)?)")),
    (MATCHES, re.compile(rf"POST {API}/(matches|tournaments)")),
)
"""The kind of a request by method and route; the rest are writes and reads."""


class RateLimiter:
    """A leaky bucket for each kind of request and key."""

    def __init__(self, allowances: dict[str, RateLimit] | None = None, clock: Callable[[], float] = time.monotonic):
        self._allowances = RATE_LIMITS if allowances is None else allowances
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, kind: str, *keys: str) -> None:
        """Count one request for these keys; 429 if it is too many."""
        allowance = self._allowances[kind]
        with self._lock:
            moment = self._clock()
            levels = [self._level(kind, key, allowance, moment) for key in keys]
            fullest = max(levels)
            if fullest + 1 <= allowance.many:
                for key, level in zip(keys, levels, strict=True):
                    self._buckets[kind, key] = (level + 1, moment)
                    self._buckets.move_to_end((kind, key))
                while len(self._buckets) > MAX_KEYS:
                    self._buckets.popitem(last=False)
                return
        wait = math.ceil((fullest + 1 - allowance.many) * allowance.seconds / allowance.many)
        sentence = f"too many requests; try again in {wait} seconds"
        raise HTTPException(429, sentence, {"retry-after": str(wait)})

    def _level(self, kind: str, key: str, allowance: RateLimit, moment: float) -> float:
        level, since = self._buckets.get((kind, key), (0.0, moment))
        return max(0.0, level - (moment - since) * allowance.many / allowance.seconds)


async def enforce_rate_limit(connection: HTTPConnection) -> None:
    """A dependency of every route: identify the caller, count the request, refuse it over the limit."""
    who, state = await caller(connection), connection.app.state
    if state.mode == "local" or (state.mode == "lan" and is_loopback(connection)):
        return
    method = connection.scope.get("method", "GET")
    asked = f"{method} {route_template(connection.scope)}"
    kind = next((name for name, form in KINDS if form.fullmatch(asked)), WRITING if method in WRITES else READING)
    state.limits.take(kind, *rate_limit_keys(connection, who))


def rate_limit_keys(connection: HTTPConnection, who: Caller) -> list[str]:
    """The keys of a caller: address, and account."""
    return [f"from {client_network(connection)}", *([f"account {who.account}"] if who.account else [])]


def client_network(connection: HTTPConnection) -> str:
    """The address of a caller; for IPv6 its network, since the rest changes often."""
    text = connection.client.host if connection.client else "nowhere"
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if address.version == 4:
        return text
    return str(ipaddress.ip_network((int(address), IPV6_NETWORK), strict=False).network_address)
