"""What ``ludodrome new-game`` writes: a package with a small, complete game and its tests.

The files in ``templates/`` are those of tic-tac-toe; the new game's names replace its own. They end in
``.template``, since they are not modules of this package.
"""

import re
from importlib.resources import files
from pathlib import Path

from ludodrome.atomic_io import TEMPLATE, files_below, write_new
from ludodrome.games import GAMES, ID
from ludodrome.validation import listing, show

_PLAIN = re.compile(r"[\w .,'!&-]{1,60}")
_NAME, _TITLE, _CLASS = "tictactoe", "Tic-tac-toe", "TicTacToe"


def write_game(directory: Path, name: str, title: str = "") -> list[str]:
    """Write a game into a new or empty folder, and return its file names; raise ValueError if that is impossible."""
    if not ID.fullmatch(name):
        raise ValueError(f"a game's name is a small letter and 1 to 29 more letters, digits or _, not {show(name)}")
    if name in GAMES and name != _NAME:
        raise ValueError(f"there is a game {name} already; the games are {listing(sorted(GAMES))}")
    if title and not _PLAIN.fullmatch(title):
        raise ValueError(f"a title is up to 60 letters, digits, blanks and - ' . , ! &, not {show(title)}")
    return write_new(directory, game_files(name, title))


def game_files(name: str, title: str = "") -> dict[str, str]:
    """The texts of a game's files by their names."""
    words = {
        _NAME: name,
        _TITLE: " ".join(title.split()) or (_TITLE if name == _NAME else name.replace("_", " ").capitalize()),
        _CLASS: _CLASS if name == _NAME else "".join(part.capitalize() for part in (*name.split("_"), "game")),
    }
    folder = files(__package__) / "templates"
    return {
        _renamed(path.removesuffix(TEMPLATE), words): _renamed(file.read_text("utf-8"), words)
        for path, file in files_below(folder)
    }


def _renamed(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text
