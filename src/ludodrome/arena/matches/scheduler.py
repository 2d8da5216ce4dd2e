"""Pairings, and the scheduler that turns them into jobs.

A pairing is a game to be played whose opening may not be drawn yet. Workers draw missing openings beside the games. The
pairings come from ``match.py`` and ``tournaments/``.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.conditions import Conditions
from ludodrome.arena.matches.openings import Moves, OpeningBook, round_seed
from ludodrome.arena.matches.pool import Job
from ludodrome.arena.matches.tallies import GameResult, game_result
from ludodrome.arena.matches.workers import OpeningRequest, draw_opening
from ludodrome.arena.play_spec import KEYED, PlaySpec
from ludodrome.arena.referee import Referee

Record = dict[str, Any]
Play = Callable[[PlaySpec], Record]


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """What is played: a game with its options, and the conditions."""

    name: str
    """Its name in tables."""
    game: str
    options: dict[str, Any]
    seats: int
    conditions: Conditions
    seed: int
    """The secret from which everything random in the match follows."""
    version: int = KEYED
    """How it follows; that of the records."""


class Pairing(NamedTuple):
    """One game to be played."""

    settings: MatchSettings
    bots: tuple[str, ...]
    """Specs by seat."""
    names: tuple[str, ...]
    opening: int
    """Number of its opening; all games of a round share it."""
    number: int
    """Number of the game in its match."""

    def play_spec(self, moves: Moves) -> PlaySpec:
        """The game with its opening, ready to be played."""
        on = self.settings
        seed = round_seed(on.seed, self.opening, on.version)
        bots, names = self.bots, self.names
        return PlaySpec(on.game, on.options, bots, names, on.conditions, seed, moves, self.number, version=on.version)

    def opening_request(self) -> OpeningRequest:
        """The opening to draw for it."""
        on = self.settings
        return OpeningRequest(on.game, on.options, on.seed, self.opening, on.version)


def rotations(seats: int) -> Iterator[tuple[int, ...]]:
    """The seatings of one round: every player sits in every seat once."""
    for shift in range(seats):
        yield tuple((seat + shift) % seats for seat in range(seats))


class PairingSource(Protocol):
    """Where pairings come from, and where results go."""

    def next(self) -> Pairing | None:
        """The next pairing; None if there is none until more results are in."""

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """Take the result of a pairing, played now or in an earlier run."""

    @property
    def stopping(self) -> bool:
        """Whether it is over: games in progress may be dropped."""


class Archive(Protocol):
    """Where records are kept."""

    def find(self, match: str) -> GameResult | None:
        """The result of a game kept by an earlier run; None if there is none."""

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Keep a record, before its result counts."""


class MatchScheduler:
    """Turns the pairings of a source into jobs: first their openings, then the games. Archived games are not played."""

    def __init__(self, source: PairingSource, books: dict[str, OpeningBook], archive: Archive, play: Play) -> None:
        self._source, self._books, self._archive, self._play = source, books, archive, play
        self._ready: deque[tuple[Pairing, PlaySpec]] = deque()
        self._waiting: dict[tuple[str, int], list[Pairing]] = {}
        """Pairings that wait for their opening."""
        self._playing: dict[str, tuple[Pairing, PlaySpec]] = {}
        self.recalled = 0
        """Games found in the archive."""
        self.played = 0

    @property
    def stopping(self) -> bool:
        """Whether the remaining games may be dropped."""
        return self._source.stopping

    def next(self) -> Job | None:
        """The next job: a game, or an opening to draw."""
        while True:
            if self._ready:
                pairing, play_spec = self._ready.popleft()
                self._playing[play_spec.match] = pairing, play_spec
                return Job(play_spec.match, self._play, play_spec)
            following = self._source.next()
            if following is None:
                return None
            if job := self._prepare(following):
                return job

    def _prepare(self, pairing: Pairing) -> Job | None:
        """Queue a pairing; return the job that draws its opening, unless it is drawn or under way."""
        key = pairing.settings.name, pairing.opening
        moves = self._books[key[0]].find(pairing.opening)
        if moves is not None:
            self._call(pairing, moves)
            return None
        if key in self._waiting:
            self._waiting[key].append(pairing)
            return None
        self._waiting[key] = [pairing]
        return Job(f"opening {key[1]} of {key[0]}", draw_opening, pairing.opening_request())

    def _call(self, pairing: Pairing, moves: Moves) -> None:
        play_spec = pairing.play_spec(moves)
        game = self._archive.find(play_spec.match)
        if game is None:
            self._ready.append((pairing, play_spec))
        else:
            self.recalled += 1
            self._source.take(pairing, game)

    def done(self, job: Job, result: Any) -> None:
        """Take the record of a game, or the moves of an opening."""
        if job.function is draw_opening:
            key = self._key(job)
            self._books[key[0]].add(key[1], result)
            for pairing in self._waiting.pop(key):
                self._call(pairing, tuple(result))
            return
        pairing, _ = self._playing.pop(job.name)
        game = game_result(result)
        self._archive.keep(pairing, result, game)
        self.played += 1
        self._source.take(pairing, game)

    def _key(self, job: Job) -> tuple[str, int]:
        return next(key for key in self._waiting if job.name == f"opening {key[1]} of {key[0]}")

    def failed(self, job: Job, why: str) -> None:
        """Record a game that could not be played as unrated; ValueError if an opening could not be drawn."""
        if job.function is draw_opening:
            raise ValueError(f"{job.name} cannot be drawn: {why}")
        _, play_spec = self._playing[job.name]
        self.done(job, unplayed(play_spec, why))


def unplayed(play_spec: PlaySpec, why: str) -> Record:
    """The record of a game that the arena could not play; it is unrated."""
    referee = Referee(play_spec)
    referee.abort(0, f"the arena could not play it: {why}")
    return referee.record()
