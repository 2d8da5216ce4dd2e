"""The command line. ``main`` is the script; each module has a group of commands.

Commands are thin: they parse the arguments, call the library and print the result. A command's module is imported when
the command is called, and heavy modules (Numba, Rich, SQLAlchemy) when the command uses them, see ``lazy.py``: so
``--help``, ``games``, ``rules`` and completion answer at once.
"""

import os
import warnings
from typing import Annotated, ClassVar

import typer

from ludodrome import __version__
from ludodrome.cli.base import COMPLETION_VARIABLE, CommandProcess, LazyGroup, examples
from ludodrome.cli.console import prepare_streams, say, show_warning
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import BUILT_IN
from ludodrome.version import version_line

with lazy_imports():
    from ludodrome.cli import completion


class Program(LazyGroup):
    """The commands of ``ludodrome``."""

    table: ClassVar = {
        "games": ("games", "List the games."),
        "rules": ("games", "Show the rules of a game."),
        "show": ("games", "Draw a position."),
        "serve": ("serve", "Serve the web page: play, watch, analyse, enter bots."),
        "play": ("play", "Play a game in the terminal, against people or bots."),
        "puzzle": ("puzzle", "Solve puzzles: find the move that wins, saves or answers best."),
        "match": ("match", "Play a match between bots and estimate which is stronger."),
        "sprt": ("match", "Test whether a new bot is stronger, in few games."),
        "tournament": (
            "tournament",
            "Run, resume, show and export tournaments.",
        ),
        "evaluate": ("evaluate", "Evaluate a language model: its strength and its answers."),
        "mcp": ("serve", "Serve the games to language models over MCP."),
        "replay": ("records", "Step through a recorded game, or verify recorded games."),
        "rerun": ("records", "Ask a bot for the moves of a recorded game and compare."),
        "records": ("records", "List, filter and export recorded games; show why bots failed."),
        "review": ("analysis", "Grade every move of a recorded game by what it gave away."),
        "new-bot": ("scaffold", "Write a small working bot to start from."),
        "doctor": ("doctor", "Check a bot, or without one the installation."),
        "enter": ("enter", "Enter a bot into the league of a running server."),
        "new-game": ("scaffold", "Write a small working game to start from, as a package."),
        "sandbox": ("doctor", "Test the sandbox for bots written by strangers."),
        "analyse": ("analysis", "Show the best moves of a position, refined as time passes."),
        "solve": ("analysis", "Solve a position: find its value under perfect play."),
        "perft": ("perf", "Count the move sequences of each length, up to a depth."),
        "bench": ("perf", "Measure speed on one core and on two."),
        "completion": ("completion", "Print the completion script of a shell."),
        "export": ("export", "Write games as datasets for supervised learning."),
        "network": ("network", "Make a learned evaluation: self-play, training and gating."),
        **{entry.id: (entry.id, entry.commands) for entry in BUILT_IN.values() if entry.commands},
        "admin": ("admin", "Manage the server's database and its accounts."),
    }


app = typer.Typer(cls=Program, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
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
        typer.Option("--version", callback=_version, is_eager=True, help="Print version and commit, and exit."),
    ] = False,
) -> None:
    """An arena and a laboratory for board-game bots: five games, exact and fast."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def whole_program() -> Program:
    """The group of all commands, every one loaded, for those who list their parameters."""
    program = typer.main.get_group(app)
    assert isinstance(program, Program)
    program.load_all()
    return program


def main() -> None:
    """Run the script ``ludodrome``."""
    prepare_streams()
    if shell := os.environ.get(COMPLETION_VARIABLE):
        completion.answer(typer.main.get_command(app), shell)
        return
    warnings.showwarning = show_warning
    CommandProcess.is_ours = True
    app(prog_name="ludodrome")
