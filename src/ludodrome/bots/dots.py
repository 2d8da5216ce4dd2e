"""Players of dots that think as people do, and levels made of them; how is in ``games/dots/strategy.py``."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludodrome.bots.player import EXPERT_BUDGET, ActionBot, Bot, Budget, Stopwatch, position_rng, resolve_budget
from ludodrome.game import Game
from ludodrome.games.dots.solver import Solver
from ludodrome.games.dots.strategy import BoardMasks, board_masks, chain_edges, greedy_edges, members

# ``expert`` in dots: plays perfectly from the moment the exact solver reaches the end, and counts chains before.


WITHIN_REACH = 44
"""With more undrawn edges than this the solver is not even asked."""
TABLE_BITS = 20
SLICE = 500
"""Nodes between two looks at the clock, to begin with."""
SLICE_SECONDS = 0.002


class EndgameSolverBot(ActionBot):
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
        edge = self._solved(drawn, Budget(nodes=SLICE), Stopwatch())
        while edge is not None:
            drawn |= 1 << edge
            edge = self._solved(drawn, Budget(nodes=SLICE), Stopwatch())

    def _new_solver(self) -> Solver:
        return Solver(self.game.options["rows"], self.game.options["cols"], TABLE_BITS)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game. What was proved stays true, but which of the best moves is found depends on what was."""
        super().start(hello)
        self.solver = self._new_solver()

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        drawn = int(states["edges"][0])
        limits = resolve_budget(self.own, budget.for_nodes, self.usual)
        edge = None
        if (self.field.everything & ~drawn).bit_count() <= WITHIN_REACH:
            edge = self._solved(drawn, limits, clock)
        return self.dice.choice(chain_edges(self.field, drawn)) if edge is None else edge

    def _solved(self, drawn: int, limits: Budget, clock: Stopwatch) -> int | None:
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
            before = Stopwatch()
            if solver.run(nodes):
                return solver.best_edge
            if left is not None:
                nodes = max(1, int(nodes * min(SLICE_SECONDS, left) / before.seconds))
            else:
                nodes *= 2


EdgeRule = Callable[[BoardMasks, int], list[int]]
"""(field, drawn edges): the edges among which lots are drawn."""


class DotsLevel(NamedTuple):
    """How one level thinks in dots."""

    rule: str
    """``greedy``, ``chains``, or ``search``, which is the expert's way with so many nodes."""
    attention: float = 1.0
    """How often it keeps to its rule; else it draws as the rule below would: chains as greedy, greedy anywhere."""
    nodes: int = 0


DOTS = (
    DotsLevel("greedy", 0.65),
    DotsLevel("greedy", 0.86),
    DotsLevel("greedy"),
    DotsLevel("chains", 0.55),
    DotsLevel("chains"),
    DotsLevel("search", nodes=600),
    DotsLevel("search", nodes=10_000),
)


def any_edges(field: BoardMasks, drawn: int) -> list[int]:
    """All undrawn edges."""
    return members(field.everything & ~drawn)


RULES: dict[str, tuple[EdgeRule, EdgeRule]] = {
    "greedy": (greedy_edges, any_edges),
    "chains": (chain_edges, greedy_edges),
}
"""name -> the rule, and what whoever forgets it for a moment does."""


class EdgeRuleBot(ActionBot):
    """Draws one of the edges that a rule names."""

    def __init__(self, game: Game, name: str, seed: int, rule: EdgeRule) -> None:
        super().__init__(game, name, seed)
        self.rule = rule
        self.field = board_masks(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        return self.dice.choice(self.rule(self.field, int(states["edges"][0])))


class LevelEdgeRuleBot(EdgeRuleBot):
    """Keeps to a rule most of the time. In a moment of inattention it follows the rule below."""

    def __init__(self, game: Game, name: str, seed: int, drawing: DotsLevel) -> None:
        self.known, self.forgotten = RULES[drawing.rule]
        self.attention = drawing.attention
        super().__init__(game, name, seed, self.known)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        attentive = position_rng(states, self.seed).fraction() < self.attention
        self.rule = self.known if attentive else self.forgotten
        return super().action(states, budget, clock)


def make_chains(game: Game, name: str, seed: int) -> Bot:
    """A bot that counts chains."""
    return EdgeRuleBot(game, name, seed, chain_edges)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that takes free boxes and counts no chains."""
    return EdgeRuleBot(game, name, seed, greedy_edges)


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = ""
) -> Bot:
    """The strongest bot for dots; ``three`` has no effect."""
    return EndgameSolverBot(game, name, seed, own=Budget(time, nodes), usual=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(DOTS):
        return make_expert(game, name, seed)
    drawing = DOTS[level - 1]
    if drawing.rule == "search":
        budget = Budget(nodes=drawing.nodes)
        return EndgameSolverBot(game, name, seed, own=budget, usual=budget)
    return LevelEdgeRuleBot(game, name, seed, drawing)
