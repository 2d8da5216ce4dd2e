"""The baselines: ``random`` plays any legal move, ``greedy`` looks one ply ahead.

``greedy`` wins if it can, prevents an immediate loss, and otherwise moves to the position with the best evaluation. In
games of points it takes the move with the best sum of points won and evaluation.
Dots and spaces have their own versions (``games/dots/bots.py``, ``games/spaces/bots.py``).
"""

from typing import Any

import numpy as np

from ludodrome.bots.player import ActionBot, Bot, Budget, Stopwatch, legal_actions
from ludodrome.game import Game
from ludodrome.jit import Array, as_words
from ludodrome.search.frames import WIN


class OnePlyEvaluator:
    """Evaluates the position after each action, for games with one action a move."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.kernels: Any = game.kernels
        self._by_points = game.evaluator is not None and game.evaluator.by_points
        self._pair = game.new_states(2)
        self._after = self._pair[1:]
        self._pair_words: Array = as_words(self._pair)
        self._warm_up()

    def __reduce__(self) -> tuple[Any, ...]:
        """A new one for the same game: it remembers nothing."""
        return OnePlyEvaluator, (self.game,)

    def _warm_up(self) -> None:
        """Compile or load the kernels that only the end of a game needs."""
        self.kernels.reset(self._after, np.uint64(0))
        self.kernels.winner(self._after)
        if self._by_points:
            self._pair_words[0] = self._pair_words[1]
            self.kernels.gain(self._pair)
        elif self.game.evaluator is not None:
            self.kernels.winning(self._after)

    def values(self, states: Any, actions: list[int], replies: bool = True) -> list[int]:
        """The value of each action for the seat to move, in games of points the points it wins included.

        ``replies``: whether to see a win of the next seat, in games without points.
        """
        seat = int(self.kernels.mover(states))
        return [self._value(as_words(states), action, seat, replies) for action in actions]

    def after(self, before: Array, action: int) -> Any:
        """The position after an action, valid until the next call."""
        self._pair_words[:] = before[0]
        self.kernels.play(self._after, action)
        return self._after

    def _value(self, before: Array, action: int, seat: int, replies: bool) -> int:
        after = self.after(before, action)
        if self._by_points:
            rest = 0 if self.kernels.mover(after) < 0 else int(self.kernels.value(after, seat))
            return int(self.kernels.gain(self._pair)) + rest
        if self.kernels.mover(after) < 0:
            winner = int(self.kernels.winner(after))
            return 0 if winner < 0 else WIN - 1 if winner == seat else 1 - WIN
        if self.game.evaluator is None:
            return 2 - WIN if replies and self._can_win(after) else 0
        if replies and self.kernels.winning(after) >= 0:
            return 2 - WIN
        return int(self.kernels.value(after, seat))

    def _can_win(self, states: Any) -> bool:
        """Whether the seat to move can win with one action, for games without a kernel for it."""
        seat, before = self.kernels.mover(states), as_words(states).copy()
        after = self.game.new_states(1)
        for action in legal_actions(self.game, states):
            as_words(after)[0] = before[0]
            self.kernels.play(after, action)
            if self.kernels.winner(after) == seat:
                return True
        return False


class GreedyBot(ActionBot):
    """Plays the move with the best one-ply value."""

    def __init__(self, game: Game, name: str, seed: int) -> None:
        super().__init__(game, name, seed)
        self.evaluator = OnePlyEvaluator(game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """A random action among those with the highest value."""
        actions = legal_actions(self.game, states)
        values = self.evaluator.values(states, actions)
        best = max(values)
        return self.rng.choice([action for action, value in zip(actions, values, strict=True) if value == best])


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A greedy bot."""
    return GreedyBot(game, name, seed)


class RandomBot(ActionBot):
    """Plays any legal move, all equally likely."""

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """A random legal action."""
        return self.rng.choice(legal_actions(self.game, states))


def make_random(game: Game, name: str, seed: int) -> Bot:
    """A bot that plays random legal moves."""
    return RandomBot(game, name, seed)
