"""Books of openings: files in which the openings of a match stand, so that they are drawn once.

A book is JSON Lines: a first line that says which game it is for, then a line an opening. Lines are only ever added;
a last line that was cut off, because somebody was killed while writing it, counts as not there. How openings are drawn
is in ``openings.py``.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Protocol

from ludodrome.arena.play_spec import canonical
from ludodrome.game import Game, IllegalMove
from ludodrome.kernel_cache import cache_root
from ludodrome.validation import is_int, show

Moves = tuple[Any, ...]


class Book(Protocol):
    """Openings by their numbers."""

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it is not drawn yet."""

    def add(self, number: int, moves: list[Any]) -> None:
        """Writes an opening down."""


class NoBook:
    """Every game begins at the first position."""

    def find(self, number: int) -> Moves | None:
        """No moves."""
        return ()

    def add(self, number: int, moves: list[Any]) -> None:
        """There is nothing to write down."""
        raise AssertionError("without a book no openings are drawn")


class FixedBook:
    """Somebody's own openings, used in turn, from the first again when all were used."""

    def __init__(self, openings: list[Moves]) -> None:
        self._openings = openings

    def __len__(self) -> int:
        return len(self._openings)

    def find(self, number: int) -> Moves | None:
        """The opening whose turn it is."""
        return self._openings[number % len(self._openings)]

    def add(self, number: int, moves: list[Any]) -> None:
        """It is complete."""
        raise AssertionError("a book of one's own is never added to")


class DrawnBook:
    """The openings of one game and seed, kept in a file in a folder.

    Without a folder, or if it cannot be written, they are forgotten at the end.
    """

    def __init__(self, game: Game, seed: int, folder: Path | None) -> None:
        self._head = {"ludodrome": "openings", "version": 1, "game": game.id, "options": game.options, "seed": seed}
        self._openings: dict[int, Moves] = {}
        self._file = folder / book_name(self._head) if folder is not None else None
        if self._file is not None:
            self._read(self._file)

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it is not drawn yet."""
        return self._openings.get(number)

    def add(self, number: int, moves: list[Any]) -> None:
        """Writes an opening down."""
        self._openings[number] = tuple(moves)
        if self._file is None:
            return
        line = json.dumps({"number": number, "moves": moves})
        try:
            fresh = not self._file.exists()
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(self._file, "a", encoding="utf-8") as file:
                # A line break first: what stands there may end in the middle of a line.
                file.write(f"{json.dumps(self._head)}\n{line}\n" if fresh else f"\n{line}\n")
        except OSError:
            self._file = None

    def _read(self, file: Path) -> None:
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return
        for line in lines:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if type(value) is dict and is_int(value.get("number"), 0, 1 << 32) and type(value.get("moves")) is list:
                self._openings[value["number"]] = tuple(value["moves"])


def book_name(head: dict[str, Any]) -> str:
    """What a book's file is called: one for each game, its options and the seed."""
    return f"openings-{head['game']}-{hashlib.sha256(canonical(head)).hexdigest()[:8]}.jsonl"


def cache_folder() -> Path:
    """Where books are kept that belong to nothing else."""
    return cache_root() / "openings"


def read_book(game: Game, path: str | os.PathLike[str]) -> FixedBook:
    """Somebody's own openings: a line each, a JSON list of moves or an object with ``moves``; checked by playing them.

    ValueError says which line is wrong and why.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the openings {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    openings = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            moves = _moves(line, f"line {number} of {path}", game)
            if moves is not None:
                openings.append(moves)
    if not openings:
        raise ValueError(f"there is no opening in {path}; it has a line each: a JSON list of moves")
    return FixedBook(openings)


def _moves(line: str, where: str, game: Game) -> Moves | None:
    """The opening of a line; None if the line is the head of a book."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no JSON: {error}") from error
    if type(value) is dict and value.get("ludodrome") == "openings":
        if value.get("game") != game.id or value.get("options") != game.options:
            raise ValueError(f"{where}: this is a book of {show(value.get('game'))} with other options, not of {game}")
        return None
    moves = value.get("moves") if type(value) is dict else value
    if type(moves) is not list:
        raise ValueError(f"{where} is a JSON list of moves or an object with moves, not {show(value)}")
    if moves and game.actions_a_turn > 1:
        raise ValueError(f"{where}: {game.id} is played without openings")
    state = game.initial_state()
    for at, move in enumerate(moves, 1):
        try:
            state = game.apply(state, move)
        except IllegalMove as error:
            raise ValueError(f"{where}: move {at} cannot be made: {error}") from error
    if game.outcome(state) is not None:
        raise ValueError(f"{where}: after these moves the game is over")
    return tuple(moves)
