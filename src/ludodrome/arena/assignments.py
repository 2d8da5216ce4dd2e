"""One game to be played: all that decides it, as a value that can be sent anywhere and written down.

Workers, clusters and tournaments hand assignments around; ``judge.play`` turns one into a record.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from ludodrome.arena.conditions import Conditions
from ludodrome.game import Game


@dataclass(frozen=True, slots=True)
class Assignment:
    """A game, who sits where, how it begins, and under which conditions."""

    game: str
    options: dict[str, Any]
    bots: tuple[str, ...]
    """Specs by seat."""
    names: tuple[str, ...]
    """What they are called in tables, by seat."""
    conditions: Conditions
    seed: int = 0
    """Of the first position; the seats' own seeds follow from it."""
    opening: tuple[Any, ...] = field(default=())
    """Moves that are on the board before the bots are asked."""
    number: int = 0
    """Which game of its match it is."""
    position: Any = None
    """The state in which the game begins, if it is another than the first; the opening is played from there."""

    @property
    def match(self) -> str:
        """A name for this game that depends on nothing but itself."""
        return "m-" + hashlib.sha256(canonical(self.to_json())).hexdigest()[:16]

    @property
    def seat_seeds(self) -> list[int]:
        """A seed for each bot, below 2**53 so that every language reads it exactly; none tells anything of another."""
        return [
            _hashed(f"ludodrome seat {seat} of game {self.number} of {self.seed}") for seat in range(len(self.bots))
        ]

    def to_json(self) -> dict[str, Any]:
        """A plain value; ``from_json`` reads it back."""
        value = {
            "game": self.game,
            "options": self.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "conditions": self.conditions.to_json(),
            "seed": self.seed,
            "opening": list(self.opening),
            "number": self.number,
        }
        return value if self.position is None else {**value, "position": self.position}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "Assignment":
        """What ``to_json`` wrote."""
        return Assignment(
            value["game"],
            value["options"],
            tuple(value["bots"]),
            tuple(value["names"]),
            Conditions.from_json(value["conditions"]),
            value["seed"],
            tuple(value["opening"]),
            value["number"],
            value.get("position"),
        )

    def made(self) -> Game:
        """The game."""
        from ludodrome.games import make

        return make(self.game, **self.options)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical(value: Any) -> bytes:
    """JSON in one form only: keys sorted, no spaces."""
    return _encode(value).encode()


def _hashed(purpose: str) -> int:
    """53 bits that lead back to nothing."""
    return int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little") >> 11
