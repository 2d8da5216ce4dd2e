"""Move ordering for alpha-beta: move scores, the history heuristic and killer moves.

A move's *rank* packs its score in the high bits and its inverted index in the low 12, so the maximum rank is the best
move and ties go to the lowest index. Moves already searched, and padding, have the rank SEARCHED. A move id identifies
a move across positions, see ``Evaluator``.
"""

from typing import Any

import numpy as np

from ludodrome.jit import LANES, Array, Int, highest, kernel

MAX_SORTED_MOVES = 8
"""Only this many moves are sorted by rank; the rest, rarely good, follow unsorted."""
_MAX_HISTORY = 1 << 14
_MOVE_SCORE_WEIGHT = 8
_KILLER_1_BONUS, _KILLER_2_BONUS = 1 << 17, 1 << 16
"""Killers rank above every sum of history and move score."""
_INDEX_BITS = 12
_LAST_INDEX = (1 << _INDEX_BITS) - 1
SEARCHED = np.int32(-(1 << 31))


@kernel
def rank_places(count: Int) -> Int:
    """The size of an array of ranks for ``count`` moves, rounded up to whole SIMD blocks."""
    return -(-count // LANES) * LANES


@kernel
def rank(history: Int, move_score: Int, first: Any, second: Any, index: Int) -> Int:
    """Rank a move by its history, its score, whether it is a killer, and its index."""
    score = history + _MOVE_SCORE_WEIGHT * move_score
    if first:
        score += _KILLER_1_BONUS
    elif second:
        score += _KILLER_2_BONUS
    return (score << _INDEX_BITS) + (_LAST_INDEX - index)


@kernel
def pick_best(ranks: Array, moves: Array, ply: Int, at: Int, count: Int) -> None:
    """Swap the best remaining move into index ``at``: one step of selection sort."""
    best = _LAST_INDEX - (np.int64(highest(ranks, count)) & _LAST_INDEX)
    action = moves[ply, best]
    moves[ply, best] = moves[ply, at]
    moves[ply, at] = action
    ranks[best] = ranks[at] + at - best
    ranks[at] = SEARCHED


@kernel
def store_killer(killers: Array, move_id: Int) -> None:
    """Store a killer: a move that caused a cutoff is tried early in sibling positions."""
    if killers[0] != move_id:
        killers[1] = killers[0]
        killers[0] = move_id


@kernel
def update_history(history: Array, move_id: Int, bonus: Int) -> None:
    """Update with history gravity: the update shrinks as the value nears the maximum."""
    old = np.int64(history[move_id])
    history[move_id] = old + bonus - old * abs(bonus) // _MAX_HISTORY
