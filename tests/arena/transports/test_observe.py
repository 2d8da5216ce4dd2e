"""In games that ask every seat, an answer to ``observe`` is never taken for a move, whatever kind of bot it is."""

import json
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.server import ServerConnection, serve

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.seats import Seat
from ludodrome.arena.transports import make_seat
from ludodrome.arena.transports.processes import Process
from ludodrome.arena.transports.remote import RelayAddress, RemoteSeat
from ludodrome.games import make
from tests.arena.playing import play_spec
from tests.arena.transports.observing_bot import answers

GAMES, FEW = 200, 20
BOT = Path(__file__).with_name("observing_bot.py")


def check(record: dict[str, Any], seat: int) -> None:
    """No verdict, and every move is the one that the bot chose for that very turn."""
    assert record["result"]["verdicts"] == []
    assert record["result"]["decided_by"] == "play"
    for turn in record["turns"]:
        if turn["seat"] == seat:
            kind, number, move = json.loads(turn["log"][-1])
            assert (kind, number, move) == ("turn", turn["turn"], turn["move"])


def play_games(bot: Seat, count: int = GAMES) -> list[dict[str, Any]]:
    """Games of the bot against an opponent that moves at once, in either seat."""
    game = make("dots", rows=2, cols=2)
    found = []
    for number in range(count):
        other = make_seat("random", game, number)
        seats = [bot, other] if number % 2 else [other, bot]
        record = play(play_spec("dots", ("a", "b"), seed=number, rows=2, cols=2), seats)
        check(record, 0 if number % 2 else 1)
        found.append(record)
    records.verify(found[-1])
    return found


@pytest.mark.parametrize(
    ("observe", "numbers", "speed", "games"),
    [
        ("all", "none", "fast", GAMES),
        ("none", "none", "fast", GAMES),
        ("all", "all", "fast", GAMES),
        ("none", "all", "fast", GAMES),
        ("all", "none", "slow", FEW),
        ("some", "none", "slow", FEW),
        ("all", "turns", "slow", FEW),
    ],
)
def test_by_pipe(observe: str, numbers: str, speed: str, games: int) -> None:
    bot = make_seat(f"cmd:{sys.executable} -I -S {BOT} {observe} {numbers} {speed}", make("dots"), 0)
    try:
        found = play_games(bot, games)
    finally:
        bot.close()
    assert not any("notes" in record for record in found)
    observed = [turn for record in found for turn in record["turns"] if "observe" in str(turn.get("log"))]
    assert bool(observed) == (observe != "none")  # the answers were there, and were dropped


def test_where_nobody_says_what_is_read_answers_are_owed_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """MacOS: a bot that was seen to answer ``observe`` answers every message."""
    monkeypatch.setattr(Process, "tells_what_is_read", False)
    bot = make_seat(f"cmd:{sys.executable} -I -S {BOT} none none fast", make("dots"), 0)
    try:
        play_games(bot, 20)
    finally:
        bot.close()


@contextmanager
def relaying(answer: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Iterator[RelayAddress]:
    """A relay with a bot at its other end, which answers as a function says."""

    def handle(line: ServerConnection) -> None:
        try:
            line.send(json.dumps({"attached": True}))
            for text in line:
                for said in answer(json.loads(text)):
                    line.send(json.dumps({"said": json.dumps(said)}))
        except WebSocketException:
            return

    with serve(handle, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            host, port = server.socket.getsockname()[:2]
            yield RelayAddress(host, port, f"{host}:{port}", "/", "secret")
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("observe", ["all", "none"])
def test_by_websocket(observe: str) -> None:
    rng = random.Random(1)
    with relaying(lambda message: answers(message, rng, observe, "all", True)) as address:
        bot = RemoteSeat("far", lambda: address)
        try:
            found = play_games(bot)
        finally:
            bot.close()
    assert not any("notes" in record for record in found)
