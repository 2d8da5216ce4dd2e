"""A remote bot as a seat. The bot is connected to a web process, which relays the messages.

Referee and clock are on this side; the relay only carries. So a broken connection costs nothing but time: when the bot
returns, it is greeted as ``resumed`` and gets the open turn again with its remaining time. If another web process holds
the connection, the seat dials that one.

From the relay come ``{"attached": true}`` and ``false`` when the bot comes and goes, and ``{"said": text}`` for its
messages. Messages to the bot are sent as they are.
"""

import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import NamedTuple

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_LINE, Message
from ludodrome.arena.seats import TIMEOUT, Answer, BotCapabilities, Notice, Traffic, Turn
from ludodrome.arena.transports.conversation import Conversation

DIAL_SECONDS = 2.0
POLL_SECONDS = 0.5
"""Seconds between two looks at where the bot is connected."""
CLOSE_SECONDS = 0.5
SECRET_HEADER = "x-relay-secret"


class BotAway(Exception):
    """A remote bot is not connected, and the seat does not wait for it."""


class RelayAddress(NamedTuple):
    """The web process that holds a bot's connection."""

    host: str
    port: int
    name: str
    """The server's host name, for the Host header."""
    path: str
    secret: str


class RemoteSeat:
    """A bot at the other end of a WebSocket.

    ``patience``: seconds without a connection after which ``ask`` raises BotAway; None: the time of the turn runs on.
    """

    def __init__(
        self,
        name: str,
        find: Callable[[], RelayAddress | None],
        longest: int = MAX_LINE,
        patience: float | None = None,
    ) -> None:
        self.name = name
        self.stderr = ""
        self._find, self._patience = find, patience
        self._talk = Conversation(longest, needs_numbers=True)
        self._link: ClientConnection | None = None
        self._held = ExitStack()
        """Closes the connection to the relay."""
        self._relay: RelayAddress | None = None
        self._attached = self._greeted = self._abandoned = False
        self._hello: Message = {}
        self._open: Message | None = None
        """The open question."""
        self._looked = float("-inf")
        self._detached = 0.0
        """Since when the open question waits for a connection."""

    @property
    def notes(self) -> list[str]:
        """What was dropped of what it said."""
        return self._talk.notes

    @property
    def capabilities(self) -> BotCapabilities:
        """What it said in ``ready``."""
        return self._talk.capabilities

    def record_traffic(self, traffic: Traffic | None) -> None:
        """Pass on all messages in both directions."""
        self._talk.traffic = traffic

    # The seat

    def start(self, hello: Message) -> None:
        """Start a game; greet the bot as soon as it is connected."""
        self._hello, self._greeted = hello, False
        self._talk.start(hello["match"])
        if self._attached:
            self._greet()

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, no later than the deadline. Time runs even without a connection."""
        talk, self._detached = self._talk, time.monotonic()
        talk.begin(turn)
        talk.asked()
        self._open = turn.message
        if self._attached:
            self._send(turn.message)
        try:
            while talk.in_time():
                text = self._receive(min(talk.deadline - time.monotonic(), POLL_SECONDS))
                self._check_patience()
                if text is None or not talk.in_time():
                    continue
                if answer := talk.hear(text.encode("utf-8", "surrogatepass")):
                    return answer
            return talk.fault(
                TIMEOUT,
                "no answer came in time" if self._attached else "it was not connected when its time ran out",
            )
        finally:
            self._open = None

    def notify(self, notice: Notice) -> None:
        """Send a notice if the bot is connected."""
        if self._attached:
            if notice.message["type"] == "observe":
                self._talk.observe(notice.message["turn"])
            self._send(notice.message)

    def close(self) -> None:
        """Leave the relay; the bot stays connected to it for its next game."""
        self._hang_up()

    def abandon(self) -> None:
        """Withdraw the open question, from another thread: ``ask`` soon raises BotAway, and so do later ones."""
        self._abandoned = True

    def _check_patience(self) -> None:
        now = time.monotonic()
        if self._abandoned:
            raise BotAway(f"the question to {self.name} was withdrawn")
        if self._attached:
            self._detached = now
        elif self._patience is not None and now - self._detached > self._patience:
            raise BotAway(f"{self.name} is not connected")

    # The relay

    def _receive(self, seconds: float) -> str | None:
        """Wait up to ``seconds`` for a message of the bot."""
        if self._link is None and not self._dial():
            time.sleep(min(seconds, 0.05))
            return None
        assert self._link is not None
        try:
            frame = json.loads(self._link.recv(seconds))
        except TimeoutError:
            if not self._attached and self._moved():
                self.close()
            return None
        except (WebSocketException, OSError, ValueError):
            self._hang_up()
            return None
        if "attached" in frame:
            self._attached = bool(frame["attached"])
            if self._attached:
                self._greet()
            return None
        return str(frame["said"])

    def _dial(self) -> bool:
        if time.monotonic() - self._looked < POLL_SECONDS / 4:
            return False
        self._looked = time.monotonic()
        self._relay = relay = self._find()
        if relay is None:
            return False
        try:
            line = socket.create_connection((relay.host, relay.port), DIAL_SECONDS)
            dialling = connect(
                f"ws://{relay.name}{relay.path}",
                sock=line,
                additional_headers={SECRET_HEADER: relay.secret},
                open_timeout=DIAL_SECONDS,
                close_timeout=CLOSE_SECONDS,
                max_size=2 * messages.MAX_LONG_LINE + 1024,
                compression=None,
                proxy=None,
            )
            self._link = self._held.enter_context(dialling)
        except (WebSocketException, OSError):
            return False
        return True

    def _moved(self) -> bool:
        """Whether the bot is connected to another relay by now."""
        found = self._find()
        return found is not None and found != self._relay

    def _hang_up(self) -> None:
        self._link, self._attached = None, False
        with suppress(WebSocketException, OSError):
            self._held.close()

    def _greet(self) -> None:
        """Send the greeting, and the open turn if there is one."""
        if not self._hello:
            return
        self._send({**self._hello, "resumed": True} if self._greeted else self._hello)
        self._greeted = True
        if self._open is not None:
            timed = self._open["deadline_ms"] is not None
            left = max(0, int((self._talk.deadline - time.monotonic()) * 1000)) if timed else None
            self._send({**self._open, "deadline_ms": left})

    def _send(self, message: Message) -> None:
        if self._link is not None:
            text = messages.line(message).decode().rstrip("\n")
            if self._talk.traffic is not None:
                self._talk.traffic("to", text)
            try:
                self._link.send(text)
            except (WebSocketException, OSError):
                self._hang_up()
