"""Ratings that change game by game, for the live ladder: OpenSkill's, with any number of seats.

The model is Weng and Lin's Bradley-Terry with partial pairing. With two or three seats everybody is compared with
everybody, and a shared place is worth the mean of the places shared. OpenSkill's Plackett-Luce does not do that: it
gives each of those who share the first place only what the second gets (openskill.py, issue 155), and it cuts
fractions off ranks, so that places 0.2 and 0.7 tie. Both are shown in tests/arena/statistics/test_skill.py.

Against what was reported of its other models with ties (openskill.py, issues 166, 173, 201):
- Ranks are whole numbers, made here from the returns; its scores are not used.
- Players are handed over in one order, whatever the order of seats, so that the last bits do not depend on it.
- Players alike in rating and rank get the same new rating, to the last bit.
- No option is given with a game: it would keep it for all games that follow.

Ratings of a finished set of games are in ``ratings.py``: they use all games at once and have honest intervals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openskill.models import BradleyTerryPart

MU, SIGMA = 25.0, 25.0 / 3
"""The rating of an unknown player."""
MAX_MU = 1000.0


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's strength as a normal distribution."""

    mu: float = MU
    sigma: float = SIGMA

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mu) and abs(self.mu) <= MAX_MU and 0 < self.sigma <= MAX_MU):
            raise ValueError(f"mu is within {MAX_MU:g} of 0 and sigma above 0, not {self.mu} and {self.sigma}")


def ranks(returns: Sequence[float]) -> list[int]:
    """Places from 0, the best; equal returns share a place."""
    return [sum(other > one for other in returns) for one in returns]


def update(ratings: Sequence[Rating], returns: Sequence[float]) -> list[Rating]:
    """The ratings after a game, by seat like the arguments."""
    if len(ratings) != len(returns) or len(ratings) < 2:
        raise ValueError(f"a game has two or more players and as many returns, not {len(ratings)} and {len(returns)}")
    if not all(math.isfinite(one) for one in returns):
        raise ValueError(f"returns are finite numbers, not {list(returns)}")
    keys = [(rank, rating.mu, rating.sigma) for rank, rating in zip(ranks(returns), ratings, strict=True)]
    ordered = sorted(keys)
    model = _model()
    teams = [[model.rating(mu, sigma)] for _, mu, sigma in ordered]
    rated = model.rate(teams, ranks=[float(rank) for rank, _, _ in ordered])
    following: dict[tuple[int, float, float], Rating] = {}
    for key, team in zip(ordered, rated, strict=True):
        mu = min(max(float(team[0].mu), -MAX_MU), MAX_MU)
        following.setdefault(key, Rating(mu, float(team[0].sigma)))
    return [following[key] for key in keys]


@lru_cache(maxsize=1)
def _model() -> "BradleyTerryPart":
    try:
        from openskill.models import BradleyTerryPart  # optional extra: ratings
    except ImportError as error:
        raise ImportError(
            "the ladder's ratings need openskill, which is not installed: pip install 'ludodrome[ratings]'",
            name=error.name,
        ) from error
    return BradleyTerryPart(mu=MU, sigma=SIGMA, beta=SIGMA / 2)
