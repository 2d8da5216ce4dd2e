"""Pairings, and the scheduler that turns them into jobs.

A pairing is a game to be played whose opening may not be known yet. Workers draw openings that no book has beside the
games. The pairings come from ``match.py`` and ``tournaments/``.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.openings import Moves, OpeningBook, round_seed
from ludodrome.arena.matches.pool import WORKERS_KILLED, Job
from ludodrome.arena.matches.tallies import GameResult, game_result
from ludodrome.arena.matches.workers import OpeningRequest, draw_opening
from ludodrome.arena.play_spec import KEYED, PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import CRASH, NO_CAPABILITIES, Answer, Notice, Seat, SeatFault, Turn
from ludodrome.arena.transports import make_seat
from ludodrome.bots.registry import FILE
from ludodrome.bots.specs import COMMAND

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
    identities: dict[str, str] = field(default_factory=dict)
    """The bots' identities by spec; empty if they are not known."""
    clocks: dict[str, str] = field(default_factory=dict)
    """The clocks of bots that have one of their own, by name: handicaps."""

    def clocks_by_seat(self, names: tuple[str, ...]) -> tuple[Clock, ...]:
        """The clock of each seat; empty if no bot has one of its own."""
        if not self.clocks:
            return ()
        usual = self.conditions.clock
        return tuple(Clock.parse(self.clocks[name]) if name in self.clocks else usual for name in names)


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
        return PlaySpec(
            on.game,
            on.options,
            self.bots,
            self.names,
            on.conditions,
            seed,
            moves,
            self.number,
            version=on.version,
            clocks=on.clocks_by_seat(self.names),
            bot_ids=tuple(on.identities[spec] for spec in self.bots) if on.identities else (),
        )

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

    def has(self, match: str) -> bool:
        """Whether an earlier run kept a game under this id."""

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
        self._used: dict[str, set[int]] = {name: set() for name in books}
        """Numbers of the openings asked for, by the name of the game."""
        self.recalled = 0
        """Games found in the archive."""
        self.unknown = 0
        """Games in the archive that are not recalled: their records do not say which version of the bots played."""
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

    def openings(self) -> dict[str, str]:
        """Where the openings so far come from, by the name of the game."""
        return {name: book.summary(len(self._used[name])) for name, book in self._books.items()}

    def _prepare(self, pairing: Pairing) -> Job | None:
        """Queue a pairing; return the job that draws its opening, unless it is drawn or under way."""
        key = pairing.settings.name, pairing.opening
        self._used[key[0]].add(pairing.opening)
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
            if play_spec.bot_ids and self._archive.has(replace(play_spec, bot_ids=()).match):
                self.unknown += 1
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
                self._call(pairing, result.moves)
            return
        pairing, _ = self._playing.pop(job.name)
        game = game_result(result)
        self._archive.keep(pairing, result, game)
        self.played += 1
        self._source.take(pairing, game)

    def _key(self, job: Job) -> tuple[str, int]:
        return next(key for key in self._waiting if job.name == f"opening {key[1]} of {key[0]}")

    def failed(self, job: Job, why: str) -> bool | None:
        """Record a game that could not be played; ValueError if an opening could not be drawn.

        If its workers were killed, and only one bot could have done it, that bot has crashed. Otherwise it is unrated.
        """
        if job.function is draw_opening:
            raise ValueError(f"{job.name} cannot be drawn: {why}")
        _, play_spec = self._playing[job.name]
        programs = [seat for seat, spec in enumerate(play_spec.bots) if spec.partition(":")[0] in (COMMAND, FILE)]
        if why == WORKERS_KILLED and len(programs) == 1:
            self.done(job, convicted(play_spec, programs[0]))
            return True
        self.done(job, unplayed(play_spec, why))
        return None


def convicted(play_spec: PlaySpec, seat: int) -> Record:
    """The record of a game in which a bot kills the worker that runs it: it counts as its crash."""
    game = play_spec.make_game()
    with ExitStack() as stack:
        seats: list[Seat] = []
        for number, (spec, seed) in enumerate(zip(play_spec.bots, play_spec.seat_seeds, strict=True)):
            seats.append(_CrashedSeat() if number == seat else make_seat(spec, game, seed))
            stack.callback(seats[-1].close)
        return play(play_spec, seats)


class _CrashedSeat:
    """The seat of a bot that is not started again."""

    name, stderr, capabilities = "crashed", "", NO_CAPABILITIES

    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, hello: dict[str, Any]) -> None:
        """Start nothing."""

    def ask(self, turn: Turn) -> Answer:
        """Say that it crashed."""
        return Answer(0.0, fault=SeatFault(CRASH, "it killed the process that ran it, each time that it was started"))

    def notify(self, notice: Notice) -> None:
        """Tell nobody."""

    def close(self) -> None:
        """Do nothing: nothing was started."""


def unplayed(play_spec: PlaySpec, why: str) -> Record:
    """The record of a game that the arena could not play; it is unrated."""
    referee = Referee(play_spec)
    referee.abort(0, f"the arena could not play it: {why}")
    return referee.record()
