"""A tournament in progress: its ledger, its results and its ratings.

Every game is kept in the ledger, in a transaction of its own, before it counts; a resumed tournament counts it from
there. The plan is in ``plans.py``, the pairings come from ``rounds.py``.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.matches.archives import Recalled
from ludodrome.arena.matches.openings import (
    NO_OPENINGS,
    DrawnOpening,
    EmptyBook,
    MatchBook,
    Moves,
    OpeningBook,
    read_book,
)
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import MatchScheduler, MatchSettings, Pairing, Play, Record
from ludodrome.arena.matches.tallies import GameResult, MatchTally
from ludodrome.arena.matches.workers import Workers, play_game
from ludodrome.arena.statistics.ratings import rate
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.arena.tournaments.rounds import rounds_of
from ludodrome.games import make


class Ledger(Protocol):
    """Where the openings and games of a tournament are kept; ``store/tournaments.py`` has one in a database."""

    def openings(self) -> Iterable[tuple[str, int, list[Any]]]:
        """All openings that were drawn: name of the game, number, moves."""

    def add_opening(self, game: str, number: int, moves: list[Any]) -> None:
        """Keep an opening."""

    def games(self) -> Iterable[tuple[str, dict[str, Any], float]]:
        """Every game played: the name of the game, the result, and when it finished, in seconds since 1970."""

    def add_game(self, match: str, game: str, rated: bool, counted: dict[str, Any], record: Any) -> bool:
        """Keep a game; False if it is there already."""

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in the order in which the games were finished."""

    def forget_unrated(self) -> int:
        """Drop the games in which the arena failed, so that they are played again; return their number."""


class MemoryLedger:
    """A ledger in memory."""

    def __init__(self) -> None:
        self._openings: list[tuple[str, int, list[Any]]] = []
        self._games: dict[str, tuple[str, dict[str, Any], dict[str, Any], float]] = {}

    def openings(self) -> Iterable[tuple[str, int, list[Any]]]:
        """All openings that were drawn: name of the game, number, moves."""
        return list(self._openings)

    def add_opening(self, game: str, number: int, moves: list[Any]) -> None:
        """Keep an opening."""
        self._openings.append((game, number, moves))

    def games(self) -> Iterable[tuple[str, dict[str, Any], float]]:
        """Every game played: the name of the game, the result, and when it finished, in seconds since 1970."""
        return [(game, counted, finished) for game, counted, _, finished in self._games.values()]

    def add_game(self, match: str, game: str, rated: bool, counted: dict[str, Any], record: Any) -> bool:
        """Keep a game; False if it is there already."""
        if match in self._games:
            return False
        self._games[match] = game, counted, record, time.time()
        return True

    def forget_unrated(self) -> int:
        """Drop the games in which the arena failed, so that they are played again; return their number."""
        unrated = [match for match, (_, counted, _, _) in self._games.items() if not counted["rated"]]
        for match in unrated:
            del self._games[match]
        return len(unrated)

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in the order in which the games were finished."""
        yield from (record for *_, record, _ in self._games.values())


class LedgerBook:
    """The openings of one game in a ledger, and the book that new ones come from."""

    def __init__(self, ledger: Ledger, game: str, known: dict[int, Moves], source: OpeningBook) -> None:
        self._ledger, self._game, self._known, self._source = ledger, game, known, source

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it must be drawn first."""
        if number not in self._known:
            moves = self._source.find(number)
            if moves is not None:
                self._keep(number, moves)
        return self._known.get(number)

    def add(self, number: int, drawn: DrawnOpening) -> None:
        """Keep an opening."""
        self._source.add(number, drawn)
        self._keep(number, drawn.moves)

    def summary(self, rounds: int) -> str:
        """Where the openings come from."""
        return self._source.summary(rounds)

    def _keep(self, number: int, moves: Moves) -> None:
        self._ledger.add_opening(self._game, number, list(moves))
        self._known[number] = moves


class LedgerArchive:
    """The games in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.recalled = Recalled()
        found = ((GameResult.from_json(counted), finished) for _, counted, finished in ledger.games())
        self._known = {game.match: (game, finished) for game, finished in found}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, match: str) -> GameResult | None:
        """The result of a game in the ledger; None if it is not there."""
        game, finished = self._known.get(match, (None, 0.0))
        if game is not None:
            self.recalled.add(finished)
        return game

    def has(self, match: str) -> bool:
        """Whether the ledger has a game."""
        return match in self._known

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Keep a game, unless another process has kept it already."""
        self._ledger.add_game(game.match, pairing.settings.name, game.rated, game.to_json(), record)


class CrosstableCell:
    """One bot against another: a cell of the crosstable. With three seats, which of the two did better."""

    __slots__ = ("draws", "losses", "wins")

    def __init__(self) -> None:
        self.wins = self.draws = self.losses = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points; a draw is half a point."""
        return self.wins + self.draws / 2

    def add(self, mine: float, theirs: float) -> None:
        """Count a game by the two returns."""
        self.wins += mine > theirs
        self.draws += mine == theirs
        self.losses += mine < theirs


class Results:
    """The results of one game of a tournament."""

    def __init__(self, settings: MatchSettings, names: list[str]) -> None:
        self.settings = settings
        self.tally = MatchTally(names, settings.seats)
        self.cells: dict[tuple[str, str], CrosstableCell] = {}
        self.lengths: Counter[int] = Counter()
        self.games: Counter[tuple[tuple[str, ...], tuple[float, ...]]] = Counter()
        """How often a seating (names by seat) had these returns, repeated games once: all that ratings need."""
        self._rounds: dict[tuple[int, tuple[str, ...]], int] = {}

    def add(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game."""
        new = self.tally.is_new(game)
        round_ = pairing.opening, tuple(sorted(game.names))
        self.tally.add(game, self._rounds.setdefault(round_, len(self._rounds)))
        self.lengths[game.length] += 1
        if not game.rated:
            return
        self.games[game.names, game.returns] += new
        for seat, name in enumerate(game.names):
            for other, rival in enumerate(game.names):
                if other != seat:
                    cell = self.cells.setdefault((name, rival), CrosstableCell())
                    cell.add(game.returns[seat], game.returns[other])


class Tournament:
    """The source of a tournament's pairings, and its results."""

    stopping = False

    def __init__(self, plan: TournamentPlan, ledger: Ledger, version_notes: Sequence[str] = ()) -> None:
        self.plan, self.ledger = plan, ledger
        self._version_notes = tuple(version_notes)
        self._archive: LedgerArchive | None = None
        self.counted_games: list[tuple[str, str, int]] = []
        """Name of the game, match id and number of the opening of every game that counts."""
        self._scheduler: MatchScheduler | None = None
        self.rounds = rounds_of(plan)
        self.results = {one.name: Results(one, plan.names) for one in plan.settings}
        self.played = 0

    @property
    def total(self) -> int:
        """Number of games; of a knockout, as far as is known."""
        return self.rounds.total

    @property
    def finished(self) -> bool:
        """Whether all games were played."""
        return self.played >= self.total

    def next(self) -> Pairing | None:
        """The next game; None if none is known yet."""
        return self.rounds.next()

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game."""
        self.played += 1
        self.counted_games.append((pairing.settings.name, game.match, pairing.opening))
        self.results[pairing.settings.name].add(pairing, game)
        self.rounds.take(pairing, game)

    def books(self) -> dict[str, OpeningBook]:
        """The openings of each game: those of the ledger, then those of the plan."""
        known = self._known_openings()
        return {one.name: self._book(one, known[one.name]) for one in self.plan.settings}

    def _known_openings(self) -> dict[str, dict[int, Moves]]:
        """The openings in the ledger, by the name of the game and number."""
        known: dict[str, dict[int, Moves]] = {one.name: {} for one in self.plan.settings}
        for name, number, moves in self.ledger.openings():
            known[name][number] = tuple(moves)
        return known

    def _book(self, settings: MatchSettings, known: dict[int, Moves]) -> OpeningBook:
        if not self._has_openings(settings):
            return EmptyBook()
        game, file = make(settings.game, **settings.options), self.plan.book_files.get(settings.name)
        source: OpeningBook = MatchBook(game, settings.seed) if file is None else read_book(game, file)
        return LedgerBook(self.ledger, settings.name, known, source)

    def _has_openings(self, settings: MatchSettings) -> bool:
        drawn = self.plan.openings and make(settings.game, **settings.options).actions_a_turn == 1
        return drawn or settings.name in self.plan.book_hashes

    def play(self, workers: Workers, play: Play = play_game, on_tick: Callable[[], None] = lambda: None) -> None:
        """Play all remaining games. After Ctrl-C or a crash the tournament can be resumed."""
        self._archive = LedgerArchive(self.ledger)
        self._scheduler = MatchScheduler(self, self.books(), self._archive, play)
        run(self._scheduler, workers, on_tick)

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of all games that count, in the order in which they were finished."""
        counted = {match for _, match, _ in self.counted_games}
        return (record for record in self.ledger.records() if record["match"] in counted)

    @property
    def recalled(self) -> int:
        """Games that were not played by this run, but by an earlier one."""
        return self._archive.recalled.count if self._archive is not None else 0

    @property
    def notes(self) -> list[str]:
        """Sentences on how far the result is one of this run: recalled games, changed bots, openings."""
        recalled = self._archive.recalled if self._archive is not None else Recalled()
        said = f"{recalled.count} of {self.played} games were recalled, played {recalled.when}"
        repeats = sum(one.tally.repeats for one in self.results.values())
        again = f"{repeats} of {self.played} games repeat an earlier one move by move, and count once in the ratings"
        openings = self._scheduler.openings() if self._scheduler is not None else {}
        sources = [f"openings of {name}: {source}" for name, source in openings.items() if source != NO_OPENINGS]
        return [*self._version_notes, *([said] if recalled.count else []), *([again] if repeats else []), *sources]

    def recall(self) -> None:
        """Count the games in the ledger without playing any."""
        known, archive = self._known_openings(), LedgerArchive(self.ledger)
        has_openings = {one.name: self._has_openings(one) for one in self.plan.settings}
        while pairing := self.next():
            name = pairing.settings.name
            moves = known[name].get(pairing.opening) if has_openings[name] else ()
            game = archive.find(pairing.play_spec(moves).match) if moves is not None else None
            if game is not None:
                self.take(pairing, game)


# Ratings


Counted = Counter[tuple[tuple[str, ...], tuple[float, ...]]]
"""How often a seating (names by seat) had these returns."""


class Strength(NamedTuple):
    """A rating with its 95 % interval, in Elo points from the mean."""

    rating: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.rating:+.0f} ({self.low:+.0f} to {self.high:+.0f})"


class Strengths(NamedTuple):
    """The ratings of all who have played, by name, and notes about them."""

    ratings: dict[str, Strength]
    notes: list[str]


def strengths(games: Sequence[Counted]) -> Strengths:
    """Ratings over several games together.

    Games with equally many seats count as one game. If games have two and three seats, those with three are left out.
    """
    fewest = min((len(names) for counted in games for names, _ in counted), default=0)
    together: Counted = Counter()
    for counted in games:
        together.update({game: times for game, times in counted.items() if len(game[0]) == fewest})
    if not together:
        return Strengths({}, [])
    found = rate(dict(sorted(together.items())))  # in one order, so that the same games give the same digits
    return Strengths({line.name: Strength(line.rating, line.low, line.high) for line in found.table}, found.notes)
