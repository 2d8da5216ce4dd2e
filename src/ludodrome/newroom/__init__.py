"""A game to begin with: what ``ludodrome new-game`` writes, a package with a small, complete room and its tests.

The files in ``templates/`` are those of tic-tac-toe; the new game's names take the place of its own. They end in
``.template``, since they are no modules of this package.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ludodrome.games import GAMES, ID
from ludodrome.reading import listing, show

_SUFFIX = ".template"
_PLAIN = re.compile(r"[\w .,'!&-]{1,60}")
_NAME, _TITLE, _CLASS = "tictactoe", "Tic-tac-toe", "TicTacToe"


def write_room(directory: Path, name: str, title: str = "") -> list[str]:
    """Writes a game into a new or empty folder, and gives the names of its files; ValueError if that cannot be done."""
    if not ID.fullmatch(name):
        raise ValueError(f"a game's name is a small letter and 1 to 29 more letters, digits or _, not {show(name)}")
    if name in GAMES and name != _NAME:
        raise ValueError(f"there is a game {name} already; the games are {listing(sorted(GAMES))}")
    if title and not _PLAIN.fullmatch(title):
        raise ValueError(f"a title is up to 60 letters, digits, blanks and - ' . , ! &, not {show(title)}")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} is there already, and nothing is overwritten; name a new or an empty folder")
    texts = room(name, title)
    for path, text in texts.items():
        file = directory / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        except OSError as error:
            raise ValueError(f"{file} cannot be written: {error.strerror or error}") from error
    return list(texts)


def room(name: str, title: str = "") -> dict[str, str]:
    """The texts of a game's files by their names."""
    words = {
        _NAME: name,
        _TITLE: " ".join(title.split()) or (_TITLE if name == _NAME else name.replace("_", " ").capitalize()),
        _CLASS: _CLASS if name == _NAME else "".join(part.capitalize() for part in (*name.split("_"), "game")),
    }
    folder = files(__package__) / "templates"
    return {
        _renamed(path.removesuffix(_SUFFIX), words): _renamed(file.read_text("utf-8"), words)
        for path, file in _files(folder)
    }


def _renamed(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def _files(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.is_dir():
            yield from _files(file, f"{before}{file.name}/")
        else:
            yield before + file.name, file
