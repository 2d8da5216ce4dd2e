"""Performance: `perft` counts moves, `bench` measures speed."""

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
    """`perft`, which reports -1 as a bad depth, not as an unknown option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
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
    depth: Annotated[
        int, typer.Argument(metavar="DEPTH", min=1, show_default=False, help="Length of the longest sequences.")
    ],
    state: StateText = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Count the move sequences of each length, up to a depth.

    The standard test of a move generator: the number of sequences of 1, 2, ..., DEPTH moves.
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
    """The nodes of one depth and the seconds it took; long counts show a bar on stderr."""
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
        typer.Argument(metavar="GAME", show_default=False, help="Games to measure. Default: all."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(metavar="S", min=0.01, max=600, help="Approximate duration of each measurement, in seconds."),
    ] = 1.0,
    json: Json = False,
) -> None:
    """Measure speed on one core and on two.

    playouts: random games in compiled code. batch: steps of 4,096 parallel games with legal masks. json: moves listed
    and applied from Python. simulate: rounds of spaces (written rules; simulate live: live rules). mcts: tree search
    from the initial position, and bare playouts for comparison. Each number is the best of three runs.
    """
    with command_errors():
        chosen = [find(game_id).id for game_id in dict.fromkeys(game or sorted(GAMES))]
    with console.reporting() as report:
        report("preparing ...")
        rows = list(benchmark.measure(chosen, seconds, report))
    if json:
        console.say(dumps({"rows": [row._asdict() for row in rows]}))
    else:
        cores = ("one core", "two cores")
        console.show_table(("game", "work", "per second", *cores), _by_threads(rows), numbers=cores)


def _by_threads(rows: Iterable[benchmark.Row]) -> Iterator[list[str]]:
    """One row per kind of work and unit, one column per number of threads."""
    rates: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in rows:
        rates.setdefault((row.game, row.what, row.unit), {})[row.threads] = row.per_second
    for kind, by_threads in rates.items():
        yield [*kind, *(f"{by_threads[n]:,.0f}" if n in by_threads else "" for n in (1, 2))]
