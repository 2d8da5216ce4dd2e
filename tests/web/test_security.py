"""Who is answered, and what an answer may do in a browser."""

import base64
import hashlib
import re
import socket
import time

import pytest
from httpx import Client

from ludodrome.web import server
from ludodrome.web.security import MAX_BODY

PLAYS = "/api/v1/plays"
WISH = {"game": "dots", "seats": ["person", "person"]}


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "example.org:8008", "", "evil@127.0.0.1"])
def test_other_names_are_not_answered(client: Client, host: str) -> None:
    assert client.get("/skysummit", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:80", "[::1]:8008"])
def test_this_machine_is_answered(client: Client, host: str) -> None:
    assert client.get("/skysummit", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://example.org"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 201),
        ({}, 201),
    ],
)
def test_only_our_own_pages_write(client: Client, headers: dict[str, str], status: int) -> None:
    assert client.post(PLAYS, json=WISH, headers=headers).status_code == status


def test_our_own_page_writes(client: Client, address: str) -> None:
    assert client.post(PLAYS, json=WISH, headers={"origin": address}).status_code == 201


def test_only_json_of_a_fair_size_is_read(client: Client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post(PLAYS, content="game=dots", headers=form).status_code == 415
    json = {"content-type": "application/json"}
    assert client.post(PLAYS, content=b" " * (MAX_BODY + 1), headers=json).status_code == 413
    parts = (b" " * 1024 for _ in range(MAX_BODY // 1024 + 1))
    assert client.post(PLAYS, content=parts, headers=json).status_code == 413


@pytest.mark.parametrize("path", ["/skysummit", "/nowhere", "/static/style.css", "/api/v1/games", "/static/nothing.js"])
def test_every_answer_has_the_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_files_outside_are_not_served(client: Client) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("content", "deep"),
    [
        (b"[" * 65 + b"]" * 65, True),
        (b'{"a":' * 65 + b"1" + b"}" * 65, True),
        (b"[" * (MAX_BODY - 1), True),
        (b"[" + b"[]," * 1000 + b"[]]", False),
        (b'["' + b"[" * 200 + b'"]', False),
        (b'"' + b'\\"' * (MAX_BODY // 2 - 40) + b"[" * 70, False),  # a text that does not end
    ],
)
def test_deep_json_costs_nothing(client: Client, content: bytes, deep: bool) -> None:
    begun = time.process_time()
    answer = client.post(PLAYS, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert ("deep" in answer.json()["error"]) is deep
    assert time.process_time() - begun < 20.0  # quotes that were looked for again and again would take minutes


@pytest.mark.parametrize("path", ["/api/v1/session", "/api/v1/accounts", "/api/v1/account/password", "/api/v1/tokens"])
def test_little_is_read_where_little_is_enough(client: Client, path: str) -> None:
    headers = {"content-type": "application/json"}
    assert client.post(path, content=b" " * 8193, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "path", ["/api/v1/games/../../etc/passwd", "/api/v1/plays/%2e%2e%2f%2e%2e", "/..%2f..", "/%00"]
)
def test_paths_lead_nowhere(client: Client, path: str) -> None:
    assert 400 <= client.get(path).status_code < 500


def test_a_guard_in_front_of_a_proxy_believes_the_last_word() -> None:
    from starlette.types import Scope

    from ludodrome.web.security import _believe

    headers = [(b"x-forwarded-for", b"127.0.0.1, 203.0.113.9"), (b"x-forwarded-proto", b"https")]
    scope: Scope = {"type": "http", "scheme": "http", "client": ("10.0.0.1", 1), "headers": headers}
    _believe(scope)
    assert (scope["client"], scope["scheme"]) == (("203.0.113.9", 0), "https")
    lines = [(b"x-forwarded-for", b"127.0.0.1"), (b"x-forwarded-for", b"203.0.113.7"), (b"x-forwarded-proto", b"http")]
    apart: Scope = {"type": "http", "scheme": "http", "client": ("10.0.0.1", 1), "headers": lines}
    _believe(apart)
    assert (apart["client"], apart["scheme"]) == (("203.0.113.7", 0), "http")


@pytest.mark.parametrize("path", ["/api/v1/plays/a%00b", "/api/v1/matches?bot=%00", "/dots/plays/%00"])
def test_nothing_is_looked_for_under_a_name_with_a_nul(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404  # PostgreSQL would be asked in vain, and say so


def _raw(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_a_head_that_does_not_end_is_not_waited_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    for begun in (b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b"):
        with _raw(address) as connection:
            connection.sendall(begun)
            assert connection.recv(100) == b""
    with _raw(address) as connection:  # the second request of a connection is waited for no longer
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /health HTTP/1.1\r\nX-A: b")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 200 OK") == 1


def test_a_head_has_a_length(address: str) -> None:
    line = b"X-A: " + b"b" * 1000 + b"\r\n"
    with _raw(address) as connection:
        connection.sendall(
            b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + line * (server.MAX_HEADER_BYTES // len(line) + 1)
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 431 ")
    with _raw(address) as connection, connection.makefile("rb") as answer:
        head = b"POST /api/v1/plays HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % MAX_BODY + b" " * MAX_BODY)  # what follows it may
        assert answer.readline().startswith(b"HTTP/1.1 422 ")


@pytest.mark.parametrize("path", ["/skysummit", "/dots/analysis", "/dots/leaderboard", "/replay", "/nowhere"])
def test_the_policy_names_the_styles_of_a_page(client: Client, path: str) -> None:
    answer = client.get(path)
    sheets = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert sheets
    for sheet in sheets:
        named = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        assert f"'sha256-{named}'" in answer.headers["content-security-policy"]
