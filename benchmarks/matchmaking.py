"""A simulated league: true strengths are known, games are thrown by dice, and the ladder must find the ranks out.

Printed are two tables: a league that begins with nobody known, and newcomers to a league that has settled. Pairings are
those of ``arena/ladder/matchmaking.py`` and, to compare, by lot. Ratings move as ``statistics/ratings.py`` says, in
arrays; that both are the same is checked at the beginning.
"""

import argparse
import math
import time

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.ladder.matchmaking import BETA, choose_pair, choose_pairs
from ludodrome.arena.ladder.rating_updates import ELO_A_MU
from ludodrome.arena.statistics.ratings import MU, SIGMA, Rating, update

SPREAD = 300.0
"""Standard deviation of the true strengths, in Elo."""
DRAWS = 0.1
TAU = MU / 300
"""What OpenSkill adds to every uncertainty before a game."""
LEAST = 1e-4
NEWCOMERS = 200
Numbers = NDArray[np.float64]


class League:
    """Bots with a true strength and what is believed of them."""

    def __init__(self, count: int, dice: np.random.Generator) -> None:
        self.dice = dice
        self.truth: Numbers = MU + dice.normal(0.0, SPREAD / ELO_A_MU, count)
        self.mu, self.sigma = np.full(count, MU), np.full(count, SIGMA)
        self.games = np.zeros(count, dtype=np.int64)

    def play(self, pairs: NDArray[np.int64]) -> None:
        """One game of each pair."""
        first, second = pairs[:, 0], pairs[:, 1]
        apart = (self.truth[first] - self.truth[second]) * ELO_A_MU
        lots = self.dice.random(len(pairs))
        wins = (1 - DRAWS) / (1 + 10 ** (-apart / 400))
        score = np.where(lots < wins, 1.0, np.where(lots < wins + DRAWS, 0.5, 0.0))
        following = moved(self.mu[first], self.sigma[first], self.mu[second], self.sigma[second], score)
        self.mu[first], self.sigma[first], self.mu[second], self.sigma[second] = following
        np.add.at(self.games, pairs.ravel(), 1)

    def wrong(self, who: slice = slice(None)) -> tuple[float, float]:
        """How far ranks are from the true ones at the median, and the share of bots within 5 % of theirs."""
        away = np.abs(ranks(self.mu) - ranks(self.truth))[who] / len(self.mu)
        return float(np.median(away)), float((away <= 0.05).mean())


def ranks(values: Numbers) -> NDArray[np.int64]:
    """The places of values, from 0."""
    found = np.empty(len(values), dtype=np.int64)
    found[np.argsort(values, kind="stable")] = np.arange(len(values))
    return found


def moved(mu: Numbers, sigma: Numbers, other: Numbers, other_sigma: Numbers, score: Numbers) -> tuple[Numbers, ...]:
    """``skill.update`` for many games at once."""
    mine, theirs = sigma**2 + TAU**2, other_sigma**2 + TAU**2
    spread = np.sqrt(mine + theirs + 2 * BETA**2)
    expected = 1 / (1 + np.exp((other - mu) / spread))
    found = []
    for middle, variance, gained in ((mu, mine, score - expected), (other, theirs, expected - score)):
        change = np.sqrt(variance) / spread * (variance / spread**2) * expected * (1 - expected)
        found += [middle + variance / spread * gained, np.sqrt(variance * np.maximum(1 - change, LEAST))]
    return tuple(found)


def check() -> None:
    """The arrays move as the ladder's own ratings do."""
    for one, other, returns in (
        (Rating(), Rating(30.0, 2.0), (1.0, -1.0)),
        (Rating(21.0, 5.0), Rating(24.0, 1.2), (0.0, 0.0)),
    ):
        exact = update([one, other], returns)
        score = np.array([(returns[0] - returns[1] + 2) / 4])
        numbers = [np.array([value]) for value in (one.mu, one.sigma, other.mu, other.sigma)]
        found = [float(value[0]) for value in moved(*numbers, score)]
        expected = [exact[0].mu, exact[0].sigma, exact[1].mu, exact[1].sigma]
        assert all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(found, expected, strict=True)), (found, expected)


def by_lot(count: int, dice: np.random.Generator) -> NDArray[np.int64]:
    """Pairs that nobody has thought about."""
    order = dice.permutation(count)
    return order[: count // 2 * 2].reshape(-1, 2)


def begin(count: int, games: int, seed: int) -> League:
    """Everybody begins at once; the table says how ranks come right. The league that was matched is handed back."""
    print(f"\nA league of {count:,} bots of whom nothing is known (true strengths spread by {SPREAD:.0f} Elo)")
    print(f"games each  {'matched: rank error':>20}  {'within 5 %':>10}  {'by lot: rank error':>18}  within 5 %")
    matched, lot = (League(count, np.random.default_rng(seed)) for _ in range(2))
    spent = 0.0
    made = 0
    for mark in [one for one in (5, 10, 20, 30, 50, 75, 100, 150, 200) if one <= games]:
        while matched.games.mean() < mark:
            began = time.process_time()
            pairs = choose_pairs(matched.mu, matched.sigma, count, matched.dice)
            spent += time.process_time() - began
            made += len(pairs)
            matched.play(pairs)
        while lot.games.mean() < mark:
            lot.play(by_lot(count, lot.dice))
        (error, near), (lot_error, lot_near) = matched.wrong(), lot.wrong()
        print(f"{mark:>10}  {error:>20.2%}  {near:>10.0%}  {lot_error:>18.2%}  {lot_near:>10.0%}", flush=True)
    print(f"pairings: {spent / made * 1e6:.0f} microseconds of one core a pair")
    return matched


def join(league: League, games: int) -> None:
    """Newcomers to a settled league, matched one by one as the runner does."""
    count = len(league.mu)
    new = np.arange(NEWCOMERS)
    league.mu[new], league.sigma[new], league.games[new] = MU, SIGMA, 0
    eager, free = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    print(f"\n{NEWCOMERS} newcomers to that league, after so many games of their own")
    print(f"{'games':>10}  {'rank error':>10}  {'within 5 %':>10}  {'sigma':>6}  {'interval, Elo':>13}")
    spent = 0.0
    calls = 0
    for mark in [one for one in (2, 5, 10, 20, 30, 50, 75, 100, 150, 200) if one <= games]:
        for one in new:
            while league.games[one] < mark:
                eager[:] = False
                eager[one] = True
                began = time.process_time()
                pair = choose_pair(
                    league.mu, np.maximum(league.sigma, np.where(eager, 2.0, 0.0)), eager, free, league.dice
                )
                spent += time.process_time() - began
                calls += 1
                assert pair is not None
                league.play(np.array([pair]))
        error, near = league.wrong(slice(0, NEWCOMERS))
        sigma = float(np.median(league.sigma[new]))
        reach = 1.96 * sigma * ELO_A_MU
        print(
            f"{mark:>10}  {error:>10.2%}  {near:>10.0%}  {sigma:>6.2f}  {'+-' + format(reach, '.0f'):>13}", flush=True
        )
    print(f"choosing a pair among {count:,} bots: {spent / calls * 1e6:.0f} microseconds of one core")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--games", type=int, default=100, help="of each bot")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    check()
    league = begin(given.bots, given.games, given.seed)
    join(league, given.games)


if __name__ == "__main__":
    main()
