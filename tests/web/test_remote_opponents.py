"""People against remote bots: one game at a time, shared with the league, waited for, and given back."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx import Client
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session
from websockets.sync.client import connect

from ludodrome.store import league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import LADDER, ReservationRow
from ludodrome.store.league_presence import RESERVATION_MS
from ludodrome.store.models import LOCAL
from ludodrome.web import programs, remote_opponents
from ludodrome.web.app import create_app
from tests.web.hosting import Hosted, hosting
from tests.web.remote_bot import RemoteBot
from tests.web.serving import serving
from tests.web.walking import API, begin, move, play_out, settled

SMALL = {"rows": 1, "cols": 2}
TOKEN = "bot_of-a-test"
PATIENCE = 30.0
"""Seconds for a loaded machine."""


@pytest.fixture(scope="module")
def local() -> Iterator[Hosted]:
    """A server of one's own."""
    with hosting("local", sandbox="off") as running:
        yield running


@pytest.fixture
def bot_id(local: Hosted, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A remote bot that is entered, and not connected yet."""
    monkeypatch.setattr(remote_opponents, "AWAY_SECONDS", 0.2)
    monkeypatch.setattr(remote_opponents, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(league_matches, "LEASE_MS", 3_600_000)
    name = request.node.name.removeprefix("test_")[-30:]
    return league_bots.enter_remote(local.engine, "dots", LOCAL, name, f"{TOKEN} {name}")


def _token(engine: Engine, bot_id: str) -> str:
    entry = league_bots.find_bot(engine, bot_id)
    assert entry is not None
    return f"{TOKEN} {entry.name}"


def _is_here(engine: Engine, bot_id: str) -> bool:
    entry = league_bots.find_bot(engine, bot_id)
    return entry is not None and entry.here


@contextmanager
def _bot(address: str, engine: Engine, bot_id: str) -> Iterator[RemoteBot]:
    """A bot that is connected, and known to be."""
    with RemoteBot(address, bot_id, _token(engine, bot_id)) as bot:
        _until(lambda: _is_here(engine, bot_id))
        yield bot


def _until(seen: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := seen()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    return found


def _view(client: Client, view: Any) -> Any:
    return client.get(f"{API}/plays/{view['id']}").json()


def _held_up(client: Client, view: Any, why: str) -> Any:
    """The play once it waits for this reason."""

    def seen() -> Any:
        found = _view(client, view)
        return found if found["held_up"] is not None and found["held_up"]["why"] == why else None

    return _until(seen)


def _reserved(engine: Engine, bot: str) -> list[str]:
    with Session(engine) as session:
        return list(session.scalars(select(ReservationRow.play).where(ReservationRow.bot == bot)))


def _queue(engine: Engine, bot: str, match: str) -> None:
    play_spec = {"game": "dots", "names": ["Far"], "bots": [f"remote:{bot}"]}
    league_matches.queue(engine, LADDER, [(match, play_spec, [bot], 0)], None)


def test_a_person_plays_a_whole_game_and_the_ladder_waits(local: Hosted, bot_id: str) -> None:
    seats = ["person", f"bot:{bot_id}"]
    with _bot(local.address, local.engine, bot_id) as bot, local.client() as client:
        _queue(local.engine, bot_id, "m-waits")
        view = begin(client, "dots", seats, options=SMALL)
        assert _reserved(local.engine, bot_id) == [view["id"]], "it is reserved before its first move"
        assert league_matches.claim(local.engine, "runner") is None
        view = settled(client, move(client, view, view["position"]["legal"][0]))
        assert [one["seat"] for one in view["moves"]][:2] == [0, 1]
        view = play_out(client, view)
        assert view["result"]["verdicts"] == []
        assert bot.over.wait(PATIENCE), "it is told that the game is over"
        _until(lambda: not _reserved(local.engine, bot_id))
        assert league_matches.claim(local.engine, "runner") is not None
        league_matches.release(local.engine, "runner")
        assert league_bots.standing(local.engine, bot_id) is not None
        assert league_bots.history(local.engine, bot_id) == [], "games with people are not rated"
        record = client.get(f"{API}/plays/{view['id']}/record").json()
        said = bot.sent
        for turn in record["turns"]:
            if turn["seat"] == 1:
                assert turn["move"] in said[record["match"], turn["turn"]]


def test_one_that_is_in_a_match_is_waited_for(local: Hosted, bot_id: str) -> None:
    with _bot(local.address, local.engine, bot_id), local.client() as client:
        _queue(local.engine, bot_id, "m-first")
        assert league_matches.claim(local.engine, "the runner") is not None
        view = begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL, clock="30s")
        held = _held_up(client, view, "match")
        assert "comes to this game next" in held["held_up"]["text"]
        assert held["held_up"]["seat"] == 0
        assert held["seats"][0]["left_ms"] == 30_000, "its clock does not run meanwhile"
        assert held["moves"] == []
        league_matches.release(local.engine, "the runner")
        view = settled(client, _until(lambda: (found := _view(client, view))["moves"] and found))
        _until(lambda: _view(client, view)["held_up"] is None)
        assert view["moves"][0]["seat"] == 0
        client.post(f"{API}/plays/{view['id']}/resign", json={})


def test_one_that_is_in_somebody_elses_game_comes_next(local: Hosted, bot_id: str) -> None:
    with _bot(local.address, local.engine, bot_id), local.client() as client:
        first = settled(client, begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL))
        second = begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL)
        assert "somebody else" in _held_up(client, second, "play")["held_up"]["text"]
        client.post(f"{API}/plays/{first['id']}/resign", json={})
        second = _until(lambda: (found := _view(client, second))["moves"] and found)
        _until(lambda: _view(client, second)["held_up"] is None)
        client.post(f"{API}/plays/{second['id']}/resign", json={})


def test_one_that_disconnects_is_waited_for_and_the_game_goes_on(local: Hosted, bot_id: str) -> None:
    with local.client() as client:
        with _bot(local.address, local.engine, bot_id):
            view = settled(client, begin(client, "dots", ["person", f"bot:{bot_id}"], options=SMALL))
        held = _held_up(client, view, "away")
        assert held["to_move"] == 0, "the person is told in their own turn too"
        answer = client.post(f"{API}/plays/{view['id']}/moves", json={"move": view["position"]["legal"][0]})
        assert answer.status_code == 200
        held = _held_up(client, view, "away")
        assert held["to_move"] == 1
        assert held["result"] is None
        with _bot(local.address, local.engine, bot_id):
            view = _until(lambda: (found := _view(client, view))["version"] > held["version"] and found)
            assert view["result"] is None or view["result"]["verdicts"] == []
            view = play_out(client, view)
        assert view["result"]["verdicts"] == []


def test_one_cut_off_in_mid_move_is_greeted_as_resumed(local: Hosted, bot_id: str) -> None:
    url = f"{local.address.replace('http', 'ws')}{API}/bots/{bot_id}/connect"
    bearer = {"Authorization": f"Bearer {_token(local.engine, bot_id)}"}
    with local.client() as client:
        with connect(url, additional_headers=bearer) as line:
            _until(lambda: _is_here(local.engine, bot_id))
            view = begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL)
            while json.loads(line.recv(PATIENCE))["type"] != "turn":
                pass
        _held_up(client, view, "away")
        with connect(url, additional_headers=bearer) as line:
            hello, turn = (json.loads(line.recv(PATIENCE)) for _ in range(2))
            assert hello["type"] == "hello"
            assert hello["resumed"] is True
            line.send(json.dumps({"type": "move", "move": turn["legal_moves"][0], "turn": 0, "match": turn["match"]}))
            view = settled(client, _until(lambda: (found := _view(client, view))["moves"] and found))
            _until(lambda: _view(client, view)["held_up"] is None)
            client.post(f"{API}/plays/{view['id']}/resign", json={})
            assert json.loads(line.recv(PATIENCE))["type"] == "over"


def test_an_idle_game_gives_it_back_and_has_it_again(local: Hosted, bot_id: str) -> None:
    with _bot(local.address, local.engine, bot_id), local.client() as client:
        view = settled(client, begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL))
        with Session(local.engine) as session:
            older = ReservationRow.expires - RESERVATION_MS - 60_000
            session.execute(update(ReservationRow).where(ReservationRow.bot == bot_id).values(expires=older))
            session.commit()
        _queue(local.engine, bot_id, "m-idle")
        assert league_matches.claim(local.engine, "a runner") is not None, "the ladder has it again"
        client.post(f"{API}/plays/{view['id']}/moves", json={"move": view["position"]["legal"][0]})
        _held_up(client, view, "match")
        league_matches.release(local.engine, "a runner")
        view = _until(lambda: len((found := _view(client, view))["moves"]) > 2 and found)
        _until(lambda: _view(client, view)["held_up"] is None)
        client.post(f"{API}/plays/{view['id']}/resign", json={})


def test_after_an_undo_its_game_begins_anew(local: Hosted, bot_id: str) -> None:
    with _bot(local.address, local.engine, bot_id) as bot, local.client() as client:
        view = begin(client, "dots", ["person", f"bot:{bot_id}"])
        view = settled(client, move(client, view, view["position"]["legal"][0]))
        view = client.post(f"{API}/plays/{view['id']}/undo").json()
        assert view["moves"] == []
        view = settled(client, move(client, view, view["position"]["legal"][1]))
        assert [one["seat"] for one in view["moves"]] == [0, 1]
        kinds = [(one["type"], one.get("resumed")) for one in bot.heard if one["type"] in ("hello", "turn")]
        assert kinds == [("hello", None), ("turn", None)] * 2
        client.post(f"{API}/plays/{view['id']}/resign", json={})


def test_a_game_that_ends_while_it_thinks_gives_it_back_at_once(
    local: Hosted, bot_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "MOVE_SECONDS", 600.0)
    url = f"{local.address.replace('http', 'ws')}{API}/bots/{bot_id}/connect"
    bearer = {"Authorization": f"Bearer {_token(local.engine, bot_id)}"}
    with local.client() as client, connect(url, additional_headers=bearer) as line:
        _until(lambda: _is_here(local.engine, bot_id))
        view = begin(client, "dots", [f"bot:{bot_id}", "person"], options=SMALL)
        while json.loads(line.recv(PATIENCE))["type"] != "turn":
            pass
        client.post(f"{API}/plays/{view['id']}/resign", json={})
        assert json.loads(line.recv(PATIENCE))["type"] == "over"
        _until(lambda: not _reserved(local.engine, bot_id))


def test_refusals(local: Hosted, bot_id: str) -> None:
    def refusal(*seats: str) -> tuple[int, str]:
        answer = client.post(f"{API}/plays", json={"game": "dots", "seats": list(seats)})
        return answer.status_code, answer.json()["error"]

    bot = f"bot:{bot_id}"
    with local.client() as client:
        assert refusal(bot, "person") == (
            409,
            "refusals is not connected now; it can be played while its owner lets it run",
        )
        with _bot(local.address, local.engine, bot_id):
            assert "against people" in refusal(bot, "random")[1]
            assert "one seat" in refusal(bot, bot)[1]
        assert _reserved(local.engine, bot_id) == []


def test_a_guest_plays_against_somebody_elses_bot_and_holds_two(hosted: Hosted) -> None:
    owner = hosted.person("Owner").id
    bots = [league_bots.enter_remote(hosted.engine, "dots", owner, f"Held {at}", f"{TOKEN} Held {at}") for at in "abc"]
    with ExitStack() as stack:
        for one in bots:
            stack.enter_context(_bot(hosted.address, hosted.engine, one))
        guest = stack.enter_context(hosted.client())
        for one in bots:
            view = begin(guest, "dots", ["person", f"bot:{one}"])
            guest.headers["x-play-key"] = view["key"]
            view = settled(guest, move(guest, view, view["position"]["legal"][0]))
            assert len(view["moves"]) == 2
        held = [bool(_reserved(hosted.engine, one)) for one in bots]
        assert held == [False, True, True], "the game that was idle longest made room"


def test_a_game_in_another_web_process_reaches_it(tmp_path: Path) -> None:
    """The seat dials the process that holds the connection; viewers in either see that it is away."""
    where = tmp_path / "league.db"
    engines = [open_database(where, create=True) for _ in range(2)]
    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(create_app(engine, processes=2))) for engine in engines]
        bot_id = league_bots.enter_remote(engines[0], "dots", LOCAL, "Far", f"{TOKEN} Far")
        clients = [stack.enter_context(Client(base_url=one, timeout=60)) for one in addresses]
        with _bot(addresses[0], engines[0], bot_id) as bot:
            view = begin(clients[1], "dots", [f"bot:{bot_id}", "person"])
            view = settled(clients[1], view)
            for number in range(6):  # whichever process takes the move asks the bot
                client = clients[number % 2]
                legal = _view(client, view)["position"]["legal"]
                answer = client.post(f"{API}/plays/{view['id']}/moves", json={"move": legal[0]})
                assert answer.status_code == 200, answer.text
                view = settled(client, answer.json())
                assert view["result"] is None
                assert view["to_move"] == 1
            assert len(bot.sent) >= 7
        for client in clients:
            _held_up(client, view, "away")
    for engine in engines:
        engine.dispose()


def test_both_processes_wait_and_one_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_opponents, "AWAY_SECONDS", 0.2)
    monkeypatch.setattr(remote_opponents, "WATCH_SECONDS", 0.05)
    engines = [open_database(tmp_path / "league.db", create=True) for _ in range(2)]
    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(create_app(engine, processes=2))) for engine in engines]
        bot_id = league_bots.enter_remote(engines[0], "dots", LOCAL, "Far", f"{TOKEN} Far")
        clients = [stack.enter_context(Client(base_url=one, timeout=60)) for one in addresses]
        with _bot(addresses[0], engines[0], bot_id):
            view = settled(clients[0], begin(clients[0], "dots", ["person", f"bot:{bot_id}"]))
        answer = clients[0].post(f"{API}/plays/{view['id']}/moves", json={"move": view["position"]["legal"][0]})
        assert answer.status_code == 200
        for client in clients:
            _held_up(client, view, "away")
        with _bot(addresses[1], engines[0], bot_id) as bot:
            _until(lambda: all(len(_view(client, view)["moves"]) == 2 for client in clients))
            assert len(bot.sent) == 1, "it was asked for one move"
    for engine in engines:
        engine.dispose()
