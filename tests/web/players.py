"""People at games of a server that may die at any moment, who remember what it acknowledged."""

import random
import threading
from typing import Any

from ludodrome.arena import records
from ludodrome.client import Client, Play, Refused
from ludodrome.store.league_models import QUEUED


class Player(threading.Thread):
    """Somebody at one game after another, who remembers what was acknowledged."""

    PAUSE = 0.02
    """Seconds before a move: the league on the same machine wants to play, too."""

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
        self.ending.wait(self.PAUSE)
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
                self.ending.wait(self.PAUSE)
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

    def again(self, address: str) -> "Player":
        """The same person, once more at the games."""
        player = Player(0)
        player.dice, player.known, player.current = self.dice, self.known, self.current
        player.acknowledged, player.address = self.acknowledged, address
        player.start()
        return player


class Challenger(threading.Thread):
    """Somebody who asks for matches of the league, who remembers which were promised and how games ended."""

    PAUSE = 0.3
    """Seconds between two looks, in which the ladder has its turn."""

    def __init__(self, bots: list[str]) -> None:
        super().__init__(daemon=True)
        self.bots = bots
        self.address = ""
        self.promised: dict[str, int] = {}
        """How many games each match has that was acknowledged."""
        self.open: list[str] = []
        self.ended: dict[str, Any] = {}
        """Games of the league that were reported as ended."""
        self.ending = threading.Event()

    def run(self) -> None:
        """Goes on until the server dies."""
        try:
            with Client(self.address, timeout=20) as client:
                while not self.ending.wait(self.PAUSE):
                    self.look(client)
                    if not self.open:
                        self._ask(client)
        except Exception as error:
            if isinstance(error, AssertionError | Refused):
                raise

    def look(self, client: Client) -> None:
        """What has come of the matches by now; earlier reports stay true."""
        for one in client.matches("dots", most=100):
            assert self.ended.setdefault(one["id"], one) == one
        self.open = [one for one in self.open if client.ask("GET", f"/tournaments/{one}")["status"] == QUEUED]

    def _ask(self, client: Client) -> None:
        wish = {"options": {"rows": 2, "cols": 2}, "clock": "5s", "pairs": 2}
        made = client.ask_match("dots", self.bots, **wish)
        self.promised[made["id"]] = made["games"]
        self.open.append(made["id"])

    def check(self, client: Client) -> None:
        """No report has changed."""
        self.look(client)
        for name in list(self.promised)[-3:]:
            assert client.ask("GET", f"/tournaments/{name}")["games"] == self.promised[name]
        for name in list(self.ended)[-10:]:
            assert client.match(name) == self.ended[name]
            records.verify(client.record(name))

    def again(self, address: str) -> "Challenger":
        """The same person, once more."""
        again = Challenger(self.bots)
        again.promised, again.open, again.ended, again.address = self.promised, self.open, self.ended, address
        again.start()
        return again
