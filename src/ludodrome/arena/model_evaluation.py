"""Evaluate a language model: games against opponents, its strength, and separately the quality of its answers.

A model loses games by bad moves and by bad answers, and the two mean different things. Strength counts the games that
were decided by play and in which every move was the model's own. Games with substituted moves are counted apart, and
one in which the model made fewer than half of its moves is no evidence. An endpoint that fails is not the model's
fault: the game is void, the evaluation ends, and the next run plays the game again. The bot is in ``bots/llm.py``.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.matches.archives import RecordFolder
from ludodrome.arena.matches.match import MatchRun, MatchSpec, checked_games, open_book
from ludodrome.arena.matches.openings import OpeningBook
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.scheduler import MatchScheduler, MatchSettings, Pairing, Record
from ludodrome.arena.matches.tallies import ARENA, BY_PLAY, GameResult, MatchTally, game_result
from ludodrome.arena.matches.workers import play_game
from ludodrome.bots.llm import ENDPOINT, PREFLIGHT, TIMEOUT, EndpointError, endpoint
from ludodrome.bots.prompts import ILLEGAL, MOVE, NOTHING
from ludodrome.bots.registry import LLM
from ludodrome.bots.specs import distinct_names
from ludodrome.game import Game

USUAL_GAMES = 10
USUAL_CLOCK = "60s"
USUAL_POLICY = "retry:3"
"""The same for all games, so that their results can be compared."""


class EndpointDown(Exception):
    """An endpoint stayed down: a sentence. The games played before are kept."""


@dataclass(slots=True)
class MoveCounts:
    """Who made the moves of a model's games."""

    asked: int = 0
    """Turns of the model."""
    own: int = 0
    """Moves that the model made itself ..."""
    retried: int = 0
    """... and those of them that it made after a refused answer."""
    substituted: int = 0
    """Moves that the arena made for it. The rest of its turns were forfeited."""

    @staticmethod
    def of(record: Record, seat: int) -> "MoveCounts":
        """The moves of a seat in a record."""
        turns = [turn for turn in record["turns"] if turn["seat"] == seat]
        own = [turn for turn in turns if "move" in turn and not turn.get("substituted")]
        substituted = sum(bool(turn.get("substituted")) for turn in turns)
        return MoveCounts(len(turns), len(own), sum("refusals" in turn for turn in own), substituted)

    def add(self, other: "MoveCounts") -> None:
        """Add the moves of another game."""
        self.asked += other.asked
        self.own += other.own
        self.retried += other.retried
        self.substituted += other.substituted

    @property
    def are_evidence(self) -> bool:
        """Whether the model made at least half of its moves, and one at all."""
        return self.own > 0 and 2 * self.own >= self.asked

    def to_json(self) -> dict[str, int]:
        """A plain value for ``--json``."""
        return asdict(self)


TOKENS = ("prompt", "completion", "reasoning")


@dataclass(slots=True)
class AnswerCounts:
    """The outcomes of a model's answers. Each question has one of them."""

    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    """By kind: prompt, completion, and the reasoning that is part of the completion."""
    counted: Counter[str] = field(default_factory=Counter)
    """Answers for which the endpoint counted these tokens; the others are unknown, not zero."""
    answers: int = 0
    """Answers that came."""
    finish: Counter[str] = field(default_factory=Counter)
    """Why the endpoint says that they ended."""
    ms: int = 0
    waited_ms: int = 0
    """Time in which the endpoint was down, which no clock counts."""

    def add(self, record: Record, seat: int) -> None:
        """Count the exchanges of a seat in a record."""
        for turn in record["turns"]:
            for exchange in exchanges(turn) if turn["seat"] == seat else ():
                self._add(exchange)

    def _add(self, exchange: dict[str, Any]) -> None:
        outcome = exchange["outcome"]
        self.outcomes[REFUSED if outcome == NOTHING and exchange.get("declined") else outcome] += 1
        self.ms += exchange["ms"]
        self.waited_ms += exchange.get("waited_ms", 0)
        if "reply" not in exchange:
            return
        self.answers += 1
        self.finish[exchange.get("finish") or UNKNOWN] += 1
        for kind in TOKENS:
            count = exchange.get("tokens", {}).get(kind)
            if count is not None:
                self.tokens[kind] += count
                self.counted[kind] += 1

    @property
    def asked(self) -> int:
        """The number of questions."""
        return sum(self.outcomes.values())

    def known_tokens(self, kind: str) -> int | None:
        """The tokens that the endpoint counted; None if it counted none."""
        return self.tokens[kind] if self.counted[kind] else None

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``--json``."""
        return {
            "asked": self.asked,
            "moves": self.outcomes[MOVE],
            "illegal": self.outcomes[ILLEGAL],
            "unparsable": self.outcomes[NOTHING],
            "refused": self.outcomes[REFUSED],
            "timed_out": self.outcomes[TIMEOUT],
            "endpoint_errors": self.outcomes[ENDPOINT],
            **{f"{kind}_tokens": self.known_tokens(kind) for kind in TOKENS},
            "uncounted": {kind: self.answers - self.counted[kind] for kind in TOKENS[:2]},
            "finish": dict(sorted(self.finish.items())),
            "ms": self.ms,
            "waited_ms": self.waited_ms,
        }


REFUSED, UNKNOWN = "refused", "unknown"
"""The outcome of an answer in which the model refuses; a finish reason that the endpoint did not send."""


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
    """The games decided by play in which every move was the model's own."""
    with_substitutes: MatchTally
    """The games decided by play with substituted moves, if at least half of the moves were the model's own."""
    everything: MatchTally
    """All games, including forfeits and void ones."""
    no_evidence: int = 0
    """Games decided by play in which the model made fewer than half of its moves."""
    void: Counter[str] = field(default_factory=Counter)
    """Games that count for nothing, because an endpoint or the arena failed, by reason."""
    moves: MoveCounts = field(default_factory=MoveCounts)
    """Those of all games that are not void."""
    answers: AnswerCounts = field(default_factory=AnswerCounts)

    @property
    def legal_moves(self) -> bool:
        """Whether the legal moves were shown."""
        return self.match.settings.conditions.legal_moves

    @property
    def complete(self) -> bool:
        """Whether every game was played and none is void."""
        return self.everything.games == self.match.games and not self.void

    def take(self, pairing: Pairing, found: GameResult, moves: MoveCounts, why: str) -> None:
        """Count a game; ``why``: the last verdict."""
        self.everything.add(found, pairing.opening)
        if found.decided_by == ARENA:
            self.void[why] += 1
            return
        self.moves.add(moves)
        if found.decided_by != BY_PLAY:
            return
        if not moves.are_evidence:
            self.no_evidence += 1
        elif moves.substituted:
            self.with_substitutes.add(found, pairing.opening)
        else:
            self.strength.add(found, pairing.opening)

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``--json``."""
        name = self.match.names[0]
        return {
            **self.match.to_json(),
            "opponent": self.opponent,
            "legal_moves": self.legal_moves,
            "complete": self.complete,
            "strength": _points(self.strength, name),
            "with_substitutes": _points(self.with_substitutes, name),
            "no_evidence": self.no_evidence,
            "void": dict(self.void),
            "everything": _points(self.everything, name) | {"decided_by": dict(self.everything.decided_by)},
            "moves": self.moves.to_json(),
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
        self.moves: dict[str, MoveCounts] = {}
        """The model's moves, by game."""
        self.whys: dict[str, str] = {}
        """The last verdict of each game; empty if it has none."""
        self.outage = ""
        """Why a game of this run is void, if an endpoint failed."""

    def find(self, match: str) -> GameResult | None:
        """Find a game that was played before; a void one is played again."""
        record = self.finished(match)
        if record is None:
            return None
        self._count(record)
        return game_result(record)

    def finished(self, match: str) -> Record | None:
        """The record of a game that need not be played again."""
        if self._path is None:
            return None
        try:
            record = records.read(self._path / f"{match}{records.SUFFIX}")
            return None if game_result(record).decided_by == ARENA else record
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Store a record and count its answers."""
        super().keep(pairing, record, game)
        self._count(record)
        if game.decided_by == ARENA and any(
            exchange["outcome"] == ENDPOINT for turn in record["turns"] for exchange in exchanges(turn)
        ):
            self.outage = self.whys[game.match]

    def _count(self, record: Record) -> None:
        seat, verdicts = record["names"].index(self._trial.match.names[0]), record["result"]["verdicts"]
        self._trial.answers.add(record, seat)
        self.moves[record["match"]] = MoveCounts.of(record, seat)
        self.whys[record["match"]] = verdicts[-1]["why"] if verdicts else ""


def trials(
    model: str,
    games: Sequence[Game],
    opponents: Sequence[str],
    shown: Sequence[bool] = (True,),
    count: int | None = None,
    policy: str = USUAL_POLICY,
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
        strength, mixed, everything = (MatchTally(match.names, game.seats) for _ in range(3))
        found.append(ModelTrial(match, opponent, strength, mixed, everything))
    return found


class Preflight:
    """Asks every endpoint one question before its first game."""

    def __init__(self) -> None:
        self._answered: set[str] = set()

    def check(self, specs: Sequence[str]) -> None:
        """Ask the endpoints among these bots that have not answered yet. Raises EndpointDown."""
        for spec in dict.fromkeys(specs):
            if spec.partition(":")[0] != LLM or spec in self._answered:
                continue
            try:
                endpoint(spec).complete(PREFLIGHT)
            except EndpointError as failed:
                raise EndpointDown(f"{spec} does not answer: {failed}") from failed
            self._answered.add(spec)


def evaluate(
    trial: ModelTrial,
    game: Game,
    workers: int,
    openings: bool | str = True,
    folder: Path | None = None,
    on_tick: Callable[[], None] = lambda: None,
    preflight: Preflight | None = None,
) -> None:
    """Play the games of a trial and store the results in it, also after Ctrl-C.

    Games of earlier runs in the folder are not played again, unless they are void. Raises EndpointDown if an endpoint
    does not answer before the first game, or stays down later for longer than its bot may wait.
    """
    on = trial.match.settings
    book = open_book(game, on.seed, openings, folder)
    ledger = _Ledger(folder, trial)

    def take(pairing: Pairing, found: GameResult) -> None:
        trial.take(pairing, found, ledger.moves[found.match], ledger.whys[found.match])
        playing.stopping = playing.stopping or bool(ledger.outage)

    playing = MatchRun(trial.match, take)
    if not all(_is_finished(pairing, book, ledger) for pairing in trial.match.pairings()):
        (preflight or Preflight()).check(trial.match.bots)
    run(MatchScheduler(playing, {on.name: book}, ledger, play_game), ThreadExecutors(workers), on_tick)
    if ledger.outage:
        raise EndpointDown(f"a game was stopped, and is void: {ledger.outage}")


def _is_finished(pairing: Pairing, book: OpeningBook, ledger: _Ledger) -> bool:
    moves = book.find(pairing.opening)
    return moves is not None and ledger.finished(pairing.play_spec(moves).match) is not None
