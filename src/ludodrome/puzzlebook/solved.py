"""What somebody has solved, in a small file of the user's data folder. Where there is none, it does without."""

import hashlib
import json
import os
from pathlib import Path

from ludodrome.atomic_io import write_whole
from ludodrome.puzzlebook.book import Puzzle

FILE = "puzzles.json"


def data_folder() -> Path:
    """XDG_DATA_HOME/ludodrome, by default in ~/.local/share; OSError if the user has no home."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(base):  # the specification of these folders: a relative one counts as none
        return Path(base) / "ludodrome"
    try:
        return Path.home() / ".local" / "share" / "ludodrome"
    except RuntimeError as error:
        raise OSError(str(error)) from error


class Solved:
    """The puzzles that were solved, now and in earlier sessions.

    They are known by their positions, so that they are still known when a later version numbers them otherwise.
    """

    def __init__(self) -> None:
        self._names = _read()

    def __contains__(self, puzzle: Puzzle) -> bool:
        return name_of(puzzle) in self._names

    def add(self, puzzle: Puzzle) -> str:
        """Remembers a puzzle; empty, or why it will be forgotten at the end of the session."""
        self._names |= {name_of(puzzle)} | _read()  # another terminal may have solved some meanwhile
        try:
            _write(self._names)
        except OSError as error:
            return error.strerror or str(error)
        return ""


def name_of(puzzle: Puzzle) -> str:
    """What a puzzle is known by: its position."""
    text = f"{puzzle.game_id} {puzzle.position}"
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _read() -> set[str]:
    """What the file says; nothing if it is not there, not readable or not ours."""
    try:
        names = json.loads((data_folder() / FILE).read_text("utf-8"))["solved"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _write(names: set[str]) -> None:
    """All at once, so that nobody ever reads half a file."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, json.dumps({"solved": sorted(names)}).encode())
