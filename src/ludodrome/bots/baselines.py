"""``greedy``: what is best at once. It wins if it can, stops an immediate loss, and else takes what looks best.

In dots it takes free boxes and draws no third sides, and counts no chains; in spaces it lays the best of some boards
made by lot.
"""

from typing import Any

import numpy as np

from ludodrome.bots.player import ActionBot, Bot, Budget, Stopwatch, legal_actions
from ludodrome.game import Game
from ludodrome.jit import Array, as_words
from ludodrome.search.alphabeta import WIN


class OnePlyEvaluator:
    """Looks at what each move leads to, no farther. For games in which a move is an action and games are just won."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.kernels: Any = game.kernels
        self._after = game.new_states(1)
        self._words: Array = as_words(self._after)
        self._warm_up()

    def _warm_up(self) -> None:
        """What only the end of a game calls for is compiled or loaded now, and not while a clock runs."""
        self.kernels.reset(self._after, np.uint64(0))
        self.kernels.winner(self._after)
        if self.game.evaluator is not None and not self.game.evaluator.by_points:
            self.kernels.winning(self._after)

    def at(self, states: Any, actions: list[int], replies: bool = True) -> list[int]:
        """What each action is worth to the seat to move; ``replies``: whether it sees that the next seat could win."""
        seat = int(self.kernels.mover(states))
        return [self._worth(as_words(states), action, seat, replies) for action in actions]

    def after(self, before: Array, action: int) -> Any:
        """The position after an action; it lasts until the next one is asked for."""
        self._words[0] = before[0]
        self.kernels.play(self._after, action)
        return self._after

    def _worth(self, before: Array, action: int, seat: int, replies: bool) -> int:
        after = self.after(before, action)
        if self.kernels.mover(after) < 0:
            winner = int(self.kernels.winner(after))
            return 0 if winner < 0 else WIN - 1 if winner == seat else 1 - WIN
        if self.game.evaluator is None or self.game.evaluator.by_points:
            return 2 - WIN if replies and self._can_win(after) else 0
        if replies and self.kernels.winning(after) >= 0:
            return 2 - WIN
        return int(self.kernels.value(after, seat))

    def _can_win(self, states: Any) -> bool:
        """Whether the seat to move wins with one action, for games that have no kernel to tell."""
        seat, before = self.kernels.mover(states), as_words(states).copy()
        after = self.game.new_states(1)
        for action in legal_actions(self.game, states):
            as_words(after)[0] = before[0]
            self.kernels.play(after, action)
            if self.kernels.winner(after) == seat:
                return True
        return False


class GreedyBot(ActionBot):
    """Takes what looks best after its own move, and sees a win of the next seat coming."""

    def __init__(self, game: Game, name: str, seed: int) -> None:
        super().__init__(game, name, seed)
        self.glance = OnePlyEvaluator(game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The action of the highest value; lots decide between equals."""
        actions = legal_actions(self.game, states)
        worth = self.glance.at(states, actions)
        best = max(worth)
        return self.dice.choice([action for action, one in zip(actions, worth, strict=True) if one == best])


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A greedy bot."""
    return GreedyBot(game, name, seed)


# ``random``: any legal move, each as likely as the others. In spaces, where moves are boards, see ``boards.py``.


class RandomBot(ActionBot):
    """Draws lots."""

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """A legal action."""
        return self.dice.choice(legal_actions(self.game, states))


def make_random(game: Game, name: str, seed: int) -> Bot:
    """A bot that plays random legal moves."""
    return RandomBot(game, name, seed)
