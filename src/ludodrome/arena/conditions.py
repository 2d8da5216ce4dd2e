"""The conditions of a game: its clock, its policy on faults, and whether bots see the legal moves.

Conditions are part of a record. Clock and policy also have a short text form for the command line.
"""

import re
from dataclasses import dataclass
from typing import Any

from ludodrome.arena.clocks import MAX_MS, Clock
from ludodrome.game import Game
from ludodrome.validation import integer, show

FORFEIT, SUBSTITUTE, RETRY = "forfeit", "substitute", "retry"
MAX_TRIES = 1000
DEFAULT_CLOCK = Clock(move_ms=1000)


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a game is played, besides its rules."""

    policy: str
    """``forfeit``, ``substitute`` or ``retry:n``."""
    clock: Clock = DEFAULT_CLOCK
    legal_moves: bool = True
    """Whether ``turn`` messages list the legal moves."""
    start_ms: int = 10_000
    """Uncharged milliseconds for a seat's first turn, on top of its clock: programs load, kernels compile."""

    @property
    def tries(self) -> int:
        """The number of illegal answers in a row that lead to a verdict; 1 without retries."""
        return int(self.policy.partition(":")[2]) if self.policy.startswith(RETRY) else 1

    def to_json(self) -> dict[str, Any]:
        """The conditions as records carry them."""
        clock = self.clock.to_json()
        return {"policy": self.policy, "clock": clock, "legal_moves": self.legal_moves, "start_ms": self.start_ms}

    @staticmethod
    def from_json(value: Any) -> "Conditions":
        """Read the conditions of a record; ValueError if they are malformed."""
        if type(value) is not dict or set(value) != {"policy", "clock", "legal_moves", "start_ms"}:
            raise ValueError(f"conditions have policy, clock, legal_moves and start_ms, not {show(value)}")
        if type(value["legal_moves"]) is not bool:
            raise ValueError(f"legal_moves is true or false, not {show(value['legal_moves'])}")
        start_ms = integer(value["start_ms"], 0, MAX_MS, "start_ms", ValueError)
        policy, clock = read_policy(value["policy"]), Clock.from_json(value["clock"])
        return Conditions(policy, clock, value["legal_moves"], start_ms)


def conditions(game: Game, policy: str | None = None, clock: str | None = None, legal_moves: bool = True) -> Conditions:
    """Conditions for a game. Defaults: the game's own policy, one second a move."""
    chosen = read_policy(policy) if policy is not None else read_policy(game.policy)
    return Conditions(chosen, Clock.parse(clock) if clock is not None else DEFAULT_CLOCK, legal_moves)


def read_policy(text: Any) -> str:
    """Check a policy; ``retry`` alone means ten tries."""
    if text == RETRY:
        return f"{RETRY}:10"
    if text in (FORFEIT, SUBSTITUTE):
        return str(text)
    match = re.fullmatch(rf"{RETRY}:([1-9][0-9]{{0,3}})", text) if type(text) is str else None
    if match and int(match[1]) <= MAX_TRIES:
        return str(text)
    raise ValueError(f"a policy is {FORFEIT}, {SUBSTITUTE} or {RETRY}:10 (tries, up to {MAX_TRIES}), not {show(text)}")
