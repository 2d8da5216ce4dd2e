"""Datasets for supervised learning: `export records` and `export selfplay`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, GameId, Group, Json, Options, command_errors, examples, lazy_imports, open_game
from ludodrome.cli.records import OnlyBot, OnlyGame, OnlyWinner, Paths

with lazy_imports():
    from ludodrome import datasets
    from ludodrome.arena.records import archive

if TYPE_CHECKING:
    from ludodrome.datasets import Dataset
    from ludodrome.datasets.sources import GameSource

app = typer.Typer(
    cls=Group,
    name="export",
    help="Write games as datasets for supervised learning.",
    epilog=examples(
        "ludodrome export records games --to dataset",
        "ludodrome export selfplay skysummit --games 100 --sims 400 --to dataset",
    ),
)

Folder = Annotated[
    str, typer.Option("--to", metavar="DIR", show_default=False, help="Folder of the dataset: new or empty.")
]
Form = Annotated[str, typer.Option("--form", metavar="FORM", help="npz or parquet (needs pyarrow).")]
Licence = Annotated[str, typer.Option(metavar="NAME", help="Licence named in the data card.")]
ShardRows = Annotated[
    int | None, typer.Option("--rows", metavar="N", show_default=False, help="Maximum rows per file.")
]


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome export records games --to dataset",
        "ludodrome export records games.jsonl --game dots --form parquet --to data",
    ),
)
def records(
    paths: Paths,
    to: Folder,
    form: Form = "npz",
    game: OnlyGame = None,
    bot: OnlyBot = None,
    winner: OnlyWinner = None,
    licence: Licence = "CC0-1.0",
    rows: ShardRows = None,
    json: Json = False,
) -> None:
    """Write recorded games as a dataset: positions, moves, results.

    Every record is verified; at most one file of the dataset is in memory. All records must be of one game with the
    same options. Games not decided by play are left out.
    """
    with command_errors():
        wanted = archive.RecordFilter(game, bot, winner)
        with console.waiting("reading the first record ..."):
            source = datasets.Recorded(record for record in archive.find(paths) if record in wanted)
    _write(source, to, form, licence, rows, None, json)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome export selfplay skysummit --games 100 --sims 400 --to dataset",
        "ludodrome export selfplay dots -o rows=3 -o cols=3 --form parquet --to dataset",
    ),
)
def selfplay(
    game: GameId,
    to: Folder,
    option: Options = None,
    games: Annotated[int, typer.Option(metavar="N", help="Number of games.")] = 100,
    sims: Annotated[int, typer.Option(metavar="N", help="Simulations per move.")] = 400,
    free: Annotated[int, typer.Option(metavar="N", help="Opening turns of each game sampled by visit counts.")] = 8,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")] = 0,
    form: Form = "npz",
    licence: Licence = "CC0-1.0",
    rows: ShardRows = None,
    json: Json = False,
) -> None:
    """Let a tree search play against itself and write the games as a dataset.

    Each row has the columns of `export records`, and the visit shares of the search.
    """
    made = open_game(game, option)
    with command_errors():
        source = datasets.SelfPlay(made, games, sims, seed, free)
    _write(source, to, form, licence, rows, games, json)


def _write(
    source: GameSource, to: str, form: str, licence: str, rows: int | None, games: int | None, json: bool
) -> None:
    with command_errors(), _noting(games) as note:
        made = datasets.write(source, to, form, licence, rows, note)
    if json:
        console.say(dumps(_facts(made)))
    else:
        console.say(f"{made.folder}: {made.games:,} games, {made.rows:,} rows, {len(made.files)} files and README.md")
        console.say(f"digest {made.digest}")


@contextmanager
def _noting(games: int | None) -> Iterator[Any]:
    """A callback for every written game, which shows progress in a terminal."""
    with console.bar("games") as bar:
        yield lambda done, rows: bar(done, games or done)


def _facts(made: Dataset) -> dict[str, Any]:
    return {"folder": str(made.folder), "games": made.games, "rows": made.rows, "digest": made.digest}
