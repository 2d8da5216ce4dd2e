"""How well boards do against opponents who are not perfect: random legal boards, or a mixture with straight runs.

An opponent lays a straight run in a random column with probability ``runs``, else a legal board, all equally likely.
``AllPairs`` plays every legal board against every other, so its results are exact. ``score_search.py`` is for sizes
with too many boards.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, checked_size, format_code, is_live, mirrored
from ludodrome.games.spaces.counting import count_boards
from ludodrome.games.spaces.equilibria import straight_run
from ludodrome.games.spaces.generation import BoardChunk, BoardWalk
from ludodrome.games.spaces.rounds import play_packed
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array, Int, entry, kernel

WON, DRAWN, LOST, OWN, OTHER, SQUARES = range(6)
"""Columns of a tally: rounds by result, points of both sides, and the squares of the margins."""
MEASURES = ("won", "margin")
"""What boards are ranked by: the share of rounds won, or the average margin."""
CONFIDENCE = 1.96
"""Standard errors on either side of an interval of 95 %."""


# Kernels


@kernel
def add_round(tally: Array, own: Int, other: Int) -> None:
    """Add a round to a tally, (6,) int64."""
    margin = own - other
    tally[WON] += 1 if margin > 0 else 0
    tally[DRAWN] += 1 if margin == 0 else 0
    tally[LOST] += 1 if margin < 0 else 0
    tally[OWN] += own
    tally[OTHER] += other
    tally[SQUARES] += margin * margin


@entry
def tally_pairs(
    cells_a: Array,
    score_a: Array,
    since_a: Array,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    bounds: Array,
    firsts: Array,
    images: Array,
    live: bool,
    begin: Int,
    end: Int,
    tallies: Array,
) -> None:
    """Play boards ``firsts[begin:end]`` against all boards from there on, and against their mirror images.

    firsts: (orbits,) int64, one board of each pair of mirror images; images: (orbits,) int64, the other one, which may
    be the same. bounds: (boards + 1,) int64, where boards begin in the flat arrays. tallies: (orbits, 6) int64.
    The mirror image of a round has the same result, and swapped boards swap the points (R18): a round between two
    pairs of mirror images counts for both of them.
    """
    for i in range(begin, end):
        a = firsts[i]
        low, high = bounds[a], bounds[a + 1]
        own_cells, own_score, own_since = cells_a[low:high], score_a[low:high], since_a[a]
        single_a = images[i] == a
        for j in range(i, len(firsts)):
            b, image = firsts[j], images[j]
            low, high = bounds[b], bounds[b + 1]
            x, y, _, _, _, _ = play_packed(
                own_cells, own_score, own_since, cells_b[low:high], score_b[low:high], since_b[b], live
            )
            add_round(tallies[i], x, y)
            if j > i:
                add_round(tallies[j], y, x)
            if image != b:
                low, high = bounds[image], bounds[image + 1]
                x, y, _, _, _, _ = play_packed(
                    own_cells, own_score, own_since, cells_b[low:high], score_b[low:high], since_b[image], live
                )
                add_round(tallies[i], x, y)
            if j > i and not single_a:
                add_round(tallies[j], y, x)


@entry
def tally_matrix(
    cells_a: Array,
    score_a: Array,
    since_a: Array,
    ends_a: Array,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    ends_b: Array,
    live: bool,
    tallies: Array,
) -> None:
    """Play every first board against every second one; add to tallies, (first boards, 6) int64."""
    begin_a = 0
    for i in range(len(ends_a)):
        end_a = ends_a[i]
        begin_b = 0
        for j in range(len(ends_b)):
            end_b = ends_b[j]
            own, other, _, _, _, _ = play_packed(
                cells_a[begin_a:end_a],
                score_a[begin_a:end_a],
                since_a[i],
                cells_b[begin_b:end_b],
                score_b[begin_b:end_b],
                since_b[j],
                live,
            )
            add_round(tallies[i], own, other)
            begin_b = end_b
        begin_a = end_a


def tally(boards: Sequence[bytes], opponents: Sequence[bytes] | BoardChunk, size: int, live: bool) -> Array:
    """The tallies of boards over opponents, (boards, 6) int64."""
    tallies = np.zeros((len(boards), SQUARES + 1), np.int64)
    first = Packed.from_actions(boards, size, live)
    if isinstance(opponents, BoardChunk):
        second = Packed.from_actions([], size, live)
        second.actions, second.ends = opponents.actions, opponents.ends
    else:
        second = Packed.from_actions(opponents, size, live)
    tally_matrix(*first.arrays(rotated=False), first.ends, *second.arrays(rotated=True), second.ends, live, tallies)
    return tallies


# Scores


@dataclass(frozen=True, slots=True)
class BoardScore:
    """How a board does against an opponent, on average over rounds."""

    board: str
    """Its code."""
    won: float
    drawn: float
    lost: float
    points: float
    other_points: float
    won_interval: tuple[float, float] | None
    """An interval of 95 % for ``won``; None if it is exact."""
    margin_interval: tuple[float, float] | None

    @property
    def margin(self) -> float:
        """Own points minus the opponent's."""
        return self.points - self.other_points


def score_of(code: str, random_tally: Array, runs_tally: Array, runs: float, exact: bool) -> BoardScore:
    """The score against a mixture: ``runs`` straight runs, the rest random boards. Tallies: (6,) int64."""
    shares = [np.asarray(one, np.float64) / max(1, int(one[: LOST + 1].sum())) for one in (random_tally, runs_tally)]
    mixed = (1 - runs) * shares[0] + runs * shares[1]
    intervals: list[tuple[float, float] | None] = [None, None]
    if not exact:
        rounds = max(1, int(random_tally[: LOST + 1].sum()))
        low, high = wilson(float(shares[0][WON]), rounds)
        won_runs = runs * float(shares[1][WON])
        intervals[0] = (won_runs + (1 - runs) * low, won_runs + (1 - runs) * high)
        margin = float(shares[0][OWN] - shares[0][OTHER])
        spread = CONFIDENCE * math.sqrt(max(0.0, float(shares[0][SQUARES]) - margin * margin) / rounds)
        middle = float(mixed[OWN] - mixed[OTHER])
        intervals[1] = (middle - (1 - runs) * spread, middle + (1 - runs) * spread)
    won, drawn, lost, own, other = (float(mixed[column]) for column in (WON, DRAWN, LOST, OWN, OTHER))
    return BoardScore(code, won, drawn, lost, own, other, intervals[0], intervals[1])


def wilson(share: float, rounds: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share of this many independent rounds."""
    square = CONFIDENCE * CONFIDENCE
    middle = (share + square / (2 * rounds)) / (1 + square / rounds)
    half = CONFIDENCE / (1 + square / rounds) * math.sqrt(share * (1 - share) / rounds + square / (4 * rounds**2))
    return middle - half, middle + half


def values_of(tallies: Array, measure: str) -> Array:
    """The measure of each tally, (boards,) float64."""
    rounds = np.maximum(1, tallies[:, : LOST + 1].sum(axis=1))
    total = tallies[:, WON] if measure == "won" else tallies[:, OWN] - tallies[:, OTHER]
    return np.asarray(total / rounds, np.float64)


def checked_measure(measure: str) -> str:
    """Return the measure, or raise ValueError."""
    validation.choice(measure, MEASURES, "what boards are ranked by", ValueError)
    return measure


def checked_share(runs: float) -> float:
    """Return the share of straight runs, or raise ValueError."""
    if not 0 <= runs <= 1:
        raise ValueError(f"the share of straight runs is a number from 0 to 1, not {runs}")
    return runs


# All pairs


MAX_PAIRED = 200_000
"""The most boards that are all played against each other."""
MAX_MET = 200_000_000
"""The most boards that finalists meet one by one."""


class AllPairs:
    """Every legal board against every legal board. Call ``step`` until ``over``.

    ``done`` and ``tallies`` resume an earlier run. ValueError if there are too many boards.
    """

    def __init__(self, size: int, rules: str = "written", done: int = 0, tallies: Any = None) -> None:
        self.size, self.rules, self.live = checked_size(size), rules, is_live(rules)
        if not can_pair(size, rules):
            raise ValueError(
                f"size {size} under {rules} has too many boards to play all pairs; at most {MAX_PAIRED:,} boards are "
                f"played against each other"
            )
        walk, boards = BoardWalk(size, rules), []
        while chunk := walk.next().boards():
            boards += chunk
        self.boards = boards
        places = {board: at for at, board in enumerate(boards)}
        turned = [places[mirrored(board, size)] for board in boards]
        firsts = [at for at, image in enumerate(turned) if at <= image]
        self._firsts = np.array(firsts, np.int64)
        self._images = np.array([turned[at] for at in firsts], np.int64)
        self._orbit = np.empty(len(boards), np.int64)
        self._orbit[self._firsts] = self._orbit[self._images] = np.arange(len(firsts))
        packed = Packed.from_actions(boards, size, self.live)
        self._bounds = np.append(0, packed.ends)
        self._packed = (*packed.arrays(rotated=False), *packed.arrays(rotated=True))
        self.done = done
        """How many of the orbits have been played against all later ones."""
        self.tallies = np.zeros((len(firsts), SQUARES + 1), np.int64)
        if tallies is not None:
            self.tallies[:] = tallies

    @property
    def orbits(self) -> int:
        """The number of boards, mirror images counted once."""
        return len(self._firsts)

    @property
    def rounds_done(self) -> int:
        """How many of ``rounds_total`` pairs of orbits are played."""
        left = self.orbits - self.done
        return self.rounds_total - left * (left + 1) // 2

    @property
    def rounds_total(self) -> int:
        """The number of pairs of orbits."""
        return self.orbits * (self.orbits + 1) // 2

    @property
    def over(self) -> bool:
        """Whether all pairs are played."""
        return self.done >= self.orbits

    def step(self, pairs: int = 2_000_000) -> None:
        """Play about this many pairs of orbits."""
        rows = max(1, pairs // max(1, self.orbits - self.done))
        end = min(self.orbits, self.done + rows)
        tally_pairs(*self._packed, self._bounds, self._firsts, self._images, self.live, self.done, end, self.tallies)
        self.done = end

    def all_tallies(self) -> Array:
        """The tally of every board, in the order of ``boards``: (boards, 6) int64."""
        return np.asarray(self.tallies[self._orbit])

    def runs_tallies(self) -> Array:
        """The tallies of every board against the straight runs, (boards, 6) int64."""
        return tally(self.boards, straight_runs(self.size), self.size, self.live)


def average_by_traps(boards: Sequence[bytes], tallies: Array, size: int) -> list[tuple[int, int, float, float]]:
    """For each number of traps: the number, how many boards have it, their average share won and margin."""
    first, last = size + FIRST_TRAP, size + FINISH
    traps = np.array([sum(first <= action < last for action in board) for board in boards])
    won, margin = values_of(tallies, "won"), values_of(tallies, "margin")
    return [
        (
            number,
            int((traps == number).sum()),
            float(won[traps == number].mean()),
            float(margin[traps == number].mean()),
        )
        for number in np.unique(traps).tolist()
    ]


def can_pair(size: int, rules: str, most: int = MAX_PAIRED) -> bool:
    """Whether there are few enough boards to play all pairs."""
    return size <= 5 and count_boards(size, rules) <= most


def can_meet(size: int, rules: str) -> bool:
    """Whether there are few enough boards for finalists to meet every one of them."""
    return can_pair(size, rules, MAX_MET)


def straight_runs(size: int) -> list[bytes]:
    """The straight run of each column."""
    return [straight_run(size, col) for col in range(size)]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Boards and their tallies against random boards and against straight runs."""

    size: int
    boards: Sequence[bytes]
    tallies: Array
    """(boards, 6) int64."""
    runs_tallies: Array
    exact: bool

    def best(self, runs: float, measure: str, top: int) -> list[BoardScore]:
        """The best boards against a mixture, one of each pair of mirror images; equal ones in their order."""
        values = (1 - runs) * values_of(self.tallies, measure) + runs * values_of(self.runs_tallies, measure)
        found: dict[bytes, int] = {}
        for at in np.argsort(-np.round(values, 12), kind="stable").tolist():
            if len(found) == top:
                break
            if mirrored(self.boards[at], self.size) not in found:
                found[self.boards[at]] = at
        return [self.score(at, runs) for at in found.values()]

    def score(self, at: int, runs: float) -> BoardScore:
        """The score of one board."""
        code = format_code(self.boards[at], self.size)
        return score_of(code, self.tallies[at], self.runs_tallies[at], runs, self.exact)


def best_by_share(tallies: Array, runs_tallies: Array, measure: str) -> list[tuple[float, int]]:
    """For every share of straight runs the best board: (from which share on, index), ascending from 0.

    A board's value is linear in the share, so the best ones form the upper envelope of lines.
    """
    at_0, at_1 = values_of(tallies, measure), values_of(runs_tallies, measure)
    slopes = at_1 - at_0
    best = int(np.lexsort((-slopes, -at_0))[0])
    found, share = [(0.0, best)], 0.0
    while True:
        steeper = np.nonzero(slopes > slopes[best] + 1e-12)[0]
        if not len(steeper):
            return found
        meets = (at_0[best] - at_0[steeper]) / (slopes[steeper] - slopes[best])
        at = float(meets.min())
        if at >= 1 - 1e-12:
            return found
        tied = steeper[meets <= at + 1e-12]
        best, share = int(tied[np.argmax(slopes[tied])]), max(share, at)
        found.append((share, best))
