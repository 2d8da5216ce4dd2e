"""The games of a tournament, round by round: what the formats mean in pairings.

Swiss and knockout rounds follow from the results before them, and from nothing else: whoever recalls the results comes
to the same pairings again. Who meets whom is computed in ``formats.py``.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from ludodrome.arena.matches.scheduler import MatchSettings, Pairing, rotations
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.tournaments.plans import GAUNTLET, KNOCKOUT, ROUND_ROBIN, SWISS, TournamentPlan

# Who meets whom: round robin, gauntlet, Swiss and knockout, as pure functions of numbers.
# Entrants are numbers from 0, in the order in which they were entered; that order is also their seeding. What a meeting
# consists of, and how it is played, is in ``tournament.py``.


Meeting = tuple[int, ...]

MOST_STEPS = 200_000
"""Attempts at pairing a Swiss round without a meeting that there has been, before one is allowed."""


def round_robin(entrants: int, seats: int = 2) -> list[Meeting]:
    """Everybody meets everybody; with three seats every three meet. In the order of the circle method for two."""
    if entrants < seats:
        raise ValueError(f"a round robin of a game with {seats} seats needs at least {seats} bots, not {entrants}")
    if seats > 2:
        return list(combinations(range(entrants), seats))
    return [meeting for turn in circle(entrants) for meeting in turn]


def circle(entrants: int) -> Iterator[list[Meeting]]:
    """The rounds of a round robin for two: in each of them everybody plays once, but for one who rests if they are odd.

    The first stays, the others move on by one place from round to round.
    """
    places: list[int | None] = [*range(entrants), *([None] if entrants % 2 else [])]
    for _ in range(len(places) - 1):
        half = len(places) // 2
        facing = zip(places[:half], reversed(places[half:]), strict=True)
        yield [(min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None]
        places = [places[0], places[-1], *places[1:-1]]


def gauntlet(entrants: int, challengers: Sequence[int]) -> list[Meeting]:
    """The challengers meet all the others, and not one another."""
    others = [one for one in range(entrants) if one not in challengers]
    if not (challengers and others):
        raise ValueError("a gauntlet needs at least one challenger and one other bot")
    return [(challenger, other) for other in others for challenger in challengers]


class SwissRound(NamedTuple):
    """One round of a Swiss tournament."""

    meetings: list[Meeting]
    bye: int | None
    """Who rests, if they are odd; that counts as a meeting won."""


def swiss(order: Sequence[int], met: Mapping[Meeting, int], byes: Mapping[int, int]) -> SwissRound:
    """The next round: neighbours in the table meet, if they have not met yet.

    order: the entrants, best first. met: how often two have met, by the pair (low, high). byes: how often one rested.
    The lowest of those who rested least rests. If no round without a second meeting is found, second ones are allowed.
    """
    places = list(order)
    bye = None
    if len(places) % 2:
        least = min(byes.get(one, 0) for one in places)
        bye = next(one for one in reversed(places) if byes.get(one, 0) == least)
        places.remove(bye)
    allowed = min((met.get(pair, 0) for pair in combinations(sorted(places), 2)), default=0)
    while True:
        found = _paired(places, met, allowed)
        if found is not None:
            return SwissRound(found, bye)
        allowed += 1


def _paired(order: list[int], met: Mapping[Meeting, int], allowed: int) -> list[Meeting] | None:
    """Everybody paired with the nearest below who was met at most so often; None if that is not found.

    Depth first with a stack of its own: at each level the best one who is left, and the candidates not tried yet.
    """
    left = list(order)
    pairs: list[Meeting] = []
    trials: list[Iterator[int]] = []
    steps = 0
    while left or len(trials) > len(pairs):
        if len(trials) == len(pairs):
            trials.append(iter(left[1:]))
        steps += 1
        best = left[0]
        partner = next((one for one in trials[-1] if met.get(_pair(best, one), 0) <= allowed), None)
        if partner is not None:
            pairs.append(_pair(best, partner))
            left = [one for one in left if one not in (best, partner)]
            continue
        trials.pop()
        if not pairs or steps > MOST_STEPS:
            return None
        undone = set(pairs.pop())
        left = [one for one in order if one in undone or one in left]
    return pairs


def _pair(a: int, b: int) -> Meeting:
    return (min(a, b), max(a, b))


def bracket(entrants: int) -> list[tuple[int | None, int | None]]:
    """The first round of a knockout: the first seed is as far from the second as can be; None is a bye.

    The winners of neighbouring meetings meet in the next round.
    """
    if entrants < 2:
        raise ValueError("a knockout needs at least two bots")
    places = [0]
    while len(places) < entrants:
        size = 2 * len(places)
        places = [seed for place in places for seed in (place, size - 1 - place)]
    seeds = [seed if seed < entrants else None for seed in places]
    return list(zip(seeds[::2], seeds[1::2], strict=True))


def rounds_of(plan: TournamentPlan) -> "FixedRounds | SwissRounds | KnockoutRounds":
    """Where the pairings of a plan come from."""
    if plan.format == SWISS:
        return SwissRounds(plan)
    if plan.format == KNOCKOUT:
        return KnockoutRounds(plan)
    return FixedRounds(plan)


def openings_a_pair(plan: TournamentPlan) -> int:
    """Openings that one pair of a meeting takes from each game: at home and away two."""
    return 2 if plan.home_and_away else 1


def pair_games(plan: TournamentPlan, meeting: Meeting, first: int) -> Iterator[Pairing]:
    """The games of one pair of a meeting, from the openings with the numbers from ``first`` on."""
    if plan.home_and_away:
        for leg, host in enumerate(meeting):
            yield from games_of(plan, plan.settings_of(str(plan.entrants[host].home)), meeting, first + leg)
        return
    for settings in plan.settings:
        if settings.seats == len(meeting):
            yield from games_of(plan, settings, meeting, first)


def games_of(plan: TournamentPlan, settings: MatchSettings, meeting: Meeting, opening: int) -> Iterator[Pairing]:
    """The games of some entrants from one opening: everybody sits everywhere once."""
    entrants = [plan.entrants[one] for one in meeting]
    for turn, seating in enumerate(rotations(len(meeting))):
        seated = [entrants[one] for one in seating]
        bots = tuple(entrant.specs[settings.name] for entrant in seated)
        names = tuple(entrant.name for entrant in seated)
        yield Pairing(settings, bots, names, opening, opening * len(meeting) + turn)


def games_a_pair(plan: TournamentPlan) -> int:
    """How many games one pair of a two-seat meeting has."""
    return 4 if plan.home_and_away else 2 * sum(one.seats == 2 for one in plan.settings)


class FixedRounds:
    """Round robin and gauntlet: all pairings are known before the first game.

    First comes the first pair of every meeting, then the second one: so an unfinished table is a fair one.
    """

    enough = False

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self._meetings: list[Meeting] = []
        for seats in sorted({one.seats for one in plan.settings}):
            count = len(plan.entrants)
            if plan.format == GAUNTLET:
                self._meetings += gauntlet(count, plan.challengers)
            else:
                assert plan.format == ROUND_ROBIN
                self._meetings += round_robin(count, seats)
        self.total = plan.pairs * sum(len(list(pair_games(plan, one, 0))) for one in self._meetings)
        self._pairings = self._all()

    def _all(self) -> Iterator[Pairing]:
        for pair in range(self.plan.pairs):
            for meeting in self._meetings:
                yield from pair_games(self.plan, meeting, pair * openings_a_pair(self.plan))

    def next(self) -> Pairing | None:
        """The next game."""
        return next(self._pairings, None)

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Results change nothing here."""

    def notes(self) -> dict[str, str]:
        """Nothing to say beside the points."""
        return {}

    def order(self) -> list[int] | None:
        """The table is ordered by points."""
        return None


@dataclass(slots=True)
class Encounter:
    """A meeting in progress."""

    meeting: Meeting
    points: list[float] = field(default_factory=lambda: [0.0, 0.0])
    outstanding: int = 0
    pairs: int = 0

    @property
    def lead(self) -> float:
        """By how much the first is ahead."""
        return self.points[0] - self.points[1]


class _Meetings:
    """What Swiss and knockout have in common: encounters whose games are given out and come back."""

    enough = False

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self.round = 0
        self._numbers = {name: number for number, name in enumerate(plan.names)}
        self._encounters: list[Encounter] = []
        self._queue: deque[Pairing] = deque()
        self._begun = False

    def next(self) -> Pairing | None:
        """The next game; None before the round is over, and at the end."""
        if not self._begun:
            self._begun = True
            self._begin_round()
        return self._queue.popleft() if self._queue else None

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Counts a game; when the last one of a round is in, the next round begins."""
        low, high = sorted(self._numbers[name] for name in game.names)
        encounter = next(one for one in self._encounters if one.meeting == (low, high))
        encounter.outstanding -= 1
        if game.rated:
            for name, point in zip(game.names, game.points, strict=True):
                encounter.points[encounter.meeting.index(self._numbers[name])] += point
        if encounter.outstanding == 0:
            self._finish(encounter)
        while self._encounters and not any(one.outstanding for one in self._encounters):
            self._end_round()
            self.round += 1
            self._encounters = []
            self._begin_round()

    def _start(self, meetings: Iterable[Meeting]) -> None:
        """Puts the games of a round's meetings on the list: the first pair of each, then the second."""
        self._encounters = [Encounter((min(one), max(one))) for one in meetings]
        for _ in range(self.plan.pairs):
            for encounter in self._encounters:
                self._add_pair(encounter)

    def _add_pair(self, encounter: Encounter) -> None:
        first = (self.round * self._longest() + encounter.pairs) * openings_a_pair(self.plan)
        games = list(pair_games(self.plan, encounter.meeting, first))
        encounter.pairs += 1
        encounter.outstanding += len(games)
        self._queue.extend(games)

    def _longest(self) -> int:
        """Pairs that a meeting may have."""
        return self.plan.pairs

    def _begin_round(self) -> None:
        raise NotImplementedError

    def _finish(self, encounter: Encounter) -> None:
        """All games of a meeting are in."""

    def _end_round(self) -> None:
        raise NotImplementedError


class SwissRounds(_Meetings):
    """Neighbours in the table meet. A meeting won is a point, a tied one half a point, a round of rest a point.

    Equals are ordered by the points of their opponents (Buchholz), then by points in single games, then as entered.
    """

    def __init__(self, plan: TournamentPlan) -> None:
        super().__init__(plan)
        count = len(plan.entrants)
        self.total = plan.rounds * (count // 2) * plan.pairs * games_a_pair(plan)
        self.points = [0.0] * count
        self._game_points = [0.0] * count
        self._met: Counter[Meeting] = Counter()
        self._byes: Counter[int] = Counter()

    def buchholz(self, entrant: int) -> float:
        """The points of all whom one has met."""
        others = ((sum(pair) - entrant, times) for pair, times in self._met.items() if entrant in pair)
        return sum(self.points[other] * times for other, times in others)

    def order(self) -> list[int] | None:
        """The entrants, best first."""

        def rank(one: int) -> tuple[float, float, float, int]:
            return -self.points[one], -self.buchholz(one), -self._game_points[one], one

        return sorted(range(len(self.points)), key=rank)

    def _begin_round(self) -> None:
        if self.round < self.plan.rounds:
            order = self.order()
            assert order is not None
            found = swiss(order, self._met, self._byes)
            if found.bye is not None:
                self._byes[found.bye] += 1
                self.points[found.bye] += 1
            self._start(found.meetings)

    def _end_round(self) -> None:
        for one in self._encounters:
            self._met[one.meeting] += 1
            share = 1.0 if one.lead > 0 else 0.5 if one.lead == 0 else 0.0
            for entrant, points, games in zip(one.meeting, (share, 1 - share), one.points, strict=True):
                self.points[entrant] += points
                self._game_points[entrant] += games

    def notes(self) -> dict[str, str]:
        """Meetings won, and Buchholz."""
        rounds = min(self.round, self.plan.rounds)
        return {
            name: f"{self.points[one]:g} of {rounds} rounds, opponents {self.buchholz(one):g}"
            for one, name in enumerate(self.plan.names)
        }


class KnockoutRounds(_Meetings):
    """Whoever loses a meeting is out. A tied one goes on by a pair, so often; then the one entered earlier goes on."""

    def __init__(self, plan: TournamentPlan) -> None:
        super().__init__(plan)
        self._places: list[int | None] = [one for pair in bracket(len(plan.entrants)) for one in pair]
        """Who is still in, in the order of the bracket; None is nobody."""
        self.total = (len(plan.entrants) - 1) * plan.pairs * games_a_pair(plan)
        """At least; tied meetings take more."""
        self._out: dict[int, int] = {}
        """In which round one lost."""

    def _longest(self) -> int:
        return self.plan.pairs + self.plan.extra_pairs

    def _begin_round(self) -> None:
        pairs = zip(self._places[::2], self._places[1::2], strict=False)
        self._start((a, b) for a, b in pairs if a is not None and b is not None)

    def _finish(self, encounter: Encounter) -> None:
        if encounter.lead == 0 and encounter.pairs < self._longest():
            self.total += games_a_pair(self.plan)
            self._add_pair(encounter)

    def _end_round(self) -> None:
        for one in self._encounters:
            self._out[one.meeting[1] if one.lead >= 0 else one.meeting[0]] = self.round
        pairs = zip(self._places[::2], self._places[1::2], strict=True)
        self._places = [next((one for one in pair if one is not None and one not in self._out), None) for pair in pairs]

    def order(self) -> list[int] | None:
        """Who came furthest, best first; equals as entered."""
        everybody = range(len(self.plan.entrants))
        return sorted(everybody, key=lambda one: (-self._out.get(one, self.round + 1), one))

    def notes(self) -> dict[str, str]:
        """How far everybody came."""
        last = len(self._places) == 1
        return {
            name: f"out in round {self._out[one] + 1}" if one in self._out else "winner" if last else "still in"
            for one, name in enumerate(self.plan.names)
        }
