"""A client for a Ludodrome server: games, live or move by move, the league, records, and remote bots.

It needs httpx and websockets (``ludodrome[client]``). It uses the same API as the pages; if the server refuses a
request, the client raises ``Refused`` with its sentence.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.bots.player import Bot, Budget
from ludodrome.system import api_url, base_url, owner_token, websocket_url

try:
    import httpx
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    sentence = f"a client needs {error.name}, which is not installed: pip install 'ludodrome[client]'"
    raise ImportError(sentence, name=error.name) from error

Json = dict[str, Any]
Hears = Callable[[Json], Json | list[Json] | None]

HOME = base_url()
KEY = "x-play-key"
REPLACED, NOT_ALLOWED = 4000, 1008
"""Codes of WebSockets that are closed for good."""
FIRST_PAUSE, MAX_PAUSE = 0.2, 10.0
"""Seconds before a broken connection is tried again, at first and at most."""
LISTENS = 1.0
"""Seconds after which a remote bot looks whether it should stop."""


class Refused(Exception):
    """The server refused a request; ``status`` is the HTTP status."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Client:
    """A client of one server. ``token``: for servers with accounts; your own server needs none.

    For a server of yours on this machine, the client reads your token from the file that the server has written.
    """

    def __init__(self, url: str = HOME, token: str | None = None, timeout: float = 60.0) -> None:
        self.url = url.rstrip("/")
        shown = token or owner_token(self.url)
        self.headers = {} if shown is None else {"authorization": f"Bearer {shown}"}
        self._http = httpx.Client(base_url=api_url(self.url), headers=self.headers, timeout=timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close open connections."""
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None, **query: Any) -> Any:
        """Send a request to the API and return the answer; Refused if the server refuses it."""
        asked = {name: value for name, value in query.items() if value is not None}
        headers = {} if key is None else {KEY: key}
        content = None if method in ("GET", "DELETE") else {} if body is None else body
        answer = self._http.request(method, path, params=asked, headers=headers, json=content)
        if answer.status_code >= 400:
            try:
                sentence = answer.json()["error"]
            except (ValueError, KeyError, TypeError):
                sentence = f"the server answered {answer.status_code}"
            raise Refused(sentence, answer.status_code)
        if answer.headers.get("content-type", "").startswith("application/x-ndjson"):
            return [json.loads(line) for line in answer.text.splitlines()]
        return answer.json() if answer.content else None

    # Games

    def games(self) -> list[Json]:
        """All games."""
        return list(self.ask("GET", "/games"))

    def game(self, game: str) -> Json:
        """A game with its options and bots."""
        return dict(self.ask("GET", f"/games/{game}"))

    def analyse(
        self, game: str, state: Any, options: Mapping[str, Any] | None = None, seconds: float = 0.5, lines: int = 3
    ) -> Json:
        """The best moves of a position."""
        asked = {"game": game, "options": dict(options or {}), "state": state, "seconds": seconds, "lines": lines}
        return dict(self.ask("POST", "/analysis", asked))

    # Plays

    def begin(
        self,
        game: str,
        seats: Sequence[str],
        options: Mapping[str, Any] | None = None,
        *,
        clock: str = "none",
        opening: Sequence[Any] = (),
        position: Any = None,
        seed: int | None = None,
    ) -> "Play":
        """A new game: seats are ``person`` (you), ``friend`` (who gets a link) and bots."""
        wish = {"game": game, "seats": list(seats), "options": dict(options or {}), "clock": clock}
        view = self.ask("POST", "/plays", {**wish, "opening": list(opening), "position": position, "seed": seed})
        return Play(self, view, view.pop("key", None))

    def play(self, name: str, key: str | None = None) -> "Play":
        """A game by its id; ``key``: of a seat in it."""
        return Play(self, self.ask("GET", f"/plays/{name}", key=key), key)

    def plays(self, most: int | None = None, before: int | None = None) -> list[Json]:
        """One line about each game that you began, newest first."""
        return list(self.ask("GET", "/plays", most=most, before=before))

    def join(self, link: str) -> "Play":
        """Take the seat of a link."""
        joined = self.ask("POST", f"/joins/{link.rstrip('/').rpartition('/')[2]}")
        return self.play(joined["play"], joined["key"])

    def record(self, name: str) -> Json:
        """The record of a finished game: of people or of the league."""
        return dict(self.ask("GET", f"/replays/{name}/record"))

    # The league

    def bots(self, game: str | None = None, mine: bool = False) -> list[Json]:
        """The bots of the league."""
        return list(self.ask("GET", "/bots", game=game, mine=mine or None))

    def bot(self, name: str) -> Json:
        """A bot with its rating, its history and its games."""
        return dict(self.ask("GET", f"/bots/{name}"))

    def bot_records(self, name: str) -> list[Json]:
        """All records of a bot."""
        return list(self.ask("GET", f"/bots/{name}/records"))

    def enter_bot(self, game: str, name: str, source: str) -> Json:
        """Enter a program of yours; it is checked first."""
        return dict(self.ask("POST", "/bots", {"game": game, "name": name, "kind": "uploaded", "source": source}))

    def enter_remote_bot(self, game: str, name: str, identity: str | None = None) -> Json:
        """Enter a bot that connects from elsewhere; its ``token`` is returned only once.

        ``identity``: a hash of what runs; a bot that comes back with another one is a new version.
        """
        wish = {"game": game, "name": name, "kind": "remote", "identity": identity}
        return dict(self.ask("POST", "/bots", wish))

    def renew_token(self, name: str, identity: str | None = None) -> Json:
        """A new ``token`` for a remote bot of yours; the old one stops working. ``identity``: a hash of what runs."""
        return dict(self.ask("POST", f"/bots/{name}/token", {"identity": identity}))

    def bot_versions(self, name: str) -> list[Json]:
        """The versions of a bot with their ratings, latest first."""
        return list(self.ask("GET", f"/bots/{name}/versions"))

    def match_versions(self, name: str, first: int, second: int, **conditions: Any) -> Json:
        """Begin a match between two versions of your uploaded bot, given by number: ``pairs``, ``clock``."""
        return dict(self.ask("POST", f"/bots/{name}/versions/match", {"first": first, "second": second, **conditions}))

    def bot_failures(self, name: str, most: int | None = None) -> list[Json]:
        """Why your bot failed in its latest games."""
        return list(self.ask("GET", f"/bots/{name}/failures", most=most))

    def resume_bot(self, name: str) -> Json:
        """Let your bot play again that was paused because it kept failing."""
        return dict(self.ask("POST", f"/bots/{name}/resume"))

    def retire_bot(self, name: str, back: bool = False) -> Json:
        """Retire your bot, or bring it back."""
        return dict(self.ask("POST", f"/bots/{name}/retire", {"back": back}))

    def leaderboard(self, game: str) -> list[Json]:
        """The bots of a game, the best first."""
        return list(self.ask("GET", f"/leaderboard/{game}"))

    def matches(self, game: str | None = None, bot: str | None = None, most: int | None = None) -> list[Json]:
        """The games of the league that ended last."""
        return list(self.ask("GET", "/matches", game=game, bot=bot, most=most))

    def match(self, name: str) -> Json:
        """A game of the league."""
        return dict(self.ask("GET", f"/matches/{name}"))

    def ask_match(self, game: str, bots: Sequence[str], **conditions: Any) -> Json:
        """Asks for a match between bots: ``pairs``, ``clock``, ``options``, ``openings``, ``pace_ms``."""
        return dict(self.ask("POST", "/matches", {"game": game, "bots": list(bots), **conditions}))

    # Tokens

    def tokens(self) -> list[Json]:
        """Your tokens, without their secrets."""
        return list(self.ask("GET", "/tokens"))

    def make_token(self, label: str, scopes: Sequence[str]) -> Json:
        """Create a token; its ``secret`` is returned only once."""
        return dict(self.ask("POST", "/tokens", {"label": label, "scopes": list(scopes)}))

    def revoke_token(self, name: str) -> None:
        """Revoke a token."""
        self.ask("DELETE", f"/tokens/{name}")


class Play:
    """A play. ``view`` is its last known state."""

    def __init__(self, client: Client, view: Json, key: str | None) -> None:
        self.client, self.view, self.key = client, view, key

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.view["id"])

    @property
    def links(self) -> list[str]:
        """The links of the seats that wait for friends, if the game is yours."""
        return [self.client.url + seat["link"] for seat in self.view["seats"] if seat["link"]]

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.view["result"] is not None

    @property
    def yours(self) -> bool:
        """Whether it is the turn of a seat of yours."""
        mover = self.view["to_move"]
        return not self.over and not self.view["waiting"] and mover is not None and self.view["seats"][mover]["yours"]

    def look(self, after: int | None = None) -> Json:
        """Update and return the view; ``after``: wait until the version is higher, at most 20 seconds."""
        return self._see(self.client.ask("GET", f"/plays/{self.id}", key=self.key, after=after))

    def wait(self) -> Json:
        """Wait until it is your turn or the game is over; return the view."""
        while not self.yours and not self.over:
            self.look(self.view["version"])
        return self.view

    def move(self, move: Any) -> Json:
        """Make a move; it is saved when this returns."""
        body = {"move": move, "version": self.view["version"]}
        return self._see(self.client.ask("POST", f"/plays/{self.id}/moves", body, self.key))

    def undo(self) -> Json:
        """Return to your last decision."""
        return self._see(self.client.ask("POST", f"/plays/{self.id}/undo", key=self.key))

    def resign(self, seat: int | None = None) -> Json:
        """Resign."""
        return self._see(self.client.ask("POST", f"/plays/{self.id}/resign", {"seat": seat}, self.key))

    def offer(self, what: str | None) -> Json:
        """Offer a ``draw`` or a ``takeback`` to the other people, or agree to theirs; None declines it."""
        return self._see(self.client.ask("POST", f"/plays/{self.id}/offers", {"offer": what}, self.key))

    def rematch(self) -> "Play | None":
        """The same again with the seats changed; None while others have not agreed."""
        self._see(self.client.ask("POST", f"/plays/{self.id}/rematch", key=self.key))
        return None if self.view["next"] is None else self.client.play(self.view["next"], self.key)

    def position(self, number: int) -> Json:
        """The position after ``number`` moves."""
        return dict(self.client.ask("GET", f"/plays/{self.id}/positions/{number}", key=self.key))

    def record(self) -> Json:
        """The record of the finished game."""
        return dict(self.client.ask("GET", f"/plays/{self.id}/record"))

    @contextmanager
    def live(self) -> "Iterator[LivePlay]":
        """The game over a WebSocket."""
        address = websocket_url(api_url(self.client.url, f"/plays/{self.id}/live")) + (
            f"?key={self.key}" if self.key else ""
        )
        with connect(address, additional_headers=self.client.headers, max_size=None) as socket:
            yield LivePlay(self, socket)

    def _see(self, view: Json) -> Json:
        self.view = view
        return view


class LivePlay:
    """A game over a WebSocket: iterating gives a view whenever it changes."""

    def __init__(self, play: Play, socket: ClientConnection) -> None:
        self.play = play
        self._socket = socket
        self._number = 0
        self._views: list[Json] = []

    def __iter__(self) -> Iterator[Json]:
        while True:
            if not self._views:
                try:
                    self._hear(None)
                except ConnectionClosed:
                    return
                continue
            yield self.play._see(self._views.pop(0))

    def move(self, move: Any, version: int | None = None) -> None:
        """Make a move and wait until it is saved."""
        self._say({"type": "move", "move": move, "version": version})

    def undo(self) -> None:
        """Return to your last decision."""
        self._say({"type": "undo"})

    def resign(self, seat: int | None = None) -> None:
        """Resign."""
        self._say({"type": "resign", "seat": seat})

    def offer(self, what: str | None) -> None:
        """Offer a ``draw`` or a ``takeback`` to the other people, or agree to theirs; None declines it."""
        self._say({"type": "offer", "offer": what})

    def rematch(self) -> None:
        """Offers a rematch, or agrees to one: ``next`` of a view is the other game."""
        self._say({"type": "rematch"})

    def _say(self, message: Json) -> None:
        self._number += 1
        self._socket.send(json.dumps({**message, "id": self._number}))
        while True:
            heard = self._hear(self._number)
            if heard is not None and heard["type"] == "refused":
                raise Refused(heard["error"], heard["status"])
            if heard is not None:
                return

    def _hear(self, number: int | None) -> Json | None:
        """The next message if it is an answer to what was said; views are kept."""
        heard: Json = json.loads(self._socket.recv())
        if heard["type"] == "play":
            self._views.append(heard["play"])
            return None
        return heard if heard.get("id") == number else None


# Remote bots


def connect_bot(url: str, token: str, bot: Bot, stop: threading.Event | None = None) -> None:
    """Play as a remote bot until ``stop`` is set; connect again whenever the connection breaks.

    ``url`` is where the bot connects, ``http://server/api/v1/bots/ID/connect``, and ``bot`` has ``start``, ``choose``
    and ``close`` like every bot. Raise Refused if the server rejects it, or if another connection has taken its place.
    """
    connect_player(url, token, _RemotePlayer(bot).hear, stop)
    bot.close()


def connect_player(url: str, token: str, hear: Hears, stop: threading.Event | None = None) -> None:
    """``connect_bot`` on the level of the protocol: ``hear`` gets each message, and returns its answers, if any."""
    ending = stop or threading.Event()
    pause = FIRST_PAUSE
    while not ending.is_set():
        began = time.monotonic()
        try:
            headers = {"authorization": f"Bearer {token}"}
            with connect(websocket_url(url), additional_headers=headers, max_size=None) as socket:
                _converse(socket, hear, ending)
        except InvalidStatus as refused:
            if refused.response.status_code in (401, 403, 404):
                raise Refused("the server refuses this bot: its token is not valid", 403) from refused
        except ConnectionClosed as closed:
            code = 0 if closed.rcvd is None else closed.rcvd.code
            if code in (REPLACED, NOT_ALLOWED):
                raise Refused(closed.rcvd.reason if closed.rcvd else "the connection was closed", 403) from closed
        except (OSError, TimeoutError):
            pass
        pause = FIRST_PAUSE if time.monotonic() - began > MAX_PAUSE else min(MAX_PAUSE, pause * 2)
        ending.wait(pause)


def _converse(socket: ClientConnection, hear: Hears, ending: threading.Event) -> None:
    while not ending.is_set():
        try:
            message = json.loads(socket.recv(timeout=LISTENS))
        except TimeoutError:
            continue
        said = hear(message)
        for one in said if isinstance(said, list) else [said]:
            if one is not None:
                socket.send(json.dumps(one, default=_plain))


class _RemotePlayer:
    """A bot at the end of a connection."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._clock = Clock()
        self._match = ""

    def hear(self, message: Json) -> Json | None:
        """Its move, if it is asked for one."""
        if message["type"] == "hello":
            self._greet(message)
        elif message["type"] == "turn":
            move = self._bot.choose(message["state"], self._budget(message["deadline_ms"]))
            return {"type": "move", "match": message["match"], "turn": message["turn"], "move": move}
        return None

    def _greet(self, hello: Json) -> None:
        """A game begins; one that goes on after a broken connection does not begin again."""
        if hello.get("resumed") and hello["match"] == self._match:
            return
        self._match, self._clock = hello["match"], Clock.from_json(hello["clock"])
        self._bot.start(hello)

    def _budget(self, deadline_ms: int | None) -> Budget | None:
        """What the bot should use: as a built-in with the same clock would."""
        return SeatClock.at_deadline(self._clock, deadline_ms).budget()


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a move is made of plain JSON values, not of {type(value).__name__}")
