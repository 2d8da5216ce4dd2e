"""Self-play in compiled code: games of a search with itself from random openings, as samples to train a network on."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import Game
from ludodrome.game_spec import Evaluator, Rules
from ludodrome.jit import GOLDEN, Array, Int, as_words, below, copy_state, kernel_of, mix, stream
from ludodrome.search.frames import DECIDED, MAX_DEPTH
from ludodrome.search.network import NETWORK_VARIANT
from ludodrome.search.opponents import SearchWorkspace, make_best_action

_THOUSAND = 1000
_UNKNOWN = -2
"""The winner of a game that was not played to its end."""


class Samples(NamedTuple):
    """Positions of games, each with the score of its search and the result of its game, for the seat to move."""

    states: Any
    """(samples,) records"""
    words: Array
    """The memory of ``states``."""
    scores: Array
    """(samples,) int16: hundredths"""
    results: Array
    """(samples,) int8: 1 won, 0 drawn, -1 lost"""


class SelfPlaySettings(NamedTuple):
    """How games of self-play are played."""

    nodes: int
    """Nodes a move."""
    opening_low: int
    """The least number of random moves at the beginning."""
    opening_high: int
    random_moves: int
    """How many of a thousand later moves are random."""


def new_samples(game: Game, count: int) -> Samples:
    """Room for samples."""
    states = game.new_states(count)
    return Samples(states, as_words(states), np.zeros(count, np.int16), np.zeros(count, np.int8))


def make_self_play(
    rules: Rules,
    evaluator: Evaluator,
    alphabeta: Callable[..., Any],
    refresh_at: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Self-play of one game for two seats; ``refresh_at`` computes an accumulator, if there is a network."""
    legal, play, mover, winner, reset = rules.legal, rules.play, rules.mover, rules.winner, rules.reset
    in_check, is_tactical, has_no_tactics = evaluator.in_check, evaluator.is_tactical, evaluator.has_no_tactics
    best_action = make_best_action(rules, evaluator, alphabeta, refresh_at)
    compiled = partial(kernel_of, legal, variant="" if refresh_at is None else NETWORK_VARIANT)

    @compiled()
    def play_opening(workspace: SearchWorkspace, settings: SelfPlaySettings, rng: Any) -> Any:
        """Play random moves from the initial position; return the state of the random numbers."""
        s, moves = workspace.states[0], workspace.moves[0]
        reset(s, mix(rng))
        rng += GOLDEN
        plies = settings.opening_low + below(mix(rng), settings.opening_high - settings.opening_low + 1)
        for _ in range(plies):
            if mover(s) < 0:
                break
            rng += GOLDEN
            play(s, np.int64(moves[below(mix(rng), legal(s, moves))]))
        return rng

    @compiled()
    def play_game(
        workspace: SearchWorkspace, samples: Samples, begin: Int, settings: SelfPlaySettings, rng: Any
    ) -> Int:
        """Play one game; return the number of samples after it. Quiet, undecided positions become samples.

        A game whose samples have no room leaves none.
        """
        s = workspace.states[0]
        count, won, forget = begin, np.int64(_UNKNOWN), 1
        rng = play_opening(workspace, settings, rng)
        while mover(s) >= 0 and count < len(samples.scores):
            seat = mover(s)
            action, score, proven = best_action(workspace, 2, MAX_DEPTH, settings.nodes, forget)
            forget = 0
            if proven:
                won = seat if score > 0 else 1 - seat
                break
            quiet = has_no_tactics or not is_tactical(s, action)
            if quiet and abs(score) < DECIDED and not in_check(s):
                copy_state(samples.words, count, workspace.words, 0)
                samples.scores[count] = score
                samples.results[count] = seat
                count += 1
            rng += GOLDEN
            if below(mix(rng), _THOUSAND) < settings.random_moves:
                rng += GOLDEN
                moves = workspace.moves[0]
                action = np.int64(moves[below(mix(rng), legal(s, moves))])
            play(s, action)
        if mover(s) < 0:
            won = winner(s)
        if won == _UNKNOWN:
            return begin
        for k in range(begin, count):
            samples.results[k] = 0 if won < 0 else 1 if won == samples.results[k] else -1
        return count

    @compiled()
    def self_play(
        workspace: SearchWorkspace, samples: Samples, settings: SelfPlaySettings, seed: Any, first: Int, games: Int
    ) -> Int:
        """Play games number ``first`` to ``first + games - 1`` of a seed; return the number of samples."""
        count = 0
        for number in range(first, first + games):
            count = play_game(workspace, samples, count, settings, stream(seed, number))
        return count

    return self_play
