"""The learner's opponents: compiled ones, bots, and policies that play many games at once.

    "random", "greedy", "alphabeta:depth=2"   compiled: thousands of games in one call
    any other bot, "mcts:sims=200"            one game after another, for few games
    a callable                                (observations, masks) -> actions, many games at once
    a list of these                           a pool: each game gets a random one and keeps it

Each game has its own random numbers, also for its opponents, so games do not depend on each other.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ludodrome.bots.player import Bot
from ludodrome.bots.registry import make_bot
from ludodrome.envs.observations import as_planes, new_observations
from ludodrome.game import Game, checked_count
from ludodrome.jit import Array, as_words
from ludodrome.search.opponents import new_workspace
from ludodrome.splitmix import SplitMix64
from ludodrome.validation import show

if TYPE_CHECKING:
    from ludodrome.envs.core import VecGame

Policy = Callable[[Array, Array], Any]
"""(planes [m, planes, rows, columns], masks [m, num_actions] int8) -> actions [m], each from its own seat's view."""

MAX_BOTS = 64
"""Limit of games with bots: each game has bots of its own."""
_DEPTH = re.compile(r"alphabeta:depth=([1-9]\d?)")


class Opponent(Protocol):
    """An opponent in the games that it was assigned to."""

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in the games where ``vec.state.opponents`` is ``which``, until the learner's turn or the end."""


class RandomOpponent:
    """Any legal action, all equally likely."""

    def __init__(self, game: Game) -> None:
        self._buffer = game.buffer()

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in all games in one call."""
        vec.game.kernels.answer_random(vec.state, which, self._buffer)


class GreedyOpponent:
    """The best action at first sight, as the bot ``greedy``; ties are broken at random."""

    def __init__(self, game: Game) -> None:
        self._buffer = game.buffer()
        self._scratch = game.new_states(2)

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in all games in one call."""
        state, kernels, scratch = vec.state, cast(Any, vec.game.kernels), self._scratch
        kernels.answer_greedy(state, as_words(state.states), which, self._buffer, scratch, as_words(scratch))


class AlphaBetaOpponent:
    """Alpha-beta to a fixed depth, without memory between moves."""

    def __init__(self, game: Game, depth: int) -> None:
        self._game, self._depth = game, depth
        self._workspace = new_workspace(game)

    def __reduce__(self) -> tuple[Any, ...]:
        """A new one: it remembers nothing, and parts of the workspace are views of others."""
        return AlphaBetaOpponent, (self._game, self._depth)

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in all games in one call."""
        state, kernels = vec.state, cast(Any, vec.game.kernels)
        kernels.answer_alphabeta(state, as_words(state.states), which, self._workspace, self._depth)


class PolicyOpponent:
    """A policy, for instance a network: called with all its games at once until none is its turn."""

    def __init__(self, game: Game, n: int, policy: Policy) -> None:
        self._policy = policy
        self._observations = new_observations(game, n)
        self._movers: Array = np.empty(n, np.int8)

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in batches. Raises ValueError if the policy returns wrong or illegal actions."""
        state, kernels = vec.state, vec.game.kernels
        while True:
            kernels.movers_many(state.states, self._movers)
            waiting = (state.opponents == which) & (self._movers >= 0) & (self._movers != state.agent_seat)
            rows = np.flatnonzero(waiting)
            if not len(rows):
                return
            vec.observe_rows(rows, self._movers, self._observations)
            mask = self._observations.mask[: len(rows)]
            chosen = self._read(self._policy(as_planes(vec.game, self._observations)[: len(rows)], mask), mask)
            for row, action in zip(rows.tolist(), chosen.tolist(), strict=True):
                kernels.play(state.states[row : row + 1], action)

    def _read(self, answer: Any, mask: Array) -> Array:
        actions = np.asarray(answer)
        if actions.shape != (len(mask),) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"a policy answers {len(mask)} games with {len(mask)} whole numbers, "
                f"not with {actions.dtype} of shape {actions.shape}"
            )
        inside = (actions >= 0) & (actions < mask.shape[1])
        legal = inside & (mask[np.arange(len(mask)), np.where(inside, actions, 0)] == 1)
        if not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            raise ValueError(f"a policy's actions are legal ones: {actions[row]} of its answer number {row} is not")
        return actions.astype(np.int64)


class BotOpponent:
    """A bot for each game, made when its first game starts. Raises ValueError for more than MAX_BOTS games."""

    def __init__(self, game: Game, n: int, spec: str) -> None:
        if n > MAX_BOTS:
            raise ValueError(
                f"{spec} plays in at most {MAX_BOTS} games at once; in more play random, greedy and "
                f"alphabeta:depth=N where the game has them, and policies: callables on batches"
            )
        self._make = partial(make_bot, spec, game)
        self._bots: dict[tuple[int, int], Bot] = {(0, seat): self._make() for seat in range(game.seats - 1)}
        self._games: dict[tuple[int, int], int] = {}

    def answer(self, vec: "VecGame", which: int) -> None:
        """Move in one game after another."""
        state, game = vec.state, vec.game
        for i in np.flatnonzero(state.opponents == which).tolist():
            states, view = state.states[i : i + 1], int(state.agent_seat[i])
            while (seat := int(game.kernels.mover(states))) not in (-1, view):
                bot = self._bot(vec, i, (seat - view) % game.seats - 1)
                game.apply_to(states, bot.choose(game.observation_of(states, seat)))

    def _bot(self, vec: "VecGame", i: int, place: int) -> Bot:
        """The bot of game i for the seat that is ``place`` + 1 after the learner's."""
        key = i, place
        if key not in self._bots:
            self._bots[key] = self._make()
        if self._games.get(key) != vec.games_started[i]:
            self._games[key] = int(vec.games_started[i])
            self._bots[key].start({"seed": SplitMix64(int(vec.state.rng[i]) + place).word()})
        return self._bots[key]


def read_opponents(opponent: Any, game: Game, n: int) -> list[Opponent]:
    """Make the opponents of an ``opponent`` argument. Raises ValueError if it is wrong."""
    if isinstance(opponent, Sequence) and not isinstance(opponent, str):
        checked_count(len(opponent), "the number of opponents in a pool", 1, np.iinfo(np.int16).max)
        return [_read_one(one, game, n) for one in opponent]
    return [_read_one(opponent, game, n)]


def _read_one(opponent: Any, game: Game, n: int) -> Opponent:
    if callable(opponent):
        return PolicyOpponent(game, n, opponent)
    if not isinstance(opponent, str):
        raise ValueError(
            "an opponent is 'self', the name of a bot, a policy that is called with observations and masks, "
            f"or a list of these, not {show(opponent)}"
        )
    if opponent == "random":
        return RandomOpponent(game)
    if opponent == "greedy" and hasattr(game.kernels, "answer_greedy"):
        return GreedyOpponent(game)
    if (found := _DEPTH.fullmatch(opponent)) and hasattr(game.kernels, "answer_alphabeta"):
        return AlphaBetaOpponent(game, int(found[1]))
    return BotOpponent(game, n, opponent)
