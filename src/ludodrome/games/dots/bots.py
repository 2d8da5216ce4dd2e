"""Bots for dots: rules of thumb (``games/dots/strategy.py``), levels made of them, and an exact endgame."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludodrome.bots.player import EXPERT_BUDGET, ActionBot, Bot, Budget, Stopwatch, position_rng, resolve_budget
from ludodrome.game import Game
from ludodrome.games.dots.solver import Solver
from ludodrome.games.dots.strategy import BoardMasks, board_masks, chain_edges, greedy_edges, members

MAX_SOLVER_EDGES = 44
"""The solver is not tried with more undrawn edges than this."""
SOLVER_TABLE_BITS = 20
"""The solver's transposition table has 2**20 entries; analysis uses the same size."""
SLICE = 500
"""Nodes before the first look at the clock."""
SLICE_SECONDS = 0.002


class EndgameSolverBot(ActionBot):
    """``expert``: counts chains until the exact solver reaches the end of the game, then plays perfectly."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, default: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.default = own, default
        self.field = board_masks(game.options["rows"], game.options["cols"])
        self.solver = self._new_solver()

    def warm_up(self) -> None:
        """Solve an endgame of plain rows, so that the solver's kernels are compiled or loaded."""
        drawn = (1 << (self.game.options["rows"] + 1) * self.game.options["cols"]) - 1
        edge = self._solved(drawn, Budget(nodes=SLICE), Stopwatch())
        while edge is not None:
            drawn |= 1 << edge
            edge = self._solved(drawn, Budget(nodes=SLICE), Stopwatch())

    def _new_solver(self) -> Solver:
        return Solver(self.game.options["rows"], self.game.options["cols"], SOLVER_TABLE_BITS)

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with an empty table: its contents decide which of the best moves is found."""
        super().start(hello)
        self.solver = self._new_solver()

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        drawn = int(states["edges"][0])
        limits = resolve_budget(self.own, budget.for_nodes, self.default)
        edge = None
        if (self.field.everything & ~drawn).bit_count() <= MAX_SOLVER_EDGES:
            edge = self._solved(drawn, limits, clock)
        return self.rng.choice(chain_edges(self.field, drawn)) if edge is None else edge

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
"""(board masks, drawn edges) -> the edges to choose from at random."""


class DotsLevel(NamedTuple):
    """How one level plays dots."""

    rule: str
    """``greedy``, ``chains``, or ``search``: the expert with a budget of ``nodes``."""
    attention: float = 1.0
    """How often it follows its rule; otherwise it follows the weaker one: chains as greedy, greedy as random."""
    nodes: int = 0


LEVELS = (
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
"""Name -> the rule, and the weaker rule of an inattentive moment."""


class EdgeRuleBot(ActionBot):
    """Draws a random edge of those that a rule allows."""

    def __init__(self, game: Game, name: str, seed: int, rule: EdgeRule) -> None:
        super().__init__(game, name, seed)
        self.rule = rule
        self.field = board_masks(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        return self.rng.choice(self.rule(self.field, int(states["edges"][0])))


class LevelEdgeRuleBot(EdgeRuleBot):
    """Follows a rule most of the time, and a weaker one in inattentive moments."""

    def __init__(self, game: Game, name: str, seed: int, level: DotsLevel) -> None:
        self.usual_rule, self.weaker_rule = RULES[level.rule]
        self.attention = level.attention
        super().__init__(game, name, seed, self.usual_rule)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        attentive = position_rng(states, self.seed).fraction() < self.attention
        self.rule = self.usual_rule if attentive else self.weaker_rule
        return super().action(states, budget, clock)


def make_chains(game: Game, name: str, seed: int) -> Bot:
    """A bot that counts chains."""
    return EdgeRuleBot(game, name, seed, chain_edges)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that takes free boxes and counts no chains."""
    return EdgeRuleBot(game, name, seed, greedy_edges)


def make_expert(
    game: Game,
    name: str,
    seed: int,
    time: float | None = None,
    nodes: int | None = None,
    three: str = "",
    threads: int = 1,
    network: str = "",
) -> Bot:
    """The bot that solves endgames; ``three``, ``threads`` and ``network`` have no effect."""
    return EndgameSolverBot(game, name, seed, own=Budget(time, nodes), default=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(LEVELS):
        return make_expert(game, name, seed)
    chosen = LEVELS[level - 1]
    if chosen.rule == "search":
        budget = Budget(nodes=chosen.nodes)
        return EndgameSolverBot(game, name, seed, own=budget, default=budget)
    return LevelEdgeRuleBot(game, name, seed, chosen)
