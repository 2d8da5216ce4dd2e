"""What stands between the network and the app: whom it answers, what it accepts, what its answers may do in a browser.

For now the server is for the person at this machine alone: it listens on the loopback interface and answers to no
other name, so that no page of a stranger can reach it by way of the browser.
"""

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY = 256 * 1024
"""Bytes of a request."""
WRITES = ("POST", "PUT", "PATCH", "DELETE")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Guard:
    """Refuses what has no business here, before anything looks at it, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, names: Iterable[str] = LOCAL) -> None:
        self._app = app
        self._names = frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope)
        body = b""
        if refusal is None and scope["method"] in WRITES:
            body, refusal = await _read(receive)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _again(body, receive) if scope["method"] in WRITES else receive, send_guarded)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name not in self._names:
            return refuse(421, "this server answers to 127.0.0.1 and localhost alone")
        if scope["method"] not in WRITES:
            return None
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{host}":
            return refuse(403, "this request comes from another site's page")
        if origin is None and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return refuse(403, "this request comes from another site's page")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > MOST_BODY:
            return refuse(413, f"a request has at most {MOST_BODY} bytes")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and (length != "0" or "transfer-encoding" in headers):
            return refuse(415, "a request's content is application/json")
        return None


def refuse(status: int, sentence: str) -> JSONResponse:
    """An answer that says no."""
    return JSONResponse({"error": sentence}, status)


async def _read(receive: Receive) -> tuple[bytes, JSONResponse | None]:
    """The whole body, unless it is too long."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"", refuse(400, "the request broke off")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY:
            return b"", refuse(413, f"a request has at most {MOST_BODY} bytes")
        if not message.get("more_body", False):
            return b"".join(parts), None


def _again(body: bytes, receive: Receive) -> Receive:
    """Hands a body that was read once more to the app, and then whatever comes after it."""
    done = False

    async def replay() -> Message:
        nonlocal done
        if done:
            return await receive()
        done = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
