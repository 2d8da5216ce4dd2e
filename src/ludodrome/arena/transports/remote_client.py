"""A bot of this machine that plays elsewhere: what a server says to a remote bot is put to a seat here, and answered.

Nothing is sent or received here: ``client.py`` does that. Every game has a seat of its own, so that a bot which has
come to grief in one begins the next afresh.
"""

from collections.abc import Callable

from ludodrome.arena import transports
from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.arena.messages import Message
from ludodrome.arena.seats import Notice, Seat, Turn
from ludodrome.games import make


class RemoteClient:
    """The bot of a spec, at a referee that is elsewhere. ``ended`` is told how games ended, and the seat's number."""

    def __init__(self, spec: str, ended: Callable[[Message, int], None] = lambda message, seat: None) -> None:
        self._spec, self._ended = spec, ended
        self._seat: Seat | None = None
        self._match = ""
        self._number = 0
        self._clock = Clock()

    def hear(self, message: Message) -> Message | None:
        """What the bot answers to a message; None if it wants no answer."""
        kind = message["type"]
        if kind == "hello":
            self._begin(message)
        elif kind == "turn" and self._seat is not None:
            return self._answer(message, self._seat)
        elif kind == "over":
            self._tell(message)
            self.close()
            self._ended(message, self._number)
        else:
            self._tell(message)
        return None

    def close(self) -> None:
        """The game is over, or is left."""
        if self._seat is not None:
            self._seat.close()
        self._seat, self._match = None, ""

    def _begin(self, hello: Message) -> None:
        """A game begins; one that goes on after a broken connection does not begin again."""
        if hello["match"] == self._match:
            return
        self.close()
        self._match, self._number, self._clock = hello["match"], hello["seat"], Clock.from_json(hello["clock"])
        self._seat = transports.make_seat(self._spec, make(hello["game"], **hello["options"]), hello["seed"])
        self._seat.start(hello)

    def _answer(self, message: Message, seat: Seat) -> Message:
        left = message["deadline_ms"]
        clock = SeatClock.at_deadline(self._clock, left)
        seconds = None if left is None else left / 1000
        about = (message["turn"], self._number, seconds, 0.0, clock.budget())
        answer = seat.ask(Turn(*about, observe=lambda: message["state"], write=lambda turn: message))
        where = {"match": message["match"], "turn": message["turn"]}
        if answer.fault is not None:
            return {"type": "error", **where, "error": f"{answer.fault.cause}: {answer.fault.why}"}
        return {"type": "move", **where, "move": answer.move}

    def _tell(self, message: Message) -> None:
        if self._seat is not None:
            self._seat.tell(Notice(self._number, lambda: message))
