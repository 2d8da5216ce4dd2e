"""Writing bots: `new-bot`, and `doctor`, which without a bot examines the installation."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.bots.starters import LANGUAGES, commands, write_starter
from ludodrome.cli import console as screen
from ludodrome.cli.base import (
    INTERRUPTED,
    NO,
    Command,
    CommandError,
    Json,
    Options,
    command_errors,
    examples,
    open_game,
)
from ludodrome.cli.installation import examine_installation
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from rich import table as rich_table
    from rich import text as rich_text

    from ludodrome.arena import doctor as arena_doctor

if TYPE_CHECKING:
    from ludodrome.arena.doctor.examination import CheckResult
    from ludodrome.game import Game

app = typer.Typer()

SIGNS = {"held": "✓", "note": "·", "warning": "!", "failure": "✗", "skipped": "-"}
STYLES = {"held": screen.GOOD, "warning": screen.DOUBTFUL, "failure": f"bold {screen.BAD}"}


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
    """Write a small working bot to begin with.

    It speaks the bot protocol on its stdin and stdout and needs nothing but its language. The part that chooses moves
    stands in a file of its own. Nothing is ever overwritten.
    """
    with command_errors():
        written = write_starter(Path(directory), game, language)
    screen.say(f"A bot for {game} is in {directory}: {', '.join(written)}.")
    screen.say(f"Moves are chosen in {LANGUAGES[language].strategy}; the README.md tells the rest. To see it play:\n")
    for line in (f"cd {shlex.quote(directory)}", *commands(game, language)):
        screen.say(f"    {line}")


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome doctor",
        "ludodrome doctor skysummit cmd:./bot",
        'ludodrome doctor dots "cmd:python3 bot.py" -o rows=3 -o cols=3',
        "ludodrome doctor caldera cmd:./bot --only clock --clock 200ms",
    ),
)
def doctor(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", show_default=False, help="The game, as `games` lists it."),
    ] = None,
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT", show_default=False, help="The bot: cmd:./mybot, py:mine.py:MyBot, or a built-in."
        ),
    ] = None,
    option: Options = None,
    clock: Annotated[
        str, typer.Option(metavar="CLOCK", help="The usual clock of its games, as `match` takes it.")
    ] = "1s",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="What positions and opponents draw lots from.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK", show_default=False, help="Only this check; may be given several times."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", show_default=False, help="Where what shows a trouble again is kept; else a temporary folder."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put a bot through everything that a match will do to it, and more; without one, examine the installation.

    Of the installation each part is ok, or comes with what to do: a warning is what not everybody needs, a problem
    what everybody does.

    Of a bot, a failure is what would lose a match, or breaks the protocol; a warning is what would lose one under
    special conditions only. Each comes with the position and with commands that show it again. Exit code 1 says that
    there are problems or failures.
    """
    if game is None or bot is None:
        if game is not None or option or only or record is not None:
            raise CommandError(
                "name a game and a bot, like `ludodrome doctor dots cmd:./bot`, or neither and no options"
            )
        examine_installation(json)
        return
    chosen = open_game(game, option)
    folder = Path(record) if record is not None else Path(tempfile.mkdtemp(prefix="ludodrome-doctor-"))
    try:
        findings = _examined(chosen, bot, folder, seed, clock, only or ())
    finally:
        with suppress(OSError):
            if record is None:
                folder.rmdir()  # unless something is in it
    failures = sum(finding.grade == "failure" for finding in findings)
    if json:
        _print_json(chosen, bot, seed, clock, findings, failures)
    else:
        _print_page(chosen, bot, findings, failures)
    if failures:
        raise typer.Exit(NO)


def _examined(game: Game, spec: str, folder: Path, seed: int, clock: str, only: Sequence[str]) -> list[CheckResult]:
    with command_errors():
        with screen.reporting() as report:
            findings = arena_doctor.examine(game, spec, folder, seed, clock, only, report)
            try:
                return list(findings)
            except OSError as error:
                raise CommandError(
                    f"{error.filename or folder} cannot be written: {error.strerror or error}"
                ) from error
            except KeyboardInterrupt:
                screen.complain("the examination was stopped")
                raise typer.Exit(INTERRUPTED) from None


def _print_json(game: Game, spec: str, seed: int, clock: str, findings: Sequence[CheckResult], failures: int) -> None:
    about: dict[str, Any] = {"game": game.id, "options": game.options, "bot": spec, "seed": seed, "clock": clock}
    screen.say(dumps({**about, "passed": not failures, "findings": [finding.to_json() for finding in findings]}))


def _print_page(game: Game, spec: str, findings: Sequence[CheckResult], failures: int) -> None:
    """One line a finding, then the troubles in full, then what it comes to."""
    screen.say(f"{spec} plays {game.id}\n")
    _print_lines(findings)
    for finding in findings:
        if finding.grade in ("failure", "warning") and finding.commands:
            _print_trouble(game, finding)
    counts = Counter(finding.grade for finding in findings)
    told = ", ".join(f"{counts[grade]} {words}" for grade, words in _COUNTED.items() if counts[grade])
    screen.say(f"\n{'It does not pass' if failures else 'It passes'}: {told}.")


_COUNTED = {"failure": "failed", "warning": "with a warning", "held": "held", "skipped": "skipped"}


def _print_lines(findings: Sequence[CheckResult]) -> None:
    if not sys.stdout.isatty():
        for finding in findings:
            screen.say(f"{SIGNS[finding.grade]} {finding.grade:<8} {finding.check:<9} {finding.sentence}")
        return
    table = rich_table.Table.grid(padding=(0, 1, 0, 0))
    for finding in findings:
        grade = rich_text.Text(f"{SIGNS[finding.grade]} {finding.grade}", STYLES.get(finding.grade, ""))
        table.add_row(grade, rich_text.Text(finding.check), rich_text.Text(finding.sentence))
    screen.stdout().print(table)


def _print_trouble(game: Game, finding: CheckResult) -> None:
    console = screen.stdout()
    console.print()
    head = rich_text.Text(f"{SIGNS[finding.grade]} {finding.check}: ", STYLES[finding.grade])
    console.print(head.append(finding.sentence, "not bold default"))
    if finding.position.startswith("{"):  # else a command below draws it
        screen.say(f"  position: {finding.position}")
    if finding.stderr:
        screen.say("  its last words on stderr:")
        for line in finding.stderr.rstrip().splitlines()[-_LINES:]:
            screen.say(f"    {line}")
    screen.say("  to see it again:")
    for line in finding.commands:
        screen.say(f"    {line}")


_LINES = 12
"""Lines of standard error that are shown."""
