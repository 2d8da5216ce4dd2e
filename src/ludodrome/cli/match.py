"""Matches between bots: `match` and `sprt`."""

from __future__ import annotations

from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    DONE,
    INTERRUPTED,
    NO,
    UNDECIDED,
    Command,
    CommandError,
    GameId,
    Json,
    Options,
    command_errors,
    examples,
    open_game,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.workers import ClusterAddress, WorkerCount, check_bots, start_workers

with lazy_imports():
    from ludodrome.arena import conditions as arena_conditions
    from ludodrome.arena.matches import match as matches
    from ludodrome.arena.matches import scheduler, tallies
    from ludodrome.arena.statistics import scores
    from ludodrome.arena.statistics import sprt as sprt_test

if TYPE_CHECKING:
    from ludodrome.arena.matches.match import MatchRun, MatchSpec, SprtRun
    from ludodrome.arena.matches.openings import OpeningBook
    from ludodrome.arena.matches.tallies import MatchTally
    from ludodrome.arena.matches.workers import Workers

app = typer.Typer()


Openings = Annotated[
    str,
    typer.Option(
        metavar="WHICH",
        help="Openings: drawn (balanced, at random), none, or a file with one JSON list of moves per line.",
    ),
]
NoOpenings = Annotated[bool, typer.Option("--no-openings", help="Same as --openings none.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of openings and bots.")]
RecordFolder = Annotated[
    Path | None,
    typer.Option("--record", metavar="DIR", help="Save records here, and do not replay games already recorded here."),
]
Policy = Annotated[
    str | None,
    typer.Option(metavar="P", help="After an illegal move: forfeit, substitute or retry:N. Default: the game's own."),
]
ClockText = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="C",
        help="Time control: 1s a move, 1s+10s (bank), 60s++1s (Fischer), nodes=1000, sims=500 or none.",
    ),
]
HideMoves = Annotated[bool, typer.Option("--hide-legal-moves", help="Do not send the legal moves to the bots.")]


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome match skysummit greedy random --games 20",
        "ludodrome match dots level:5 cmd:./mybot --clock 100ms --record games",
        "ludodrome match santorini -o players=3 greedy level:2 random",
        "ludodrome match caldera level:4 level:3 --clock nodes=2000 --json",
    ),
)
def match(
    game: GameId,
    bot: Annotated[
        list[str], typer.Argument(metavar="BOT", show_default=False, help="One bot per seat, like level:3.")
    ],
    option: Options = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of games. Default: 100, rounded down to whole rounds."),
    ] = None,
    swap: Annotated[bool, typer.Option("--swap/--no-swap", help="Play every opening in every seating.")] = True,
    openings: Openings = "drawn",
    no_openings: NoOpenings = False,
    seed: Seed = 0,
    workers: WorkerCount = None,
    cluster: ClusterAddress = None,
    record: RecordFolder = None,
    policy: Policy = None,
    clock: ClockText = "1s",
    hide_legal_moves: HideMoves = False,
    json: Json = False,
) -> None:
    """Play a match between bots and estimate which is stronger.

    Every opening is played once with every bot in every seat. Ctrl-C ends the match and shows the finished games (exit
    code 130). With --record, the same command continues an interrupted match.
    """
    wanted = Wanted("none" if no_openings else openings, seed, record, policy, clock, not hide_legal_moves)
    agreed, book = prepare(game, option, bot, games, swap, wanted)
    playing = matches.MatchRun(agreed)
    with start_workers(workers, cluster) as pool:
        whole = run(playing, book, pool, record, json, lambda: standing(playing.tally))
    if json:
        console.say(dumps(agreed.to_json() | playing.tally.to_json()))
    else:
        show_match(agreed, playing.tally)
    if not whole:
        raise typer.Exit(INTERRUPTED)


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
    option: Options = None,
    elo0: Annotated[
        float, typer.Option(metavar="ELO", help="The test fails if the new bot is at most this much stronger.")
    ] = 0.0,
    elo1: Annotated[
        float, typer.Option(metavar="ELO", help="The test passes if the new bot is at least this much stronger.")
    ] = 10.0,
    alpha: Annotated[float, typer.Option(metavar="P", help="Probability that a bot only elo0 stronger passes.")] = 0.05,
    beta: Annotated[float, typer.Option(metavar="P", help="Probability that a bot elo1 stronger fails.")] = 0.05,
    max_games: Annotated[int, typer.Option(metavar="N", min=2, help="Stop undecided after this many games.")] = 100_000,
    openings: Openings = "drawn",
    no_openings: NoOpenings = False,
    seed: Seed = 0,
    workers: WorkerCount = None,
    cluster: ClusterAddress = None,
    record: RecordFolder = None,
    policy: Policy = None,
    clock: ClockText = "1s",
    hide_legal_moves: HideMoves = False,
    json: Json = False,
) -> None:
    """Test whether a new bot is stronger, in few games.

    A sequential probability ratio test over pairs of games from one opening, counted in the order of the schedule. It
    ends as soon as the result is clear. Exit code 0: the new bot passes; 1: it fails; 3: undecided.
    """
    wanted = Wanted("none" if no_openings else openings, seed, record, policy, clock, not hide_legal_moves)
    agreed, book = prepare(game, option, [new, old], max_games // 2 * 2, True, wanted)
    with command_errors():
        scores.refuse_elo(agreed.settings.seats)
        trial = matches.SprtRun(agreed, sprt_test.Sprt(elo0, elo1, alpha, beta))
    with start_workers(workers, cluster) as pool:
        whole = run(trial, book, pool, record, json, lambda: _test_standing(trial))
    if json:
        asked = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta}
        told = {"sprt": asked | trial.state.to_json(), "counted": trial.counted}
        console.say(dumps(agreed.to_json() | trial.tally.to_json() | told))
    else:
        show_match(agreed, trial.tally)
        _show_test(trial)
    if not whole:
        raise typer.Exit(INTERRUPTED)
    verdict = trial.state.verdict
    raise typer.Exit(UNDECIDED if verdict is None else DONE if verdict == sprt_test.BETTER else NO)


# Settings


class Wanted(NamedTuple):
    """The conditions of a match as given on the command line."""

    openings: str
    seed: int
    record: Path | None
    policy: str | None
    clock: str
    legal_moves: bool


def prepare(
    game_id: str, options: list[str] | None, bots: list[str], games: int | None, swap: bool, wanted: Wanted
) -> tuple[MatchSpec, OpeningBook]:
    """The match and its openings; CommandError if it cannot be played."""
    game = open_game(game_id, options)
    if len(bots) != game.seats:
        raise CommandError(
            f"{game.id} has {game.seats} seats with these options, so give {game.seats} bots, not {len(bots)}"
        )
    check_bots(game, bots)
    with command_errors(), console.compiling(game.id):
        agreed = arena_conditions.conditions(game, wanted.policy, wanted.clock, wanted.legal_moves)
        settings = scheduler.MatchSettings(game.id, game.id, game.options, game.seats, agreed, wanted.seed)
        count = matches.checked_games(games, game.seats, swap)
        which = {"drawn": True, "none": False}.get(wanted.openings, wanted.openings)
        return (
            matches.MatchSpec(settings, tuple(bots), matches.distinct_names(bots), count, swap),
            matches.open_book(game, wanted.seed, which, wanted.record),
        )


def run(
    playing: MatchRun, book: OpeningBook, pool: Workers, record: Path | None, quiet: bool, line: Callable[[], str]
) -> bool:
    """Play with a line of progress. Returns whether the match was finished, not interrupted."""
    tally, total = playing.tally, playing.match.games
    try:
        with command_errors(), console.game_progress(lambda: tally.games, lambda: total, line, quiet=quiet) as show:
            matches.run_match(playing, book, pool, matches.RecordFolder(record), glance=show)
    except KeyboardInterrupt:
        return False
    return True


# Results


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


def show_match(match: MatchSpec, tally: MatchTally) -> None:
    """Print the table of a match and its summary."""
    on = match.settings
    conditions = f"clock {on.conditions.clock}, policy {on.conditions.policy}, seed {on.seed}"
    options = "".join(f" {name}={value}" for name, value in on.options.items())
    console.say(f"{on.game}{options}, {tally.games} of {match.games} games, {conditions}\n")
    header = ("bot", "games", "won", "drawn", "lost", "points", "share", "95 %", "ms a move", "slowest ms")
    console.show_table(header, (_row(tally, name) for name in match.names), numbers=header[1:])
    console.say("")
    for sentence in sentences(tally):
        console.say(sentence)


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
    how = ", ".join(f"{one} {tally.decided_by[one]}" for one in ("play", "forfeit", "arena"))
    found.append(f"decided by: {how}; {tally.by_harness} of {tally.games} games not by play")
    if tally.unrated:
        found.append(f"{tally.unrated} games do not count: the arena itself failed")
    for line in tally.lines.values():
        if line.verdicts:
            causes = ", ".join(f"{cause} {count}" for cause, count in tallies.ranked(line.verdicts))
            found.append(f"verdicts against {line.name}: {causes}")
    return found


def _test_standing(trial: SprtRun) -> str:
    state = trial.state
    return f"LLR {state.llr:+.2f} ({state.lower:.2f} to {state.upper:.2f}), {standing(trial.tally)}"


def _show_test(trial: SprtRun) -> None:
    state, test = trial.state, trial.sprt
    passed = {None: "undecided", sprt_test.BETTER: "passed"}.get(state.verdict, "failed")
    console.say(f"pairs by points 0, 1/2, 1, 3/2, 2: {', '.join(map(str, state.pairs))}; {trial.counted} counted")
    console.say(
        f"SPRT {test.elo0:g} to {test.elo1:g} Elo: {passed}, LLR {state.llr:+.2f} "
        f"(fails at {state.lower:.2f}, passes at {state.upper:.2f})"
    )
