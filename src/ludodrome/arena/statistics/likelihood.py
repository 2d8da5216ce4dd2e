"""How well results fit a supposed expected score: the likelihood behind intervals and sequential tests.

Results are counts of a few possible values between 0 and 1 (of games: 0, 1/2, 1; of pairs: 0, 1/4, ... 1). Nothing is
supposed about their distribution but its mean, so neither draws nor the likeness of the two games of a pair need a
model (Van den Bergh, "The generalized maximum likelihood ratio for the expectation value of a distribution").
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

FLOOR = 0.001
"""What stands for a count of 0, as in fishtest: what was never seen is possible, and every mean can be reached."""
ITERATIONS = 60
"""Enough to halve the widest bracket down to nothing that matters; so nothing here can hang."""
WIDEST = 80.0
"""The tilt goes from minus to plus this: beyond lie means nearer to 0 or 1 than doubles can tell."""
_EXACT = 1e-9


def regular(counts: ArrayLike) -> Numbers:
    """Counts with ``FLOOR`` for zeros; shape (..., values)."""
    found = np.asarray(counts, dtype=np.float64)
    return np.where(found > 0, found, FLOOR)


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
    """The least and the greatest mean that fit one set of counts no worse than so many standard deviations."""
    seen = [(float(value), float(count)) for value, count in zip(values, regular(counts), strict=True)]
    return _edge(seen, WIDEST, deviation), _edge(seen, -WIDEST, deviation)


def _edge(seen: list[tuple[float, float]], outside: float, deviation: float) -> float:
    """The mean at the tilt where the fit becomes too bad, going from none; the fit only gets worse on the way."""
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
