"""docs/reference/commands.md: every command with its arguments and options, from the help that the program gives.

``scripts/reference`` writes it; ``tests/docs/test_generated.py`` compares.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ludodrome.cli import app, whole_program

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

Every command of `ludodrome`, as its `--help` tells it. This page is made by `scripts/reference`.

Exit codes: 0 done; 1 the answer is no; 2 what was asked cannot be done, and a sentence on standard error says why; \
3 not decided; 130 stopped by Ctrl-C. [Exit codes](exit-codes.md) says more, \
[The terminal](../how-to/terminal.md) tells of completion and colours.
"""


def page() -> str:
    """The page."""
    return HEAD + "".join(_sections(whole_program(), ()))


def _sections(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    if words:
        told = CliRunner().invoke(app, [*words, "--help"], prog_name="ludodrome", env={"TERMINAL_WIDTH": "100"})
        rank = "#" * (1 + len(words))
        yield f"\n{rank} `{' '.join(words)}`\n\n```text\n{told.stdout.rstrip()}\n```\n"
    for word, subcommand in getattr(command, "commands", {}).items():
        yield from _sections(subcommand, (*words, word))


if __name__ == "__main__":
    PAGE.write_text(page())
