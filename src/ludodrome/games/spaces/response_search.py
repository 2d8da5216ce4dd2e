"""A board that is worth so much against a known one: depth first, guided by ``respond_bounds.py``.

Every step laid is legal (R17), so a board that is found is a proof; where the search comes to its
end, there is none in this run. What has failed once is remembered by all that can matter from
there on: the step, the place, and of one's own traps those that can still be in the way.
"""

from typing import Any

import numpy as np

from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, LEFT, RIGHT, UP
from ludodrome.games.spaces.respond_bounds import (
    ENTERED,
    FREE,
    LEFTWARD,
    MOOD_LIVE,
    MOOD_WRITTEN,
    NOT_UP,
    RIGHTWARD,
    UNDERFOOT,
    Course,
    judge,
    may_trap,
    trap_cell,
)
from ludodrome.jit import Array, Int, Record, kernel, mix

FOUND, NONE, OUT_OF_NODES = range(3)

ROW, COL, WAY, ARMED, MOOD, TRAPS, KEY, TRIED = range(8)
"""The columns of a frame: what is known after a step, and how many continuations have been tried."""
KEPT = TRAPS + 1
"""So many of them a step takes over from the one before, unless it changes them."""

_TRAP_ORDER = [UNDERFOOT, 7, 6, 8, 3, 5, 1, 0, 2]
ORDER = np.array([UP, LEFT, RIGHT, FINISH] + [FIRST_TRAP + place for place in _TRAP_ORDER])
"""Piece steps first; traps that only pass the time go where they are least in the way: underfoot, behind."""

PROBES = 8


@kernel
def search_response(
    run: Record,
    course: Course,
    table: Array,
    wanted: Int,
    limit: Int,
    frames: Array,
    actions: Array,
    mine: Array,
    keys: Array,
    marks: Array,
    mark: Int,
) -> Any:
    """Look for a board worth ``wanted``; gives how it went, the steps laid, and the nodes visited.

    frames: (longest + 1, 7) int64; actions: (longest,) uint8, the steps up to where the round is
    decided, if found; mine: (squares,) uint8, all 0; keys: (a power of 2,) int64 and marks: (the
    same, 2) int64, of which entries marked with ``mark`` count.
    """
    nodes = 0
    depth = 0
    frames[0, TRIED] = 0
    while True:
        at = frames[depth, TRIED]
        if at == (run.width if depth == 0 else len(ORDER)):
            if depth == 0:
                return NONE, 0, nodes
            _remember(keys, marks, mark, frames[depth, KEY], frames[depth, TRAPS] * run.live)
            depth -= 1
            _take_back(run, frames, depth, actions[depth], mine)
            continue
        frames[depth, TRIED] = at + 1
        action = run.low + at if depth == 0 else run.side + ORDER[at]
        if not _lay(run, course, frames, mine, depth, action):
            continue
        actions[depth] = action
        after = depth + 1
        over, value = judge(run, course, depth, frames[after, ROW], frames[after, COL], frames[after, ARMED])
        if over:
            if value >= wanted:
                return FOUND, after, nodes
        elif _bound_after(run, table, frames, depth) >= wanted:
            if nodes == limit:
                return OUT_OF_NODES, 0, nodes
            nodes += 1
            frames[after, KEY] = _key(run, frames, mine, after)
            if not _failed(keys, marks, mark, frames[after, KEY], frames[after, TRAPS] * run.live):
                depth = after
                frames[depth, TRIED] = 0
                continue
        _take_back(run, frames, depth, action, mine)


@kernel
def _bound_after(run: Record, table: Array, frames: Array, k: Int) -> Int:
    """How much can still be had after step k."""
    row, col, way = frames[k + 1, ROW], frames[k + 1, COL], frames[k + 1, WAY]
    return np.int64(table[min(k, run.last), row, col - run.low, way, frames[k + 1, ARMED], frames[k + 1, MOOD]])


# Laying steps (R17)


@kernel
def _lay(run: Record, course: Course, frames: Array, mine: Array, k: Int, action: Int) -> bool:
    """Lay step k and write the frame after it; False if it is not legal, or leaves the run."""
    if k == 0:
        frames[1, ROW], frames[1, COL], frames[1, WAY] = run.side - 1, action, ENTERED
        frames[1, ARMED] = frames[1, TRAPS] = 0
        frames[1, MOOD] = FREE
        return True
    row, col, way = frames[k, ROW], frames[k, COL], frames[k, WAY]
    what = action - run.side
    if (what == FINISH) != (row == 0):  # R6, R12
        return False
    for column in range(KEPT):
        frames[k + 1, column] = frames[k, column]
    if FIRST_TRAP <= what < FINISH:
        return _lay_trap(run, course, frames, mine, k, what - FIRST_TRAP)
    frames[k + 1, MOOD] = FREE
    if what in (UP, FINISH):
        frames[k + 1, ROW] = row - 1
        frames[k + 1, WAY] = ENTERED
        return not (run.live and what == UP and mine[(row - 1) * run.side + col])  # R16
    to = col - 1 if what == LEFT else col + 1
    frames[k + 1, COL] = to
    frames[k + 1, WAY] = LEFTWARD if what == LEFT else RIGHTWARD
    return bool(0 <= to - run.low < run.width) and _side_is_open(run, mine, row, col, way, what)


@kernel
def _side_is_open(run: Record, mine: Array, row: Int, col: Int, way: Int, what: Int) -> bool:
    """R4, R8, R16."""
    to = col - 1 if what == LEFT else col + 1
    back = RIGHTWARD if what == LEFT else LEFTWARD
    if to < 0 or to >= run.side or way == back:
        return False
    return not (run.live and mine[row * run.side + to])


@kernel
def _lay_trap(run: Record, course: Course, frames: Array, mine: Array, k: Int, place: Int) -> bool:
    row, col, way = frames[k, ROW], frames[k, COL], frames[k, WAY]
    if frames[k, MOOD] != FREE or k > run.last:  # R11, R15; alone, traps are of no use
        return False
    if run.live and frames[k, TRAPS] == run.side - 1:  # R14
        return False
    if not may_trap(run, course, k, row, col, place):
        return False
    cell = trap_cell(run, row, col, place)
    if mine[cell]:  # R10
        return False
    mood = MOOD_LIVE[place] if run.live else MOOD_WRITTEN[place]
    if mood == NOT_UP:  # R17
        open_sides = 0
        for what in (LEFT, RIGHT):
            if _side_is_open(run, mine, row, col, way, what):
                open_sides += 1
        if open_sides == 0:
            return False
    mine[cell] = 1
    frames[k + 1, TRAPS] += 1
    frames[k + 1, MOOD] = mood
    if cell == run.target:
        frames[k + 1, ARMED] = 1
    return True


@kernel
def _take_back(run: Record, frames: Array, k: Int, action: Int, mine: Array) -> None:
    """Take up again the trap that step k set, if it set one."""
    what = np.int64(action) - run.side
    if FIRST_TRAP <= what < FINISH:
        mine[trap_cell(run, frames[k, ROW], frames[k, COL], what - FIRST_TRAP)] = 0


# Remembering what has failed


@kernel
def _key(run: Record, frames: Array, mine: Array, laid: Int) -> Int:
    """All that matters after so many steps, but the number of traps."""
    row, col, way = frames[laid, ROW], frames[laid, COL], frames[laid, WAY]
    key = min(laid - 1, run.last) * run.side + row
    key = (key * run.side + col) * 3 + way
    key = (key * 2 + frames[laid, ARMED]) * 5 + frames[laid, MOOD]
    if run.live:
        return _key_live(run, mine, row, col, way, key)
    return _key_written(run, mine, row, col, way, key)


@kernel
def _key_live(run: Record, mine: Array, row: Int, col: Int, way: Int, key: Int) -> Int:
    """Own traps close the way (R16), but beyond the nearest ones on this row and the next nothing can be reached."""
    size = run.side
    left = right = above = 0
    for to in range(size):
        away = abs(to - col)
        if mine[row * size + to]:
            if to < col:
                left = away
            elif to > col and right == 0:
                right = away
        if row > 0 and mine[(row - 1) * size + to] and (above == 0 or away + 1 < above):
            above = away + 1
    if way == RIGHTWARD:  # what lies behind matters only to a trap on the next square (R10)
        left = 1 if left == 1 else 0
    if way == LEFTWARD:
        right = 1 if right == 1 else 0
    return ((key * size + left) * size + right) * (size + 1) + above


@kernel
def _key_written(run: Record, mine: Array, row: Int, col: Int, way: Int, key: Int) -> Int:
    """Own traps close squares to further traps (R10): those on three rows, except where the piece has passed."""
    size = run.side
    for to_row in range(max(0, row - 1), min(size, row + 2)):
        first = col - 1 if way == RIGHTWARD and to_row > row else 0
        last = col + 1 if way == LEFTWARD and to_row > row else size - 1
        for to_col in range(size):
            lies = mine[to_row * size + to_col] != 0 and first <= to_col <= last
            if run.exact:
                key = key * 2 + (1 if lies else 0)
            elif lies:
                key = np.int64(mix(np.uint64(key) + np.uint64(to_row * size + to_col)) >> np.uint64(1))
    return key


@kernel
def _slot(keys: Array, key: Int) -> Int:
    return np.int64(mix(np.uint64(key)) & np.uint64(len(keys) - 1))


@kernel
def _failed(keys: Array, marks: Array, mark: Int, key: Int, traps: Int) -> bool:
    """Whether this has failed before, with no more traps set (R14)."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if marks[slot, 0] != mark:
            return False
        if keys[slot] == key:
            return bool(marks[slot, 1] <= traps)
    return False


@kernel
def _remember(keys: Array, marks: Array, mark: Int, key: Int, traps: Int) -> None:
    """Note that this has failed; where there is no room, what was noted first makes some."""
    at = _slot(keys, key)
    for i in range(PROBES):
        slot = (at + i) & (len(keys) - 1)
        if marks[slot, 0] != mark or keys[slot] == key:
            at = slot
            break
    keys[at] = key
    marks[at, 0] = mark
    marks[at, 1] = traps
