"""Move ordering for alpha-beta: move scores, the history heuristic and killer moves.

A move's *rank* is its score above, and the complement of its index below: so the highest of all ranks belongs to
the best move, the first of them if there are several, and says where it is. Moves that were tried, and places
without a move, have the rank TRIED. A move id names a move across positions, see ``Evaluator``.
"""

from typing import Any

import numpy as np

from ludodrome.jit import LANES, Array, Int, highest, kernel

SORTED = 8
"""The number of moves tried in the order of their ranks; the rest, rarely good, follow unsorted."""
_MAX_HISTORY = 1 << 14
_MOVE_SCORE_WEIGHT = 8
_FIRST, _SECOND = 1 << 17, 1 << 16
"""Killers rank above every sum of history and move score."""
_INDEX_BITS = 12
_LAST_INDEX = (1 << _INDEX_BITS) - 1
TRIED = np.int32(-(1 << 31))


@kernel
def rank_places(count: Int) -> Int:
    """The size of an array of ranks for ``count`` moves: it is read in whole blocks."""
    return -(-count // LANES) * LANES


@kernel
def rank(history: Int, move_score: Int, first: Any, second: Any, index: Int) -> Int:
    """Rank a move by its history, its score, whether it is a killer, and its index."""
    score = history + _MOVE_SCORE_WEIGHT * move_score
    if first:
        score += _FIRST
    elif second:
        score += _SECOND
    return (score << _INDEX_BITS) + (_LAST_INDEX - index)


@kernel
def bring_best(ranks: Array, moves: Array, ply: Int, at: Int, count: Int) -> None:
    """Exchange the move at a place and the best of those not tried yet; those before the place were."""
    best = _LAST_INDEX - (np.int64(highest(ranks, count)) & _LAST_INDEX)
    action = moves[ply, best]
    moves[ply, best] = moves[ply, at]
    moves[ply, at] = action
    ranks[best] = ranks[at] + at - best
    ranks[at] = TRIED


@kernel
def remember(killers: Array, move_id: Int) -> None:
    """Store a killer: a move that caused a cutoff is tried early in sibling positions."""
    if killers[0] != move_id:
        killers[1] = killers[0]
        killers[0] = move_id


@kernel
def credit(history: Array, move_id: Int, bonus: Int) -> None:
    """Add a bonus to a move's history, less the higher it already is."""
    old = np.int64(history[move_id])
    history[move_id] = old + bonus - old * abs(bonus) // _MAX_HISTORY
