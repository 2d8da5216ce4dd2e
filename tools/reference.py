"""The pages of docs/reference/ that are generated from the program itself: ``python -m tools.reference``.

``scripts/reference`` writes them; ``tests/docs/test_generated.py`` compares.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import ludodrome
from ludodrome.bots.starters import LANGUAGES, starter
from ludodrome.cli import app, whole_program
from ludodrome.games import GAMES
from tools import http_api
from tools.http_api import row

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
FENCES = {
    ".c": "c",
    ".go": "go",
    ".h": "c",
    ".java": "java",
    ".mjs": "javascript",
    ".mod": "text",
    ".py": "python",
    ".rs": "rust",
    ".toml": "toml",
}
STARTER_GAME = "dots"
FIVE = ("skysummit", "caldera", "dots", "santorini", "spaces")
COMMANDS_HEAD = """\
# Commands

Every command of `ludodrome`, as its `--help` tells it. This page is made by `scripts/reference`.

Exit codes: 0 done; 1 the answer is no; 2 what was asked cannot be done, and a sentence on standard error says why; \
3 not decided; 130 stopped by Ctrl-C. [Exit codes](exit-codes.md) says more, \
[The terminal](../how-to/terminal.md) tells of completion and colours.
"""
OPTIONS_HEAD = """\
# Options of the games

What `ludodrome.make(game, **options)`, `-o NAME=VALUE` at the command line, `options` in a plan, over HTTP and in \
the bot protocol take. A wrong one gets a sentence that says what would be right. This page is made by \
`scripts/reference`.
"""
BOTS_HEAD = f"""\
# A complete bot in each language

What `ludodrome new-bot mybot --game {STARTER_GAME} --language LANGUAGE` writes, whole: the conversation with the \
arena ([The bot protocol](protocol.md)), and the part that chooses moves. None needs a library. [Writing a \
bot](../tutorials/writing-a-bot.md) goes on from here. This page is made by `scripts/reference`.
"""


def command_page() -> str:
    """Every command with its arguments and options, from the help that the program prints."""
    return COMMANDS_HEAD + "".join(_sections(whole_program(), ()))


def _sections(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    if words:
        told = CliRunner().invoke(app, [*words, "--help"], prog_name="ludodrome", env={"TERMINAL_WIDTH": "100"})
        rank = "#" * (1 + len(words))
        yield f"\n{rank} `{' '.join(words)}`\n\n```text\n{told.stdout.rstrip()}\n```\n"
    for word, subcommand in getattr(command, "commands", {}).items():
        yield from _sections(subcommand, (*words, word))


def game_options() -> str:
    """Every option of every game."""
    return OPTIONS_HEAD + "".join(_options(game_id) for game_id in FIVE)


def _options(game_id: str) -> str:
    made = ludodrome.make(game_id)
    lines = [
        f"\n## {GAMES[game_id].title}: `{game_id}`\n",
        row("option", "values", "default", "meaning"),
        row(*["---"] * 4),
    ]
    lines += [
        row(f"`{one.name}`", one.values, f"`{json.dumps(one.default)}`", one.meaning) for one in type(made).available
    ]
    default = ", ".join(f"{name}={value!r}" for name, value in made.options.items())
    lines.append(f"\n`ludodrome.make({game_id!r})` is `ludodrome.make({game_id!r}, {default})`.\n")
    return "\n".join(lines)


def complete_bots() -> str:
    """The starter of one game in every language."""
    return BOTS_HEAD + "".join(part for language in LANGUAGES for part in _bot(language))


def _bot(language: str) -> Iterator[str]:
    made = LANGUAGES[language]
    built = f" Build it with `{made.build[0]}`." if made.build else ""
    yield f"\n## {language}\n\nIt needs `{made.program}`.{built} Its spec, in its folder, is `{made.spec}`.\n"
    for name, text in starter(STARTER_GAME, language).items():
        if name != "README.md":
            yield f"\n`{name}`:\n\n```{FENCES[Path(name).suffix]}\n{text.rstrip()}\n```\n"


PAGES: dict[Path, Callable[[], str]] = {
    FOLDER / "commands.md": command_page,
    FOLDER / "game-options.md": game_options,
    FOLDER / "complete-bots.md": complete_bots,
    FOLDER / "http-api.md": http_api.page,
}


if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), "utf-8")
