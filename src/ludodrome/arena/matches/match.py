"""A match: many games between the same bots, from many openings, with the seats swapped.

Games come in *rounds*: one opening, played once with every bot in every seat (with two seats, a pair). The games depend
only on the match, so a match that was stopped can be resumed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.arena.matches.archives import RecordFolder
from ludodrome.arena.matches.openings import EmptyBook, MatchBook, OpeningBook, fixed_book, read_book
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import Archive, MatchScheduler, MatchSettings, Pairing, Play, rotations
from ludodrome.arena.matches.tallies import ARENA, GameResult, MatchTally
from ludodrome.arena.matches.workers import Workers, play_game
from ludodrome.arena.statistics.sprt import Sprt, SprtState
from ludodrome.bots.registry import LLM
from ludodrome.game import Game

DEFAULT_GAMES = 100
MAX_GAMES = 1_000_000
MAX_FAILURES = 3
"""Games from its first on in which a bot fails before the match stops."""
MAX_REPEATS = 50
"""Pairs in a row that only repeat earlier games before a sequential test stops."""


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

    def key(self) -> dict[str, Any]:
        """What tells it from other matches, whatever the seed: game, options, bots, names and conditions."""
        on = self.settings
        return {
            "game": on.game,
            "options": on.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "conditions": on.conditions.to_json(),
            "clocks": on.clocks,
        }

    def to_json(self) -> dict[str, Any]:
        """A plain value for JSON output."""
        on = self.settings
        return {
            "game": on.game,
            "options": on.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "bot_ids": [on.identities.get(spec) for spec in self.bots],
            "conditions": on.conditions.to_json(),
            "clocks": on.clocks,
            "seed": str(on.seed),
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


def open_book(
    game: Game,
    seed: int,
    openings: bool | str | os.PathLike[str] | Sequence[Any] | None = True,
    folder: Path | None = None,
) -> OpeningBook:
    """The openings of a match.

    openings: True for balanced ones, from the game's book or drawn, and kept in ``folder``; False or None for none; the
    path of a file (see ``read_book``); or a list of openings, each a list of moves. ValueError says which one is wrong.
    """
    if isinstance(openings, str | os.PathLike):
        return read_book(game, openings)
    if openings is not None and not isinstance(openings, bool):
        return fixed_book(game, openings)
    if not openings or game.actions_a_turn > 1:
        return EmptyBook()
    return MatchBook(game, seed, folder)


class MatchRun:
    """A match in progress: the source of its pairings, and the results so far."""

    def __init__(
        self,
        match: MatchSpec,
        on_result: Callable[[Pairing, GameResult], None] = lambda pairing, game: None,
        max_failures: int | None = None,
    ) -> None:
        """``max_failures``: stop if a bot fails in each of its first games, this many; None: never."""
        self.match = match
        self.failing: str | None = None
        """The bot whose failures stopped the match."""
        self._max_failures = max_failures
        self._failed_from_start = dict.fromkeys(match.names, 0)
        """Bots that have failed in every game so far, and in how many."""
        specs = zip(match.names, match.bots, strict=True)
        self._behind_endpoints = {name for name, spec in specs if spec.partition(":")[0] == LLM}
        """Their games are void if the endpoint is down, and waiting for it in every game takes long."""
        self.tally = MatchTally(match.names, match.settings.seats)
        self.stopping = False
        self.scheduler: MatchScheduler | None = None
        """Set when the match begins."""
        self.counted_games: list[tuple[int, str]] = []
        """Number and match id of every game in the tally."""
        self._pairings = match.pairings()
        self._on_result = on_result

    def next(self) -> Pairing | None:
        """The next game."""
        return next(self._pairings, None)

    def watch_failures(self, game: GameResult) -> None:
        """Stop if a bot has failed in all of its games, and in enough of them."""
        failed = {game.names[failure.seat] for failure in game.failures}
        failed |= {game.names[seat] for seat, cause in game.verdicts if cause == ARENA} & self._behind_endpoints
        for name in game.names:
            if name not in failed:
                self._failed_from_start.pop(name, None)
            elif name in self._failed_from_start:
                self._failed_from_start[name] += 1
                if self._failed_from_start[name] == self._max_failures:
                    self.failing, self.stopping = name, True

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Count a game."""
        self.watch_failures(game)
        self._count_game(pairing, game)

    def _count_game(self, pairing: Pairing, game: GameResult) -> None:
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
    playing.scheduler = scheduler
    run(scheduler, workers, on_tick)
    return scheduler


class SprtRun(MatchRun):
    """A match that ends with the verdict of a sequential test of the first bot against the second.

    Pairs count in the order of the schedule, and the tally holds only the pairs up to the verdict, so a run can be
    repeated exactly. A pair in which the arena failed is left out of the test, and so is a pair that only repeats
    earlier games: it says nothing new. If many in a row do, the test stops.
    """

    def __init__(
        self,
        match: MatchSpec,
        sprt: Sprt,
        on_result: Callable[[Pairing, GameResult], None] = lambda pairing, game: None,
        max_failures: int | None = None,
    ) -> None:
        super().__init__(match, on_result, max_failures)
        self.sprt = sprt
        self.counted = 0
        """Pairs counted by the test."""
        self.repeating = False
        """Whether it stopped because the bots only repeat games."""
        self._next = self._repeats = 0
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
        self.watch_failures(game)
        self._arrived.setdefault(pairing.opening, {})[pairing.number] = pairing, game
        while not self.stopping and len(self._arrived.get(self._next, ())) == 2:
            self._count([pair for _, pair in sorted(self._arrived.pop(self._next).items())])
            self._next += 1

    def _count(self, pair: list[tuple[Pairing, GameResult]]) -> None:
        new_games = [self.tally.is_new(game) for _, game in pair]
        for pairing, game in pair:
            self._count_game(pairing, game)
        self._repeats = 0 if any(new_games) else self._repeats + 1
        if self._repeats >= MAX_REPEATS:
            self.repeating = self.stopping = True
        if any(new_games) and all(game.rated for _, game in pair):
            new = self.match.names[0]
            first, second = (game.points[game.names.index(new)] for _, game in pair)
            self.sprt.add(self.counted, first, second)
            self.counted += 1
            self.stopping = self.state.verdict is not None
