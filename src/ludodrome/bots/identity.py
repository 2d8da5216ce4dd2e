"""What runs when a spec is played: ``identity`` is a short hash of it.

Results of an older version of a bot are not taken for those of the present one. Programs (``cmd:``) are hashed with
the files named in their command and the folders of these files, Python bots (``py:``) with their folder, boxes with
theirs, WebAssembly modules by their content, language models by endpoint, model and prompts, built-in bots by the
sources they are made of. Nothing is run, and little is read: files that are too large count by size and time of change,
folders with too many files are left out, and ``examine`` says so.
"""

import hashlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ludodrome.bots.registry import FILE, LLM
from ludodrome.bots.specs import BOX, COMMAND, WASM, read_launch

DIGITS = 12
"""Hexadecimal digits of an identity."""
MAX_FILES = 2000
"""Files of a folder that has more are not compared."""
MAX_FILE_BYTES = 64 << 20
"""A larger file counts by its size and time of change."""
MAX_BYTES = 256 << 20
"""After this many bytes of one bot, further files count by size and time of change."""
MANIFEST = "matches.jsonl"
"""The file of a record folder that names its matches (``arena/matches/match.py``)."""
SKIPPED_FOLDERS = ("__pycache__", "node_modules")
SKIPPED_FILES = re.compile(
    rf"\.|m-[0-9a-f]{{16}}\.json|openings-.*\.jsonl|{re.escape(MANIFEST)}|.*\.(?:log|pyc|sqlite(?:-\w+)?)"
)
"""What matches leave behind, and what editors and interpreters do: hidden files, records, logs, databases."""
SOURCES = ("bots", "search", "games")
"""The packages that built-in bots are made of."""


class BotIdentity(NamedTuple):
    """The identity of a bot, and what it leaves out."""

    id: str
    notes: tuple[str, ...] = ()
    """Sentences about what was too large to be compared by content."""


def identity(spec: str) -> str:
    """A short hash of what runs; equal for equal programs. Files that do not exist count as missing."""
    return examine(spec).id


def examine(spec: str, without: Iterable[Path] = ()) -> BotIdentity:
    """The identity of a bot; ``without`` are folders and files that it does not cover, such as those of records."""
    kind, colon, rest = spec.partition(":")
    scan = _Scan(spec, without)
    if colon and kind == COMMAND:
        _add_command(scan, rest)
    elif colon and kind == FILE:
        path = Path(rest.rpartition(":")[0])
        scan.add_text(sys.version)
        scan.add_file(path)
        scan.add_folder(path.parent)
    elif colon and kind == WASM:
        scan.add_file(Path(rest.partition(",")[0]))
    elif colon and kind == BOX:
        scan.add_folder(Path(rest))
    elif colon and kind == LLM:
        scan.add_file(Path(__file__).with_name("prompts.py"))
    else:
        scan.add_text(built_in_version())
    return scan.result()


@cache
def built_in_version() -> str:
    """A hash of the sources that built-in bots are made of, the networks among them included."""
    package = Path(__file__).parent.parent
    found = hashlib.sha256()
    for folder in SOURCES:
        for file in sorted((package / folder).rglob("*")):
            if file.suffix in (".py", ".npz", ".bin") and file.is_file():
                found.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def named_with_identity(name: str, bot_id: str) -> str:
    """``mybot@0123456789ab``: a bot's name together with its version."""
    return f"{name}@{bot_id}"


def _add_command(scan: "_Scan", text: str) -> None:
    """The program, the files and folders that its arguments name, and the folders in which they are."""
    try:
        launch, command_text = read_launch(text)
        words = shlex.split(command_text)
    except ValueError:
        return
    if not words:
        return
    folder = Path(launch.directory or "")
    if os.sep in words[0]:
        words[0] = str(folder / words[0])
    program = Path(shutil.which(words[0]) or words[0])
    scan.add_file(program)
    if os.sep in words[0] and program.parent.name not in ("bin", "sbin"):
        scan.add_folder(program.parent)
    for word in words[1:]:
        named = folder / (word.rpartition("=")[2] if word.startswith("-") else word)
        if os.path.isdir(named):
            scan.add_folder(named)
        elif os.path.isfile(named):
            scan.add_file(named)
            scan.add_folder(named.parent)


class _Scan:
    """Files under a hash, each once, within the limits."""

    def __init__(self, spec: str, without: Iterable[Path]) -> None:
        self._hash = hashlib.sha256()
        self._without = {os.path.realpath(path) for path in without}
        self._seen: set[str] = set()
        self._bytes = 0
        self._notes: list[str] = []
        self.add_text(spec)

    def result(self) -> BotIdentity:
        """The identity so far."""
        return BotIdentity(self._hash.hexdigest()[:DIGITS], tuple(self._notes))

    def add_text(self, text: str) -> None:
        """Cover a text."""
        self._hash.update(text.encode("utf-8", "surrogateescape") + b"\0")

    def add_file(self, path: Path, name: str | None = None) -> None:
        """Cover a file by its content, or by size and time of change if it is too large."""
        real = os.path.realpath(path)
        if real in self._seen:
            return
        self._seen.add(real)
        self.add_text(name or path.name)
        try:
            about = os.stat(real)
            if about.st_size > MAX_FILE_BYTES or self._bytes + about.st_size > MAX_BYTES:
                self.add_text(f"{about.st_size} {about.st_mtime_ns}")
                self._note(f"{path} is large: it counts by its size and time of change")
                return
            self._bytes += about.st_size
            with open(real, "rb") as file:
                self._hash.update(hashlib.file_digest(file, "sha256").digest())
        except OSError:
            self.add_text("missing")

    def add_folder(self, folder: Path) -> None:
        """Cover all files of a folder and those below it; with too many, those in it; with too many of these, none."""
        real = os.path.realpath(folder)
        if real in self._seen:
            return
        self._seen.add(real)
        for deep in (True, False):
            files = self._files(real, deep)
            if files is not None:
                if not deep:
                    self._note(f"the folders in {folder} have more than {MAX_FILES:,} files: they are not compared")
                for file in sorted(files):
                    self.add_file(Path(file), os.path.relpath(file, real))
                return
        self._note(f"{folder} has more than {MAX_FILES:,} files: they are not compared")

    def _files(self, folder: str, deep: bool) -> list[str] | None:
        """The files of a folder that may belong to a bot; None if there are too many."""
        found: list[str] = []
        for file in self._walk(folder, deep):
            found.append(file)
            if len(found) > MAX_FILES:
                return None
        return found

    def _walk(self, folder: str, deep: bool) -> Iterator[str]:
        for parent, folders, files in os.walk(folder):
            if parent != folder and (MANIFEST in files or parent in self._without):
                folders.clear()  # records of matches
                continue
            folders[:] = sorted(one for one in folders if one[0] != "." and one not in SKIPPED_FOLDERS) if deep else []
            for name in files:
                path = os.path.join(parent, name)
                if path not in self._without and not SKIPPED_FILES.match(name) and os.path.isfile(path):
                    yield path

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)
