"""Which move alpha-beta tries first: what looks good, what was good elsewhere, what has just refuted something.

A move's *rank* is its score above, and the complement of its index below: so the highest of all ranks belongs to
the best move, the first of them if there are several, and says where it is. Moves that were tried, and places
without a move, have the rank TRIED. A move_id names a move across positions, see ``Evaluator``.
"""

from typing import Any

import numpy as np

from ludodrome.jit import LANES, Array, Int, highest, kernel

SORTED = 8
"""So many moves are tried in the order of their ranks; the rest, as a rule without merit, as they come."""
_HISTORY_MOST = 1 << 14
_MOVE_SCORE_WEIGHT = 8
_FIRST, _SECOND = 1 << 17, 1 << 16
"""Killers: beyond what history and move_score come to together."""
_INDEX_BITS = 12
_LAST_INDEX = (1 << _INDEX_BITS) - 1
TRIED = np.int32(-(1 << 31))


@kernel
def rank_places(count: Int) -> Int:
    """The places that an array of ranks needs for so many moves: it is read in whole blocks."""
    return -(-count // LANES) * LANES


@kernel
def rank(history: Int, move_score: Int, first: Any, second: Any, index: Int) -> Int:
    """The rank of a move: how often its move_id was good, how good it looks, whether it is a killer, where it stands."""
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
    """A move was too good: it is tried early where it comes up again."""
    if killers[0] != move_id:
        killers[1] = killers[0]
        killers[0] = move_id


@kernel
def credit(history: Array, move_id: Int, bonus: Int) -> None:
    """History with a limit: what is high grows slowly."""
    old = np.int64(history[move_id])
    history[move_id] = old + bonus - old * abs(bonus) // _HISTORY_MOST
