"""Fuzz targets of the web: requests and messages, through the whole application."""

import atexit
import json
import secrets
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ludodrome.store.database import open_database
from ludodrome.web.app import create_app


@cache
def target_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="ludodrome-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def _client() -> Any:
    from starlette.testclient import TestClient

    engine = open_database(target_folder() / "web.db", create=True)
    client = TestClient(create_app(engine, mode="hosted", behind_proxy=True), base_url="http://127.0.0.1")
    client.__enter__()
    atexit.register(client.__exit__, None, None, None)
    return client


def ask(data: bytes) -> None:
    """A request: its first line has method and URL, the others are headers; never an internal error.

    Bytes that the HTTP parser refuses (400) are written with percent signs.
    """
    first, *lines = data.split(b"\n")
    method, _, url = first.partition(b" ")
    url = b"".join(b"%%%02X" % byte if byte <= 32 or byte >= 127 else bytes((byte,)) for byte in url)
    if method not in (b"GET", b"HEAD", b"DELETE", b"OPTIONS"):
        method = b"GET"
    headers = [(b"host", b"127.0.0.1")]
    for line in lines[:20]:
        name, _, value = line.partition(b":")
        if name.strip().isalnum() or name.strip().replace(b"-", b"").isalnum():
            headers.append((name.strip().lower(), value.strip()))
    status = _client().portal.call(_call_app, method.decode(), url, headers)
    assert status < 500, f"{status}: {data!r}"


async def _call_app(method: str, url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    """Call the application as uvicorn would."""
    from urllib.parse import unquote

    raw, _, query = url.partition(b"?")
    path = unquote("/" + raw.decode("latin-1").lstrip("/"))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": b"/" + raw.lstrip(b"/"),
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("203.0.113.9", 1234),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"} if status else {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]

    await _client().app(scope, receive, send)
    return status


@cache
def _live() -> Any:
    """A WebSocket of a play on a server of its own."""
    from httpx import post
    from websockets.sync.client import connect

    from tests.web.serving import server

    running = server()
    address = running.__enter__()
    asked = {"game": "dots", "seats": ["person", "person"]}
    play = post(f"{address}/api/v1/plays", json=asked).json()["id"]
    connecting = connect(f"{address.replace('http', 'ws')}/api/v1/plays/{play}/live")
    atexit.register(running.__exit__, None, None, None)
    atexit.register(connecting.__exit__, None, None, None)
    return connecting.__enter__()


def say(data: bytes) -> None:
    """A message to the WebSocket of a play: it is answered, and the connection stays open."""
    socket = _live()
    socket.send(data.decode("utf-8", "replace"))
    last = secrets.token_hex(4)
    socket.send(json.dumps({"type": "ping", "id": last}))
    for _ in range(20):
        answer = json.loads(socket.recv(timeout=20))
        assert answer.get("status") != 500, data
        if answer.get("id") == last:
            return
    raise AssertionError("the message was not answered")


REQUESTS = (
    b'GET /docs/how-to/index.html\nrange: bytes=0-10\nif-none-match: "x"',
    b"GET /static/style.css\naccept-encoding: gzip, br;q=0.5\nif-modified-since: Thu, 01 Jan 1970 00:00:00 GMT",
    b"GET /api/v1/plays/x?after=3&key=abc\ncookie: ludodrome-session=abc; a=b",
    b"GET /api/v1/account\nauthorization: Bearer lud_abc\nx-forwarded-for: 1.2.3.4, ::1\nx-forwarded-proto: https",
    b"GET /api/v1/leaderboard/dots?most=5\nx-request-id: 0123456789abcdef\norigin: http://127.0.0.1",
    b"GET /sign-in?next=/dots\naccept-language: de",
    b"GET /games/x\ncontent-length: 3\ntransfer-encoding: chunked",
    b"DELETE /api/v1/session\ncontent-type: application/json",
)
