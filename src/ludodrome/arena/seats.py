"""What the judge and a seat say to each other, however the seat is carried: a turn, an answer, a fault.

The carriers are in ``transports/``; the rules of judging in ``referee.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from ludodrome.arena.messages import Message
from ludodrome.bots.player import Budget

TIMEOUT, CRASH, ILLEGAL, PROTOCOL, ERROR, ARENA = CAUSES = (
    "timeout",
    "crash",
    "illegal",
    "protocol",
    "error",
    "arena",
)
"""What a verdict about a bot can be for."""
RESIGNED = "resigned"
"""A person's own verdict: only people resign."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with a turn: one cause, and a sentence."""

    cause: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking a seat: a move, unless there is a fault."""

    seconds: float
    """From the question to the answer."""
    move: Any = None
    fault: Fault | None = None
    sent: str | None = None
    """What a faulty answer looked like, cut to size."""
    log: tuple[str, ...] = field(default=())
    """Texts for the record."""


class Turn:
    """A question to a seat. What it looks like is made when it is looked at: a built-in needs no list of moves."""

    def __init__(
        self,
        number: int,
        seat: int,
        seconds: float | None,
        allowance: float,
        budget: Budget | None,
        observe: Callable[[], Any],
        write: Callable[["Turn"], Message],
    ) -> None:
        self.number = number
        self.seat = seat
        self.seconds = seconds
        """What the answer may take; None without a clock."""
        self.allowance = allowance
        """Seconds beside these that are not charged: a bot's first turn may include its start."""
        self.budget = budget
        """What a built-in should use."""
        self._observe = observe
        self._write = write

    @cached_property
    def observation(self) -> Any:
        """The position as the seat sees it."""
        return self._observe()

    @cached_property
    def message(self) -> Message:
        """The ``turn`` of the protocol."""
        return self._write(self)


class Notice:
    """Something that a seat is told and need not answer."""

    def __init__(self, seat: int, write: Callable[[], Message]) -> None:
        self.seat = seat
        self._write = write

    @cached_property
    def message(self) -> Message:
        """An ``observe``, ``refused`` or ``over`` of the protocol."""
        return self._write()


class Seat(Protocol):
    """Somebody at the referee, as the judge sees them."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def stderr(self) -> str:
        """What it wrote to its standard error, 64 KB at most."""

    @property
    def notes(self) -> list[str]:
        """What the carrier noticed beside the game: answers that were dropped, say."""

    def start(self, hello: Message) -> None:
        """A game begins. Never waits for the bot."""

    def ask(self, turn: Turn) -> Answer:
        """A move, or what went wrong, within about the seconds of the turn."""

    def tell(self, notice: Notice) -> None:
        """Something that wants no answer. Never waits for the bot."""

    def close(self) -> None:
        """The bot is not needed any more; whatever it holds is given back. May be called twice."""


class SeatWrapper:
    """A seat around a seat, which passes everything on. Those that do more with some of it begin here."""

    def __init__(self, inner: Seat) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The bot's."""
        return self._inner.name

    @property
    def stderr(self) -> str:
        """The bot's."""
        return self._inner.stderr

    @property
    def notes(self) -> list[str]:
        """What its carrier noticed."""
        return self._inner.notes

    def start(self, hello: Message) -> None:
        """A game begins."""
        self._inner.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """The bot's answer."""
        return self._inner.ask(turn)

    def tell(self, notice: Notice) -> None:
        """Something that wants no answer."""
        self._inner.tell(notice)

    def close(self) -> None:
        """The bot is not needed any more."""
        self._inner.close()
