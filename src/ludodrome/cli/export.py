"""The group ``export``: games as datasets for supervised learning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, GameId, Group, Json, Options, command_errors, examples, open_game
from ludodrome.cli.lazy import lazy_imports
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
    str, typer.Option("--to", metavar="DIR", show_default=False, help="The dataset's folder, new or empty.")
]
Form = Annotated[str, typer.Option("--form", metavar="FORM", help="npz, or parquet, which needs pyarrow.")]
Licence = Annotated[str, typer.Option(metavar="NAME", help="The licence that the data card names.")]
ShardRows = Annotated[
    int | None, typer.Option("--rows", metavar="N", show_default=False, help="Rows of a file, at most.")
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
    """Write recorded games as a dataset: positions, what was played, what came of it.

    Records are verified one by one, and no more than one file of the dataset is in memory. All must be of one game
    with the same options; games that were not decided by play are left out.
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
    games: Annotated[int, typer.Option(metavar="N", help="How many games.")] = 100,
    sims: Annotated[int, typer.Option(metavar="N", help="Simulations a move.")] = 400,
    free: Annotated[int, typer.Option(metavar="N", help="Turns of each game that are drawn by visits.")] = 8,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="What lots are drawn from.")] = 0,
    form: Form = "npz",
    licence: Licence = "CC0-1.0",
    rows: ShardRows = None,
    json: Json = False,
) -> None:
    """Have a tree search play games against itself, and write them as a dataset.

    Beside what `export records` writes, each row has the search's shares of visits.
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
    """What hears of every game that is written, and shows it on a terminal."""
    with console.bar("games") as bar:
        yield lambda done, rows: bar(done, games or done)


def _facts(made: Dataset) -> dict[str, Any]:
    return {"folder": str(made.folder), "games": made.games, "rows": made.rows, "digest": made.digest}
