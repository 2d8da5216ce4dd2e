"""Parameters that several commands of the laboratory share."""

from json import dumps
from typing import Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import CommandError, command_errors, lazy_imports

with lazy_imports():
    from ludodrome.spaces_lab import board_files

Size = Annotated[
    int, typer.Argument(metavar="SIZE", min=2, max=100, show_default=False, help="Rows and columns, 2 to 100.")
]
Rules = Annotated[str, typer.Option("--rules", metavar="RULES", help="Rule set: written or live.")]
Board = Annotated[
    str,
    typer.Argument(
        metavar="BOARD", show_default=False, help="A code like 3:1:u6uf, FILE, or FILE#3 for the third board."
    ),
]


def checked_rules(rules: str) -> str:
    """Return the rule set, or raise CommandError."""
    if rules not in ("written", "live"):
        raise CommandError(f"the rules of spaces are written or live, not {rules!r}")
    return rules


def one_board(text: str) -> dict[str, Any]:
    """The board of a code or a file; CommandError names the place."""
    with command_errors(), console.compiling("spaces"):
        return board_files.read_board(text)


def size_of(board: Any) -> int:
    """The size that a board claims, or CommandError."""
    size = board.get("boardSize") if isinstance(board, dict) else None
    if type(size) is not int or not 2 <= size <= 100:
        raise CommandError("the boardSize of a board is a whole number from 2 to 100")
    return size


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    console.say(dumps(value))
