"""The Python client, against a real server."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from ludodrome.arena import records
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import LeagueJob
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.bots.player import Budget
from ludodrome.client import Client, Refused, connect_bot
from ludodrome.games import make
from tests.web import serving

SMALL = {"rows": 1, "cols": 2}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving.server() as address, Client(address) as opened:
        yield opened


def test_a_game_is_played_move_by_move(client: Client) -> None:
    assert "dots" in [game["id"] for game in client.games()]
    assert "random" in client.game("dots")["bots"]
    play = client.begin("dots", ["person", "random"], SMALL, clock="5m++3s", seed=3)
    with pytest.raises(Refused, match="once it is over") as refused:
        play.record()
    assert refused.value.status == 409
    play.wait()
    play.move(play.view["position"]["legal"][0])
    play.wait()
    play.undo()
    assert play.view["moves"] == []
    with pytest.raises(Refused) as refused:
        play.move({"orient": "X"})
    assert refused.value.status == 422
    while not play.over:
        play.move(play.wait()["position"]["legal"][0])
        play.wait()
    records.verify(play.record())
    assert client.record(play.id) == play.record()
    assert play.position(0)["to_move"] == 0
    assert client.plays(most=1)[0]["id"] == play.id
    again = play.rematch()
    assert again is not None
    assert [seat["spec"] for seat in again.view["seats"]] == ["random", "person"]
    again.wait()
    again.resign()
    assert again.view["result"]["winner"] == 0
    best = client.analyse("dots", play.position(0)["state"], SMALL, seconds=0.05, lines=1)
    assert len(best["lines"]) == 1


def test_friends_play_live(client: Client) -> None:
    host = client.begin("dots", ["person", "friend"], SMALL)
    (link,) = host.links
    friend = client.join(link)
    with pytest.raises(Refused):
        client.join(link)
    with host.live() as one, friend.live() as other:
        seen, heard = iter(one), iter(other)
        assert next(seen)["waiting"] is False
        one.move({"orient": "H", "r": 0, "c": 0})
        while not friend.yours:
            next(heard)
        with pytest.raises(Refused, match="not your turn"):
            one.move({"orient": "H", "r": 0, "c": 1})
        with pytest.raises(Refused, match="only the owner of a game without friends"):
            other.undo()
        other.resign()
        while not host.over:
            next(seen)
        assert host.view["result"]["winner"] == 0
        one.rematch()
        other.rematch()
        while friend.view["next"] is None:
            next(heard)
    assert friend.rematch() is not None


def test_tokens_and_the_league(client: Client) -> None:
    made = client.make_token("a test", ["bots"])
    assert made["secret"]
    with Client(client.url, made["secret"]) as other:
        bot = other.enter_remote_bot("dots", "Little Client")
        assert bot["token"]
        with pytest.raises(Refused, match="scope play"):
            other.begin("dots", ["person", "random"])
    assert client.bot(bot["id"])["name"] == "Little Client"
    assert bot["id"] in [one["id"] for one in client.bots("dots", mine=True)]
    assert client.bot_records(bot["id"]) == []
    assert isinstance(client.leaderboard("dots"), list)
    assert client.matches("dots", most=3) == []
    with pytest.raises(Refused):
        client.match("nothing")
    with pytest.raises(Refused):
        client.ask_match("dots", [bot["id"], "nothing"])
    assert client.retire_bot(bot["id"])["retired"]
    assert made["id"] in [one["id"] for one in client.tokens()]
    client.revoke_token(made["id"])
    assert made["id"] not in [one["id"] for one in client.tokens()]
    with pytest.raises(Refused):
        client.enter_bot("chess", "Broken", "print()")


class First:
    """Plays the first edge that is open."""

    name = "first"

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.budgets: list[Budget | None] = []
        self.closed = False

    def start(self, hello: dict[str, Any]) -> None:
        self.begun.append(hello["match"])

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        self.budgets.append(budget)
        game = make("dots", rows=2, cols=2)
        return game.legal_moves({name: value for name, value in observation.items() if name != "you"})[0]

    def close(self) -> None:
        self.closed = True


def _order(engine: Engine, bot: str, number: int) -> LeagueJob:
    game, specs = make("dots", rows=2, cols=2), (f"remote:{bot}", "random")
    conditions = Conditions(FORFEIT, Clock.parse("30s"), start_ms=20_000)
    return LeagueJob(PlaySpec("dots", game.options, specs, specs, conditions, number), {}, str(engine.url), "off", 0.0)


def test_a_remote_bot_connects_and_plays(league: tuple[Engine, str]) -> None:
    engine, address = league
    with Client(address) as client:
        entered = client.enter_remote_bot("dots", "From Afar")
    url = f"{address}/api/v1/bots/{entered['id']}/connect"
    bot, stop = First(), threading.Event()
    thread = threading.Thread(target=connect_bot, args=(url, entered["token"], bot, stop))
    thread.start()
    for number in range(2):
        record = playing.play(_order(engine, entered["id"], number))
        records.verify(record)
        assert record["result"]["verdicts"] == []
    stop.set()
    thread.join(20)
    assert not thread.is_alive()
    assert len(set(bot.begun)) == 2
    assert bot.closed
    assert all(budget is not None and budget.time for budget in bot.budgets)
    with pytest.raises(Refused, match="token is not valid"):
        connect_bot(url, "wrong", First())
