"""A sequential test: whether a new bot is stronger than the old one by ``elo1``, or only by ``elo0``.

The sequential probability ratio test over pairs of games as fishtest has it: the pentanomial generalised SPRT, here
with logistic Elo, the Elo of tables and ratings. The two hypotheses say only what share of the points is expected;
the distribution of pairs is the likeliest one with that mean (``likelihood.fit``). That always exists and is found in
a bounded number of steps, so nothing hangs and nothing is infinite, however lopsided the results: a result that was
never seen counts as a thousandth of a pair.

Results are taken in the order of the schedule: quick games must not be counted before slow ones, as the quick ones
may be won more often. What bots do and how games are run belongs elsewhere.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ludodrome.arena.statistics.scores import PAIR_VALUES, Numbers, expected_share, fit, regular

BETTER, NOT_BETTER = "H1", "H0"
MAX_ELO = 1000
"""Greatest absolute Elo of a hypothesis."""


@dataclass(frozen=True, slots=True)
class SprtState:
    """The state of a test."""

    llr: float
    """Log-likelihood ratio of ``elo1`` against ``elo0``."""
    lower: float
    upper: float
    verdict: str | None
    """``H1``: the new bot passes; ``H0``: it does not; null: go on."""
    pairs: tuple[int, ...]
    """The pairs counted, by their points 0, 1/2, 1, 3/2, 2."""
    waiting: int
    """Results that wait for an earlier pair."""

    def to_json(self) -> dict[str, Any]:
        """A plain value; all numbers are finite."""
        return asdict(self) | {"pairs": list(self.pairs)}


class Sprt:
    """A test. Pairs are added by their number in the schedule, from 0, in any order."""

    def __init__(self, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05) -> None:
        if not -MAX_ELO <= elo0 < elo1 <= MAX_ELO:
            raise ValueError(f"elo0 is less than elo1, both from -{MAX_ELO} to {MAX_ELO}, not {elo0} and {elo1}")
        self.elo0, self.elo1, self.alpha, self.beta = elo0, elo1, alpha, beta
        self.lower, self.upper = limits(alpha, beta)
        self._counts = [0] * len(PAIR_VALUES)
        self._early: dict[int, int] = {}
        self._next = 0
        self._llr = 0.0
        self._verdict: str | None = None

    def add(self, number: int, first: float, second: float) -> SprtState:
        """Add the new bot's points (1, 0.5 or 0) in the two games of a pair; after a verdict this changes nothing."""
        if first not in (0, 0.5, 1) or second not in (0, 0.5, 1):
            raise ValueError(f"the points of a two-seat game are 1, 0.5 or 0, not {first} and {second}")
        if number < 0:
            raise ValueError(f"pairs are numbered from 0, not {number}")
        half_points = round(2 * (first + second))
        if number < self._next or number in self._early:
            raise ValueError(f"pair {number} was added already")
        self._early[number] = half_points
        while self._next in self._early:
            half_points = self._early.pop(self._next)
            self._next += 1
            if self._verdict is None:
                self._count(half_points)
        return self.state

    def _count(self, half_points: int) -> None:
        self._counts[half_points] += 1
        self._llr = float(ratio(self._counts, self.elo0, self.elo1))
        if self._llr >= self.upper:
            self._verdict = BETTER
        elif self._llr <= self.lower:
            self._verdict = NOT_BETTER

    @property
    def state(self) -> SprtState:
        """The state of the test."""
        return SprtState(self._llr, self.lower, self.upper, self._verdict, tuple(self._counts), len(self._early))

    def expected_pairs(self, elo: float) -> float:
        """Expected number of pairs at this Elo difference, with the spread of pairs so far."""
        return expected_pairs(elo, self.elo0, self.elo1, self.lower, self.upper, spread(self._counts))


def limits(alpha: float, beta: float) -> tuple[float, float]:
    """Where the test stops.

    ``alpha`` is the chance to pass a bot that is only ``elo0`` better, ``beta`` the chance to miss one that is ``elo1``
    better.
    """
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha and beta are between 0 and 0.5, not {alpha} and {beta}")
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def ratio(counts: Any, elo0: float, elo1: float) -> Numbers:
    """The log likelihood ratio of counts of pairs (..., 5); gives (...)."""
    shape = np.shape(counts)[:-1]
    return np.asarray(
        fit(PAIR_VALUES, counts, np.full(shape, expected_share(elo1)))
        - fit(PAIR_VALUES, counts, np.full(shape, expected_share(elo0)))
    )


USUAL_SPREAD = math.sqrt(0.125)
"""The standard deviation of a pair's share between equals that never draw, their games being independent."""


def spread(counts: Any) -> float:
    """The observed standard deviation of a pair's share of the points; without results, ``USUAL_SPREAD``."""
    if not sum(counts):
        return USUAL_SPREAD
    frequencies = regular(counts) / regular(counts).sum()
    mean = frequencies @ PAIR_VALUES
    return math.sqrt(float(frequencies @ (PAIR_VALUES - mean) ** 2))


def chance_to_pass(
    elo: float, elo0: float, elo1: float, lower: float, upper: float, deviation: float = USUAL_SPREAD
) -> float:
    """Probability that a bot ``elo`` stronger passes, by Wald's formula for a Brownian motion."""
    tilt = _tilt(elo, elo0, elo1, deviation)
    if abs(tilt) * (upper - lower) < 1e-6:
        return -lower / (upper - lower)
    below, above = math.expm1(-_capped(tilt * lower)), math.expm1(-_capped(tilt * upper))
    return below / (below - above)


def expected_pairs(
    elo: float, elo0: float, elo1: float, lower: float, upper: float, deviation: float = USUAL_SPREAD
) -> float:
    """Expected number of pairs if the new bot is ``elo`` stronger, by the same formula."""
    tilt = _tilt(elo, elo0, elo1, deviation)
    variance = ((expected_share(elo1) - expected_share(elo0)) / deviation) ** 2
    drift = tilt * variance / 2
    if abs(tilt) * (upper - lower) < 1e-6:
        return -lower * upper / variance
    passing = chance_to_pass(elo, elo0, elo1, lower, upper, deviation)
    return (passing * upper + (1 - passing) * lower) / drift


def _tilt(elo: float, elo0: float, elo1: float, deviation: float) -> float:
    """Twice the drift over the variance of the random walk: -1 at ``elo0``, 1 at ``elo1`` nearly."""
    if not deviation > 0:
        raise ValueError(f"a standard deviation is positive, not {deviation}")
    share, share0, share1 = expected_share(elo), expected_share(elo0), expected_share(elo1)
    return (2 * share - share0 - share1) / (share1 - share0)


def _capped(exponent: float) -> float:
    return min(max(exponent, -500.0), 500.0)
