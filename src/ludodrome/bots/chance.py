"""``random``: any legal move, each as likely as the others. In spaces, where moves are boards, see ``boards.py``."""

from typing import Any

from ludodrome.bots.player import Bot, Budget, Clock, Player, legal_actions
from ludodrome.game import Game


class Chance(Player):
    """Draws lots."""

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """A legal action."""
        return self.dice.choice(legal_actions(self.game, states))


def make(game: Game, name: str, seed: int) -> Bot:
    """A player that draws lots."""
    if game.actions_a_turn > 1:
        from ludodrome.bots.boards import BestOfSome

        return BestOfSome(game, name, seed, tried=1)
    return Chance(game, name, seed)
