"""What a match, a sequential test or a tournament came to: scores, intervals, tables and records."""

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ludodrome.arena.matches.archives import RecordFolder, RecordMemory
from ludodrome.arena.matches.match import MatchRun, MatchSpec, SprtRun
from ludodrome.arena.matches.openings import NO_OPENINGS
from ludodrome.arena.matches.tallies import MatchTally
from ludodrome.arena.statistics.scores import Score
from ludodrome.arena.statistics.sprt import BETTER, Sprt, SprtState
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.arena.tournaments.report import Standing, standings
from ludodrome.arena.tournaments.tournament import Tournament
from ludodrome.validation import choice


class PlayerScore(NamedTuple):
    """One player's games. Games in which the arena failed do not count.

    >>> score = PlayerScore(games=10, wins=6, draws=2, losses=2, points=7.0, share=0.7, low=0.45, high=0.95)
    >>> score.points / score.games == score.share
    True
    """

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    """A win is one point; players who share the first place share the point."""
    share: float
    """Points per game ..."""
    low: float
    """... and its 95 % interval."""
    high: float


class MatchResult:
    """The games of a match and what they say about the bots. Progress callbacks get it while it grows.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> result = ludodrome.play_match(game, ["a=greedy", "b=random"], games=20, clock="nodes=100", seed=1, workers=0)
    >>> result.names, result.seed, result.games, result.total, result.finished
    (('a', 'b'), 1, 20, 20, True)
    >>> score = result.scores["a"]
    >>> score.points == score.wins + score.draws / 2 == result.tally.lines["a"].points
    True
    >>> low, high = result.elo_interval
    >>> low < result.elo < high, result.score.elo == result.elo
    (True, True)
    >>> result.spec.games, result.recalled, result.failing, sorted(result.identities), len(result.records)
    (20, 0, None, ['a', 'b'], 20)
    >>> isinstance(result.openings, str), isinstance(result.notes, list), result.to_json()["recalled"]
    (True, True, 0)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result.save_records(f"{folder}/records.jsonl")
    20
    """

    def __init__(self, run: MatchRun, archive: RecordMemory | RecordFolder, version_notes: Sequence[str] = ()) -> None:
        self._run, self._archive, self._version_notes = run, archive, tuple(version_notes)
        self.interrupted = False
        """Whether Ctrl-C ended it early."""

    @property
    def spec(self) -> MatchSpec:
        """What was to be played."""
        return self._run.match

    @property
    def tally(self) -> MatchTally:
        """All counts."""
        return self._run.tally

    @property
    def names(self) -> tuple[str, ...]:
        """The bots' names, in the order in which they were given."""
        return self.spec.names

    @property
    def seed(self) -> int:
        """The random seed, which repeats the match."""
        return self.spec.settings.seed

    @property
    def identities(self) -> dict[str, str]:
        """The version of every bot, by name: a short hash of what runs."""
        return {name: self.spec.settings.identities[one] for name, one in zip(self.names, self.spec.bots, strict=True)}

    @property
    def recalled(self) -> int:
        """Games that were not played, because their records were kept by an earlier run."""
        return self._archive.recalled.count

    @property
    def failing(self) -> str | None:
        """The bot that failed in all of its first games, so that the match was stopped; None if there is none."""
        return self._run.failing

    @property
    def openings(self) -> str:
        """Where the openings come from, in a few words: how many of a book, or how many drawn and refused."""
        scheduler = self._run.scheduler
        return NO_OPENINGS if scheduler is None else scheduler.openings()[self.spec.settings.name]

    @property
    def notes(self) -> list[str]:
        """Sentences on what the result says: recalled and repeated games, changed and failing bots."""
        notes, recalled = list(self._version_notes), self._archive.recalled
        if recalled.count:
            notes.append(
                f"{recalled.count} of {self.games} games were recalled from records of {recalled.when}; "
                "fresh (--fresh) plays them again"
            )
        unknown = self._run.scheduler.unknown if self._run.scheduler is not None else 0
        if unknown:
            notes.append(
                f"{unknown} recorded games were played again: their records do not say which version of the bots played"
            )
        return notes + self._warnings()

    def _warnings(self) -> list[str]:
        notes = []
        if self.failing is not None:
            notes.append(
                f"stopped: {self.failing} failed in each of its first games; fix it, or continue with --keep-going "
                "(in Python: max_failures=None)"
            )
        if self.tally.repeats:
            notes.append(
                f"{self.tally.repeats} of {self.games} games repeat an earlier one move by move, and count once in the "
                "intervals: these bots are deterministic, so play from openings"
            )
        return notes

    @property
    def games(self) -> int:
        """Games played so far."""
        return self.tally.games

    @property
    def total(self) -> int:
        """Games to be played."""
        return self.spec.games

    @property
    def finished(self) -> bool:
        """Whether all games were played."""
        return self.games >= self.total

    @property
    def scores(self) -> dict[str, PlayerScore]:
        """Every bot's score, by name."""
        found = {}
        for name, line in self.tally.lines.items():
            share = self.tally.share(name)
            counts = len(line.results), line.wins, line.draws, line.losses
            found[name] = PlayerScore(*counts, line.points, share.share, share.low, share.high)
        return found

    @property
    def score(self) -> Score | None:
        """The first bot's score against the second, with Elo; None with three seats or before the first game."""
        first = next(iter(self.tally.lines.values()))
        return self.tally.score(first.name) if self.tally.seats == 2 and first.results else None

    @property
    def elo(self) -> float | None:
        """The Elo difference between the first bot and the second; None where ``score`` is."""
        return None if self.score is None else self.score.elo

    @property
    def elo_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of ``elo``."""
        return None if self.score is None else (self.score.elo_low, self.score.elo_high)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of all counted games, in the order of the schedule; read from files if they are kept there."""
        return [self._archive.read(match) for _, match in sorted(self._run.counted_games)]

    def save_records(self, path: str | os.PathLike[str]) -> int:
        """Write the records to a file of JSON Lines and return their number."""
        return _save_lines(self.records, path)

    def to_json(self) -> dict[str, Any]:
        """A plain value: the match and its counts."""
        return (
            self.spec.to_json()
            | self.tally.to_json()
            | {
                "openings": self.openings,
                "recalled": self.recalled,
                "notes": self.notes,
            }
        )

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {line.points:g}" for name, line in self.tally.lines.items())
        score = self.score
        elo = "" if score is None else f", Elo {score.elo:+.0f} ({score.elo_low:+.0f} to {score.elo_high:+.0f})"
        return f"<{type(self).__name__} {self.games} of {self.total} games: {scores}{elo}>"


class SprtResult(MatchResult):
    """A match that ended with the verdict of a sequential test, and the state of the test.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> result = ludodrome.sprt(game, ["new=chains", "old=random"], elo1=100, clock="nodes=100", workers=0)
    >>> result.test.elo1, result.state.verdict, result.passed, result.finished
    (100, 'H1', True, True)
    >>> result.counted_pairs == result.to_json()["counted"]
    True
    """

    def __init__(self, run: SprtRun, archive: RecordMemory | RecordFolder, version_notes: Sequence[str] = ()) -> None:
        super().__init__(run, archive, version_notes)
        self._sprt_run = run

    @property
    def test(self) -> Sprt:
        """The test with its hypotheses."""
        return self._sprt_run.sprt

    @property
    def state(self) -> SprtState:
        """Log-likelihood ratio, bounds, verdict and pairs."""
        return self._sprt_run.state

    @property
    def counted_pairs(self) -> int:
        """Pairs of games that the test has counted."""
        return self._sprt_run.counted

    @property
    def passed(self) -> bool | None:
        """True: the new bot is better by ``elo1``. False: by ``elo0`` at most. None: undecided."""
        return None if self.state.verdict is None else self.state.verdict == BETTER

    @property
    def finished(self) -> bool:
        """Whether there is a verdict, or all games were played."""
        return self.passed is not None or super().finished

    def _warnings(self) -> list[str]:
        stopped = "stopped undecided: the bots only repeat games that they have played; play from openings"
        return super()._warnings() + ([stopped] if self._sprt_run.repeating else [])

    def to_json(self) -> dict[str, Any]:
        """A plain value: the match, its counts and the test."""
        test = {name: getattr(self.test, name) for name in ("elo0", "elo1", "alpha", "beta", "model")}
        return super().to_json() | {"sprt": test | self.state.to_json(), "counted": self.counted_pairs}


class TournamentResult:
    """A tournament and its tables. Progress callbacks get it while it grows.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> result = ludodrome.tournament(game, ["chains", "random"], pairs=4, clock="nodes=100", seed=3, workers=0)
    >>> result.games, result.total, result.finished, result.seed, len(result.records)
    (8, 8, True, 3, 8)
    >>> [line.name for line in result.standings]
    ['chains', 'random']
    >>> result.standings_of(result.plan.settings[0].name)[0].points == result.standings[0].points
    True
    >>> isinstance(result.notes, list)
    True
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result.save_records(f"{folder}/records.jsonl")
    8
    """

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.interrupted = False
        """Whether Ctrl-C ended it early."""

    @property
    def plan(self) -> TournamentPlan:
        """What was to be played."""
        return self.tournament.plan

    @property
    def games(self) -> int:
        """Games played so far."""
        return self.tournament.played

    @property
    def total(self) -> int:
        """Games to be played; of a knockout, as far as is known."""
        return self.tournament.total

    @property
    def finished(self) -> bool:
        """Whether all games were played."""
        return self.tournament.finished

    @property
    def seed(self) -> int:
        """The random seed, which repeats the tournament."""
        return self.plan.seed

    @property
    def notes(self) -> list[str]:
        """Sentences on how far the result is one of this run: recalled games, changed bots."""
        return self.tournament.notes

    @property
    def standings(self) -> list[Standing]:
        """The table over all games, best first, with ratings and their 95 % intervals."""
        return standings(self.tournament)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of all games, in the order in which they were finished."""
        return list(self.tournament.records())

    def standings_of(self, game: str) -> list[Standing]:
        """The table of one game, by its name in the plan; ValueError if it has no such game."""
        names = [settings.name for settings in self.plan.settings]
        return standings(self.tournament, choice(game, names, "a game of this tournament", ValueError))

    def save_records(self, path: str | os.PathLike[str]) -> int:
        """Write the records to a file of JSON Lines and return their number."""
        return _save_lines(self.tournament.records(), path)

    def __repr__(self) -> str:
        first = self.standings[0]
        lead = f": {first.name} leads with {first.points:g} of {first.games}" if first.games else ""
        return f"<TournamentResult {self.games} of {self.total} games{lead}>"


def _save_lines(records: Iterable[dict[str, Any]], path: str | os.PathLike[str]) -> int:
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
            count += 1
    return count
