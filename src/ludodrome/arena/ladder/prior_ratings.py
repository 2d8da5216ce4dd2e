"""Prior ratings of the built-in bots: measured by many games, and shipped with each game as ``ratings.json``.

The file has the results of the games, the ratings that follow from them, and the options that were played with where
they are not the defaults. ``benchmarks/strength --league`` plays the games and writes it. A plug-in game may bring one
in its package; without it, or if it was measured with other options than the ladder's, its built-ins begin unrated.
"""

import json
import math
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ludodrome.arena.statistics.ratings import Ratings, rate
from ludodrome.game import Game
from ludodrome.games import find, make, package_folder

FILE = "ratings.json"
TREND_STEPS, TREND_SEED = 12, 5
"""Points of a trend, and the seed of the order in which the games are taken."""

Results = Mapping[tuple[tuple[str, str], tuple[float, float]], int]
"""How often each result was seen: two bots by seat, their returns by seat."""


class PriorRating(NamedTuple):
    """A measured rating in Elo points, relative to the mean of all built-ins of the league."""

    elo: float
    error: float
    """Standard error."""
    games: int


class PriorRatings(NamedTuple):
    """The measured ratings of a game's built-ins."""

    measured: str
    """The date of the last game, like 2026-11-18; empty if nothing was measured."""
    command: str
    """The command that measures them again."""
    ratings: dict[str, PriorRating]
    """By spec, the best first."""
    results: dict[tuple[tuple[str, str], tuple[float, float]], int]
    digest: int
    """A number that changes with the file."""


def ladder_game(game: str) -> Game:
    """A game with the options of its ladder: those that people meet first."""
    return make(game, **find(game).game_class().people_options)


def has_ladder_options(game: str, options: Mapping[str, Any]) -> bool:
    """Whether options, of which some may be missing, are those of the ladder; false if the game does not take them."""
    try:
        return make(game, **options).options == ladder_game(game).options
    except (TypeError, ValueError):
        return False


UNMEASURED = PriorRatings("", "", {}, {}, 0)


@lru_cache(maxsize=64)
def prior_ratings(game: str) -> PriorRatings:
    """The prior ratings of a game; ``UNMEASURED`` if its package has none for the options of the ladder."""
    module = find(game).module
    try:
        path = package_folder(module) / FILE
    except ValueError:  # a module without a folder: a single file, or made while running
        return UNMEASURED
    if not path.is_file():
        return UNMEASURED
    text = path.read_text("utf-8")
    found = json.loads(text)
    if not has_ladder_options(game, found.get("options", {})):
        return UNMEASURED
    ratings = {spec: PriorRating(**one) for spec, one in found["ratings"].items()}
    results: dict[tuple[tuple[str, str], tuple[float, float]], int] = {}
    for first, second, *counts in found["results"]:
        for returns, times in zip(((1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)), counts, strict=True):
            if times:
                results[(first, second), returns] = times
    return PriorRatings(found["measured"], found["command"], ratings, results, zlib.crc32(text.encode()) & 0x7FFFFFFF)


class MeasuredRow(NamedTuple):
    """A built-in in the crosstable of the measured games."""

    spec: str
    rating: PriorRating
    cells: tuple[tuple[float, int] | None, ...]
    """Against each built-in, in the order of the rows: points and games; None for those who never met."""
    points: float
    """Of all its measured games, also against bots that are not in the table."""
    trend: tuple[float, ...]
    """Its rating, estimated from a growing part of the measured games."""


@lru_cache(maxsize=64)
def crosstable(game: str) -> tuple[MeasuredRow, ...]:
    """The measured games of the built-ins against each other, the best first."""
    priors = prior_ratings(game)
    tally: dict[tuple[str, str], tuple[float, int]] = {}
    total: dict[str, float] = {}
    for (pair, returns), times in priors.results.items():
        for seat in (0, 1):
            points = (1 + returns[seat]) / 2 * times
            before = tally.get((pair[seat], pair[1 - seat]), (0.0, 0))
            tally[pair[seat], pair[1 - seat]] = before[0] + points, before[1] + times
            total[pair[seat]] = total.get(pair[seat], 0.0) + points
    specs, trends = tuple(priors.ratings), _trends(priors)
    return tuple(
        MeasuredRow(
            spec,
            priors.ratings[spec],
            tuple(None if spec == other else tally.get((spec, other)) for other in specs),
            total.get(spec, 0.0),
            trends.get(spec, ()),
        )
        for spec in specs
    )


def _trends(priors: PriorRatings) -> dict[str, tuple[float, ...]]:
    """How the ratings settled while the games were counted, in a random order that is always the same.

    The file does not say in which order they were played. They are independent, so any other is as good.
    """
    if not priors.ratings:
        return {}
    kinds = list(priors.results)
    games = np.random.default_rng(TREND_SEED).permutation(
        np.repeat(np.arange(len(kinds)), list(priors.results.values()))
    )
    steps: dict[str, list[float]] = {}
    for step in range(1, TREND_STEPS + 1):
        counts = np.bincount(games[: len(games) * step // TREND_STEPS], minlength=len(kinds))
        part = {kind: int(count) for kind, count in zip(kinds, counts, strict=True) if count}
        names = {name for pair, _ in part for name in pair}
        found = relative(rate(part), tuple(spec for spec in priors.ratings if spec in names))
        for spec, rating in found.items():
            steps.setdefault(spec, []).append(rating.elo)
    return {spec: tuple(elos) for spec, elos in steps.items()}


def relative(found: Ratings, specs: tuple[str, ...]) -> dict[str, PriorRating]:
    """The ratings of some bots relative to their mean, the best first."""
    places = [found.names.index(spec) for spec in specs]
    middle = found.ratings[places].mean()
    ratings: dict[str, PriorRating] = {}
    for spec, place in sorted(zip(specs, places, strict=True), key=lambda one: -found.ratings[one[1]]):
        contrast = np.zeros(len(found.names))
        contrast[places] -= 1 / len(places)
        contrast[place] += 1
        error = math.sqrt(max(float(contrast @ found.covariance @ contrast), 0.0))
        games = int(found.games[place])
        ratings[spec] = PriorRating(round(float(found.ratings[place] - middle), 1), round(error, 1), games)
    return ratings


def to_json(
    measured: str, command: str, results: Results, specs: tuple[str, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The contents of ``ratings.json``. ``options``: those that were played with, where they are not the defaults."""
    counts: dict[tuple[str, str], list[int]] = {}
    for (pair, returns), times in results.items():
        counts.setdefault(pair, [0, 0, 0])[1 - int(returns[0])] += times
    rows = [[*pair, *found] for pair, found in sorted(counts.items())]
    ratings = {spec: one._asdict() for spec, one in relative(rate(results), specs).items()}
    played_with = {"options": dict(options)} if options else {}
    return {"measured": measured, "command": command, **played_with, "ratings": ratings, "results": rows}
