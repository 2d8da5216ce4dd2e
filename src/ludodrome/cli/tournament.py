"""Tournaments: `tournament run`, `show` and `export`."""

from __future__ import annotations

import re
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    INTERRUPTED,
    BotsFile,
    ClusterAddress,
    Command,
    CommandError,
    Group,
    Json,
    WorkerCount,
    bots_of_file,
    check_early,
    command_errors,
    examples,
    read_options,
    start_workers,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.match import Adjudicate, LogFile, Tolerant, sentences
from ludodrome.cli.serve import Database
from ludodrome.validation import listing

with lazy_imports():
    from rich import table as rich_table

    from ludodrome.arena import api
    from ludodrome.arena import records as arena_records
    from ludodrome.arena.tournaments import plans, publishing, report, report_page
    from ludodrome.arena.tournaments import tournament as tournaments
    from ludodrome.bots import bots_file, specs
    from ludodrome.store import database
    from ludodrome.store import tournaments as tournament_store

if TYPE_CHECKING:
    from rich.table import Table
    from sqlalchemy import Engine

    from ludodrome.arena.tournaments.plans import TournamentPlan
    from ludodrome.arena.tournaments.tournament import Tournament

app = typer.Typer(
    cls=Group,
    name="tournament",
    epilog=examples("ludodrome tournament run spring.toml", "ludodrome tournament show spring.sqlite"),
    rich_markup_mode=None,
)

SUFFIX = ".sqlite"
MAX_SHOWN = 30
"""Rows of the live standings."""

StoreFile = Annotated[Path, typer.Argument(metavar="STORE", show_default=False, help="File of a tournament.")]
Publish = Annotated[
    bool, typer.Option("--publish", help="Show it on the page too: write it into the database of your server.")
]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the tournament, if the file has several.")]


@app.callback(invoke_without_command=True)
def tournament(context: typer.Context) -> None:
    """Run, resume, show and export tournaments."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    "run",
    cls=Command,
    epilog=examples(
        "ludodrome tournament run spring.toml",
        "ludodrome tournament run spring.toml --resume --workers 8",
        "ludodrome tournament run --game dots:rows=3,cols=3 --game skysummit \\",
        "    --bot greedy --bot level:3 --bot mine=cmd:./mybot --pairs 20 --clock 100ms",
    ),
)
def run_tournament(
    plan: Annotated[
        Path | None, typer.Argument(metavar="PLAN", show_default=False, help="TOML file; options override it.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the tournament. Default: that of the file.")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="round-robin, gauntlet, swiss or knockout. Default: round-robin."),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME", show_default=False, help="Game, like dots or dots:rows=3,cols=3. Repeatable."),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT", show_default=False, help="Bot, like level:3 or mine=cmd:./mine. Repeatable."),
    ] = None,
    bots: BotsFile = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", show_default=False, help="Enter all bots of --bots with this tag. Repeatable."),
    ] = None,
    challenger: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="In a gauntlet, the bot that plays all others. Default: the first one.",
        ),
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Openings per pairing, each played in every seating. Default: 1."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Rounds of a Swiss tournament. Default: enough for a clear winner."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Random seed of openings and bots. Default: a new one, kept.")
    ] = None,
    clock: Annotated[str | None, typer.Option(metavar="C", help="Time control, as in `match`. Default: 1s.")] = None,
    policy: Annotated[str | None, typer.Option(metavar="P", help="What happens after a fault, as in `match`.")] = None,
    home_and_away: Annotated[
        bool, typer.Option("--home-and-away", help="Each pairing plays the home games of both bots.")
    ] = False,
    openings: Annotated[
        str | None,
        typer.Option(metavar="WHICH", help="Openings, as in `match`: drawn, none, or a file. Default: drawn."),
    ] = None,
    no_openings: Annotated[bool, typer.Option("--no-openings", help="Same as --openings none.")] = False,
    hide_legal_moves: Annotated[
        bool, typer.Option("--hide-legal-moves", help="Do not send the legal moves to the bots.")
    ] = False,
    tolerant: Tolerant = False,
    adjudicate: Adjudicate = None,
    log: LogFile = None,
    store: Annotated[
        Path | None, typer.Option(metavar="STORE", help="Database file of the tournament. Default: NAME.sqlite.")
    ] = None,
    publish: Publish = False,
    db: Database = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the tournament in the store.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="With --resume: replay games in which the arena failed.")
    ] = False,
    workers: WorkerCount = None,
    cluster: ClusterAddress = None,
    json: Json = False,
) -> None:
    """Run a tournament from a file or from options.

    Every game is saved at once: after Ctrl-C (exit code 130) or even kill -9, --resume continues and counts each game
    once.
    """
    entered = _entered(bot or [], bots, tag or [])
    for one in game or () if entered else ():
        check_early(one.partition(":")[0], {table["name"]: table["bot"] for table in entered})
    given: dict[str, Any] = {
        "name": name,
        "format": format_,
        "games": [_game(one) for one in game] if game else None,
        "bots": entered or None,
        "challengers": challenger or None,
        "pairs": pairs,
        "rounds": rounds,
        "seed": seed,
        "clock": clock,
        "policy": policy,
        "home_and_away": home_and_away or None,
        "openings": False if no_openings else openings,
        "legal_moves": False if hide_legal_moves else None,
        "tolerant": tolerant or None,
        "adjudication": adjudicate,
    }
    agreed = _plan(plan, {key: value for key, value in given.items() if value is not None})
    opened = _open(agreed, store or Path(f"{_file_name(agreed.name)}{SUFFIX}"), resume, again, log)
    with start_workers(workers, cluster) as pool:
        whole = _play(opened, pool, log, json)
    _show(opened, json)
    if publish:
        _publish(opened, db, json)
    if not whole:
        if not json:
            console.say(f"\nstopped; `ludodrome tournament run {plan or '...'} --resume` continues it")
        raise typer.Exit(INTERRUPTED)


@app.command(
    "show",
    cls=Command,
    epilog=examples("ludodrome tournament show spring.sqlite", "ludodrome tournament show spring.sqlite --json"),
)
def show(store: StoreFile, name: Name = None, json: Json = False) -> None:
    """Show the standings of a tournament, even while it runs."""
    found = _recalled(store, name)
    _show(found, json)


@app.command(
    "publish",
    cls=Command,
    epilog=examples("ludodrome tournament publish spring.sqlite", "ludodrome serve"),
)
def publish_stored(store: StoreFile, name: Name = None, db: Database = None) -> None:
    """Show a tournament on the page: in the Arena of your server.

    It is written into the server's database; ratings do not change. Publishing it again replaces it.
    """
    _publish(_recalled(store, name), db, quiet=False)


def _publish(found: Tournament, db: str | None, quiet: bool) -> None:
    with command_errors():
        engine = database.open_database(database.server_database(db), create=True)
        for game, event in publishing.publish_tournament(engine, found):
            if not quiet:
                console.say(f"published: /{game}/tournaments/{event} on the page of `ludodrome serve`")


@app.command(
    "export",
    cls=Command,
    epilog=examples(
        "ludodrome tournament export spring.sqlite --html spring.html --csv spring.csv",
        "ludodrome tournament export spring.sqlite --records games",
    ),
)
def export(
    store: StoreFile,
    name: Name = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Web page with tables and plots.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Tables for a spreadsheet.")] = None,
    text: Annotated[Path | None, typer.Option(metavar="FILE", help="Tables as text.")] = None,
    records: Annotated[Path | None, typer.Option(metavar="DIR", help="Records of all games, one file each.")] = None,
) -> None:
    """Write the tables and records of a tournament to files."""
    if html is None and csv is None and text is None and records is None:
        raise CommandError("give at least one of --html, --csv, --text and --records")
    found = _recalled(store, name)
    if html is not None:
        _write(html, report_page.page(found))
    if csv is not None:
        _write(csv, report.csv_table(found))
    if text is not None:
        _write(text, "\n".join(_text(found)) + "\n")
    if records is not None:
        count = 0
        for record in found.records():
            arena_records.write(record, records)
            count += 1
        console.say(f"{count:,} records in {records}")


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from error
    console.say(f"wrote {path}")


# Plans and stores


def _game(text: str) -> dict[str, Any]:
    """Parse ``dots:rows=3,cols=3`` into the form of a plan."""
    game_id, colon, rest = text.partition(":")
    options = read_options(rest.split(",")) if colon else {}
    return {"id": game_id, "options": options}


def _entered(texts: list[str], path: Path | None, tags: list[str]) -> list[dict[str, Any]]:
    """The bots of the options, ``mine=cmd:./mine``, a spec or a name of the bots file, in the form of a plan."""
    entries = bots_of_file(path)
    with command_errors():
        chosen = [*texts, *(name for name in bots_file.tagged(entries, tags) if name not in texts)]
        clocks = bots_file.clocks_of(chosen, entries)
        own_tags = bots_file.tags_of(chosen, entries)
        named = specs.named_bots(bots_file.resolved(chosen, entries))
    return [
        {
            "name": name,
            "bot": spec,
            **({"clock": clocks[name]} if name in clocks else {}),
            **({"tags": list(own_tags[name])} if own_tags.get(name) else {}),
        }
        for name, spec in named.items()
    ]


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "tournament"


def _plan(path: Path | None, given: dict[str, Any]) -> TournamentPlan:
    if path is None and not given:
        raise CommandError("give a plan in a TOML file, or --game and --bot")
    with command_errors(), console.waiting("reading the plan ..."):
        return plans.make_plan(given) if path is None else plans.read_plan(path, given)


def _open(plan: TournamentPlan, path: Path, resume: bool, again: bool, log: Path | None) -> Tournament:
    """A new tournament in the store, or with ``resume`` the one that is there."""
    with command_errors():
        try:
            return api.open_tournament(plan, path, resume=resume, replay_unrated=again, log=log)
        except api.TournamentExists as error:
            raise CommandError(
                f"{path} already has a tournament {plan.name}; continue it with --resume, or choose another --store"
            ) from error


def _recalled(path: Path, name: str | None) -> Tournament:
    """Load a tournament and its finished games from a store."""
    with command_errors(), console.waiting("reading ..."):
        engine = database.open_database(path)
        found = tournament_store.StoredLedger.find(engine, name or _only(engine, path))
        if found is None:
            raise CommandError(f"{path} has no tournament {name}")
        ledger, stored = found
        recalled = tournaments.Tournament(plans.TournamentPlan.from_json(stored), ledger)
        recalled.recall()
        return recalled


def _only(engine: Engine, path: Path) -> str:
    names = [one.name for one in tournament_store.tournaments(engine)]
    if not names:
        raise CommandError(f"{path} has no tournament yet")
    if len(names) > 1:
        raise CommandError(f"{path} has several tournaments; choose one with --name: {listing(names)}")
    return names[0]


# Output


def _play(opened: Tournament, pool: Any, log: Path | None, quiet: bool) -> bool:
    """Play with live standings. Returns whether the tournament was finished, not interrupted."""
    total = lambda: opened.total  # noqa: E731 (it grows while a knockout is played)
    with (
        command_errors(),
        console.game_progress(
            lambda: opened.played, total, lambda: _leader(opened), lambda: _table(opened), quiet
        ) as show,
    ):
        return not api.play_tournament(opened, workers=pool, log=log, progress=lambda result: show()).interrupted


def _leader(opened: Tournament) -> str:
    first = report.standings(opened)[0]
    return (
        f"{first.name} leads with {report.number(first.points)} of {first.games}"
        if first.games
        else "no game finished yet"
    )


def _table(opened: Tournament) -> Table:
    """The standings as a Rich table."""
    lines = report.standings(opened)
    table = rich_table.Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "bot", "games", "won", "drawn", "lost", "points", "rating", ""):
        table.add_column(column, justify="left" if column in ("bot", "") else "right", no_wrap=True)
    for line in lines[:MAX_SHOWN]:
        table.add_row(
            str(line.place),
            line.name,
            *map(str, (line.games, line.wins, line.draws, line.losses)),
            report.number(line.points),
            str(line.rating or ""),
            line.note,
        )
    return table


def _show(found: Tournament, json: bool) -> None:
    if json:
        data = {
            "plan": found.plan.to_json(),
            "played": found.played,
            "total": found.total,
            "finished": found.finished,
            "recalled": found.recalled,
            "notes": found.notes,
            "standings": [line.to_json() for line in report.standings(found)],
            "games": {name: results.tally.to_json() for name, results in found.results.items()},
        }
        console.say(dumps(data))
        return
    for line in _text(found):
        console.say(line)


def _text(found: Tournament) -> list[str]:
    """All tables as lines: over all games, then for each game, then the endings."""
    plan = found.plan
    lines = [f"{plan.name}: {plan.format}, {found.played:,} of {found.total:,} games, seed {plan.seed}", ""]
    lines += report.text_table(found)
    lines += report.rated(found).notes
    if len(found.results) > 1:
        for name in found.results:
            lines += ["", f"{name}:", *report.text_table(found, name)]
    for name, results in found.results.items():
        lines += ["", f"{name}:", *(f"  {line}" for line in sentences(results.tally, elo=False))]
    notes = [*found.notes, *_place_notes(found)]
    return [*lines, *([""] if notes else []), *notes]


def _place_notes(found: Tournament) -> list[str]:
    return [f"{line.place}. {line.name}: {line.note}" for line in report.standings(found) if line.note]
