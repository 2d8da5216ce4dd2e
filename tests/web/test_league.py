"""The league over the API and on its pages: entering bots, asking for matches, looking at what came of it."""

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Client
from sqlalchemy import Engine

from ludodrome.arena import sandbox
from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import LeagueJob
from ludodrome.arena.ladder.prior_ratings import TREND_STEPS, prior_ratings
from ludodrome.arena.ladder.rating_updates import count_game
from ludodrome.arena.ladder.uploads import MAX_SOURCE
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.bots.starters import one_file
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import CHALLENGE
from ludodrome.store.league_ratings import finish
from ludodrome.web.app import create_app
from tests.store.dropping import drop
from tests.web import leagues
from tests.web.hosting import Hosted, hosting
from tests.web.serving import serving
from tests.web.test_pages import WEIGHT, _parts

HOSTILE = "</script><script>alert(1)</script>"


class Home:
    """A league that has played a round, and a client of its server."""

    def __init__(self, engine: Engine, client: Client, bots: dict[str, league_bots.BotEntry], games: int) -> None:
        self.engine, self.client, self.bots, self.games = engine, client, bots, games

    def ids(self, *names: str) -> list[str]:
        """Of some bots."""
        return [self.bots[name].id for name in names]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    engine = open_database(tmp_path_factory.mktemp("league") / "league.db", create=True)
    bots = leagues.settle(engine)
    games = leagues.play(engine, bots, 1, ("Chainsaw", "random", "greedy"))
    with serving(create_app(engine)) as address, Client(base_url=address, timeout=120) as client:
        yield Home(engine, client, bots, games)
    engine.dispose()


@pytest.fixture(scope="module")
def everybody() -> Iterator[Hosted]:
    with hosting() as running:
        yield running


def test_the_leaderboard_says_how_sure_it_is(home: Home) -> None:
    lines = home.client.get("/api/v1/leaderboard/dots").json()
    rated = [line for line in lines if line["rating"]]
    measured = [line for line in rated if line["kind"] == "builtin"]
    assert [line["place"] for line in rated] == list(range(1, len(rated) + 1))
    assert {line["name"] for line in rated} == {*make("dots").ladder_bots, "Chainsaw"}
    assert sum(line["games"] for line in rated) == 2 * home.games
    for line in rated:
        assert line["rating"]["low"] < line["rating"]["rating"] < line["rating"]["high"]
        assert len(line["trend"]) == (line["games"] or TREND_STEPS)  # before its first game: of its measurement
    assert {line["measured"] for line in measured} == {prior_ratings("dots").measured}
    assert all(line["place"] is None and line["measured"] is None for line in lines[len(rated) :])
    page = home.client.get("/dots/leaderboard").text
    assert page.count('<circle class="dot-mark"') == len(rated)
    assert f"measured on {prior_ratings('dots').measured}" in page
    assert home.client.get("/api/v1/leaderboard/chess").status_code == 404


def test_pages_of_the_league_say_which_options_rated_games_have(home: Home) -> None:
    for tab in ("leaderboard", "arena"):
        text = home.client.get(f"/spaces/{tab}").text
        assert "Rated games: size 3, rules live, mode rounds, rounds 5, choice blind; 1 s a move and 10 s in" in text
        assert "Rated games: rows 5, cols 5; 1 s a move and 10 s in reserve." in home.client.get(f"/dots/{tab}").text


def test_a_bot_has_its_page_its_history_and_its_records(home: Home) -> None:
    (bot_id,) = home.ids("Chainsaw")
    details = home.client.get(f"/api/v1/bots/{bot_id}").json()
    assert len(details["history"]) == details["games"] == 4
    assert {one["name"]: one["wins"] + one["draws"] + one["losses"] for one in details["rivals"]} == {
        "random": 2,
        "greedy": 2,
    }
    assert len(details["recent"]) == 4
    lines = home.client.get(f"/api/v1/bots/{bot_id}/records").text.splitlines()
    assert {json.loads(line)["match"] for line in lines} == {one["id"] for one in details["recent"]}
    assert "Chainsaw" in home.client.get(f"/dots/bots/{bot_id}").text
    assert home.client.get(f"/caldera/bots/{bot_id}").headers["location"] == f"/dots/bots/{bot_id}"
    assert home.client.get("/api/v1/bots/nobody").status_code == 404
    assert home.client.get("/dots/bots/nobody").status_code == 404


@pytest.mark.parametrize("tab", ["arena", "bots/new", "leaderboard"])
@pytest.mark.parametrize("game", ["dots", "spaces"])
def test_pages_are_light(home: Home, game: str, tab: str) -> None:
    assert sum(map(len, _parts(home.client, f"/{game}/{tab}").values())) < WEIGHT


def test_pages_of_games_that_are_none(home: Home) -> None:
    for tab in ("arena", "bots/new", "leaderboard", "bots/x", "tournaments/x", "matches/x"):
        assert home.client.get(f"/chess/{tab}").status_code == 404
    assert home.client.get("/dots/tournaments/none").status_code == 404
    assert home.client.get("/dots/matches/none").status_code == 404


def test_a_bot_is_checked_entered_changed_and_retired(home: Home) -> None:
    client, source = home.client, home.client.get("/api/v1/starters/dots").json()["source"]
    with client.stream("POST", "/api/v1/checks", json={"game": "dots", "source": "print('moo'"}) as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert lines[-1] == {"over": True}
    failure = next(line["finding"] for line in lines if line.get("finding", {}).get("grade") == "failure")
    assert "SyntaxError" in failure["stderr"]
    assert str(Path("/tmp")) not in failure["stderr"]
    entered = client.post(
        "/api/v1/bots", json={"game": "dots", "name": "New one", "kind": "uploaded", "source": source}
    )
    assert entered.status_code == 201, entered.text
    bot_id = entered.json()["id"]
    again = client.post("/api/v1/bots", json={"game": "dots", "name": "NEW ONE", "kind": "uploaded", "source": source})
    assert (again.status_code, again.json()["error"]) == (422, "there is a bot NEW ONE already")
    commented = source + f"# {HOSTILE}\n"
    assert client.post(f"/api/v1/bots/{bot_id}/versions", json={"source": commented}).json()["version"] == 2
    assert client.get(f"/api/v1/bots/{bot_id}/source").json()["source"] == commented
    page = client.get(f"/dots/bots/new?bot={bot_id}").text
    assert HOSTILE not in page
    assert "A new version of New one" in page
    assert client.post(f"/api/v1/bots/{bot_id}/retire", json={}).json()["retired"]
    refused = client.post("/api/v1/matches", json={"game": "dots", "bots": [bot_id, *home.ids("random")]})
    assert "does not play any more" in refused.json()["error"]
    assert not client.post(f"/api/v1/bots/{bot_id}/retire", json={"back": True}).json()["retired"]


@pytest.mark.parametrize("source", ["", " \n", "x\0", "é" * (MAX_SOURCE // 2 + 1), "x" * (MAX_SOURCE + 1)])
def test_what_is_no_source(home: Home, source: str) -> None:
    wish = {"game": "dots", "name": "Strange", "kind": "uploaded", "source": source}
    assert home.client.post("/api/v1/bots", json=wish).status_code == 422
    assert home.client.post("/api/v1/checks", json={"game": "dots", "source": source}).status_code == 422


def test_remote_bots_have_tokens_and_uploaded_ones_sources(home: Home) -> None:
    client = home.client
    made = client.post("/api/v1/bots", json={"game": "dots", "name": "Distant", "kind": "remote"}).json()
    assert made["token"].startswith("bot_")
    assert "token" not in client.get(f"/api/v1/bots/{made['id']}").text
    other = client.post(f"/api/v1/bots/{made['id']}/token").json()["token"]
    assert league_bots.bot_of_token(home.engine, made["token"]) is None
    found = league_bots.bot_of_token(home.engine, other)
    assert found is not None
    assert found.id == made["id"]
    (uploaded,) = home.ids("Chainsaw")
    assert client.post(f"/api/v1/bots/{uploaded}/token").status_code == 422
    assert client.post(f"/api/v1/bots/{made['id']}/versions", json={"source": "x"}).status_code == 422
    assert client.get(f"/api/v1/bots/{made['id']}/source").status_code == 404
    for wish in ({"kind": "remote", "source": "x"}, {"kind": "uploaded"}, {"kind": "builtin"}):
        assert client.post("/api/v1/bots", json={"game": "dots", "name": "Odd", **wish}).status_code == 422


def test_matches_and_tournaments_are_asked_for_and_stopped(home: Home) -> None:
    client, small = home.client, {"rows": 2, "cols": 2}
    asked = client.post(
        "/api/v1/matches", json={"game": "dots", "bots": home.ids("random", "greedy"), "options": small}
    )
    assert (asked.status_code, asked.json()["games"], asked.json()["why"]) == (201, 2, CHALLENGE)
    wish = {"game": "dots", "name": "Cup", "format": "gauntlet", "bots": home.ids("random", "greedy", "Chainsaw")}
    cup = client.post("/api/v1/tournaments", json={**wish, "options": small}).json()
    assert cup["games"] == 4
    assert [one["id"] for one in client.get("/api/v1/tournaments?game=dots").json()] == [cup["id"]]
    whole = client.get(f"/api/v1/tournaments/{cup['id']}").json()
    assert [line["games"] for line in whole["standings"]] == [0, 0, 0]
    assert "Cup" in client.get(f"/dots/tournaments/{cup['id']}").text
    assert client.get(f"/caldera/tournaments/{cup['id']}").status_code == 307
    for one in (asked.json()["id"], cup["id"]):
        stopped = client.post(f"/api/v1/tournaments/{one}/stop").json()
        assert (stopped["status"], stopped["trouble"]) == ("dropped", "it was stopped")
    pair = home.ids("random", "greedy")
    wrongs: list[dict[str, Any]] = [{"bots": [pair[0]] * 2}, {"clock": "soon"}, {"options": {"rows": 0}}]
    for wrong in wrongs:
        asked = client.post("/api/v1/matches", json={"game": "dots", "bots": pair, **wrong})
        assert asked.status_code in (404, 422)


def test_spectators_see_a_match_from_its_beginning_to_its_end(home: Home) -> None:
    game = make("dots", rows=2, cols=2)
    bots = ("random", "greedy")
    play_spec = PlaySpec("dots", game.options, bots, bots, conditions(game), 77)
    row = play_spec.match, play_spec.to_json(), home.ids(*bots), 0
    league_matches.queue(home.engine, CHALLENGE, [row], None)
    order = LeagueJob(play_spec, {}, str(home.engine.url), "off", 0.3)
    assert home.client.get(f"/dots/matches/{play_spec.match}").status_code == 200

    def work() -> None:
        claimed = league_matches.claim(home.engine, "r")
        assert claimed is not None
        playing.play(order)
        drop(home.engine, play_spec.match)

    worker = threading.Thread(target=work)
    news: list[Any] = []
    with home.client.stream("GET", f"/api/v1/matches/{play_spec.match}/events") as stream:
        worker.start()
        news = [json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:")]
    worker.join()
    playing._database(str(home.engine.url)).dispose()
    playing._database.cache_clear()
    assert news[-1] == {"match": play_spec.match, "gone": True}
    plies = [one["view"]["ply"] for one in news[:-1]]
    assert plies == sorted(set(plies))
    assert len(plies) > 2
    assert news[0]["view"]["names"] == list(bots)
    assert "chains" in news[0]["view"]["marks"]
    assert home.client.get("/api/v1/matches/none/events").status_code == 404
    assert home.client.get("/api/v1/live/chess").status_code == 404


def test_spectators_see_the_last_move(home: Home) -> None:
    """They never did: the thread that writes views ended before the last one, which was deleted with the result."""
    game = make("dots", rows=2, cols=2)
    bots = ("greedy", "random")
    opening = tuple(game.legal_moves(game.initial_state())[:1])
    play_spec = PlaySpec("dots", game.options, bots, bots, conditions(game), 78, opening)
    row = play_spec.match, play_spec.to_json(), home.ids(*bots), 0
    league_matches.queue(home.engine, CHALLENGE, [row], None)
    order = LeagueJob(play_spec, {}, str(home.engine.url), "off", 0.0)

    def work() -> None:
        assert league_matches.claim(home.engine, "r") is not None
        record = playing.play(order)
        finish(home.engine, play_spec.match, game_result(record).to_json(), record, count_game)

    worker = threading.Thread(target=work)
    with home.client.stream("GET", f"/api/v1/matches/{play_spec.match}/events") as stream:
        worker.start()
        news = [json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:")]
    worker.join()
    playing._database(str(home.engine.url)).dispose()
    playing._database.cache_clear()
    assert news[-1] == {"match": play_spec.match, "gone": True}
    last = news[-2]["view"]
    assert (last["ply"], len(last["texts"]), last["to_move"]) == (12, 11, None)
    assert (last["opening"], last["opening_movers"]) == (["H(0,0)"], [0])
    assert (
        last["result"]["returns"] == home.client.get(f"/api/v1/matches/{play_spec.match}").json()["result"]["returns"]
    )
    assert last["last"] is not None
    assert "evaluation" not in last, "what a match between people's bots is worth is not told while it is played"


def test_strangers_look_and_owners_act(everybody: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    with everybody.client() as nobody, everybody.client("Owner") as owner, everybody.client("Other") as other:
        wish = {"game": "dots", "name": "Mine", "kind": "remote"}
        assert nobody.post("/api/v1/bots", json=wish).status_code == 401
        bot_id = owner.post("/api/v1/bots", json=wish).json()["id"]
        for stranger, status in ((nobody, 401), (other, 403)):
            assert stranger.post(f"/api/v1/bots/{bot_id}/retire", json={}).status_code == status
            assert stranger.post(f"/api/v1/bots/{bot_id}/token").status_code == status
        assert other.get(f"/api/v1/bots/{bot_id}").json()["owner"] == "Owner"
        assert other.get("/api/v1/bots?mine=true").json() == []
        assert [one["id"] for one in owner.get("/api/v1/bots?mine=true").json()] == [bot_id]
        for page in ("arena", "bots/new", "leaderboard", f"bots/{bot_id}"):
            assert nobody.get(f"/dots/{page}").status_code == 200
        monkeypatch.setattr(
            sandbox, "level", lambda refresh=False: sandbox.SandboxLevel("none", ("nothing holds here",))
        )
        upload = {"game": "dots", "name": "Up", "kind": "uploaded", "source": one_file("dots")}
        refused = owner.post("/api/v1/bots", json=upload)
        assert refused.status_code == 409
        assert "nothing holds here" in refused.json()["error"]
        assert "nothing holds here" in owner.get("/dots/bots/new").text
        league_bots.ban(everybody.engine, bot_id, True)
        assert nobody.get(f"/api/v1/bots/{bot_id}").status_code == 404


def test_a_strangers_bot_runs_in_a_sandbox_or_not_at_all(everybody: Hosted) -> None:
    if not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here, and nothing was run: {sandbox.level().sentence}")
    nosy = 'import os\nif os.path.exists("/etc/passwd"):\n    raise SystemExit("it sees files")\n' + one_file("dots")
    upload = {"game": "dots", "name": "Boxed", "kind": "uploaded", "source": nosy}
    with everybody.client("Owner") as owner:
        entered = owner.post("/api/v1/bots", json=upload)
    assert entered.status_code == 201, entered.text


def test_a_module_is_entered_where_no_sandbox_holds(everybody: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wasmtime")
    from tests.arena.wasm_zoo import program, saying  # it needs the engine

    monkeypatch.setattr(sandbox, "level", lambda refresh=False: sandbox.SandboxLevel("none", ("nothing holds here",)))
    module = base64.b64encode(program()).decode()
    upload = {"game": "dots", "name": "Assembled", "kind": "uploaded"}
    with everybody.client("Modular") as owner:
        entered = owner.post("/api/v1/bots", json={**upload, "archive": module})
        assert entered.status_code == 201, entered.text
        bot_id = entered.json()["id"]
        assert owner.get(f"/api/v1/bots/{bot_id}/source").json() == {"archive": module}
        assert "A new version of Assembled" in owner.get(f"/dots/bots/new?bot={bot_id}").text
        begun = owner.post("/api/v1/plays", json={"game": "dots", "seats": ["person", f"bot:{bot_id}"]})
        assert begun.status_code == 201, begun.text
        for bad, why in (
            (saying("moo\n"), "protocol: the line is not JSON"),
            (program()[:-9], "is not a valid module"),
            (b"\0asm\x01\0\0\0", "exports no function _start"),
        ):
            archive = base64.b64encode(bad).decode()
            refused = owner.post(f"/api/v1/bots/{bot_id}/versions", json={"archive": archive})
            assert refused.status_code == 422
            assert why in refused.json()["error"]
            assert "/tmp" not in refused.json()["error"]
        huge = base64.b64encode(bytes(700_000)).decode()
        assert owner.post(f"/api/v1/bots/{bot_id}/versions", json={"archive": huge}).status_code in (413, 422)
