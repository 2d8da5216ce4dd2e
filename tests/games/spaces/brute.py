"""Every legal board against a few others, one after another: the slow and sure way to a best response.

The boards are made here from RULES.md alone; only how a round is scored is the package's, which has its own tests.
"""

from typing import Any

import numpy as np

from ludodrome import spaces
from ludodrome.games.spaces.rounds import pack, play_packed
from ludodrome.jit import Array, kernel

UP, LEFT, RIGHT, FIRST_TRAP, FINISH = 0, 1, 2, 3, 12


def best_by_force(boards: list[Any] | spaces.Packed, size: int, rules: str) -> tuple[int, list[int], list[int]]:
    """How many legal boards there are, and the best margin and the most own points against each of those given."""
    packed = boards if isinstance(boards, spaces.Packed) else spaces.Packed(boards, size, rules)
    best = np.full((len(boards), 2), -1000)
    count = _walk(size, rules == "live", *packed.arrays(rotated=True), packed.ends, best)
    return count, best[:, 0].tolist(), best[:, 1].tolist()


@kernel
def _may(size: int, live: bool, at: Array, traps: Array, last: Any, what: Any) -> bool:
    """R17, for a piece on row at[0], column at[1], which came to its row in column at[2] and has set at[3] traps."""
    row, col, entered = at[0], at[1], at[2]
    if row == 0 or what == FINISH:
        return bool(row == 0 and what == FINISH)
    if what == UP:
        return not (live and traps[row - 1, col])
    if what in (LEFT, RIGHT):
        to = col - 1 if what == LEFT else col + 1
        back = (what == LEFT and col > entered) or (what == RIGHT and col < entered)
        return not back and 0 <= to < size and not (live and traps[row, to])
    place = what - FIRST_TRAP
    down, right = place // 3 - 1, place % 3 - 1
    if not 0 <= row + down < size or not 0 <= col + right < size or traps[row + down, col + right]:
        return False
    if not live:
        return bool(last != FIRST_TRAP + 4)
    if last >= FIRST_TRAP or at[3] == size - 1 or row + down == 0 or down == 1 or (down == -1 and right != 0):
        return False
    if down == 0:
        return True
    way_out = 0
    for to, back in ((col - 1, col > entered), (col + 1, col < entered)):
        if 0 <= to < size and not back and not traps[row, to]:
            way_out += 1
    return way_out > 0


@kernel
def _walk(size: int, live: bool, cells: Array, score: Array, since: Array, ends: Array, best: Array) -> int:
    most = 2 * size * size + 2
    frames = np.zeros((most, 4), np.int64)
    tried = np.zeros(most, np.int64)
    actions = np.zeros(most, np.uint8)
    traps = np.zeros((size, size), np.uint8)
    own_cells = np.zeros(most, np.uint16)
    own_score = np.zeros(most, np.uint16)
    own_since = np.zeros(size * size, np.uint16)
    count = depth = 0
    while depth >= 0:
        what = tried[depth]
        tried[depth] += 1
        if what == (size if depth == 0 else FINISH + 1):
            depth -= 1
            done = np.int64(actions[depth]) - size
            if depth > 0 and FIRST_TRAP <= done < FINISH:
                place = done - FIRST_TRAP
                traps[frames[depth, 0] + place // 3 - 1, frames[depth, 1] + place % 3 - 1] = 0
            continue
        if depth == 0:
            actions[0] = what
            frames[1, 0], frames[1, 1], frames[1, 2], frames[1, 3] = size - 1, what, what, 0
        else:
            if not _may(size, live, frames[depth], traps, np.int64(actions[depth - 1]) - size, what):
                continue
            actions[depth] = size + what
            for field in range(4):
                frames[depth + 1, field] = frames[depth, field]
            if what == FINISH:
                count += 1
                length = depth + 1
                pack(actions[:length], size, live, False, own_cells[:length], own_score[:length], own_since)
                begin = 0
                for j in range(len(ends)):
                    own, other, _, _, _, _ = play_packed(
                        own_cells[:length],
                        own_score[:length],
                        own_since,
                        cells[begin : ends[j]],
                        score[begin : ends[j]],
                        since[j],
                        live,
                    )
                    best[j, 0] = max(best[j, 0], own - other)
                    best[j, 1] = max(best[j, 1], own)
                    begin = ends[j]
                continue
            if what == UP:
                frames[depth + 1, 0] -= 1
                frames[depth + 1, 2] = frames[depth, 1]
            elif what in (LEFT, RIGHT):
                frames[depth + 1, 1] += -1 if what == LEFT else 1
            else:
                place = what - FIRST_TRAP
                traps[frames[depth, 0] + place // 3 - 1, frames[depth, 1] + place % 3 - 1] = 1
                frames[depth + 1, 3] += 1
        depth += 1
        tried[depth] = 0
    return count
