"""Matches between bots: `match` and `sprt`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    DONE,
    INTERRUPTED,
    NO,
    UNDECIDED,
    BotsFile,
    ClusterAddress,
    Command,
    GameId,
    Json,
    Options,
    WorkerCount,
    bots_of_file,
    check_early,
    command_errors,
    examples,
    open_game,
    start_workers,
)
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from ludodrome.arena import api
    from ludodrome.arena.matches import tallies
    from ludodrome.bots import bots_file, identity, specs

if TYPE_CHECKING:
    from ludodrome.arena.matches.tallies import MatchTally, PlayerTally
    from ludodrome.arena.results import MatchResult, SprtResult

app = typer.Typer()

ELO_NAMES = {"logistic": "Elo", "normalized": "normalized Elo", "bayes": "BayesElo"}
"""What the bounds of a sequential test are, by model."""


Openings = Annotated[
    str,
    typer.Option(
        metavar="WHICH",
        help="Openings: drawn (balanced, from the game's book if it has one), none, or a file with one opening per "
        "line (moves in notation, separated by semicolons, or a JSON list).",
    ),
]
NoOpenings = Annotated[bool, typer.Option("--no-openings", help="Same as --openings none.")]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="Random seed of openings and bots, to repeat a match. Default: that of the recorded match, or a new one.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Play all games, even those recorded in --record.")]
RecordFolder = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="DIR",
        help="Save records in this folder. Games of the same bots that it already has are not played again.",
    ),
]
MaxFailures = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Stop if a bot fails in each of its first N games."),
]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Do not stop, however often a bot fails.")]
Policy = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="After a fault (illegal move, timeout, crash): forfeit, substitute (a move is played for the bot), "
        "or retry:N (N tries at a legal move, then forfeit). Default: the game's policy.",
    ),
]
ClockText = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="C",
        help="Time control: 1s a move, 1s+10s (bank), 60s++1s (Fischer), nodes=1000, sims=500, fuel=50M "
        "(instructions of a WebAssembly bot) or none.",
    ),
]
Tolerant = Annotated[
    bool, typer.Option("--tolerant", help="Ignore lines that are not JSON instead of counting them as faults.")
]
Adjudicate = Annotated[
    str | None,
    typer.Option(
        "--adjudicate",
        metavar="RULES",
        help="End games that are decided: agree:300x8 (both bots' scores), margin:3x6 (points), engine:300x8 (the "
        "built-in search), solver (proof); several separated by commas. Default: never.",
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="Append all messages to and from the bots, and their stderr, to FILE."),
]
HideMoves = Annotated[bool, typer.Option("--hide-legal-moves", help="Do not send the legal moves to the bots.")]


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome match skysummit greedy random --games 20",
        "ludodrome match dots level:5 cmd:./mybot --clock 100ms --record games",
        "ludodrome match dots new=./bot.py old=./bot_old.py",
        "ludodrome match santorini -o players=3 greedy level:2 random",
        "ludodrome match caldera level:4 level:3 --clock nodes=2000 --json",
    ),
)
def match(
    game: GameId,
    bot: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT",
            show_default=False,
            help="One bot per seat: level:3, cmd:./mybot, ./bot.py or wasm:bot.wasm, also with a name: mine=./bot.py.",
        ),
    ],
    bots: BotsFile = None,
    option: Options = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of games. Default: 100, rounded down to whole rounds."),
    ] = None,
    swap: Annotated[bool, typer.Option("--swap/--no-swap", help="Play every opening in every seating.")] = True,
    openings: Openings = "drawn",
    no_openings: NoOpenings = False,
    seed: Seed = None,
    workers: WorkerCount = None,
    cluster: ClusterAddress = None,
    record: RecordFolder = None,
    fresh: Fresh = False,
    max_failures: MaxFailures = 3,
    keep_going: KeepGoing = False,
    policy: Policy = None,
    clock: ClockText = "1s",
    hide_legal_moves: HideMoves = False,
    tolerant: Tolerant = False,
    adjudicate: Adjudicate = None,
    log: LogFile = None,
    json: Json = False,
) -> None:
    """Play a match between bots and estimate which is stronger.

    Every opening is played once with every bot in every seat. Ctrl-C ends the match and shows the finished games (exit
    code 130). With --record, the same command continues an interrupted match.
    """
    entries = bots_of_file(bots)
    chosen = bots_file.resolved(bot, entries)
    check_early(game, chosen)
    made = open_game(game, option)
    with start_workers(workers, cluster) as pool, _progress(json, _standing) as show:
        result = api.play_match(
            made,
            chosen,
            clocks=bots_file.clocks_of(bot, entries),
            games=games,
            clock=clock,
            openings=_which(openings, no_openings),
            workers=pool,
            seed=seed,
            swap=swap,
            policy=policy,
            legal_moves=not hide_legal_moves,
            tolerant=tolerant,
            adjudication=adjudicate,
            log=log,
            records=record or False,
            fresh=fresh,
            max_failures=None if keep_going else max_failures,
            progress=show,
        )
    if json:
        console.say(dumps(result.to_json()))
    else:
        show_match(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    if result.failing is not None:
        raise typer.Exit(NO)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome sprt skysummit level:5 level:4 --clock nodes=2000",
        "ludodrome sprt caldera cmd:./new cmd:./old --elo1 20 --max-games 4000",
    ),
)
def sprt(
    game: GameId,
    new: Annotated[str, typer.Argument(metavar="NEW", show_default=False, help="The new bot.")],
    old: Annotated[str, typer.Argument(metavar="OLD", show_default=False, help="The bot to compare it with.")],
    bots: BotsFile = None,
    option: Options = None,
    elo0: Annotated[
        float, typer.Option(metavar="ELO", help="The test fails if the new bot is at most this much stronger.")
    ] = 0.0,
    elo1: Annotated[
        float, typer.Option(metavar="ELO", help="The test passes if the new bot is at least this much stronger.")
    ] = 10.0,
    alpha: Annotated[float, typer.Option(metavar="P", help="Probability that a bot only elo0 stronger passes.")] = 0.05,
    beta: Annotated[float, typer.Option(metavar="P", help="Probability that a bot elo1 stronger fails.")] = 0.05,
    sprt_model: Annotated[
        str,
        typer.Option(
            metavar="MODEL", help="What ELO is: logistic, normalized (nElo), or bayes (BayesElo, with draws)."
        ),
    ] = "logistic",
    max_games: Annotated[int, typer.Option(metavar="N", min=2, help="Stop undecided after this many games.")] = 100_000,
    openings: Openings = "drawn",
    no_openings: NoOpenings = False,
    seed: Seed = None,
    workers: WorkerCount = None,
    cluster: ClusterAddress = None,
    record: RecordFolder = None,
    fresh: Fresh = False,
    max_failures: MaxFailures = 3,
    keep_going: KeepGoing = False,
    policy: Policy = None,
    clock: ClockText = "1s",
    hide_legal_moves: HideMoves = False,
    tolerant: Tolerant = False,
    adjudicate: Adjudicate = None,
    log: LogFile = None,
    json: Json = False,
) -> None:
    """Test whether a new bot is stronger, in few games.

    A sequential probability ratio test over pairs of games from one opening, counted in the order of the schedule. It
    ends as soon as the result is clear. Exit code 0: the new bot passes; 1: it fails; 3: undecided.
    """
    entries = bots_of_file(bots)
    chosen = bots_file.resolved([new, old], entries)
    check_early(game, chosen)
    made = open_game(game, option)
    with start_workers(workers, cluster) as pool, _progress(json, _test_standing) as show:
        result = api.sprt(
            made,
            chosen,
            clocks=bots_file.clocks_of([new, old], entries),
            elo0=elo0,
            elo1=elo1,
            alpha=alpha,
            beta=beta,
            model=sprt_model,
            max_games=max_games,
            clock=clock,
            openings=_which(openings, no_openings),
            workers=pool,
            seed=seed,
            policy=policy,
            legal_moves=not hide_legal_moves,
            tolerant=tolerant,
            adjudication=adjudicate,
            log=log,
            records=record or False,
            fresh=fresh,
            max_failures=None if keep_going else max_failures,
            progress=show,
        )
    if json:
        console.say(dumps(result.to_json()))
    else:
        show_match(result)
        _show_test(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(UNDECIDED if result.passed is None else DONE if result.passed else NO)


def _which(openings: str, no_openings: bool) -> bool | str:
    return False if no_openings else {"drawn": True, "none": False}.get(openings, openings)


@contextmanager
def _progress(quiet: bool, line: Callable[[Any], str]) -> Iterator[Callable[[MatchResult], None]]:
    """A progress callback of the API that shows the number of games and the line."""
    latest: list[MatchResult] = []

    def take(result: MatchResult) -> None:
        latest[:] = [result]
        show()

    done, total = lambda: latest[0].games if latest else 0, lambda: latest[0].total if latest else 1
    with (
        command_errors(),
        console.game_progress(done, total, lambda: line(latest[0]) if latest else "", quiet=quiet) as show,
    ):
        yield take


# Results


def _standing(result: MatchResult) -> str:
    """The score, or before the first game how the openings are coming along."""
    return standing(result.tally) if result.games else f"openings: {result.openings}; no game finished yet"


def standing(tally: MatchTally) -> str:
    """The score in a few words."""
    if not tally.games:
        return "no game finished yet"
    if tally.seats > 2:
        return ", ".join(f"{line.name} {line.points:g}" for line in tally.lines.values())
    first = next(iter(tally.lines.values()))
    text = f"{first.name} {counts(first.wins, first.draws, first.losses)}"
    if not first.results:
        return text
    score = tally.score(first.name)
    return f"{text}, Elo {score.elo:+.0f} ({score.elo_low:+.0f} to {score.elo_high:+.0f})"


def counts(wins: int, draws: int, losses: int) -> str:
    """Wins, draws and losses in chess notation."""
    return f"+{wins} ={draws} -{losses}"


def show_match(result: MatchResult) -> None:
    """Print the table of a match and its summary."""
    match, tally = result.spec, result.tally
    on = match.settings
    own = "".join(f", {name} {clock}" for name, clock in on.clocks.items())
    conditions = f"clock {on.conditions.clock}{own}, policy {on.conditions.policy}, seed {on.seed}"
    options = "".join(f" {name}={value}" for name, value in on.options.items())
    console.say(f"{on.game}{options}, {tally.games} of {match.games} games, {conditions}\n")
    header = ("bot", "games", "won", "drawn", "lost", "points", "share", "95 %", "ms a move", "slowest ms")
    console.show_table(header, (_row(tally, name) for name in match.names), numbers=header[1:])
    console.say("")
    for sentence in [*sentences(tally), f"openings: {result.openings}", *_versions(result), *result.notes]:
        console.say(sentence)


def _versions(result: MatchResult) -> list[str]:
    """The versions of bots that are not built in."""
    found = [
        identity.named_with_identity(name, result.identities[name])
        for name, spec in zip(result.names, result.spec.bots, strict=True)
        if specs.is_program(spec)
    ]
    return [f"versions: {', '.join(found)}"] if found else []


def _row(tally: MatchTally, name: str) -> list[str]:
    line, share = tally.lines[name], tally.share(name)
    return [
        name,
        str(len(line.results)),
        *map(str, (line.wins, line.draws, line.losses)),
        f"{line.points:.4g}",
        f"{share.share:.1%}" if line.results else "",
        f"{share.low:.1%} to {share.high:.1%}" if line.results else "",
        f"{line.ms / line.moves:.2f}" if line.moves else "",
        f"{line.slowest_ms:.1f}" if line.moves else "",
    ]


def sentences(tally: MatchTally, elo: bool = True) -> list[str]:
    """Summary of a match: Elo, endings, decisions, verdicts."""
    if not tally.games:
        return ["no game was played"]
    found = []
    first, *others = tally.lines
    if elo and tally.seats == 2 and tally.lines[first].results:
        score = tally.score(first)
        found.append(
            f"{first} against {others[0]}: {score.elo:+.0f} Elo (95 %: {score.elo_low:+.0f} to {score.elo_high:+.0f}); "
            f"probability that it is stronger: {score.superiority:.1%}"
        )
    rated = tally.games - tally.unrated
    if rated:
        seats = ", ".join(f"seat {seat} {points / rated:.1%}" for seat, points in enumerate(tally.seat_points))
        found.append(f"points by seat: {seats}")
    mean = tally.length / tally.games
    found.append(f"length: {mean:.1f} turns on average, from {tally.shortest} to {tally.longest}")
    found.append("ends: " + ", ".join(f"{reason} {count}" for reason, count in tallies.ranked(tally.reasons)))
    decisions = [one for one in tallies.DECISIONS if one != tallies.ADJUDICATION or tally.decided_by[one]]
    how = ", ".join(f"{one} {tally.decided_by[one]}" for one in decisions)
    otherwise = tally.games - tally.decided_by[tallies.BY_PLAY]
    found.append(f"decided by: {how}; {otherwise} of {tally.games} games not by play")
    if tally.unrated:
        found.append(f"{tally.unrated} games do not count: the arena itself failed")
    for line in tally.lines.values():
        if line.verdicts:
            causes = ", ".join(f"{cause} {count}" for cause, count in tallies.ranked(line.verdicts))
            found.append(f"verdicts against {line.name}: {causes}")
            found += failures(line)
        if line.noted_games:
            games = "1 game" if line.noted_games == 1 else f"{line.noted_games} games"
            found.append(f"notes on {line.name} in {games}; the first: {line.first_note}")
    return found


def failures(line: PlayerTally) -> list[str]:
    """Why a bot failed: each distinct reason once, with what it sent and the last lines of its standard error."""
    found = []
    for (cause, why), count in line.failures.most_common(tallies.MAX_SHOWN_FAILURES):
        games = "in 1 game" if count == 1 else f"in {count} games"
        found.append(f"  {line.name}, {games}: {cause}: {why}")
        found += [f"    {words}" for words in line.first_failures[cause, why].details()]
    rest = len(line.failures) - tallies.MAX_SHOWN_FAILURES
    return [*found, f"  and {rest} other reasons"] if rest > 0 else found


def _test_standing(result: SprtResult) -> str:
    state = result.state
    return f"LLR {state.llr:+.2f} ({state.lower:.2f} to {state.upper:.2f}), {standing(result.tally)}"


def _show_test(result: SprtResult) -> None:
    state, test = result.state, result.test
    passed = "undecided" if result.passed is None else "passed" if result.passed else "failed"
    pairs = ", ".join(map(str, state.pairs))
    console.say(f"pairs by points 0, 1/2, 1, 3/2, 2: {pairs}; {result.counted_pairs} counted")
    console.say(
        f"SPRT {test.elo0:g} to {test.elo1:g} {ELO_NAMES[test.model]}: {passed}, LLR {state.llr:+.2f} "
        f"(fails at {state.lower:.2f}, passes at {state.upper:.2f})"
    )
