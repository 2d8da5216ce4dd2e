"""The interface of a bot, budgets, the base class of the built-in bots, and random numbers.

Names, parameters and specs of the bots are in ``registry.py``.
"""

import hashlib
import time
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ludodrome.game import Game, checked_seed
from ludodrome.splitmix import SplitMix64
from ludodrome.validation import show

PROTOCOL = 1
"""The version of the bot protocol."""
NODES_A_PLAYOUT = 50
"""Exchange rate of budgets: one playout costs about as much as this many visited positions."""

TIME_RESERVE = 0.003
"""Seconds that a search keeps in reserve, so that it never ends late."""

WARM_UP_MOVES = 3


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one decision; None means no limit. The first limit reached ends the search.

    >>> Budget(time=2.0, depth=6).within(Budget(time=1.0))
    Budget(time=1.0, nodes=None, sims=None, depth=6)
    >>> Budget().empty, Budget(sims=10).for_nodes.nodes, Budget(nodes=1000).for_sims.sims
    (True, 500, 20)
    """

    time: float | None = None
    """Seconds."""
    nodes: int | None = None
    """Positions visited by a search."""
    sims: int | None = None
    """Playouts."""
    depth: int | None = None
    """Plies ahead."""

    def within(self, other: "Budget") -> "Budget":
        """The tighter of two budgets, for each limit."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("time", "nodes", "sims", "depth"))
        return Budget(*(min((limit for limit in pair if limit is not None), default=None) for pair in pairs))

    @property
    def empty(self) -> bool:
        """Whether there is no limit."""
        return self == Budget()

    @property
    def for_nodes(self) -> "Budget":
        """The same for a search that counts positions: playouts are converted."""
        nodes = self.nodes if self.nodes is not None or self.sims is None else self.sims * NODES_A_PLAYOUT
        return Budget(self.time, nodes, None, self.depth)

    @property
    def for_sims(self) -> "Budget":
        """The same for a search by playouts: positions are converted, depth is ignored."""
        converted = self.sims is None and self.nodes is not None
        sims = max(1, (self.nodes or 0) // NODES_A_PLAYOUT) if converted else self.sims
        return Budget(self.time, None, sims, None)


EXPERT_BUDGET = Budget(time=1.0)
"""The default budget of ``expert``."""


class Bot(Protocol):
    """The interface of a bot: a built-in one, or a class behind ``py:``.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> player = ludodrome.bot("alphabeta", game)
    >>> player.name
    'alphabeta'
    >>> player.start({"seed": 7})
    >>> game.is_legal(game.initial_state(), player.choose(game.initial_state(), ludodrome.Budget(depth=2)))
    True
    >>> player.close()
    """

    @property
    def name(self) -> str:
        """Its name in tables."""

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game and forget earlier ones. ``hello``: the protocol's message, of which any key may be missing."""

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A move for the seat to move in the observation. ``budget`` None: as the spec says."""

    def close(self) -> None:
        """Release what the bot holds; it is not used again."""


@runtime_checkable
class NeedsWarmUp(Protocol):
    """A bot with kernels that its first moves may not need."""

    def warm_up(self) -> None:
        """Compile or load them."""


class ActionBot:
    """Base class of the built-in bots whose move is one action: subclasses choose it in ``action``.

    The same seed and the same positions in the same order give the same moves on every machine, unless time is
    limited.
    """

    def __init__(self, game: Game, name: str, seed: int = 0) -> None:
        self.game = game
        self.name = name
        self.seed = int(checked_seed(seed))
        self.rng = SplitMix64(self.seed)
        self.telemetry: dict[str, Any] | None = None
        """What the last decision was based on, as the fields of an ``info`` message; None if it has nothing to say."""

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game; a seed in ``hello`` replaces the earlier one."""
        self.seed = int(checked_seed(hello.get("seed", self.seed)))
        self.rng = SplitMix64(self.seed)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal move. Raises BadState for a wrong observation, ValueError if the game is over."""
        clock = Stopwatch()
        states = parse_observation(self.game, observation)
        if self.game.kernels.mover(states) < 0:
            raise ValueError("there is nothing to choose: the game is over")
        self.telemetry = None
        action = self.action(states, budget or Budget(), clock)
        return self.game.codec.format_moves([action], states[0])[0]

    def action(self, states: Any, budget: Budget, clock: "Stopwatch") -> int:
        """The legal action to play in states[0], a running game."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no resources are held."""


class Stopwatch:
    """Measures how long a decision takes."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """The elapsed time."""
        return time.perf_counter() - self.began

    def left(self, limit: float | None) -> float | None:
        """The seconds that a search may still use of a limit; None without a limit."""
        return None if limit is None else max(0.0, limit - TIME_RESERVE - self.seconds)


def parse_observation(game: Game, observation: Any) -> Any:
    """The position of an observation, an array of one record. Raises BadState if it is wrong."""
    state = observation
    if type(observation) is dict and "you" in observation:
        state = {name: value for name, value in observation.items() if name != "you"}
    if not game.has_hidden_information:
        return game.encode_array(state)
    states = game.new_states(1)
    states[0] = game.encode_observation(state)
    return states


def legal_actions(game: Game, states: Any) -> list[int]:
    """The legal actions of states[0]."""
    buffer = game.buffer()
    actions: list[int] = buffer[: game.kernels.legal(states, buffer)].tolist()
    return actions


def hello_message(game: Game, seat: int, seed: int, match: str = "") -> dict[str, Any]:
    """The ``hello`` message of the bot protocol, for games without an arena. Raises ValueError for a wrong seat."""
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


def resolve_budget(own: Budget, given: Budget, default: Budget) -> Budget:
    """The spec's budget within the given one; the default if neither has a limit."""
    limits = own.within(given)
    return default if limits.empty else limits


def position_rng(states: Any, seed: int) -> SplitMix64:
    """Random numbers that depend only on the position and the seed."""
    digest = hashlib.blake2b(states.tobytes() + seed.to_bytes(8, "little"), digest_size=8).digest()
    return SplitMix64(int.from_bytes(digest, "little"))


def warm_up(bot: Bot, game: Game) -> None:
    """Compile a new bot's kernels: play a few moves with a small budget, then restart the bot."""
    if isinstance(bot, NeedsWarmUp):
        bot.warm_up()
    state, budget = game.initial_state(), Budget(nodes=1000, sims=10, depth=3)
    for _ in range(WARM_UP_MOVES):
        seat = game.to_move(state)
        if seat is not None:
            state = game.apply(state, bot.choose(game.observation(state, seat), budget))
    bot.start({})
