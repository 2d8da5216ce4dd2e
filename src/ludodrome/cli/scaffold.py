"""Starting points for bots and games: `new-bot` and `new-game`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.bots.starters import LANGUAGES, commands, write_starter
from ludodrome.cli import console
from ludodrome.cli.base import (
    Command,
    command_errors,
    examples,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.scaffold import write_game

with lazy_imports():
    pass

if TYPE_CHECKING:
    pass

app = typer.Typer()


@app.command(
    "new-bot",
    cls=Command,
    epilog=examples(
        "ludodrome new-bot mybot --game skysummit",
        "ludodrome new-bot mybot --game dots --language rust",
    ),
)
def new_bot(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", show_default=False, help="The folder to write it into: new, or empty.")
    ],
    game: Annotated[
        str, typer.Option(metavar="GAME", show_default=False, help="The game that it plays, as `games` lists them.")
    ],
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="python, javascript, c, rust, java or go.")
    ] = "python",
) -> None:
    """Write a small working bot to start from.

    It speaks the bot protocol on its stdin and stdout and needs nothing but its language. The part that chooses moves
    stands in a file of its own. Nothing is ever overwritten.
    """
    with command_errors():
        written = write_starter(Path(directory), game, language)
    console.say(f"A bot for {game} is in {directory}: {', '.join(written)}.")
    console.say(f"Moves are chosen in {LANGUAGES[language].strategy}; the README.md tells the rest. To see it play:\n")
    for line in (f"cd {shlex.quote(directory)}", *commands(game, language)):
        console.say(f"    {line}")


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
    """Write a small working game to start from, as a package.

    Its rules are those of tic-tac-toe, for people, for machines and as an oracle, with tests that hold at once. Once
    the package is installed, the game is one of the games: bots play it, matches and the page have it. Nothing is
    ever overwritten. docs/how-to/adding-a-game.md tells the rest.
    """
    with command_errors():
        written = write_game(Path(directory), name, title)
    console.say(f"A game called {name} is in {directory}: {', '.join(written)}.")
    console.say("It begins as tic-tac-toe; the README.md tells what is where. To install it and see it hold:\n")
    for line in (
        f"cd {shlex.quote(directory)}",
        "pip install -e .",
        "python -m pytest",
        f"ludodrome play {name} --against mcts",
    ):
        console.say(f"    {line}")
