"""A bots file: bots with their names, commands and settings, in TOML. Its names can be used instead of specs.

    [[bots]]
    name = "mine"
    command = "./bot --fast"
    directory = "engines/mine"
    environment = { THREADS = "1" }
    memory = "512MB"
    affinity = [0, 1]
    clock = "2s"
    tags = ["new"]

``spec`` takes the place of ``command`` for other bots. Paths are relative to the file. Nothing here imports Numba.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ludodrome.bots.specs import COMMAND, LaunchSettings, launch_spec
from ludodrome.validation import listing, show

MAX_BYTES = 1 << 20
MAX_BOTS = 1000
MAX_TEXT = 1000
MAX_TAGS = 20
MAX_CORE = 4095
MIN_MEMORY, MAX_MEMORY = 1 << 20, 1 << 44
UNITS = {"MB": 10**6, "GB": 10**9, "MiB": 1 << 20, "GiB": 1 << 30}
KEYS = ("name", "command", "spec", "directory", "environment", "clock", "memory", "affinity", "tags")
_NAME = re.compile(r"[^\x00-\x20\x7f=:,][^\x00-\x1f\x7f=:]{0,58}[^\x00-\x20\x7f=:]|[^\x00-\x20\x7f=:,]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MEMORY = re.compile(r"([1-9][0-9]{0,8}) ?(MB|GB|MiB|GiB)")


@dataclass(frozen=True, slots=True)
class BotsFileEntry:
    """A bot of a file."""

    name: str
    spec: str
    clock: str | None = None
    """Its own time control: a handicap."""
    tags: tuple[str, ...] = ()


BotEntries = dict[str, BotsFileEntry]
"""The bots of a file by name."""


def read_bots_file(path: Path) -> BotEntries:
    """Read a bots file; ValueError says which field of which bot is wrong, and what would be right."""
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise ValueError(f"the bots file {path} has more than {MAX_BYTES:,} bytes")
        with open(path, "rb") as file:
            value = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"the bots file {path} cannot be read: {why}") from error
    except RecursionError as error:
        raise ValueError(f"the bots file {path} cannot be read: it is nested too deeply") from error
    tables = value.get("bots")
    if set(value) != {"bots"} or type(tables) is not list or not 1 <= len(tables) <= MAX_BOTS:
        raise ValueError(f"the bots file {path} has tables [[bots]], from 1 to {MAX_BOTS}, and nothing else")
    found: BotEntries = {}
    for number, table in enumerate(tables, 1):
        entry = _Table(path, number, table).entry()
        if entry.name in found:
            raise ValueError(f"{path}: two bots are called {entry.name}; give one of them another name")
        found[entry.name] = entry
    return found


def resolved(bots: Sequence[str], entries: Mapping[str, BotsFileEntry]) -> list[str]:
    """Replace names of a bots file by ``name=spec``, also after a new name, as in ``new=mine``."""
    found = []
    for text in bots:
        name, equals, rest = text.rpartition("=") if re.fullmatch(r"[^:=]+=[^:=]+", text) else ("", "", text)
        entry = entries.get(rest)
        found.append(text if entry is None else f"{name if equals else rest}={entry.spec}")
    return found


def clocks_of(bots: Sequence[str], entries: Mapping[str, BotsFileEntry]) -> dict[str, str]:
    """The clocks of those bots that have one of their own, by the name under which they play."""
    return {name: one.clock for name, one in _entries_of(bots, entries).items() if one.clock is not None}


def tags_of(bots: Sequence[str], entries: Mapping[str, BotsFileEntry]) -> dict[str, tuple[str, ...]]:
    """The tags of the bots of a file, by the name under which they play."""
    return {name: one.tags for name, one in _entries_of(bots, entries).items()}


def _entries_of(bots: Sequence[str], entries: Mapping[str, BotsFileEntry]) -> BotEntries:
    """Those bots that are of the file, by the name under which they play."""
    found = {}
    for text in bots:
        name, _, rest = text.rpartition("=") if re.fullmatch(r"[^:=]+=[^:=]+", text) else ("", "", text)
        if (entry := entries.get(rest)) is not None:
            found[name or rest] = entry
    return found


def tagged(entries: Mapping[str, BotsFileEntry], tags: Sequence[str]) -> list[str]:
    """The names of the bots that have one of these tags; ValueError for a tag that no bot has."""
    known = sorted({tag for entry in entries.values() for tag in entry.tags})
    for tag in tags:
        if tag not in known:
            has = f"its tags are {listing(known)}" if known else "it has no tags"
            raise ValueError(f"no bot of the bots file has the tag {show(tag)}; {has}")
    return [name for name, entry in entries.items() if not set(tags).isdisjoint(entry.tags)]


class _Table:
    """One table of a bots file, with its place for error messages."""

    def __init__(self, path: Path, number: int, table: Any) -> None:
        self._path, self._table = path, table
        self._where = f"{path}, bot {number}"
        if type(table) is not dict:
            self._refuse(f"a bot is a table [[bots]], not {show(table)}")
        name = table.get("name")
        if type(name) is not str or not _NAME.fullmatch(name):
            self._refuse(f"name is a text of 1 to 60 characters without = and :, not {show(name)}")
        self._name: str = name
        self._where += f" ({name})"

    def _refuse(self, sentence: str) -> NoReturn:
        raise ValueError(f"{self._where}: {sentence}")

    def entry(self) -> BotsFileEntry:
        """The bot of the table."""
        for key in self._table:
            if key not in KEYS:
                self._refuse(f"there is no {show(key)}; a bot has {listing(KEYS)}")
        if ("command" in self._table) == ("spec" in self._table):
            self._refuse("give either command, like ./bot --fast, or spec, like level:3")
        clock = self._text("clock") if "clock" in self._table else None
        return BotsFileEntry(self._name, self._spec(), clock, self._tags())

    def _spec(self) -> str:
        settings = [key for key in ("directory", "environment", "memory", "affinity") if key in self._table]
        if "spec" in self._table:
            if settings:
                self._refuse(f"{listing(settings)} can be set for a command, not for a spec")
            return self._text("spec")
        folder = self._path.parent / (self._text("directory") if "directory" in self._table else "")
        if not os.path.isdir(folder):
            self._refuse(f"directory is a folder, relative to the file, and {folder} is not one")
        here = os.path.realpath(folder) == os.path.realpath(".")
        launch = LaunchSettings(
            None if here else os.path.abspath(folder), self._environment(), self._memory(), self._affinity()
        )
        return f"{COMMAND}:{launch_spec(launch, self._text('command'))}"

    def _text(self, key: str) -> str:
        value = self._table[key]
        if type(value) is not str or not 1 <= len(value) <= MAX_TEXT or not value.isprintable():
            self._refuse(f"{key} is a text of 1 to {MAX_TEXT} characters on one line, not {show(value)}")
        return str(value)

    def _environment(self) -> tuple[tuple[str, str], ...]:
        value = self._table.get("environment", {})
        right = 'environment is a table of texts, like { THREADS = "1" }'
        if type(value) is not dict or len(value) > 100:
            self._refuse(f"{right}, not {show(value)}")
        for name, text in value.items():
            if not _VARIABLE.fullmatch(name):
                self._refuse(f"{right}; a variable has letters, digits and _ in its name, not {show(name)}")
            if type(text) is not str or len(text) > MAX_TEXT or "\0" in text:
                self._refuse(f"{right}; {name} is {show(text)}")
        return tuple(sorted(value.items()))

    def _memory(self) -> int | None:
        if "memory" not in self._table:
            return None
        value = self._table["memory"]
        match = _MEMORY.fullmatch(value) if type(value) is str else None
        size = int(match[1]) * UNITS[match[2]] if match else 0
        if not MIN_MEMORY <= size <= MAX_MEMORY:
            self._refuse(f"memory is a size from 2MB to 16TB, like 512MB or 2GiB, not {show(value)}")
        return size

    def _affinity(self) -> tuple[int, ...]:
        value = self._table.get("affinity", [])
        if type(value) is not list or not all(type(core) is int and 0 <= core <= MAX_CORE for core in value):
            self._refuse(f"affinity is a list of cores, like [0, 1], not {show(value)}")
        return tuple(sorted(set(value)))

    def _tags(self) -> tuple[str, ...]:
        value = self._table.get("tags", [])
        texts = type(value) is list and all(type(tag) is str and tag.isprintable() for tag in value)
        if not texts or len(value) > MAX_TAGS or not all(1 <= len(tag) <= 60 for tag in value):
            self._refuse(f'tags is a list of at most {MAX_TAGS} texts, like ["new", "fast"], not {show(value)}')
        return tuple(value)
