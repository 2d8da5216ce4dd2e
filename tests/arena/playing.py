"""Games for the tests of the arena: play specs in one line, bots of the zoo, seats that follow a script."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ludodrome.arena.conditions import Conditions, conditions
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import NO_CAPABILITIES, TIMEOUT, Answer, Notice, SeatFault, Turn
from ludodrome.games import make

ZOO = Path(__file__).with_name("zoo.py")
AMPLE = "20s"
"""A clock that no bot needs, however busy the machine is."""


def zoo(kind: str, stays: bool = False) -> str:
    """The spec of a bot of the zoo; it may say that it can play many games."""
    return f"cmd:{sys.executable} -I -S {ZOO} {kind}{' many' if stays else ''}"


def play_spec(
    game: str = "skysummit",
    bots: Sequence[str] = ("random", "random"),
    policy: str | None = None,
    clock: str = AMPLE,
    start_ms: int = 10_000,
    legal_moves: bool = True,
    seed: int = 1,
    opening: Sequence[Any] = (),
    **options: Any,
) -> PlaySpec:
    """A game to be played."""
    usual = conditions(make(game, **options), policy, clock, legal_moves)
    chosen = Conditions(usual.policy, usual.clock, usual.legal_moves, start_ms)
    return PlaySpec(game, options, tuple(bots), tuple(bots), chosen, seed, tuple(opening))


class Scripted:
    """A seat that answers as a function says, and remembers its messages."""

    capabilities = NO_CAPABILITIES

    def __init__(self, answer: Callable[[Turn], Answer]) -> None:
        self.name = "scripted"
        self.stderr = ""
        self.notes: list[str] = []
        self.heard: list[dict[str, Any]] = []
        self.closed = False
        self._answer = answer

    def start(self, hello: dict[str, Any]) -> None:
        self.heard.append(hello)

    def ask(self, turn: Turn) -> Answer:
        self.heard.append(turn.message)
        return self._answer(turn)

    def notify(self, notice: Notice) -> None:
        self.heard.append(notice.message)

    def close(self) -> None:
        self.closed = True


def first(turn: Turn) -> Answer:
    """The first legal move, in no time."""
    return Answer(0.0, turn.message["legal_moves"][0])


def expire(referee: Referee, seconds: float) -> None:
    """Let the open question time out."""
    referee.deliver(Answer(seconds, fault=SeatFault(TIMEOUT, "no answer came in time")))
