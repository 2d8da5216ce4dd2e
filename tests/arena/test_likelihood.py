import math

import numpy as np
import pytest

from ludodrome.arena.statistics.scores import GAME_VALUES, PAIR_VALUES, bounds, fit


def test_the_fit_is_best_at_the_mean_and_falls_off_on_both_sides() -> None:
    counts = [13, 37, 50, 25, 3]
    mean = float(np.dot(PAIR_VALUES, counts)) / sum(counts)
    losses = fit(PAIR_VALUES, counts, np.array([mean, mean - 0.05, mean - 0.1, mean + 0.05, mean + 0.1]))
    assert losses[0] == pytest.approx(0, abs=1e-9)
    assert losses[0] > losses[1] > losses[2]
    assert losses[0] > losses[3] > losses[4]


def test_wins_and_losses_alone_fit_like_a_binomial() -> None:
    wins, losses, supposed = 60, 40, 0.45
    expected = wins * math.log(supposed / 0.6) + losses * math.log((1 - supposed) / 0.4)
    assert float(fit(np.array([0.0, 1.0]), [losses, wins], supposed)) == pytest.approx(expected, abs=1e-9)


def test_no_distribution_with_that_mean_fits_better() -> None:
    counts, supposed = np.array([3, 10, 20, 15, 6]), 0.45
    best = float(fit(PAIR_VALUES, counts, supposed))
    dice = np.random.default_rng(1)
    frequencies = counts / counts.sum()
    tried = 0
    for _ in range(3_000):
        other = dice.dirichlet(counts + 1.0)
        low = float(other @ PAIR_VALUES) > supposed
        end = np.eye(5)[0 if low else 4]
        part = (supposed - other @ PAIR_VALUES) / (end @ PAIR_VALUES - other @ PAIR_VALUES)
        mixed = (1 - part) * other + part * end
        assert float(counts @ np.log(mixed / frequencies)) <= best + 1e-9
        tried += 1
    assert tried == 3_000


@pytest.mark.parametrize("counts", [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 10**7], [10**7, 0, 0], [0, 0, 0]])
@pytest.mark.parametrize("mean", [1e-9, 0.001, 0.5, 0.999, 1 - 1e-9])
def test_lopsided_counts_have_finite_fits(counts: list[int], mean: float) -> None:
    found = float(fit(GAME_VALUES, counts, mean))
    assert math.isfinite(found)
    assert found <= 1e-6


@pytest.mark.parametrize("counts", [[13, 37, 50, 25, 3], [0, 0, 7, 0, 0], [0, 0, 0, 1, 30], [1, 0, 0, 0, 1]])
def test_at_the_bounds_the_fit_is_so_many_deviations_worse(counts: list[int]) -> None:
    for bound in bounds(PAIR_VALUES, counts, 1.5):
        assert float(fit(PAIR_VALUES, counts, bound)) == pytest.approx(-1.125, abs=1e-5)


def test_a_mean_of_nothing_or_everything_is_refused() -> None:
    for mean in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            fit(GAME_VALUES, [1, 1, 1], mean)
