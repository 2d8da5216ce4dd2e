"""``level:1`` to ``level:8``: players for people, from beginner to expert. Each game has one table of numbers.

A low level errs as people err. It looks few plies ahead; it has moments of inattention in which it looks one ply less,
so that it overlooks a threat; it thinks about the moves that look best at once and never sees the quiet ones; and it
misjudges positions a little, always the same position in the same way. All of this depends on the
position and the seed alone, never on the machine. Level 8 is ``expert``.
"""

from typing import Any, NamedTuple

from ludodrome.bots.alphabeta import AlphaBetaBot, MaxNBot, blur
from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.bots.mcts import MctsBot
from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget, Stopwatch, legal_actions, position_rng
from ludodrome.game import Game

# ``expert``: the strongest bot for each game. Dots and spaces have their own (``dots.py``, ``spaces.py``).


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = "maxn"
) -> Bot:
    """The strongest bot for a game; ``three`` chooses the search for three seats."""
    own = Budget(time, nodes)
    if game.evaluator is None or (game.seats > 2 and three == "mcts"):
        return MctsBot(game, name, seed, own=own, usual=EXPERT_BUDGET)
    if game.seats > 2 and three == "maxn":
        return MaxNBot(game, name, seed, own=own, usual=EXPERT_BUDGET)
    return AlphaBetaBot(game, name, seed, own=own, usual=EXPERT_BUDGET)


class Level(NamedTuple):
    """How one level thinks in a game where a move is an action."""

    depth: int
    """Plies ahead: 1 sees its own move and whether it loses at once, 0 not even that."""
    width: int = 0
    """How many moves it thinks about beyond the first glance; 0: all, by an ordinary search."""
    noise: int = 0
    """How far it misjudges, in hundredths."""
    attention: float = 1.0
    """How often it looks as deep as it can; else it looks one ply less."""
    nodes: int | None = None
    """The most positions that it visits."""


_CLIMBERS = (
    Level(1, noise=300, attention=0.2),
    Level(1, noise=100, attention=0.65),
    Level(2, width=6, noise=80, attention=0.5),
    Level(2, width=12, noise=15, attention=0.9),
    Level(3, width=16, noise=10, attention=0.9),
)
"""The first levels of the tower games."""
SKYSUMMIT = (*_CLIMBERS, Level(5, nodes=8_000), Level(7, nodes=40_000))
SANTORINI = (*_CLIMBERS, Level(4, nodes=6_000), Level(6, nodes=30_000))
CALDERA = (
    Level(1, noise=300, attention=0.2),
    Level(1, noise=110, attention=0.5),
    Level(2, width=6, noise=70, attention=0.4),
    Level(2, width=12, noise=25, attention=0.8),
    Level(3, width=16, noise=15, attention=0.5),
    Level(4, nodes=1_200),
    Level(5, nodes=4_500),
)
OTHERS = (*_CLIMBERS, Level(4, nodes=2_000), Level(6, nodes=20_000))
"""Of games that other packages bring, and that are just won."""
PLAYOUTS = (2, 6, 20, 60, 200, 600, 2_000)
"""Of those that have no insight, or in which points count: how many playouts a move is worth."""

TABLES: dict[str, tuple[Level, ...]] = {"skysummit": SKYSUMMIT, "santorini": SANTORINI, "caldera": CALDERA}


class LevelBot(AlphaBetaBot):
    """A player of one level."""

    def __init__(self, game: Game, name: str, seed: int, level: Level) -> None:
        super().__init__(game, name, seed)
        self.level = level
        self.glance = OnePlyEvaluator(game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """What somebody of this level would do."""
        level = self.level
        dice = position_rng(states, self.seed)
        depth = level.depth - (dice.fraction() >= level.attention)
        limits = Budget(nodes=level.nodes).within(Budget(time=budget.time))
        if not level.width and depth > 1:
            return self.find(states, limits.within(Budget(depth=depth)), clock).action
        actions = legal_actions(self.game, states)
        worth = dict(zip(actions, self.glance.at(states, actions, replies=depth > 0), strict=True))
        if depth > 1:
            worth = self._deeper(states, worth, depth, limits, clock)
        judged = {action: one + blur(one, level.noise, dice) for action, one in worth.items()}
        best = max(judged.values())
        return dice.choice([action for action, one in judged.items() if one == best])

    def _deeper(
        self, states: Any, worth: dict[int, int], depth: int, limits: Budget, clock: Stopwatch
    ) -> dict[int, int]:
        """The moves that look best at once, each searched by itself."""
        natural = sorted(worth, key=lambda action: -worth[action])[: self.level.width]
        searched = {}
        for action in natural:
            others = tuple(other for other in worth if other != action)
            found = self.find(states, limits.within(Budget(depth=depth)), clock, others)
            searched[action] = found.score
        return searched


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level == 8:
        return make_expert(game, name, seed)
    if game.evaluator is None or game.evaluator.by_points:
        budget = Budget(sims=PLAYOUTS[level - 1])
        return MctsBot(game, name, seed, own=budget, usual=budget)
    return LevelBot(game, name, seed, TABLES.get(game.id, OTHERS)[level - 1])
