"""The interface of a seat: turns, answers, faults, notices. It is the same for every transport.

The seats are in ``transports/``; ``referee.py`` judges what they answer.
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
"""The causes of a verdict on a bot."""
RESIGNED = "resigned"
"""The cause when a person resigns; bots cannot."""


@dataclass(frozen=True, slots=True)
class SeatFault:
    """What went wrong in a turn: a cause and a sentence."""

    cause: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A seat's answer to a turn: a move, or a fault."""

    seconds: float
    """From the question to the answer."""
    move: Any = None
    fault: SeatFault | None = None
    sent: str | None = None
    """The beginning of a faulty answer."""
    log: tuple[str, ...] = field(default=())
    """Texts for the record."""


class Turn:
    """A question to a seat. Observation and message are built on first use: built-in bots need no list of moves."""

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
        """Time for the answer; None without a clock."""
        self.allowance = allowance
        """Additional seconds that are not charged: a bot's first turn can include its start."""
        self.budget = budget
        """The budget of a built-in bot."""
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
    """A message to a seat that needs no answer."""

    def __init__(self, seat: int, write: Callable[[], Message]) -> None:
        self.seat = seat
        self._write = write

    @cached_property
    def message(self) -> Message:
        """An ``observe``, ``refused`` or ``over`` of the protocol."""
        return self._write()


class Seat(Protocol):
    """A player, as the game loop sees it."""

    @property
    def name(self) -> str:
        """The player's name."""

    @property
    def stderr(self) -> str:
        """Its standard error, at most 64 KB."""

    @property
    def notes(self) -> list[str]:
        """What the transport noticed outside the game, such as dropped answers."""

    def start(self, hello: Message) -> None:
        """Start a game. Does not wait for the bot."""

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, within about the time of the turn."""

    def notify(self, notice: Notice) -> None:
        """Pass on a notice. Does not wait for the bot."""

    def close(self) -> None:
        """Release the bot and what it holds. Can be called twice."""


class SeatWrapper:
    """A seat that delegates to another; a base class for seats that change part of it."""

    def __init__(self, inner: Seat) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """That of the inner seat."""
        return self._inner.name

    @property
    def stderr(self) -> str:
        """That of the inner seat."""
        return self._inner.stderr

    @property
    def notes(self) -> list[str]:
        """Those of the inner seat."""
        return self._inner.notes

    def start(self, hello: Message) -> None:
        """Start a game."""
        self._inner.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """Ask the inner seat."""
        return self._inner.ask(turn)

    def notify(self, notice: Notice) -> None:
        """Pass on a notice."""
        self._inner.notify(notice)

    def close(self) -> None:
        """Release the inner seat."""
        self._inner.close()
