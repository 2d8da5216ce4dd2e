"""Security: allowed host names, cross-site checks, limits on bodies, security headers.

A server answers only to its own names, which stops DNS rebinding; writes come from its own pages, or from no page.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.system import API
from ludodrome.web.budgets import WRITE_METHODS
from ludodrome.web.concurrency import POLICY_VIOLATION
from ludodrome.web.templating import error_page, style_hashes

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 256 * 1024
"""Bytes of a body, at most."""
MAX_UPLOAD_BODY = 768 * 1024
"""The same of an uploaded bot, which can be a WebAssembly module in base64."""
OTHER_LIMITS = {
    f"{API}/accounts": 8192,
    f"{API}/session": 8192,
    f"{API}/account": 8192,
    f"{API}/tokens": 8192,
    f"{API}/bots": MAX_UPLOAD_BODY,
    f"{API}/checks": MAX_UPLOAD_BODY,
}
"""Other limits by path prefix."""
MAX_URL_BYTES = 8192
"""Bytes of a URL, path and query, at most."""
MAX_PATH_BYTES, MAX_SEGMENT_BYTES = 1024, 255
"""Bytes of a path, and of a part of it between slashes, at most. No route and no file system has longer ones."""
MAX_DEPTH = 64
"""Nesting depth of JSON in a body, at most."""
BODY_SECONDS = 30.0
"""Seconds in which a body must arrive."""
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._behind_proxy:
            _believe(scope)
        refusal = self._refusal(scope)
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})  # not accepted: the answer is 403
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                put_headers(scope, MutableHeaders(scope=message))
            await send(message)

        body = b""
        if refusal is None and scope["method"] in WRITE_METHODS:
            body, refusal = await _read(receive, _most(scope["path"]))
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _again(body, receive) if scope["method"] in WRITE_METHODS else receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_called(host):
            return error_response(421, "this server does not answer to this name; name it with --host-name")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return error_response(404, "a URL with a NUL byte leads nowhere")  # PostgreSQL rejects it too
        if (long := _too_long(scope)) is not None:
            return long
        writes = scope["type"] == "websocket" or scope["method"] in WRITE_METHODS
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


def _too_long(scope: Scope) -> Response | None:
    """Refuse a URL that is too long, before it reaches a route, the file system or the database."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_URL_BYTES:
        return error_response(414, f"a URL of this server has at most {MAX_URL_BYTES} bytes")
    path = scope["path"].encode("utf-8", "surrogatepass")
    if len(path) <= MAX_SEGMENT_BYTES:
        return None
    if len(path) <= MAX_PATH_BYTES and max(map(len, path.split(b"/"))) <= MAX_SEGMENT_BYTES:
        return None
    sentence = "nothing has an address as long as this one"
    if scope["type"] == "websocket" or scope["path"].startswith((API, "/static/")):
        return error_response(404, sentence)
    return error_page(Request(scope), 404, sentence)


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


def put_headers(scope: Scope, headers: MutableHeaders) -> None:
    """Add the security headers to those of a response."""
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
    return next((size for start, size in OTHER_LIMITS.items() if path.startswith(start)), MAX_BODY)


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
        late = error_response(408, "the body of the request did not arrive in time")
        late.headers["connection"] = "close"  # the rest of the body must not be read as a request
        return b"", late
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
