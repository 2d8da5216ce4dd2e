"""A server that is killed under load: what it answered is there when it comes back, whole, and the games go on."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.client import Client, Play, Refused

PLAYERS = 6
LONGEST_LIFE = 1.2
"""Seconds of load before a server is killed, at most."""
PATIENCE = 120.0
SERVER = """
import socket, sys
from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.service import serve
serve(create_app(open_database(sys.argv[2], create=True, durable=True)), [socket.socket(fileno=int(sys.argv[1]))])
"""


class Player(threading.Thread):
    """Somebody at one game after another, who remembers what was acknowledged."""

    def __init__(self, number: int) -> None:
        super().__init__(daemon=True)
        self.dice = random.Random(number)
        self.address = ""
        self.known: dict[str, tuple[int, list[Any]]] = {}
        """By game: the version that was acknowledged last, and the moves."""
        self.current: str | None = None
        self.acknowledged = 0
        self.ending = threading.Event()

    def run(self) -> None:
        """Goes on until the server dies."""
        try:
            with Client(self.address, timeout=20) as client:
                while not self.ending.is_set():
                    self._game(client)
        except Exception as error:
            if isinstance(error, AssertionError | Refused):
                raise

    def _game(self, client: Client) -> None:
        if self.current is None:
            play = client.begin("dots", ["person", "person"], {"rows": 2, "cols": 2}, seed=self.dice.getrandbits(40))
            self._note(play)
        else:
            play = client.play(self.current)
        if self.dice.random() < 0.5:
            self._live(play)
        while not play.over and not self.ending.is_set():
            self._act(play)
        self.current = None if play.over else self.current

    def _act(self, play: Play) -> None:
        chance = self.dice.random()
        if chance < 0.05 and play.view["can_undo"]:
            play.undo()
        elif chance < 0.06:
            play.resign()
        else:
            play.move(self.dice.choice(play.view["position"]["legal"]))
        self._note(play)

    def _live(self, play: Play) -> None:
        """Some moves over a WebSocket."""
        with play.live() as live:
            views = iter(live)
            view = next(views)
            while view["result"] is None and not self.ending.is_set() and self.dice.random() < 0.9:
                version = view["version"]
                live.move(self.dice.choice(view["position"]["legal"]), version)
                self.acknowledged += 1
                while view["version"] <= version:
                    view = next(views)
                self.known[play.id] = (view["version"], [one["move"] for one in view["moves"]])

    def _note(self, play: Play) -> None:
        self.current = play.id
        self.acknowledged += 1
        self.known[play.id] = (play.view["version"], [one["move"] for one in play.view["moves"]])

    def check(self, client: Client) -> None:
        """Everything acknowledged is there; what was on its way may be there too, or not."""
        for name, (version, moves) in self.known.items():
            view = client.play(name).view
            assert version <= view["version"] <= version + 1
            now = [one["move"] for one in view["moves"]]
            if view["version"] == version:
                assert now == moves
            else:
                assert now[: len(moves)] == moves or len(now) < len(moves)
            if view["result"] is not None:
                records.verify(client.play(name).record())
                assert client.record(name)["result"] == view["result"]
            self.known[name] = (view["version"], now)
        self.known = {name: self.known[name] for name in self.known if name == self.current}


def _start(where: str, folder: Path) -> tuple["subprocess.Popen[bytes]", str]:
    """A server of its own, and its address."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        command = [sys.executable, "-c", SERVER, str(listening.fileno()), where]
        environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
        server = subprocess.Popen(command, pass_fds=[listening.fileno()], env=environment, stderr=subprocess.DEVNULL)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    return server, address


def _await(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    with Client(address, timeout=PATIENCE) as client:
        while True:
            try:
                client.games()
            except Exception:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return


def test_nothing_acknowledged_is_lost(database: str, tmp_path: Path, long: bool) -> None:
    kills = (20 if database.startswith("postgresql") else 100) if long else 1
    if database.startswith("postgresql") and not long:
        pytest.skip("kills on PostgreSQL come with --long")
    dice = random.Random(1)
    players = [Player(number) for number in range(PLAYERS)]
    server, address = _start(database, tmp_path)
    try:
        for _ in range(kills):
            _await(address)
            players = [_again(player, address) for player in players]
            begun = sum(player.acknowledged for player in players)
            deadline = time.monotonic() + PATIENCE
            while sum(player.acknowledged for player in players) < begun + PLAYERS:
                assert time.monotonic() < deadline, "nothing was acknowledged"
                time.sleep(0.01)
            time.sleep(dice.random() * LONGEST_LIFE)
            server.send_signal(signal.SIGKILL)
            server.wait()
            for player in players:
                player.ending.set()
                player.join(PATIENCE)
                assert not player.is_alive()
            server, address = _start(database, tmp_path)
            _await(address)
            with Client(address, timeout=PATIENCE) as client:
                for player in players:
                    player.check(client)
    finally:
        server.kill()
        server.wait()
    assert sum(player.acknowledged for player in players) > kills * PLAYERS


def _again(former: Player, address: str) -> Player:
    """The same person, once more at the games."""
    player = Player(0)
    player.dice, player.known, player.current = former.dice, former.known, former.current
    player.acknowledged, player.address = former.acknowledged, address
    player.start()
    return player
