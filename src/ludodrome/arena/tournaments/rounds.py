"""The games of a tournament, round by round: what the formats mean in fixtures.

Swiss and knockout rounds follow from the results before them, and from nothing else: whoever recalls the results comes
to the same fixtures again. Who meets whom is computed in ``formats.py``.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ludodrome.arena.matches.fixtures import Fixture, MatchSettings, rotations
from ludodrome.arena.matches.tallies import Played
from ludodrome.arena.tournaments import formats
from ludodrome.arena.tournaments.formats import Meeting
from ludodrome.arena.tournaments.plans import GAUNTLET, KNOCKOUT, ROUND_ROBIN, SWISS, Plan


def rounds_of(plan: Plan) -> "FixedRounds | SwissRounds | KnockoutRounds":
    """Where the fixtures of a plan come from."""
    if plan.format == SWISS:
        return SwissRounds(plan)
    if plan.format == KNOCKOUT:
        return KnockoutRounds(plan)
    return FixedRounds(plan)


def openings_a_pair(plan: Plan) -> int:
    """Openings that one pair of a meeting takes from each game: at home and away two."""
    return 2 if plan.home_and_away else 1


def pair_fixtures(plan: Plan, meeting: Meeting, first: int) -> Iterator[Fixture]:
    """The games of one pair of a meeting, from the openings with the numbers from ``first`` on."""
    if plan.home_and_away:
        for leg, host in enumerate(meeting):
            yield from games_of(plan, plan.discipline(str(plan.entrants[host].home)), meeting, first + leg)
        return
    for discipline in plan.disciplines:
        if discipline.seats == len(meeting):
            yield from games_of(plan, discipline, meeting, first)


def games_of(plan: Plan, discipline: MatchSettings, meeting: Meeting, opening: int) -> Iterator[Fixture]:
    """The games of some entrants from one opening: everybody sits everywhere once."""
    entrants = [plan.entrants[one] for one in meeting]
    for turn, seating in enumerate(rotations(len(meeting))):
        seated = [entrants[one] for one in seating]
        bots = tuple(entrant.specs[discipline.name] for entrant in seated)
        names = tuple(entrant.name for entrant in seated)
        yield Fixture(discipline, bots, names, opening, opening * len(meeting) + turn)


def games_a_pair(plan: Plan) -> int:
    """How many games one pair of a two-seat meeting has."""
    return 4 if plan.home_and_away else 2 * sum(one.seats == 2 for one in plan.disciplines)


class FixedRounds:
    """Round robin and gauntlet: all fixtures are known before the first game.

    First comes the first pair of every meeting, then the second one: so an unfinished table is a fair one.
    """

    enough = False

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._meetings: list[Meeting] = []
        for seats in sorted({one.seats for one in plan.disciplines}):
            count = len(plan.entrants)
            if plan.format == GAUNTLET:
                self._meetings += formats.gauntlet(count, plan.challengers)
            else:
                assert plan.format == ROUND_ROBIN
                self._meetings += formats.round_robin(count, seats)
        self.total = plan.pairs * sum(len(list(pair_fixtures(plan, one, 0))) for one in self._meetings)
        self._fixtures = self._all()

    def _all(self) -> Iterator[Fixture]:
        for pair in range(self.plan.pairs):
            for meeting in self._meetings:
                yield from pair_fixtures(self.plan, meeting, pair * openings_a_pair(self.plan))

    def next(self) -> Fixture | None:
        """The next game."""
        return next(self._fixtures, None)

    def take(self, fixture: Fixture, game: Played) -> None:
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

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.round = 0
        self._numbers = {name: number for number, name in enumerate(plan.names)}
        self._encounters: list[Encounter] = []
        self._queue: deque[Fixture] = deque()
        self._begun = False

    def next(self) -> Fixture | None:
        """The next game; None before the round is over, and at the end."""
        if not self._begun:
            self._begun = True
            self._begin_round()
        return self._queue.popleft() if self._queue else None

    def take(self, fixture: Fixture, game: Played) -> None:
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
        games = list(pair_fixtures(self.plan, encounter.meeting, first))
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

    def __init__(self, plan: Plan) -> None:
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
            pairings = formats.swiss(order, self._met, self._byes)
            if pairings.bye is not None:
                self._byes[pairings.bye] += 1
                self.points[pairings.bye] += 1
            self._start(pairings.meetings)

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

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._places: list[int | None] = [one for pair in formats.bracket(len(plan.entrants)) for one in pair]
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
