"""Matches, sequential tests and tournaments from Python: ``play_match``, ``sprt`` and ``tournament``.

Each takes a game, bots and conditions, plays all games, and returns a result with scores, intervals and records. Ctrl-C
ends it early: the result then holds the games that were finished, and ``interrupted`` is True.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ludodrome.arena import sandbox
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import conditions
from ludodrome.arena.matches.archives import RecordFolder, RecordMemory, changed_bots
from ludodrome.arena.matches.match import (
    MAX_FAILURES,
    MatchRun,
    MatchSpec,
    SprtRun,
    checked_games,
    open_book,
    run_match,
)
from ludodrome.arena.matches.scheduler import MatchSettings, Play
from ludodrome.arena.matches.workers import (
    LocalWorkers,
    WorkersLike,
    fitted,
    play_game,
    warn_if_crowded,
    workers_for,
)
from ludodrome.arena.results import MatchResult, SprtResult, TournamentResult
from ludodrome.arena.seeds import new_secret
from ludodrome.arena.statistics.scores import refuse_elo
from ludodrome.arena.statistics.sprt import LOGISTIC, Sprt
from ludodrome.arena.tournaments.plans import ROUND_ROBIN, TournamentPlan, changed_entrants, make_plan
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from ludodrome.arena.transports import check_wasm
from ludodrome.bots import llm
from ludodrome.bots.identity import examine
from ludodrome.bots.registry import LLM, is_instant
from ludodrome.bots.specs import BOX, WASM, check_spec, named_bots
from ludodrome.game import Game
from ludodrome.games import make
from ludodrome.validation import choice, listing, show

Openings = bool | str | os.PathLike[str] | Sequence[Any] | None


def play_match(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    *,
    games: int | None = None,
    clock: str = "1s",
    clocks: Mapping[str, str] | None = None,
    openings: Openings = True,
    workers: WorkersLike = None,
    seed: int | None = None,
    swap: bool = True,
    first_opening: int = 0,
    policy: str | None = None,
    legal_moves: bool = True,
    tolerant: bool = False,
    adjudication: str | None = None,
    records: bool | str | os.PathLike[str] = True,
    fresh: bool = False,
    max_failures: int | None = MAX_FAILURES,
    log: str | os.PathLike[str] | None = None,
    progress: Callable[[MatchResult], None] | None = None,
) -> MatchResult:
    """Play a match between bots, one per seat, and return its result.

    - ``game``: A game's id, or a game with its options: ``ludodrome.make("dots", rows=3, cols=3)``.
    - ``bots``: Specs like ``level:3`` or ``cmd:./mybot``, also as ``name=spec``; or a mapping of names to specs.
    - ``games``: Number of games, in whole rounds: every opening is played once per seating. Default: 100, or with three
      seats 99.
    - ``clock``: Time or work per move, like ``1s``, ``1s+10s``, ``nodes=1000``, ``none``; as in ``ludodrome match``.
    - ``clocks``: Handicaps: the clocks of bots that have one of their own, by name.
    - ``openings``: True for balanced openings (from the game's book, or drawn where it has none), False or None for
      none, the path of a file, or a list of openings, each a list of moves. ``result.openings`` says what was used.
    - ``workers``: Number of worker processes (default: one per core); 0 to play in this process; the address of a Dask
      scheduler; or a ``concurrent.futures`` executor.
    - ``seed``: Random seed of openings and bots, to repeat a match. Default: that of the match in the folder of
      ``records``, otherwise 128 bits that nobody can guess. ``result.seed`` tells it.
    - ``swap``: Whether every opening is played once per seating.
    - ``first_opening``: Number of the first opening, to continue a match with new openings.
    - ``policy``: What happens after a fault: ``forfeit``, ``substitute`` or ``retry:N``. Default: the game's policy.
    - ``legal_moves``: Whether bots are sent the legal moves.
    - ``tolerant``: Whether lines of a bot that are not JSON are ignored, rather than a protocol fault.
    - ``adjudication``: When a game ends because it is decided, like ``solver`` or ``agree:300x8``. Default: never.
    - ``records``: True keeps the records in memory, False drops them, a path keeps them as files in that folder. A game
      whose record is in the folder is not played again, so a match that was stopped can be resumed, unless a bot has
      changed since: its program, its files, or the package for built-in bots.
    - ``fresh``: Play all games, even those whose record is in the folder.
    - ``max_failures``: Stop if a bot fails in its first games, this many in a row (``result.failing`` names it). None:
      go on.
    - ``log``: A file to which every line to and from the bots and their standard error are appended, as JSON Lines.
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
    agreed = {"policy": policy, "clock": clock, "legal_moves": legal_moves, "tolerant": tolerant}
    agreed["adjudication"] = adjudication
    spec, made, archive, notes = _prepare_match(game, bots, games, seed, swap, agreed, clocks, records, fresh, log)
    if first_opening < 0:
        raise ValueError(f"openings are numbered from 0, not from {first_opening}")
    result = MatchResult(
        MatchRun(replace(spec, first_opening=first_opening), max_failures=max_failures), archive, notes
    )
    _play(result, made, openings, workers, records, log, progress)
    return result


def sprt(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    *,
    elo0: float = 0.0,
    elo1: float = 10.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: str = LOGISTIC,
    max_games: int = 100_000,
    clock: str = "1s",
    clocks: Mapping[str, str] | None = None,
    openings: Openings = True,
    workers: WorkersLike = None,
    seed: int | None = None,
    policy: str | None = None,
    legal_moves: bool = True,
    tolerant: bool = False,
    adjudication: str | None = None,
    records: bool | str | os.PathLike[str] = True,
    fresh: bool = False,
    max_failures: int | None = MAX_FAILURES,
    log: str | os.PathLike[str] | None = None,
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
    - ``model``: What ``elo0`` and ``elo1`` are: ``logistic`` Elo, ``normalized`` Elo, or those of BayesElo (``bayes``).
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
    agreed = {"policy": policy, "clock": clock, "legal_moves": legal_moves, "tolerant": tolerant}
    agreed["adjudication"] = adjudication
    spec, made, archive, notes = _prepare_match(
        made, bots, max_games // 2 * 2, seed, True, agreed, clocks, records, fresh, log
    )
    result = SprtResult(SprtRun(spec, Sprt(elo0, elo1, alpha, beta, model), max_failures=max_failures), archive, notes)
    _play(result, made, openings, workers, records, log, progress)
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
    clocks: Mapping[str, str] | None = None,
    openings: bool | str | os.PathLike[str] = True,
    workers: WorkersLike = None,
    seed: int | None = None,
    policy: str | None = None,
    legal_moves: bool = True,
    tolerant: bool = False,
    adjudication: str | None = None,
    name: str = "tournament",
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    log: str | os.PathLike[str] | None = None,
    progress: Callable[[TournamentResult], None] | None = None,
) -> TournamentResult:
    """Play a tournament between bots, in one game or several, and return its tables.

    - ``game``: A game or several, each as in ``play_match``, like all arguments not listed here.
    - ``format``: ``round-robin``, ``gauntlet``, ``swiss`` or ``knockout``.
    - ``pairs``: Openings per meeting, each played once per seating.
    - ``rounds``: Rounds of a Swiss tournament. Default: as many as it takes to have a single winner.
    - ``challengers``: In a gauntlet, the names of the bots that meet all others. Default: the first bot.
    - ``openings``: Whether games begin from balanced openings, as in ``play_match``; or the path of a file.
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
    named = named_bots(bots)
    own = check_clocks(clocks or {}, named)
    given = {
        "name": name,
        "format": format,
        "games": [_game_table(one) for one in several],
        "bots": [
            {"bot": spec, "name": one, **({"clock": own[one]} if one in own else {})} for one, spec in named.items()
        ],
        "pairs": pairs,
        "rounds": rounds,
        "challengers": None if challengers is None else list(challengers),
        "clock": clock,
        "policy": policy,
        "openings": openings if isinstance(openings, bool) else os.fspath(openings),
        "legal_moves": legal_moves,
        "tolerant": tolerant,
        "adjudication": adjudication,
        "seed": seed,
    }
    plan = make_plan({key: value for key, value in given.items() if value is not None})
    opened = open_tournament(plan, store, resume=resume, log=log)
    return play_tournament(opened, workers=workers, log=log, progress=progress)


class TournamentExists(ValueError):
    """A store already has a tournament of that name."""


def open_tournament(
    plan: TournamentPlan,
    store: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    replay_unrated: bool = False,
    log: str | os.PathLike[str] | None = None,
) -> Tournament:
    """The tournament of a plan, in memory or in a store, with its bots checked.

    resume: continue the tournament of that name; the games of bots that have changed since are played again.
    replay_unrated: replay its games in which the arena failed.
    log: where the traffic goes, which is no part of a bot, even if it lies beside one.
    Raises TournamentExists if there is one of that name and ``resume`` is False, ValueError if its plan is another one.
    """
    for settings in plan.settings:
        check_bots(make(settings.game, **settings.options), (one.specs[settings.name] for one in plan.entrants))
    plan, notes = _with_identities(plan, _files_beside(store, log))
    if store is None:
        return Tournament(plan, MemoryLedger(), notes)
    from ludodrome.store.database import open_database  # optional extra: database
    from ludodrome.store.tournaments import StoredLedger  # optional extra: database

    path = Path(store)
    engine = open_database(path, create=True)
    found = StoredLedger.find(engine, plan.name)
    if found is None:
        return Tournament(plan, StoredLedger.begin(engine, plan.name, plan.to_json()), notes)
    ledger, stored = found
    if not resume:
        raise TournamentExists(
            f"{path} already has a tournament {plan.name}; continue it with resume=True, or choose another store"
        )
    begun = TournamentPlan.from_json(stored)
    version = begun.settings[0].version  # one that an older version of this package began goes on as it began
    plan = replace(plan, settings=tuple(replace(one, version=version) for one in plan.settings))
    if plan.seed_drawn:
        plan = plan.with_seed(begun.seed)
    before = {one.name: one.identities for one in begun.settings}
    kept = begun.with_tags_of(plan).to_json()
    if changed := [key for key, value in plan.with_identities(before).to_json().items() if kept.get(key) != value]:
        raise ValueError(f"the plan of {plan.name} has changed since it was started: {listing(changed)}")
    if replay_unrated:
        ledger.forget_unrated()
    if not any(before.values()):  # begun by a version of this package that did not keep identities: it goes on
        note = "this tournament does not say which versions of the bots played its games so far"
        return Tournament(plan.with_identities(before), ledger, [note])
    changes = changed_entrants(plan, before)
    if changes or plan != plan.with_tags_of(begun):
        ledger.change_plan(plan.to_json())
    return Tournament(plan, ledger, [*notes, *changes])


def _files_beside(store: str | os.PathLike[str] | None, log: str | os.PathLike[str] | None) -> list[Path]:
    """The files that a tournament writes, with those that a database keeps beside its own."""
    stored = [] if store is None else [Path(f"{os.fspath(store)}{end}") for end in ("", "-wal", "-shm", "-journal")]
    return stored if log is None else [*stored, Path(log)]


def _with_identities(plan: TournamentPlan, without: Iterable[Path]) -> tuple[TournamentPlan, list[str]]:
    """A plan with the identities of its bots as they are now, and notes about them."""
    specs = {spec for one in plan.entrants for spec in one.specs.values()}
    identities, notes = identities_of(sorted(specs), list(without))
    by_game = {
        on.name: {one.specs[on.name]: identities[one.specs[on.name]] for one in plan.entrants} for on in plan.settings
    }
    return plan.with_identities(by_game), notes


def play_tournament(
    opened: Tournament,
    *,
    workers: WorkersLike = None,
    log: str | os.PathLike[str] | None = None,
    progress: Callable[[TournamentResult], None] | None = None,
) -> TournamentResult:
    """Play all games of a tournament that were not played yet; the arguments are those of ``tournament``."""
    result = TournamentResult(opened)
    with workers_for(workers) as pool:
        if isinstance(pool, LocalWorkers) and pool.chosen:
            for settings in opened.plan.settings:
                warn_if_crowded(pool.width, settings.conditions.clock)
        try:
            opened.play(pool, logged_play(log), on_tick=(lambda: progress(result)) if progress else lambda: None)
        except KeyboardInterrupt:
            result.interrupted = True
    return result


def check_bots(game: Game, specs: Iterable[str]) -> None:
    """ValueError if a bot cannot play the game."""
    for spec in dict.fromkeys(specs):
        kind, colon, rest = spec.partition(":")
        check_spec(spec, game)
        if colon and kind == BOX:
            sandbox.box(Path(rest))
        elif colon and kind == WASM:
            check_wasm(spec)
        elif colon and kind == LLM:
            llm.endpoint(spec)


def identities_of(specs: Iterable[str], without: Iterable[Path] = ()) -> tuple[dict[str, str], list[str]]:
    """The identities of bots by spec, and notes about files that are too large to compare.

    without: folders and files that do not belong to the bots, such as those of records and logs.
    """
    found = {spec: examine(spec, without) for spec in dict.fromkeys(specs)}
    notes = [f"{spec}: {note}" for spec, one in found.items() for note in one.notes]
    return {spec: one.id for spec, one in found.items()}, notes


def check_clocks(clocks: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Clocks of single bots by name; ValueError if a clock is malformed or there is no such bot."""
    known = list(names)
    for name, text in clocks.items():
        choice(name, known, "a bot with a clock of its own", ValueError)
        try:
            Clock.parse(text)
        except ValueError as error:
            raise ValueError(f"the clock of {name}: {error}") from error
    return dict(clocks)


def logged_play(log: str | os.PathLike[str] | None) -> Play:
    """The function that plays a game, appending all traffic to a file if there is one; ValueError if it cannot."""
    if log is None:
        return play_game
    try:
        with open(log, "ab"):
            return partial(play_game, log=os.path.abspath(log))
    except OSError as error:
        raise ValueError(f"the log {os.fspath(log)} cannot be written: {error.strerror}") from error


# Parts


def _prepare_match(
    game: str | Game,
    bots: Sequence[str] | Mapping[str, str],
    games: int | None,
    seed: int | None,
    swap: bool,
    agreed: dict[str, Any],
    clocks: Mapping[str, str] | None,
    records: bool | str | os.PathLike[str],
    fresh: bool,
    log: str | os.PathLike[str] | None,
) -> tuple[MatchSpec, Game, RecordMemory | RecordFolder, list[str]]:
    """The match, its game, its archive, and notes about versions of the bots."""
    made = _as_game(game)
    named = named_bots(bots)
    if len(named) != made.seats:
        raise ValueError(
            f"{made.id} has {made.seats} seats with these options, so give {made.seats} bots, not {len(named)}"
        )
    check_bots(made, named.values())
    count = checked_games(games, made.seats, swap)
    folder = _folder(records)
    archive = RecordMemory() if records is True else RecordFolder(folder, fresh)
    identities, notes = identities_of(named.values(), [Path(path) for path in (folder, log) if path is not None])
    own = check_clocks(clocks or {}, named)
    played = conditions(made, **agreed)
    settings = MatchSettings(made.id, made.id, made.options, made.seats, played, 0, identities=identities, clocks=own)
    spec = MatchSpec(settings, tuple(named.values()), tuple(named), count, swap)
    if isinstance(archive, RecordFolder):
        earlier = archive.earlier(spec.key())
        if earlier is not None:
            seed = earlier.seed if seed is None else seed
            notes += changed_bots(earlier, {one: name for name, one in named.items()}, identities)
    chosen = new_secret() if seed is None else seed
    if isinstance(archive, RecordFolder):
        archive.begin(spec.key(), chosen, identities)
    return replace(spec, settings=replace(settings, seed=chosen)), made, archive, notes


def _play(
    result: Any,
    game: Game,
    openings: Openings,
    workers: WorkersLike,
    records: bool | str | os.PathLike[str],
    log: str | os.PathLike[str] | None,
    progress: Callable[[Any], None] | None,
) -> None:
    book = open_book(game, result.spec.settings.seed, openings, _folder(records))
    with workers_for(workers) as pool:
        fitting = fitted(
            pool,
            result.spec.games,
            all(is_instant(spec, game) for spec in result.spec.bots),
            result.spec.settings.conditions.clock,
        )
        try:
            run_match(
                result._run,
                book,
                fitting,
                result._archive,
                logged_play(log),
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


def _folder(records: bool | str | os.PathLike[str]) -> Path | None:
    return None if isinstance(records, bool) else Path(records)
