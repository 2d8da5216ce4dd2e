"""Playing bots against each other, for tests."""

from collections.abc import Sequence
from typing import Any

import ludodrome
from ludodrome.bots.player import Bot, hello_message

CHEAP = {
    "alphabeta": "alphabeta:nodes=300",
    "mcts": "mcts:sims=40",
    "expert": "expert:nodes=2000",
    "level:8": "expert:nodes=3000",
}
"""Bots whose usual budget is too much for a test, or is time."""


def cheap_specs(game: ludodrome.Game) -> list[str]:
    """All bots of a game, at little cost and without a clock."""
    return [CHEAP.get(name, name) for name in ludodrome.bot_names(game)]


def play_out(
    game: ludodrome.Game, bots: Sequence[Bot], state: Any = None, seed: int = 0, most: int = 1000
) -> tuple[list[Any], Any]:
    """The moves of a game and its last state; every move is judged by the rules."""
    state = game.initial_state(seed) if state is None else state
    for seat, bot in enumerate(bots):
        bot.start(hello_message(game, seat, seed + seat))
    moves: list[Any] = []
    while (seat_to_move := game.to_move(state)) is not None and len(moves) < most:
        move = bots[seat_to_move].choose(game.observation(state, seat_to_move))
        moves.append(move)
        state = game.apply(state, move)
    return moves, state
