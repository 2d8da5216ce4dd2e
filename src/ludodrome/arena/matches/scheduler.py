"""Pairings: games that are to be played, before it is known with which opening. And the agenda that gets them played.

A pairing becomes an assignment when its opening is known; openings that stand in no book yet are drawn by the workers,
beside the games. Which pairings there are is said by ``match.py`` and ``tournament.py``.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.conditions import Conditions
from ludodrome.arena.matches.openings import Moves, OpeningBook, pair_seed
from ludodrome.arena.matches.pool import Job
from ludodrome.arena.matches.tallies import GameResult, game_result
from ludodrome.arena.matches.workers import OpeningRequest, draw_opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee

Record = dict[str, Any]
Play = Callable[[PlaySpec], Record]


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """What is played: a game with its options, and under which conditions."""

    name: str
    """What it is called in tables."""
    game: str
    options: dict[str, Any]
    seats: int
    conditions: Conditions
    seed: int


class Pairing(NamedTuple):
    """One game to be played."""

    settings: MatchSettings
    bots: tuple[str, ...]
    """Specs by seat."""
    names: tuple[str, ...]
    opening: int
    """Number of its opening; the games of one round have it in common."""
    number: int
    """Which game of its match it is."""

    def assignment(self, moves: Moves) -> PlaySpec:
        """The game with its opening."""
        on = self.settings
        seed = pair_seed(on.seed, self.opening)
        return PlaySpec(on.game, on.options, self.bots, self.names, on.conditions, seed, moves, self.number)


def rotations(seats: int) -> Iterator[tuple[int, ...]]:
    """Who sits where in the games of one round: everybody sits everywhere once."""
    for shift in range(seats):
        yield tuple((seat + shift) % seats for seat in range(seats))


class PairingSource(Protocol):
    """Where pairings come from."""

    def next(self) -> Pairing | None:
        """The next pairing; None if there is none before more results are in."""

    def take(self, pairing: Pairing, game: GameResult) -> None:
        """A pairing was played, now or in an earlier run."""

    @property
    def enough(self) -> bool:
        """Whether nothing more is wanted, not even what is being played now."""


class Archive(Protocol):
    """Where records are kept."""

    def find(self, match: str) -> GameResult | None:
        """What counts of a game that an earlier run has kept."""

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Keeps a record for good, before it counts."""


class MatchScheduler:
    """The agenda of all pairings of a source: openings first, then the games; what is in the archive is not played."""

    def __init__(self, source: PairingSource, books: dict[str, OpeningBook], archive: Archive, play: Play) -> None:
        self._source, self._books, self._archive, self._play = source, books, archive, play
        self._ready: deque[tuple[Pairing, PlaySpec]] = deque()
        self._waiting: dict[tuple[str, int], list[Pairing]] = {}
        """Pairings whose opening is being drawn."""
        self._playing: dict[str, tuple[Pairing, PlaySpec]] = {}
        self.recalled = 0
        """Games that an earlier run has played."""
        self.played = 0

    @property
    def enough(self) -> bool:
        """Whether the rest may be dropped."""
        return self._source.enough

    def next(self) -> Job | None:
        """A game, or an opening to be drawn."""
        while True:
            if self._ready:
                pairing, assignment = self._ready.popleft()
                self._playing[assignment.match] = pairing, assignment
                return Job(assignment.match, self._play, assignment)
            following = self._source.next()
            if following is None:
                return None
            if job := self._prepare(following):
                return job

    def _prepare(self, pairing: Pairing) -> Job | None:
        """Puts a pairing where it belongs; the job to draw its opening if that is not under way yet."""
        key = pairing.settings.name, pairing.opening
        moves = self._books[key[0]].find(pairing.opening)
        if moves is not None:
            self._call(pairing, moves)
            return None
        if key in self._waiting:
            self._waiting[key].append(pairing)
            return None
        self._waiting[key] = [pairing]
        on = pairing.settings
        wanted = OpeningRequest(on.game, on.options, on.seed, pairing.opening)
        return Job(f"opening {key[1]} of {key[0]}", draw_opening, wanted)

    def _call(self, pairing: Pairing, moves: Moves) -> None:
        assignment = pairing.assignment(moves)
        game = self._archive.find(assignment.match)
        if game is None:
            self._ready.append((pairing, assignment))
        else:
            self.recalled += 1
            self._source.take(pairing, game)

    def done(self, job: Job, result: Any) -> None:
        """A game or an opening came back."""
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
        """A game that cannot be played is the arena's fault; without an opening nothing can be played."""
        if job.function is draw_opening:
            raise ValueError(f"{job.name} cannot be drawn: {why}")
        _, assignment = self._playing[job.name]
        self.done(job, unplayed(assignment, why))


def unplayed(assignment: PlaySpec, why: str) -> Record:
    """The record of a game that the arena could not play; it does not count."""
    table = Referee(assignment)
    table.abort(0, f"the arena could not play it: {why}")
    return table.record()
