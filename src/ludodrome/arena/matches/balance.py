"""Whether a position is balanced: by its exact value where a solver finds it, otherwise by games from it.

The games are played by a bot of middle strength against itself, in rounds: the seeds of its seats rotate, so that every
seed plays every seat. A position is balanced if no seat's points differ from an equal share by more than chance does:
at most ``FIRST_LOOK`` standard deviations after ``FIRST_ROUNDS`` rounds, and ``LAST_LOOK`` after ``ROUNDS``. With two
seats these are 3 points of 12, and 3.5 points of 24. A search refuses most of the others before any game.

Nothing is shared between calls, so threads may judge positions at the same time, and the verdict depends only on the
game, the position and the seed.
"""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from ludodrome.bots.alphabeta import noise_on
from ludodrome.bots.player import ActionBot, Budget, Stopwatch, legal_actions
from ludodrome.bots.registry import make_bot
from ludodrome.game import Game
from ludodrome.game_extras import extra
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Searcher
from ludodrome.search.symmetry import SYMMETRIES
from ludodrome.splitmix import SplitMix64

EXACT = 1
"""Greatest exact margin of a balanced position, in points. With an odd number of points no margin is smaller."""
SOLVER_NODES = 300_000
"""Nodes after which a solver gives up, and games decide."""
FIRST_ROUNDS, FIRST_LOOK = 6, 2.0
ROUNDS, LAST_LOOK = 12, 1.6
SEARCH_NODES = 100_000
SEARCH_SCORE = 50
"""Greatest advantage, in hundredths, that a search of ``SEARCH_NODES`` may see before games are played."""
PLAYOUT_BOT = "mcts:sims=100"
"""The bot that plays the games where there is no evaluator, unless the game declares another."""
MOVE_NODES = 200
VARIED_MOVES, CANDIDATES, NOISE = 4, 4, 40
"""Each seat's first moves are varied: the best of a few after noise, in hundredths, is added to their scores."""
_TABLE_BITS, _SEARCH_TABLE_BITS = 14, 18


class Balance(NamedTuple):
    """The verdict about a position, and what it is based on."""

    balanced: bool
    imbalance: float
    """Comparable within a game: the exact margin, the largest deviation in points, or more if a search refused it."""
    value: int | None = None
    """The exact margin for the seat to move, if a solver found it."""
    points: tuple[float, ...] = ()
    """Points by seat, if games were played."""


def judge(game: Game, states: Any, seed: int, solver_nodes: int = SOLVER_NODES) -> Balance:
    """Judge states[0], a running game. ``seed``: of the bots that play the games."""
    value = exact_value(game, states, solver_nodes)
    if value is not None:
        return Balance(abs(value) <= EXACT, abs(value), value)
    score = search_score(game, states)
    if score > SEARCH_SCORE:
        return Balance(False, 1000 + score)
    return measure(game, states, seed)


def exact_value(game: Game, states: Any, nodes: int) -> int | None:
    """The exact final margin for the seat to move; None if the game has no solver, or it takes more than ``nodes``."""
    solve = extra(game.analysis_module, "exact_value")
    found: int | None = None if solve is None else solve(game, states, nodes)
    return found


def search_score(game: Game, states: Any) -> int:
    """The advantage that a short search sees for either seat, in hundredths; 0 where it cannot search."""
    if game.evaluator is None or game.seats > 2:
        return 0
    *_, found = Searcher(game, _SEARCH_TABLE_BITS).search(states, nodes=SEARCH_NODES)
    return abs(found.score)


def measure(game: Game, states: Any, seed: int, rounds: int = ROUNDS, to_the_end: bool = False) -> Balance:
    """Play rounds from states[0] until one look refuses it; ``to_the_end``: play all of them in any case."""
    bots = [_bot(game) for _ in range(game.seats)]
    seeds = SplitMix64(seed)
    points = [0.0] * game.seats
    for played in range(1, rounds + 1):
        shared = [seeds.word() for _ in bots]
        for turn in range(game.seats):
            for seat, bot in enumerate(bots):
                bot.start({"seed": shared[(seat + turn) % game.seats]})
            for seat, share in enumerate(_play(game, states, bots)):
                points[seat] += share
        looks = played == rounds or (played == FIRST_ROUNDS and not to_the_end)
        allowed = _allowed(game.seats, played) if looks else math.inf
        imbalance = max(abs(one - played) for one in points)
        if imbalance > allowed:
            return Balance(False, imbalance * rounds / played, None, tuple(points))
    return Balance(True, imbalance, None, tuple(points))


class VariedSearchBot(ActionBot):
    """Alpha-beta with few nodes and a small table. Its first moves of a game depend on the seed."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, "varied search")
        self._searcher = Searcher(game, _TABLE_BITS)
        self._moves = 0

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with an empty table."""
        super().start(hello)
        self._searcher.clear()
        self._moves = 0

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found, or one of the best."""
        self._moves += 1
        found: dict[int, float] = {}
        count = len(legal_actions(self.game, states)) if self._moves <= VARIED_MOVES else 1
        while len(found) < min(count, CANDIDATES):
            *_, result = self._searcher.search(states, nodes=MOVE_NODES, avoid=tuple(found))
            found[result.action] = result.score + noise_on(result.score, NOISE, self.rng)
            if abs(result.score) > DECIDED:
                break  # a win needs no alternatives, and after a loss every other move loses too
        return max(found, key=lambda action: found[action])


def _bot(game: Game) -> ActionBot:
    if game.evaluator is not None and not game.balance_bot:
        return VariedSearchBot(game)
    bot = make_bot(game.balance_bot or PLAYOUT_BOT, game)
    assert isinstance(bot, ActionBot), bot
    return bot


def _allowed(seats: int, rounds: int) -> float:
    """How far a seat's points may be from an equal share, which is one point a round."""
    deviation = math.sqrt(rounds * seats * (1 / seats) * (1 - 1 / seats))
    return (FIRST_LOOK if rounds == FIRST_ROUNDS else LAST_LOOK) * deviation


def _play(game: Game, start: Any, bots: list[ActionBot]) -> list[float]:
    """Play one game from ``start``; return the points by seat, one in all."""
    states = game.new_states(1)
    states[0] = start[0]
    while (seat := int(game.kernels.mover(states))) >= 0:
        game.kernels.play(states, bots[seat].action(states, Budget(), Stopwatch()))
    outcome = game.outcome_of(states)
    assert outcome is not None
    best = max(outcome.returns)
    winners = [seat for seat, one in enumerate(outcome.returns) if one == best]
    return [(seat in winners) / len(winners) for seat in range(game.seats)]


def canonical_key(game: Game, states: Any) -> int:
    """A hash of states[0] that is the same for all symmetric positions; without an evaluator, of the position itself.

    64 bits: two of a thousand different positions have the same hash once in 10**13 books.
    """
    if game.evaluator is None:
        return int.from_bytes(hashlib.blake2b(states[:1].tobytes(), digest_size=8).digest(), "little")
    pair, keys = game.new_states(2), np.zeros((2, SYMMETRIES), np.uint64)
    pair[1] = states[0]
    game.kernels.update_hash(pair, keys)
    return int(keys[1].min())
