"""Tournaments of the command line on the page."""

import json
import sys
from pathlib import Path

import pytest
from httpx import Client

import ludodrome
from ludodrome.arena.tournaments.publishing import publish_tournament
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from ludodrome.store import league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import TOURNAMENT
from ludodrome.web import league
from ludodrome.web.app import create_app
from tests.arena import quick
from tests.arena.matches.test_failures import FIRST
from tests.cli.running import complaint, output, run
from tests.web.serving import serving

pytestmark = pytest.mark.xdist_group("dots")


def test_a_tournament_of_the_command_line_is_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot").mkdir()
    Path("bot/first.py").write_text(FIRST)
    given = [f"mine=cmd:{sys.executable} -S bot/first.py", "greedy", "random"]
    both = [ludodrome.make("dots", rows=2, cols=2), ludodrome.make("dots", rows=1, cols=2)]
    played = ludodrome.tournament(both, given, name="cup", openings=False, clock="5s", workers=0, store="cup.sqlite")
    assert played.finished
    games = ["--game", "dots:rows=2,cols=2", "--game", "dots:rows=1,cols=2", "--no-openings", "--clock", "5s"]
    bots = [word for bot in given for word in ("--bot", bot)]
    told = output("tournament", "run", "--name", "cup", *games, *bots, "--resume", "--publish", "--db", "server.db")
    lines = [line for line in told.splitlines() if line.startswith("published: /dots/tournaments/")]
    assert len(lines) == 2
    engine = open_database(tmp_path / "server.db")
    events = league_matches.events(engine, "dots", TOURNAMENT, 10)
    assert {event.name for event in events} == {"cup"}
    shown = json.loads(output("tournament", "show", "cup.sqlite", "--json"))
    for event in events:
        details = league.event_details(engine, event)
        assert (details["played"], details["games"], details["status"]) == (6, 6, "done")
        name = event.plan["games"][0]["name"]
        points = {player["name"]: player["points"] for player in shown["games"][name]["players"]}
        assert {line["name"]: line["points"] for line in details["standings"]} == points
    again = output("tournament", "publish", "cup.sqlite", "--db", "server.db")
    assert again.splitlines() == lines
    assert len(league_matches.events(engine, "dots", TOURNAMENT, 10)) == 2
    mine = next(bot for bot in league_bots.bots(engine, "dots") if bot.name == "mine")
    assert not mine.here
    event_id = events[0].id
    with serving(create_app(engine)) as address, Client(base_url=address, follow_redirects=True) as client:
        assert client.get(f"/dots/tournaments/{event_id}").status_code == 200
        assert any(one["id"] == event_id for one in client.get("/api/v1/tournaments?game=dots").json())
        matches = client.get(f"/api/v1/matches?event={event_id}&most=100").json()
        assert len(matches) == 6
        assert client.get(f"/dots/matches/{matches[0]['id']}").status_code == 200
        assert client.get(f"/dots/bots/{mine.id}").status_code == 200


def test_tags_of_a_bots_file_are_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are shown, and change nothing: a tournament goes on with other tags."""
    monkeypatch.chdir(tmp_path)
    file = '[[bots]]\nname = "one"\nspec = "random"\ntags = ["new", "<b>"]\n[[bots]]\nname = "two"\nspec = "greedy"\n'
    Path("bots.toml").write_text(file)
    run_it = ["tournament", "run", "--name", "cup", "--game", "dots:rows=1,cols=2", "--no-openings", "--workers", "1"]
    run_it += ["--bots", "bots.toml", "--bot", "one", "--bot", "two", "--publish", "--db", "server.db"]
    output(*run_it)
    engine = open_database(tmp_path / "server.db")

    def shown() -> tuple[int, dict[str, list[str]]]:
        (event,) = league_matches.events(engine, "dots", TOURNAMENT, 10)
        details = league.event_details(engine, event)
        return details["played"], {line["name"]: line["tags"] for line in details["standings"]}

    assert shown() == (2, {"one": ["new", "<b>"], "two": []})
    Path("bots.toml").write_text(file.replace('["new", "<b>"]', '["old"]'))
    assert "2 of 2 games were recalled" in output(*run_it, "--resume")
    assert shown() == (2, {"one": ["old"], "two": []})
    assert "cup" in output("tournament", "show", "cup.sqlite")


def test_formats_that_the_page_does_not_show_are_refused(tmp_path: Path) -> None:
    swiss = Tournament(quick.plan(format="swiss", bots=["random", "greedy"]), MemoryLedger())
    with pytest.raises(ValueError, match="the page shows tournaments of the formats round-robin and gauntlet"):
        publish_tournament(open_database(tmp_path / "server.db", create=True), swiss)
    assert "there is no file none.sqlite" in complaint(run("tournament", "publish", "none.sqlite"))
