"""``expert`` in dots: plays perfectly from the moment the exact solver reaches the end, and counts chains before."""

from typing import Any

from ludodrome.bots.player import Budget, Clock, Player
from ludodrome.bots.thinkers import agreed
from ludodrome.game import Game
from ludodrome.games.dots.solver import Solver
from ludodrome.games.dots.strategy import board_masks, chain_edges

WITHIN_REACH = 44
"""With more undrawn edges than this the solver is not even asked."""
TABLE_BITS = 20
SLICE = 500
"""Nodes between two looks at the clock, to begin with."""
SLICE_SECONDS = 0.002


class EndgameSolver(Player):
    """The strongest player of dots."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.field = board_masks(game.options["rows"], game.options["cols"])
        self.solver = self._new_solver()
        self._warm_up()
        self.solver = self._new_solver()

    def _warm_up(self) -> None:
        """Solves an end of rows alone: what that needs is compiled or loaded now, and not while a clock runs."""
        drawn = (1 << (self.game.options["rows"] + 1) * self.game.options["cols"]) - 1
        edge = self._solved(drawn, Budget(nodes=SLICE), Clock())
        while edge is not None:
            drawn |= 1 << edge
            edge = self._solved(drawn, Budget(nodes=SLICE), Clock())

    def _new_solver(self) -> Solver:
        return Solver(self.game.options["rows"], self.game.options["cols"], TABLE_BITS)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game. What was proved stays true, but which of the best moves is found depends on what was."""
        super().start(hello)
        self.solver = self._new_solver()

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """An undrawn edge."""
        drawn = int(states["edges"][0])
        limits = agreed(self.own, budget.for_nodes, self.usual)
        edge = None
        if (self.field.everything & ~drawn).bit_count() <= WITHIN_REACH:
            edge = self._solved(drawn, limits, clock)
        return self.dice.choice(chain_edges(self.field, drawn)) if edge is None else edge

    def _solved(self, drawn: int, limits: Budget, clock: Clock) -> int | None:
        """The best edge, if the solver finds it in time."""
        solver = self.solver
        solver.begin(drawn)
        nodes = SLICE
        while True:
            left = clock.left(limits.time)
            if limits.nodes is not None:
                nodes = min(nodes, limits.nodes - solver.nodes)
            if nodes <= 0 or left == 0:
                return None
            before = Clock()
            if solver.run(nodes):
                return solver.best_edge
            if left is not None:
                nodes = max(1, int(nodes * min(SLICE_SECONDS, left) / before.seconds))
            else:
                nodes *= 2
