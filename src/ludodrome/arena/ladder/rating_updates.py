"""Rating updates of the ladder: after every game, and at times exactly from all games together.

After every game the ratings of its bots change by ``statistics/ratings.py``. At certain places (``is_refit``) all games
are rated together by ``statistics/ratings.py``, which replaces the ratings and intervals of all connected bots. Nothing
else is used, so ``recompute`` reaches the same digits from the same games.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Engine

from ludodrome.arena.statistics.ratings import MU, SIGMA, Rating, update
from ludodrome.arena.statistics.ratings import rate as rate_together
from ludodrome.arena.statistics.scores import ELO
from ludodrome.store.league_ratings import LadderScore, RatedGame, RatingBook, ladders, recount

MIDDLE = 1500.0
"""The rating of an unknown bot."""
ELO_A_MU = ELO / (math.sqrt(2) * SIGMA / 2)
"""Elo per unit of mu, between two well-known ratings."""
DEVIATIONS = 1.96
"""Half-width of the 95 % interval, in sigmas."""
FIRST_REFIT = 20
"""All games are rated together after this many games, twice as many, and so on ..."""
REFIT_EVERY = 1280
"""... and then whenever this many more are in."""
FIRM_GAMES = 10
"""A bot with fewer games keeps its live rating."""
MAX_REFITTED = 1000
"""With more bots than this, no exact ratings are computed: the work grows with their cube."""
MIN_SIGMA = 0.25
DIGITS = 6
"""Decimal places of stored ratings, so that the last bits of a library do not matter."""


class DisplayedRating(NamedTuple):
    """A rating for display, with its 95 % interval."""

    rating: float
    low: float
    high: float


def displayed_rating(mu: float | None, sigma: float | None) -> DisplayedRating:
    """A rating in Elo points; without games the middle, with the widest interval."""
    middle = MIDDLE + ELO_A_MU * ((MU if mu is None else mu) - MU)
    reach = DEVIATIONS * ELO_A_MU * (SIGMA if sigma is None else sigma)
    return DisplayedRating(round(middle, 1), round(middle - reach, 1), round(middle + reach, 1))


def is_refit(place: int) -> bool:
    """Whether all games are rated together after the game of this place."""
    if place >= REFIT_EVERY:
        return place % REFIT_EVERY == 0
    rounds, rest = divmod(place, FIRST_REFIT)
    return rest == 0 and rounds > 0 and rounds & (rounds - 1) == 0


def count_game(book: RatingBook, game: RatedGame) -> None:
    """Update the ratings of the bots of a game."""
    returns: Sequence[float] = game.counted["returns"]
    before = [book.score(bot) or LadderScore(MU, SIGMA, 0, 0, 0, 0, {}) for bot in game.bots]
    after = update([Rating(one.mu, one.sigma) for one in before], returns)
    best, shared = max(returns), list(returns).count(max(returns)) > 1
    for seat, (bot, score, rating) in enumerate(zip(game.bots, before, after, strict=True)):
        won = returns[seat] == best and not shared
        drew = returns[seat] == best and shared
        verdicts = dict(score.verdicts)
        for offender, cause in game.counted["verdicts"]:
            if offender == seat:
                verdicts[cause] = verdicts.get(cause, 0) + 1
        counts = score.games + 1, score.wins + won, score.draws + drew, score.losses + (not won and not drew)
        mu, sigma = round(rating.mu, DIGITS), round(rating.sigma, DIGITS)
        book.write(bot, LadderScore(mu, sigma, *counts, dict(sorted(verdicts.items()))))
        book.step(bot, game.place, mu, sigma)
    if len(game.bots) == 2:
        book.meet(*game.bots, 1 if shared else int(returns[1] == best) * 2)
        if is_refit(game.place):
            _refit(book, game.place)


def _refit(book: RatingBook, place: int) -> None:
    """Compute the exact ratings of all bots that games bound on both sides."""
    played: dict[tuple[tuple[str, ...], tuple[float, ...]], int] = {}
    for pair, results in sorted(book.meetings().items()):
        for returns, times in zip(((1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)), results, strict=True):
            if times:
                played[pair, returns] = times
    if len({bot for pair, _ in played for bot in pair}) > MAX_REFITTED:
        return
    found = rate_together(played)
    largest = Counter(found.links.group).most_common(1)[0][0]
    variances = found.covariance.diagonal()
    for player in found.links.core_of(found.links.group.index(largest)):
        score = book.score(found.names[player])
        if score is not None and score.games >= FIRM_GAMES:
            mu = round(MU + float(found.ratings[player]) / ELO_A_MU, DIGITS)
            sigma = round(max(MIN_SIGMA, math.sqrt(max(float(variances[player]), 0.0)) / ELO_A_MU), DIGITS)
            book.write(found.names[player], score._replace(mu=mu, sigma=sigma))
            book.step(found.names[player], place, mu, sigma)


# Recomputation


@dataclass(frozen=True, slots=True)
class RecomputeReport:
    """The outcome of a recomputation."""

    bots: int
    """Number of rated bots."""
    games: int
    """Number of rated games."""
    changed: list[str] = field(default_factory=list)
    """The ids of the bots whose ratings were wrong."""

    def __str__(self) -> str:
        what = f"{self.games:,} rated games, {self.bots:,} bots"
        return f"{what}: all ratings were right" if not self.changed else f"{what}: {len(self.changed)} were put right"


def recompute(engine: Engine, without_contended: bool = False) -> RecomputeReport:
    """Recompute all ratings, and report which were wrong; without games on contended machines if asked."""
    bots = games = 0
    changed: list[str] = []
    for game in ladders(engine):
        before, after = recount(engine, game, count_game, without_contended)
        bots += len(after)
        games += sum(score.games for score in after.values()) // 2
        changed += [bot for bot in sorted({*before, *after}) if before.get(bot) != after.get(bot)]
    return RecomputeReport(bots, games, changed)
