"""Rating updates of the ladder: after every game, and at times exactly from all games together.

After every game the ratings of its versions change by ``statistics/ratings.py``. At certain places (``is_refit``) all
games are rated together, which replaces the ratings and intervals of all connected versions. Nothing else is used, so
``recompute`` reaches the same digits from the same games.

- Built-ins begin with measured ratings (``prior_ratings.py``), which change only by games between built-ins: the
  owner of a bot cannot raise or lower them.
- Only games with the options of the ladder count. If these change with a release, the ladder begins anew: games played
  with other options are kept, but no longer rated.
- A new version of a bot begins with the rating of the version before, less certain.
- A game that a bot lost by a failure of its own counts against it. If more than ``UNRELIABLE`` of its games end so, the
  game is no evidence for its opponents: their ratings stay as they were.
"""

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Engine

from ludodrome.arena.ladder.prior_ratings import has_ladder_options, prior_ratings
from ludodrome.arena.matches.tallies import FORFEIT
from ludodrome.arena.seats import CRASH, TIMEOUT
from ludodrome.arena.statistics.ratings import MU, SIGMA, Rating, update
from ludodrome.arena.statistics.ratings import rate as rate_together
from ludodrome.arena.statistics.scores import ELO
from ludodrome.games import find
from ludodrome.store import league_ratings
from ludodrome.store.league_ratings import LadderScore, RatedGame, RatingBook, VersionEntry, ladders, recount

RULES = 2
"""Number of these rules. Change it with them: the next runner then recomputes all ratings."""
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
"""A version with fewer games that are evidence keeps its live rating."""
MAX_REFITTED = 1000
"""With more bots than this, no exact ratings are computed: the work grows with their cube."""
MIN_SIGMA = 0.25
UNRELIABLE = 0.1
"""A version that fails in more than this share of its games is unreliable."""
NEW_SIGMA = SIGMA / 2
"""The uncertainty that a new version adds to that of the version before."""
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


def rules_of(game: str) -> int:
    """A number that changes with the rules, the prior ratings and the options: then a ladder must be recomputed."""
    options = find(game).game_class().people_options
    played_with = zlib.crc32(json.dumps(dict(options), sort_keys=True).encode()) if options else 0
    return (prior_ratings(game).digest ^ RULES ^ played_with) & 0x7FFFFFFF


def belongs(play_spec: Mapping[str, Any]) -> bool:
    """Whether a match, given by its play spec, has the options of its game's ladder."""
    return has_ladder_options(play_spec["game"], play_spec.get("options", {}))


def prior_score(game: str, builtin: str | None) -> LadderScore | None:
    """The measured rating of a built-in, given by its name; None if it was not measured, or is not one."""
    prior = None if builtin is None else prior_ratings(game).ratings.get(builtin)
    if prior is None:
        return None
    mu, sigma = MU + prior.elo / ELO_A_MU, max(MIN_SIGMA, prior.error / ELO_A_MU)
    return LadderScore(round(mu, DIGITS), round(sigma, DIGITS))


def first_score(book: RatingBook, entrant: VersionEntry) -> LadderScore | None:
    """The rating that a version begins with: measured, or that of the version before; None if it is unknown."""
    measured = prior_score(book.game, entrant.builtin)
    before = None if measured or entrant.previous is None else _score(book, book.entrant(entrant.previous))
    if before is None or (before.mu, before.sigma) == (MU, SIGMA):
        return measured
    return LadderScore(before.mu, round(min(SIGMA, math.hypot(before.sigma, NEW_SIGMA)), DIGITS))


def begin(book: RatingBook, entrant: VersionEntry) -> None:
    """Write the rating that a version begins with, if it is known."""
    score = first_score(book, entrant)
    if score is not None:
        book.write(entrant.version, score)


def _score(book: RatingBook, entrant: VersionEntry) -> LadderScore:
    """The score of a version. One without games begins anew: games of the version before may have ended meanwhile."""
    known = book.score(entrant.version)
    if known is not None and known.games:
        return known
    return first_score(book, entrant) or LadderScore(MU, SIGMA)


def failed_seats(counted: dict[str, Any]) -> set[int]:
    """The seats whose bots failed in a game: they forfeited it by a fault, crashed, or half of their moves were faults.

    With the policy ``substitute`` a game goes on after a fault; a bot with a few of them has played it all the same.
    """
    faults = Counter(seat for seat, _ in counted["verdicts"])
    failed = {seat for seat, cause in counted["verdicts"] if cause == CRASH or counted["decided_by"] == FORFEIT}
    moves: Sequence[int] = counted["moves"]
    return failed | {seat for seat, count in faults.items() if 2 * count >= max(1, moves[seat])}


def failures_of(counted: dict[str, Any], contended: bool) -> dict[int, bool]:
    """By seat whether its bot failed; without those who were late only because the machine was contended."""
    failed = failed_seats(counted)
    causes = {seat: {cause for one, cause in counted["verdicts"] if one == seat} for seat in failed}
    return {
        seat: seat in failed
        for seat in range(len(counted["returns"]))
        if not (contended and causes.get(seat) == {TIMEOUT})
    }


def is_unreliable(score: LadderScore) -> bool:
    """Whether a version fails too often for its losses to be evidence."""
    return score.failures > UNRELIABLE * score.games


def count_game(book: RatingBook, game: RatedGame) -> None:
    """Update the ratings of the versions of a game."""
    returns: Sequence[float] = game.counted["returns"]
    entrants = [book.entrant(version) for version in game.versions]
    before = [_score(book, entrant) for entrant in entrants]
    failed = failed_seats(game.counted)
    after = update([Rating(one.mu, one.sigma) for one in before], returns)
    counted = [_counted(score, game.counted, seat, seat in failed) for seat, score in enumerate(before)]
    voided = {seat for seat in failed if is_unreliable(counted[seat])}
    measured = [prior_score(book.game, entrant.builtin) is not None for entrant in entrants]
    for seat, (version, score, rating) in enumerate(zip(game.versions, counted, after, strict=True)):
        stays = (measured[seat] and not all(measured)) or (voided and seat not in voided)
        if not stays:
            score = score._replace(mu=round(rating.mu, DIGITS), sigma=round(rating.sigma, DIGITS))
        book.write(version, score)
        book.step(version, game.place, score.mu, score.sigma)
    if len(game.versions) == 2:
        first, second = game.versions
        result = 1 if returns[0] == returns[1] else 0 if returns[0] > returns[1] else 2
        book.meet(first, second, 3 if voided == {0} else 4 if voided == {1} else result)
        if is_refit(game.place):
            _refit(book, game.place)


def _counted(score: LadderScore, counted: dict[str, Any], seat: int, failed: bool) -> LadderScore:
    """A score with one game more; its rating is still that before the game."""
    returns: Sequence[float] = counted["returns"]
    best, shared = max(returns), list(returns).count(max(returns)) > 1
    won = returns[seat] == best and not shared
    drew = returns[seat] == best and shared
    verdicts = dict(score.verdicts)
    for offender, cause in counted["verdicts"]:
        if offender == seat:
            verdicts[cause] = verdicts.get(cause, 0) + 1
    return score._replace(
        games=score.games + 1,
        wins=score.wins + won,
        draws=score.draws + drew,
        losses=score.losses + (not won and not drew),
        failures=score.failures + failed,
        verdicts=dict(sorted(verdicts.items())),
    )


def _refit(book: RatingBook, place: int) -> None:
    """Compute the exact ratings of all versions that games bound on both sides, the games of the measurement included.

    Measured built-ins keep their ratings, and their mean is where the scale is attached. Unreliable versions keep
    theirs, too: the games that they failed are not among these.
    """
    played, names = _all_games(book)
    if len({name for pair, _ in played for name in pair}) > MAX_REFITTED or not played:
        return
    found = rate_together(played)
    largest = Counter(found.links.group).most_common(1)[0][0]
    core = found.links.core_of(found.links.group.index(largest))
    kept = {spec: prior_score(book.game, spec) for spec in prior_ratings(book.game).ratings}
    anchors = [(score.mu, player) for player in core if (score := kept.get(found.names[player])) is not None]
    shift = sum(mu - MU - float(found.ratings[player]) / ELO_A_MU for mu, player in anchors) / max(1, len(anchors))
    variances = found.covariance.diagonal()
    for player in core:
        version = names.get(found.names[player])
        score = None if version is None else book.score(version)
        if version is None or score is None or found.games[player] < FIRM_GAMES or is_unreliable(score):
            continue
        mu = round(MU + shift + float(found.ratings[player]) / ELO_A_MU, DIGITS)
        sigma = round(max(MIN_SIGMA, math.sqrt(max(float(variances[player]), 0.0)) / ELO_A_MU), DIGITS)
        book.write(version, score._replace(mu=mu, sigma=sigma))
        book.step(version, place, mu, sigma)


def _all_games(book: RatingBook) -> tuple[dict[tuple[tuple[str, ...], tuple[float, ...]], int], dict[str, str]]:
    """The games of the ladder with their counts; and the versions that are not measured, by their names here.

    A measured built-in is one player, whatever its version. If there is one, the games of the measurement are included.
    """
    priors = prior_ratings(book.game)
    played: Counter[tuple[tuple[str, ...], tuple[float, ...]]] = Counter()
    names: dict[str, str] = {}
    players: dict[str, str] = {}
    for pair, results in sorted(book.meetings().items()):
        for version in pair:
            if version not in players:
                builtin = book.entrant(version).builtin
                players[version] = builtin if builtin in priors.ratings else f"version {version}"
                names[f"version {version}"] = version
        for returns, times in zip(((1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)), results, strict=True):
            if times:
                played[tuple(players[version] for version in pair), returns] += times
    if not priors.ratings.keys().isdisjoint(players.values()):
        played.update(priors.results)
    return dict(played), names


# Recomputation


def begin_ladder(engine: Engine, game: str) -> None:
    """Write the ratings that new versions of a game begin with; recompute all of them if the rules have changed."""
    if league_ratings.begin(engine, game, begin, rules_of(game)):
        recount(engine, game, count_game, begin, rules_of(game), belongs=belongs)


@dataclass(frozen=True, slots=True)
class RecomputeReport:
    """The outcome of a recomputation."""

    bots: int
    """Number of rated versions of bots."""
    games: int
    """Number of rated games."""
    changed: list[str] = field(default_factory=list)
    """The ids of the versions whose ratings were wrong."""

    def __str__(self) -> str:
        what = f"{self.games:,} rated games, {self.bots:,} bots"
        return f"{what}: all ratings were right" if not self.changed else f"{what}: {len(self.changed)} were put right"


def recompute(engine: Engine, without_contended: bool = False) -> RecomputeReport:
    """Recompute all ratings, and report which were wrong; without games on contended machines if asked."""
    bots = games = 0
    changed: list[str] = []
    for game in ladders(engine):
        before, after = recount(engine, game, count_game, begin, rules_of(game), without_contended, belongs)
        bots += sum(score.games > 0 for score in after.values())
        games += sum(score.games for score in after.values()) // 2
        changed += [one for one in sorted({*before, *after}) if before.get(one) != after.get(one)]
    return RecomputeReport(bots, games, changed)
