"""Boards for a player who does not know the other's: a sound first choice, and boards by chance.

Under ``written`` the straight run cannot be beaten. In step k it has k points, more than anybody
else can have; a trap takes one of them and ends the round, but setting it has cost the other a
step up; a collision costs both the same. So no board does better against it than to draw, and
since a round is symmetric, nothing is better than to run.

Under ``live`` a runner who is foreseen is stopped halfway, and one must not be foreseen: the board is
drawn from a mixture that nothing beats (``perfect.py``). Where the other sees the board before
answering, the straight run loses least (``seen.py``).
"""

import random
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces import kernels, rules
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, checked_size, format_board, is_live
from ludodrome.games.spaces.building import all_boards
from ludodrome.games.spaces.perfect import perfect, straight_run
from ludodrome.jit import new_states

_ALL_LISTED = 3
"""Up to this size the pool of ``live`` is all boards."""
_COLUMNS, _HEIGHTS = 6, 4
"""From so many start columns, and with a detour or a trap on one of so many rows, at most."""
_TRAP_UP, _TRAP_LEFT, _TRAP_RIGHT = FIRST_TRAP + 1, HERE - 1, HERE + 1
_VARIANTS = (
    (LEFT,),
    (RIGHT,),
    (_TRAP_LEFT,),
    (_TRAP_RIGHT,),
    (HERE,),
    (_TRAP_UP, LEFT),
    (_TRAP_UP, RIGHT),
    (_TRAP_LEFT, RIGHT),
    (_TRAP_RIGHT, LEFT),
)
"""What is done on one row of an otherwise straight run."""


def sensible(size: int, rules: str = "written", seed: int = 0, foreseen: bool = False) -> dict[str, Any]:
    """A sound board to lay against an unknown one; ``foreseen``: the other sees it and answers."""
    checked_size(size)
    live = is_live(rules)
    chance = random.Random(validation.whole(seed, "the seed", ValueError))
    if foreseen or not live:
        return format_board(straight_run(size, chance.randrange(size)), size)
    mixture = perfect(size, rules)
    return format_board(chance.choices(mixture.boards, mixture.weights)[0], size)


def quick(size: int, rules: str = "written", seed: int = 0) -> dict[str, Any]:
    """A legal board by chance: every step is one of the legal ones, each as likely as the others."""
    checked_size(size)
    live = is_live(rules)
    chance = random.Random(validation.whole(seed, "the seed", ValueError))
    return format_board(_by_chance(size, live, chance), size)


def _by_chance(size: int, live: bool, chance: random.Random) -> bytes:
    states = new_states(rules.dtype_of(size, 1), 1)
    for name, value in (("side", size), ("live", live), ("rounds", 1)):
        states[name] = value
    kernels.reset(states, np.uint64(0))
    buffer = np.empty(rules.max_legal(size), np.int16)
    actions: list[int] = []
    while not actions or actions[-1] != size + FINISH:
        actions.append(int(buffer[chance.randrange(kernels.legal(states, buffer))]))
        kernels.play(states, actions[-1])
    return bytes(actions)


def _run(size: int, col: int, height: int = 0, variant: tuple[int, ...] = ()) -> bytes:
    """A straight run, but for what is done after so many steps up."""
    ups = [UP] * (size - 1)
    return bytes([col, *(size + what for what in (*ups[:height], *variant, *ups[height:], FINISH))])


def pool(size: int) -> tuple[bytes, ...]:
    """Boards of common sense, legal under both rule sets: straight runs with one detour, one trap, or both."""
    if size <= _ALL_LISTED:
        return all_boards(size, True)
    boards = []
    for col in _spread(size, _COLUMNS):
        boards.append(_run(size, col))
        for height in _spread(size - 2, _HEIGHTS):
            for variant in _VARIANTS:
                inside = (col > 0 or not {LEFT, _TRAP_LEFT} & {*variant}) and (
                    col < size - 1 or not {RIGHT, _TRAP_RIGHT} & {*variant}
                )
                if inside:
                    boards.append(_run(size, col, height, variant))
    return tuple(boards)


def _spread(count: int, most: int) -> list[int]:
    """Numbers below ``count``, evenly spread."""
    parts = min(count, most) - 1
    return sorted({part * (count - 1) // max(1, parts) for part in range(parts + 1)})
