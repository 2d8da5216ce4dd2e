"""Players of dots that think as people do; how is in ``games/dots/strategy.py``."""

from collections.abc import Callable
from typing import Any

from ludodrome.bots.player import Bot, Budget, Clock, Player
from ludodrome.game import Game
from ludodrome.games.dots.strategy import Field, chain_edges, field_of

Rule = Callable[[Field, int], list[int]]
"""(field, drawn edges): the edges among which lots are drawn."""


class Drawer(Player):
    """Draws one of the edges that a rule names."""

    def __init__(self, game: Game, name: str, seed: int, rule: Rule) -> None:
        super().__init__(game, name, seed)
        self.rule = rule
        self.field = field_of(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """An undrawn edge."""
        return self.dice.choice(self.rule(self.field, int(states["edges"][0])))


def make(game: Game, name: str, seed: int) -> Bot:
    """A player that counts chains."""
    return Drawer(game, name, seed, chain_edges)
