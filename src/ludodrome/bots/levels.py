"""``expert``, and ``level:1`` to ``level:8`` for people. Each game has a table of levels.

Each level is measurably stronger than the one before (``benchmarks/strength --claims``); ``greedy`` is about as strong
as level 3, in spaces as level 5.

Low levels make human errors. They search few plies; in inattentive moments they search one ply less and overlook a
threat; they consider only the moves that look best at first sight; and they misjudge positions a little, the same
position always in the same way. Moves depend only on the position and the seed, not on the speed of the machine, unless
a clock cuts the search short. Level 8 is ``expert``, which is limited by time. Dots and spaces have their own levels
and experts (``games/dots/bots.py``, ``games/spaces/bots.py``).
"""

from typing import Any

from ludodrome.bots.alphabeta import AlphaBetaBot, MaxNBot, noise_on
from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.bots.mcts import MctsBot
from ludodrome.bots.networks import SHIPPED
from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget, Stopwatch, legal_actions, position_rng
from ludodrome.game import Game
from ludodrome.game_extras import Level


def make_expert(
    game: Game,
    name: str,
    seed: int,
    time: float | None = None,
    nodes: int | None = None,
    three: str = "maxn",
    threads: int = 1,
    network: str = SHIPPED,
) -> Bot:
    """The best search for a game; ``three`` chooses the search for three seats, ``network`` what judges positions.

    Max-n searches on one thread.
    """
    own = Budget(time, nodes)
    if game.evaluator is None or (game.seats > 2 and three == "mcts"):
        return MctsBot(game, name, seed, own=own, default=EXPERT_BUDGET, threads=threads)
    if game.seats > 2 and three == "maxn":
        return MaxNBot(game, name, seed, own=own, default=EXPERT_BUDGET)
    return AlphaBetaBot(game, name, seed, own=own, default=EXPERT_BUDGET, threads=threads, network=network)


PLAYOUTS = (2, 6, 20, 60, 200, 600, 2_000)
"""Playouts a move by level, for games without an evaluator and games of points."""


class LevelBot(AlphaBetaBot):
    """A bot of one level."""

    def __init__(self, game: Game, name: str, seed: int, level: Level) -> None:
        super().__init__(game, name, seed)
        self.level = level
        self.evaluator = OnePlyEvaluator(game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The action that this level chooses."""
        level = self.level
        rng = position_rng(states, self.seed)
        depth = level.depth - (rng.fraction() >= level.attention)
        limits = Budget(nodes=level.nodes).within(Budget(time=budget.time))
        if not level.width and depth > 1:
            return self.find(states, limits.within(Budget(depth=depth)), clock).action
        actions = legal_actions(self.game, states)
        values = dict(zip(actions, self.evaluator.values(states, actions, replies=depth > 0), strict=True))
        if depth > 1:
            values = self._deeper(states, values, depth, limits, clock)
        noisy = {action: value + noise_on(value, level.noise, rng) for action, value in values.items()}
        best = max(noisy.values())
        return rng.choice([action for action, value in noisy.items() if value == best])

    def _deeper(
        self, states: Any, values: dict[int, int], depth: int, limits: Budget, clock: Stopwatch
    ) -> dict[int, int]:
        """The values of the best moves at first sight, each searched separately."""
        candidates = sorted(values, key=lambda action: -values[action])[: self.level.width]
        searched = {}
        for action in candidates:
            others = tuple(other for other in values if other != action)
            searched[action] = self.find(states, limits.within(Budget(depth=depth)), clock, others).score
        return searched


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level == 8:
        return make_expert(game, name, seed)
    if game.evaluator is None or game.evaluator.by_points:
        budget = Budget(sims=PLAYOUTS[level - 1])
        return MctsBot(game, name, seed, own=budget, default=budget)
    return LevelBot(game, name, seed, game.levels[level - 1])
