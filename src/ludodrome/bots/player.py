"""The shape of a bot: budgets, the base of the built-in players, random numbers, positions from observations.

What the bots are called and how they are set is in ``catalogue.py``; reading their specs is in ``specs.py``.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ludodrome.game import Game, checked_seed
from ludodrome.validation import show

Item = TypeVar("Item")

PROTOCOL = 1
"""The version of the bot protocol."""
NODES_A_SIMULATION = 50
"""How budgets are exchanged between searches: so many visited positions are worth about one playout."""

ON_TIME = 0.003
"""Seconds that are kept in reserve: a search ends a little before its time rather than a little after."""

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Budget:
    """What one decision may cost; what is None is not limited. With several limits the first one reached counts."""

    time: float | None = None
    """Seconds."""
    nodes: int | None = None
    """Positions visited by a search."""
    sims: int | None = None
    """Playouts."""
    depth: int | None = None
    """Plies ahead."""

    def within(self, other: "Budget") -> "Budget":
        """The tighter of two budgets, limit by limit."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("time", "nodes", "sims", "depth"))
        return Budget(*(min((limit for limit in pair if limit is not None), default=None) for pair in pairs))

    @property
    def empty(self) -> bool:
        """Whether nothing is limited."""
        return self == Budget()

    @property
    def for_nodes(self) -> "Budget":
        """The same for a search that counts positions: playouts are exchanged."""
        nodes = self.nodes if self.nodes is not None or self.sims is None else self.sims * NODES_A_SIMULATION
        return Budget(self.time, nodes, None, self.depth)

    @property
    def for_sims(self) -> "Budget":
        """The same for a search by playouts: positions are exchanged, and depth says nothing."""
        exchanged = self.sims is None and self.nodes is not None
        sims = max(1, (self.nodes or 0) // NODES_A_SIMULATION) if exchanged else self.sims
        return Budget(self.time, None, sims, None)


EXPERT_BUDGET = Budget(time=1.0)
"""What a move of ``expert`` may cost without other limits."""


class Bot(Protocol):
    """Anything that plays: a built-in, or somebody's own class behind ``py:``."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def start(self, hello: dict[str, Any]) -> None:
        """A game begins; what came before is forgotten."""

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A move for the seat that is to move in the observation; budget None: as the spec says."""

    def close(self) -> None:
        """The bot is not needed any more."""


class SplitMix64:
    """Random numbers that are the same on every machine: SplitMix64, as in ``jit.py``."""

    def __init__(self, seed: int) -> None:
        self._counter = _mixed(seed & _WORD)

    def word(self) -> int:
        """64 random bits."""
        self._counter = (self._counter + _GOLDEN) & _WORD
        return _mixed(self._counter)

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return self.word() * n >> 64

    def choice(self, items: Sequence[Item]) -> Item:
        """One of them, each as likely as the others."""
        return items[self.below(len(items))]

    def fraction(self) -> float:
        """A number from 0 up to, but not including, 1."""
        return (self.word() >> 11) * 2.0**-53


def _mixed(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


class ActionBot:
    """The base of the built-ins whose move is one action. A player says in ``action`` what it would do.

    The same seed, the same positions in the same order and no limit of time: the same moves, on every machine.
    """

    def __init__(self, game: Game, name: str, seed: int = 0) -> None:
        self.game = game
        self.name = name
        self.seed = int(checked_seed(seed))
        self.dice = SplitMix64(self.seed)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game; a seed in the greeting takes the place of the one given before."""
        self.seed = int(checked_seed(hello.get("seed", self.seed)))
        self.dice = SplitMix64(self.seed)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal move; ValueError if there is none to make."""
        clock = Stopwatch()
        states = parse_observation(self.game, observation)
        if self.game.kernels.mover(states) < 0:
            raise ValueError("there is nothing to choose: the game is over")
        action = self.action(states, budget or Budget(), clock)
        return self.game.codec.format_moves([action], states[0])[0]

    def action(self, states: Any, budget: Budget, clock: "Stopwatch") -> int:
        """The legal action to make in states[0], a running game."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held open."""


class Stopwatch:
    """How long a decision has taken."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """So far."""
        return time.perf_counter() - self.began

    def left(self, limit: float | None) -> float | None:
        """What a search may still use of a limit in seconds."""
        return None if limit is None else max(0.0, limit - ON_TIME - self.seconds)


def parse_observation(game: Game, observation: Any) -> Any:
    """An array of one record from what a seat was shown; BadState if it is no observation of this game."""
    state = observation
    if type(observation) is dict and "you" in observation:
        state = {name: value for name, value in observation.items() if name != "you"}
    return game.codec.parse_state(state, game.options)


def legal_actions(game: Game, states: Any) -> list[int]:
    """The legal actions of states[0]."""
    buffer = game.buffer()
    actions: list[int] = buffer[: game.kernels.legal(states, buffer)].tolist()
    return actions


def hello_message(game: Game, seat: int, seed: int, match: str = "") -> dict[str, Any]:
    """The ``hello`` of the bot protocol, for games without an arena."""
    if not 0 <= seat < game.seats:
        raise ValueError(f"a seat of {game.id} is a whole number from 0 to {game.seats - 1}, not {show(seat)}")
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "match": match,
        "game": game.id,
        "options": game.options,
        "seat": seat,
        "player": seat,
        "seats": game.seats,
        "clock": None,
        "seed": seed,
    }


def resolve_budget(own: Budget, given: Budget, usual: Budget) -> Budget:
    """What the spec says within what the clock says; if neither says anything, what is usual."""
    limits = own.within(given)
    return usual if limits.empty else limits


def position_rng(states: Any, seed: int) -> SplitMix64:
    """Random numbers that depend on the position and the seed alone."""
    digest = hashlib.blake2b(states.tobytes() + seed.to_bytes(8, "little"), digest_size=8).digest()
    return SplitMix64(int.from_bytes(digest, "little"))
