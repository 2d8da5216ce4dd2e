"""Rounds in compiled code: two boards on one grid, step by step (R18 to R23).

``pack`` prepares a board's actions for a round; ``play_packed`` plays two packed boards. A trap
bites from the step that sets it until the round ends, so a round needs only *since when* a
square is trapped: ``since[cell]``, the step that sets the first trap there, or NEVER. This works
for every size, and nothing is set or cleared during a round.

Steps count from 0 here. Cells are ``row * size + col`` on the common grid. ``simulation.py``
reports the same round step by step.
"""

from typing import Any

import numpy as np

from ludodrome.games.spaces.boards import DOWN, FINISH, FIRST_TRAP, LEFT, PLACES, UP, WAIT
from ludodrome.jit import Array, Int, entry, kernel

NEVER = 0xFFFF
"""Longer than any board: R7 allows at most 40,000 steps."""

GOAL, COLLISION, TRAPPED, COMPLETE = range(4)
ENDED = ("goal", "collision", "trap", "complete")

ROW_OF_PLACE = np.array([row for row, _ in PLACES], np.int64)
COL_OF_PLACE = np.array([col for _, col in PLACES], np.int64)
LIVE_PLACES = np.array([row <= 0 and row * col == 0 for row, col in PLACES])
"""Trap places that ``live`` allows (R5): up, left, right and here."""


@kernel
def shift(what: Int) -> Any:
    """Rows and columns that a piece step or the finish moves (R1)."""
    if what in (UP, FINISH):
        return -1, 0
    if what == DOWN:
        return 1, 0
    return 0, (-1 if what == LEFT else 1)


@kernel
def is_playable(actions: Array, size: Int, live: bool) -> bool:
    """R7 for a board that starts on the bottom row and has no jumps: it stays inside, and nothing follows a finish."""
    steps = len(actions)
    if steps > 4 * size * size:
        return False
    row = size - 1
    col = np.int64(actions[0])
    for k in range(1, steps):
        what = np.int64(actions[k]) - size
        if what == FINISH:
            return row == 0 and k == steps - 1  # R6
        if FIRST_TRAP <= what < FINISH:
            place = what - FIRST_TRAP
            if live and not LIVE_PLACES[place]:  # R5
                return False
            to_row = row + ROW_OF_PLACE[place]
            to_col = col + COL_OF_PLACE[place]
        else:
            down, right = shift(what)
            to_row = row = row + down
            to_col = col = col + right
        if to_row < 0 or to_row >= size or to_col < 0 or to_col >= size:  # R4, R5
            return False
    return True  # unfinished


@kernel
def pack(actions: Array, size: Int, live: bool, rotated: bool, cells: Array, score: Array, since: Array) -> None:
    """Prepare a playable board for rounds. An unfinished one ends with waits, see ``play_packed``.

    actions: (steps,) uint8; cells: (steps,) uint16, the piece's square after each step, before the
    finish; score: (steps,) uint16, points earned so far; since: (size * size,) uint16.
    ``rotated``: on the common grid, seen from the other side (R18).
    """
    last = size * size - 1
    for cell in range(last + 1):
        since[cell] = NEVER
    row = size - 1
    col = np.int64(actions[0])
    best = row
    points = 0
    for k in range(len(actions)):
        what = np.int64(actions[k]) - size
        if FIRST_TRAP <= what < FINISH:
            place = what - FIRST_TRAP
            trap = (row + ROW_OF_PLACE[place]) * size + col + COL_OF_PLACE[place]
            trap = last - trap if rotated else trap
            since[trap] = min(np.int64(since[trap]), k)
        elif 0 <= what < WAIT:
            down, right = shift(what)
            row += down
            col += right
            if what == FINISH or (what == UP and (not live or row < best)):  # R20
                points += 1
            best = min(best, row)
        cell = max(row, 0) * size + col
        cells[k] = last - cell if rotated else cell
        score[k] = points


@kernel
def play_packed(
    cells_a: Array, score_a: Array, since_a: Array, cells_b: Array, score_b: Array, since_b: Array, live: bool
) -> Any:
    """Play two packed boards, the second one rotated.

    The last step of a board counts as its finish. So an unfinished board must end with waits, more
    than enough for the steps of the other one: then nothing happens in the last of them, the points
    are right, and "goal" means that both sequences are complete (``simulation.play_boards``).

    Returns the points of both, how the round ended, the last step, and the steps in which the
    pieces were hit by a trap, or NEVER.
    """
    goal_a = len(cells_a) - 1
    goal_b = len(cells_b) - 1
    hit_a = hit_b = NEVER
    k = 0
    while True:
        at_a = min(k, hit_a)  # R22: a stopped piece stays, its remaining steps lapse
        at_b = min(k, hit_b)
        cell_a = cells_a[at_a]
        cell_b = cells_b[at_b]
        home_a = at_a == goal_a
        home_b = at_b == goal_b
        if cell_a == cell_b and not home_a and not home_b:  # R21
            ended = COLLISION
            break
        if hit_a == NEVER and not home_a and since_b[cell_a] <= at_b:  # R22
            hit_a = k
        if hit_b == NEVER and not home_b and since_a[cell_b] <= at_a:
            hit_b = k
        if home_a or home_b:  # R23
            ended = GOAL
            break
        if (hit_a != NEVER and hit_b != NEVER) or (not live and (hit_a != NEVER or hit_b != NEVER)):
            ended = TRAPPED
            break
        k += 1
    points_a: Int = np.int64(score_a[at_a])
    points_b: Int = np.int64(score_b[at_b])
    if hit_a != NEVER:  # R20: at each single loss no score falls below 0
        points_a = max(0, points_a - 1)
    if hit_b != NEVER:
        points_b = max(0, points_b - 1)
    if ended == COLLISION:
        points_a = max(0, points_a - 1)
        points_b = max(0, points_b - 1)
    return points_a, points_b, ended, k, hit_a, hit_b


# Many boards, from Python


@entry
def first_unplayable(actions: Array, ends: Array, size: int, live: bool) -> Int:
    """The index of the first board that is not playable, or -1."""
    begin = 0
    for i in range(len(ends)):
        if not is_playable(actions[begin : ends[i]], size, live):
            return i
        begin = ends[i]
    return -1


@entry
def pack_many(
    actions: Array, ends: Array, size: int, live: bool, rotated: bool, cells: Array, score: Array, since: Array
) -> None:
    """Pack boards one after another, see ``pack``; ends: (boards,) int64, where each ends in the flat arrays."""
    begin = 0
    for i in range(len(ends)):
        end = ends[i]
        pack(actions[begin:end], size, live, rotated, cells[begin:end], score[begin:end], since[i])
        begin = end


@entry
def play_round(
    cells_a: Array, score_a: Array, since_a: Array, cells_b: Array, score_b: Array, since_b: Array, live: bool
) -> Any:
    """``play_packed`` for Python."""
    return play_packed(cells_a, score_a, since_a, cells_b, score_b, since_b, live)


@entry
def play_matrix(
    cells_a: Array,
    score_a: Array,
    since_a: Array,
    ends_a: Array,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    ends_b: Array,
    live: bool,
    points_a: Array,
    points_b: Array,
) -> None:
    """Play every first board against every second one; points: (boards a, boards b) int16."""
    begin_a = 0
    for i in range(len(ends_a)):
        end_a = ends_a[i]
        own_cells, own_score, own_since = cells_a[begin_a:end_a], score_a[begin_a:end_a], since_a[i]
        begin_b = 0
        for j in range(len(ends_b)):
            end_b = ends_b[j]
            a, b, _, _, _, _ = play_packed(
                own_cells,
                own_score,
                own_since,
                cells_b[begin_b:end_b],
                score_b[begin_b:end_b],
                since_b[j],
                live,
            )
            points_a[i, j] = a
            points_b[i, j] = b
            begin_b = end_b
        begin_a = end_a


@entry
def play_mixture(
    actions: Array,
    ends: Array,
    size: int,
    live: bool,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    ends_b: Array,
    weights: Array,
    worth: Array,
) -> None:
    """The weighted sum of each board's margins over the others.

    actions: (steps,) uint8 and ends: (boards,) int64, not packed; the others packed and rotated;
    weights: (others,) and worth: (boards,) int64 or float64.
    """
    most = 0
    begin = 0
    for i in range(len(ends)):
        most = max(most, ends[i] - begin)
        begin = ends[i]
    cells = np.empty(most, np.uint16)
    score = np.empty(most, np.uint16)
    since = np.empty(size * size, np.uint16)
    begin = 0
    for i in range(len(ends)):
        steps = ends[i] - begin
        pack(actions[begin : ends[i]], size, live, False, cells[:steps], score[:steps], since)
        begin = ends[i]
        worth[i] = 0
        begin_b = 0
        for j in range(len(ends_b)):
            end_b = ends_b[j]
            a, b, _, _, _, _ = play_packed(
                cells[:steps],
                score[:steps],
                since,
                cells_b[begin_b:end_b],
                score_b[begin_b:end_b],
                since_b[j],
                live,
            )
            worth[i] += weights[j] * (a - b)
            begin_b = end_b
