"""HEAD answers as GET does, without a body."""

import time

import pytest
from httpx import Client

PATHS = (
    "/health",
    "/skysummit",
    "/dots/rules",
    "/dots/puzzles/1",
    "/docs/",
    "/sign-in",
    "/api/v1/games",
    "/api/v1/games/dots",
    "/api/v1/leaderboard/dots",
    "/api/v1/openapi.json",
    "/static/api.js",
    "/nothing/at/all",
    "/api/v1/plays/nothing",
)
CHANGING = {"date", "connection", "x-request-id"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_headers_are_those_of_get(client: Client, path: str, encoding: str) -> None:
    asked = {"accept-encoding": encoding}
    got = client.get(path, headers=asked, follow_redirects=False)
    head = client.head(path, headers=asked, follow_redirects=False)
    assert head.status_code == got.status_code
    assert head.content == b""
    named = {name: value for name, value in head.headers.items() if name not in CHANGING}
    assert named == {name: value for name, value in got.headers.items() if name not in CHANGING}
    assert "content-length" in named


def test_a_stream_ends_at_once(client: Client) -> None:
    begun = time.monotonic()
    answer = client.head("/api/v1/live/dots")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert time.monotonic() - begun < 5


def test_what_is_only_written_has_no_head(client: Client) -> None:
    assert client.head("/api/v1/analysis").status_code == 405
