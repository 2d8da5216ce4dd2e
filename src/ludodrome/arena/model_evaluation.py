"""Evaluate a language model: games against opponents, its strength, and separately the quality of its answers.

A model loses games by bad moves and by bad answers, and the two mean different things. Strength counts the games that
were decided by play; refused, empty and missing answers are counted separately. The bot is in ``bots/llm.py``.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.matches.archives import RecordFolder
from ludodrome.arena.matches.match import MatchRun, MatchSpec, checked_games, open_book
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import MatchScheduler, MatchSettings, Pairing, Record
from ludodrome.arena.matches.tallies import BY_PLAY, GameResult, MatchTally, game_result
from ludodrome.arena.matches.workers import play_game
from ludodrome.bots.llm import ENDPOINT, TIMEOUT
from ludodrome.bots.prompts import ILLEGAL, MOVE, NOTHING
from ludodrome.bots.specs import distinct_names
from ludodrome.game import Game

USUAL_GAMES = 10
USUAL_CLOCK = "60s"


@dataclass(slots=True)
class AnswerCounts:
    """The outcomes of a model's answers."""

    outcomes: Counter[str] = field(default_factory=Counter)
    declined: int = 0
    """Answers that the endpoint marks as refused by the model."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: int = 0

    def add(self, record: Record, seat: int) -> None:
        """Count the exchanges of a seat in a record."""
        for turn in record["turns"]:
            for exchange in exchanges(turn) if turn["seat"] == seat else ():
                self.outcomes[exchange["outcome"]] += 1
                self.declined += bool(exchange.get("declined"))
                tokens = exchange.get("tokens", {})
                self.prompt_tokens += tokens.get("prompt") or 0
                self.completion_tokens += tokens.get("completion") or 0
                self.ms += exchange["ms"]

    @property
    def asked(self) -> int:
        """The number of questions."""
        return sum(self.outcomes.values())

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``--json``."""
        return {
            "asked": self.asked,
            "moves": self.outcomes[MOVE],
            "refusals": self.outcomes[ILLEGAL],
            "parse_failures": self.outcomes[NOTHING],
            "declined": self.declined,
            "timeouts": self.outcomes[TIMEOUT],
            "endpoint_errors": self.outcomes[ENDPOINT],
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "ms": self.ms,
        }


def exchanges(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The exchanges with a model in the log of a turn."""
    for text in turn.get("log", ()):
        try:
            found = json.loads(text)
        except ValueError:
            continue  # not an exchange
        if isinstance(found, dict) and {"llm", "outcome", "ms"} <= found.keys():
            yield found


@dataclass(slots=True)
class ModelTrial:
    """A model against one opponent in one game under one condition, with its results."""

    match: MatchSpec
    opponent: str
    strength: MatchTally
    """The games decided by play."""
    everything: MatchTally
    """All games, including forfeits and failures."""
    answers: AnswerCounts = field(default_factory=AnswerCounts)

    @property
    def legal_moves(self) -> bool:
        """Whether the legal moves were shown."""
        return self.match.settings.conditions.legal_moves

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``--json``."""
        name = self.match.names[0]
        return {
            **self.match.to_json(),
            "opponent": self.opponent,
            "legal_moves": self.legal_moves,
            "strength": _points(self.strength, name),
            "everything": _points(self.everything, name) | {"decided_by": dict(self.everything.decided_by)},
            "answers": self.answers.to_json(),
        }


def _points(tally: MatchTally, name: str) -> dict[str, Any]:
    line = tally.lines[name]
    share = tally.share(name).to_json() if line.results else None
    score = tally.score(name).to_json() if line.results and tally.seats == 2 else None
    return {"games": len(line.results), "wins": line.wins, "draws": line.draws, "losses": line.losses} | {
        "share": share,
        "score": score,
    }


class ThreadExecutors:
    """Worker threads, for games that spend most of their time waiting for an endpoint."""

    def __init__(self, width: int) -> None:
        self.width = width

    def open(self) -> Executor:
        """Start the threads."""
        return ThreadPoolExecutor(self.width)

    def end(self, executor: Executor) -> None:
        """Let running games finish; drop the others."""
        executor.shutdown(wait=False, cancel_futures=True)

    def is_loss(self, error: BaseException) -> bool:
        """False: a thread does not die alone."""
        return False

    def close(self) -> None:
        """Do nothing: no resources are held."""


class _Ledger(RecordFolder):
    """Records in a folder, or nowhere; counts the model's answers, including those of earlier runs."""

    def __init__(self, folder: Path | None, trial: ModelTrial) -> None:
        super().__init__(folder)
        self._path, self._trial = folder, trial

    def find(self, match: str) -> GameResult | None:
        """Find a game that was played before."""
        if self._path is None:
            return None
        try:
            record = records.read(self._path / f"{match}{records.SUFFIX}")
            found = game_result(record)
        except (OSError, ValueError):
            return None
        self._count(record)
        return found

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Store a record and count its answers."""
        super().keep(pairing, record, game)
        self._count(record)

    def _count(self, record: Record) -> None:
        self._trial.answers.add(record, record["names"].index(self._trial.match.names[0]))


def trials(
    model: str,
    games: Sequence[Game],
    opponents: Sequence[str],
    shown: Sequence[bool] = (True,),
    count: int | None = None,
    policy: str | None = None,
    clock: str = USUAL_CLOCK,
    seed: int = 0,
) -> list[ModelTrial]:
    """A trial for every game, opponent and condition; ValueError if something does not fit."""
    found = []
    for game, opponent, legal_moves in product(games, opponents, shown):
        agreed = conditions(game, policy, clock, legal_moves)
        settings = MatchSettings(game.id, game.id, game.options, game.seats, agreed, seed)
        bots = (model, *[opponent] * (game.seats - 1))
        usual = -(-USUAL_GAMES // game.seats) * game.seats
        match = MatchSpec(settings, bots, distinct_names(bots), checked_games(count or usual, game.seats, True))
        found.append(
            ModelTrial(match, opponent, MatchTally(match.names, game.seats), MatchTally(match.names, game.seats))
        )
    return found


def evaluate(
    trial: ModelTrial,
    game: Game,
    workers: int,
    openings: bool | str = True,
    folder: Path | None = None,
    on_tick: Callable[[], None] = lambda: None,
) -> None:
    """Play the games of a trial and store the results in it, also after Ctrl-C."""

    def take(pairing: Pairing, found: GameResult) -> None:
        trial.everything.add(found, pairing.opening)
        if found.decided_by == BY_PLAY:
            trial.strength.add(found, pairing.opening)

    on = trial.match.settings
    book = open_book(game, on.seed, openings, folder)
    scheduler = MatchScheduler(MatchRun(trial.match, take), {on.name: book}, _Ledger(folder, trial), play_game)
    run(scheduler, ThreadExecutors(workers), on_tick)
