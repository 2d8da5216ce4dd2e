import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from ludodrome.arena.statistics.scores import NORMALISED, PAIR_VALUES, Numbers, elo, expected_share
from ludodrome.arena.statistics.sprt import (
    BETTER,
    MODELS,
    NOT_BETTER,
    Sprt,
    bayes_chances,
    bayes_ratio,
    chance_to_pass,
    estimated_draw_elo,
    expected_pairs,
    limits,
    normalized_ratio,
    ratio,
    spread,
)
from tests.arena.statistics.simulated import pair_chances

GAMES = {0: (0, 0), 1: (0.5, 0), 2: (1, 0), 3: (0.5, 1), 4: (1, 1)}


def fed(kinds: list[int], elo0: float = 0, elo1: float = 10) -> Sprt:
    test = Sprt(elo0, elo1)
    for number, kind in enumerate(kinds):
        test.add(number, *GAMES[kind])
    return test


def simulate(chances: Numbers, elo0: float, elo1: float, runs: int, seed: int) -> tuple[float, float]:
    """How often tests pass and how many pairs they take, all runs side by side."""
    lower, upper = limits(0.05, 0.05)
    dice = np.random.default_rng(seed)
    counts, passed, taken = np.zeros((runs, 5)), np.zeros(runs, dtype=bool), np.zeros(runs)
    going = np.arange(runs)
    while len(going):
        counts[going, dice.choice(5, size=len(going), p=chances)] += 1
        taken[going] += 1
        llr = ratio(counts[going], elo0, elo1)
        passed[going] = llr >= upper
        going = going[(llr > lower) & (llr < upper)]
    return float(passed.mean()), float(taken.mean())


def test_the_ratio_agrees_with_figures_that_fishtest_and_fastchess_published() -> None:
    """Of fastchess pull request 783: normalised bounds 0 and 2 and LLR 2.94598, here as the logistic Elo they mean."""
    counts = [379, 10170, 21828, 10640, 343]
    elo1 = elo(0.5 + 2 / NORMALISED * spread(counts) * math.sqrt(2))
    assert float(ratio(counts, 0, elo1)) == pytest.approx(2.946, abs=0.01)
    montytest = [13, 37, 50, 25, 3]
    assert float(ratio(montytest, 0, 2.716)) == pytest.approx(-0.53772, abs=0.0005)


def test_bounds_come_from_the_errors_allowed() -> None:
    assert limits(0.05, 0.05) == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    assert limits(0.01, 0.1) == pytest.approx((math.log(0.1 / 0.99), math.log(0.9 / 0.01)))
    for alpha, beta in ((0, 0.05), (0.05, 0.5), (0.7, 0.1), (math.nan, 0.1)):
        with pytest.raises(ValueError, match="alpha and beta"):
            limits(alpha, beta)


def test_results_count_in_the_order_of_the_schedule() -> None:
    dice = np.random.default_rng(3)
    kinds = dice.choice(5, size=60, p=[0.05, 0.2, 0.4, 0.25, 0.1]).tolist()
    inorder = fed(kinds, 0, 30)
    shuffled = Sprt(0, 30)
    for number in dice.permutation(60).tolist():
        shuffled.add(number, *GAMES[kinds[number]])
    assert shuffled.state == inorder.state
    assert shuffled.state.waiting == 0


def test_a_gap_holds_up_what_follows() -> None:
    test = Sprt(0, 10)
    for number in range(1, 500):
        state = test.add(number, 1, 1)
    assert (state.llr, state.verdict, state.waiting, sum(state.pairs)) == (0, None, 499, 0)
    assert test.add(0, 1, 1).verdict == BETTER
    assert test.state.waiting == 0


def test_a_verdict_stays() -> None:
    test = fed([4] * 400)
    decided = test.state
    assert decided.verdict == BETTER
    for number in range(400, 900):
        test.add(number, 0, 0)
    assert test.state == decided
    assert sum(decided.pairs) < 120


@pytest.mark.parametrize(
    ("kind", "elo0", "elo1", "verdict"),
    [
        (4, 0, 10, BETTER),
        (0, 0, 10, NOT_BETTER),
        (2, 0, 10, NOT_BETTER),
        (2, -10, 0, BETTER),
        (0, -1000, -500, NOT_BETTER),
        (4, 500, 1000, BETTER),
        (3, 0, 10, BETTER),
        (1, -10, 0, NOT_BETTER),
        (0, 900, 1000, NOT_BETTER),
    ],
)
def test_lopsided_results_end_soon_and_stay_finite(kind: int, elo0: float, elo1: float, verdict: str) -> None:
    test = Sprt(elo0, elo1)
    for number in range(2500):
        state = test.add(number, *GAMES[kind])
        json.dumps(state.to_json(), allow_nan=False)
        if state.verdict is not None:
            break
    assert state.verdict == verdict
    assert math.isfinite(test.expected_pairs(0))


def test_one_sided_results_that_fit_both_hypotheses_alike_decide_nothing() -> None:
    test = fed([2] * 1000, -5, 5)
    assert test.state.llr == pytest.approx(0, abs=1e-6)
    assert test.state.verdict is None


def test_what_makes_no_sense_is_refused() -> None:
    for elo0, elo1 in ((10, 0), (5, 5), (0, 2000), (math.nan, 10)):
        with pytest.raises(ValueError, match="elo0 is less than elo1"):
            Sprt(elo0, elo1)
    test = Sprt(0, 10)
    test.add(0, 1, 0)
    test.add(5, 1, 0)
    for number in (0, 5):
        with pytest.raises(ValueError, match=f"pair {number} was added already"):
            test.add(number, 1, 0)
    with pytest.raises(ValueError, match="numbered from 0"):
        test.add(-1, 1, 0)
    with pytest.raises(ValueError, match=r"1, 0\.5 or 0"):
        test.add(1, 0.7, 0)
    with pytest.raises(ValueError, match="positive"):
        expected_pairs(0, 0, 10, -3, 3, 0)


SETTINGS = [(0, 100, 0, 0), (0, 100, 1, 1), (-100, 0, 2, 0), (0, 60, 18, 0)]
LONG_SETTINGS = [(0, 50, 2, 0), (0, 30, 0.86, 1.15), (-50, 0, 0, 0)]


@pytest.mark.parametrize(("elo0", "elo1", "draws", "bias"), SETTINGS)
def test_errors_are_as_rare_as_promised(elo0: float, elo1: float, draws: float, bias: float) -> None:
    runs = 1500
    check_errors(elo0, elo1, draws, bias, runs)


@pytest.mark.parametrize(("elo0", "elo1", "draws", "bias"), LONG_SETTINGS)
def test_errors_are_as_rare_as_promised_in_many_runs(
    elo0: float, elo1: float, draws: float, bias: float, long: bool
) -> None:
    if not long:
        pytest.skip("takes minutes: --long")
    check_errors(elo0, elo1, draws, bias, 10_000)


def check_errors(elo0: float, elo1: float, draws: float, bias: float, runs: int) -> None:
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    wrongly, _ = simulate(pair_chances(elo0, draws, bias), elo0, elo1, runs, 1)
    rightly, _ = simulate(pair_chances(elo1, draws, bias), elo0, elo1, runs, 2)
    assert wrongly <= most
    assert 1 - rightly <= most


def test_the_expected_number_of_pairs_is_near_what_tests_take() -> None:
    lower, upper = limits(0.05, 0.05)
    for ahead in (0, 30, 60):
        chances = pair_chances(ahead, 1.0)
        deviation = math.sqrt(float(chances @ (PAIR_VALUES - expected_share(ahead)) ** 2))
        passed, taken = simulate(chances, 0, 60, 600, 4)
        assert expected_pairs(ahead, 0, 60, lower, upper, deviation) == pytest.approx(taken, rel=0.2)
        assert chance_to_pass(ahead, 0, 60, lower, upper, deviation) == pytest.approx(passed, abs=0.07)


def test_expected_pairs_at_the_hypotheses_and_between() -> None:
    lower, upper = limits(0.05, 0.05)
    assert chance_to_pass(0, 0, 10, lower, upper) == pytest.approx(0.05, abs=1e-3)
    assert chance_to_pass(10, 0, 10, lower, upper) == pytest.approx(0.95, abs=1e-3)
    assert chance_to_pass(5, 0, 10, lower, upper) == pytest.approx(0.5, abs=1e-2)
    assert chance_to_pass(900, 0, 10, lower, upper) == pytest.approx(1)
    assert chance_to_pass(-900, 0, 10, lower, upper) == pytest.approx(0)
    between = expected_pairs(5, 0, 10, lower, upper)
    assert between > expected_pairs(0, 0, 10, lower, upper) > expected_pairs(-50, 0, 10, lower, upper) > 0
    assert Sprt(0, 10).expected_pairs(5) == pytest.approx(between)
    assert fed([2] * 50).expected_pairs(5) < between


# Normalised Elo and BayesElo


def constrained(counts: list[int], steps: float) -> float:
    """The greatest log likelihood of counts with (mean - 1/2) = steps * deviation, by a general optimiser."""
    optimize = pytest.importorskip("scipy.optimize")
    seen = np.where(np.array(counts) > 0, counts, 0.001)

    def chances(weights: Numbers) -> Numbers:
        powers = np.exp(weights - weights.max())
        return np.asarray(powers / powers.sum())

    def excess(weights: Numbers) -> float:
        found = chances(weights)
        mean = found @ PAIR_VALUES
        return float(mean - 0.5 - steps * math.sqrt(found @ (PAIR_VALUES - mean) ** 2))

    best = optimize.minimize(
        lambda weights: -float(seen @ np.log(chances(weights))) / seen.sum(),
        np.log(seen / seen.sum()),
        constraints={"type": "eq", "fun": excess},
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return -float(best.fun) * float(seen.sum())


@pytest.mark.parametrize("counts", [[3, 20, 40, 25, 5], [30, 2, 40, 3, 45], [379, 10170, 21828, 10640, 343]])
@pytest.mark.parametrize("bounds", [(0, 5), (-3, 1), (0, 40)])
def test_the_normalised_ratio_agrees_with_a_general_optimiser(counts: list[int], bounds: tuple[float, float]) -> None:
    steps = [bound / NORMALISED * math.sqrt(2) for bound in bounds]
    expected = constrained(counts, steps[1]) - constrained(counts, steps[0])
    assert float(normalized_ratio(counts, *bounds)) == pytest.approx(expected, abs=0.003)


def test_the_normalised_ratio_agrees_with_a_published_figure() -> None:
    """Of fastchess pull request 783: normalised bounds 0 and 2, LLR 2.94598."""
    assert float(normalized_ratio([379, 10170, 21828, 10640, 343], 0, 2)) == pytest.approx(2.946, abs=0.01)


def test_bayes_elo_in_closed_form() -> None:
    """With equally many wins and losses the draw parameter gives back the frequencies, and the ratio is a sum."""
    losses, draws, wins = 200, 600, 200
    draw_elo = float(estimated_draw_elo([losses, draws, wins]))
    assert draw_elo == pytest.approx(400 * math.log10((1 - 0.2) / 0.2))
    assert bayes_chances(0, draw_elo) == pytest.approx([0.2, 0.6, 0.2])

    def chance(ahead: float) -> float:
        return float(1 / (1 + 10 ** ((draw_elo - ahead) / 400)))

    win, loss = chance(10), chance(-10)
    expected = wins * math.log(win / 0.2) + draws * math.log((1 - win - loss) / 0.6) + losses * math.log(loss / 0.2)
    assert float(bayes_ratio([losses, draws, wins], 0, 10)) == pytest.approx(expected)
    assert math.isfinite(float(bayes_ratio([0, 0, 50], 0, 10)))
    assert float(bayes_ratio([0, 0, 50], 0, 10)) > 0 > float(bayes_ratio([50, 0, 0], 0, 10))


@pytest.mark.parametrize("true", [0, 1])
def test_normalised_errors_are_kept(true: int) -> None:
    """At a bound the wrong verdict comes in about one test of twenty."""
    bounds, chances = (0.0, 120.0), pair_chances(0, draws=1.5)
    if true:
        deviation = math.sqrt(chances @ (PAIR_VALUES - 0.5) ** 2)
        chances = pair_chances(elo(0.5 + bounds[1] / NORMALISED * math.sqrt(2) * deviation), draws=1.5)
    passed = simulated_passes(lambda counts: normalized_ratio(counts, *bounds), chances, seed=4 + true)
    assert abs(passed - (0.95 if true else 0.05)) < 0.035


@pytest.mark.parametrize("true", [0, 1])
def test_bayes_errors_are_kept(true: int) -> None:
    bounds, draw_elo = (0.0, 80.0), 200.0
    chances = bayes_chances(bounds[true], draw_elo)
    passed = simulated_passes(lambda counts: bayes_ratio(counts, *bounds), chances, seed=8 + true)
    assert abs(passed - (0.95 if true else 0.05)) < 0.035


def simulated_passes(llr_of: Callable[[Numbers], Numbers], chances: Numbers, seed: int, runs: int = 400) -> float:
    """How often tests pass whose results have these chances, all runs side by side."""
    lower, upper = limits(0.05, 0.05)
    dice, kinds = np.random.default_rng(seed), len(chances)
    counts, passed, going = np.zeros((runs, kinds)), np.zeros(runs, dtype=bool), np.arange(runs)
    while len(going):
        counts[going, dice.choice(kinds, size=len(going), p=chances)] += 1
        llr = llr_of(counts[going])
        passed[going] = llr >= upper
        going = going[(llr > lower) & (llr < upper)]
    return float(passed.mean())


def test_a_test_uses_its_model() -> None:
    tests = [Sprt(0, 10, model=model) for model in MODELS]
    for number, kind in enumerate([2, 3, 4, 3, 2, 1, 4]):
        for test in tests:
            test.add(number, *GAMES[kind])
    counts, games = [0, 1, 2, 2, 2], [3, 3, 8]
    found = [ratio(counts, 0, 10), normalized_ratio(counts, 0, 10), bayes_ratio(games, 0, 10)]
    assert [test.state.llr for test in tests] == pytest.approx([float(one) for one in found])
    with pytest.raises(ValueError, match="the model of a test is"):
        Sprt(0, 10, model="guess")
