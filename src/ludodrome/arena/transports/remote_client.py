"""A local bot that plays on a server: pass the server's messages to a seat here and return its answers.

``client.py`` sends and receives. Every game has its own seat, so a bot that failed in one starts afresh in the next.
"""

from collections.abc import Callable

from ludodrome.arena import transports
from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.arena.messages import Message
from ludodrome.arena.seats import Notice, Seat, Turn
from ludodrome.games import make

MAX_SENT = 200
"""Characters of a malformed or unfinished line that the server is told about."""


class RemoteClient:
    """The bot of a spec, in games on a server. ``ended`` is called with each ``over`` message and the seat."""

    def __init__(self, spec: str, ended: Callable[[Message, int], None] = lambda message, seat: None) -> None:
        self._spec, self._ended = spec, ended
        self._seat: Seat | None = None
        self._match = ""
        self._number = 0
        self._asked_for: list[str] = []
        """What the server was told that each ``turn`` is to carry."""
        self._clock = Clock()
        self.stderr = ""
        """What the bot wrote to its standard error in the game that ended last."""

    def hear(self, message: Message) -> list[Message] | None:
        """Handle a message; return the bot's answer after its logs and telemetry, or None if the message needs none."""
        kind = message["type"]
        if kind == "hello":
            self._begin(message)
        elif kind == "turn" and self._seat is not None:
            return self._answer(message, self._seat)
        elif kind == "over":
            self._notify(message)
            seat = self._seat
            self.close()
            self.stderr = "" if seat is None else seat.stderr
            self._ended(message, self._number)
        else:
            self._notify(message)
        return None

    def close(self) -> None:
        """Leave the game."""
        if self._seat is not None:
            self._seat.close()
        self._seat, self._match = None, ""

    def _begin(self, hello: Message) -> None:
        """Start a game, unless it only resumes after a broken connection."""
        self._asked_for = []
        if hello["match"] == self._match and hello.get("resumed"):
            return
        self.close()
        self._match, self._number, self._clock = hello["match"], hello["seat"], Clock.from_json(hello["clock"])
        self._seat = transports.make_seat(self._spec, make(hello["game"], **hello["options"]), hello["seed"])
        self._seat.start(hello)

    def _answer(self, message: Message, seat: Seat) -> list[Message]:
        left = message["deadline_ms"]
        clock = SeatClock.at_deadline(self._clock, left)
        seconds = None if left is None else left / 1000
        about = (message["turn"], self._number, seconds, 0.0, clock.budget())
        answer = seat.ask(
            Turn(*about, observe=lambda: message["state"], write=lambda turn: message, fuel=self._clock.fuel)
        )
        where = {"match": message["match"], "turn": message["turn"]}
        wants = [name for name in ("moves", "clocks") if getattr(seat.capabilities, f"wants_{name}")]
        beside: list[Message] = [] if wants == self._asked_for else [{"type": "ready", "wants": wants}]
        self._asked_for = wants
        beside += [{"type": "log", **where, "text": text} for text in answer.log]
        beside += [{"type": "info", **where, **info} for info in answer.info]
        if answer.fault is not None:
            sent = f"; it sent {answer.sent[:MAX_SENT]!r}" if answer.sent else ""
            return [*beside, {"type": "error", **where, "error": f"{answer.fault.cause}: {answer.fault.why}{sent}"}]
        return [*beside, {"type": "move", **where, "move": answer.move}]

    def _notify(self, message: Message) -> None:
        if self._seat is not None:
            self._seat.notify(Notice(self._number, lambda: message))
