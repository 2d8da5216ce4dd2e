"""Point 5: a bot's stderr and tracebacks are in the record that anybody may read; odd options make bots fail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ludodrome.arena import records
from ludodrome.arena.ladder import events, playing
from ludodrome.arena.ladder.rating_updates import count_game
from ludodrome.arena.ladder.scheduler import OFF, LadderScheduler
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.records import archive
from ludodrome.games import GAMES, make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import CHALLENGE, FinishedGameRow
from ludodrome.store.league_ratings import finish
from ludodrome.store.models import unpacked
from tests.web.hosting import Hosted, hosting

SECRET_LINE = "secret_line = my_clever_table"
SOURCE = f"""import json, sys
count = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        count += 1
        print("{SECRET_LINE}[1]", file=sys.stderr, flush=True)
        print(json.dumps({{"type": "log", "text": "{SECRET_LINE}[2]"}}), flush=True)
        info = {{"type": "info", "score": 5, "text": "{SECRET_LINE}[6]", "pv": ["{SECRET_LINE}[7]"]}}
        print(json.dumps(info), flush=True)
        if count == 2:
            print(json.dumps({{"type": "error", "error": "{SECRET_LINE}[3]", "turn": message["turn"]}}), flush=True)
        elif count == 3:
            print("{SECRET_LINE}[4]", flush=True)
        elif count == 4:
            {SECRET_LINE}[5]  # a NameError, with this line in its traceback
        else:
            move = message["legal_moves"][0]
            print(json.dumps({{"type": "move", "move": move, "turn": message["turn"]}}), flush=True)
"""
SMALL = {"rows": 2, "cols": 2}
API = "/api/v1"
OLD_RECORDS = Path(__file__).parents[1] / "arena" / "records" / "version_1.jsonl"


@pytest.fixture(scope="module")
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        ensure_local(running.engine)
        yield running
        playing._database(str(running.engine.url)).dispose()
        playing._database.cache_clear()


def _ids(engine: Engine, *names: str) -> list[str]:
    found = {one.name: one.id for one in league_bots.bots(engine, "dots")}
    return [found[name] for name in names]


@pytest.fixture(scope="module")
def match(hosted: Hosted) -> str:
    """A finished game of a bot that says lines of its source in every way it can."""
    engine = hosted.engine
    bot = league_bots.enter_uploaded(engine, "dots", hosted.person("Owner").id, "Teller", SOURCE, [])
    pair = [one for one in league_bots.bots(engine, "dots") if one.id == bot or one.name == "random"]
    event = events.ask(engine, "dots", pair, hosted.person("Owner").id, options=SMALL, openings=False)
    agenda = LadderScheduler(engine, str(engine.url), "r", OFF)
    for _ in range(4):
        if (job := agenda.next()) is not None:
            agenda.done(job, job.function(job.argument))
    games = league_matches.event_games(engine, event)
    assert len(games) == agenda.finished == 2
    return games[0][0]


def test_point_5_nobody_else_reads_a_bots_own_words(hosted: Hosted, match: str) -> None:
    (teller,) = _ids(hosted.engine, "Teller")
    with hosted.client() as nobody, hosted.client("Other") as other:
        for caller in (nobody, other):
            for path in (
                f"{API}/replays/{match}",
                f"{API}/replays/{match}/record",
                f"{API}/bots/{teller}/records",
                f"{API}/bots/{teller}",
                f"{API}/matches/{match}",
                f"/games/{match}",
            ):
                answer = caller.get(path)
                assert answer.status_code == 200, path
                assert SECRET_LINE not in answer.text, path
        assert nobody.get(f"{API}/matches/{match}/logs").status_code == 401
        assert other.get(f"{API}/matches/{match}/logs").status_code == 403
        record = nobody.get(f"{API}/replays/{match}/record").json()
        assert '"logs":true' not in other.get(f"/games/{match}").text.replace(" ", "")
    records.verify(record)
    told = [(one["cause"], one["why"]) for one in record["result"]["verdicts"]]
    assert {"score": 5} in [info for turn in record["turns"] for info in turn.get("info", ())]
    assert ("error", "it reported an error") in told
    assert ("protocol", "it sent a malformed line") in told
    assert ("crash", "it exited with code 1") in told
    with Session(hosted.engine) as session:
        kept = session.get(FinishedGameRow, match)
        assert kept is not None
        assert SECRET_LINE not in json.dumps(unpacked(kept.record))  # nor is it in what is stored for everybody


def test_point_5_the_owner_and_administrators_read_them(hosted: Hosted, match: str) -> None:
    with hosted.client("Owner") as owner, hosted.client("Chief") as chief:
        (mine,) = owner.get(f"{API}/matches/{match}/logs").json()
        everything = chief.get(f"{API}/matches/{match}/logs").json()
        assert '"logs":true' in owner.get(f"/games/{match}").text.replace(" ", "")
        assert owner.get(f"{API}/matches/none/logs").status_code == 404
    assert mine["name"] == "Teller"
    assert f"{SECRET_LINE}[1]" in mine["stderr"]
    assert "NameError" in mine["stderr"]
    said = json.dumps(mine["turns"])
    assert all(f"{SECRET_LINE}[{number}]" in said for number in (2, 3, 4, 6, 7))
    assert [one["seat"] for one in everything] == [0, 1]
    assert mine in everything


def test_point_5_records_from_before_are_stripped_when_they_are_served(hosted: Hosted) -> None:
    engine = hosted.engine
    bot = league_bots.enter_remote(engine, "dots", hosted.person("Owner").id, "Former", "a secret of a test")
    for record in archive.find([OLD_RECORDS]):
        assert record["version"] == 1
        ids = [bot, *_ids(engine, "random")]
        league_matches.queue(engine, CHALLENGE, [(record["match"], record, ids, 0)], None)
        finish(engine, record["match"], game_result(record).to_json(), record, count_game)
        with hosted.client() as nobody, hosted.client("Owner") as owner:
            answer = nobody.get(f"{API}/replays/{record['match']}/record")
            mine = owner.get(f"{API}/matches/{record['match']}/logs")
        assert SECRET_LINE not in answer.text
        served: dict[str, Any] = answer.json()
        assert not {"stderr", "notes"} & served.keys()
        records.verify(served)
        assert (SECRET_LINE in mine.text) is (SECRET_LINE in json.dumps(record))


def test_point_5_bots_of_others_are_challenged_with_known_options(hosted: Hosted) -> None:
    engine = hosted.engine
    league_bots.enter_uploaded(engine, "dots", hosted.person("Owner").id, "Owned", SOURCE, [])
    league_bots.enter_uploaded(engine, "dots", hosted.person("Other").id, "Foreign", SOURCE, [])
    own, foreign, builtin = _ids(engine, "Owned", "Foreign", "random")
    odd = {"rows": 1, "cols": 21}
    with hosted.client("Owner") as owner:

        def asked(bots: list[str], options: dict[str, Any]) -> Any:
            answer = owner.post(f"{API}/matches", json={"game": "dots", "bots": bots, "options": options})
            if answer.status_code == 201:
                owner.post(f"{API}/tournaments/{answer.json()['id']}/stop")
            return answer

        refused = asked([own, foreign], odd)
        assert refused.status_code == 422
        assert refused.json()["error"].startswith(
            "bots of other people play dots with its usual options, rows=2 cols=2"
        )
        cup = {"game": "dots", "name": "Cup", "bots": [own, foreign], "options": odd}
        assert owner.post(f"{API}/tournaments", json=cup).status_code == 422
        assert asked([own, builtin], odd).status_code == 201
        for usual in ({}, {"rows": 5}, {"rows": 3, "cols": 3}):
            assert asked([own, foreign], usual).status_code == 201
    spaces = [one for one in league_bots.bots(engine, "spaces") if one.name in ("random", "greedy")]
    with pytest.raises(ValueError, match="on the page spaces has 1 to 25 rounds"):
        events.ask(engine, "spaces", spaces, hosted.person("Owner").id, options={"rounds": 26})


def test_point_5_the_options_of_challenges_exist() -> None:
    for game_id in GAMES:
        for options in make(game_id).challenge_options:
            assert make(game_id, **options).options != make(game_id).options
