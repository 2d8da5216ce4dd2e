"""Checks: `doctor` of a bot or of the installation, and `sandbox`."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome import installation
from ludodrome.cli import console
from ludodrome.cli.base import (
    INTERRUPTED,
    NO,
    BotsFile,
    Command,
    CommandError,
    Json,
    Options,
    command_errors,
    examples,
    open_game,
    resolve_bot,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.serve import PORTS
from ludodrome.installation import PROBLEM
from ludodrome.system import HOST

with lazy_imports():
    from rich import table as rich_table
    from rich import text as rich_text

    from ludodrome.arena import doctor as arena_doctor
    from ludodrome.arena import sandbox as arena_sandbox
    from ludodrome.arena.sandbox import attacks

if TYPE_CHECKING:
    from ludodrome.arena.doctor.examination import CheckResult
    from ludodrome.arena.sandbox import SandboxLevel
    from ludodrome.game import Game
    from ludodrome.installation import PartStatus

app = typer.Typer()

SIGNS = {"held": "✓", "note": "·", "warning": "!", "failure": "✗", "skipped": "-"}
STYLES = {"held": console.GOOD, "warning": console.DOUBTFUL, "failure": f"bold {console.BAD}"}


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
        typer.Argument(metavar="GAME", show_default=False, help="Id of the game, see `ludodrome games`."),
    ] = None,
    bot: Annotated[
        str | None,
        typer.Argument(metavar="BOT", show_default=False, help="Bot: cmd:./mybot, py:mine.py:MyBot, or a built-in."),
    ] = None,
    bots: BotsFile = None,
    option: Options = None,
    clock: Annotated[str, typer.Option(metavar="CLOCK", help="Time control of its games, as in `match`.")] = "1s",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of positions and opponents.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK", show_default=False, help="Only this check. Repeatable. Default: all checks."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="Folder for files that reproduce problems. Default: a temporary folder.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check a bot, or without one the installation.

    A bot: a failure would lose a match or breaks the protocol; a warning would lose one under special conditions only.
    Each comes with the position and with commands that reproduce it.

    The installation: each part is ok, or comes with advice. A problem concerns everybody; a warning concerns a feature
    that not everybody needs.

    Exit code 1 means that there are failures or problems.
    """
    if game is None or bot is None:
        if game is not None or option or only or record is not None:
            raise CommandError(
                "give a game and a bot, like `ludodrome doctor dots cmd:./bot`, or neither of them and no options"
            )
        _examine_installation(json)
        return
    bot = resolve_bot(bot, bots)
    chosen = open_game(game, option)
    folder = Path(record) if record is not None else Path(tempfile.mkdtemp(prefix="ludodrome-doctor-"))
    try:
        findings = _examined(chosen, bot, folder, seed, clock, only or ())
    finally:
        with suppress(OSError):
            if record is None:
                folder.rmdir()  # if it is empty
    failures = sum(finding.grade == "failure" for finding in findings)
    if json:
        _print_json(chosen, bot, seed, clock, findings, failures)
    else:
        _print_page(chosen, bot, findings, failures)
    if failures:
        raise typer.Exit(NO)


def _examined(game: Game, spec: str, folder: Path, seed: int, clock: str, only: Sequence[str]) -> list[CheckResult]:
    with command_errors(), console.reporting() as report:
        findings = arena_doctor.examine(game, spec, folder, seed, clock, only, report)
        try:
            return list(findings)
        except OSError as error:
            raise CommandError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
        except KeyboardInterrupt:
            console.complain("stopped")
            raise typer.Exit(INTERRUPTED) from None


def _print_json(game: Game, spec: str, seed: int, clock: str, findings: Sequence[CheckResult], failures: int) -> None:
    about: dict[str, Any] = {"game": game.id, "options": game.options, "bot": spec, "seed": seed, "clock": clock}
    console.say(dumps({**about, "passed": not failures, "findings": [finding.to_json() for finding in findings]}))


def _print_page(game: Game, spec: str, findings: Sequence[CheckResult], failures: int) -> None:
    """Print one line per check, then the problems in full, then the result."""
    console.say(f"{spec} plays {game.id}\n")
    _print_lines(findings)
    for finding in findings:
        if finding.grade in ("failure", "warning") and finding.commands:
            _print_problem(game, finding)
    counts = Counter(finding.grade for finding in findings)
    summary = ", ".join(f"{counts[grade]} {words}" for grade, words in _COUNTED.items() if counts[grade])
    console.say(f"\n{'It does not pass' if failures else 'It passes'}: {summary}.")


_COUNTED = {"failure": "failed", "warning": "with a warning", "held": "held", "skipped": "skipped"}


def _print_lines(findings: Sequence[CheckResult]) -> None:
    if not sys.stdout.isatty():
        for finding in findings:
            console.say(f"{SIGNS[finding.grade]} {finding.grade:<8} {finding.check:<9} {_sentence(finding)}")
        return
    table = rich_table.Table.grid(padding=(0, 1, 0, 0))
    for finding in findings:
        grade = rich_text.Text(f"{SIGNS[finding.grade]} {finding.grade}", STYLES.get(finding.grade, ""))
        table.add_row(grade, rich_text.Text(finding.check), rich_text.Text(_sentence(finding)))
    console.stdout().print(table)


def _sentence(finding: CheckResult) -> str:
    """The sentence of a finding, in which the bot may be quoted, on one line."""
    return console.printable(finding.sentence, True)


def _print_problem(game: Game, finding: CheckResult) -> None:
    out = console.stdout()
    out.print()
    head = rich_text.Text(f"{SIGNS[finding.grade]} {finding.check}: ", STYLES[finding.grade])
    out.print(head.append(_sentence(finding), "not bold default"))
    if finding.position.startswith("{"):  # other positions are drawn by a command below
        console.say(f"  position: {finding.position}")
    if finding.stderr:
        console.say("  the last lines of its stderr:")
        for line in finding.stderr.rstrip().splitlines()[-STDERR_LINES:]:
            console.say(f"    {console.printable(line, True)}")
    console.say("  to reproduce it:")
    for line in finding.commands:
        console.say(f"    {line}")


STDERR_LINES = 12
"""Lines of stderr to show."""


PART_SIGNS = {"ok": "✓", "warning": "!", "problem": "✗"}
PART_STYLES = {"ok": console.GOOD, "warning": console.DOUBTFUL, "problem": f"bold {console.BAD}"}


def _examine_installation(json: bool) -> None:
    """Check and print every part; exit code 1 if there is a problem."""
    with console.waiting("checking ..."):
        found = list(installation.part_statuses(HOST, PORTS))
    counts = Counter(finding.grade for finding in found)
    if json:
        console.say(dumps({"passed": not counts[PROBLEM], "findings": [finding.to_json() for finding in found]}))
    else:
        _print_installation(found)
        summary = ", ".join(f"{counts[grade]} {grade}" for grade in PART_SIGNS if counts[grade])
        console.say(f"\n{'Something must be done' if counts[PROBLEM] else 'It can be used'}: {summary}.")
    if counts[PROBLEM]:
        raise typer.Exit(NO)


def _print_installation(found: Sequence[PartStatus]) -> None:
    """Print a line per part, with the advice below it."""
    if not sys.stdout.isatty():
        for one in found:
            console.say(f"{PART_SIGNS[one.grade]} {one.grade:<8} {one.part:<13} {one.sentence}")
            if one.advice:
                console.say(f"{'':<25}-> {one.advice}")
        return
    table = rich_table.Table.grid(padding=(0, 1, 0, 0))
    for one in found:
        sentence = rich_text.Text(one.sentence)
        if one.advice:
            sentence.append(f"\n-> {one.advice}", "bold")
        table.add_row(
            rich_text.Text(f"{PART_SIGNS[one.grade]} {one.grade}", PART_STYLES[one.grade]),
            rich_text.Text(one.part),
            sentence,
        )
    console.stdout().print(table)


@app.command(cls=Command, epilog=examples("ludodrome sandbox", "ludodrome sandbox --again --json"))
def sandbox(
    again: Annotated[
        bool, typer.Option("--again", help="Repeat the attacks, even if their results are a few hours old.")
    ] = False,
    json: Json = False,
) -> None:
    """Test the sandbox for bots written by strangers.

    Real attacks are run against each sandbox level, the strongest first; the first level that withstands all of them
    is used. Exit code 1 means that none does: then bots of strangers are not run.
    """
    with console.waiting("attacking ..."):
        found = arena_sandbox.level(refresh=again)
    if json:
        console.say(dumps(found.to_json()))
    else:
        _show_level(found)
    if not found.holds:
        raise typer.Exit(NO)


def _show_level(found: SandboxLevel) -> None:
    console.say(found.sentence)
    if not found.holds:
        return
    for why in found.why_not_better:
        console.say(f"A stronger level does not hold. {why}.")
    console.say(found.groups_sentence)
    words = {attack.name: attack.words for attack in (*attacks.ATTACKS, *attacks.GROUP_ATTACKS)}
    console.say("")
    rows = [(one["name"], "", one["verdict"], words.get(one["name"], "")) for one in found.tried]
    rows += [(one["name"], one["control"], one["verdict"], words.get(one["name"], "")) for one in found.groups_tried]
    console.show_table(("attack", "control group", "result", "what it does"), rows)
    console.say("")
    for what, tried in ((" on control groups", found.groups_tried), ("", found.tried)):
        held = sum(one["verdict"] == attacks.HELD for one in tried)
        if tried:
            console.say(f"{held} of {len(tried)} attacks{what} were held off.")
