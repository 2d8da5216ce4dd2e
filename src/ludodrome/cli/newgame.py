"""Writing games: `new-game`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, command_errors, examples
from ludodrome.scaffold import write_room

app = typer.Typer()


@app.command(
    "new-game",
    cls=Command,
    epilog=examples(
        "ludodrome new-game mygame --name tictactoe",
        'ludodrome new-game mygame --name gomoku --title "Five in a row"',
    ),
)
def new_game(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", show_default=False, help="The folder to write it into: new, or empty.")
    ],
    name: Annotated[
        str,
        typer.Option(metavar="NAME", show_default=False, help="The game's id: small letters, digits and _."),
    ],
    title: Annotated[
        str, typer.Option(metavar="TITLE", show_default=False, help="What people call it; else made of the name.")
    ] = "",
) -> None:
    """Write a small working game to begin with, as a package of its own.

    Its rules are those of tic-tac-toe, for people, for machines and as an oracle, with tests that hold at once. Once
    the package is installed, the game is one of the games: bots play it, matches and the page have it. Nothing is
    ever overwritten. docs/how-to/adding-a-game.md tells the rest.
    """
    with command_errors():
        written = write_room(Path(directory), name, title)
    console.say(f"A game called {name} is in {directory}: {', '.join(written)}.")
    console.say("It begins as tic-tac-toe; the README.md tells what is where. To install it and see it hold:\n")
    for line in (
        f"cd {shlex.quote(directory)}",
        "pip install -e .",
        "python -m pytest",
        f"ludodrome play {name} --against mcts",
    ):
        console.say(f"    {line}")
