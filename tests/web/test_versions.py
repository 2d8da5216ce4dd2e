"""Versions of bots over the API and on their pages: ratings, matches between them, failures and pauses."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from httpx import Client
from sqlalchemy import Engine

from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.rating_updates import begin_ladder
from ludodrome.arena.ladder.scheduler import OFF, LadderScheduler
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import MatchSettings, Pairing
from ludodrome.arena.matches.workers import AnyExecutor
from ludodrome.bots.starters import one_file
from ludodrome.games import BUILT_IN, make
from ludodrome.store import audit, league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import LADDER
from ludodrome.store.league_ratings import MAX_FAILURES
from ludodrome.store.models import LOCAL
from ludodrome.web.app import create_app
from tests.web.serving import serving

BROKEN = "import sys\nprint('out of paper', file=sys.stderr)\nprint('ha', end='', flush=True)\nraise SystemExit(3)\n"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[Engine, Client]]:
    engine = open_database(tmp_path / "league.db", create=True)
    with serving(create_app(engine)) as address, Client(base_url=address, timeout=120) as client:
        yield engine, client
    engine.dispose()


def _work(engine: Engine) -> None:
    """Play everything that is queued."""
    database = engine.url.render_as_string(hide_password=False)
    with ThreadPoolExecutor(1) as threads:
        run(LadderScheduler(engine, database, "test", OFF, "off"), AnyExecutor(threads, 1))
    playing._database(database).dispose()
    playing._database.cache_clear()


def test_a_fresh_leaderboard_is_rated_in_every_game(home: tuple[Engine, Client]) -> None:
    for game in BUILT_IN:
        lines = home[1].get(f"/api/v1/leaderboard/{game}").json()
        assert [line["place"] for line in lines] == list(range(1, len(lines) + 1))
        assert all(line["rating"]["low"] < line["rating"]["high"] and line["measured"] for line in lines)
        assert "not rated yet" not in home[1].get(f"/{game}/leaderboard").text


def test_versions_are_listed_with_ratings_and_meet_each_other(home: tuple[Engine, Client]) -> None:
    engine, client = home
    source = one_file("dots")
    bot = league_bots.enter_uploaded(engine, "dots", LOCAL, "Mine", source, [])
    league_bots.add_version(engine, bot, source + "# better\n", [])
    begin_ladder(engine, "dots")
    listed = client.get(f"/api/v1/bots/{bot}/versions").json()
    assert [(one["number"], one["current"]) for one in listed] == [(2, True), (1, False)]
    assert len({one["identity"] for one in listed}) == 2
    assert all(one["created"] and one["size"] for one in listed)
    assert client.get(f"/api/v1/bots/{bot}").json()["versions"] == listed
    wish = {"first": 2, "second": 1, "pairs": 1, "clock": "5s"}
    asked = client.post(f"/api/v1/bots/{bot}/versions/match", json=wish)
    assert asked.status_code == 201, asked.text
    assert [one["name"] for one in asked.json()["bots"]] == ["Mine v2", "Mine v1"]
    _work(engine)
    event = client.get(f"/api/v1/tournaments/{asked.json()['id']}").json()
    assert (event["status"], event["played"]) == ("done", 2)
    for match in client.get(f"/api/v1/matches?event={event['id']}").json():
        assert match["result"]["verdicts"] == []
        assert match["bots"] == [bot, bot]
    assert [one["games"] for one in client.get(f"/api/v1/bots/{bot}/versions").json()] == [0, 0]
    for wrong, status in (({"second": 2}, 422), ({"second": 3}, 404), ({"second": 0}, 422), ({"clock": "soon"}, 422)):
        assert client.post(f"/api/v1/bots/{bot}/versions/match", json=wish | wrong).status_code == status, wrong


def test_a_bot_that_keeps_failing_shows_its_owner_why(home: tuple[Engine, Client]) -> None:
    engine, client = home
    bot = league_bots.enter_uploaded(engine, "skysummit", LOCAL, "Broken", BROKEN, [])
    known = {one.name: one for one in league_bots.bots(engine, "skysummit")}
    game = make("skysummit")
    settings = MatchSettings("skysummit", "skysummit", game.options, 2, conditions(game, clock="5s"), 7)
    for number in range(MAX_FAILURES):
        pairing = Pairing(settings, (known["Broken"].spec, "random"), ("Broken", "random"), number, number)
        play_spec = pairing.play_spec(())
        row = play_spec.match, play_spec.to_json(), [bot, known["random"].id], 0
        league_matches.queue(engine, LADDER, [row], None)
    _work(engine)
    details = client.get(f"/api/v1/bots/{bot}").json()
    assert details["paused"] is not None
    assert (details["games"], details["failures"]) == (MAX_FAILURES, MAX_FAILURES)
    found = client.get(f"/api/v1/bots/{bot}/failures").json()
    assert len(found) == MAX_FAILURES
    assert (found[0]["cause"], found[0]["opponents"], found[0]["stderr"]) == ("crash", ["random"], "out of paper")
    assert "3" in found[0]["why"]
    assert (found[0]["sent"], found[0]["notes"]) == ("ha", [])
    page = client.get(f"/skysummit/bots/{bot}").text
    for words in (
        f"it failed {MAX_FAILURES} games in a row",
        "out of paper",
        'id="resume"',
        "against random",
        "<code>ha</code>",
    ):
        assert words in page
    assert ">paused<" in client.get("/skysummit/leaderboard").text
    rating = client.get(f"/api/v1/bots/{known['random'].id}").json()["rating"]
    assert client.post(f"/api/v1/bots/{bot}/resume").json()["paused"] is None
    assert [one.actor for one in audit.entries(engine, action=audit.BOT_RESUMED)] == ["You"]
    last = client.get("/api/v1/leaderboard/skysummit").json()[-1]
    assert last["name"] in ("Broken", "random")
    assert rating["rating"] == client.get(f"/api/v1/bots/{known['random'].id}").json()["rating"]["rating"]


def test_a_remote_bot_that_comes_back_changed_is_a_new_version(home: tuple[Engine, Client]) -> None:
    client = home[1]
    wish = {"game": "dots", "name": "Far", "kind": "remote", "identity": "abc123"}
    bot = client.post("/api/v1/bots", json=wish).json()["id"]
    for identity, number in (("abc123", 1), ("def456", 2), ("def456", 2)):
        assert client.post(f"/api/v1/bots/{bot}/token", json={"identity": identity}).status_code == 201
        newest = client.get(f"/api/v1/bots/{bot}/versions").json()[0]
        assert (newest["number"], newest["identity"]) == (number, identity)
    assert client.post(f"/api/v1/bots/{bot}/token", json={"identity": "not a hash"}).status_code == 422
    refused = client.post(f"/api/v1/bots/{bot}/versions/match", json={"first": 1, "second": 2})
    assert "only versions of an uploaded bot" in refused.json()["error"]
