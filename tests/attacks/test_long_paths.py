"""Paths and queries that are too long for the file system or for anybody: a refusal with a sentence, never a 500."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from ludodrome.web.security import MAX_PATH_BYTES, MAX_SEGMENT_BYTES, MAX_URL_BYTES
from tests.web.hosting import Hosted, hosting
from tests.web.test_matrix import routes


@pytest.fixture(scope="module")
def running() -> Iterator[Hosted]:
    with hosting() as server:
        yield server


LONG = {
    "one segment": "a" * 6000,
    "one page": "a" * 5990 + ".html",
    "many segments": "a/" * 3000,
    "just too long": "a" * (MAX_SEGMENT_BYTES + 1),
    "encoded": quote("ä" * 1200),
    "a picture": "pictures/" + "a" * 300 + ".svg",
    "a segment that a file system takes, with an ending that it does not": "a" * (MAX_SEGMENT_BYTES - 1) + ".html",
}


@pytest.mark.parametrize("form", LONG)
@pytest.mark.parametrize("start", ["/docs/", "/static/", "/", "/api/v1/games/", "/join/", "/games/"])
def test_point_20_a_long_path_is_not_found(running: Hosted, start: str, form: str) -> None:
    with running.client() as client:
        answer = client.get(start + LONG[form])
    page = start not in ("/static/", "/api/v1/games/")
    assert answer.status_code in ((404, 200) if start == "/join/" else (404,))
    assert answer.headers["content-type"].startswith("text/html" if page else "application/json")
    assert answer.headers["content-security-policy"]
    if not page:
        assert answer.json()["error"]


def test_point_20_every_route_refuses_long_values(running: Hosted) -> None:
    """Each parameter of each route, a little under and a little over the limit."""
    asked = 0
    with running.client("Chief") as client:
        for method, path in routes(running.app):
            if "{" not in path or method not in ("GET", "POST", "DELETE", "PUT", "PATCH"):
                continue
            for length in (MAX_SEGMENT_BYTES - 5, MAX_SEGMENT_BYTES, MAX_SEGMENT_BYTES + 1, 3000):
                pieces = [
                    "x" * length if piece.startswith("{") else piece.partition("{")[0] for piece in path.split("/")
                ]
                body: dict[str, Any] = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
                with client.stream(method, "/".join(pieces), **body) as answer:
                    assert answer.status_code < 500, (method, path, length)
                asked += 1
    assert asked > 100


def test_point_20_a_long_url_is_refused(running: Hosted) -> None:
    with running.client() as client:
        assert client.get("/api/v1/games?x=" + "a" * (MAX_URL_BYTES - 100)).status_code == 200
        for path in ("/api/v1/games?x=", "/docs/?x=", "/"):
            answer = client.get(path + "a" * MAX_URL_BYTES)
            assert answer.status_code == 414
            assert "8192 bytes" in answer.text


@pytest.mark.parametrize(
    "query",
    ["after=" + "9" * 4000, "game=" + "a" * 7000, "key=" + "k" * 7000, "before=" + "1" * 500, "next=/" + "a" * 7000],
)
def test_point_20_long_values_in_queries(running: Hosted, query: str) -> None:
    with running.client("Chief") as client:
        for method, path in routes(running.app):
            if method == "GET" and "{" not in path:
                with client.stream("GET", f"{path}?{query}") as answer:
                    assert answer.status_code < 500, (path, query[:20])


def test_point_20_long_headers_reach_nothing(running: Hosted) -> None:
    with running.client() as client:
        for name in ("range", "if-none-match", "if-modified-since", "accept-language", "authorization", "cookie"):
            for path in ("/static/style.css", "/docs/", "/api/v1/account"):
                answer = client.get(path, headers={name: "a" * 8000})
                assert answer.status_code < 500, (name, path)


HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
)


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        (f"/api/v1/plays/{'a' * 300}/live", "", 403),
        (f"/api/v1/plays/x/live?key={'a' * 9000}", "", 400),
        ("/api/v1/plays/x/live", f"Cookie: {'a' * 9000}\r\n", 400),
        ("/api/v1/plays/x/live", "".join(f"X-{number}: 1\r\n" for number in range(300)), 400),
    ],
    ids=["path", "line", "cookie", "headers"],
)
def test_point_20_a_websocket_with_a_long_head_is_answered_and_closed(path: str, more: str, status: int) -> None:
    """The last three were never answered nor closed, and made the shutdown fail."""
    with hosting() as server:
        host, port = server.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(HANDSHAKE.format(path=path, more=more).encode())
            answer = b""
            while received := connection.recv(4096):
                answer += received
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


def test_the_limits_are_above_every_true_path(running: Hosted) -> None:
    assert MAX_SEGMENT_BYTES < MAX_PATH_BYTES < MAX_URL_BYTES
    with running.client() as client:
        assert client.get("/docs/how-to/hosting.html").status_code == 200
