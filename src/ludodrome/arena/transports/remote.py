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
from typing import Any, NamedTuple

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_LINE, BadLine, Message, clean_text
from ludodrome.arena.seats import ERROR, PROTOCOL, TIMEOUT, Answer, Notice, SeatFault, Turn
from ludodrome.arena.transports.child import MAX_LOGGED, MAX_NOTES, UNTIMED_SECONDS, message_kind
from ludodrome.validation import show

DIAL_SECONDS = 2.0
POLL_SECONDS = 0.5
"""Seconds between two looks at where the bot is connected."""
CLOSE_SECONDS = 0.5
SECRET_HEADER = "x-relay-secret"


class RelayAddress(NamedTuple):
    """The web process that holds a bot's connection."""

    host: str
    port: int
    name: str
    """The server's host name, for the Host header."""
    path: str
    secret: str


class RemoteSeat:
    """A bot at the other end of a WebSocket."""

    def __init__(self, name: str, find: Callable[[], RelayAddress | None], longest: int = MAX_LINE) -> None:
        self.name = name
        self.stderr = ""
        self.notes: list[str] = []
        self._find, self._longest = find, longest
        self._link: ClientConnection | None = None
        self._held = ExitStack()
        """Closes the connection to the relay."""
        self._relay: RelayAddress | None = None
        self._attached = self._greeted = False
        self._hello: Message = {}
        self._open: tuple[Message, float] | None = None
        """The open question and its deadline."""
        self._looked = float("-inf")
        self._logged = 0

    # The seat

    def start(self, hello: Message) -> None:
        """Start a game; greet the bot as soon as it is connected."""
        self._hello, self._greeted = hello, False
        if self._attached:
            self._greet()

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, no later than the deadline. Time runs even without a connection."""
        began = time.monotonic()
        deadline = began + turn.allowance + (UNTIMED_SECONDS if turn.seconds is None else turn.seconds)
        self._open = turn.message, deadline
        log: list[str] = []
        if self._attached:
            self._send(turn.message)
        try:
            while (left := deadline - time.monotonic()) > 0:
                text = self._receive(min(left, POLL_SECONDS))
                if text is None:
                    continue
                found = self._hear(text, turn.number, log)
                if found is not None:
                    move, fault, sent = found
                    return Answer(time.monotonic() - began, move, fault, sent, tuple(log))
            why = "no answer came in time" if self._attached else "it was not connected when its time ran out"
            return Answer(time.monotonic() - began, fault=SeatFault(TIMEOUT, why), log=tuple(log))
        finally:
            self._open = None

    def notify(self, notice: Notice) -> None:
        """Send a notice if the bot is connected."""
        if self._attached:
            self._send(notice.message)

    def close(self) -> None:
        """Leave the relay; the bot stays connected to it for its next game."""
        self._hang_up()

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
            message, deadline = self._open
            timed = message["deadline_ms"] is not None
            left = max(0, int((deadline - time.monotonic()) * 1000)) if timed else None
            self._send({**message, "deadline_ms": left})

    def _send(self, message: Message) -> None:
        if self._link is not None:
            try:
                self._link.send(messages.line(message).decode().rstrip("\n"))
            except (WebSocketException, OSError):
                self._hang_up()

    # Receiving

    def _hear(self, text: str, number: int, log: list[str]) -> tuple[Any, SeatFault | None, str | None] | None:
        """Handle a message; return its move or fault if it ends the turn."""
        try:
            message = messages.read(text.encode("utf-8", "surrogatepass"), self._longest)
            kind = message_kind(message)
            if kind in ("move", "error") and "turn" not in message:
                raise BadLine(f"over a connection a {kind} says which turn it is for")
        except BadLine as wrong:
            return None, SeatFault(PROTOCOL, str(wrong)), clean_text(text[: 4 * messages.MAX_TEXT])
        if kind == "log":
            words = clean_text(message["text"])
            if self._logged + len(words) <= MAX_LOGGED:
                self._logged += len(words)
                log.append(words)
            return None
        if kind not in ("move", "error"):
            return None
        if message.get("match", self._hello["match"]) != self._hello["match"] or message["turn"] != number:
            if len(self.notes) < MAX_NOTES:
                self.notes.append(f"an answer to turn {show(message['turn'])} came in turn {number} and was dropped")
            return None
        if kind == "move":
            return message["move"], None, None
        return None, SeatFault(ERROR, clean_text(message["error"])), None
