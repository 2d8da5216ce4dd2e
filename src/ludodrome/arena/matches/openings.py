"""Openings: a few moves by lot that leave the game open, so that two bots do not play the same game a hundred times.

An opening depends on the game, a seed and its number alone. It is a list of moves from the first position; a record
holds them, so that nobody has to draw them again.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ludodrome.bots.player import Dice
from ludodrome.game import Game

if TYPE_CHECKING:
    from ludodrome.search.iterative import Searcher

PLIES = {"dots": (4, 9)}
"""How many moves an opening has, from the first number to the second."""
USUAL_PLIES = (4, 8)
FAIR = 50
"""An opening is fair if a search sees no more than this many hundredths of an advantage for either seat."""
LOOK = 300_000
"""Positions that this search visits."""
_TABLE_BITS = 18


def pair_seed(seed: int, number: int) -> int:
    """The seed of a match's first position and opening: the games of one pair have it in common."""
    return (seed << 32) + number


def opening(game: Game, seed: int, number: int) -> list[Any]:
    """The moves of the opening of that number. Games whose move is more than one action have none."""
    return list(_drawn(game, seed, number))


@lru_cache(maxsize=1000)
def _drawn(game: Game, seed: int, number: int) -> tuple[Any, ...]:
    if game.actions_a_turn > 1:
        return ()
    least, most = PLIES.get(game.id, USUAL_PLIES)
    dice = Dice(pair_seed(seed, number))
    while True:
        moves: list[Any] = []
        state = game.initial_state(pair_seed(seed, number))
        for _ in range(least + dice.below(most - least + 1)):
            if game.outcome(state) is None:
                moves.append(dice.choice(sensible_moves(game, state)))
                state = game.apply(state, moves[-1])
        if game.outcome(state) is None and is_fair(game, state):
            return tuple(moves)


def sensible_moves(game: Game, state: Any) -> list[Any]:
    """What an opening is drawn from: in dots the edges that give nothing away, else all moves."""
    moves = game.legal_moves(state)
    if game.id != "dots":
        return moves
    from ludodrome.games.dots.strategy import field_of, safe_edges

    board = field_of(game.options["rows"], game.options["cols"])
    safe = safe_edges(board, int(game.encode(state)["edges"]))
    return [move for move in moves if game.action(move, state) in safe] or moves


def is_fair(game: Game, state: Any) -> bool:
    """Whether a search sees no great advantage; where none can be made, every position counts as fair."""
    if game.evaluator is None or game.seats > 2:
        return True
    thinker = _judge(game)
    thinker.forget()
    states = game.new_states(1)
    states[0] = game.encode(state)
    *_, finding = thinker.search(states, nodes=LOOK)
    return abs(finding.score) <= FAIR


@lru_cache(maxsize=8)
def _judge(game: Game) -> "Searcher":
    from ludodrome.search.iterative import Searcher

    return Searcher(game, _TABLE_BITS)
