"""Time controls: ``Clock`` is the rule, with its text and JSON forms; ``SeatClock`` is the running clock of one seat.

``transports/`` measure time; the referee decides what a late answer leads to.
"""

import re
from dataclasses import dataclass
from typing import Any

from ludodrome.bots.player import Budget
from ludodrome.validation import integer, show

MAX_MS = 86_400_000
"""One day: the longest time of a clock."""
MAX_COUNT = 999_999_999
"""The most positions, playouts or plies of a clock."""
MAX_FUEL = 10**12
"""The most instructions a move."""
INSTRUCTIONS_A_NODE = 1000
"""A built-in bot visits one position for this much fuel: its moves depend on the fuel, not on the machine."""

RESERVE = 0.02
"""Seconds that a built-in bot leaves unused in each turn, so that a busy machine does not make it late ..."""
RESERVED_SHARE = 0.02
"""... plus this share of its time ..."""
MIN_SHARE = 0.5
"""... but it uses at least this share."""
BANK_TURNS = 25
"""A built-in bot plans to spread its bank over this number of turns."""
INCREMENT_SHARE = 0.8
MAX_BANK_SHARE = 0.4
"""The largest share of its bank that a built-in bot uses in one turn."""

_TIMES = ("move_ms", "bank_ms", "increment_ms")
_COUNTS = ("nodes", "sims", "depth")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}
_MULTIPLES = {"G": 10**9, "M": 10**6, "k": 1000, "": 1}
_FUEL = "fuel"
_RIGHT_CLOCK = (
    "a clock is written like 1s, 1s+10s (with a bank), 60s++1s (Fischer), nodes=10000, sims=500, fuel=50M or none"
)


@dataclass(frozen=True, slots=True)
class Clock:
    """The time control of a seat. All zeros and no budget: no clock.

    Every turn has ``move_ms``. Time beyond it comes out of the seat's bank, and after each of its turns the bank grows
    by ``increment_ms``. So a bank alone is sudden death; with an increment it is Fischer's clock.

    The text form, ``str(clock)``, is exact: ``Clock.parse(str(clock)) == clock``. It is ``MOVE``, ``MOVE+BANK``,
    ``BANK++INCREMENT`` or ``MOVE+BANK++INCREMENT``, or counts such as ``nodes=1000``, or ``none``. ``fuel=50M`` is
    written alone or after a comma.

    >>> str(Clock(bank_ms=60_000, increment_ms=1500))
    '60s++1.5s'
    >>> Clock.parse("1s,fuel=50M")
    Clock(move_ms=1000, bank_ms=0, increment_ms=0, budget=None, fuel=50000000)
    """

    move_ms: int = 0
    bank_ms: int = 0
    increment_ms: int = 0
    budget: Budget | None = None
    """Positions or playouts instead of time, for built-in bots: such a match can be repeated exactly."""
    fuel: int | None = None
    """Instructions a move, for bots that are measured in instructions (``wasm:``). It adds to the other limits."""

    def __post_init__(self) -> None:
        if self.increment_ms and not self.runs:
            raise ValueError("a clock with an increment has a time for each move, or a bank")
        if self.budget is not None and self.runs:
            raise ValueError("a clock counts time or positions, not both")
        if self.fuel is not None and not 1 <= self.fuel <= MAX_FUEL:
            raise ValueError(f"fuel of a clock is from 1 to {_short(MAX_FUEL)} instructions, not {self.fuel}")

    @property
    def runs(self) -> bool:
        """Whether time is measured."""
        return self.move_ms > 0 or self.bank_ms > 0

    def to_json(self) -> dict[str, int] | None:
        """The clock as ``hello`` and records carry it; null without a clock."""
        limits: dict[str, int] = {}
        if self.budget is not None:
            limits = {name: limit for name in _COUNTS if (limit := getattr(self.budget, name))}
        elif self.runs:
            limits = {name: getattr(self, name) for name in _TIMES}
        if self.fuel is not None:
            limits[_FUEL] = self.fuel
        return limits or None

    @staticmethod
    def from_json(value: Any) -> "Clock":
        """Read the clock of a record or of ``hello``; ValueError if it is malformed."""
        if value is None:
            return Clock()
        names = (*_TIMES, *_COUNTS, _FUEL)
        if type(value) is not dict or not value or not set(value) <= set(names):
            raise ValueError(f"a clock is null or an object with some of {', '.join(names)}, not {show(value)}")
        times = {name: _number(value, name, 0, MAX_MS) for name in _TIMES if name in value}
        counts = {name: _number(value, name, 1, MAX_COUNT) for name in _COUNTS if name in value}
        fuel = _number(value, _FUEL, 1, MAX_FUEL) if _FUEL in value else None
        if times and counts:
            raise ValueError("a clock counts time or positions, not both")
        return Clock(**times, budget=Budget(**counts) if counts else None, fuel=fuel)

    @staticmethod
    def parse(text: str) -> "Clock":
        """Read the text form; ValueError says what would be right."""
        if text == "none":
            return Clock()
        rest, fuel = _split_fuel(text)
        if fuel is not None and not rest:
            return Clock(fuel=fuel)
        if "=" in rest:
            return Clock(budget=_counts(rest), fuel=fuel)
        if match := re.fullmatch(r"(?:([^+]+)\+)?([^+]+)\+\+([^+]+)", rest):
            move, bank, increment = match.groups(default="0s")
        else:
            move, plus, bank = rest.partition("+")
            bank, increment = bank if plus else "0s", "0s"
        clock = Clock(_milliseconds(move), _milliseconds(bank), _milliseconds(increment), fuel=fuel)
        if not clock.runs:
            raise ValueError(f"{show(text)} leaves no time to play; {_RIGHT_CLOCK}")
        return clock

    def __str__(self) -> str:
        """The text that ``parse`` reads."""
        parts = []
        if self.budget is not None:
            parts = [f"{name}={limit}" for name in _COUNTS if (limit := getattr(self.budget, name))]
        elif self.runs:
            parts = [self._time_text()]
        if self.fuel is not None:
            parts.append(f"{_FUEL}={_short(self.fuel)}")
        return ",".join(parts) or "none"

    def _time_text(self) -> str:
        move, bank, increment = (_duration(getattr(self, name)) for name in _TIMES)
        if not self.move_ms:
            return f"{bank}++{increment}"
        if self.increment_ms:
            return f"{move}+{bank}++{increment}"
        return f"{move}+{bank}" if self.bank_ms else move


def _split_fuel(text: str) -> tuple[str, int | None]:
    """A clock's text without its fuel, and the fuel; it is written last, and once."""
    match = re.fullmatch(rf"(?:(.*),)?{_FUEL}=([0-9]{{1,12}})([GMk]?)", text)
    if match is None:
        if _FUEL in text:
            raise ValueError(
                f"{show(text)} is not a clock; fuel of a clock is written last, like fuel=50M or 1s,fuel=2G"
            )
        return text, None
    fuel = int(match[2]) * _MULTIPLES[match[3]]
    if not 1 <= fuel <= MAX_FUEL:
        raise ValueError(f"fuel of a clock is from 1 to {_short(MAX_FUEL)} instructions, not {match[2]}{match[3]}")
    if match[1] == "":
        raise ValueError(f"{show(text)} is not a clock; {_RIGHT_CLOCK}")
    return match[1] or "", fuel


def _short(number: int) -> str:
    """A number with the largest unit that keeps it whole: 50M, 1500k."""
    unit, multiple = next(pair for pair in _MULTIPLES.items() if number % pair[1] == 0)
    return f"{number // multiple}{unit}"


def _number(value: dict[str, Any], name: str, least: int, most: int) -> int:
    return integer(value[name], least, most, f"{name} of a clock", ValueError)


def _counts(text: str) -> Budget:
    """The budget of a text like ``nodes=1000`` or ``nodes=1000,depth=4``."""
    limits: dict[str, Any] = {}
    for part in text.split(","):
        match = re.fullmatch(rf"({'|'.join(_COUNTS)})=([0-9]{{1,9}})", part)
        if match is None or match[1] in limits:
            raise ValueError(f"{show(text)} is not a clock; {_RIGHT_CLOCK}")
        if int(match[2]) == 0:
            raise ValueError(f"{match[1]} of a clock is at least 1; {_RIGHT_CLOCK}")
        limits[match[1]] = int(match[2])
    return Budget(**limits)


def _milliseconds(text: str) -> int:
    """A time of a clock. Only the parts of a compound clock can be zero, and they say so exactly: ``0s``."""
    if text == "0s":
        return 0
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m)", text)
    found = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not 1 <= found <= MAX_MS:
        raise ValueError(f"{show(text)} is not a time from 1ms to a day; {_RIGHT_CLOCK}")
    return found


def _duration(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    if rest and not seconds:
        return f"{rest}ms"
    return f"{seconds}.{rest:03d}".rstrip("0").rstrip(".") + "s" if rest else f"{seconds}s"


class SeatClock:
    """The running clock of one seat, in seconds. A turn is *charged* once it is over, all its tries together."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.bank = clock.bank_ms / 1000
        self._move = clock.move_ms / 1000
        self._increment = clock.increment_ms / 1000

    @staticmethod
    def at_deadline(clock: Clock, deadline_ms: int | None) -> "SeatClock":
        """The clock of a bot that knows no more than a turn's ``deadline_ms``: its bank is what exceeds the move."""
        seat = SeatClock(clock)
        if deadline_ms is not None:
            seat.bank = max(0, deadline_ms - clock.move_ms) / 1000
        return seat

    def allowed(self, spent: float = 0.0) -> float | None:
        """The seconds that the turn may still take after ``spent`` of them; None without a clock."""
        return self._move + self.bank - spent if self.clock.runs else None

    def charge(self, spent: float) -> None:
        """End a turn that took ``spent`` seconds."""
        self.bank = max(0.0, self.bank - max(0.0, spent - self._move)) + self._increment

    def budget(self, spent: float = 0.0) -> Budget | None:
        """The budget of a built-in bot for one decision; None: the bot's own spec decides."""
        if self.clock.budget is not None:
            return self.clock.budget
        nodes = None if self.clock.fuel is None else max(1, self.clock.fuel // INSTRUCTIONS_A_NODE)
        if not self.clock.runs:
            return Budget(nodes=nodes) if nodes else None
        share = self.bank / BANK_TURNS + INCREMENT_SHARE * min(self._increment, self.bank)
        wanted = self._move + min(share, MAX_BANK_SHARE * self.bank) - spent
        allowed = max(0.0, min(wanted, self.allowed(spent) or 0.0))
        return Budget(max(MIN_SHARE * allowed, allowed - RESERVE - RESERVED_SHARE * allowed), nodes)
