"""A tournament being played, or being looked at: its fixtures, its ledger, its tables.

The plan is in ``plans.py``, the order of the games in ``rounds.py``, what is written down in ``store/``. Every game is
written down, in a transaction of its own, before it counts; whoever goes on later counts it from there.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ludodrome.arena.matches import worker
from ludodrome.arena.matches.books import Book, Moves, NoBook
from ludodrome.arena.matches.executors import Workers
from ludodrome.arena.matches.fixtures import Fixture, MatchSettings, Play, Programme, Record
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.tallies import Played, Tally
from ludodrome.arena.tournaments.plans import Plan
from ludodrome.arena.tournaments.rounds import rounds_of
from ludodrome.games import make
from ludodrome.store.tournaments import Ledger


class LedgerBook:
    """The openings of one game, in the ledger."""

    def __init__(self, ledger: Ledger, discipline: str, known: dict[int, Moves]) -> None:
        self._ledger, self._discipline, self._known = ledger, discipline, known

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it is not drawn yet."""
        return self._known.get(number)

    def add(self, number: int, moves: list[Any]) -> None:
        """Writes an opening down."""
        self._ledger.add_opening(self._discipline, number, moves)
        self._known[number] = tuple(moves)


class LedgerArchive:
    """The games in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        found = (Played.from_json(counted) for _, counted in ledger.games())
        self._known = {game.match: game for game in found}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, match: str) -> Played | None:
        """What counts of a game that was played."""
        return self._known.get(match)

    def keep(self, fixture: Fixture, record: Record, game: Played) -> None:
        """Writes a game down. If another process has done so meanwhile, its game is the one that stays."""
        self._ledger.add_game(game.match, fixture.discipline.name, game.rated, game.to_json(), record)


class Cell:
    """What one bot did against another: a square of the crosstable. With three seats, who of the two did better."""

    __slots__ = ("draws", "losses", "wins")

    def __init__(self) -> None:
        self.wins = self.draws = self.losses = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A draw is half a point."""
        return self.wins + self.draws / 2

    def add(self, mine: float, theirs: float) -> None:
        """Counts a game by the returns of the two."""
        self.wins += mine > theirs
        self.draws += mine == theirs
        self.losses += mine < theirs


class Results:
    """What was played of one game of a tournament."""

    def __init__(self, discipline: MatchSettings, names: list[str]) -> None:
        self.discipline = discipline
        self.tally = Tally(names, discipline.seats)
        self.cells: dict[tuple[str, str], Cell] = {}
        self.lengths: Counter[int] = Counter()
        self.games: Counter[tuple[tuple[str, ...], tuple[float, ...]]] = Counter()
        """How often a seating (names by seat) came to these returns: all that ratings need."""
        self._rounds: dict[tuple[int, tuple[str, ...]], int] = {}

    def add(self, fixture: Fixture, game: Played) -> None:
        """Counts a game."""
        round_ = fixture.opening, tuple(sorted(game.names))
        self.tally.add(game, self._rounds.setdefault(round_, len(self._rounds)))
        self.lengths[game.length] += 1
        if not game.rated:
            return
        self.games[game.names, game.returns] += 1
        for seat, name in enumerate(game.names):
            for other, rival in enumerate(game.names):
                if other != seat:
                    cell = self.cells.setdefault((name, rival), Cell())
                    cell.add(game.returns[seat], game.returns[other])


class Tournament:
    """The source of a tournament's fixtures, and what has come of them."""

    enough = False

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self.plan, self.ledger = plan, ledger
        self.rounds = rounds_of(plan)
        self.results = {one.name: Results(one, plan.names) for one in plan.disciplines}
        self.played = 0

    @property
    def total(self) -> int:
        """How many games it has; of a knockout, as far as is known."""
        return self.rounds.total

    @property
    def finished(self) -> bool:
        """Whether all games are in."""
        return self.played >= self.total

    def next(self) -> Fixture | None:
        """The next game, if one is known."""
        return self.rounds.next()

    def take(self, fixture: Fixture, game: Played) -> None:
        """Counts a game."""
        self.played += 1
        self.results[fixture.discipline.name].add(fixture, game)
        self.rounds.take(fixture, game)

    def books(self) -> dict[str, Book]:
        """The openings of each game, as far as they were drawn."""
        known: dict[str, dict[int, Moves]] = {one.name: {} for one in self.plan.disciplines}
        for discipline, number, moves in self.ledger.openings():
            known[discipline][number] = tuple(moves)
        return {one.name: self._book(one, known[one.name]) for one in self.plan.disciplines}

    def _book(self, discipline: MatchSettings, known: dict[int, Moves]) -> Book:
        drawn = self.plan.openings and make(discipline.game, **discipline.options).actions_a_turn == 1
        return LedgerBook(self.ledger, discipline.name, known) if drawn else NoBook()

    def play(self, workers: Workers, play: Play = worker.play, glance: Callable[[], None] = lambda: None) -> None:
        """Plays all that was not played yet. Ctrl-C, or whatever else, leaves it so that it can go on."""
        run(Programme(self, self.books(), LedgerArchive(self.ledger), play), workers, glance)

    def recall(self) -> None:
        """Counts what is in the ledger, and plays nothing."""
        books, archive = self.books(), LedgerArchive(self.ledger)
        while fixture := self.next():
            moves = books[fixture.discipline.name].find(fixture.opening)
            game = archive.find(fixture.assignment(moves).match) if moves is not None else None
            if game is not None:
                self.take(fixture, game)
