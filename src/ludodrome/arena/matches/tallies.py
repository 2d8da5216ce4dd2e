"""Results of games, and their tally by player. Points and intervals are computed in ``statistics/scores.py``."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from ludodrome.arena.play_spec import canonical_json
from ludodrome.arena.seats import RESIGNED
from ludodrome.arena.statistics import scores
from ludodrome.games import make

DECISIONS = BY_PLAY, ADJUDICATION, FORFEIT, RESIGNATION, ARENA = (
    "play",
    "adjudication",
    "forfeit",
    "resignation",
    "arena",
)
"""What may decide a game: ``decided_by`` of a result."""
HARNESS = (FORFEIT, ARENA)
"""The decisions of the harness rather than of the players."""


MAX_STDERR_LINES, MAX_STDERR = 5, 1000
"""The last lines and characters of standard error that are shown with a failure."""
MAX_SENT = 200
"""Characters of an answer that was refused, or of half a line, that are shown with a failure."""
MAX_SHOWN_FAILURES = 5
"""Distinct failures of a bot that are shown."""


class Failure(NamedTuple):
    """The first verdict against a bot in a game."""

    seat: int
    cause: str
    why: str
    stderr: str = ""
    """The last lines of its standard error."""
    sent: str = ""
    """What it had sent in that turn: the refused answer, the malformed line, or half a line without its newline."""

    def details(self) -> list[str]:
        """What to show below the reason: what it sent, then the end of its standard error, line by line."""
        sent = [f"sent: {self.sent}"] if self.sent else []
        return [*sent, *(f"stderr: {line}" for line in self.stderr.splitlines())]


class SeatNotes(NamedTuple):
    """What the arena noted about a bot in a game: answers that it dropped, lines that it ignored."""

    seat: int
    first: str
    total: int


@dataclass(frozen=True, slots=True)
class GameResult:
    """The result of a game: the part of a record that tables and ratings need."""

    match: str
    names: tuple[str, ...]
    """By seat, like all other tuples here."""
    returns: tuple[float, ...]
    rated: bool
    reason: str
    decided_by: str
    verdicts: tuple[tuple[int, str], ...]
    """Seat and cause of each, in order."""
    length: int
    """Turns, including the opening."""
    moves: tuple[int, ...]
    """Moves asked of each bot."""
    ms: tuple[float, ...]
    slowest_ms: tuple[float, ...]
    failures: tuple[Failure, ...] = ()
    """The first verdict against each bot that has one; resignations and the arena's own failures are none."""
    course: str = ""
    """A hash of all moves: equal in games that are played alike. Empty if it is not known."""
    notes: tuple[SeatNotes, ...] = ()
    """Of each bot about which something was noted."""

    @property
    def points(self) -> tuple[float, ...]:
        """Points by seat: one point, shared by the winners."""
        return scores.points(self.returns)

    def to_json(self) -> dict[str, Any]:
        """A plain value; ``from_json`` reads it back."""
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> "GameResult":
        """Read what ``to_json`` wrote, also after a round trip through JSON."""
        lists = {name: tuple(one) for name, one in value.items() if isinstance(one, list | tuple)}
        verdicts = tuple((int(seat), str(cause)) for seat, cause in value["verdicts"])
        failures = tuple(Failure(*one) for one in value.get("failures", ()))
        notes = tuple(SeatNotes(*one) for one in value.get("notes", ()))
        return GameResult(**(value | lists | {"verdicts": verdicts, "failures": failures, "notes": notes}))


def game_result(record: dict[str, Any]) -> GameResult:
    """The result of a record."""
    result, seats = record["result"], len(record["names"])
    moves, slowest = [0] * seats, [0.0] * seats
    for turn in record["turns"]:
        moves[turn["seat"]] += 1
        slowest[turn["seat"]] = max(slowest[turn["seat"]], turn.get("ms", 0.0))
    return GameResult(
        record["match"],
        tuple(record["names"]),
        tuple(result["returns"]),
        result["rated"],
        result["reason"],
        result["decided_by"],
        tuple((verdict["seat"], verdict["cause"]) for verdict in result["verdicts"]),
        len(record["opening"]) + len(record["turns"]),
        tuple(moves),
        tuple(record["ms"]),
        tuple(slowest),
        _failures(record),
        _course(record),
        seat_notes(record),
    )


def seat_notes(record: dict[str, Any]) -> tuple[SeatNotes, ...]:
    """What was noted about the bots of a record."""
    by_seat = enumerate(record.get("notes", ()))
    return tuple(SeatNotes(seat, notes[0], len(notes)) for seat, notes in by_seat if notes)


def _failures(record: dict[str, Any]) -> tuple[Failure, ...]:
    found: dict[int, Failure] = {}
    refusals = {turn["turn"]: turn["refusals"] for turn in record["turns"] if turn.get("refusals")}
    for verdict in record["result"]["verdicts"]:
        seat, cause = verdict["seat"], verdict["cause"]
        if seat not in found and cause not in (ARENA, RESIGNED):
            stderr = record["stderr"][seat] if "stderr" in record else ""
            last = "\n".join(stderr.rstrip().splitlines()[-MAX_STDERR_LINES:])[-MAX_STDERR:]
            refused = refusals.get(verdict.get("turn"))
            found[seat] = Failure(seat, cause, verdict["why"], last, _sent(refused[-1]) if refused else "")
    return tuple(found.values())


def _sent(refusal: dict[str, Any]) -> str:
    """The answer of a refusal on one line, cut to a length that can be shown."""
    text = refusal["sent"] if refusal.get("cut") else json.dumps(refusal["sent"], ensure_ascii=False)
    return text if len(text) <= MAX_SENT else f"{text[: MAX_SENT - 1]}…"


def _course(record: dict[str, Any]) -> str:
    """A hash of where the game started and of all moves, the opening included."""
    moves = [turn.get("move") for turn in record["turns"]]
    start = record.get("position", record.get("start"))
    if start is None and _starts_vary(record["game"], json.dumps(record["options"], sort_keys=True)):
        start = record.get("commitment", record.get("seed"))
    return hashlib.sha256(canonical_json([start, record["opening"], moves])).hexdigest()[:16]


@lru_cache(maxsize=64)
def _starts_vary(game_id: str, options: str) -> bool:
    """Whether the initial position of a game depends on the seed, as people see it: a nonce does not count."""
    game = make(game_id, **json.loads(options))
    first, *others = (game.render(game.initial_state(seed)) for seed in range(1, 6))
    return any(other != first for other in others)


@dataclass(slots=True)
class PlayerTally:
    """One player's counts."""

    name: str
    results: list[float] = field(default_factory=list)
    """Points, game by game; rated games only, like wins, draws and losses."""
    groups: list[int] = field(default_factory=list)
    """The round of each result."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    moves: int = 0
    ms: float = 0.0
    slowest_ms: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Games in which it failed, by cause and reason."""
    first_failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    """The first failure of each kind, with what it sent and the end of its standard error."""
    noted_games: int = 0
    """Games in which something was noted about it ..."""
    first_note: str = ""
    """... and the first of these notes."""
    distinct: list[bool] = field(default_factory=list)
    """Whether each result is that of a game that does not repeat an earlier one."""

    def distinct_results(self) -> tuple[list[float], list[int]]:
        """Results and rounds without those of repeated games: what intervals are taken over."""
        kept = [number for number, first in enumerate(self.distinct) if first]
        return [self.results[number] for number in kept], [self.groups[number] for number in kept]

    @property
    def points(self) -> float:
        """The sum of the results."""
        return sum(self.results)

    def to_json(self) -> dict[str, Any]:
        """A plain value for JSON output."""
        return {
            "name": self.name,
            "games": len(self.results),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": round(self.points, 9),
            "moves": self.moves,
            "ms": round(self.ms, 3),
            "slowest_ms": round(self.slowest_ms, 3),
            "verdicts": dict(sorted(self.verdicts.items())),
            "failures": [
                {
                    "cause": cause,
                    "why": why,
                    "games": count,
                    "sent": self.first_failures[cause, why].sent,
                    "stderr": self.first_failures[cause, why].stderr,
                }
                for (cause, why), count in self.failures.most_common(MAX_SHOWN_FAILURES)
            ],
            "notes": {"games": self.noted_games, "first": self.first_note} if self.noted_games else None,
        }


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Items by descending count, then by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


class MatchTally:
    """Counts of a match, updated game by game, in any order."""

    def __init__(self, names: Sequence[str], seats: int) -> None:
        self.seats = seats
        self.lines = {name: PlayerTally(name) for name in names}
        self.games = self.unrated = self.length = self.longest = 0
        self.shortest: int | None = None
        self.reasons: Counter[str] = Counter()
        self.decided_by: Counter[str] = Counter()
        self.seat_points = [0.0] * seats
        self.repeats = 0
        """Rated games that repeat an earlier one, move by move, with the same bots in the same seats."""
        self._courses: set[tuple[tuple[str, ...], str]] = set()

    def add(self, game: GameResult, group: int) -> None:
        """Count a game; ``group`` is its round: all games from one opening."""
        self.games += 1
        self.length += game.length
        self.longest = max(self.longest, game.length)
        self.shortest = game.length if self.shortest is None else min(self.shortest, game.length)
        self.reasons[game.reason] += 1
        self.decided_by[game.decided_by] += 1
        for seat, cause in game.verdicts:
            self.lines[game.names[seat]].verdicts[cause] += 1
        for failure in game.failures:
            line, kind = self.lines[game.names[failure.seat]], (failure.cause, failure.why)
            line.failures[kind] += 1
            line.first_failures.setdefault(kind, failure)
        for note in game.notes:
            line = self.lines[game.names[note.seat]]
            line.noted_games += 1
            line.first_note = line.first_note or note.first
        for seat, name in enumerate(game.names):
            line = self.lines[name]
            line.moves += game.moves[seat]
            line.ms += game.ms[seat]
            line.slowest_ms = max(line.slowest_ms, game.slowest_ms[seat])
        if game.rated:
            self._add_points(game, group)
        else:
            self.unrated += 1

    def _add_points(self, game: GameResult, group: int) -> None:
        first = sum(point > 0 for point in game.points)
        distinct = self.is_new(game)
        self.repeats += not distinct
        if game.course:
            self._courses.add((game.names, game.course))
        for seat, (name, point) in enumerate(zip(game.names, game.points, strict=True)):
            line = self.lines[name]
            line.results.append(point)
            line.groups.append(group)
            line.distinct.append(distinct)
            line.wins += point == 1
            line.draws += point > 0 and first > 1
            line.losses += point == 0
            self.seat_points[seat] += point

    def is_new(self, game: GameResult) -> bool:
        """Whether no game counted so far had the same moves with the same bots in the same seats."""
        return (game.names, game.course) not in self._courses

    @property
    def by_harness(self) -> int:
        """Games decided by the harness: by a forfeit or by a failure of the arena."""
        return sum(self.decided_by[how] for how in HARNESS)

    def score(self, name: str) -> scores.Score:
        """A player's score in a two-player match."""
        scores.refuse_elo(self.seats)
        return scores.score(*self.lines[name].distinct_results())

    def share(self, name: str) -> scores.Share:
        """A player's share of the points, with any number of seats."""
        results, groups = self.lines[name].distinct_results()
        return scores.shares(results, self.seats, groups)

    def to_json(self) -> dict[str, Any]:
        """A plain value for JSON output."""
        first = next(iter(self.lines))
        return {
            "games": self.games,
            "unrated": self.unrated,
            "repeats": self.repeats,
            "players": [line.to_json() | {"share": self.share(name).to_json()} for name, line in self.lines.items()],
            "score": self.score(first).to_json() if len(self.lines) == 2 == self.seats else None,
            "seat_points": [round(points, 9) for points in self.seat_points],
            "reasons": dict(ranked(self.reasons)),
            "decided_by": dict(sorted(self.decided_by.items())),
            "by_harness": self.by_harness,
            "length": {"mean": self.length / max(self.games, 1), "least": self.shortest or 0, "most": self.longest},
        }
