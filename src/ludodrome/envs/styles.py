"""Opponents in the scenarios of spaces: how they choose a board each round, and how a round comes out.

Boards are actions, ``bytes``. A *style* chooses from a pool of boards; ``perfect`` has boards of its own. Bots that
play whole matches are in ``bots/boards.py``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.spaces import kernels, perfect
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP
from ludodrome.games.spaces.rounds import COL_OF_PLACE, ENDED, ROW_OF_PLACE, shift
from ludodrome.jit import Array, python


class Met(NamedTuple):
    """A round between the learner's board and the opponent's."""

    points: tuple[int, int]
    """The learner's, the opponent's."""
    ended: str
    steps: tuple[int, int]
    """How many steps of each board were carried out."""


class Known(NamedTuple):
    """What an opponent knows when it chooses."""

    pool: list[bytes]
    seen: bytes | None
    """The learner's board of this round, if it may be seen."""
    learners: list[bytes]
    """Its boards of the rounds before."""
    turn: int
    """The round, from 0."""
    place: int
    """A number by lot, the same for the whole match, below the size of the pool."""
    size: int
    live: bool
    dice: np.random.Generator


def meet(first: bytes, second: bytes, size: int, live: bool) -> Met:
    """Play a round; the second board is turned."""
    one, other = _packed(first, size, live, False), _packed(second, size, live, True)
    a, b, ended, last, *hits = kernels.play_round(*one, *other, live)
    steps = [min(int(last), int(hit)) + 1 for hit in hits]
    return Met((int(a), int(b)), ENDED[ended], (steps[0], steps[1]))


def _packed(board: bytes, size: int, live: bool, rotated: bool) -> tuple[Array, Array, Array]:
    actions = np.frombuffer(board, np.uint8)
    cells, score = np.empty((2, len(board)), np.uint16)
    since = np.empty((1, size * size), np.uint16)
    kernels.pack_many(actions, np.array([len(board)]), size, live, rotated, cells, score, since)
    return cells, score, since[0]


def planes(board: bytes, size: int, turned: bool = False, steps: int | None = None) -> Array:
    """A board's path and traps, (2, size, size) int16 with the numbers of the steps, as ``games/spaces/planes.py``.

    ``steps``: only so many of them.
    """
    drawn = np.zeros((2, size, size), np.int16)
    row, col = size - 1, 0
    for number, action in enumerate(board[:steps], 1):
        what = action - size
        if what < 0:
            col = action
        elif FIRST_TRAP <= what < FINISH:
            down, right = int(ROW_OF_PLACE[what - FIRST_TRAP]), int(COL_OF_PLACE[what - FIRST_TRAP])
            drawn[1, row + down, col + right] = number
            continue
        elif what == FINISH:
            continue
        else:
            down, right = python(shift)(what)
            row, col = row + down, col + right
        drawn[0, row, col] = number
    return drawn[:, ::-1, ::-1].copy() if turned else drawn


def trap_steps(board: bytes, size: int, length: int, steps: int | None = None) -> Array:
    """(length,) int8: 1 at the steps at which the board sets a trap."""
    marks = np.zeros(length, np.int8)
    for number, action in enumerate(board[:steps]):
        marks[number] = FIRST_TRAP <= action - size < FINISH
    return marks


# Styles


def by_lot(known: Known) -> bytes:
    """Any board of the pool."""
    return known.pool[int(known.dice.integers(len(known.pool)))]


def constant(known: Known) -> bytes:
    """The same board all the time."""
    return known.pool[known.place]


def cycle(known: Known) -> bytes:
    """One board of the pool after the other."""
    return known.pool[(known.place + known.turn) % len(known.pool)]


def mimic(known: Known) -> bytes:
    """What the learner laid in the round before."""
    return known.learners[-1] if known.learners else known.pool[known.place]


def counter(known: Known) -> bytes:
    """The best board of the pool against what the learner has laid, now or in the round before."""
    target = known.seen or (known.learners[-1] if known.learners else None)
    if target is None:
        return known.pool[known.place]
    margins = []
    for board in known.pool:
        own, other = meet(board, target, known.size, known.live).points
        margins.append(own - other)
    return known.pool[int(np.argmax(margins))]


def equilibrium(known: Known) -> bytes:
    """A board of the mixture that nobody beats, where it is known, else a straight run."""
    mixture = perfect(known.size, "live" if known.live else "written")
    weights = np.array(mixture.weights, float)
    return mixture.boards[int(known.dice.choice(len(weights), p=weights / weights.sum()))]


STYLES: dict[str, Callable[[Known], bytes]] = {
    "random": by_lot,
    "constant": constant,
    "cycle": cycle,
    "mimic": mimic,
    "counter": counter,
    "perfect": equilibrium,
}
UNKNOWN = "unknown"
"""One of the styles by lot for each match, and nobody is told which."""


def names(but: tuple[str, ...] = ()) -> list[Any]:
    """The styles among which ``unknown`` draws."""
    return [name for name in STYLES if name not in but]
