"""The commands ``analyse`` and ``solve``: what is known about a position."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console as screen
from ludodrome.cli.base import (
    UNDECIDED,
    Command,
    GameId,
    Json,
    Options,
    StateText,
    command_errors,
    examples,
    open_game,
    read_state,
)
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from rich import live as rich_live
    from rich import table as rich_table

    from ludodrome import analysis as engine
    from ludodrome.analysis import solving as solver

if TYPE_CHECKING:
    from rich.table import Table

    from ludodrome.analysis import Analysis, Line, Solution, Solving
    from ludodrome.game import Game

app = typer.Typer()

SHOWN_PLIES = 8
"""So much of a continuation fits a line."""
KEEPING = 600.0
"""Seconds between two times that long work is written to its file."""


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome analyse santorini",
        "ludodrome analyse dots -o rows=3 -o cols=3 --time 10 --lines 5",
        "ludodrome analyse santorini -o players=3 --time 30 --json",
    ),
)
def analyse(
    game: GameId,
    option: Options = None,
    state: StateText = None,
    time: Annotated[float, typer.Option(metavar="S", min=0.01, max=86400, help="How long to think, in seconds.")] = 5.0,
    lines: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="How many moves to compare.")] = 3,
    json: Json = False,
) -> None:
    """Show the best moves of a position, better and better as time goes by.

    A score is for the seat to move: in dots the boxes by which it will win, elsewhere a rough measure. `wins in 5` and
    `loses in 4` are no guesses: they count plies and are proven. Ctrl-C ends it with what is known.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, state)
    with command_errors(), screen.compiling(chosen.id):
        growing = engine.analyse(chosen, position, time, lines)
        last = next(growing)
    if not json:
        screen.draw(chosen, position)
    try:
        with _live(not json) as show:
            show(last)
            for last in growing:
                show(last)
    except KeyboardInterrupt:
        pass
    if json:
        line = chosen.format_state(position)
        screen.say(dumps({"game": chosen.id, "options": chosen.options, "state": line, **asdict(last)}))


@contextmanager
def _live(wanted: bool) -> Iterator[Any]:
    """Something to show analyses with: on a terminal a table that changes, in a pipe a table for each depth."""
    if not wanted:
        yield lambda analysis: None
        return
    console = screen.stdout()
    if not console.is_terminal:
        yield lambda analysis: console.print(_table(analysis))
        return
    with rich_live.Live(console=console, auto_refresh=False) as live:
        yield lambda analysis: live.update(_table(analysis), refresh=True)


def _table(analysis: Analysis) -> Table:
    speed = f"{analysis.nodes / max(analysis.seconds, 1e-9):,.0f} a second"
    caption = f"depth {analysis.depth}, {analysis.nodes:,} positions in {analysis.seconds:.1f} s, {speed}"
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", caption=caption)
    table.caption_justify = "left"
    table.add_column("move", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("continuation")
    for line in analysis.lines:
        table.add_row(line.text, _score(line), "  ".join(line.continuation[:SHOWN_PLIES]))
    return table


def _score(line: Line) -> str:
    if line.distance is not None:
        return f"{'wins' if line.score > 0 else 'loses'} in {line.distance}"
    return f"{line.score:+.2f}{' proven' if line.proven else ''}"


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome solve dots -o rows=3 -o cols=3",
        "ludodrome solve caldera --time 60",
        "ludodrome solve dots -o rows=4 -o cols=5 --file run.npz --bits 27",
    ),
)
def solve(
    game: GameId,
    option: Options = None,
    state: StateText = None,
    time: Annotated[
        float | None, typer.Option(metavar="S", min=0.01, help="Give up after so many seconds; by default never.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="In dots: keep what is proved here, and go on from it if it is there."),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=10,
            max=32,
            help="Remember two to the power of N positions, 16 bytes each; by default 22, and in dots up to 27.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find out what a position is worth if nobody errs.

    In dots the value is the final margin of boxes for the seat to move; elsewhere it wins, loses or draws, in so many
    plies. Ctrl-C ends it with what is known; with --file the same command goes on later. The exit code is 3 if the
    value was not found.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, state)
    with command_errors(), screen.compiling(chosen.id):
        if file is not None:
            solver.check_can_save(chosen)
        if file is not None and file.exists():
            solving = solver.load_solving(chosen, position, file)
        else:
            solving = engine.Solving(
                chosen, position, table_bits=bits or solver.recommended_table_bits(chosen, position)
            )
    with suppress(KeyboardInterrupt):
        _work(solving, time, file)
    _keep(solving, file)
    solution = solving.solution
    if json:
        known = asdict(solution) | {"nodes": solving.nodes, "seconds": solving.seconds}
        line = chosen.format_state(position)
        screen.say(dumps({"game": chosen.id, "options": chosen.options, "state": line, **known}))
    else:
        screen.draw(chosen, position)
        screen.say(_verdict(chosen, solution))
        screen.say(f"{solving.nodes:,} positions in {solving.seconds:.2f} s")
    if not solution.proven:
        raise typer.Exit(UNDECIDED)


def _work(solving: Solving, time: float | None, file: Path | None) -> None:
    """Runs until it is done or the time is up, with a line of progress. What is proved is kept now and then."""
    kept = 0.0
    with screen.reporting() as report:
        while not solving.done and (time is None or solving.seconds < time):
            report(f"solving: {solving.state}, {solving.nodes:,} positions, {solving.seconds:.0f} s")
            solving.run(1.0 if time is None else min(1.0, time - solving.seconds))
            if solving.seconds - kept > KEEPING:
                _keep(solving, file)
                kept = solving.seconds


def _keep(solving: Solving, file: Path | None) -> None:
    if file is not None:
        with command_errors():
            try:
                solver.save_solving(solving, file)
            except OSError as error:
                raise ValueError(f"{file} cannot be written: {error.strerror}") from error


def _verdict(game: Game, solution: Solution) -> str:
    """A solution in a sentence."""
    if solution.value is None:
        return "not solved in this time"
    if game.evaluator is not None and game.evaluator.by_points:
        result = f"the seat to move ends {solution.value:+d}" if solution.value else "a draw"
    else:
        word = {1: "wins", 0: "draws", -1: "loses"}[solution.value]
        result = f"the seat to move {word}" + (f" in {solution.distance} plies" if solution.distance else "")
    return f"{result}: {'  '.join(solution.line)}"
