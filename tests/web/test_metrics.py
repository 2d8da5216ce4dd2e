"""What a server says about itself."""

import re
import time

from httpx import Client
from sqlalchemy import create_engine

from tests.web.hosting import Hosted, hosting


def test_health(hosted: Hosted) -> None:
    with hosting("local") as own, own.client() as owner:
        assert owner.get("/health").json() == {
            "status": "ok",
            "database": "reachable",
            "runner": "none: matches are waiting",
            "sandbox": "not looked for yet",
            "reason": "",
        }
        own.app.state.doctor.look()
        assert _sandbox(owner) in LEVELS
    with hosted.client() as guest:
        assert _sandbox(guest) in LEVELS


LEVELS = ("none", "bubblewrap", "landlock")


def _sandbox(client: Client) -> str:
    """The level that /health names, once it has been tested."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        named = str(client.get("/health").json()["sandbox"])
        if named not in ("being tested", "not looked for yet"):
            return named.partition(" ")[0]
        time.sleep(0.2)
    raise AssertionError("the sandbox is still being tested")


def test_an_unreachable_database() -> None:
    with hosting() as running, running.client() as guest:
        running.app.state.engine = create_engine("sqlite:////no/where/at/all.db")
        answer = guest.get("/health")
        assert (answer.status_code, answer.json()["database"]) == (503, "unreachable")
        guest.cookies.set("ludodrome-session", "x")
        answer = guest.get("/api/v1/account")
        assert answer.status_code == 503
        assert "the database cannot be reached" in answer.json()["error"]


def test_metrics(hosted: Hosted) -> None:
    with hosted.client("Chief") as client:
        for path in ("/api/v1/games/dots", "/api/v1/games/chess", "/dots/rules", "/a/b/c/d", "/api/v1/nothing"):
            client.get(path)
        text = client.get("/metrics").text
        counts = dict(re.findall(r"^(ludodrome_\w+\S*) (\S+)$", text, re.MULTILINE))
        route = 'method="GET",route="/api/v1/games/{game_id}"'
        assert float(counts[f'ludodrome_requests_total{{{route},status="200"}}']) >= 1
        assert float(counts[f"ludodrome_request_seconds_count{{{route}}}"]) >= 2
        assert float(counts['ludodrome_requests_total{method="GET",route="none",status="404"}']) >= 2
        for name in ("websockets_open", "plays_open", "bots_thinking", "matches_playing", "rated_games", "accounts"):
            assert float(counts[f"ludodrome_{name}"]) >= 0
        assert "nothing" not in text
    with hosted.client() as guest, hosted.client("Novalis") as person:
        assert guest.get("/metrics").status_code == 401
        assert person.get("/metrics").status_code == 403
