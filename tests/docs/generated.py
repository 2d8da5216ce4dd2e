"""The pages of docs/reference/ that programs write, each from what the program itself says.

``scripts/reference`` writes them all; ``test_generated.py`` compares. The commands are in ``tests/cli/reference.py``,
the endpoints in ``endpoints.py``. Pages that people write are no concern of this module.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import ludodrome
from ludodrome.bots.starters import LANGUAGES, starter
from ludodrome.games import GAMES
from tests.cli import reference as commands
from tests.docs import endpoints
from tests.docs.tables import row

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
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
    commands.PAGE: commands.page,
    FOLDER / "game-options.md": game_options,
    FOLDER / "complete-bots.md": complete_bots,
    FOLDER / "http-api.md": endpoints.page,
}


if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), "utf-8")
