"""Players of dots that think as people do, and levels made of them; how is in ``games/dots/strategy.py``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ludodrome.bots.player import Bot, Budget, Clock, Player
from ludodrome.bots.thinkers import dice_at
from ludodrome.game import Game
from ludodrome.games.dots.strategy import BoardMasks, board_masks, chain_edges, greedy_edges, members

if TYPE_CHECKING:
    from ludodrome.bots.levels import Drawing

Rule = Callable[[BoardMasks, int], list[int]]
"""(field, drawn edges): the edges among which lots are drawn."""


def any_edges(field: BoardMasks, drawn: int) -> list[int]:
    """All undrawn edges."""
    return members(field.everything & ~drawn)


RULES: dict[str, tuple[Rule, Rule]] = {"greedy": (greedy_edges, any_edges), "chains": (chain_edges, greedy_edges)}
"""name -> the rule, and what whoever forgets it for a moment does."""


class Drawer(Player):
    """Draws one of the edges that a rule names."""

    def __init__(self, game: Game, name: str, seed: int, rule: Rule) -> None:
        super().__init__(game, name, seed)
        self.rule = rule
        self.field = board_masks(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """An undrawn edge."""
        return self.dice.choice(self.rule(self.field, int(states["edges"][0])))


class LevelDrawer(Drawer):
    """Keeps to a rule most of the time. In a moment of inattention it follows the rule below."""

    def __init__(self, game: Game, name: str, seed: int, drawing: "Drawing") -> None:
        self.known, self.forgotten = RULES[drawing.rule]
        self.attention = drawing.attention
        super().__init__(game, name, seed, self.known)

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """An undrawn edge."""
        attentive = dice_at(states, self.seed).fraction() < self.attention
        self.rule = self.known if attentive else self.forgotten
        return super().action(states, budget, clock)


def make(game: Game, name: str, seed: int) -> Bot:
    """A player that counts chains."""
    return Drawer(game, name, seed, chain_edges)
