"""``random``: any legal move, each as likely as the others. In spaces, where moves are boards, see ``boards.py``."""

from typing import Any

from ludodrome.bots.player import ActionBot, Bot, Budget, Stopwatch, legal_actions
from ludodrome.game import Game


class Chance(ActionBot):
    """Draws lots."""

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """A legal action."""
        return self.dice.choice(legal_actions(self.game, states))


def make_random(game: Game, name: str, seed: int) -> Bot:
    """A bot that plays random legal moves."""
    return Chance(game, name, seed)
