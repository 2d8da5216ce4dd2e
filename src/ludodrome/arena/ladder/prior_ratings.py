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
