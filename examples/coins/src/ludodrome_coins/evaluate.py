"""What a search knows about coins beyond the rules: values, the order of moves, hash keys.

The margin of points counts (``by_points``): a value estimates only the points still in the row.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator
from ludodrome.jit import Array, Int, Record, kernel
from ludodrome.search.symmetry import SYMMETRIES
from ludodrome_coins.rules import COINS, COPPER, VALUES

POINT = 100
"""A point, in hundredths."""
SEED = 5
"""Seed of the random words in the hash keys."""
_WORDS = np.random.Generator(np.random.PCG64(SEED)).integers(0, 1 << 64, (3, COINS + 1), np.uint64)
"""For the left end, the right end and the seat to move."""
FIRST, END, TO_MOVE = range(3)


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Half of what the better end is worth, for the seat to move."""
    best = max(VALUES[s.first], VALUES[np.int64(s.end) - 1])
    return best * POINT // 2 if s.to_move == pov_seat else -best * POINT // 2


@kernel
def winning(s: Record) -> Int:
    """No coin wins at once: points are counted at the end."""
    return np.int64(-1)


@kernel
def in_check(s: Record) -> Any:
    """Nothing has to be answered."""
    return False


@kernel
def evasions(s: Record, buffer: Array, count: Int) -> Int:
    """Keep all moves."""
    return count


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """No move has to be tried before a position can be judged."""
    return False


@kernel
def move_context(s: Record) -> Any:
    """Nothing that scores depend on."""
    return np.int64(0)


@kernel
def move_score(s: Record, context: Any, action: Int) -> Int:
    """The coin's points; another turn is worth more than a point."""
    points = VALUES[action]
    return POINT * (points + 2 if points == COPPER else points)


@kernel
def gain(before: Record, after: Record) -> Int:
    """The points of the coin just taken."""
    return POINT * (np.int64(after.scores[before.to_move]) - np.int64(before.scores[before.to_move]))


@kernel
def move_id(s: Record, action: Int) -> Int:
    """The coin."""
    return action


@kernel
def key(s: Record) -> Any:
    """The row and the seat to move; points already won do not count, and the key of an empty record is 0."""
    if s.end == 0:
        return np.uint64(0)
    return _WORDS[FIRST, s.first] ^ _WORDS[END, s.end] ^ _WORDS[TO_MOVE, s.to_move]


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """The row has no symmetry: all eight keys are the same."""
    change = key(before) ^ key(after)
    for k in range(SYMMETRIES):
        keys[at + 1, k] = keys[at, k] ^ change


EVALUATOR = Evaluator(
    value=value,
    winning=winning,
    in_check=in_check,
    evasions=evasions,
    is_tactical=is_tactical,
    move_context=move_context,
    move_score=move_score,
    gain=gain,
    move_id=move_id,
    update_hash=update_hash,
    num_move_ids=COINS,
    move_id_symmetries=np.arange(COINS, dtype=np.uint16)[None].repeat(SYMMETRIES, 0),
    by_points=True,
    has_no_tactics=True,
)
