"""Players of dots that think as people do, and levels made of them; how is in ``games/dots/strategy.py``."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludodrome.bots.player import EXPERT_BUDGET, ActionBot, Bot, Budget, Stopwatch, position_rng
from ludodrome.bots.solvers import EndgameSolver
from ludodrome.game import Game
from ludodrome.games.dots.strategy import BoardMasks, board_masks, chain_edges, greedy_edges, members

Rule = Callable[[BoardMasks, int], list[int]]
"""(field, drawn edges): the edges among which lots are drawn."""


class Drawing(NamedTuple):
    """How one level thinks in dots."""

    rule: str
    """``greedy``, ``chains``, or ``search``, which is the expert's way with so many nodes."""
    attention: float = 1.0
    """How often it keeps to its rule; else it draws as the rule below would: chains as greedy, greedy anywhere."""
    nodes: int = 0


DOTS = (
    Drawing("greedy", 0.65),
    Drawing("greedy", 0.86),
    Drawing("greedy"),
    Drawing("chains", 0.55),
    Drawing("chains"),
    Drawing("search", nodes=600),
    Drawing("search", nodes=10_000),
)


def any_edges(field: BoardMasks, drawn: int) -> list[int]:
    """All undrawn edges."""
    return members(field.everything & ~drawn)


RULES: dict[str, tuple[Rule, Rule]] = {"greedy": (greedy_edges, any_edges), "chains": (chain_edges, greedy_edges)}
"""name -> the rule, and what whoever forgets it for a moment does."""


class Drawer(ActionBot):
    """Draws one of the edges that a rule names."""

    def __init__(self, game: Game, name: str, seed: int, rule: Rule) -> None:
        super().__init__(game, name, seed)
        self.rule = rule
        self.field = board_masks(game.options["rows"], game.options["cols"])

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """An undrawn edge."""
        return self.dice.choice(self.rule(self.field, int(states["edges"][0])))


class LevelDrawer(Drawer):
    """Keeps to a rule most of the time. In a moment of inattention it follows the rule below."""

    def __init__(self, game: Game, name: str, seed: int, drawing: Drawing) -> None:
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
    return Drawer(game, name, seed, chain_edges)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that takes free boxes and counts no chains."""
    return Drawer(game, name, seed, greedy_edges)


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = ""
) -> Bot:
    """The strongest bot for dots; ``three`` has no effect."""
    return EndgameSolver(game, name, seed, own=Budget(time, nodes), usual=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(DOTS):
        return make_expert(game, name, seed)
    drawing = DOTS[level - 1]
    if drawing.rule == "search":
        budget = Budget(nodes=drawing.nodes)
        return EndgameSolver(game, name, seed, own=budget, usual=budget)
    return LevelDrawer(game, name, seed, drawing)
