"""The interface of a seat: turns, answers, faults, notices. It is the same for every transport.

The seats are in ``transports/``; ``referee.py`` judges what they answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

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

    @staticmethod
    def out_of_fuel(fuel: int) -> "SeatFault":
        """The fault of a bot that has used up the instructions of a move."""
        return SeatFault(TIMEOUT, f"it used up its fuel of {fuel} instructions before it answered")


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
    info: tuple[dict[str, Any], ...] = ()
    """Telemetry of this turn: objects with any of score, depth, nodes, pv and text, checked and bounded."""
    ready_after: float | None = None
    """Seconds from the question until the bot said ``ready``; 0.0 if it did before, None if it never did."""
    fuel: int | None = None
    """The instructions that the answer took; None if the seat cannot count them."""


@dataclass(frozen=True, slots=True)
class BotCapabilities:
    """What a bot said about itself in ``ready``; nothing until then."""

    games_many: bool = False
    """Whether its process can play several games."""
    wants_moves: bool = False
    """Whether each ``turn`` lists the moves since the bot's last one."""
    wants_clocks: bool = False
    """Whether each ``turn`` has the time left of every seat."""


NO_CAPABILITIES = BotCapabilities()


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
        fuel: int | None = None,
    ) -> None:
        self.number = number
        self.seat = seat
        self.seconds = seconds
        """Time for the answer; None without a clock."""
        self.allowance = allowance
        """Additional seconds that are not charged: a bot's first turn can include its start."""
        self.budget = budget
        """The budget of a built-in bot."""
        self.fuel = fuel
        """The most instructions of the answer, for seats that can count them; None: no limit."""
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

    @property
    def capabilities(self) -> BotCapabilities:
        """What the bot said in ``ready``."""

    def start(self, hello: Message) -> None:
        """Start a game. Does not wait for the bot."""

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, within about the time of the turn."""

    def notify(self, notice: Notice) -> None:
        """Pass on a notice. Does not wait for the bot."""

    def close(self) -> None:
        """Release the bot and what it holds. Can be called twice."""


Traffic = Callable[[str, str], None]
"""Takes a direction (``to`` the bot, ``from`` it, its ``stderr``) and a line, or a piece of standard error."""


@runtime_checkable
class RecordsTraffic(Protocol):
    """A seat that can pass on all that is said over its pipes or its connection. Built-in bots say nothing."""

    def record_traffic(self, traffic: Traffic | None) -> None:
        """Pass on what is said from now on, from any thread; None: no longer."""


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

    @property
    def capabilities(self) -> BotCapabilities:
        """Those of the inner seat."""
        return self._inner.capabilities

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

    def record_traffic(self, traffic: Traffic | None) -> None:
        """Pass on what is said to and by the inner seat, if it says anything."""
        if isinstance(self._inner, RecordsTraffic):
            self._inner.record_traffic(traffic)
