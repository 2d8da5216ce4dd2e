"""The installation, examined: what `doctor` does without a bot. The checks are in ``ludodrome.installation``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from json import dumps
from typing import TYPE_CHECKING

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.serve import HOST, PORTS
from ludodrome.installation import PROBLEM, findings

with lazy_imports():
    from rich import table as rich_table
    from rich import text as rich_text

if TYPE_CHECKING:
    from ludodrome.installation import Finding

SIGNS = {"ok": "✓", "warning": "!", "problem": "✗"}
STYLES = {"ok": console.GOOD, "warning": console.DOUBTFUL, "problem": f"bold {console.BAD}"}


def examine_installation(json: bool) -> None:
    """Shows what every part comes to; the exit code says whether there is a problem."""
    with console.waiting("examining ..."):
        found = list(findings(HOST, PORTS))
    counts = Counter(finding.grade for finding in found)
    if json:
        console.say(dumps({"passed": not counts[PROBLEM], "findings": [finding.to_json() for finding in found]}))
    else:
        _print_lines(found)
        told = ", ".join(f"{counts[grade]} {grade}" for grade in SIGNS if counts[grade])
        console.say(f"\n{'Something must be done' if counts[PROBLEM] else 'It can be used'}: {told}.")
    if counts[PROBLEM]:
        raise typer.Exit(NO)


def _print_lines(found: Sequence[Finding]) -> None:
    """A line for each part, and under it what to do."""
    if not sys.stdout.isatty():
        for one in found:
            console.say(f"{SIGNS[one.grade]} {one.grade:<8} {one.part:<13} {one.sentence}")
            if one.advice:
                console.say(f"{'':<25}-> {one.advice}")
        return
    table = rich_table.Table.grid(padding=(0, 1, 0, 0))
    for one in found:
        sentence = rich_text.Text(one.sentence)
        if one.advice:
            sentence.append(f"\n-> {one.advice}", "bold")
        table.add_row(
            rich_text.Text(f"{SIGNS[one.grade]} {one.grade}", STYLES[one.grade]), rich_text.Text(one.part), sentence
        )
    console.stdout().print(table)
