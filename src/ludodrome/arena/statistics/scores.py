"""The score of a match: wins, draws, losses, the share of the points, and Elo with its interval.

The interval holds the expected scores that fit the results (``fit``): over pairs of games from one opening where games
come in pairs, since the two games of a pair are alike, otherwise over single games. All figures are finite, so they can
be written as JSON. Ratings of many players are in ``ratings.py``, sequential tests in ``sprt.py``.

``fit`` is the likelihood behind intervals and sequential tests. Results are counts of a few values between 0 and 1 (of
games: 0, 1/2, 1; of pairs: 0, 1/4, ... 1). Nothing is assumed about their distribution but its mean, so neither draws
nor the correlation within a pair need a model (Van den Bergh, "The generalized maximum likelihood ratio for the
expectation value of a distribution").
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

MIN_COUNT = 0.001
"""Replaces a count of 0, as in fishtest: unseen results are possible, and every mean can be reached."""
ITERATIONS = 60
"""Enough to halve the widest bracket to insignificance; a bound, so nothing here can hang."""
WIDEST = 80.0
"""The tilt is between minus and plus this; beyond, means are closer to 0 or 1 than doubles can represent."""
_EXACT = 1e-9


def regular(counts: ArrayLike) -> Numbers:
    """Counts with ``MIN_COUNT`` for zeros; shape (..., values)."""
    found = np.asarray(counts, dtype=np.float64)
    return np.where(found > 0, found, MIN_COUNT)


def fit(values: Numbers, counts: ArrayLike, mean: ArrayLike) -> Numbers:
    """The logarithm of the likelihood of the counts if the expected value were ``mean``, less that of the best fit.

    ``values`` (k,) from 0 to 1 and both of them included, ``counts`` (..., k), ``mean`` (...) between 0 and 1; gives
    (...).

    Among all distributions with some mean the likeliest has probabilities in proportion to
    p / (1 + (exp(t) - 1) value), where p are the observed frequencies and t, the tilt, is any number: the greater, the
    smaller the mean. The log odds of the mean are nearly straight in t, so Newton's steps, kept inside a bracket, find
    it soon.
    """
    seen = regular(counts)
    total = seen.sum(axis=-1)
    supposed = np.asarray(mean, dtype=np.float64)
    if not np.all((supposed > 0) & (supposed < 1)):
        raise ValueError("a supposed mean is between 0 and 1")
    shape = np.broadcast_shapes(total.shape, supposed.shape)
    frequencies = seen / total[..., None]
    target = np.log(supposed / (1 - supposed))
    tilt, low, high = np.zeros(shape), np.full(shape, -WIDEST), np.full(shape, WIDEST)
    for _ in range(ITERATIONS):
        heights = np.exp(tilt)[..., None] * values
        weights = frequencies / (1 - values + heights)
        slopes = weights * heights / (1 - values + heights)
        sum_one = (weights * values).sum(axis=-1)
        sum_rest = (weights * (1 - values)).sum(axis=-1)
        excess = np.log(sum_one / sum_rest) - target
        fall = (slopes * values).sum(axis=-1) / sum_one - (slopes * (1 - values)).sum(axis=-1) / sum_rest
        low, high = np.where(excess > 0, tilt, low), np.where(excess > 0, high, tilt)
        following = tilt + excess / np.maximum(fall, _EXACT)
        following = np.where((following >= low) & (following <= high), following, (low + high) / 2)
        done = np.abs(following - tilt) <= _EXACT
        tilt = following
        if done.all():
            break
    return _fit_at(values, frequencies, total, tilt)


def _fit_at(values: Numbers, frequencies: Numbers, total: Numbers, tilt: Numbers) -> Numbers:
    stretched = 1 - values + np.exp(tilt)[..., None] * values
    logarithms = (frequencies * np.log(stretched)).sum(axis=-1) + np.log((frequencies / stretched).sum(axis=-1))
    return np.asarray(-total * logarithms)


def bounds(values: Numbers, counts: ArrayLike, deviation: float) -> tuple[float, float]:
    """The least and the greatest mean that fit the counts within ``deviation`` standard deviations."""
    seen = [(float(value), float(count)) for value, count in zip(values, regular(counts), strict=True)]
    return _edge(seen, WIDEST, deviation), _edge(seen, -WIDEST, deviation)


def _edge(seen: list[tuple[float, float]], outside: float, deviation: float) -> float:
    """The mean at the tilt where the fit becomes too bad; it gets worse monotonically."""
    total = sum(count for _, count in seen)
    inside = 0.0
    for _ in range(ITERATIONS):
        tilt = (inside + outside) / 2
        stretched = [(1 - value + math.exp(tilt) * value, count / total) for value, count in seen]
        logarithms = sum(part * math.log(by) for by, part in stretched)
        loss = total * (logarithms + math.log(sum(part / by for by, part in stretched)))
        inside, outside = (tilt, outside) if loss <= deviation * deviation / 2 else (inside, tilt)
    weights = [count / (1 - value + math.exp(inside) * value) for value, count in seen]
    return sum(weight * value for weight, (value, _) in zip(weights, seen, strict=True)) / sum(weights)


ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""
NORMALISED = 2 * ELO
"""Normalised Elo points per standard deviation of a game's result."""
CERTAINTY = 0.95
GAME_VALUES: Numbers = np.array([0, 0.5, 1])
PAIR_VALUES: Numbers = np.array([0, 0.25, 0.5, 0.75, 1])


def elo(share: float) -> float:
    """The Elo difference at which this share of the points is expected; ValueError at 0 and 1."""
    if not 0 < share < 1:
        raise ValueError(f"only a share between 0 and 1 has an Elo difference, not {share}")
    return ELO * math.log(share / (1 - share))


def expected_share(difference: float) -> float:
    """The expected share of the points at this Elo difference."""
    return 0.5 + 0.5 * math.tanh(difference / (2 * ELO))


def points(returns: Sequence[float]) -> tuple[float, ...]:
    """The points of a game by seat: one point, shared by those who did best.

    With two seats 1, 0.5 or 0. With three 1 for the winner; seats that share the first place have a half or a third.
    """
    if len(returns) < 2 or not all(math.isfinite(one) for one in returns):
        raise ValueError(f"the returns of a game are two or more numbers, by seat, not {list(returns)}")
    best = max(returns)
    first = [one == best for one in returns]
    return tuple(one / sum(first) for one in first)


@dataclass(frozen=True, slots=True)
class Share:
    """The mean of a player's points in games with any number of seats."""

    games: int
    points: float
    share: float
    low: float
    high: float
    """The share's interval."""
    fair: float
    """The share among equals: 1 / seats."""

    def to_json(self) -> dict[str, Any]:
        """A plain value."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one player in a two-seat match."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    share: float
    low: float
    high: float
    """The share's interval."""
    elo: float
    elo_low: float
    elo_high: float
    normalised: float
    normalised_low: float
    normalised_high: float
    superiority: float
    """Probability that this player is stronger."""
    pairs: tuple[int, ...] | None
    """Pairs of games by their points 0, 1/2, 1, 3/2, 2 if the interval is taken over pairs, else null."""

    def to_json(self) -> dict[str, Any]:
        """A plain value; all numbers are finite."""
        return asdict(self) | {"pairs": None if self.pairs is None else list(self.pairs)}


def score(results: Sequence[float], pairs: Sequence[int] | None = None, certainty: float = CERTAINTY) -> Score:
    """The score of a player with these points (1, 0.5, 0), game by game.

    ``pairs`` has the number of each game's pair. Games whose partner is missing count as wins, draws and losses; in
    Elo only whole pairs count, if they are at least half of the games, and else all games, one by one.
    """
    _check(results, pairs, certainty)
    wins, draws, losses = (sum(one == value for one in results) for value in (1, 0.5, 0))
    whole = _whole_pairs(results, pairs)
    if sum(whole) and 4 * sum(whole) >= len(results):
        values, counts = PAIR_VALUES, whole
    else:
        values, counts = GAME_VALUES, [losses, draws, wins]
    games = len(results)
    low, high, better = _interval(values, counts, games, certainty)
    total, units = wins + draws / 2, sum(counts)
    counted = float(np.dot(values, counts)) / units if units else 0.5
    margin = smallest_margin(games)
    likely = min(max(counted, margin), 1 - margin)
    games_a_unit = 2 if values is PAIR_VALUES else 1
    ahead, around = _normalised(values, counts, games_a_unit, likely, certainty)
    return Score(
        games,
        wins,
        draws,
        losses,
        total,
        total / games if games else 0.5,
        low,
        high,
        elo(likely),
        elo(low),
        elo(high),
        ahead,
        ahead - around,
        ahead + around,
        better,
        tuple(whole) if values is PAIR_VALUES else None,
    )


def shares(results: Sequence[float], seats: int, groups: Sequence[int] | None = None) -> Share:
    """A player's share of the points in games with any number of seats.

    ``groups`` has for each game the number of the opening whose seats were rotated; whole rotations are the units.
    """
    if seats < 2:
        raise ValueError(f"a game has two or more seats, not {seats}")
    if not all(0 <= one <= 1 for one in results):
        raise ValueError("points are from 0 to 1")
    units = [float(one) for one in results]
    if groups is not None:
        rotations = _grouped(results, groups)
        whole = [sum(one) / seats for one in rotations.values() if len(one) == seats]
        units = whole if 2 * seats * len(whole) >= len(results) else units
    found, counts = np.unique(np.round([*units, 0.0, 1.0], 12), return_counts=True)
    counts[[0, -1]] -= 1
    low, high, _ = _interval(found, counts.tolist(), len(results), CERTAINTY)
    total = sum(results)
    return Share(len(results), total, total / len(results) if results else 1 / seats, low, high, 1 / seats)


def refuse_elo(seats: int) -> None:
    """Raise ValueError unless there are two seats."""
    if seats != 2:
        raise ValueError(f"Elo compares two players; a game with {seats} seats has shares of the points instead")


def smallest_margin(games: int) -> float:
    """Least distance of an estimated share from 0 and 1: half that of a result with half a point less."""
    return 0.25 / max(games, 1)


def _check(results: Sequence[float], pairs: Sequence[int] | None, certainty: float) -> None:
    if any(one not in (0, 0.5, 1) for one in results):
        raise ValueError("the points of a two-seat game are 1, 0.5 or 0")
    if pairs is not None and len(pairs) != len(results):
        raise ValueError(f"{len(results)} games need as many numbers of pairs, not {len(pairs)}")
    if not 0 < certainty < 1:
        raise ValueError(f"a certainty is between 0 and 1, not {certainty}")


def _grouped(results: Sequence[float], groups: Sequence[int]) -> dict[int, list[float]]:
    if len(groups) != len(results):
        raise ValueError(f"{len(results)} games need as many numbers of groups, not {len(groups)}")
    found: dict[int, list[float]] = {}
    for number, result in zip(groups, results, strict=True):
        found.setdefault(number, []).append(result)
    return found


def _whole_pairs(results: Sequence[float], pairs: Sequence[int] | None) -> list[int]:
    counts = [0] * len(PAIR_VALUES)
    for games in _grouped(results, pairs).values() if pairs is not None else ():
        if len(games) > 2:
            raise ValueError(f"a pair has two games, not {len(games)}")
        if len(games) == 2:
            counts[round(2 * sum(games))] += 1
    return counts


def _normal(certainty: float) -> float:
    return NormalDist().inv_cdf((1 + certainty) / 2)


def _interval(values: Numbers, counts: Sequence[int], games: int, certainty: float) -> tuple[float, float, float]:
    """The least and the greatest share that fit, and how likely the share is above one half.

    Where everything was won, every greater share fits: there the interval ends where it would for a Bayesian with
    Jeffreys' prior over the games, which is finite; and so where everything was lost.
    """
    deviation = _normal(certainty)
    open_end = _jeffreys_margin(games, (1 - certainty) / 2)
    if not sum(counts):
        return open_end, 1 - open_end, 0.5
    low, high = bounds(values, counts, deviation)
    mean = float(np.dot(values, counts)) / sum(counts)
    away = math.sqrt(max(-2 * float(fit(values, counts, 0.5)), 0.0))
    better = NormalDist().cdf(math.copysign(away, mean - 0.5)) if mean != 0.5 else 0.5
    return max(low, open_end), min(high, 1 - open_end), better


def _jeffreys_margin(games: int, tail: float) -> float:
    """The quantile ``tail`` of the beta distribution (1/2, games + 1/2), by the first term of its series."""
    beta = math.exp(math.lgamma(0.5) + math.lgamma(games + 0.5) - math.lgamma(games + 1))
    return float((tail * beta / 2) ** 2)


def _normalised(
    values: Numbers, counts: Sequence[int], games_a_unit: int, likely: float, certainty: float
) -> tuple[float, float]:
    """Normalised Elo and how far its interval goes to either side.

    The mean above one half, in standard deviations of a unit; its own variance is (1 + half its square) / units. The
    deviation is never less than that of the estimated share's nearest possible distribution, so that it is never 0.
    """
    units = max(sum(counts), 1)
    mean = float(np.dot(values, counts)) / units
    variance = float(np.dot((values - mean) ** 2, counts)) / units
    least = smallest_margin(games_a_unit * units) / games_a_unit
    steps = (likely - 0.5) / math.sqrt(max(variance, least * (1 - least)))
    around = _normal(certainty) * math.sqrt((1 + steps * steps / 2) / units)
    scale = NORMALISED / math.sqrt(games_a_unit)
    return scale * steps, scale * around
