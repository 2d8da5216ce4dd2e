"""``expert``: for each game the best that there is."""

from ludodrome.bots.player import Bot, Budget
from ludodrome.bots.thinkers import AlphaBeta, Selfish
from ludodrome.game import Game

USUAL = Budget(time=1.0)


def make(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = "maxn"
) -> Bot:
    """The strongest player of a game."""
    own = Budget(time, nodes)
    if game.evaluator is None and game.actions_a_turn == 1:
        from ludodrome.bots.simulators import Simulator

        return Simulator(game, name, seed, own=own, usual=USUAL)
    if game.seats > 2 and three == "maxn":
        return Selfish(game, name, seed, own=own, usual=USUAL)
    if game.seats > 2 and three == "mcts":
        from ludodrome.bots.simulators import Simulator

        return Simulator(game, name, seed, own=own, usual=USUAL)
    if game.actions_a_turn > 1:
        from ludodrome.bots.responders import Responder

        return Responder(game, name, seed, own=own, usual=USUAL)
    if game.id == "dots":
        from ludodrome.bots.solvers import EndgameSolver

        return EndgameSolver(game, name, seed, own=own, usual=USUAL)
    return AlphaBeta(game, name, seed, own=own, usual=USUAL)
