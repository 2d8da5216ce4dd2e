"""The stack of alpha-beta: one frame for each ply, what a search has learned, and the steps on them that know no game.

Values are those of the side to move, see ``alphabeta.py``.
"""

from typing import Any

import numpy as np

from ludodrome.jit import Array, Int, Record, inline_kernel, kernel, python, record_dtype
from ludodrome.search.move_ordering import rank_places
from ludodrome.search.symmetry import SYMMETRIES

WIN = 30_000
DECIDED = 29_000
PLIES = 128
"""The most plies that a search looks ahead, quiescence included."""
MAX_DEPTH = 100
MAX_QUIESCENCE = -8
"""The depth at which quiescence search ends: tactical actions are tried that many plies beyond the depth."""

ENTER, ADVANCE, RETREAT, DONE = range(4)
"""The next step of a search: enter a position, play its next move, take a move back, finish."""
WHOLE, NULL, REDUCED = range(3)
"""How a move is being searched: with the whole window, with a null window, or less deeply too."""
UNORDERED, BY_SCORE, AS_GIVEN = range(3)
"""What decides which move is tried next."""

KILLERS = 2

NO_STATIC = -32_000
"""The static value of a position that has none: a threat must be met before anything can be judged."""
FUTILITY_DEPTH, FUTILITY_MARGIN = 4, 80
"""Reverse futility pruning: up to this depth, a position this many hundredths a ply above beta is not searched."""
_PRUNING_DEPTH = 3
"""Late-move pruning: up to this depth, only the first moves are searched."""


def search_dtype(num_move_ids: int) -> np.dtype[Any]:
    """What a search is about to do, and what it has learned about moves."""
    return record_dtype(
        [
            ("nodes", np.int64),
            (
                "key",
                np.uint64,
            ),  # combined with every position's key: searches for several point-of-view seats share a table
            ("ply", np.int32),
            ("mode", np.int32),
            ("value", np.int32),  # of the position just left, for the side to move there
            ("exact", np.int32),
            ("seats", np.int32),
            ("pov_seat", np.int32),
            ("generation", np.int32),
            ("reductions", np.int32),  # 1: late moves are reduced, and hopeless positions pruned
            ("shortest", np.int32),  # 1: the shortest way to a win is asked for
            ("history", np.int32, (2, num_move_ids)),  # by side: how often a move was good
        ]
    )


def frame_dtype(max_legal: int) -> np.dtype[Any]:
    """What a search knows at one ply."""
    return record_dtype(
        [
            ("key", np.uint64),
            ("alpha", np.int32),
            ("beta", np.int32),
            ("floor", np.int32),  # alpha at the beginning
            ("best", np.int32),
            ("gain", np.int32),  # of the move in hand
            ("depth", np.int32),
            ("count", np.int32),  # of moves
            ("next", np.int32),  # the index of the move in hand
            ("best_action", np.int32),
            ("length", np.int32),  # of the best line from here
            ("stage", np.int32),
            ("side", np.int32),  # 0: the point-of-view seat's
            ("lane", np.int32),  # the symmetry of the key
            ("exact", np.int32),  # so far
            ("recommended", np.int32),  # the move id from the table, or NO_MOVE_ID
            ("ordered", np.int32),  # UNORDERED, BY_SCORE or AS_GIVEN
            ("reducible", np.int32),
            ("accumulated", np.int32),  # whether the network's accumulator of this ply is that of its position
            ("static", np.int32),  # the static value for the side to move, or NO_STATIC
            ("improving", np.int32),  # whether it is higher than two plies before, or there was none then
            ("killers", np.int32, (KILLERS,)),  # move ids
            ("ranks", np.int32, (python(rank_places)(max_legal),)),  # for the order of moves
            ("line", np.int16, (PLIES + 1,)),  # the best line from here
        ]
    )


@kernel
def nearer(value: Int) -> Int:
    """A value seen from one ply earlier: a decided game takes one ply longer."""
    if value > DECIDED:
        return value - 1
    if value < -DECIDED:
        return value + 1
    return value


@kernel
def farther(value: Int) -> Int:
    """The opposite of ``nearer``, for windows."""
    if value > DECIDED:
        return value + 1
    if value < -DECIDED:
        return value - 1
    return value


@kernel
def reduction(depth: Int, index: Int) -> Int:
    """How many plies less deeply the move number ``index`` is searched."""
    if depth < 3 or index < 3:
        return 0
    less = 1
    if index >= 8:
        less += 1
    if depth >= 6 and index >= 20:
        less += 1
    if depth >= 9 and index >= 12:
        less += 1
    return less


@kernel
def moves_worth_trying(depth: Int, improving: Any) -> Int:
    """How many moves are searched at a low depth under a null window, unless one of the first is good enough."""
    most = 6 + 3 * depth * depth
    return most if improving else most // 2


@inline_kernel
def late(frames: Any, ply: Int) -> Any:
    """Whether the moves that are left are too late to be searched. Never if all so far lose: that would be no proof."""
    f = frames[ply]
    if ply == 0 or not f.reducible or f.depth <= 0 or f.depth > _PRUNING_DEPTH:
        return False
    if f.beta - f.floor > 1 or f.best <= -DECIDED:
        return False
    return f.next >= moves_worth_trying(np.int64(f.depth), f.improving)


@kernel
def aim(frames: Any, ply: Int) -> None:
    """Give the position after the move in hand its window and depth."""
    f = frames[ply]
    child = frames[ply + 1]
    low = f.alpha
    high = f.beta if f.stage == WHOLE else f.alpha + 1
    if child.side == f.side:
        child.alpha = low - f.gain
        child.beta = high - f.gain
    else:
        child.alpha = f.gain - farther(high)
        child.beta = f.gain - farther(low)
    child.depth = f.depth - 1
    if f.stage == REDUCED:
        child.depth -= reduction(f.depth, f.next)
    child.floor = child.alpha


@kernel
def canonical(keys: Array, frames: Any, search: Record, ply: Int) -> None:
    """The least of the eight keys, and which it is."""
    f = frames[ply]
    least = keys[ply, 0]
    lane = 0
    for k in range(1, SYMMETRIES):
        if keys[ply, k] < least:
            least = keys[ply, k]
            lane = k
    f.key = least ^ search.key
    f.lane = lane


@kernel
def take(frames: Any, ply: Int, action: Int) -> None:
    """The best line from here is this action and the best line behind it."""
    f = frames[ply]
    child = frames[ply + 1]
    f.line[0] = action
    for i in range(child.length):
        f.line[i + 1] = child.line[i]
    f.length = child.length + 1
