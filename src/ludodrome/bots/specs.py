"""Specs of bots that are not built in, and checks of all specs before a game is loaded: nothing here imports Numba.

``cmd:./mybot --fast`` is a program with arguments, ``py:mine.py:MyBot`` a Python class, ``wasm:bot.wasm`` a WebAssembly
program, ``box:FOLDER`` a program in a sandbox, ``llm:URL,model=NAME`` a language model. A path is a spec too.
"""

import ast
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, cast

from ludodrome.bots.registry import FILE, LLM, is_built_in, read_spec, valid_specs
from ludodrome.games import BUILT_IN, GameEntry
from ludodrome.validation import show

if TYPE_CHECKING:
    from ludodrome.game import Game

_NAMED = re.compile(r"([^:=]+)=(.*)", re.DOTALL)

COMMAND, BOX, WASM = "cmd", "box", "wasm"
PROGRAM_KINDS = (COMMAND, FILE, WASM, BOX, LLM)
"""Prefixes of specs whose bots are not built in."""
PROGRAMS = (
    "cmd:PROGRAM is a program of one's own, wasm:FILE a WebAssembly program, box:FOLDER one in a sandbox, "
    "llm:URL,model=NAME a language model"
)
"""The specs besides built-in bots and py:, as part of a sentence."""
PATH_KINDS = "a path like ./bot.py is a Python file with a bot, a program, or a WebAssembly module"


def is_program(spec: str) -> bool:
    """Whether a spec names a program, a file or an endpoint of the user's own, rather than a built-in bot."""
    return spec.partition(":")[0] in PROGRAM_KINDS


class LaunchSettings(NamedTuple):
    """How a program is started, besides its command: what a bots file can say."""

    directory: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    memory: int | None = None
    """Limit of its address space, in bytes."""
    affinity: tuple[int, ...] = ()
    """The cores on which it may run; empty: all."""


def launch_spec(launch: LaunchSettings, command_text: str) -> str:
    """The text after ``cmd:`` for a command with these settings: a JSON object of those that are set goes before it."""
    settings = {name: value for name, value in launch._asdict().items() if value}
    if "environment" in settings:
        settings["environment"] = dict(launch.environment)
    return f"{json.dumps(settings)} {command_text}" if settings else command_text


def read_launch(text: str) -> tuple[LaunchSettings, str]:
    """The settings before a command, and the command; ValueError if they are malformed."""
    if not text.startswith("{"):
        return LaunchSettings(), text
    try:
        value, end = json.JSONDecoder().raw_decode(text)
        launch = LaunchSettings(
            value.pop("directory", None),
            tuple(sorted((str(name), str(one)) for name, one in value.pop("environment", {}).items())),
            value.pop("memory", None),
            tuple(int(core) for core in value.pop("affinity", [])),
        )
        right = type(launch.directory) in (str, type(None)) and type(launch.memory) in (int, type(None))
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        right, value = False, None
    if value or not right or (launch.memory or 0) < 0 or any(core < 0 for core in launch.affinity):
        raise ValueError(
            f"the settings before the command {show(text)} are a JSON object with directory, environment, memory and "
            "affinity"
        )
    return launch, text[end:].strip()


def check_spec(spec: str, game: "Game") -> None:
    """ValueError if a spec names no bot of the game, or a program or file that does not exist."""
    kind, colon, rest = spec.partition(":")
    if colon and kind in (COMMAND, FILE):
        command(kind, rest)
    elif is_built_in(spec, game):
        read_spec(spec, game)
    elif not (colon and is_program(spec)):
        raise ValueError(f"there is no bot {show(kind)}; the bots of {game.id} are {valid_specs(game)}; {PROGRAMS}")


def check_early(specs: Iterable[str], entry: GameEntry) -> None:
    """Check specs without loading the game, which imports Numba. The bots of other packages' games are not known."""
    steps = 2 if entry.by_steps else 1
    game = SimpleNamespace(id=entry.id, actions_a_turn=steps, evaluator=True, own_bots=entry.own_bots)
    for spec in specs:
        if entry.id in BUILT_IN or spec.partition(":")[0] in (COMMAND, FILE):
            check_spec(spec, cast("Game", game))


def command(kind: str, rest: str) -> list[str]:
    """The program of a ``cmd`` or ``py`` bot and its arguments; ValueError if it cannot be found."""
    if kind == FILE:
        path, colon, name = rest.rpartition(":")
        if not (colon and path and name.isidentifier()):
            raise ValueError(f"a bot of one's own is named like py:mine.py:MyBot, not py:{rest}")
        if not Path(path).is_file():
            raise ValueError(f"there is no file {path} for the bot py:{rest}")
        if not _binds(Path(path), name):
            raise ValueError(f"there is no class {name} in {path} for the bot py:{rest}")
        return [sys.executable, "-P", "-m", "ludodrome.arena.py_bot_host", rest]
    launch, text = read_launch(rest)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the command {show(text)} cannot be read: {error}") from None
    if not words:
        raise ValueError("a program is named like cmd:./mybot --fast, and here nothing follows cmd:")
    if os.sep in words[0] and launch.directory is not None:
        words[0] = os.path.join(launch.directory, words[0])
    if shutil.which(words[0]) is None:
        there = "is not executable" if os.path.exists(words[0]) else "cannot be found"
        raise ValueError(f"the program {words[0]} of the bot cmd:{rest} {there}")
    return words


def _binds(path: Path, name: str) -> bool:
    """Whether a Python file binds a name, without running it; True if the file cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # the bot's own process reports the error
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name):
            bound.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            bound.update(alias.asname or alias.name for alias in node.names)
    return not bound.isdisjoint({name, "*"})


# Names and paths


def named_bots(bots: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Specs by name. A bare spec is its own name, numbered where two are the same."""
    if isinstance(bots, str):
        raise TypeError(f"bots is a list of specs, one per seat, not the single text {show(bots)}")
    if isinstance(bots, Mapping):
        return {name: spec_of(spec) for name, spec in bots.items()}
    found = [_NAMED.fullmatch(one) for one in bots]
    bare = distinct_names([one for one, named in zip(bots, found, strict=True) if named is None])
    names, rest = [], iter(bare)
    for named in found:
        names.append(next(rest) if named is None else named[1])
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"two bots are called {name}; give one of them another name")
    specs = (spec_of(one if named is None else named[2]) for one, named in zip(bots, found, strict=True))
    return dict(zip(names, specs, strict=True))


def distinct_names(bots: Sequence[str]) -> tuple[str, ...]:
    """Names for bots: their specs, numbered where two are the same."""
    names: list[str] = []
    for spec in bots:
        same = sum(one == spec for one in bots[: len(names)])
        names.append(f"{spec} ({same + 1})" if same else spec)
    return tuple(names)


def spec_of(text: str) -> str:
    """The spec of a bot that is given by a path, like ``./bot.py``; other texts are returned unchanged.

    ValueError if there is a file, but it cannot be a bot.
    """
    if ":" in text or not (text.startswith((".", "/", "~")) or text.endswith((".py", ".wasm"))):
        return text
    path = Path(os.path.expanduser(text))
    if not path.is_file():
        raise ValueError(f"there is no file {text}; {PATH_KINDS}")
    shown = str(path) if os.sep in str(path) else f".{os.sep}{path}"
    if path.suffix == ".wasm":
        return f"wasm:{shown}"
    if path.suffix == ".py":
        names = _bot_classes(path)
        if len(names) > 1:
            raise ValueError(f"{text} has several bots; choose one of them, as in py:{shown}:{names[0]}")
        python = "python3" if shutil.which("python3") else shlex.quote(sys.executable)
        return f"py:{shown}:{names[0]}" if names else f"cmd:{python} {shlex.quote(shown)}"
    if not os.access(path, os.X_OK):
        raise ValueError(f"{text} cannot be run: it is not executable; {PATH_KINDS}")
    return f"cmd:{shlex.quote(shown)}"


def _bot_classes(path: Path) -> list[str]:
    """The classes of a Python file that have a method of a bot; the file is parsed, not run."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{show(str(path))} is not a Python file that can be read: {error}") from None
    methods = {"choose", "select_move"}
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(one, ast.FunctionDef) and one.name in methods for one in node.body)
    ]
