"""Tournament formats: which entrants meet, and the pairings of each round.

Entrants are numbers from 0, in the order of entry, which is also their seeding. Swiss and knockout rounds depend only
on the results before them, so the same results lead to the same pairings again.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from ludodrome.arena.matches.scheduler import MatchSettings, Pairing, rotations
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.tournaments.plans import GAUNTLET, KNOCKOUT, ROUND_ROBIN, SWISS, TournamentPlan

Meeting = tuple[int, ...]

MAX_STEPS = 200_000
"""Steps of the search for a Swiss round without repeated meetings, before a repetition is allowed."""


def round_robin(entrants: int, seats: int = 2) -> list[Meeting]:
    """All meetings of a round robin: every pair, in the order of the circle method; with three seats every triple."""
    if entrants < seats:
        raise ValueError(f"a round robin of a game with {seats} seats needs at least {seats} bots, not {entrants}")
    if seats > 2:
        return list(combinations(range(entrants), seats))
    return [meeting for turn in circle(entrants) for meeting in turn]


def circle(entrants: int) -> Iterator[list[Meeting]]:
    """The rounds of a round robin: everyone plays once per round, except for a bye if the number is odd.

    The first entrant stays, the others move on by one place from round to round.
    """
    places: list[int | None] = [*range(entrants), *([None] if entrants % 2 else [])]
    for _ in range(len(places) - 1):
        half = len(places) // 2
        facing = zip(places[:half], reversed(places[half:]), strict=True)
        yield [(min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None]
        places = [places[0], places[-1], *places[1:-1]]


def gauntlet(entrants: int, challengers: Sequence[int]) -> list[Meeting]:
    """All meetings of a gauntlet: each challenger meets everyone who is not a challenger."""
    others = [one for one in range(entrants) if one not in challengers]
    if not (challengers and others):
        raise ValueError("a gauntlet needs at least one challenger and one other bot")
    return [(challenger, other) for other in others for challenger in challengers]


class SwissRound(NamedTuple):
    """One round of a Swiss tournament."""

    meetings: list[Meeting]
    bye: int | None
    """Who rests, if the number is odd; it counts as a meeting won."""


def swiss(order: Sequence[int], met: Mapping[Meeting, int], byes: Mapping[int, int]) -> SwissRound:
    """Pair the next round: neighbours in the table meet if they have not met yet.

    order: the entrants, best first. met: number of meetings, by pair (low, high). byes: number of byes, by entrant. The
    lowest of those with the fewest byes rests. If every round repeats a meeting, repetitions are allowed.
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
    """Pair everyone with the nearest below met at most ``allowed`` times; None if that is not found.

    A depth-first search with its own stack: at each level the best one left, and the candidates not tried yet.
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
        if not pairs or steps > MAX_STEPS:
            return None
        undone = set(pairs.pop())
        left = [one for one in order if one in undone or one in left]
    return pairs


def _pair(a: int, b: int) -> Meeting:
    return (min(a, b), max(a, b))


def bracket(entrants: int) -> list[tuple[int | None, int | None]]:
    """The first round of a knockout: the first two seeds are as far apart as possible; None is a bye.

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
    """The source of the pairings of a plan."""
    if plan.format == SWISS:
        return SwissRounds(plan)
    if plan.format == KNOCKOUT:
        return KnockoutRounds(plan)
    return FixedRounds(plan)


def openings_a_pair(plan: TournamentPlan) -> int:
    """Openings per pair of a meeting in each game: two with home and away."""
    return 2 if plan.home_and_away else 1


def pair_games(plan: TournamentPlan, meeting: Meeting, first: int) -> Iterator[Pairing]:
    """The games of one pair of a meeting, with the openings from number ``first`` on."""
    if plan.home_and_away:
        for leg, host in enumerate(meeting):
            yield from games_of(plan, plan.settings_of(str(plan.entrants[host].home)), meeting, first + leg)
        return
    for settings in plan.settings:
        if settings.seats == len(meeting):
            yield from games_of(plan, settings, meeting, first)


def games_of(plan: TournamentPlan, settings: MatchSettings, meeting: Meeting, opening: int) -> Iterator[Pairing]:
    """The games of a meeting from one opening: one per seating."""
    entrants = [plan.entrants[one] for one in meeting]
    for turn, seating in enumerate(rotations(len(meeting))):
        seated = [entrants[one] for one in seating]
        bots = tuple(entrant.specs[settings.name] for entrant in seated)
        names = tuple(entrant.name for entrant in seated)
        yield Pairing(settings, bots, names, opening, opening * len(meeting) + turn)


def games_a_pair(plan: TournamentPlan) -> int:
    """Games per pair of a two-seat meeting."""
    return 4 if plan.home_and_away else 2 * sum(one.seats == 2 for one in plan.settings)


class FixedRounds:
    """Round robin and gauntlet: all pairings are known before the first game.

    The first pair of every meeting comes first, then the second, so that an unfinished table is fair.
    """

    stopping = False

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
        """Do nothing: results do not change the pairings."""

    def notes(self) -> dict[str, str]:
        """Return no notes."""
        return {}

    def order(self) -> list[int] | None:
        """Return None: the table is ordered by points."""
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
        """The lead of the first entrant, in points."""
        return self.points[0] - self.points[1]


class _Meetings:
    """Common part of Swiss and knockout: the meetings of the current round."""

    stopping = False

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self.round = 0
        self._numbers = {name: number for number, name in enumerate(plan.names)}
        self._encounters: list[Encounter] = []
        self._queue: deque[Pairing] = deque()
        self._begun = False

    def next(self) -> Pairing | None:
        """The next game; None until the round is over, and at the end."""
        if not self._begun:
            self._begun = True
            self._begin_round()
        return self._queue.popleft() if self._queue else None

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game; the last one of a round starts the next."""
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
        """Queue the games of a round: the first pair of each meeting, then the second."""
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
        """Greatest number of pairs in a meeting."""
        return self.plan.pairs

    def _begin_round(self) -> None:
        raise NotImplementedError

    def _finish(self, encounter: Encounter) -> None:
        """Handle a meeting whose games are all in."""

    def _end_round(self) -> None:
        raise NotImplementedError


class SwissRounds(_Meetings):
    """Swiss: neighbours in the table meet. A win is a point, a tie half a point, a bye a point.

    Ties in the table are broken by the opponents' points (Buchholz), then by game points, then by order of entry.
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
        """The sum of the opponents' points."""
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
        """Points in meetings, and Buchholz."""
        rounds = min(self.round, self.plan.rounds)
        return {
            name: f"{self.points[one]:g} of {rounds} rounds, opponents {self.buchholz(one):g}"
            for one, name in enumerate(self.plan.names)
        }


class KnockoutRounds(_Meetings):
    """Knockout: the loser of a meeting is out. A tie adds pairs, up to a limit; then the earlier entrant advances."""

    def __init__(self, plan: TournamentPlan) -> None:
        super().__init__(plan)
        self._places: list[int | None] = [one for pair in bracket(len(plan.entrants)) for one in pair]
        """Who is still in, in bracket order; None is an empty place."""
        self.total = (len(plan.entrants) - 1) * plan.pairs * games_a_pair(plan)
        """At least; ties add games."""
        self._out: dict[int, int] = {}
        """The round in which each entrant lost."""

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
        """The entrants by the round they reached, best first; then by order of entry."""
        everybody = range(len(self.plan.entrants))
        return sorted(everybody, key=lambda one: (-self._out.get(one, self.round + 1), one))

    def notes(self) -> dict[str, str]:
        """How far each entrant came."""
        last = len(self._places) == 1
        return {
            name: f"out in round {self._out[one] + 1}" if one in self._out else "winner" if last else "still in"
            for one, name in enumerate(self.plan.names)
        }
