"""The log: ids of requests, one format for everything, and nothing secret."""

import io
import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from httpx import Client

from ludodrome.web import logs
from ludodrome.web.logs import LogFormat, redacted, set_up_logs
from ludodrome.web.routes import games
from tests.cli.running import complaint, run
from tests.web.hosting import Hosted, hosting

HEX = re.compile(r"[0-9a-f]{16}")


@contextmanager
def logged(log_format: LogFormat, level: str = "info") -> Iterator[io.StringIO]:
    """What is logged meanwhile."""
    root, text = logging.getLogger(), io.StringIO()
    old = (root.handlers[:], root.level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", text)
        root.handlers = []
        set_up_logs(log_format, level)
    try:
        yield text
    finally:
        logging.captureWarnings(False)
        root.handlers, root.level = old
        logging.getLogger("ludodrome.requests").disabled = False


def _lines(text: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_every_answer_has_an_id_and_a_line(hosted: Hosted) -> None:
    person = hosted.person("Novalis")
    with logged("json") as text, hosted.client("Novalis") as client:
        answer = client.get("/api/v1/games/dots?key=SECRET", headers={"x-request-id": "from-the-outside"})
        client.get("/join/VERYSECRET")
        client.get("/no/such/page/SECRET")
    name = answer.headers["x-request-id"]
    assert HEX.fullmatch(name), "without a proxy, nobody chooses an id"
    lines = [line for line in _lines(text) if line["logger"] == "ludodrome.requests"]
    first = next(line for line in lines if line["request_id"] == name)
    assert first.pop("ms") >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first == {
        "level": "info",
        "logger": "ludodrome.requests",
        "message": "GET /api/v1/games/{game_id} 200",
        "request_id": name,
        "method": "GET",
        "route": "/api/v1/games/{game_id}",
        "status": 200,
        "account": person.id,
        "network": "127.0.0.1",
    }
    assert [(line["route"], line["status"]) for line in lines[1:]] == [("/join/{link}", 200), ("none", 404)]
    assert "SECRET" not in text.getvalue()
    assert "Novalis" not in text.getvalue()


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("7f3a-0001.proxy_9", True),
        ("short", False),
        ("x" * 65, False),
        ("with space and more", False),
        ('"><script>alert(1)', False),
    ],
)
def test_a_proxy_names_its_requests(given: str, taken: bool) -> None:
    with hosting(behind_proxy=True) as running, running.client() as client:
        answer = client.get("/api/v1/games", headers={"x-request-id": given})
    assert (answer.headers["x-request-id"] == given) == taken
    assert taken or HEX.fullmatch(answer.headers["x-request-id"])


def test_an_internal_error_can_be_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise RuntimeError("broken: token=abc123 lud_0123456789")

    monkeypatch.setattr(games, "open_game", fail)
    monkeypatch.setattr("ludodrome.web.routes.docs.find_page", fail)
    with hosting() as running, logged("json") as text, Client(base_url=running.address) as client:
        answers = [client.post("/api/v1/games/dots/positions", json={}), client.get("/docs/")]
    for answer in answers:
        name = answer.headers["x-request-id"]
        assert (answer.status_code, len(name)) == (500, 16)
        assert name in answer.text
        assert answer.headers["content-security-policy"]
        lines = [line for line in _lines(text) if line.get("request_id") == name]
        assert {line["logger"] for line in lines} == {"ludodrome.requests", "uvicorn.error"}
        problem = next(line for line in lines if line["logger"] == "uvicorn.error")
        assert problem["level"] == "error"
        assert "RuntimeError: broken: token=***" in problem["exception"]
    assert answers[0].json()["request_id"] == answers[0].headers["x-request-id"]
    assert "abc123" not in text.getvalue()
    assert "lud_0" not in text.getvalue()


def test_lines_of_text(hosted: Hosted) -> None:
    with logged("text") as text, hosted.client() as client:
        name = client.get("/api/v1/games").headers["x-request-id"]
        logging.getLogger("ludodrome.web.league").warning("one\nline \x1b[31m with %s", "password=hunter2")
    first, second = text.getvalue().splitlines()
    pattern = r"\S+Z info ludodrome\.requests: GET /api/v1/games 200 [\d.]+ ms account=- from=127\.0\.0\.1 request_id="
    assert re.fullmatch(pattern + name, first)
    assert second.endswith(r"warning ludodrome.web.league: one\x0aline \x1b[31m with password=***")


def test_requests_are_logged_from_info_on(hosted: Hosted) -> None:
    with logged("json", "warning") as text, hosted.client() as client:
        assert client.get("/api/v1/games").headers["x-request-id"]
    assert text.getvalue() == ""


def test_websockets_have_a_line_too(hosted: Hosted) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = hosted.address.replace("http", "ws")
    with hosted.client() as client:
        play = client.post("/api/v1/plays", json={"game": "dots", "seats": ["person", "person"]}).json()["id"]
    with logged("json") as text:
        with connect(f"{address}/api/v1/plays/{play}/live?key=SECRET") as socket:
            socket.recv()
            assert HEX.fullmatch(socket.response.headers["x-request-id"])  # type: ignore[union-attr]
        with pytest.raises(InvalidStatus):
            connect(f"{address}/api/v1/plays/{'x' * 300}/live")
        for _ in range(500):
            if len(_lines(text)) == 2:
                break
            time.sleep(0.01)
    found = sorted((line["method"], line["status"]) for line in _lines(text))
    assert found == [("WEBSOCKET", 101), ("WEBSOCKET", 403)]
    assert "SECRET" not in text.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET /plays/x?key=abc&after=3 HTTP/1.1", "GET /plays/x?key=***&after=3 HTTP/1.1"),
        ("?api_token=abc", "?api_token=***"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("postgresql://me:hunter2@host/name", "postgresql://me:***@host/name"),
        ("cookie: __Host-ludodrome-session=abc; a=b", "cookie: __Host-ludodrome-session=***; a=b"),
        ("the token lud_abcDEF-_1 is not valid", "the token *** is not valid"),
        ("http://127.0.0.1:8008/ is fine, a key too", "http://127.0.0.1:8008/ is fine, a key too"),
    ],
)
def test_secrets_are_replaced(text: str, expected: str) -> None:
    assert redacted(text) == expected


def test_long_lines_are_redacted_in_time() -> None:
    assert logs.HIDDEN in redacted("a" * 100_000 + "key=" + "b" * 100_000)
    redacted("://" * 50_000)
    redacted("bearer " * 50_000)


def test_wrong_settings_are_refused() -> None:
    assert "--log-format is text or json, not xml" in complaint(run("serve", "--log-format", "xml"))
    assert "--log-level is debug, info, warning, error, not loud" in complaint(run("serve", "--log-level", "loud"))
