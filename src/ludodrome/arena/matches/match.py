"""A match: many games between the same bots, from many openings, with the seats swapped.

Games come in *rounds*: one opening, played once with every bot in every seat (with two seats, a pair). The games depend
only on the match, so a match that was stopped can be resumed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.matches.openings import (
    DrawnBook,
    EmptyBook,
    OpeningBook,
    cache_folder,
    fixed_book,
    read_book,
)
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import Archive, MatchScheduler, MatchSettings, Pairing, Play, Record, rotations
from ludodrome.arena.matches.tallies import GameResult, MatchTally, game_result
from ludodrome.arena.matches.workers import Workers, play_game
from ludodrome.arena.statistics.sprt import Sprt, SprtState
from ludodrome.game import Game

DEFAULT_GAMES = 100
MAX_GAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """A match before it is played: settings, bots, number of games."""

    settings: MatchSettings
    bots: tuple[str, ...]
    names: tuple[str, ...]
    games: int
    swap: bool = True
    """Whether every opening is played once per seating."""
    first_opening: int = 0
    """Number of the first opening."""

    @property
    def games_a_round(self) -> int:
        """Games per opening."""
        return self.settings.seats if self.swap else 1

    def pairings(self) -> Iterator[Pairing]:
        """All games, in order."""
        seatings = list(rotations(self.settings.seats))[: self.games_a_round]
        first = self.first_opening * self.games_a_round
        for number in range(first, first + self.games):
            opening, turn = divmod(number, self.games_a_round)
            bots = tuple(self.bots[one] for one in seatings[turn])
            names = tuple(self.names[one] for one in seatings[turn])
            yield Pairing(self.settings, bots, names, opening, number)

    def to_json(self) -> dict[str, Any]:
        """A plain value for JSON output."""
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
    """The number of games of a match; ValueError if they are not whole rounds."""
    step = seats if swap else 1
    if games is None:
        return DEFAULT_GAMES // step * step
    if not 1 <= games <= MAX_GAMES:
        raise ValueError(f"a match has from 1 to {MAX_GAMES:,} games, not {games}")
    if games % step:
        near = -(-games // step) * step
        raise ValueError(
            f"every opening is played {step} times, once per seating, so {games} games are not whole rounds; "
            f"{near} would be, or any number without swapping (--no-swap, swap=False)"
        )
    return games


def distinct_names(bots: Sequence[str]) -> tuple[str, ...]:
    """Names for bots: their specs, numbered where two are the same."""
    names: list[str] = []
    for spec in bots:
        same = sum(one == spec for one in bots[: len(names)])
        names.append(f"{spec} ({same + 1})" if same else spec)
    return tuple(names)


def open_book(
    game: Game,
    seed: int,
    openings: bool | str | os.PathLike[str] | Sequence[Any] | None = True,
    folder: Path | None = None,
) -> OpeningBook:
    """The openings of a match.

    openings: True for drawn ones, kept in ``folder`` or the user's cache; False or None for none; the path of a file
    (see ``read_book``); or a list of openings, each a list of moves. ValueError says which opening is wrong.
    """
    if isinstance(openings, str | os.PathLike):
        return read_book(game, openings)
    if openings is not None and not isinstance(openings, bool):
        return fixed_book(game, openings)
    if not openings or game.actions_a_turn > 1:
        return EmptyBook()
    return DrawnBook(game, seed, folder if folder is not None else cache_folder())


class RecordMemory:
    """An archive in memory."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def find(self, match: str) -> GameResult | None:
        """Return None: nothing was kept before this run."""
        return None

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Keep a record."""
        self._records[game.match] = record

    def read(self, match: str) -> Record:
        """The record of a game that was kept."""
        return self._records[match]


class RecordFolder:
    """An archive of files in a folder; without a folder, records are dropped."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"records cannot be kept in {folder}: {error.strerror}") from error

    def find(self, match: str) -> GameResult | None:
        """The result of a record in the folder; None if there is none, or if it cannot be read."""
        if self._folder is None:
            return None
        try:
            return game_result(self.read(match))
        except (OSError, ValueError):
            return None

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Write a record atomically; ValueError if that fails."""
        if self._folder is not None:
            try:
                records.write(record, self._folder)
            except OSError as error:
                raise ValueError(f"a record cannot be written into {self._folder}: {error.strerror}") from error

    def read(self, match: str) -> Record:
        """The record of a game that was kept."""
        if self._folder is None:
            raise ValueError("the records of this match were not kept")
        return records.read(self._folder / f"{match}{records.SUFFIX}")


class MatchRun:
    """A match in progress: the source of its pairings, and the results so far."""

    def __init__(
        self, match: MatchSpec, on_result: Callable[[Pairing, GameResult], None] = lambda pairing, game: None
    ) -> None:
        self.match = match
        self.tally = MatchTally(match.names, match.settings.seats)
        self.stopping = False
        self.counted_games: list[tuple[int, str]] = []
        """Number and match id of every game in the tally."""
        self._pairings = match.pairings()
        self._on_result = on_result

    def next(self) -> Pairing | None:
        """The next game."""
        return next(self._pairings, None)

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game."""
        self.tally.add(game, pairing.opening)
        self.counted_games.append((pairing.number, game.match))
        self._on_result(pairing, game)


def run_match(
    playing: MatchRun,
    book: OpeningBook,
    workers: Workers,
    archive: Archive | None = None,
    play: Play = play_game,
    on_tick: Callable[[], None] = lambda: None,
) -> MatchScheduler:
    """Play a match to its end. ``playing.tally`` holds the results, also after Ctrl-C.

    Raises KeyboardInterrupt after Ctrl-C, and ClusterLost if the workers take no more games.
    """
    scheduler = MatchScheduler(playing, {playing.match.settings.name: book}, archive or RecordFolder(None), play)
    run(scheduler, workers, on_tick)
    return scheduler


class SprtRun(MatchRun):
    """A match that ends with the verdict of a sequential test of the first bot against the second.

    Pairs count in the order of the schedule, and the tally holds only the pairs up to the verdict, so a run can be
    repeated exactly. A pair in which the arena failed is left out of the test.
    """

    def __init__(
        self,
        match: MatchSpec,
        sprt: Sprt,
        on_result: Callable[[Pairing, GameResult], None] = lambda pairing, game: None,
    ) -> None:
        super().__init__(match, on_result)
        self.sprt = sprt
        self.counted = 0
        """Pairs counted by the test."""
        self._next = 0
        self._arrived: dict[int, dict[int, tuple[Pairing, GameResult]]] = {}

    @property
    def state(self) -> SprtState:
        """The state of the test."""
        return self.sprt.state

    def next(self) -> Pairing | None:
        """The next game; None after the verdict."""
        return None if self.stopping else super().next()

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Keep a game until all earlier pairs are complete."""
        self._arrived.setdefault(pairing.opening, {})[pairing.number] = pairing, game
        while not self.stopping and len(self._arrived.get(self._next, ())) == 2:
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
            self.stopping = self.state.verdict is not None
