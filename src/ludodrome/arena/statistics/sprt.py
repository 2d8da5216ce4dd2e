"""A sequential test: whether a new bot is stronger than the old one by ``elo1``, or only by ``elo0``.

The sequential probability ratio test over pairs of games as fishtest has it: the pentanomial generalised SPRT. There
are three models of what the two hypotheses say:

- ``logistic``: the expected share of the points, as logistic Elo, the Elo of tables and ratings. The distribution of
  pairs is the likeliest one with that mean (``scores.fit``).
- ``normalized``: the expected share above one half in standard deviations of a game's result (normalised Elo). It asks
  for the same number of games whatever the share of draws; the distribution is the likeliest one with that ratio.
- ``bayes``: BayesElo's model of single games, in which the share of draws is a parameter, estimated from the results.
  It takes the games of a pair as independent, which is cautious.

Everything is found in a bounded number of steps, so nothing hangs and nothing is infinite, however lopsided the
results: a result that was never seen counts as a thousandth of one.

Results are taken in the order of the schedule: quick games must not be counted before slow ones, as the quick ones
may be won more often. What bots do and how games are run belongs elsewhere.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ludodrome.arena.statistics.scores import (
    ELO,
    GAME_VALUES,
    NORMALISED,
    PAIR_VALUES,
    Numbers,
    expected_share,
    fit,
    regular,
)
from ludodrome.validation import choice

BETTER, NOT_BETTER = "H1", "H0"
LOGISTIC, NORMALIZED, BAYES = MODELS = ("logistic", "normalized", "bayes")
ROUNDS, BISECTIONS = 30, 60
"""Bounds of the iterations; both end much earlier, or do not change a digit any more."""
_SAME, _TINY = 1e-10, 1e-12
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

    def __init__(
        self, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05, model: str = LOGISTIC
    ) -> None:
        self.model = str(choice(model, MODELS, "the model of a test", ValueError))
        if not -MAX_ELO <= elo0 < elo1 <= MAX_ELO:
            raise ValueError(f"elo0 is less than elo1, both from -{MAX_ELO} to {MAX_ELO}, not {elo0} and {elo1}")
        self.elo0, self.elo1, self.alpha, self.beta = elo0, elo1, alpha, beta
        self.lower, self.upper = limits(alpha, beta)
        self._counts = [0] * len(PAIR_VALUES)
        self._games = [0] * len(GAME_VALUES)
        self._early: dict[int, tuple[float, float]] = {}
        self._next = 0
        self._llr = 0.0
        self._verdict: str | None = None

    def add(self, number: int, first: float, second: float) -> SprtState:
        """Add the new bot's points (1, 0.5 or 0) in the two games of a pair; after a verdict this changes nothing."""
        if first not in (0, 0.5, 1) or second not in (0, 0.5, 1):
            raise ValueError(f"the points of a two-seat game are 1, 0.5 or 0, not {first} and {second}")
        if number < 0:
            raise ValueError(f"pairs are numbered from 0, not {number}")
        if number < self._next or number in self._early:
            raise ValueError(f"pair {number} was added already")
        self._early[number] = first, second
        while self._next in self._early:
            pair = self._early.pop(self._next)
            self._next += 1
            if self._verdict is None:
                self._count(*pair)
        return self.state

    def _count(self, first: float, second: float) -> None:
        self._counts[round(2 * (first + second))] += 1
        for points in (first, second):
            self._games[round(2 * points)] += 1
        if self.model == BAYES:
            self._llr = float(bayes_ratio(self._games, self.elo0, self.elo1))
        elif self.model == NORMALIZED:
            self._llr = float(normalized_ratio(self._counts, self.elo0, self.elo1))
        else:
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
        """Expected number of pairs at this Elo difference, with the spread of pairs so far; of the logistic model."""
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


def normalized_ratio(counts: Any, elo0: float, elo1: float) -> Numbers:
    """The log likelihood ratio of counts of pairs (..., 5) for two normalised Elo differences; gives (...)."""
    seen = regular(counts)
    likely0, likely1 = (_likeliest(seen, elo * math.sqrt(2) / NORMALISED) for elo in (elo0, elo1))
    return np.asarray((seen * np.log(likely1 / likely0)).sum(axis=-1))


def _likeliest(seen: Numbers, steps: float) -> Numbers:
    """Of all distributions of pairs (..., 5) whose mean is ``steps`` standard deviations above 1/2, the likeliest.

    By Lagrange its probabilities are p / (1 + x h), where p are the observed frequencies, h is how mean - 1/2 - steps *
    deviation grows with the probability of each value, and x is such that h has the mean 0. As h depends on the mean
    and the deviation of the solution, this is repeated until both stay.
    """
    frequencies = seen / seen.sum(axis=-1, keepdims=True)
    found: Numbers = np.full_like(frequencies, 1 / frequencies.shape[-1])
    for _ in range(ROUNDS):
        mean = (found * PAIR_VALUES).sum(axis=-1, keepdims=True)
        deviation = np.sqrt((found * (PAIR_VALUES - mean) ** 2).sum(axis=-1, keepdims=True))
        slopes = PAIR_VALUES - 0.5 - steps * deviation * (1 + ((PAIR_VALUES - mean) / deviation) ** 2) / 2
        following = frequencies / (1 + _multiplier(frequencies, slopes)[..., None] * slopes)
        done = np.abs(following - found).max() < _SAME
        found = following
        if done:
            break
    return found


def _multiplier(frequencies: Numbers, slopes: Numbers) -> Numbers:
    """The x at which the mean of slopes / (1 + x slopes) is 0, by bisection: it falls between its two poles."""
    low = -1 / np.maximum(slopes.max(axis=-1), _TINY)
    high = -1 / np.minimum(slopes.min(axis=-1), -_TINY)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = (frequencies * slopes / (1 + middle[..., None] * slopes)).sum(axis=-1) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def bayes_ratio(games: Any, elo0: float, elo1: float) -> Numbers:
    """The log likelihood ratio of losses, draws and wins (..., 3) for two BayesElo differences; gives (...)."""
    seen = regular(games)
    draw_elo = estimated_draw_elo(seen)
    return np.asarray((seen * np.log(bayes_chances(elo1, draw_elo) / bayes_chances(elo0, draw_elo))).sum(axis=-1))


def estimated_draw_elo(games: Any) -> Numbers:
    """BayesElo's draw parameter at which losses, draws and wins (..., 3) are as frequent as they were."""
    chances = regular(games) / regular(games).sum(axis=-1, keepdims=True)
    losses, wins = chances[..., 0], chances[..., 2]
    return np.asarray(ELO / 2 * np.log((1 - losses) / losses * (1 - wins) / wins))


def bayes_chances(elo: float, draw_elo: Any) -> Numbers:
    """The chances of loss, draw and win (..., 3) at a BayesElo difference."""
    draws = np.asarray(draw_elo, dtype=np.float64)
    win, loss = (1 / (1 + np.exp((draws - ahead) / ELO)) for ahead in (elo, -elo))
    return np.asarray(np.stack([loss, np.maximum(1 - win - loss, _TINY), win], axis=-1))


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
