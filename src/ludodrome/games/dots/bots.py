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
MAX_QUESTION_EDGES = 50
"""``expert`` does not ask who wins with more undrawn edges than this."""
MARGIN_SHARE = 0.15
"""The share of ``expert``'s budget for the margin, before it looks at simpler games."""
SIMPLER_GAMES = (1, 4)
"""``max_safe`` of the simpler games, of about a fifteenth and a quarter of the real game's nodes."""
SIMPLER_SHARE = 0.8
"""The share of the budget that is spent when the simpler games end."""


class Spending:
    """Gives out the budget of one decision in slices of nodes."""

    def __init__(self, limits: Budget, clock: Stopwatch) -> None:
        self.limits, self.clock = limits, clock
        self.spent = 0
        self.slice = SLICE

    def nodes(self, share: float = 1.0) -> int:
        """The nodes of the next slice; 0 when this share of the budget is spent."""
        nodes = self.slice
        if self.limits.time is not None and not self.clock.left(share * self.limits.time):
            return 0
        if self.limits.nodes is not None:
            nodes = min(nodes, int(share * self.limits.nodes) - self.spent)
        return max(0, nodes)

    def run(self, solver: Solver, nodes: int) -> bool:
        """Run a solver for a slice; True when it is done. Adapt the next slice to its speed."""
        before, searched = Stopwatch(), solver.nodes
        done = solver.run(nodes)
        self.spent += solver.nodes - searched
        left = self.clock.left(self.limits.time)
        if left is None:
            self.slice *= 2
        else:
            self.slice = max(1, int(nodes * min(SLICE_SECONDS, left) / before.seconds))
        return done

    def until_done(self, solver: Solver, share: float = 1.0) -> bool:
        """Run a solver until it is done (True), or until this share of the budget is spent (False)."""
        while nodes := self.nodes(share):
            if self.run(solver, nodes):
                return True
        return False


class EndgameSolverBot(ActionBot):
    """Counts chains until the exact solver reaches the end of the game, then plays perfectly."""

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
        self.solver.begin(drawn)
        return self.solver.best_edge if Spending(limits, clock).until_done(self.solver) else None


class ExpertBot(EndgameSolverBot):
    """``expert``: plays perfectly where the margin is found in time; before that it asks only who wins.

    1. Solve for the margin, beginning with the question who wins, for a small share of the budget.
    2. Ask who wins in simpler games, each nearer to the real one (``SIMPLER_GAMES``), and note the winning edge.
    3. Ask whether that edge wins in the real game, and go on with the margin if it does not.

    An edge that is proven to win is played, and one that is proven to lose is not, unless all are. Without a proof the
    last simpler game decides.
    """

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, default: Budget) -> None:
        super().__init__(game, name, seed, own=own, default=default)
        self.simpler = self._new_simpler_solvers()

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with empty tables."""
        super().start(hello)
        self.simpler = self._new_simpler_solvers()

    def _new_simpler_solvers(self) -> list[Solver]:
        rows, cols = self.game.options["rows"], self.game.options["cols"]
        return [Solver(rows, cols, SOLVER_TABLE_BITS, max_safe=max_safe) for max_safe in SIMPLER_GAMES]

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        drawn = int(states["edges"][0])
        if (self.field.everything & ~drawn).bit_count() > MAX_QUESTION_EDGES:
            return self.rng.choice(chain_edges(self.field, drawn))
        edges = self.solver.candidates(drawn)
        if len(edges) == 1:
            return edges[0]
        own, other = (int(boxes).bit_count() for boxes in states["boxes"][0])
        lead = own - other if states["to_move"][0] == 0 else other - own
        spending = Spending(resolve_budget(self.own, budget.for_nodes, self.default), clock)
        solver = self.solver
        solver.begin(drawn, guess=1 - lead)
        edge = self._margin(1 - lead, spending, MARGIN_SHARE)
        if edge is not None:
            return edge
        chosen: list[int] = []
        lost: set[int] = set()
        for simpler in self.simpler:
            simpler.begin(drawn, goal=1 - lead)
            if spending.until_done(simpler, SIMPLER_SHARE) and simpler.best_edge is not None:
                chosen.insert(0, simpler.best_edge)
        helper = Solver(solver.rows, solver.cols, table=solver.table)
        for edge in dict.fromkeys(chosen):
            helper.begin(drawn, edge, goal=1 - lead)
            if not spending.until_done(helper) or helper.answer:
                return edge
            lost.add(edge)
        edge = self._margin(1 - lead, spending)
        if edge is not None:
            return edge
        likely = [edge for edge in chain_edges(self.field, drawn) if edge not in lost]
        return self.rng.choice(likely or edges)

    def _margin(self, goal: int, spending: "Spending", share: float = 1.0) -> int | None:
        """Go on with the margin: the best edge; after this share of the budget one that reaches the goal, or None.

        Once an edge is proven to reach the goal, all of the budget is for the margin.
        """
        solver = self.solver
        if spending.until_done(solver, share):
            return solver.best_edge
        if solver.edge_reaching(goal) is not None and spending.until_done(solver):
            return solver.best_edge
        return solver.edge_reaching(goal)


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
    return ExpertBot(game, name, seed, own=Budget(time, nodes), default=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(LEVELS):
        return make_expert(game, name, seed)
    chosen = LEVELS[level - 1]
    if chosen.rule == "search":
        budget = Budget(nodes=chosen.nodes)
        return EndgameSolverBot(game, name, seed, own=budget, default=budget)
    return LevelEdgeRuleBot(game, name, seed, chosen)
