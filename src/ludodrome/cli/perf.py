"""Counting and timing: `perft` and `bench`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    Command,
    CommandError,
    GameId,
    Json,
    Options,
    StateText,
    command_errors,
    examples,
    interruptible,
    open_game,
    read_state,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES, find

with lazy_imports():
    from ludodrome import bench as benchmark
    from ludodrome.search import perft as counting

if TYPE_CHECKING:
    from ludodrome.game import Game

app = typer.Typer()

COUNT_LINE = "{:>5}  {:>22}  {:>9}  {:>15}"


class Perft(Command):
    """`perft`, which takes -1 for a bad depth rather than for an option that does not exist."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads what was typed."""
        numbers = [text for text in args if re.fullmatch(r"-[0-9.]+", text)]
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if numbers and re.fullmatch(r"-[0-9.]", getattr(error, "option_name", "")):
                raise CommandError(f"a depth is a whole number of at least 1, not {numbers[0]}") from error
            raise


@app.command(
    cls=Perft,
    epilog=examples("ludodrome perft santorini 3", "ludodrome perft dots 4 -o rows=2 -o cols=2 --json"),
)
def perft(
    game: GameId,
    depth: Annotated[int, typer.Argument(metavar="DEPTH", min=1, show_default=False, help="How many moves deep.")],
    state: StateText = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Count the move sequences of each length, up to a depth.

    The oldest test of a move generator: how many games of 1, of 2, and so on up to DEPTH moves there are.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, state)
    with console.compiling(chosen.id):
        benchmark.compile_perft(chosen, position)
    rows: list[dict[str, Any]] = []
    if not json:
        console.say(COUNT_LINE.format("depth", "nodes", "seconds", "nodes/s"))
    for at in range(1, depth + 1):
        nodes, seconds = _count(chosen, at, position)
        rows.append({"depth": at, "nodes": nodes, "seconds": seconds, "nodes_per_second": nodes / seconds})
        if not json:
            console.say(COUNT_LINE.format(at, f"{nodes:,}", f"{seconds:.3f}", f"{nodes / seconds:,.0f}"))
    if json:
        line = chosen.format_state(position)
        console.say(dumps({"game": chosen.id, "options": chosen.options, "state": line, "rows": rows}))


def _count(game: Game, depth: int, position: Any) -> tuple[int, float]:
    """The nodes of one depth and the seconds they took, with a bar on stderr if it takes long."""
    with console.bar(f"depth {depth}") as progress:
        begin = time.perf_counter()
        nodes = interruptible(lambda: counting.perft(game, depth, position, progress))
        return nodes, max(time.perf_counter() - begin, 1e-9)


@app.command(
    cls=Command,
    epilog=examples("ludodrome bench", "ludodrome bench skysummit dots --seconds 0.3 --json"),
)
def bench(
    game: Annotated[
        list[str] | None,
        typer.Argument(metavar="GAME", show_default=False, help="The games to measure; all, if none is named."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.01, max=600, help="About how long each measurement takes.")
    ] = 1.0,
    json: Json = False,
) -> None:
    """Measure speed on one core and on two.

    playouts are random games in compiled code, batch steps 4,096 games side by side with
    their legal masks, json lists and applies moves from Python, simulate runs boards of
    spaces against each other (the written rules; simulate live: the live ones), mcts grows a tree
    from the first position, and makes bare playouts to compare with. The best of three counts.
    """
    with command_errors():
        chosen = [find(game_id).id for game_id in dict.fromkeys(game or sorted(GAMES))]
    with console.reporting() as report:
        report("compiling ...")
        rows = list(benchmark.measure(chosen, seconds, report))
    if json:
        console.say(dumps({"rows": [row._asdict() for row in rows]}))
    else:
        cores = ("one core", "two cores")
        console.show_table(("game", "what", "a second", *cores), _by_threads(rows), numbers=cores)


def _by_threads(rows: Iterable[benchmark.Row]) -> Iterator[list[str]]:
    """One line a kind of work and unit, one column a number of threads."""
    rates: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in rows:
        rates.setdefault((row.game, row.what, row.unit), {})[row.threads] = row.per_second
    for kind, by_threads in rates.items():
        yield [*kind, *(f"{by_threads[n]:,.0f}" if n in by_threads else "" for n in (1, 2))]
