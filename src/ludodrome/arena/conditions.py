"""The conditions of a match: its clock, its policy towards offenders, and whether legal moves are shown.

Conditions are part of a record; each has a short text for the command line and a JSON form.
"""

import re
from dataclasses import dataclass
from typing import Any

from ludodrome.bots.player import Budget
from ludodrome.game import Game
from ludodrome.validation import integer, show

FORFEIT, SUBSTITUTE, RETRY = "forfeit", "substitute", "retry"
LONGEST_MS = 86_400_000
MOST_TRIES = 1000

_UNITS = {"ms": 1, "s": 1000, "m": 60_000}
_RIGHT_CLOCK = "a clock is written like 1s, 1s+10s (with a bank), 60s++1s (Fischer), nodes=10000, sims=500 or none"


@dataclass(frozen=True, slots=True)
class Clock:
    """What a seat may use. All zeros and no budget: no clock at all.

    Every turn has ``move_ms``; what it takes beyond comes out of the seat's bank, and after each of its turns the
    bank grows by ``increment_ms``. So a bank alone is a game in so many seconds, and with an increment it is Fischer's.
    """

    move_ms: int = 0
    bank_ms: int = 0
    increment_ms: int = 0
    budget: Budget | None = None
    """Positions or playouts instead of time, for built-ins: such a match can be repeated exactly."""

    @property
    def runs(self) -> bool:
        """Whether time is measured."""
        return self.move_ms > 0 or self.bank_ms > 0

    def to_json(self) -> dict[str, int] | None:
        """As ``hello`` and records carry it; null without a clock."""
        if self.budget is not None:
            return {name: limit for name in ("nodes", "sims", "depth") if (limit := getattr(self.budget, name))}
        if not self.runs:
            return None
        return {"move_ms": self.move_ms, "bank_ms": self.bank_ms, "increment_ms": self.increment_ms}

    @staticmethod
    def from_json(value: Any) -> "Clock":
        """The clock of a record; ValueError if it is none."""
        if value is None:
            return Clock()
        names = ("move_ms", "bank_ms", "increment_ms", "nodes", "sims", "depth")
        if type(value) is not dict or not value or not set(value) <= set(names):
            raise ValueError(f"a clock is null or an object with some of {', '.join(names)}, not {show(value)}")
        numbers = {name: integer(one, 0, LONGEST_MS, f"{name} of a clock", ValueError) for name, one in value.items()}
        times = {name: numbers.pop(name) for name in names[:3] if name in numbers}
        if times and numbers:
            raise ValueError("a clock counts time or positions, not both")
        return Clock(**times, budget=Budget(**numbers) if numbers else None)

    @staticmethod
    def parse(text: str) -> "Clock":
        """The clock that a text describes; ValueError says what would be right."""
        if text == "none":
            return Clock()
        if match := re.fullmatch(r"(nodes|sims|depth)=([0-9]{1,9})", text):
            if int(match[2]) == 0:
                raise ValueError(f"{match[1]} of a clock is at least 1; {_RIGHT_CLOCK}")
            return Clock(budget=Budget(**{match[1]: int(match[2])}))
        if match := re.fullmatch(r"([^+]+)\+\+([^+]+)", text):
            return Clock(bank_ms=_milliseconds(match[1]), increment_ms=_milliseconds(match[2]))
        if match := re.fullmatch(r"([^+]+)\+([^+]+)", text):
            return Clock(_milliseconds(match[1]), _milliseconds(match[2]))
        return Clock(_milliseconds(text))

    def __str__(self) -> str:
        """The text that ``parse`` reads."""
        if self.budget is not None:
            return ",".join(f"{name}={limit}" for name, limit in (self.to_json() or {}).items())
        if not self.runs:
            return "none"
        if self.increment_ms:
            return f"{_duration(self.bank_ms)}++{_duration(self.increment_ms)}"
        return _duration(self.move_ms) + (f"+{_duration(self.bank_ms)}" if self.bank_ms else "")


def _milliseconds(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m)", text)
    found = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not 1 <= found <= LONGEST_MS:
        raise ValueError(f"{show(text)} is no time from 1ms to a day; {_RIGHT_CLOCK}")
    return found


def _duration(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g}s" if milliseconds >= 1000 else f"{milliseconds}ms"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which a game is played, besides its rules."""

    policy: str
    """``forfeit``, ``substitute`` or ``retry:n``."""
    clock: Clock = Clock(move_ms=1000)
    legal_moves: bool = True
    """Whether the bots are shown them."""
    start_ms: int = 10_000
    """What a seat's first turn may take beside its clock, uncharged: programs load, kernels compile."""

    @property
    def tries(self) -> int:
        """How often in a row an illegal answer may be given before it counts against the bot; 1 without retries."""
        return int(self.policy.partition(":")[2]) if self.policy.startswith(RETRY) else 1

    def to_json(self) -> dict[str, Any]:
        """As records carry it."""
        clock = self.clock.to_json()
        return {"policy": self.policy, "clock": clock, "legal_moves": self.legal_moves, "start_ms": self.start_ms}

    @staticmethod
    def from_json(value: Any) -> "Conditions":
        """The conditions of a record; ValueError if they are none."""
        if type(value) is not dict or set(value) != {"policy", "clock", "legal_moves", "start_ms"}:
            raise ValueError(f"conditions have policy, clock, legal_moves and start_ms, not {show(value)}")
        if type(value["legal_moves"]) is not bool:
            raise ValueError(f"legal_moves is true or false, not {show(value['legal_moves'])}")
        start_ms = integer(value["start_ms"], 0, LONGEST_MS, "start_ms", ValueError)
        policy, clock = read_policy(value["policy"]), Clock.from_json(value["clock"])
        return Conditions(policy, clock, value["legal_moves"], start_ms)


def conditions(game: Game, policy: str | None = None, clock: str | None = None, legal_moves: bool = True) -> Conditions:
    """Conditions for a game: what is not said is as its own document wants it, with a second a move."""
    chosen = read_policy(policy) if policy is not None else read_policy(game.policy)
    return Conditions(chosen, Clock.parse(clock) if clock is not None else Clock(move_ms=1000), legal_moves)


def read_policy(text: Any) -> str:
    """A policy, checked; ``retry`` alone means ten tries."""
    if text == RETRY:
        return f"{RETRY}:10"
    if text in (FORFEIT, SUBSTITUTE):
        return str(text)
    match = re.fullmatch(rf"{RETRY}:([1-9][0-9]{{0,3}})", text) if type(text) is str else None
    if match and int(match[1]) <= MOST_TRIES:
        return str(text)
    raise ValueError(f"a policy is {FORFEIT}, {SUBSTITUTE} or {RETRY}:10 (tries, up to {MOST_TRIES}), not {show(text)}")
