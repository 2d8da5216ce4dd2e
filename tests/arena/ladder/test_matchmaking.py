"""Who meets whom: uncertain ones first, near ones preferably, nobody twice at once."""

import numpy as np

from ludodrome.arena.ladder.matchmaking import NARROW, choose_pair, choose_pairs, information
from ludodrome.arena.statistics.ratings import MU, SIGMA


def _all(count: int, value: bool = True) -> np.ndarray:
    return np.full(count, value)


def test_the_uncertain_plays_first_and_meets_somebody_near() -> None:
    mu = np.array([25.0, 24.5, 60.0, 25.5, -10.0])
    sigma = np.array([SIGMA, 2.0, 2.0, 2.0, 2.0])
    met = set()
    for seed in range(50):
        pair = choose_pair(mu, sigma, _all(5), _all(5), np.random.default_rng(seed))
        assert pair is not None
        assert pair[0] == 0
        met.add(pair[1])
    assert met == {1, 3}  # near ones, each of them now and then


def test_of_two_equally_near_the_uncertain_one_is_met() -> None:
    worth = information(np.array([25.0, 25.0, 25.0]), np.array([SIGMA, 1.0, SIGMA]), 0)
    assert worth[2] > worth[1] > worth[0] == 0


def test_a_game_between_unequals_says_less() -> None:
    worth = information(np.array([25.0, 26.0, 45.0]), np.array([3.0, 3.0, 3.0]), 0)
    assert worth[1] > 2 * worth[2]


def test_nobody_plays_when_nobody_needs_to() -> None:
    dice = np.random.default_rng(0)
    mu = np.full(4, MU)
    rested = np.full(4, NARROW)
    assert choose_pair(mu, rested, _all(4), _all(4), dice) is None
    wide = np.full(4, SIGMA)
    assert choose_pair(mu, wide, _all(4, False), _all(4), dice) is None
    assert choose_pair(mu, wide, _all(4), np.array([True, False, False, False]), dice) is None
    assert (
        choose_pair(mu, wide, np.array([True, False, False, False]), ~np.array([True, False, False, False]), dice)
        is None
    )


def test_only_the_free_are_met_and_rested_ones_help() -> None:
    mu, sigma = np.full(4, MU), np.array([SIGMA, NARROW / 2, NARROW / 2, SIGMA])
    eager, free = np.array([True, True, True, False]), np.array([True, False, True, False])
    for seed in range(20):
        assert choose_pair(mu, sigma, eager, free, np.random.default_rng(seed)) == (0, 2)


def test_many_pairs_at_once_share_nobody() -> None:
    dice = np.random.default_rng(1)
    mu, sigma = dice.normal(MU, 8, 1001), dice.uniform(1, SIGMA, 1001)
    found = choose_pairs(mu, sigma, 10_000, dice)
    assert len(found) > 480
    assert len(set(found.ravel().tolist())) == found.size
    apart = np.abs(mu[found[:, 0]] - mu[found[:, 1]])
    strangers = np.abs(mu[found[:, 0]] - dice.permutation(mu)[: len(found)])
    assert apart.mean() < strangers.mean() / 3
    assert len(choose_pairs(mu, sigma, 7, dice)) == 7
    assert choose_pairs(mu[:1], sigma[:1], 5, dice).shape == (0, 2)


def test_those_who_need_games_most_are_taken_first() -> None:
    mu, sigma = np.full(200, MU), np.full(200, 1.0)
    sigma[:20] = SIGMA
    found = choose_pairs(mu, sigma, 10, np.random.default_rng(2))
    assert np.isin(found[:, 0], np.arange(20)).all()
    assert np.isin(found[:, 1], np.arange(20)).sum() >= 5
