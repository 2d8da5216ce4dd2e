"""Random legal boards, exactly uniform where they can be counted, and boards for other purposes.

A step is chosen with probability proportional to the number of boards that continue with it. Under
``live`` many boards are made at once, row by row, in compiled code, with exact counts where
rounding might matter. ``quick`` makes random boards of any size, which are not uniform; ``pool``
lists boards that are good candidates.
"""

import random
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces import rules
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, checked_size, format_board, is_live
from ludodrome.games.spaces.counting import (
    ENTRIES,
    WAYS,
    LiveRow,
    Series,
    WrittenRow,
    live_arrivals,
    live_fields,
    written_fields,
    written_rows,
)
from ludodrome.games.spaces.legality import all_boards, empty_states
from ludodrome.games.spaces.rules import longest
from ludodrome.jit import GOLDEN, Array, Int, entry, kernel, mix
from ludodrome.search.entry_points import make_kernels

_KERNELS = make_kernels(rules.RULES)

# ``live`` in compiled code: many boards at once along one row, with the counts of ``counting.py`` as floats
#
# Counts are only added, so each is right to within a few units in the last place per addition;
# ROUNDING_ERROR is far larger. A draw nearer to the border between two choices is decided by the
# exact counts (``choose_exactly``), so the result is exactly uniform.
#
# A piece walks to the right; a walk to the left is stored as its mirror image. The choices on a
# square, ENTRIES for the first square of a row and WAYS for the others, are those of
# ``counting.LiveRow``, in the same order.


ROUNDING_ERROR = 1e-11

COL, FIRST, LAST, TRAPS_LEFT, LENGTH, DISTANCE, BEHIND, MIRRORED, PHASE = range(9)
"""Columns of a sample: the piece, the open part of its row, the traps left, and the state of the walk."""
ENTERING, WALKING, RISEN = range(3)

_STEPS = {"up": UP, "left": LEFT, "right": RIGHT}
_TRAPS = {"": -1, "up": FIRST_TRAP + 1, "left": HERE - 1, "here": HERE, "right": HERE + 1}
TRAP_OF = np.array([[_TRAPS[trap] for trap, _ in ways] + [-1] * (12 - len(ways)) for ways in (ENTRIES, WAYS)])
"""The trap of each choice, by phase."""
STEP_OF = np.array([[_STEPS[step] for _, step in ways] + [-1] * (12 - len(ways)) for ways in (ENTRIES, WAYS)])
"""The piece step of each choice, by phase."""
MIRROR = np.arange(FIRST_TRAP + 9)
for _one, _other in ((LEFT, RIGHT), (HERE - 1, HERE + 1)):
    MIRROR[_one], MIRROR[_other] = _other, _one


@kernel
def _onward(walks: Array, top: bool, col: Int, last: Int, distance: Int, left: Int, weights: Array, at: Int) -> None:
    """A step to the right: after no trap, a trap on the own square, a trap above."""
    farther = distance + 1 if distance else 0
    weights[at] = walks[col + 1, last, farther, 0, left]
    if left > 0:
        weights[at + 1] = walks[col + 1, last, farther, 1, left - 1]
        weights[at + 2] = 0.0 if top else walks[col + 1, last, 1, 0, left - 1]


@kernel
def weigh_walk(
    above: Array, walks: Array, top: bool, col: Int, last: Int, distance: Int, behind: Int, left: Int, weights: Array
) -> None:
    """The weights of WAYS; see ``counting.LiveRow.ways``. ``left``: how many traps may still be set."""
    weights[:] = 0.0
    weights[0] = above[col, distance, left]
    fewer = above[col, distance, left - 1] if left > 0 else 0.0
    weights[1] = fewer
    weights[2] = 0.0 if behind else fewer
    if col < last:
        weights[3] = fewer
        _onward(walks, top, col, last, distance, left, weights, 4)
        if not behind and left > 0:
            weights[7] = walks[col + 1, last, distance + 1 if distance else 0, 0, left - 1]


@kernel
def weigh_entry(
    above: Array, walks: Array, top: bool, col: Int, first: Int, last: Int, left: Int, weights: Array
) -> None:
    """The weights of ENTRIES; see ``counting.LiveRow.entries``."""
    end = above.shape[0] - 1
    weights[:] = 0.0
    weights[0] = above[col, 0, left]
    fewer = above[col, 0, left - 1] if left > 0 else 0.0
    weights[1] = fewer
    if col < last:
        weights[2] = fewer
        _onward(walks, top, col, last, 0, left, weights, 3)
        if first < col and left > 0:
            weights[6] = walks[col + 1, last, 0, 0, left - 1]
    if first < col:
        weights[7] = fewer
        _onward(walks, top, end - col, end - first, 0, left, weights, 8)
        if col < last and left > 0:
            weights[11] = walks[end - col + 1, end - first, 0, 0, left - 1]


@entry
def fill_samples(size: Int, above: Array, top: bool, walks: Array, arrivals: Array) -> None:
    """The completions from one row, given those from the row above.

    above and arrivals: (columns, distances, traps left) float64; walks: (columns, last columns,
    distances, behind or not, traps left) float64. See ``counting.LiveRow``.
    """
    weights = np.zeros(len(ENTRIES))
    for last in range(size):
        for col in range(last, 0, -1):
            for distance in range(col + 1):
                for behind in range(2):
                    for left in range(size):
                        weigh_walk(above, walks, top, col, last, distance, behind, left, weights)
                        walks[col, last, distance, behind, left] = weights.sum()
    for col in range(size):
        for distance in range(col + 1):
            first = col - distance + 1 if distance else 0
            for left in range(size):
                weigh_entry(above, walks, top, col, first, size - 1, left, weights)
                arrivals[col, distance, left] = weights.sum()


@entry
def pick_sample(weights: Array, draw: Any, wrong: float) -> Int:
    """The choice for a draw from 0 to 1, or -1 if it is too near to the border between two."""
    total = weights.sum()
    border = 0.0
    for number in range(len(weights)):
        if weights[number] == 0.0:
            continue
        if border > 0.0 and draw * total - border < wrong * total:
            return -1
        border += weights[number]
        if draw * total < border - wrong * total:
            return number
    return -1


@entry
def take_sample(size: Int, sample: Array, actions: Array, choice: Int) -> None:
    """Take a choice: a trap or none, and a piece step."""
    phase = 0 if sample[PHASE] == ENTERING else 1
    trap, step = TRAP_OF[phase, choice], STEP_OF[phase, choice]
    if phase == 0:
        sample[MIRRORED] = 1 if step == LEFT else 0
        if step == LEFT:
            sample[COL] = size - 1 - sample[COL]
            sample[LAST] = size - 1 - sample[FIRST]
            trap = MIRROR[trap] if trap >= 0 else -1
            step = RIGHT
        sample[DISTANCE] = 0
    for what in (trap, step):
        if what >= 0:
            actions[sample[LENGTH]] = size + (MIRROR[what] if sample[MIRRORED] else what)
            sample[LENGTH] += 1
    if trap >= 0:
        sample[TRAPS_LEFT] -= 1
    if step == RIGHT:
        sample[PHASE] = WALKING
        sample[COL] += 1
        sample[DISTANCE] = 1 if trap == FIRST_TRAP + 1 else sample[DISTANCE] + 1 if sample[DISTANCE] else 0
        sample[BEHIND] = trap == HERE
        return
    sample[PHASE] = RISEN
    sample[FIRST], sample[LAST] = 0, size - 1
    if sample[DISTANCE]:  # R16: the trap blocks the side from which the piece came
        sample[FIRST] = sample[COL] - sample[DISTANCE] + 1
    if sample[MIRRORED]:
        sample[COL] = size - 1 - sample[COL]
        sample[FIRST], sample[LAST] = 0, size - 1 - sample[FIRST]


@entry
def advance_samples(
    size: Int,
    above: Array,
    walks: Array,
    top: bool,
    wrong: float,
    samples: Array,
    actions: Array,
    streams: Array,
    at: Int,
) -> Any:
    """Move samples from index ``at`` on along their row; return the first undecided one and its draw, or -1.

    samples: (samples, 9) int64; actions: (samples, longest) uint8; streams: (samples,) uint64.
    """
    weights = np.zeros(len(ENTRIES))
    for i in range(at, len(samples)):
        one = samples[i]
        while one[PHASE] != RISEN:
            if one[PHASE] == ENTERING:
                weigh_entry(above, walks, top, one[COL], one[FIRST], one[LAST], one[TRAPS_LEFT], weights)
            else:
                weigh_walk(above, walks, top, one[COL], one[LAST], one[DISTANCE], one[BEHIND], one[TRAPS_LEFT], weights)
            streams[i] = streams[i] + GOLDEN
            draw = mix(streams[i]) >> np.uint64(11)
            choice = pick_sample(weights, np.float64(draw) * 2.0**-53, wrong)
            if choice < 0:
                return i, draw
            take_sample(size, one, actions[i], choice)
    return -1, np.uint64(0)


UNIFORM = {"live": 40, "written": 4}
"""Up to these sizes boards are exactly uniform."""
BATCH = 10_000
MAX_SAMPLES = 100_000_000
_BITS = 53
"""Bits of a first draw."""


def sample(size: int, count: int, rules: str = "written", seed: int = 0, wrong: float = ROUNDING_ERROR) -> list[bytes]:
    """``count`` legal boards as actions, independent and uniform; ValueError beyond the sizes of ``UNIFORM``.

    ``wrong``: draws this close to a border are decided by exact counts; the boards are the same.

    >>> from ludodrome import spaces
    >>> [spaces.check(spaces.format_board(one, 3), 3, "live") for one in spaces.sample(3, 2, "live", seed=1)]
    [[], []]
    """
    checked_size(size)
    live = is_live(rules)
    validation.integer(count, 0, MAX_SAMPLES, "the number of boards", ValueError)
    rng = random.Random(validation.whole(seed, "the seed", ValueError))
    if size > UNIFORM[rules]:
        raise ValueError(
            f"under {rules!r} boards can be drawn uniformly up to size {UNIFORM[rules]}, not at size {size}; "
            f"`quick` makes random boards of any size, which are not equally likely"
        )
    boards: list[bytes] = []
    while len(boards) < count:
        batch = min(BATCH, count - len(boards))
        boards += _LiveBatch(size, batch, rng, wrong).boards() if live else _written_batch(size, batch, rng)
    return boards


def choose_exactly(weights: list[int], draw: int, rng: random.Random) -> int:
    """The choice for a draw from 0 to 1 of which 53 bits are known; more bits are drawn until it is certain."""
    borders = list(accumulate(weights))
    bits = _BITS
    while True:
        low = bisect(borders, draw * borders[-1] >> bits)
        if low == bisect(borders, (draw + 1) * borders[-1] - 1 >> bits):
            return low
        draw = draw << 64 | rng.getrandbits(64)
        bits += 64


def _choose(weights: list[int], rng: random.Random) -> int:
    """A random index, with these weights."""
    return bisect(list(accumulate(weights)), rng.randrange(sum(weights)))


# live


@cache
def _rounded(size: int) -> tuple[Array, ...]:
    """For each row from row 0 on, the completions of a piece that has just entered it, as floats."""
    rows = [np.ones((size, size + 1, size))]
    walks = np.zeros((size, size, size + 1, 2, size))
    for row in range(1, size):
        rows.append(np.zeros((size, size + 1, size)))
        fill_samples(size, rows[-2], row == 1, walks, rows[-1])
    return tuple(rows)


@cache
def _exact(size: int) -> list[list[list[Series]]]:
    """The same as exact series."""
    return live_arrivals(size, live_fields(size))


class _LiveBatch:
    """A batch of ``live`` boards."""

    def __init__(self, size: int, count: int, rng: random.Random, wrong: float) -> None:
        self.size, self.rng, self.wrong = size, rng, wrong
        self.fields = live_fields(size)
        self.samples = np.zeros((count, PHASE + 1), np.int64)
        self.actions = np.zeros((count, longest(size)), np.uint8)
        self.samples[:, COL] = self.actions[:, 0] = [self._start() for _ in range(count)]
        self.samples[:, LENGTH], self.samples[:, LAST], self.samples[:, TRAPS_LEFT] = 1, size - 1, size - 1
        self.streams = np.array([rng.getrandbits(64) for _ in range(count)], np.uint64)

    def boards(self) -> list[bytes]:
        """All boards, finished."""
        size, rounded = self.size, _rounded(self.size)
        walks = np.zeros((size, size, size + 1, 2, size))
        for row in range(size - 1, 0, -1):
            self.samples[:, PHASE] = ENTERING
            fill_samples(size, rounded[row - 1], row == 1, walks, np.empty_like(rounded[row]))
            self._cross(row, rounded[row - 1], walks)
        laid = zip(self.actions, self.samples[:, LENGTH].tolist(), strict=True)
        return [actions[:length].tobytes() + bytes([size + FINISH]) for actions, length in laid]

    def _start(self) -> int:
        most = self.size - 1
        draw = self.rng.getrandbits(_BITS)
        col: int = pick_sample(_rounded(self.size)[most][:, 0, most].copy(), draw * 2.0**-_BITS, self.wrong)
        if col >= 0:
            return col
        exact = [self.fields.coefficient(ways[0], self.fields.trap * most) for ways in _exact(self.size)[most]]
        return choose_exactly(exact, draw, self.rng)

    def _cross(self, row: int, above: Array, walks: Array) -> None:
        """Take all along their row."""
        exact: LiveRow | None = None
        at = 0
        while at >= 0:
            at, draw = advance_samples(
                self.size, above, walks, row == 1, self.wrong, self.samples, self.actions, self.streams, at
            )
            if at >= 0:
                exact = exact or LiveRow(self.size, self.fields, _exact(self.size)[row - 1], top=row == 1)
                choice = choose_exactly(self._weights(self.samples[at].tolist(), exact), int(draw), self.rng)
                take_sample(self.size, self.samples[at], self.actions[at], choice)

    def _weights(self, one: list[int], exact: LiveRow) -> list[int]:
        if one[PHASE] == WALKING:
            ways = exact.ways(one[COL], one[LAST], one[DISTANCE], bool(one[BEHIND]))
        else:
            ways = exact.entries(one[COL], one[FIRST], one[LAST])
        return [self.fields.coefficient(series, self.fields.trap * one[TRAPS_LEFT]) for series in ways]


# written


def _written_batch(size: int, count: int, rng: random.Random) -> list[bytes]:
    rows = written_rows(size, written_fields(size))
    starts = [rows[-1].free[col, "up"][0] for col in range(size)]
    boards = []
    for _ in range(count):
        col = _choose(starts, rng)
        one = _WrittenSample(col, 0, [col])
        for row in reversed(rows):
            _climb(one, row, rng)
        boards.append(bytes([*one.actions, size + FINISH]))
    return boards


@dataclass(slots=True)
class _WrittenSample:
    """An unfinished board: the column of its piece, the set of traps that matter, and its actions."""

    col: int
    traps: int
    actions: list[int]


def _climb(one: _WrittenSample, row: WrittenRow, rng: random.Random) -> None:
    """Take a board along its row, trap by trap and step by step, and up to the next."""
    size, way = row.size, "up"
    while True:
        free = row.free[one.col, way]
        moves = [ways[one.traps] for ways in row.moves[one.col, way]]
        under = row.here(one.col)
        supermove = 0 if one.traps & under else sum(ways[one.traps | under] for ways in row.moves[one.col, way])
        around = [(place, bit) for place, bit in row.around(one.col) if not one.traps & bit]
        chosen = _choose([*moves, supermove, *(free[one.traps | bit] for _, bit in around)], rng)
        if chosen > len(moves):
            place, bit = around[chosen - len(moves) - 1]
            one.actions.append(size + FIRST_TRAP + place)
            one.traps |= bit
            continue
        if chosen == len(moves):
            one.actions.append(size + HERE)
            one.traps |= under
            chosen = _choose([ways[one.traps] for ways in row.moves[one.col, way]], rng)
        one.actions.append(size + (UP, LEFT, RIGHT)[chosen])
        if chosen == 0:
            one.traps = one.traps << size & row.sets - 1
            return
        way = ("left", "right")[chosen - 1]
        one.col += -1 if way == "left" else 1


# Boards that are not equally likely


_ALL_LISTED = 3
"""Up to this size the pool is all boards of ``live``."""
_COLUMNS, _HEIGHTS = 6, 4
"""At most this many start columns, and this many rows with a detour or a trap."""
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


def quick(size: int, rules: str = "written", seed: int = 0) -> dict[str, Any]:
    """A random legal board: every step is drawn uniformly from the legal ones."""
    checked_size(size)
    live = is_live(rules)
    rng = random.Random(validation.whole(seed, "the seed", ValueError))
    return format_board(_random_board(size, live, rng), size)


def _random_board(size: int, live: bool, rng: random.Random) -> bytes:
    states = empty_states(size, live)
    buffer = np.empty(rules.max_legal(size), np.int16)
    actions: list[int] = []
    while not actions or actions[-1] != size + FINISH:
        actions.append(int(buffer[rng.randrange(_KERNELS.legal(states, buffer))]))
        _KERNELS.play(states, actions[-1])
    return bytes(actions)


def _run(size: int, col: int, height: int = 0, variant: tuple[int, ...] = ()) -> bytes:
    """A straight run, with ``variant`` inserted after ``height`` steps up."""
    ups = [UP] * (size - 1)
    return bytes([col, *(size + what for what in (*ups[:height], *variant, *ups[height:], FINISH))])


def pool(size: int) -> tuple[bytes, ...]:
    """Candidate boards, legal under both rule sets: straight runs with one detour, one trap, or both."""
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
