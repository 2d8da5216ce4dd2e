"""A match: the same bots, game after game, from many openings, with their seats changed.

Games come in *rounds*: one opening, played once with every bot in every seat (with two seats that is a pair). Which
games those are depends on the match alone, so that a match that was stopped goes on where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.matches.openings import DrawnBook, EmptyBook, OpeningBook, cache_folder, read_book
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import MatchScheduler, MatchSettings, Pairing, Play, Record, rotations
from ludodrome.arena.matches.tallies import GameResult, MatchTally, game_result
from ludodrome.arena.matches.workers import Workers, play_game
from ludodrome.arena.statistics.sprt import Sprt, State
from ludodrome.game import Game

USUAL_GAMES = 100
MOST_GAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Who plays what, and how often."""

    settings: MatchSettings
    bots: tuple[str, ...]
    names: tuple[str, ...]
    games: int
    swap: bool = True
    """Whether every opening is played with all seats changed."""

    @property
    def games_a_round(self) -> int:
        """Games from one opening."""
        return self.settings.seats if self.swap else 1

    def pairings(self) -> Iterator[Pairing]:
        """All games, in order."""
        seatings = list(rotations(self.settings.seats))[: self.games_a_round]
        for number in range(self.games):
            opening, turn = divmod(number, self.games_a_round)
            bots = tuple(self.bots[one] for one in seatings[turn])
            names = tuple(self.names[one] for one in seatings[turn])
            yield Pairing(self.settings, bots, names, opening, number)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        on = self.settings
        return {
            "game": on.game,
            "options": on.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "conditions": on.conditions.to_json(),
            "seed": on.seed,
            "wanted": self.games,
            "swap": self.swap,
        }


def checked_games(games: int | None, seats: int, swap: bool) -> int:
    """How many games a match has; ValueError if they are no whole rounds."""
    step = seats if swap else 1
    if games is None:
        return USUAL_GAMES // step * step
    if not 1 <= games <= MOST_GAMES:
        raise ValueError(f"a match has from 1 to {MOST_GAMES:,} games, not {games}")
    if games % step:
        near = -(-games // step) * step
        raise ValueError(
            f"every opening is played {step} times, with all seats changed, so {games} games are no whole rounds; "
            f"{near} would be, or any number with --no-swap"
        )
    return games


def distinct_names(bots: Sequence[str]) -> tuple[str, ...]:
    """What bots are called in tables: as their specs, numbered where two are the same."""
    names: list[str] = []
    for spec in bots:
        same = sum(one == spec for one in bots[: len(names)])
        names.append(f"{spec} ({same + 1})" if same else spec)
    return tuple(names)


def open_book(game: Game, seed: int, openings: bool | str = True, folder: Path | None = None) -> OpeningBook:
    """The openings of a match: drawn and kept in the folder (else in the user's cache), none, or those of a file."""
    if isinstance(openings, str):
        return read_book(game, openings)
    if not openings or game.actions_a_turn > 1:
        return EmptyBook()
    return DrawnBook(game, seed, folder if folder is not None else cache_folder())


class RecordFolder:
    """Records as files in a folder; without one they are not kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"records cannot be kept in {folder}: {error.strerror}") from error

    def find(self, match: str) -> GameResult | None:
        """What counts of a record that is there; one that cannot be read is played again."""
        if self._folder is None:
            return None
        try:
            return game_result(records.read(self._folder / f"{match}{records.SUFFIX}"))
        except (OSError, ValueError):
            return None

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Writes a record, all at once; ValueError if that fails."""
        if self._folder is not None:
            try:
                records.write(record, self._folder)
            except OSError as error:
                raise ValueError(f"a record cannot be written into {self._folder}: {error.strerror}") from error


class MatchRun:
    """A match in progress: where its pairings come from, and what has come of them so far."""

    def __init__(
        self, match: MatchSpec, told: Callable[[Pairing, GameResult], None] = lambda pairing, game: None
    ) -> None:
        self.match = match
        self.tally = MatchTally(match.names, match.settings.seats)
        self.enough = False
        self._pairings = match.pairings()
        self._told = told

    def next(self) -> Pairing | None:
        """The next game."""
        return next(self._pairings, None)

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Counts a game."""
        self.tally.add(game, pairing.opening)
        self._told(pairing, game)


def play_match(
    playing: MatchRun,
    book: OpeningBook,
    workers: Workers,
    folder: Path | None = None,
    play: Play = play_game,
    glance: Callable[[], None] = lambda: None,
) -> MatchScheduler:
    """Plays a match to its end; what was played stands in ``playing.tally``, also after Ctrl-C."""
    scheduler = MatchScheduler(playing, {playing.match.settings.name: book}, RecordFolder(folder), play)
    run(scheduler, workers, glance)
    return scheduler


# A match that ends as soon as a sequential test has its verdict. The test itself is in ``sprt.py``.


class SprtRun(MatchRun):
    """The first bot of a match is tested against the second; pairs count in the order of the schedule.

    The tally holds the games that were counted up to the verdict, so that a run can be repeated: what came in too
    early or too late is in neither. A pair in which the arena failed is left out.
    """

    def __init__(
        self, match: MatchSpec, sprt: Sprt, told: Callable[[Pairing, GameResult], None] = lambda pairing, game: None
    ) -> None:
        super().__init__(match, told)
        self.sprt = sprt
        self.counted = 0
        """Pairs that the test has seen."""
        self._next = 0
        self._arrived: dict[int, dict[int, tuple[Pairing, GameResult]]] = {}

    @property
    def state(self) -> State:
        """How far the test has come."""
        return self.sprt.state

    def next(self) -> Pairing | None:
        """The next game, while there is no verdict."""
        return None if self.enough else super().next()

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Keeps a game until its turn has come."""
        self._arrived.setdefault(pairing.opening, {})[pairing.number] = pairing, game
        while not self.enough and len(self._arrived.get(self._next, ())) == 2:
            self._count([pair for _, pair in sorted(self._arrived.pop(self._next).items())])
            self._next += 1

    def _count(self, pair: list[tuple[Pairing, GameResult]]) -> None:
        for pairing, game in pair:
            super().take(pairing, game)
        if all(game.rated for _, game in pair):
            new = self.match.names[0]
            first, second = (game.points[game.names.index(new)] for _, game in pair)
            self.sprt.add(self.counted, first, second)
            self.counted += 1
            self.enough = self.state.verdict is not None
