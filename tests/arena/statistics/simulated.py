"""Random results with known strengths, for the tests of scores, ratings and sequential tests."""

import math

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.scores import ELO, PAIR_VALUES, Numbers, expected_share

RETURNS = ((1, -1), (0, 0), (-1, 1))


def game_chances(ahead: float, draws: float) -> Numbers:
    """Chances of win, draw and loss, ``ahead`` units of strength ahead; ``draws`` is Davidson's parameter."""
    weights = np.array([math.exp(ahead / 2), draws, math.exp(-ahead / 2)])
    return np.asarray(weights / weights.sum())


def pair_chances(elo: float, draws: float = 0.0, bias: float = 0.0) -> Numbers:
    """Of a pair's points 0, 1/2, ... 2: expected share as ``elo`` says, openings ``bias`` units better for one side."""

    def chances(ahead: float) -> Numbers:
        one, two = game_chances(ahead + bias, draws), game_chances(ahead - bias, draws)
        return np.convolve(one, two)[::-1]

    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if chances(middle) @ PAIR_VALUES < expected_share(elo) else (low, middle)
    return chances(low)


def games(
    dice: np.random.Generator, strengths: Numbers, schedule: NDArray[np.int64], draws: float, advantage: float
) -> list[tuple[tuple[str, str], tuple[int, int]]]:
    """Games between players called 0, 1, ...; the schedule's rows are who moves first and who second."""
    ahead = strengths[schedule[:, 0]] - strengths[schedule[:, 1]] + advantage
    win, lose = np.exp(ahead / 2), np.exp(-ahead / 2)
    drawn = dice.random(len(schedule)) * (win + draws + lose)
    results = (drawn > win).astype(int) + (drawn > win + draws)
    pairs = zip(schedule.tolist(), results.tolist(), strict=True)
    return [((str(first), str(second)), RETURNS[result]) for (first, second), result in pairs]


def in_elo(draws: float) -> float:
    """What a unit of strength is in Elo, as ratings count it."""
    return ELO * 2 / (2 + draws)
