"""Gating: whether a new network plays better than what there is, by a sequential test of games at fixed nodes.

Both sides are the same search, so with the same network every pair of games is drawn. Games come in pairs from one
random opening that a short search finds balanced.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ludodrome.arena.statistics.sprt import Sprt, SprtState
from ludodrome.game import Game
from ludodrome.search.iterative import Searcher
from ludodrome.search.network import NetworkWeights

OPENING_PLIES = (3, 8)
BALANCED = 120
"""The highest score, in hundredths, of a balanced opening."""
_OPENING_NODES = 5_000
_MAX_TRIES = 1_000


class GateSettings(NamedTuple):
    """How a gating match is played and decided."""

    nodes: int = 20_000
    """Nodes a move, for both sides."""
    elo0: float = 0.0
    """The new network fails if it is at most this much stronger ..."""
    elo1: float = 30.0
    """... and passes if it is at least this much stronger."""
    max_pairs: int = 1000
    seed: int = 0


def gate(game: Game, new: NetworkWeights, old: NetworkWeights | None, settings: GateSettings) -> Iterator[SprtState]:
    """Play pairs of games until the test has a verdict; yield its state after each. None: against the evaluator."""
    test = Sprt(settings.elo0, settings.elo1)
    sides = Searcher(game, weights=new), Searcher(game, weights=old)
    rng = np.random.default_rng(settings.seed)
    for number in range(settings.max_pairs):
        opening = _opening(game, sides[1], rng)
        state = test.add(number, *(_play(game, sides, opening, first, settings.nodes) for first in (0, 1)))
        yield state
        if state.verdict is not None:
            return


def _opening(game: Game, searcher: Searcher, rng: Any) -> Any:
    """A balanced position after some random moves."""
    for _ in range(_MAX_TRIES):
        states = game.blank()
        game.kernels.reset(states, np.uint64(rng.integers(1 << 62)))
        for _ in range(int(rng.integers(*OPENING_PLIES))):
            if game.kernels.mover(states) < 0:
                break
            game.kernels.play(states, int(rng.choice(game.legal_actions_of(states))))
        if game.kernels.mover(states) >= 0:
            *_, result = searcher.search(states, nodes=_OPENING_NODES)
            if abs(result.score) <= BALANCED:
                return states
    raise ValueError(f"no balanced opening of {game.id} was found in {_MAX_TRIES:,} tries")


def _play(game: Game, sides: tuple[Searcher, Searcher], opening: Any, first: int, nodes: int) -> float:
    """Play a game, ``sides[first]`` to move first; return the points of ``sides[0]``."""
    states = opening.copy()
    mover = int(game.kernels.mover(states))
    for searcher in sides:
        searcher.clear()
    while (seat := int(game.kernels.mover(states))) >= 0:
        *_, result = sides[first if seat == mover else 1 - first].search(states, nodes=nodes)
        game.kernels.play(states, result.action)
    winner = int(game.kernels.winner(states))
    if winner < 0:
        return 0.5
    return float((first if winner == mover else 1 - first) == 0)
