"""Looking at blocks without running them: commands are parsed by the real parser, code compiled, imports looked up."""

import ast
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import typer.main

from ludodrome.cli import whole_program
from tests.docs.blocks import ROOT, BadPage, Block

PROMPT = "$ "
SHELL_SIGNS = re.compile(r"[|<>&;`(){}*?$]")
OWN = ("scripts/", "benchmarks/", "examples/")
EXTRAS = re.compile(r"\[([\w,]+)\]")


def steps(block: Block) -> list[tuple[str, str]]:
    """The commands of a ``console`` or ``sh`` block, each with what the page says that it prints."""
    found: list[tuple[str, str]] = []
    lines = iter(block.text.splitlines())
    for line in lines:
        if block.language == "sh" or line.startswith(PROMPT):
            command = line.removeprefix(PROMPT) if block.language == "console" else line
            while command.endswith("\\"):
                command = f"{command[:-1]} {next(lines).strip()}"
            if command.strip() and not command.startswith("#"):
                found.append((command, ""))
        elif not found:
            raise BadPage(f"{block.place}: a console block begins with a line `$ command`")
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def plain_words(command: str) -> list[str] | None:
    """A command's words if it needs no shell to run; else None."""
    words = shlex.split(command, comments=True)
    quoted = re.sub(r"'[^']*'|\"[^\"$`]*\"|(?<=\s)#.*", "", command)
    return None if SHELL_SIGNS.search(quoted) or (words and "=" in words[0]) else words


def single_commands(command: str) -> Iterator[list[str]]:
    """The words of each command in a line of shell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|&;()"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def check_command(command: str) -> None:
    """Every ``ludodrome`` in a line of shell is a command that there is; every extra of ``pip install`` too."""
    for words in single_commands(command):
        while words and re.fullmatch(r"\w+=.*|time|exec", words[0]):
            words = words[1:]
        if "<" in words or ">" in words:
            words = words[: min(words.index(sign) for sign in "<>" if sign in words)]
        if words[:1] == ["ludodrome"]:
            parse(words[1:])
        elif words[:2] == ["pip", "install"]:
            known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
            wanted = {extra for word in words for found in EXTRAS.findall(word) for extra in found.split(",")}
            if wanted - set(known):
                raise BadPage(f"there is no extra {wanted - set(known)}")
        elif words and words[0].startswith(OWN) and not (ROOT / words[0]).exists():
            raise BadPage(f"there is no {words[0]}")


def parse(words: list[str]) -> None:
    """Has the command line's own parser read the words; nothing is run."""
    command = _program()
    path = ["ludodrome"]
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        if words[0] not in command.commands:
            raise BadPage(f"there is no command {' '.join([*path, words[0]])}")
        command = command.commands[words[0]]
        path.append(words[0])
        words = words[1:]
    if set(words) & {"--help", "--version"}:
        return
    try:
        command.make_context(" ".join(path), list(words))
    except typer.TyperException as error:
        raise BadPage(f"{' '.join(path)}: {error.format_message()}") from error


@cache
def _program() -> Any:
    return whole_program()


def check_python(block: Block) -> None:
    """The code compiles, and what it imports is there."""
    tree = ast.parse(block.text, block.place)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                _find(name.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            _find(node.module)
            if node.module.startswith("ludodrome"):
                module = importlib.import_module(node.module)
                for name in node.names:
                    if not hasattr(module, name.name):
                        importlib.import_module(f"{node.module}.{name.name}")


def _find(module: str) -> None:
    if find_spec(module.partition(".")[0]) is None or (module.startswith("ludodrome") and find_spec(module) is None):
        raise BadPage(f"there is no module {module}")


def check(block: Block) -> None:
    """All that can be said of a block without running it."""
    if block.language in ("console", "sh"):
        for command, _ in steps(block):
            check_command(command)
    elif block.language == "python" and not block.missing:
        check_python(block)
