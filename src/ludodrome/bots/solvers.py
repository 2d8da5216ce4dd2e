"""``expert`` in dots: counts chains as long as the end is far, and searches to it once it is near."""

from typing import Any

from ludodrome.bots.player import Budget, Clock
from ludodrome.bots.thinkers import AlphaBeta, agreed
from ludodrome.game import Game
from ludodrome.games.dots.strategy import chain_edges, field_of

NEAR = 24
"""With no more undrawn edges than this, alpha-beta is better than counting chains."""


class EndgameSolver(AlphaBeta):
    """The strongest player of dots."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed, own=own, usual=usual)
        self.field = field_of(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """An undrawn edge."""
        drawn = int(states["edges"][0])
        if (self.field.everything & ~drawn).bit_count() > NEAR:
            return self.dice.choice(chain_edges(self.field, drawn))
        return self.find(states, agreed(self.own, budget.for_nodes, self.usual), clock).action
