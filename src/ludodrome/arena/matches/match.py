"""A match: the same bots, game after game, from many openings, with their seats changed.

Games come in *rounds*: one opening, played once with every bot in every seat (with two seats that is a pair). Which
games those are depends on the match alone, so that a match that was stopped goes on where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.matches import worker
from ludodrome.arena.matches.books import Book, DrawnBook, NoBook, cache_folder, read_book
from ludodrome.arena.matches.executors import Workers
from ludodrome.arena.matches.fixtures import Fixture, MatchSettings, Play, Programme, Record, rotations
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.tallies import Played, Tally, played
from ludodrome.game import Game

USUAL_GAMES = 100
MOST_GAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """Who plays what, and how often."""

    discipline: MatchSettings
    bots: tuple[str, ...]
    names: tuple[str, ...]
    games: int
    swap: bool = True
    """Whether every opening is played with all seats changed."""

    @property
    def games_a_round(self) -> int:
        """Games from one opening."""
        return self.discipline.seats if self.swap else 1

    def fixtures(self) -> Iterator[Fixture]:
        """All games, in order."""
        seatings = list(rotations(self.discipline.seats))[: self.games_a_round]
        for number in range(self.games):
            opening, turn = divmod(number, self.games_a_round)
            bots = tuple(self.bots[one] for one in seatings[turn])
            names = tuple(self.names[one] for one in seatings[turn])
            yield Fixture(self.discipline, bots, names, opening, number)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        on = self.discipline
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


def open_book(game: Game, seed: int, openings: bool | str = True, folder: Path | None = None) -> Book:
    """The openings of a match: drawn and kept in the folder (else in the user's cache), none, or those of a file."""
    if isinstance(openings, str):
        return read_book(game, openings)
    if not openings or game.actions_a_turn > 1:
        return NoBook()
    return DrawnBook(game, seed, folder if folder is not None else cache_folder())


class Folder:
    """Records as files in a folder; without one they are not kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"records cannot be kept in {folder}: {error.strerror}") from error

    def find(self, match: str) -> Played | None:
        """What counts of a record that is there; one that cannot be read is played again."""
        if self._folder is None:
            return None
        try:
            return played(records.read(self._folder / f"{match}{records.SUFFIX}"))
        except (OSError, ValueError):
            return None

    def keep(self, fixture: Fixture, record: Record, game: Played) -> None:
        """Writes a record, all at once; ValueError if that fails."""
        if self._folder is not None:
            try:
                records.write(record, self._folder)
            except OSError as error:
                raise ValueError(f"a record cannot be written into {self._folder}: {error.strerror}") from error


class Playing:
    """A match in progress: where its fixtures come from, and what has come of them so far."""

    def __init__(self, match: Match, told: Callable[[Fixture, Played], None] = lambda fixture, game: None) -> None:
        self.match = match
        self.tally = Tally(match.names, match.discipline.seats)
        self.enough = False
        self._fixtures = match.fixtures()
        self._told = told

    def next(self) -> Fixture | None:
        """The next game."""
        return next(self._fixtures, None)

    def take(self, fixture: Fixture, game: Played) -> None:
        """Counts a game."""
        self.tally.add(game, fixture.opening)
        self._told(fixture, game)


def play_match(
    playing: Playing,
    book: Book,
    workers: Workers,
    folder: Path | None = None,
    play: Play = worker.play,
    glance: Callable[[], None] = lambda: None,
) -> Programme:
    """Plays a match to its end; what was played stands in ``playing.tally``, also after Ctrl-C."""
    programme = Programme(playing, {playing.match.discipline.name: book}, Folder(folder), play)
    run(programme, workers, glance)
    return programme
