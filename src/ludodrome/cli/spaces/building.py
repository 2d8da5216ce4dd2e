"""Making a board by hand: `build`, on the screen or by commands."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import UNDECIDED, Command, CommandError, command_errors, examples
from ludodrome.cli.spaces.parameters import Rules, checked_rules, one_board

if TYPE_CHECKING:
    from ludodrome.lab.bench import Bench

app = typer.Typer()


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces build 4 --rules live --against 4:1:uuuf --out mine.json",
        "ludodrome spaces build 3 --do 'start 1; up; trap left; up; finish'",
        "printf 'start 1\\nup\\nup\\nfinish\\n' | ludodrome spaces build 3 --do -",
    ),
)
def build(
    size: Annotated[int, typer.Argument(metavar="SIZE", min=2, max=100, help="Rows and columns: 2 to 100.")] = 3,
    rules: Rules = "written",
    against: Annotated[
        str | None,
        typer.Option(metavar="BOARD", show_default=False, help="An opponent's board: a code, FILE, or FILE#3."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", show_default=False, help="The collection to save to.")
    ] = None,
    do: Annotated[
        str | None,
        typer.Option(
            "--do", metavar="COMMANDS", show_default=False, help="No screen: these commands, or - to read them."
        ),
    ] = None,
) -> None:
    """Make a board with the keyboard: arrows move, t and a direction set a trap, z takes back, s saves.

    With --do the same commands come as words, parted by semicolons or line ends: start 1, up, left, right, trap up,
    trap here, finish, undo, clear, save. The board's code is printed; the exit code is 3 if it is not finished.
    """
    checked_rules(rules)
    opponent = None if against is None else one_board(against)
    with command_errors(), console.compiling("spaces"):
        from ludodrome.lab.bench import Bench

        bench = Bench(size, rules, opponent)
    if do is not None:
        _follow(bench, sys.stdin.read() if do == "-" else do, out)
        return
    from importlib.util import find_spec

    if find_spec("textual") is None:
        raise CommandError("the builder needs Textual: pip install 'ludodrome[lab]'; --do works without it")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the builder needs a terminal; --do takes commands from anywhere")
    from ludodrome.cli.builder.application import Builder

    saved = Builder(bench, out or "").run()
    for line in saved or []:
        console.say(line)


def _follow(bench: "Bench", text: str, out: str | None) -> None:
    """Carry out commands; the first that cannot be done ends it."""
    commands = [part.strip() for line in text.splitlines() for part in line.split(";")]
    with command_errors():
        for number, command in enumerate(filter(None, commands), 1):
            try:
                if command.lower() == "save":
                    _save(bench, out)
                else:
                    bench.do(command)
            except ValueError as error:
                raise CommandError(f"command {number}, {command!r}: {error}") from error
    console.say(bench.code)
    played = bench.trial()
    if played is not None:
        console.say(f"{played.points[0]} : {played.points[1]} ({played.ended})")
    if not bench.is_finished:
        raise typer.Exit(UNDECIDED)


def _save(bench: "Bench", out: str | None) -> None:
    from ludodrome.lab.files import add_to_collection

    if out is None:
        raise ValueError("there is no file to save to: --out FILE")
    if not bench.is_finished:
        raise ValueError("the board is not finished")
    add_to_collection(out, bench.board)
