"""Random legal boards, each exactly as likely as any other, by walking along the counts of ``completions.py``.

A step is chosen with the number of boards that go on with it. Under ``live`` many boards are made
at once, row by row, in compiled code (``sample_rows.py``); it asks here when rounding might
matter, and is told by the exact counts. Where there are no counts, ``sensible.quick`` makes boards
by chance that are not equally likely.
"""

import random
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, checked_size, is_live
from ludodrome.games.spaces.completions import (
    LiveRow,
    Series,
    WrittenRow,
    live_arrivals,
    live_fields,
    written_fields,
    written_rows,
)
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sample_rows import (
    BEHIND,
    COL,
    DISTANCE,
    ENTERING,
    FIRST,
    LAST,
    LEFT_OVER,
    LENGTH,
    PHASE,
    RUNS_WRONG,
    WALKING,
)
from ludodrome.jit import Array

UNIFORM = {"live": 40, "written": 4}
"""Up to these sizes boards are made exactly uniformly."""
BATCH = 10_000
MOST = 100_000_000
_BITS = 53
"""Of a lot, to begin with."""


def sample(size: int, count: int, rules: str = "written", seed: int = 0, wrong: float = RUNS_WRONG) -> list[bytes]:
    """So many legal boards as actions, independent and uniform; ValueError beyond the sizes of ``UNIFORM``.

    ``wrong``: lots that come as near as this to a border are decided by the exact counts; the boards are the same.
    """
    checked_size(size)
    live = is_live(rules)
    validation.integer(count, 0, MOST, "the number of boards", ValueError)
    chance = random.Random(validation.whole(seed, "the seed", ValueError))
    if size > UNIFORM[rules]:
        raise ValueError(
            f"under {rules!r} boards can be drawn uniformly up to size {UNIFORM[rules]}, not at size {size}; "
            f"`quick` makes boards by chance at any size, which are not equally likely"
        )
    boards: list[bytes] = []
    while len(boards) < count:
        batch = min(BATCH, count - len(boards))
        boards += _Batch(size, batch, chance, wrong).boards() if live else _written_batch(size, batch, chance)
    return boards


def settle(weights: list[int], lot: int, chance: random.Random) -> int:
    """The choice of a lot from 0 to 1 of which 53 bits are known: further bits are drawn until it is certain."""
    borders = list(accumulate(weights))
    bits = _BITS
    while True:
        low = bisect(borders, lot * borders[-1] >> bits)
        if low == bisect(borders, (lot + 1) * borders[-1] - 1 >> bits):
            return low
        lot = lot << 64 | chance.getrandbits(64)
        bits += 64


def _choose(weights: list[int], chance: random.Random) -> int:
    """A number by lot, each with its weight."""
    return bisect(list(accumulate(weights)), chance.randrange(sum(weights)))


# live


@cache
def _rounded(size: int) -> tuple[Array, ...]:
    """For each row from row 0 on, the completions of a piece that has just come there, in floats."""
    rows = [np.ones((size, size + 1, size))]
    walks = np.zeros((size, size, size + 1, 2, size))
    for row in range(1, size):
        rows.append(np.zeros((size, size + 1, size)))
        kernels.fill_samples(size, rows[-2], row == 1, walks, rows[-1])
    return tuple(rows)


@cache
def _exact(size: int) -> list[list[list[Series]]]:
    """The same exactly."""
    return live_arrivals(size, live_fields(size))


class _Batch:
    """Boards of ``live`` in the making."""

    def __init__(self, size: int, count: int, chance: random.Random, wrong: float) -> None:
        self.size, self.chance, self.wrong = size, chance, wrong
        self.fields = live_fields(size)
        self.samples = np.zeros((count, PHASE + 1), np.int64)
        self.actions = np.zeros((count, longest(size)), np.uint8)
        self.samples[:, COL] = self.actions[:, 0] = [self._start() for _ in range(count)]
        self.samples[:, LENGTH], self.samples[:, LAST], self.samples[:, LEFT_OVER] = 1, size - 1, size - 1
        self.streams = np.array([chance.getrandbits(64) for _ in range(count)], np.uint64)

    def boards(self) -> list[bytes]:
        """All of them, finished."""
        size, rounded = self.size, _rounded(self.size)
        walks = np.zeros((size, size, size + 1, 2, size))
        for row in range(size - 1, 0, -1):
            self.samples[:, PHASE] = ENTERING
            kernels.fill_samples(size, rounded[row - 1], row == 1, walks, np.empty_like(rounded[row]))
            self._cross(row, rounded[row - 1], walks)
        laid = zip(self.actions, self.samples[:, LENGTH].tolist(), strict=True)
        return [actions[:length].tobytes() + bytes([size + FINISH]) for actions, length in laid]

    def _start(self) -> int:
        most = self.size - 1
        lot = self.chance.getrandbits(_BITS)
        col: int = kernels.pick_sample(_rounded(self.size)[most][:, 0, most].copy(), lot * 2.0**-_BITS, self.wrong)
        if col >= 0:
            return col
        exact = [self.fields.coefficient(ways[0], self.fields.trap * most) for ways in _exact(self.size)[most]]
        return settle(exact, lot, self.chance)

    def _cross(self, row: int, above: Array, walks: Array) -> None:
        """Take all along their row."""
        exact: LiveRow | None = None
        at = 0
        while at >= 0:
            at, lot = kernels.cross_samples(
                self.size, above, walks, row == 1, self.wrong, self.samples, self.actions, self.streams, at
            )
            if at >= 0:
                exact = exact or LiveRow(self.size, self.fields, _exact(self.size)[row - 1], top=row == 1)
                choice = settle(self._weights(self.samples[at].tolist(), exact), int(lot), self.chance)
                kernels.take_sample(self.size, self.samples[at], self.actions[at], choice)

    def _weights(self, one: list[int], exact: LiveRow) -> list[int]:
        if one[PHASE] == WALKING:
            ways = exact.ways(one[COL], one[LAST], one[DISTANCE], bool(one[BEHIND]))
        else:
            ways = exact.entries(one[COL], one[FIRST], one[LAST])
        return [self.fields.coefficient(series, self.fields.trap * one[LEFT_OVER]) for series in ways]


# written


def _written_batch(size: int, count: int, chance: random.Random) -> list[bytes]:
    rows = written_rows(size, written_fields(size))
    starts = [rows[-1].free[col, "up"][0] for col in range(size)]
    boards = []
    for _ in range(count):
        col = _choose(starts, chance)
        one = _Climber(col, 0, [col])
        for row in reversed(rows):
            _climb(one, row, chance)
        boards.append(bytes([*one.actions, size + FINISH]))
    return boards


@dataclass(slots=True)
class _Climber:
    """A board in the making: where its piece is, the set of traps that matter, and its actions."""

    col: int
    traps: int
    actions: list[int]


def _climb(one: _Climber, row: WrittenRow, chance: random.Random) -> None:
    """Take a board along its row, trap by trap and step by step, and up to the next."""
    size, way = row.size, "up"
    while True:
        free = row.free[one.col, way]
        moves = [ways[one.traps] for ways in row.moves[one.col, way]]
        under = row.here(one.col)
        supermove = 0 if one.traps & under else sum(ways[one.traps | under] for ways in row.moves[one.col, way])
        around = [(place, bit) for place, bit in row.around(one.col) if not one.traps & bit]
        chosen = _choose([*moves, supermove, *(free[one.traps | bit] for _, bit in around)], chance)
        if chosen > len(moves):
            place, bit = around[chosen - len(moves) - 1]
            one.actions.append(size + FIRST_TRAP + place)
            one.traps |= bit
            continue
        if chosen == len(moves):
            one.actions.append(size + HERE)
            one.traps |= under
            chosen = _choose([ways[one.traps] for ways in row.moves[one.col, way]], chance)
        one.actions.append(size + (UP, LEFT, RIGHT)[chosen])
        if chosen == 0:
            one.traps = one.traps << size & row.sets - 1
            return
        way = ("left", "right")[chosen - 1]
        one.col += -1 if way == "left" else 1
