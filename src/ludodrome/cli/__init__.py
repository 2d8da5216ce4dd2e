"""The command line. ``main`` is the script; one file holds one group of commands.

Commands are thin: they read what was typed, call the library and draw the answer. No module
here imports Numba or NumPy at its top, so that ``--help``, ``games`` and ``rules`` answer at once.
"""

import os
import warnings
from typing import Annotated

import typer

from ludodrome.cli import (
    admin,
    analysis,
    completion,
    doctor,
    enter,
    evaluate,
    export,
    games,
    match,
    mcp,
    newgame,
    perf,
    play,
    puzzle,
    records,
    review,
    sandbox,
    serve,
    spaces,
    tournament,
)
from ludodrome.cli.base import Group, examples
from ludodrome.cli.console import mend_streams, say, tell_warning

app = typer.Typer(cls=Group, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
for group in (
    games.app,
    serve.app,
    play.app,
    puzzle.app,
    match.app,
    tournament.app,
    evaluate.app,
    mcp.app,
    records.app,
    review.app,
    doctor.app,
    enter.app,
    newgame.app,
    sandbox.app,
    analysis.app,
    perf.app,
    completion.app,
):
    app.add_typer(group)
app.add_typer(export.app, name="export")
app.add_typer(spaces.app, name="spaces")
app.add_typer(admin.app, name="admin")


def _version(wanted: bool) -> None:
    if wanted:
        from ludodrome import __version__
        from ludodrome.version import version_line

        say(version_line(__version__))
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=examples("ludodrome games", "ludodrome rules santorini", "ludodrome play santorini"),
)
def ludodrome(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print version and commit, and leave."),
    ] = False,
) -> None:
    """An arena and a laboratory for board-game bots: five games, exact and fast."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The script ``ludodrome``."""
    mend_streams()
    if shell := os.environ.get(completion.VARIABLE):
        completion.answer(typer.main.get_command(app), shell)
        return
    warnings.showwarning = tell_warning
    app(prog_name="ludodrome")
