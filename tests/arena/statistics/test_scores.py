import json
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludodrome.arena.statistics.scores import (
    GAME_VALUES,
    PAIR_VALUES,
    bounds,
    elo,
    expected_share,
    fit,
    points,
    refuse_elo,
    score,
    shares,
)
from tests.arena.statistics.simulated import pair_chances

POINTS = st.sampled_from([0.0, 0.5, 1.0])


def in_pairs(counts: list[int]) -> tuple[list[float], list[int]]:
    """Games that come to these counts of pairs, and the numbers of the pairs."""
    kinds = ([0.0, 0.0], [0.0, 0.5], [0.5, 0.5], [1.0, 0.5], [1.0, 1.0])
    results = [one for kind, count in zip(kinds, counts, strict=True) for one in kind * count]
    return results, [number // 2 for number in range(len(results))]


def test_elo_and_share_are_inverse() -> None:
    assert expected_share(0) == 0.5
    assert expected_share(400) == pytest.approx(10 / 11)
    for difference in (-700, -3, 0, 12.5, 400):
        assert elo(expected_share(difference)) == pytest.approx(difference, abs=1e-9)
    for share in (0, 1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            elo(share)


def test_points_are_shared_by_those_who_did_best() -> None:
    assert points([1, -1]) == (1, 0)
    assert points([0, 0]) == (0.5, 0.5)
    assert points([-0.5, 1, -0.5]) == (0, 1, 0)
    assert points([0.5, -1, 0.5]) == (0.5, 0, 0.5)
    assert points([0, 0, 0]) == (1 / 3, 1 / 3, 1 / 3)
    for returns in ([], [1], [1, math.nan], [math.inf, 0]):
        with pytest.raises(ValueError, match="returns"):
            points(returns)


def test_pairs_agree_with_figures_that_fishtest_published() -> None:
    """Of montytest 69d3c8dc7c5b3724e29d2712: Elo -43.6578 [-75.5, -15.4], normalised Elo -63.97, LOS 0.00114."""
    found = score(*in_pairs([13, 37, 50, 25, 3]))
    assert found.elo == pytest.approx(-43.6578, abs=1e-4)
    assert found.normalised == pytest.approx(-63.97, abs=0.005)
    assert found.elo_low == pytest.approx(-75.5, abs=3)
    assert found.elo_high == pytest.approx(-15.4, abs=3)
    assert found.superiority == pytest.approx(0.00114, abs=0.001)
    assert found.pairs == (13, 37, 50, 25, 3)


def test_pairs_tell_more_than_games_where_openings_favour_a_side() -> None:
    results, pairs = in_pairs([2, 0, 90, 0, 8])
    results[4:184] = [1, 0] * 90
    paired, single = score(results, pairs), score(results)
    assert paired.share == single.share
    assert paired.elo_high - paired.elo_low < 0.5 * (single.elo_high - single.elo_low)
    assert paired.superiority > single.superiority > 0.5


@given(st.lists(POINTS, max_size=40), st.booleans())
def test_every_figure_is_finite_and_in_order(results: list[float], paired: bool) -> None:
    found = score(results, [number // 2 for number in range(len(results))] if paired else None)
    json.dumps(found.to_json(), allow_nan=False)
    assert found.wins + found.draws + found.losses == found.games == len(results)
    assert 0 < found.low < found.high < 1
    assert found.elo_low < found.elo < found.elo_high
    assert found.normalised_low < found.normalised < found.normalised_high
    assert 0 <= found.superiority <= 1


@given(st.lists(POINTS, min_size=1, max_size=30))
def test_the_other_side_sees_the_mirror_image(results: list[float]) -> None:
    one, other = score(results), score([1 - result for result in results])
    assert other.elo == pytest.approx(-one.elo)
    assert other.elo_low == pytest.approx(-one.elo_high, rel=1e-6)
    assert other.superiority == pytest.approx(1 - one.superiority)
    assert other.normalised == pytest.approx(-one.normalised)


@given(st.lists(POINTS, min_size=1, max_size=30))
def test_superiority_is_beyond_the_tail_where_the_interval_leaves_out_nothing(results: list[float]) -> None:
    found = score(results)
    if abs(found.elo_low) > 0.01 and abs(found.elo_high) > 0.01:
        assert (found.superiority > 0.975) == (found.elo_low > 0)
        assert (found.superiority < 0.025) == (found.elo_high < 0)


def test_more_wins_in_a_row_say_more() -> None:
    found = [score([1.0] * games) for games in (1, 2, 5, 10, 100, 1000)]
    assert [one.elo for one in found] == sorted(one.elo for one in found)
    assert [one.elo_low for one in found] == sorted(one.elo_low for one in found)
    assert found[0].elo_low < 0 < found[2].elo_low
    assert found[3].elo_low == pytest.approx(elo(math.exp(-(1.96**2) / 20)), abs=1)


def test_games_without_their_partner_wait() -> None:
    results, pairs = in_pairs([0, 0, 5, 0, 5])
    whole, more = score(results, pairs), score([*results, 0.0, 0.0], [*pairs, 98, 99])
    assert (more.elo, more.elo_low, more.pairs) == (whole.elo, whole.elo_low, whole.pairs)
    assert more.losses == whole.losses + 2
    assert score([1.0, 0.0, 1.0], [0, 1, 2]).pairs is None


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1, 0\.5 or 0"):
        score([0.7])
    with pytest.raises(ValueError, match="as many numbers of pairs"):
        score([1.0, 0.0], [0])
    with pytest.raises(ValueError, match="a pair has two games, not 3"):
        score([1.0, 0.0, 1.0], [0, 0, 0])
    with pytest.raises(ValueError, match="certainty"):
        score([1.0], certainty=1)
    with pytest.raises(ValueError, match="Elo compares two players; a game with 3 seats"):
        refuse_elo(3)
    refuse_elo(2)


def test_shares_of_three_seats() -> None:
    rotated = shares([1, 0, 0] * 10, 3, [number // 3 for number in range(30)])
    apart = shares([1, 0, 0] * 10, 3)
    assert rotated.share == apart.share == rotated.fair == pytest.approx(1 / 3)
    assert apart.low < rotated.low < 1 / 3 < rotated.high < apart.high
    assert 0 < shares([0] * 9, 3).low < shares([0] * 9, 3).high < 0.3
    json.dumps(shares([], 3).to_json(), allow_nan=False)
    with pytest.raises(ValueError, match="two or more seats"):
        shares([1], 1)
    with pytest.raises(ValueError, match="from 0 to 1"):
        shares([1.5], 3)


@pytest.mark.parametrize(("difference", "draws", "bias"), [(0, 0, 0), (50, 1, 0), (200, 1, 1), (0, 6, 0.5)])
@pytest.mark.parametrize("pairs", [50, 200])
def test_intervals_hold_what_they_promise(difference: float, draws: float, bias: float, pairs: int) -> None:
    chances = pair_chances(difference, draws, bias)
    counts = np.random.default_rng(pairs).multinomial(pairs, chances, size=4000)
    inside = (
        fit(PAIR_VALUES, counts, np.full(4000, expected_share(difference))) >= -(NormalDist().inv_cdf(0.975) ** 2) / 2
    )
    assert 0.93 < inside.mean() < 0.97
    for row, held in zip(counts[:20].tolist(), inside[:20].tolist(), strict=True):
        found = score(*in_pairs(row))
        assert (found.elo_low <= difference <= found.elo_high) == held


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
