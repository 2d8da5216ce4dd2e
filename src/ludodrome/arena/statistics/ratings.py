"""Ratings of many players from all their games together, in Elo, with intervals and with how sure a difference is.

The model and its maximum are in ``choices.py``; two bots against each other in ``scores.py``. Ratings
that change game by game, for the live ladder, are at the end.

- The zero is the mean of the core, the largest set of players in which everybody is linked with everybody by points
  both taken and lost; or it is an anchor.
- With draws, strengths are scaled so that between equals a difference means what it means in Elo: 1 point more is
  0.14 % of the points more. (Davidson's own scale would stretch with the draws.)
- Players outside the core won or lost everything against it. A weak prior (normal, 1000 Elo) keeps them finite, and
  their intervals are taken from the likelihood itself, as the information matrix says little there.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.choices import Choice, Model, choices, gather, likelihood, maximise
from ludodrome.arena.statistics.scores import CERTAINTY, ELO, Numbers, points

if TYPE_CHECKING:
    from openskill.models import BradleyTerryPart

# Which players games connect, and how: what can be compared at all, and what is known on both sides.
# Players are numbers here, as in ``choices.py``.


MAX_NAMES = 5
"""Greatest number of names in a sentence."""


class Links:
    """Groups of players connected by games, and within them the sets linked both ways."""

    def __init__(self, model: Model) -> None:
        ahead = np.eye(model.players, dtype=bool)
        for block in model.blocks:
            inside = block.members > 0
            for place, chosen in enumerate(inside):
                rows = block.counts[:, place] > 0
                for winner in np.flatnonzero(chosen):
                    for other in range(inside.shape[1]):
                        ahead[block.players[rows, winner], block.players[rows, other]] = True
        reach = _closure(ahead)
        self.group = _numbered(_closure(ahead | ahead.T))
        """By player; players with the same number can be compared."""
        self.side = _numbered(reach & reach.T)
        """By player; players with the same number are linked both ways by points."""

    def alike(self, players: Sequence[int]) -> bool:
        """Whether these are all linked both ways."""
        return len({self.side[player] for player in players}) == 1

    def core_of(self, player: int) -> list[int]:
        """The largest set linked both ways in a player's group, or all of the group if none has two players."""
        together = [other for other, group in enumerate(self.group) if group == self.group[player]]
        sides: dict[int, list[int]] = {}
        for other in together:
            sides.setdefault(self.side[other], []).append(other)
        core = max(sides.values(), key=len)
        return core if len(core) > 1 else together

    def notes(self, names: Sequence[str]) -> list[str]:
        """Sentences about what the games leave open."""
        found = []
        groups = [_members(self.group, number) for number in range(max(self.group) + 1)]
        if len(groups) > 1:
            listed = "; ".join(_listed(names, group) for group in groups[:MAX_NAMES])
            more = f"; and {len(groups) - MAX_NAMES} more groups" if len(groups) > MAX_NAMES else ""
            found.append(f"No games connect these groups, so compare ratings only within each: {listed}{more}.")
        for group in groups:
            core = self.core_of(group[0])
            loose = [player for player in group if not self.alike([player, *core])]
            if loose:
                found.append(
                    f"{_listed(names, loose)} took all points, or none, against the others: such a rating"
                    " is held by a weak prior, and only one end of its interval means much."
                )
        return found


def _closure(steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The transitive closure of a relation."""
    reach = steps
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if (further == reach).all():
            return reach
        reach = further


def _numbered(alike: NDArray[np.bool_]) -> list[int]:
    """A number for each class of an equivalence, in the order of first members."""
    first = alike.argmax(axis=1)
    order = {one: number for number, one in enumerate(dict.fromkeys(first.tolist()))}
    return [order[one] for one in first.tolist()]


def _members(numbers: Sequence[int], number: int) -> list[int]:
    return [player for player, one in enumerate(numbers) if one == number]


def _listed(names: Sequence[str], players: Sequence[int]) -> str:
    shown = ", ".join(names[player] for player in players[:MAX_NAMES])
    return shown + (f" and {len(players) - MAX_NAMES} more" if len(players) > MAX_NAMES else "")


Played = tuple[Sequence[str], Sequence[float]]
"""A game: the players' names by seat, their returns by seat."""
FARTHEST = 12_000.0
"""Elo bound of the search for an interval's end; the prior allows nothing near it."""


@dataclass(frozen=True, slots=True)
class RatingLine:
    """A player's line in the table."""

    name: str
    rating: float
    low: float
    high: float
    games: int
    points: float
    group: int
    """Players of different groups are not connected by games."""
    core: bool
    """Whether games bound the rating on both sides; otherwise the prior does."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One player compared with another."""

    elo: float
    low: float
    high: float
    superiority: float
    """Probability that the first is stronger."""


class Ratings:
    """The ratings of a set of games, made by ``rate``."""

    def __init__(self, names: list[str], model: Model, links: Links, certainty: float) -> None:
        self.names = names
        self.model = model
        self.links = links
        self.certainty = certainty
        self.games = np.zeros(len(names), dtype=np.int64)
        self.points = np.zeros(len(names))
        self.parameters, information = maximise(model)
        self.spread: Numbers = np.linalg.inv(information).astype(np.float64)
        """The covariance of the parameters."""
        self.anchor: tuple[int, float] | None = None

    @property
    def scale(self) -> float:
        """Elo per unit of strength."""
        return ELO * self._flattening()[0]

    def _flattening(self) -> tuple[float, float]:
        """How much less a unit of strength is worth in points because of draws, and how that changes with the draws."""
        place = self.model.tie(2)
        if place is None or self.model.blocks[0].players.shape[1] != 2 or len(self.model.blocks) > 1:
            return 1.0, 0.0
        draws = math.exp(self.parameters[place])
        return 2 / (2 + draws), -2 * draws / (2 + draws) ** 2

    @cached_property
    def _contrasts(self) -> Numbers:
        """The contrast behind each rating: (players, parameters)."""
        found = np.zeros((len(self.names), self.model.size))
        for player in range(len(self.names)):
            found[player, player] += 1
            found[player, self._reference(player)] -= 1 / len(self._reference(player))
        return found

    def _reference(self, player: int) -> list[int]:
        """The players whose mean rating is the zero of a player's group."""
        if self.anchor is not None and self.links.group[self.anchor[0]] == self.links.group[player]:
            return [self.anchor[0]]
        return self.links.core_of(player)

    def _offset(self, player: int) -> float:
        anchored = self.anchor is not None and self._reference(player) == [self.anchor[0]]
        return self.anchor[1] if self.anchor is not None and anchored else 0.0

    @cached_property
    def ratings(self) -> Numbers:
        """Ratings by player, in the order of ``names``."""
        offsets = [self._offset(player) for player in range(len(self.names))]
        return np.asarray(self.scale * (self._contrasts @ self.parameters) + np.array(offsets))

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance of the ratings, in Elo squared; meaningless between groups."""
        slopes = self._slopes(self._contrasts)
        return np.asarray(slopes @ self.spread @ slopes.T)

    def _slopes(self, contrasts: Numbers) -> Numbers:
        """How Elo figures change with the parameters: through the strengths, and through the scale."""
        found: Numbers = self.scale * contrasts
        place = self.model.tie(2)
        if place is not None:
            found[:, place] += ELO * self._flattening()[1] * (contrasts @ self.parameters)
        return found

    @property
    def _deviation(self) -> float:
        return NormalDist().inv_cdf((1 + self.certainty) / 2)

    def _around(self, contrast: Numbers, firm: bool) -> tuple[float, float, float]:
        """A contrast in Elo, with its interval."""
        middle = self.scale * float(contrast @ self.parameters)
        if firm or not contrast.any():
            slope = self._slopes(contrast[None, :])[0]
            reach = self._deviation * math.sqrt(max(float(slope @ self.spread @ slope), 0.0))
            return middle, middle - reach, middle + reach
        return middle, self._end(contrast, -FARTHEST), self._end(contrast, FARTHEST)

    def _loss(self, contrast: Numbers, value: float) -> float:
        """How much less likely the games become if a contrast (in strength) had this value: half its chi square."""
        supposed, _ = maximise(self.model, self.parameters, contrast, value)
        best = likelihood(self.model, self.parameters)
        return max(best - likelihood(self.model, supposed), 0.0)

    def _end(self, contrast: Numbers, farthest: float) -> float:
        inside, outside = float(contrast @ self.parameters), farthest / self.scale
        for _ in range(24):
            middle = (inside + outside) / 2
            fits = self._loss(contrast, middle) <= self._deviation**2 / 2
            inside, outside = (middle, outside) if fits else (inside, middle)
        return self.scale * inside

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name} has no games")
        return self.names.index(name)

    def line(self, name: str) -> RatingLine:
        """One player's line of the table."""
        player = self._place(name)
        reference = self._reference(player)
        firm = self.links.alike([player, *reference])
        _, low, high = self._around(self._contrasts[player], firm)
        offset = self._offset(player)
        return RatingLine(
            name,
            float(self.ratings[player]),
            low + offset,
            high + offset,
            int(self.games[player]),
            float(self.points[player]),
            self.links.group[player],
            self.links.alike([player, *self.links.core_of(player)]),
        )

    @cached_property
    def table(self) -> list[RatingLine]:
        """All players, best first."""
        return sorted(map(self.line, self.names), key=lambda line: (line.group, -line.rating, line.name))

    def difference(self, name: str, other: str) -> Difference:
        """The difference between two players, with its interval and certainty."""
        first, second = self._place(name), self._place(other)
        if self.links.group[first] != self.links.group[second]:
            raise ValueError(f"no games connect {name} with {other}, so they cannot be compared")
        contrast = np.zeros(self.model.size)
        contrast[first] += 1
        contrast[second] -= 1
        firm = self.links.alike([first, second])
        elo, low, high = self._around(contrast, firm)
        if firm or not contrast.any():
            away = elo * self._deviation / (high - elo) if high > elo else 0.0
        else:
            away = math.copysign(math.sqrt(2 * self._loss(contrast, 0.0)), elo)
        return Difference(elo, low, high, NormalDist().cdf(away))

    @cached_property
    def seats(self) -> list[tuple[float, float, float]]:
        """The advantage of each seat over the mean seat, in Elo, with its interval; empty without seat effects."""
        found = []
        for seat in range(self.model.seats):
            contrast = np.zeros(self.model.size)
            contrast[self.model.players : self.model.players + self.model.seats] -= 1 / self.model.seats
            contrast[self.model.players + seat] += 1
            found.append(self._around(contrast, True))
        return found

    @property
    def advantage(self) -> tuple[float, float, float] | None:
        """With two seats: the advantage of the first move, in Elo, with its interval."""
        if self.model.seats != 2:
            return None
        middle, low, high = self.seats[0]
        return 2 * middle, 2 * low, 2 * high

    @property
    def draws(self) -> float:
        """The draw rate of two equal players without seat advantage."""
        place = self.model.tie(2)
        weight = math.exp(self.parameters[place]) if place is not None else 0.0
        return weight / (2 + weight)

    @property
    def notes(self) -> list[str]:
        """Sentences about what the games leave open."""
        return self.links.notes(self.names)

    def to_json(self) -> dict[str, Any]:
        """A plain value; all numbers are finite."""
        lines = [asdict(line) for line in self.table]
        advantage = None if self.advantage is None else list(self.advantage)
        return {"players": lines, "seats": list(map(list, self.seats)), "advantage": advantage, "notes": self.notes}


def rate(
    games: Iterable[Played] | Mapping[Played, int],
    *,
    anchor: str | None = None,
    anchor_rating: float = 0.0,
    first_move: bool = True,
    certainty: float = CERTAINTY,
    samples: int = 0,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Ratings:
    """Ratings from games, or from how often each game with its returns was seen; all have the same number of seats.

    ``samples`` above 0 takes the covariance from that many bootstrap samples instead of the information matrix; with
    ``groups`` (for each game the number of its pair) whole pairs are drawn, so that their similarity is allowed for.
    """
    names: dict[str, int] = {}
    made: list[list[Choice]] = []
    scored: list[tuple[list[int], tuple[float, ...], int]] = []
    for (seated, returns), times in _gathered(games, one_by_one=samples > 0):
        _check(seated, returns, len(scored[0][0]) if scored else len(seated))
        gained = points(returns)
        players = [names.setdefault(name, len(names)) for name in seated]
        made.append(choices(players, returns))
        scored.append((players, gained, times))
    if not scored:
        raise ValueError("there are no games to rate")
    if not 0 < certainty < 1:
        raise ValueError(f"a certainty is between 0 and 1, not {certainty}")
    weighed = ((one, times) for game, (_, _, times) in zip(made, scored, strict=True) for one in game)
    model = gather(weighed, len(names), len(scored[0][0]) if first_move else 0)
    found = Ratings(list(names), model, Links(model), certainty)
    for players, gained, times in scored:
        found.games[players] += times
        found.points[players] += np.multiply(gained, times)
    if anchor is not None:
        found.anchor = (found._place(anchor), anchor_rating)
    if samples:
        found.spread = _bootstrap(found, made, samples, groups, seed)
    return found


def _gathered(
    games: Iterable[Played] | Mapping[Played, int], one_by_one: bool
) -> Iterable[tuple[tuple[Sequence[str], Sequence[float]], int]]:
    """Games with their counts: equal games together, unless a bootstrap samples them."""
    if isinstance(games, Mapping):
        if one_by_one:
            raise ValueError("a bootstrap draws from games one by one, not from counts")
        return games.items()
    if one_by_one:
        return ((game, 1) for game in games)
    return Counter((tuple(seated), tuple(returns)) for seated, returns in games).items()


def _check(seated: Sequence[str], returns: Sequence[float], seats: int) -> None:
    if len(seated) != len(returns):
        raise ValueError(f"{len(seated)} players have as many returns, not {len(returns)}")
    if len(seated) != seats:
        raise ValueError(f"games with {seats} and with {len(seated)} seats are rated apart")
    if len(set(seated)) != len(seated):
        raise ValueError(f"a player does not meet itself, but {', '.join(seated)} do")


def _bootstrap(
    found: Ratings,
    made: list[list[Choice]],
    samples: int,
    groups: Sequence[Hashable] | None,
    seed: int,
) -> Numbers:
    """The covariance of the parameters over samples of the games, drawn with replacement."""
    if samples < 2:
        raise ValueError(f"a bootstrap takes at least 2 samples, not {samples}")
    if groups is not None and len(groups) != len(made):
        raise ValueError(f"{len(made)} games need as many numbers of groups, not {len(groups)}")
    unit: dict[Hashable, int] = {}
    units = [unit.setdefault(one, len(unit)) for one in (groups if groups is not None else range(len(made)))]
    where = found.model.locations()
    counted = np.array([(units[game], *where[one]) for game, all_of in enumerate(made) for one in all_of])
    rng = np.random.default_rng(seed)
    drawn = np.empty((samples, found.model.size))
    for sample in range(samples):
        weights = rng.multinomial(len(unit), np.full(len(unit), 1 / len(unit))).astype(np.float64)[counted[:, 0]]
        drawn[sample], _ = maximise(found.model.weighted(counted[:, 1:], weights), found.parameters)
    return np.atleast_2d(np.cov(drawn, rowvar=False))


# Ratings that change game by game, for the live ladder: OpenSkill's, with any number of seats.
#
# The model is Weng and Lin's Bradley-Terry with partial pairing. With two or three seats everybody is compared with
# everybody, and a shared place is worth the mean of the places shared. OpenSkill's Plackett-Luce does not do that: it
# gives each of those who share the first place only what the second gets (openskill.py, issue 155), and it cuts
# fractions off ranks, so that places 0.2 and 0.7 tie. Both are shown in tests/arena/statistics/test_skill.py.
#
# Against what was reported of its other models with ties (openskill.py, issues 166, 173, 201):
# - Ranks are whole numbers, made here from the returns; its scores are not used.
# - Players are handed over in one order, whatever the order of seats, so that the last bits do not depend on it.
# - Players alike in rating and rank get the same new rating, to the last bit.
# - No option is given with a game: it would keep it for all games that follow.


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
