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
        "ludodrome new-bot mybot --game dots --language c-wasm",
    ),
)
def new_bot(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", show_default=False, help="Folder to write to: new or empty.")
    ],
    game: Annotated[
        str, typer.Option(metavar="GAME", show_default=False, help="Game that the bot plays, see `ludodrome games`.")
    ],
    language: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            help="Language: python, javascript, c, rust, java or go; WebAssembly: c-wasm, rust-wasm, assemblyscript.",
        ),
    ] = "python",
) -> None:
    """Write a small working bot to start from.

    The bot speaks the bot protocol on stdin and stdout and needs no library. The code that chooses moves is in a file
    of its own. Existing files are never overwritten.
    """
    with command_errors():
        written = write_starter(Path(directory), game, language)
    console.say(f"A bot for {game} is in {directory}: {', '.join(written)}.")
    console.say(f"It chooses moves in {LANGUAGES[language].strategy}; README.md explains the rest. To see it play:\n")
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
        str, typer.Argument(metavar="DIR", show_default=False, help="Folder to write to: new or empty.")
    ],
    name: Annotated[
        str,
        typer.Option(metavar="NAME", show_default=False, help="Id of the game: lower-case letters, digits and _."),
    ],
    title: Annotated[
        str, typer.Option(metavar="TITLE", show_default=False, help="Title of the game. Default: made from the name.")
    ] = "",
) -> None:
    """Write a small working game to start from, as a package.

    It starts as tic-tac-toe: a rules page, compiled rules, an oracle, and tests that pass. Once the package is
    installed, bots, matches and the page have the game. Existing files are never overwritten. See
    docs/how-to/adding-a-game.md.
    """
    with command_errors():
        written = write_game(Path(directory), name, title)
    console.say(f"A game called {name} is in {directory}: {', '.join(written)}.")
    console.say("It starts as tic-tac-toe; README.md says what is where. To install and test it:\n")
    for line in (
        f"cd {shlex.quote(directory)}",
        "pip install -e .",
        "python -m pytest",
        f"ludodrome play {name} --against mcts",
    ):
        console.say(f"    {line}")
