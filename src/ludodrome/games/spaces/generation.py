"""All legal boards in the documented order (RULES.md, "Order of legal moves").

Boards come in chunks, so memory does not grow with their number, and can start after any board. A ``BoardFilter``
restricts them, and the walk leaves a branch as soon as no board in it can match.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import (
    FINISH,
    FIRST_TRAP,
    HERE,
    LEFT,
    RIGHT,
    SIGNS,
    UP,
    checked_size,
    is_live,
    parse_code,
    steps_of,
)
from ludodrome.games.spaces.counting import KINDS, MAX_QUICK_COUNT, count_boards, count_by
from ludodrome.games.spaces.legality import iter_faults, refusal
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE
from ludodrome.games.spaces.rules import longest
from ludodrome.jit import Array, Int, entry, kernel
from ludodrome.validation import show

# Filters: a range of each property of a board


PROPERTIES = ("start", "goal", "traps", "supermoves", "sideways", "length")
"""Start column, goal column, traps, traps on the own square, steps to the side, steps in all."""
START, GOAL, TRAPS_SET, SUPERMOVES, SIDEWAYS, LENGTH = range(6)
ANY = 1 << 30
"""An upper end that no board reaches."""
_CONDITION = re.compile(rf"\s*({'|'.join(PROPERTIES)})\s*(<=|>=|==?|<|>)\s*(\d{{1,5}})\s*", re.ASCII)


_COUNTED = {"live": 20, "written": 5}
"""Up to these sizes the number of all boards is counted in a second or two."""


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """The lowest and the highest value of each of PROPERTIES."""

    ranges: tuple[tuple[int, int], ...] = ((0, ANY),) * len(PROPERTIES)

    @property
    def restricted(self) -> list[int]:
        """The properties that are not free."""
        return [number for number, ends in enumerate(self.ranges) if ends != (0, ANY)]

    def __str__(self) -> str:
        words = []
        for number in self.restricted:
            low, high = self.ranges[number]
            name = PROPERTIES[number]
            words += [f"{name}={low}"] if low == high else []
            words += [f"{name}>={low}"] if low and low != high else []
            words += [f"{name}<={high}"] if high != ANY and low != high else []
        return ",".join(words)

    def count(self, size: int, rules: str) -> tuple[int | None, bool]:
        """The number of boards that match, and whether it is exact; else it is a bound, or None if none is known."""
        if size > _COUNTED[rules]:
            return None, False
        bounds = [count_boards(size, rules)]
        for number in self.restricted:
            kind = PROPERTIES[number]
            if kind in KINDS and (kind == "start" or size <= MAX_QUICK_COUNT[rules]):
                low, high = self.ranges[number]
                bounds.append(sum(n for value, n in count_by(size, rules, kind).items() if low <= value <= high))
        exact = len(bounds) - 1 == len(self.restricted) < 2 or min(bounds) == 0
        return min(bounds), exact


EVERYTHING = BoardFilter()


def parse_filter(conditions: Iterable[str]) -> BoardFilter:
    """The filter of conditions like ``traps<=2``, several separated by commas; ValueError says what is wrong."""
    ranges = list(EVERYTHING.ranges)
    for text in (part for condition in conditions for part in condition.split(",")):
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise ValueError(
                f"a condition is a property ({', '.join(PROPERTIES)}), one of = < <= > >=, and a whole number, "
                f"like traps<=2, not {show(text)}"
            )
        number, value = PROPERTIES.index(match[1]), int(match[3])
        low, high = ranges[number]
        if match[2] in ("<", "<="):
            high = min(high, value - (match[2] == "<"))
        elif match[2] in (">", ">="):
            low = max(low, value + (match[2] == ">"))
        else:
            low, high = max(low, value), min(high, value)
        if low > high:
            raise ValueError(f"no number is what the conditions ask of {match[1]}")
        ranges[number] = (low, high)
    return BoardFilter(tuple(ranges))


# The walk in compiled code: depth first with its own stack (R17)
#
# It can pause after any board and continue from any board.


ROW, COL, ENTERED, TRAPS, TRIED, ASIDE, SUPER = range(7)
"""Columns of a frame: the state after some steps, the continuation to try next, and what only filters need."""


@kernel
def may_go(size: Int, live: bool, frame: Array, traps: Array, what: Int) -> bool:
    """R4, R8, R16: a piece step left or right, or (R12) up from below row 0. frame: (7,) int64; traps: (squares,)."""
    row, col, entered = frame[ROW], frame[COL], frame[ENTERED]
    if what == UP:
        return not (live and traps[(row - 1) * size + col])
    to = col - 1 if what == LEFT else col + 1
    if to < 0 or to >= size or ((col > entered) if what == LEFT else (col < entered)):
        return False
    return not (live and traps[row * size + to])


@kernel
def no_more_traps(size: Int, live: bool, frame: Array, last: Int) -> bool:
    """R11, R14, R15: whether no trap may be set now, after a step that did ``last``."""
    return bool(last == HERE or (live and (last >= FIRST_TRAP or frame[TRAPS] == size - 1)))


@kernel
def may_set(size: Int, live: bool, frame: Array, traps: Array, place: Int) -> bool:
    """R5, R10, R13, R17: a trap in this place, from below row 0, where traps may be set at all."""
    if live and not LIVE_PLACES[place]:
        return False
    row = frame[ROW] + ROW_OF_PLACE[place]
    col = frame[COL] + COL_OF_PLACE[place]
    if row < 0 or row >= size or col < 0 or col >= size or traps[row * size + col]:
        return False
    if live and row == 0:
        return False
    if live and row < frame[ROW]:
        return may_go(size, live, frame, traps, LEFT) or may_go(size, live, frame, traps, RIGHT)
    return True


@kernel
def lay(size: Int, frames: Array, traps: Array, depth: Int, what: Int) -> None:
    """Write the frame after a legal step other than the start and the finish."""
    for field in range(TRIED):
        frames[depth + 1, field] = frames[depth, field]
    frames[depth + 1, TRIED] = 0
    if what == UP:
        frames[depth + 1, ROW] -= 1
        frames[depth + 1, ENTERED] = frames[depth, COL]
    elif what == LEFT:
        frames[depth + 1, COL] -= 1
    elif what == RIGHT:
        frames[depth + 1, COL] += 1
    else:
        frames[depth + 1, TRAPS] += 1
        traps[trap_square(size, frames[depth], what)] = 1


@kernel
def trap_square(size: Int, frame: Array, what: Int) -> Int:
    """The square of a trap set from this frame."""
    place = what - FIRST_TRAP
    return (frame[ROW] + ROW_OF_PLACE[place]) * size + frame[COL] + COL_OF_PLACE[place]


@kernel
def start(size: Int, frames: Array, col: Int) -> None:
    """Write the frame after the start."""
    frames[1, ROW], frames[1, COL], frames[1, ENTERED] = size - 1, col, col
    frames[1, TRAPS] = frames[1, TRIED] = frames[1, ASIDE] = frames[1, SUPER] = 0


@kernel
def tally(frames: Array, depth: Int, what: Int) -> None:
    """Write what filters need into the frame after a step."""
    frames[depth + 1, ASIDE] = frames[depth, ASIDE] + (1 if what in (LEFT, RIGHT) else 0)
    frames[depth + 1, SUPER] = frames[depth, SUPER] + (1 if what == HERE else 0)


@kernel
def may_match(size: Int, live: bool, frame: Array, traps: Array, laid: Int, limits: Array) -> bool:
    """Whether a board that begins this way may match; on row 0 the answer is exact.

    ``laid``: the steps so far; limits: (6, 2) int64, as in ``BoardFilter.ranges``.
    """
    row = frame[ROW]
    if row == 0 and (frame[COL] < limits[GOAL, 0] or frame[COL] > limits[GOAL, 1]):
        return False
    more_aside = row * (size - 1) - abs(frame[COL] - frame[ENTERED]) if row else 0
    more_traps = size - 1 - frame[TRAPS] if live and row else 0
    if not live and row:  # every free square that is still in reach, or will be
        for square in range(min(row + 2, size) * size):
            more_traps += 1 - traps[square]
    least = laid + row + 1
    return bool(
        frame[TRAPS] <= limits[TRAPS_SET, 1]
        and frame[TRAPS] + more_traps >= limits[TRAPS_SET, 0]
        and frame[SUPER] <= limits[SUPERMOVES, 1]
        and frame[SUPER] + more_traps >= limits[SUPERMOVES, 0]
        and frame[ASIDE] <= limits[SIDEWAYS, 1]
        and frame[ASIDE] + more_aside >= limits[SIDEWAYS, 0]
        and least <= limits[LENGTH, 1]
        and least + more_traps + more_aside >= limits[LENGTH, 0]
    )


@kernel
def undo(size: Int, frames: Array, laid: Array, traps: Array, depth: Int) -> None:
    """Take back the step that was laid at this depth."""
    done = np.int64(laid[depth]) - size
    if FIRST_TRAP <= done < FINISH:
        traps[trap_square(size, frames[depth], done)] = 0


@entry
def advance_walk(
    size: Int,
    live: bool,
    filtered: bool,
    limits: Array,
    frames: Array,
    laid: Array,
    traps: Array,
    depth: Int,
    actions: Array,
    ends: Array,
) -> Any:
    """Make boards until the buffers are full; return the depth to continue from (-1 at the end) and the count.

    frames: (longest + 1, 7) int64, laid: (longest,) uint8 and traps: (squares,) uint8 are the walk's
    state; actions: (many,) uint8 and ends: (boards,) int64 are filled. limits: see ``may_match``.
    """
    count = filled = 0
    while depth >= 0 and count < len(ends):
        what = frames[depth, TRIED]
        frames[depth, TRIED] = what + 1
        if depth == 0:
            if what == size:
                depth = -1
            elif not filtered or limits[START, 0] <= what <= limits[START, 1]:
                laid[0] = what
                start(size, frames, what)
                depth = 1
            continue
        if frames[depth, ROW] == 0:  # R12, R6
            if what == 0:
                laid[depth] = size + FINISH
                for k in range(depth + 1):
                    actions[filled + k] = laid[k]
                filled += depth + 1
                ends[count] = filled
                count += 1
            depth -= 1
            undo(size, frames, laid, traps, depth)
            continue
        if what < FIRST_TRAP:
            fine = may_go(size, live, frames[depth], traps, what)
        else:
            last = np.int64(laid[depth - 1]) - size
            if what == FINISH or no_more_traps(size, live, frames[depth], last):
                depth -= 1
                undo(size, frames, laid, traps, depth)
                continue
            fine = may_set(size, live, frames[depth], traps, what - FIRST_TRAP)
        if fine:
            laid[depth] = size + what
            lay(size, frames, traps, depth, what)
            if filtered:
                tally(frames, depth, what)
                if not may_match(size, live, frames[depth + 1], traps, depth + 1, limits):
                    undo(size, frames, laid, traps, depth)
                    continue
            depth += 1
    return depth, count


@entry
def write_codes(actions: Array, ends: Array, head: Array, signs: Array, size: Int, text: Array) -> Int:
    """Write the codes of boards as bytes, one per line; return the length. head: ``5:``; signs: SIGNS as bytes."""
    at = begin = 0
    for i in range(len(ends)):
        for k in range(len(head)):
            text[at] = head[k]
            at += 1
        col = actions[begin]
        if col >= 10:
            text[at] = 48 + col // 10
            at += 1
        text[at] = 48 + col % 10
        text[at + 1] = 58  # a colon
        at += 2
        for k in range(begin + 1, ends[i]):
            text[at] = signs[actions[k] - size]
            at += 1
        text[at] = 10
        at += 1
        begin = ends[i]
    return at


@entry
def follow_walk(size: Int, frames: Array, laid: Array, traps: Array, actions: Array) -> None:
    """Set the state of the walk as if it had just made this legal board."""
    frames[0, TRIED] = actions[0] + 1
    start(size, frames, np.int64(actions[0]))
    laid[0] = actions[0]
    for k in range(1, len(actions) - 1):
        what = np.int64(actions[k]) - size
        frames[k, TRIED] = what + 1
        laid[k] = actions[k]
        lay(size, frames, traps, k, what)
        tally(frames, k, what)
    frames[len(actions) - 1, TRIED] = 1


CHUNK = 1 << 14
"""Boards per chunk."""


class BoardChunk(NamedTuple):
    """Some boards in order."""

    actions: Array
    """(steps,) uint8: the actions of one board after another."""
    ends: Array
    """(boards,) int64: where each board ends."""

    def boards(self) -> list[bytes]:
        """The actions of each board."""
        data, begins = self.actions.tobytes(), [0, *self.ends.tolist()]
        return [data[begin:end] for begin, end in pairwise(begins)]


class BoardWalk:
    """All legal boards of a size and rule set, chunk by chunk, optionally starting after a given board.

    ``where``: only those that match.
    """

    def __init__(
        self,
        size: int,
        rules: str = "written",
        after: str | None = None,
        chunk: int = CHUNK,
        where: BoardFilter = EVERYTHING,
    ) -> None:
        self.size, self.live = checked_size(size), is_live(rules)
        self._filtered, self._limits = where != EVERYTHING, np.array(where.ranges, np.int64)
        most = longest(size)
        self._frames = np.zeros((most + 1, SUPER + 1), np.int64)
        self._laid = np.zeros(most, np.uint8)
        self._traps = np.zeros(size * size, np.uint8)
        self._depth = 0
        self._most = most
        self._ends = np.empty(chunk, np.int64)
        self._actions = np.empty(chunk * most, np.uint8)
        if after is not None:
            self._go_to(after)

    def _go_to(self, code: str) -> None:
        """Continue after this board; IllegalMove if it is not legal."""
        size, actions = parse_code(code)
        if size != self.size:
            raise IllegalMove(f"the board to continue from has size {size}, and the boards here have size {self.size}")
        wrong = refusal(iter_faults(steps_of(actions, size), size, self.live))
        if wrong:
            raise IllegalMove(f"the board to continue from is not legal: {wrong}")
        follow_walk(size, self._frames, self._laid, self._traps, np.frombuffer(actions, np.uint8))
        self._depth = len(actions) - 1

    def next(self, most: int | None = None) -> BoardChunk:
        """The next boards, at most ``most``; empty at the end. Valid until the next call."""
        ends = self._ends if most is None else self._ends[:most]
        self._depth, count = advance_walk(
            self.size,
            self.live,
            self._filtered,
            self._limits,
            self._frames,
            self._laid,
            self._traps,
            self._depth,
            self._actions,
            ends,
        )
        used = int(ends[count - 1]) if count else 0
        return BoardChunk(self._actions[:used], ends[:count])

    def codes(self, chunk: BoardChunk) -> bytes:
        """The codes of boards, one per line."""
        head = np.frombuffer(f"{self.size}:".encode(), np.uint8)
        signs = np.frombuffer(SIGNS.encode(), np.uint8)
        text = np.empty(len(chunk.actions) + len(chunk.ends) * (len(head) + 4), np.uint8)
        count = write_codes(chunk.actions, chunk.ends, head, signs, self.size, text)
        return text[:count].tobytes()


def generate(
    size: int, rules: str = "written", after: str | None = None, limit: int | None = None, where: str = ""
) -> Iterator[bytes]:
    """All legal boards as actions, in order; optionally after a board's code, and at most ``limit``.

    ``where``: conditions like ``"traps<=2, length<9"``; ValueError says what is wrong with them.

    >>> from ludodrome import spaces
    >>> found = spaces.generate(3, "live", limit=2, where="traps=0")
    >>> [spaces.encode_board(spaces.format_board(one, 3)) for one in found]
    ['3:0:uuf', '3:0:uruf']
    """
    walk = BoardWalk(size, rules, after, CHUNK, parse_filter([where] if where else []))
    left = limit
    while chunk := walk.next(left).boards():
        yield from chunk
        left = None if left is None else left - len(chunk)
