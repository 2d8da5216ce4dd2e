"""``expert``: the strongest bot for each game. Dots and spaces have their own (``dots.py``, ``spaces.py``)."""

from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget
from ludodrome.bots.simulators import Simulator
from ludodrome.bots.thinkers import AlphaBeta, Selfish
from ludodrome.game import Game


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = "maxn"
) -> Bot:
    """The strongest bot for a game; ``three`` chooses the search for three seats."""
    own = Budget(time, nodes)
    if game.evaluator is None or (game.seats > 2 and three == "mcts"):
        return Simulator(game, name, seed, own=own, usual=EXPERT_BUDGET)
    if game.seats > 2 and three == "maxn":
        return Selfish(game, name, seed, own=own, usual=EXPERT_BUDGET)
    return AlphaBeta(game, name, seed, own=own, usual=EXPERT_BUDGET)
