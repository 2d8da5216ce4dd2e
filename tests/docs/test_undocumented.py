"""Every command, option, setting, bot, parameter, game, option of a game and endpoint is documented."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

import ludodrome
from ludodrome.bots.llm import LLM_PARAMS
from ludodrome.bots.registry import BOT_KINDS
from ludodrome.bots.starters import LANGUAGES
from ludodrome.cli import whole_program
from ludodrome.system import API
from tests.docs.markdown import DOCS, ROOT
from tools.http_api import NOT_FOR_PEOPLE, description

REFERENCE = DOCS / "reference"
SETTING = re.compile(r"\bLUDODROME_[A-Z_]+\b")


def _page(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if words:
        yield " ".join(words), command
    for word, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*words, word))


COMMANDS = dict(_commands(whole_program()))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option(name: str) -> None:
    section = re.search(rf"^#+ `{name}`\n(.*?)(?=^## |^### |\Z)", _page("commands.md"), re.DOTALL | re.MULTILINE)
    assert section, f"{name} is not documented"
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"(?<![\w-]){re.escape(option)}\b", section[1]), option


def test_every_setting() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(one for one in (ROOT / "scripts").iterdir() if one.is_file())]
    used = {name for source in sources for name in SETTING.findall(source.read_text("utf-8"))}
    assert used
    assert used == set(SETTING.findall(_page("settings.md")))


def test_every_bot_and_parameter() -> None:
    page = _page("bots.md")
    for kind in BOT_KINDS.values():
        assert f"| `{kind.name}` |" in page
        for param in kind.params:
            assert f"| `{param.name}` |" in page
    models = (DOCS / "how-to" / "language-models.md").read_text("utf-8")
    for param in LLM_PARAMS:
        assert f"`{param.name}`" in models or f"`{param.name}=" in models, param.name


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_every_game_and_option(game: str) -> None:
    assert (DOCS / "games" / f"{game}.md").is_file()
    section = _page("game-options.md").partition(f": `{game}`")[2].partition("\n## ")[0]
    for option in type(ludodrome.make(game)).available:
        assert f"| `{option.name}` |" in section


def test_every_endpoint() -> None:
    api, sockets = description()
    page = _page("http-api.md")
    headings = set(re.findall(r"^### `(.*)`$", page, re.MULTILINE))
    wanted = {f"{method.upper()} {path.removeprefix(API)}" for path, one in api["paths"].items() for method in one}
    wanted |= {f"WebSocket {path.removeprefix(API)}" for path, _ in sockets if not path.endswith(NOT_FOR_PEOPLE)}
    assert headings == wanted


def test_every_language_has_a_complete_bot() -> None:
    assert re.findall(r"^## ([\w-]+)$", _page("complete-bots.md"), re.MULTILINE) == list(LANGUAGES)
