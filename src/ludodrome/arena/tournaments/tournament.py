"""A tournament in progress: its ledger, its results and its ratings.

Every game is kept in the ledger, in a transaction of its own, before it counts; a resumed tournament counts it from
there. The plan is in ``plans.py``, the pairings come from ``rounds.py``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.matches.openings import EmptyBook, Moves, OpeningBook
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

    def games(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """The name of the game and the result of every game played."""

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
        self._games: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}

    def openings(self) -> Iterable[tuple[str, int, list[Any]]]:
        """All openings that were drawn: name of the game, number, moves."""
        return list(self._openings)

    def add_opening(self, game: str, number: int, moves: list[Any]) -> None:
        """Keep an opening."""
        self._openings.append((game, number, moves))

    def games(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """The name of the game and the result of every game played."""
        return [(game, counted) for game, counted, _ in self._games.values()]

    def add_game(self, match: str, game: str, rated: bool, counted: dict[str, Any], record: Any) -> bool:
        """Keep a game; False if it is there already."""
        if match in self._games:
            return False
        self._games[match] = game, counted, record
        return True

    def forget_unrated(self) -> int:
        """Drop the games in which the arena failed, so that they are played again; return their number."""
        unrated = [match for match, (_, counted, _) in self._games.items() if not counted["rated"]]
        for match in unrated:
            del self._games[match]
        return len(unrated)

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in the order in which the games were finished."""
        yield from (record for *_, record in self._games.values())


class LedgerBook:
    """The openings of one game in a ledger."""

    def __init__(self, ledger: Ledger, game: str, known: dict[int, Moves]) -> None:
        self._ledger, self._game, self._known = ledger, game, known

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it was not drawn yet."""
        return self._known.get(number)

    def add(self, number: int, moves: list[Any]) -> None:
        """Keep an opening."""
        self._ledger.add_opening(self._game, number, moves)
        self._known[number] = tuple(moves)


class LedgerArchive:
    """The games in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        found = (GameResult.from_json(counted) for _, counted in ledger.games())
        self._known = {game.match: game for game in found}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, match: str) -> GameResult | None:
        """The result of a game in the ledger; None if it is not there."""
        return self._known.get(match)

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
        """How often a seating (names by seat) had these returns: all that ratings need."""
        self._rounds: dict[tuple[int, tuple[str, ...]], int] = {}

    def add(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game."""
        round_ = pairing.opening, tuple(sorted(game.names))
        self.tally.add(game, self._rounds.setdefault(round_, len(self._rounds)))
        self.lengths[game.length] += 1
        if not game.rated:
            return
        self.games[game.names, game.returns] += 1
        for seat, name in enumerate(game.names):
            for other, rival in enumerate(game.names):
                if other != seat:
                    cell = self.cells.setdefault((name, rival), CrosstableCell())
                    cell.add(game.returns[seat], game.returns[other])


class Tournament:
    """The source of a tournament's pairings, and its results."""

    stopping = False

    def __init__(self, plan: TournamentPlan, ledger: Ledger) -> None:
        self.plan, self.ledger = plan, ledger
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
        self.results[pairing.settings.name].add(pairing, game)
        self.rounds.take(pairing, game)

    def books(self) -> dict[str, OpeningBook]:
        """The openings of each game drawn so far."""
        known: dict[str, dict[int, Moves]] = {one.name: {} for one in self.plan.settings}
        for name, number, moves in self.ledger.openings():
            known[name][number] = tuple(moves)
        return {one.name: self._book(one, known[one.name]) for one in self.plan.settings}

    def _book(self, settings: MatchSettings, known: dict[int, Moves]) -> OpeningBook:
        drawn = self.plan.openings and make(settings.game, **settings.options).actions_a_turn == 1
        return LedgerBook(self.ledger, settings.name, known) if drawn else EmptyBook()

    def play(self, workers: Workers, play: Play = play_game, on_tick: Callable[[], None] = lambda: None) -> None:
        """Play all remaining games. After Ctrl-C or a crash the tournament can be resumed."""
        run(MatchScheduler(self, self.books(), LedgerArchive(self.ledger), play), workers, on_tick)

    def recall(self) -> None:
        """Count the games in the ledger without playing any."""
        books, archive = self.books(), LedgerArchive(self.ledger)
        while pairing := self.next():
            moves = books[pairing.settings.name].find(pairing.opening)
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
