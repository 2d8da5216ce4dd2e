"""Security: allowed host names, cross-site checks, limits on bodies, security headers, and rate limits.

A server answers only to its own names, which stops DNS rebinding; writes come from its own pages, or from no page.
"""

import asyncio
import ipaddress
import math
import re
import socket
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.system import API, is_loopback
from ludodrome.web.auth import OWNER, Caller, caller
from ludodrome.web.metrics import route_template
from ludodrome.web.templating import style_hashes

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 256 * 1024
"""Bytes of a body, at most."""
SMALLER = {f"{API}/accounts": 8192, f"{API}/session": 8192, f"{API}/account": 8192, f"{API}/tokens": 8192}
"""Smaller limits by path prefix."""
MAX_DEPTH = 64
"""Nesting depth of JSON in a body, at most."""
BODY_SECONDS = 30.0
"""Seconds in which a body must arrive."""
MAX_SOCKETS = 200
"""Open WebSockets per address; unlimited for this machine."""
WRITES = ("POST", "PUT", "PATCH", "DELETE")
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' {style_hashes()}; "
    "img-src 'self' data:; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
TRANSPORT = "max-age=31536000"
"""Browsers that came over https use only https for a year."""
BRACKETS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
"""JSON strings as a whole, and brackets outside of them. An unterminated string matches too, so the scan is linear."""


class SecurityMiddleware:
    """Refuses bad requests before anything parses them, and adds security headers to every response.

    ``names``: allowed host names; ``addresses``: allow any address of a private network too; ``behind_proxy``: the last
    forwarded address is that of the client.
    """

    def __init__(
        self, app: ASGIApp, names: Iterable[str] = LOCAL, *, addresses: bool = False, behind_proxy: bool = False
    ) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)
        self._addresses = addresses
        self._behind_proxy = behind_proxy
        self._sockets = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._behind_proxy:
            _believe(scope)
        refusal = self._refusal(scope)
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, refusal)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _put_headers(scope, MutableHeaders(scope=message))
            await send(message)

        body = b""
        if refusal is None and scope["method"] in WRITES:
            body, refusal = await _read(receive, _most(scope["path"]))
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _again(body, receive) if scope["method"] in WRITES else receive, send_guarded)

    async def _socket(self, scope: Scope, receive: Receive, send: Send, refusal: JSONResponse | None) -> None:
        """A WebSocket: refuse it from other sites, and over the limit per address."""
        address = scope["client"][0] if scope.get("client") else ""
        crowded = self._sockets[address] >= MAX_SOCKETS and not is_loopback(address)
        if refusal is not None or crowded:
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the answer is 403
            return
        self._sockets[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._sockets[address] -= 1
            if not self._sockets[address]:
                del self._sockets[address]

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_called(host):
            return error_response(421, "this server does not answer to this name; name it with --host-name")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return error_response(404, "a URL with a NUL byte leads nowhere")  # PostgreSQL rejects it too
        writes = scope["type"] == "websocket" or scope["method"] in WRITES
        if not writes:
            return None
        scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scheme}://{host}".lower():
            return error_response(403, "the request comes from a page of another site")
        if origin is None and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return error_response(403, "the request comes from a page of another site")
        return None if scope["type"] == "websocket" else _unfit(headers, _most(scope["path"]))

    def _is_called(self, host: str) -> bool:
        name = (host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host).lower()
        if name in self._names:
            return True
        if not self._addresses:
            return False
        try:  # DNS rebinding needs a name
            return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_private
        except ValueError:
            return False


def lan_names() -> tuple[str, ...]:
    """The names of this machine in its local network."""
    name = socket.gethostname()
    return (*LOCAL, name, f"{name.partition('.')[0]}.local")


def error_response(status: int, sentence: str) -> JSONResponse:
    """A response with an error sentence."""
    return JSONResponse({"error": sentence}, status)


def _believe(scope: Scope) -> None:
    """Take address and scheme of the client from the proxy. Only the last forwarded address is its own."""
    headers = Headers(scope=scope)
    address = _last_word(headers, "x-forwarded-for")
    if address:
        scope["client"] = (address, 0)
    if _last_word(headers, "x-forwarded-proto") == "https":
        scope["scheme"] = "wss" if scope["type"] == "websocket" else "https"


def _last_word(headers: Headers, name: str) -> str:
    """The last value of a header; some proxies add a second header line."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()


def _put_headers(scope: Scope, headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    if scope["scheme"] == "https":
        headers["strict-transport-security"] = TRANSPORT
    if not scope["path"].startswith("/static/"):
        headers.setdefault("cache-control", "no-store")


def _unfit(headers: Headers, most: int) -> JSONResponse | None:
    """Check the headers about the body, before it is read."""
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal()) or len(length) > 12 or int(length) > most:
        return error_response(413, f"the body of this request has at most {most} bytes")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and (length != "0" or "transfer-encoding" in headers):
        return error_response(415, "the body of a request is application/json")
    return None


def _most(path: str) -> int:
    return next((size for start, size in SMALLER.items() if path.startswith(start)), MAX_BODY)


async def _read(receive: Receive, most: int) -> tuple[bytes, JSONResponse | None]:
    """Read the body, unless it is too long, too slow or nested too deep."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return b"", error_response(400, "the request ended early")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    return b"", error_response(413, f"the body of this request has at most {most} bytes")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return b"", error_response(408, "the body of the request did not arrive in time")
    body = b"".join(parts)
    if _is_deep(body):
        return b"", error_response(422, f"the JSON of the request is nested more than {MAX_DEPTH} levels deep")
    return body, None


def _is_deep(body: bytes) -> bool:
    """Whether brackets are nested too deep; found without parsing."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for found in BRACKETS.finditer(body):
        sign = found[0]
        if sign in (b"[", b"{"):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif sign in (b"]", b"}"):
            depth -= 1
    return False


def _again(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that replays a body, then passes on what follows."""
    done = False

    async def replay() -> Message:
        nonlocal done
        if done:
            return await receive()
        done = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


# Rate limits for guests and accounts; the owner of a server has none.
# Counts are in the memory of each process: several web processes multiply the limits.


MAX_KEYS = 100_000
"""Addresses and accounts that are remembered; the least recently seen are forgotten."""
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
    if who is OWNER:
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
