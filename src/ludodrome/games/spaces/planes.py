"""Observation planes of ``size`` x ``size``, as the observing seat sees the grid.

A board is two planes: the path of its piece and its traps, each with the number of the step, from 1; 0 means nothing.
The other seat's boards are rotated by 180 degrees (R18), as in a round. Hidden boards (R25, R26) are left out. In fog
(R26), of the other's earlier boards only the steps that were carried out are drawn, and their traps where the piece
stood when it set them: the number of the last such step.
"""

import numpy as np

from ludodrome.game_spec import Planes
from ludodrome.games.spaces.boards import CHOICES, DECK, FINISH, FIRST_TRAP, FOG, HIDDEN_TRAP, SEEN
from ludodrome.games.spaces.rounds import COL_OF_PLACE, ROW_OF_PLACE, shift
from ludodrome.games.spaces.rules import PAIRINGS, longest, mover
from ludodrome.jit import Array, Int, Record, kernel

SEATS = 2
IN_VIEW, IN_FOG = CHOICES.index(SEEN), CHOICES.index(FOG)
PRESENT = (
    "own path",
    "own position",
    "own traps",
    "other's path",
    "other's traps",
    "step",
    "own total",
    "other's total",
    "round",
    "to move",
)
PATH, POSITION, TRAPS, OTHER_PATH, OTHER_TRAPS, STEP, TOTAL, OTHER_TOTAL, ROUND, TO_MOVE = range(len(PRESENT))
EARLIER = ("own path", "own traps", "other's path", "other's traps")
FIRST_EARLIER = len(PRESENT)


def planes_of(size: int, rounds: int, deck: bool) -> Planes:
    """The planes of a match: the present, and four for each earlier round, the latest first.

    In the mode ``deck`` the earlier boards are those of the same deck, and the last two of four stay empty.
    """
    before = DECK - 1 if deck else rounds - 1
    names = (*PRESENT, *(f"{back} before: {name}" for back in range(1, before + 1) for name in EARLIER))
    steps, total = longest(size), (PAIRINGS if deck else rounds) * size
    present = (steps, 1, steps, steps, steps, steps, total, total, DECK if deck else rounds, SEATS)
    return Planes(names, size, size, present + (steps,) * (len(names) - FIRST_EARLIER), np.int16)


@kernel
def observe(s: Record, seat: Int, out: Array) -> None:
    """Write what a seat sees; out: (planes, size * size) int16."""
    for plane in range(out.shape[0]):
        fill(out, plane, 0)
    laid, moving = np.int64(s.laid), mover(s)
    fill(out, TOTAL, np.int64(s.totals[seat]))
    fill(out, OTHER_TOTAL, np.int64(s.totals[1 - seat]))
    fill(out, TO_MOVE, 0 if moving < 0 else 1 + (moving - seat) % SEATS)
    before = (out.shape[0] - FIRST_EARLIER) // len(EARLIER)
    if s.deck:
        own = min(max(laid - seat * DECK, 0), DECK)  # finished boards of the own deck
        if moving == seat:
            _present(s, seat * DECK + own, True, out)
        fill(out, ROUND, min(own + 1, DECK))
        for back in range(min(before, own)):
            plane = FIRST_EARLIER + back * len(EARLIER)
            draw(s, seat * DECK + own - 1 - back, False, False, out, plane, plane + 1)
        return
    done = laid // 2  # rounds
    fill(out, ROUND, min(done + 1, np.int64(s.rounds)))
    if moving >= 0:
        _present(s, 2 * done + seat, moving == seat, out)
        if moving == seat and laid % 2 == 1 and s.choice == IN_VIEW:
            draw(s, 2 * done + 1 - seat, True, False, out, OTHER_PATH, OTHER_TRAPS)
    for back in range(min(before, done)):
        plane = FIRST_EARLIER + back * len(EARLIER)
        first = 2 * (done - 1 - back)
        draw(s, first + seat, False, False, out, plane, plane + 1)
        draw(s, first + 1 - seat, True, s.choice == IN_FOG and moving >= 0, out, plane + 2, plane + 3)


@kernel
def _present(s: Record, k: Int, building: bool, out: Array) -> None:
    """Draw the seat's own board in slot k, finished or not."""
    draw(s, k, False, False, out, PATH, TRAPS)
    fill(out, STEP, np.int64(s.lengths[k]))
    if building and s.lengths[k] > 0:
        out[POSITION, np.int64(s.row) * np.int64(s.side) + np.int64(s.col)] = 1


@kernel
def draw(s: Record, k: Int, turned: bool, fog: bool, out: Array, path: Int, traps: Int) -> None:
    """Draw the board in slot k on two empty planes."""
    size = np.int64(s.side)
    last = size * size - 1
    row = size - 1
    col = np.int64(0)
    steps = np.int64(s.done[k]) if fog else np.int64(s.lengths[k])
    for step in range(steps):
        what = np.int64(s.boards[k, step]) - size
        plane = path
        to_row, to_col = row, col
        if what < 0:
            col = what + size
            to_col = col
        elif what == FINISH:
            continue
        elif what >= FIRST_TRAP:
            plane = traps
            if not fog and what != HIDDEN_TRAP:
                to_row += ROW_OF_PLACE[what - FIRST_TRAP]
                to_col += COL_OF_PLACE[what - FIRST_TRAP]
        else:
            down, right = shift(what)
            row += down
            col += right
            to_row, to_col = row, col
        cell = to_row * size + to_col
        out[plane, last - cell if turned else cell] = step + 1


@kernel
def fill(out: Array, plane: Int, number: Int) -> None:
    """Fill a plane with one number."""
    for cell in range(out.shape[1]):
        out[plane, cell] = number
