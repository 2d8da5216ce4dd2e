"""Boards by lot for machines (``live``): many at once along one row, with the counts of ``completions.py`` in floats.

Counts are only ever added up, so each is right to within a few units of its last place for every
addition on the way: RUNS_WRONG is far more than that. A lot that falls nearer to the border of
two choices is not decided here, but by the exact counts (``sample.py``): what comes out is exactly
uniform.

A piece walks to the right; a walk to the left is kept in its mirror image. The choices of a piece
that has come to a square, ENTRIES for the first on its row and WAYS for the others, are those of
``completions.LiveRow``, in its order.
"""

from typing import Any

import numpy as np

from ludodrome.games.spaces.boards import FIRST_TRAP, HERE, LEFT, RIGHT, UP
from ludodrome.games.spaces.completions import ENTRIES, WAYS
from ludodrome.jit import GOLDEN, Array, Int, kernel, mix

RUNS_WRONG = 1e-11

COL, FIRST, LAST, LEFT_OVER, LENGTH, DISTANCE, BEHIND, MIRRORED, PHASE = range(9)
"""The columns of a sample: where its piece is, what of the row is open, the traps left, and how the walk stands."""
ENTERING, WALKING, RISEN = range(3)

_STEPS = {"up": UP, "left": LEFT, "right": RIGHT}
_TRAPS = {"": -1, "up": FIRST_TRAP + 1, "left": HERE - 1, "here": HERE, "right": HERE + 1}
TRAP_OF = np.array([[_TRAPS[trap] for trap, _ in ways] + [-1] * (12 - len(ways)) for ways in (ENTRIES, WAYS)])
STEP_OF = np.array([[_STEPS[step] for _, step in ways] + [-1] * (12 - len(ways)) for ways in (ENTRIES, WAYS)])
"""What each choice does, by phase."""
MIRROR = np.arange(FIRST_TRAP + 9)
for _one, _other in ((LEFT, RIGHT), (HERE - 1, HERE + 1)):
    MIRROR[_one], MIRROR[_other] = _other, _one


@kernel
def _onward(walks: Array, top: bool, col: Int, last: Int, distance: Int, left: Int, weights: Array, at: Int) -> None:
    """A step to the right: with no trap before it, one underfoot, one up."""
    farther = distance + 1 if distance else 0
    weights[at] = walks[col + 1, last, farther, 0, left]
    if left > 0:
        weights[at + 1] = walks[col + 1, last, farther, 1, left - 1]
        weights[at + 2] = 0.0 if top else walks[col + 1, last, 1, 0, left - 1]


@kernel
def weigh_walk(
    above: Array, walks: Array, top: bool, col: Int, last: Int, distance: Int, behind: Int, left: Int, weights: Array
) -> None:
    """The weights of WAYS; see ``completions.LiveRow.ways``. ``left``: how many traps may still be set."""
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
    """The weights of ENTRIES; see ``completions.LiveRow.entries``."""
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


@kernel
def fill_samples(size: Int, above: Array, top: bool, walks: Array, arrivals: Array) -> None:
    """The completions from one row, given those from the row above it.

    above and arrivals: (columns, distances, traps left) float64; walks: (columns, last columns,
    distances, behind or not, traps left) float64. See ``completions.LiveRow``.
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


@kernel
def pick_sample(weights: Array, lot: Any, wrong: float) -> Int:
    """The choice of a lot from 0 to 1, or -1 if it is too near to the border of two."""
    total = weights.sum()
    border = 0.0
    for number in range(len(weights)):
        if weights[number] == 0.0:
            continue
        if border > 0.0 and lot * total - border < wrong * total:
            return -1
        border += weights[number]
        if lot * total < border - wrong * total:
            return number
    return -1


@kernel
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
        sample[LEFT_OVER] -= 1
    if step == RIGHT:
        sample[PHASE] = WALKING
        sample[COL] += 1
        sample[DISTANCE] = 1 if trap == FIRST_TRAP + 1 else sample[DISTANCE] + 1 if sample[DISTANCE] else 0
        sample[BEHIND] = trap == HERE
        return
    sample[PHASE] = RISEN
    sample[FIRST], sample[LAST] = 0, size - 1
    if sample[DISTANCE]:  # R16: what lies there closes the side from which the piece came
        sample[FIRST] = sample[COL] - sample[DISTANCE] + 1
    if sample[MIRRORED]:
        sample[COL] = size - 1 - sample[COL]
        sample[FIRST], sample[LAST] = 0, size - 1 - sample[FIRST]


@kernel
def cross_samples(
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
    """Take samples from number ``at`` on along their row; gives the first that is undecided and its lot, or -1.

    samples: (samples, 9) int64; actions: (samples, longest) uint8; streams: (samples,) uint64.
    """
    weights = np.zeros(len(ENTRIES))
    for i in range(at, len(samples)):
        one = samples[i]
        while one[PHASE] != RISEN:
            if one[PHASE] == ENTERING:
                weigh_entry(above, walks, top, one[COL], one[FIRST], one[LAST], one[LEFT_OVER], weights)
            else:
                weigh_walk(above, walks, top, one[COL], one[LAST], one[DISTANCE], one[BEHIND], one[LEFT_OVER], weights)
            streams[i] = streams[i] + GOLDEN
            lot = mix(streams[i]) >> np.uint64(11)
            choice = pick_sample(weights, np.float64(lot) * 2.0**-53, wrong)
            if choice < 0:
                return i, lot
            take_sample(size, one, actions[i], choice)
    return -1, np.uint64(0)
