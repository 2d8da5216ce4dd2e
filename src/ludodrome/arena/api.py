"""Matches, sequential tests and tournaments from Python: ``play_match``, ``sprt`` and ``tournament``.

Each takes a game, bots and conditions, plays all games, and returns a result with scores, intervals and records. Ctrl-C
ends it early: the result then holds the games that were finished, and ``interrupted`` is True.
"""

import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ludodrome.arena import sandbox, transports
from ludodrome.arena.conditions import conditions
from ludodrome.arena.matches.match import (
    MatchRun,
    MatchSpec,
    RecordFolder,
    RecordMemory,
    SprtRun,
    checked_games,
    distinct_names,
    open_book,
    run_match,
)
from ludodrome.arena.matches.scheduler import MatchSettings
from ludodrome.arena.matches.workers import AnyExecutor, Cluster, InlineWorkers, LocalWorkers, Workers
from ludodrome.arena.results import MatchResult, SprtResult, TournamentResult
from ludodrome.arena.statistics.scores import refuse_elo
from ludodrome.arena.statistics.sprt import Sprt
from ludodrome.arena.tournaments.plans import ROUND_ROBIN, TournamentPlan, make_plan
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from ludodrome.bots import llm
from ludodrome.bots.registry import LLM, is_built_in, read_spec, valid_specs
from ludodrome.game import Game
from ludodrome.games import make
from ludodrome.system import core_count
from ludodrome.validation import listing, show

Openings = bool | str | os.PathLike[str] | Sequence[Any] | None
WorkersLike = int | str | Executor | Workers | None
_NAMED = re.compile(r"([^:=]+)=(.*)", re.DOTALL)


def play_match(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    *,
    games: int | None = None,
    clock: str = "1s",
    openings: Openings = True,
    workers: WorkersLike = None,
    seed: int = 0,
    swap: bool = True,
    first_opening: int = 0,
    policy: str | None = None,
    legal_moves: bool = True,
    records: bool | str | os.PathLike[str] = True,
    progress: Callable[[MatchResult], None] | None = None,
) -> MatchResult:
    """Play a match between bots, one per seat, and return its result.

    - ``game``: A game's id, or a game with its options: ``ludodrome.make("dots", rows=3, cols=3)``.
    - ``bots``: Specs like ``level:3`` or ``cmd:./mybot``, also as ``name=spec``; or a mapping of names to specs.
    - ``games``: Number of games, in whole rounds: every opening is played once per seating. Default: 100, or with three
      seats 99.
    - ``clock``: Time or work per move, like ``1s``, ``1s+10s``, ``nodes=1000``, ``none``; as in ``ludodrome match``.
    - ``openings``: True for fair random openings, False or None for none, the path of a file, or a list of
      openings, each a list of moves.
    - ``workers``: Number of worker processes (default: one per core); 0 to play in this process; the address of a Dask
      scheduler; or a ``concurrent.futures`` executor.
    - ``seed``: Random seed of openings and bots.
    - ``swap``: Whether every opening is played once per seating.
    - ``first_opening``: Number of the first opening, to continue a match with new openings.
    - ``policy``: What happens after a fault: ``forfeit``, ``substitute`` or ``retry:N``. Default: the game's policy.
    - ``legal_moves``: Whether bots are sent the legal moves.
    - ``records``: True keeps the records in memory, False drops them, a path keeps them as files in that folder. A game
      whose record is in the folder is not played again, so a match that was stopped can be resumed.
    - ``progress``: Called with the result so far whenever games finish, and at least ten times a second.

    Raises ValueError if a game, bot or condition does not exist or does not fit; the message says what would be right.

    Worker processes import the calling script, so a script calls this below ``if __name__ == "__main__":``, or with
    ``workers=0``. Ctrl-C returns the result so far with ``interrupted`` set; a second Ctrl-C raises KeyboardInterrupt.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> result = ludodrome.play_match(game, ["chains", "weak=random"], games=20, clock="nodes=100", workers=0)
    >>> result.games, result.names
    (20, ('chains', 'weak'))
    >>> result.scores["chains"].points > result.scores["weak"].points
    True
    >>> low, high = result.elo_interval
    >>> low < result.elo < high
    True
    >>> len(result.records)
    20
    """
    spec, made, archive = _prepare_match(game, bots, games, clock, seed, swap, policy, legal_moves, records)
    if first_opening < 0:
        raise ValueError(f"openings are numbered from 0, not from {first_opening}")
    result = MatchResult(MatchRun(replace(spec, first_opening=first_opening)), archive)
    _play(result, made, openings, workers, records, progress)
    return result


def sprt(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    *,
    elo0: float = 0.0,
    elo1: float = 10.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    max_games: int = 100_000,
    clock: str = "1s",
    openings: Openings = True,
    workers: WorkersLike = None,
    seed: int = 0,
    policy: str | None = None,
    legal_moves: bool = True,
    records: bool | str | os.PathLike[str] = True,
    progress: Callable[[SprtResult], None] | None = None,
) -> SprtResult:
    """Test whether the first bot is better than the second, with as few games as the answer needs.

    A sequential probability ratio test over pairs of games from one opening. Pairs count in the order of the schedule,
    so the verdict does not depend on the number of workers.

    - ``game``: As in ``play_match``, like all arguments not listed here.
    - ``bots``: The new bot and the old one.
    - ``elo0``: H0: the first bot is at most this many Elo better than the second. If H0 is accepted, the test fails.
    - ``elo1``: H1: the first bot is at least this many Elo better than the second. If H1 is accepted, the test passes.
    - ``alpha``: False-positive rate: the probability that the test passes although H0 holds.
    - ``beta``: False-negative rate: the probability that the test fails although H1 holds.
    - ``max_games``: Stop undecided after this many games.

    Raises ValueError as ``play_match`` does, and if the game has more than two seats.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> result = ludodrome.sprt(game, ["new=chains", "old=random"], elo1=100, clock="nodes=100", workers=0)
    >>> result.passed
    True
    >>> result.games == 2 * result.counted_pairs
    True
    """
    made = _as_game(game)
    refuse_elo(made.seats)
    spec, made, archive = _prepare_match(
        made, bots, max_games // 2 * 2, clock, seed, True, policy, legal_moves, records
    )
    result = SprtResult(SprtRun(spec, Sprt(elo0, elo1, alpha, beta)), archive)
    _play(result, made, openings, workers, records, progress)
    return result


def tournament(
    game: str | Game | Sequence[str | Game],
    bots: Sequence[str] | Mapping[str, str],
    *,
    format: str = ROUND_ROBIN,  # noqa: A002 (as in a plan and on the command line)
    pairs: int = 1,
    rounds: int | None = None,
    challengers: Sequence[str] | None = None,
    clock: str = "1s",
    openings: bool = True,
    workers: WorkersLike = None,
    seed: int = 0,
    policy: str | None = None,
    legal_moves: bool = True,
    name: str = "tournament",
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[TournamentResult], None] | None = None,
) -> TournamentResult:
    """Play a tournament between bots, in one game or several, and return its tables.

    - ``game``: A game or several, each as in ``play_match``, like all arguments not listed here.
    - ``format``: ``round-robin``, ``gauntlet``, ``swiss`` or ``knockout``.
    - ``pairs``: Openings per meeting, each played once per seating.
    - ``rounds``: Rounds of a Swiss tournament. Default: as many as it takes to have a single winner.
    - ``challengers``: In a gauntlet, the names of the bots that meet all others. Default: the first bot.
    - ``openings``: Whether games begin from fair random openings.
    - ``name``: What the tournament is called in its store.
    - ``store``: A database file in which every game is kept at once; it needs ``ludodrome[database]``. Default: memory.
    - ``resume``: Continue the tournament of that name in the store.

    Raises ValueError as ``play_match`` does, and if the tournament in the store has another plan.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> bots = ["chains", "greedy", "weak=random"]
    >>> result = ludodrome.tournament(game, bots, pairs=4, clock="nodes=100", workers=0)
    >>> result.games, result.finished
    (24, True)
    >>> [line.name for line in result.standings][-1]
    'weak'
    """
    several = [game] if isinstance(game, str | Game) else list(game)
    named = _named_bots(bots)
    given = {
        "name": name,
        "format": format,
        "games": [_game_table(one) for one in several],
        "bots": [{"bot": spec, "name": one} for one, spec in named.items()],
        "pairs": pairs,
        "rounds": rounds,
        "challengers": None if challengers is None else list(challengers),
        "clock": clock,
        "policy": policy,
        "openings": openings,
        "legal_moves": legal_moves,
        "seed": seed,
    }
    plan = make_plan({key: value for key, value in given.items() if value is not None})
    return play_tournament(open_tournament(plan, store, resume=resume), workers=workers, progress=progress)


class TournamentExists(ValueError):
    """A store already has a tournament of that name."""


def open_tournament(
    plan: TournamentPlan,
    store: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    replay_unrated: bool = False,
) -> Tournament:
    """The tournament of a plan, in memory or in a store, with its bots checked.

    resume: continue the tournament of that name. replay_unrated: replay its games in which the arena failed.
    Raises TournamentExists if there is one of that name and ``resume`` is False, ValueError if its plan is another one.
    """
    for settings in plan.settings:
        check_bots(make(settings.game, **settings.options), (one.specs[settings.name] for one in plan.entrants))
    if store is None:
        return Tournament(plan, MemoryLedger())
    from ludodrome.store.database import open_database  # optional extra: database
    from ludodrome.store.tournaments import StoredLedger  # optional extra: database

    path = Path(store)
    engine = open_database(path, create=True)
    found = StoredLedger.find(engine, plan.name)
    if found is None:
        return Tournament(plan, StoredLedger.begin(engine, plan.name, plan.to_json()))
    ledger, stored = found
    if not resume:
        raise TournamentExists(
            f"{path} already has a tournament {plan.name}; continue it with resume=True, or choose another store"
        )
    begun = TournamentPlan.from_json(stored)
    version = begun.settings[0].version  # one that an older version of this package began goes on as it began
    plan = replace(plan, settings=tuple(replace(one, version=version) for one in plan.settings))
    kept = begun.to_json()
    if changed := [key for key, value in plan.to_json().items() if kept.get(key) != value]:
        raise ValueError(f"the plan of {plan.name} has changed since it was started: {listing(changed)}")
    if replay_unrated:
        ledger.forget_unrated()
    return Tournament(plan, ledger)


def play_tournament(
    opened: Tournament, *, workers: WorkersLike = None, progress: Callable[[TournamentResult], None] | None = None
) -> TournamentResult:
    """Play all games of a tournament that were not played yet; the arguments are those of ``tournament``."""
    result = TournamentResult(opened)
    with _workers(workers) as pool:
        try:
            opened.play(pool, on_tick=(lambda: progress(result)) if progress else lambda: None)
        except KeyboardInterrupt:
            result.interrupted = True
    return result


def check_bots(game: Game, specs: Iterable[str]) -> None:
    """ValueError if a bot cannot play the game."""
    for spec in dict.fromkeys(specs):
        kind, colon, rest = spec.partition(":")
        if colon and kind in (transports.COMMAND, transports.FILE):
            transports.command(kind, rest)
        elif colon and kind == transports.BOX:
            sandbox.box(Path(rest))
        elif colon and kind == LLM:
            llm.endpoint(spec)
        elif is_built_in(spec, game):
            read_spec(spec, game)
        else:
            raise ValueError(
                f"there is no bot {show(kind)}; the bots of {game.id} are {valid_specs(game)}; {transports.PROGRAMS}"
            )


# Parts


def _prepare_match(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    games: int | None,
    clock: str,
    seed: int,
    swap: bool,
    policy: str | None,
    legal_moves: bool,
    records: bool | str | os.PathLike[str],
) -> tuple[MatchSpec, Game, RecordMemory | RecordFolder]:
    made = _as_game(game)
    named = _named_bots(bots)
    if len(named) != made.seats:
        raise ValueError(
            f"{made.id} has {made.seats} seats with these options, so give {made.seats} bots, not {len(named)}"
        )
    check_bots(made, named.values())
    agreed = conditions(made, policy, clock, legal_moves)
    settings = MatchSettings(made.id, made.id, made.options, made.seats, agreed, seed)
    count = checked_games(games, made.seats, swap)
    archive = RecordMemory() if records is True else RecordFolder(_folder(records))
    return MatchSpec(settings, tuple(named.values()), tuple(named), count, swap), made, archive


def _play(
    result: Any,
    game: Game,
    openings: Openings,
    workers: WorkersLike,
    records: bool | str | os.PathLike[str],
    progress: Callable[[Any], None] | None,
) -> None:
    book = open_book(game, result.spec.settings.seed, openings, _folder(records))
    with _workers(workers) as pool:
        try:
            run_match(
                result._run,
                book,
                pool,
                result._archive,
                on_tick=(lambda: progress(result)) if progress else lambda: None,
            )
        except KeyboardInterrupt:
            result.interrupted = True


def _as_game(game: str | Game) -> Game:
    if isinstance(game, str):
        return make(game)
    if isinstance(game, Game):
        return game
    raise TypeError(f"a game is an id or made by ludodrome.make, not {show(game)}")


def _game_table(game: str | Game) -> dict[str, Any]:
    made = _as_game(game)
    usual = make(made.id).options
    return {"id": made.id, "options": {name: value for name, value in made.options.items() if usual.get(name) != value}}


def _named_bots(bots: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Specs by name. A bare spec is its own name, numbered where two are the same."""
    if isinstance(bots, str):
        raise TypeError(f"bots is a list of specs, one per seat, not the single text {show(bots)}")
    if isinstance(bots, Mapping):
        return dict(bots)
    found = [_NAMED.fullmatch(one) for one in bots]
    bare = distinct_names([one for one, named in zip(bots, found, strict=True) if named is None])
    names, rest = [], iter(bare)
    for named in found:
        names.append(next(rest) if named is None else named[1])
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"two bots are called {name}; give one of them another name")
    specs = (one if named is None else named[2] for one, named in zip(bots, found, strict=True))
    return dict(zip(names, specs, strict=True))


def _folder(records: bool | str | os.PathLike[str]) -> Path | None:
    return None if isinstance(records, bool) else Path(records)


@contextmanager
def _workers(wanted: WorkersLike) -> Iterator[Workers]:
    """Workers for as long as they are needed; those of the caller stay open."""
    if isinstance(wanted, Executor):
        yield AnyExecutor(wanted, getattr(wanted, "_max_workers", None) or core_count())
        return
    if not isinstance(wanted, int | str | None):
        yield wanted
        return
    workers: Workers
    if isinstance(wanted, str):
        workers = Cluster(wanted)
    elif wanted == 0:
        workers = InlineWorkers()
    elif wanted is not None and wanted < 0:
        raise ValueError(f"workers is 0 or more, not {wanted}")
    else:
        _check_main()
        workers = LocalWorkers(wanted or core_count())
    try:
        yield workers
    finally:
        workers.close()


def _check_main() -> None:
    """RuntimeError in a worker process that is importing the caller's script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "worker processes import this script, and it begins a match when it is imported: put the call below "
            'if __name__ == "__main__":, or play with workers=0'
        )
