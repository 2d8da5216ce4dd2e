"""Prior ratings of the built-in bots: measured by many games, and shipped with each game as ``ratings.json``.

The file has the results of the games and the ratings that follow from them. ``benchmarks/strength --league`` plays the
games and writes it. A plug-in game may bring one in its package; without it, its built-ins begin unrated.
"""

import json
import math
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ludodrome.arena.statistics.ratings import Ratings, rate
from ludodrome.games import find, package_folder

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


UNMEASURED = PriorRatings("", "", {}, {}, 0)


@lru_cache(maxsize=64)
def prior_ratings(game: str) -> PriorRatings:
    """The prior ratings of a game; ``UNMEASURED`` if its package has none."""
    module = find(game).module
    try:
        path = package_folder(module) / FILE
    except ValueError:  # a module without a folder: a single file, or made while running
        return UNMEASURED
    if not path.is_file():
        return UNMEASURED
    text = path.read_text("utf-8")
    found = json.loads(text)
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


def to_json(measured: str, command: str, results: Results, specs: tuple[str, ...]) -> dict[str, Any]:
    """The contents of ``ratings.json``."""
    counts: dict[tuple[str, str], list[int]] = {}
    for (pair, returns), times in results.items():
        counts.setdefault(pair, [0, 0, 0])[1 - int(returns[0])] += times
    rows = [[*pair, *found] for pair, found in sorted(counts.items())]
    ratings = {spec: one._asdict() for spec, one in relative(rate(results), specs).items()}
    return {"measured": measured, "command": command, "ratings": ratings, "results": rows}
