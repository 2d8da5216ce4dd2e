"""Remote bots: they dial in, are cut off, and go on where they were; they never play twice."""

import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import LeagueJob
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import verify
from ludodrome.arena.transports.remote import SECRET_HEADER
from ludodrome.games import make
from ludodrome.store import accounts, league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import LADDER
from ludodrome.store.models import LOCAL
from ludodrome.web.app import create_app
from tests.arena.transports.observing_bot import answers
from tests.store.dropping import drop
from tests.web.remote_bot import RemoteBot
from tests.web.serving import serving

TOKEN = "bot_of-a-test"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[Engine, str, str]]:
    """A served league, with a remote bot in it: the database, the address, the bot's id."""
    engine = open_database(tmp_path / "league.db", create=True)
    with serving(create_app(engine)) as address:
        yield engine, address, league_bots.enter_remote(engine, "dots", LOCAL, "Far", TOKEN)
    playing._database(str(engine.url)).dispose()
    playing._database.cache_clear()
    engine.dispose()


def _order(engine: Engine, bot: str, number: int, clock: str = "30s", seat: int = 0, start_ms: int = 1000) -> LeagueJob:
    game = make("dots", rows=3, cols=3)
    specs = [f"remote:{bot}", "random"]
    bots = tuple(specs if seat == 0 else reversed(specs))
    conditions = Conditions(FORFEIT, Clock.parse(clock), start_ms=start_ms)
    return LeagueJob(PlaySpec("dots", game.options, bots, bots, conditions, number), {}, str(engine.url), "off", 0.0)


def _check(record: dict[str, Any], bot: RemoteBot, seat: int) -> None:
    """Every turn was played once, with something that the bot has said for it."""
    verify(record)
    assert record["result"]["verdicts"] == []
    for turn in record["turns"]:
        if turn["seat"] == seat:
            assert turn["move"] in bot.sent[record["match"], turn["turn"]]
    asked = [turn["turn"] for turn in record["turns"]]
    assert asked == list(range(len(asked)))


def test_a_bot_that_is_cut_off_in_mid_move_resumes(home: tuple[Engine, str, str], long: bool) -> None:
    engine, address, bot_id = home
    wanted = 200 if long else 10
    with RemoteBot(address, bot_id, TOKEN, cuts=wanted) as bot:
        number = 0
        while bot.made < wanted or number < 2:
            record = playing.play(_order(engine, bot_id, number, seat=number % 2))
            _check(record, bot, number % 2)
            number += 1
    resumed = [one for one in bot.heard if one["type"] == "hello" and one.get("resumed")]
    assert bot.made == wanted
    assert len(resumed) >= wanted / 2
    again = [one for one in bot.heard if one["type"] == "turn"]
    assert len(again) > len({(one["match"], one["turn"]) for one in again})  # some questions were put twice
    assert all(one["deadline_ms"] <= 31_000 for one in again)


def test_the_clock_runs_on_while_nobody_is_there(home: tuple[Engine, str, str]) -> None:
    engine, _, bot_id = home
    began = time.monotonic()
    record = playing.play(_order(engine, bot_id, 1, "200ms", start_ms=0))
    assert time.monotonic() - began < 5
    (verdict,) = record["result"]["verdicts"]
    assert (verdict["seat"], verdict["cause"]) == (0, "timeout")
    assert "not connected" in verdict["why"]
    assert record["result"]["winner"] == 1


def test_answers_to_other_turns_and_matches_are_dropped_and_noted(home: tuple[Engine, str, str]) -> None:
    engine, address, bot_id = home
    records: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: records.append(playing.play(_order(engine, bot_id, 2))))
    with connect(
        f"{address.replace('http', 'ws')}/api/v1/bots/{bot_id}/connect", additional_headers=_bearer(TOKEN)
    ) as line:
        thread.start()
        while (message := json.loads(line.recv(20)))["type"] != "over":
            if message["type"] == "turn":
                move = message["legal_moves"][0]
                wrong = [{"turn": message["turn"] + 1}, {"turn": message["turn"], "match": "m-other"}]
                for one in ({"type": "move", "move": move, **more} for more in wrong):
                    line.send(json.dumps(one))
                line.send(json.dumps({"type": "log", "text": "thinking"}))
                line.send(
                    json.dumps({"type": "move", "move": move, "turn": message["turn"], "match": message["match"]})
                )
    thread.join(20)
    (record,) = records
    assert record["result"]["verdicts"] == []
    assert any("was dropped" in note for note in record["notes"][0])
    assert record["turns"][0]["log"] == ["thinking"]


@pytest.mark.parametrize("observe", ["all", "none"])
def test_a_bot_that_answers_observe_and_one_that_does_not(
    observe: str, home: tuple[Engine, str, str], long: bool
) -> None:
    """Dots asks both seats: neither kind of bot gets a verdict, through the real server."""
    engine, address, bot_id = home
    url = f"{address.replace('http', 'ws')}/api/v1/bots/{bot_id}/connect"
    with connect(url, additional_headers=_bearer(TOKEN)) as line:
        thread = threading.Thread(target=_answer_all, args=(line, observe))
        thread.start()
        for number in range(200 if long else 10):
            seat = number % 2
            record = playing.play(_order(engine, bot_id, number, seat=seat))
            verify(record)
            assert record["result"]["verdicts"] == []
            noted = [note for notes in record.get("notes", []) for note in notes]
            assert all("came in turn" in note and "was dropped" in note for note in noted)  # of the game before
            own = [turn for turn in record["turns"] if turn["seat"] == seat]
            assert [json.loads(turn["log"][-1]) for turn in own] == [
                ["turn", turn["turn"], turn["move"]] for turn in own
            ]
    thread.join(20)


def _answer_all(line: ClientConnection, observe: str) -> None:
    """Answer every message as ``observing_bot.py`` does, until the connection is closed."""
    rng = random.Random(1)
    try:
        for text in line:
            for said in answers(json.loads(text), rng, observe, "all", False):
                line.send(json.dumps(said))
    except ConnectionClosed:
        pass


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("no json", "protocol"),
        ('{"type": "move", "move": 1}', "protocol"),
        ('{"type": "error", "error": "I give up", "turn": 0}', "error"),
        ('{"type": "move", "move": {"orient": "H", "r": 9, "c": 0}, "turn": 0}', "illegal"),
        ("[" * 100, "protocol"),
    ],
)
def test_what_a_bot_may_not_say(home: tuple[Engine, str, str], said: str, cause: str) -> None:
    engine, address, bot_id = home
    records: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: records.append(playing.play(_order(engine, bot_id, 3))))
    with connect(
        f"{address.replace('http', 'ws')}/api/v1/bots/{bot_id}/connect", additional_headers=_bearer(TOKEN)
    ) as line:
        thread.start()
        while json.loads(line.recv(20))["type"] != "turn":
            pass
        line.send(said)
        thread.join(20)
    assert records[0]["result"]["verdicts"][0]["cause"] == cause


def test_who_may_connect(home: tuple[Engine, str, str]) -> None:
    engine, address, bot_id = home
    row, secret = accounts.add_token(engine, LOCAL, "a laptop", ["bots"])
    _, other = accounts.add_token(engine, LOCAL, "a phone", ["play"])
    stranger = accounts.add_account(engine, "Stranger", "hash")
    _, theirs = accounts.add_token(engine, stranger.id, "theirs", ["bots"])
    url = f"{address.replace('http', 'ws')}/api/v1/bots/{bot_id}"
    for good in (TOKEN, secret):
        with connect(f"{url}/connect", additional_headers=_bearer(good)):
            pass
    league_bots.set_token(engine, bot_id, "another")
    builtin = next(one.id for one in league_bots.bots(engine, "dots") if one.kind == "builtin")
    accounts.revoke(engine, LOCAL, row.id)
    for path, headers in (
        (f"{url}/connect", _bearer(TOKEN)),
        (f"{url}/connect", _bearer(secret)),
        (f"{url}/connect", _bearer(other)),
        (f"{url}/connect", _bearer(theirs)),
        (f"{url}/connect", {}),
        (f"{url}x/connect", _bearer("another")),
        (f"{url}/relay", {}),
        (f"{url}/relay", {"x-relay-secret": "guessed"}),
        (f"{address.replace('http', 'ws')}/api/v1/bots/{builtin}/connect", _bearer("another")),
    ):
        with pytest.raises(InvalidStatus, match="403"), connect(path, additional_headers=headers):
            pass
    with connect(f"{url}/connect", additional_headers=_bearer("another")):
        with pytest.raises(InvalidStatus, match="403"), connect(f"{url}/relay", additional_headers=_secret("guessed")):
            pass
        with pytest.raises(InvalidStatus, match="403"), connect(f"{url}/relay", additional_headers=_secret("é")):
            pass


def test_a_bot_is_there_while_it_is_connected_and_plays_one_match_at_a_time(home: tuple[Engine, str, str]) -> None:
    engine, address, bot_id = home
    rival = next(one.id for one in league_bots.bots(engine, "dots") if one.name == "random")
    for number in range(2):
        league_matches.queue(
            engine, LADDER, [(f"m-{number}", {"game": "dots", "names": ["a", "b"]}, [bot_id, rival], 0)], None
        )
    assert league_matches.claim(engine, "r") is None
    with RemoteBot(address, bot_id, TOKEN):
        _until(lambda: _here(engine, bot_id))
        first = league_matches.claim(engine, "r")
        assert first is not None
        assert league_matches.claim(engine, "other") is None
        drop(engine, first.id)
        assert league_matches.claim(engine, "other") is not None
    _until(lambda: not _here(engine, bot_id))


def test_the_newest_connection_counts(home: tuple[Engine, str, str]) -> None:
    engine, address, bot_id = home
    url = _url(address, bot_id)
    with connect(url, additional_headers=_bearer(TOKEN)) as old, connect(url, additional_headers=_bearer(TOKEN)):
        with pytest.raises(Exception, match="replaced this one"):
            old.recv(10)
        assert _here(engine, bot_id)


def _here(engine: Engine, bot_id: str) -> bool:
    found = league_bots.find_bot(engine, bot_id)
    return found is not None and found.here


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _url(address: str, bot_id: str) -> str:
    return f"{address.replace('http', 'ws')}/api/v1/bots/{bot_id}/connect"


def _secret(text: str) -> dict[str, str]:
    return {SECRET_HEADER: text}


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}
