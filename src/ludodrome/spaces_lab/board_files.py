"""Boards, collections and decks in files: JSON in the document's ``Board`` format, or codes, one a line.

Every complaint names the place in the file. Files are written all at once: whoever looks sees the
old file or the new one, never half of one.
"""

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludodrome.atomic_io import write_whole
from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import BOARD_KEYS, DECK, coded, grid_of, steps_of
from ludodrome.games.spaces.notation import parse_board
from ludodrome.validation import show

MOST_BYTES = 1 << 30
"""No larger file is read into memory."""


@dataclass(slots=True)
class Collection:
    """Boards of one size, each with a name that may be empty."""

    boards: list[dict[str, Any]]
    names: list[str] = field(default_factory=list)
    name: str = ""

    @property
    def size(self) -> int:
        """The size of its boards."""
        return int(self.boards[0]["boardSize"])


# Reading


def read_board(text: str) -> dict[str, Any]:
    """The board of a code, of a file that holds one, or of one in a file: ``FILE#3``; ValueError names the place."""
    if is_code(text):
        return parse_board(text)
    path, mark, number = text.rpartition("#")
    if not mark or os.path.exists(text):
        path, number = text, ""
    boards = read_boards(path, alike=False).boards
    if not number and len(boards) == 1:
        return boards[0]
    if not number:
        raise ValueError(f"{path} holds {len(boards)} boards: say which, like {path}#1")
    if not number.isdecimal() or not 1 <= int(number) <= len(boards):
        raise ValueError(f"{path} holds boards 1 to {len(boards)}, not {show(number)}")
    return boards[int(number) - 1]


def is_code(text: str) -> bool:
    """Whether a text is meant as a code, and not as the name of a file."""
    head = text.strip().partition(":")
    return bool(head[1]) and head[0].isdecimal() and not os.path.exists(text)  # of any length: a Path breaks on it


def read_boards(path: str, alike: bool = True) -> Collection:
    """All boards of a file: a board, a list, a collection or a deck in JSON, or codes; ValueError names the place.

    ``alike``: they must all be of one size.
    """
    text = _read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        collection = _from_json(text, path)
    else:
        collection = Collection([_coded(line, place) for line, place in _lines(text, path)])
    if not collection.boards:
        raise ValueError(f"{path} holds no board")
    sizes = {show(board.get("boardSize") if type(board) is dict else None) for board in collection.boards}
    if alike and len(sizes) > 1:
        raise ValueError(f"{path} holds boards of several sizes: {', '.join(sorted(sizes))}")
    return collection


def read_deck(path: str) -> list[dict[str, Any]]:
    """The ten boards of a deck."""
    boards = read_boards(path).boards
    if len(boards) != DECK:
        raise ValueError(f"{path}: a deck has {DECK} boards, and this has {len(boards)}")
    return boards


def read_value(path: str) -> Any:
    """The JSON value in a file, whatever it is."""
    return _loads(_read_text(path), path)


def _read_text(path: str) -> str:
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise ValueError(f"{path} is larger than a gigabyte, and is not read")
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{path} cannot be read: {why}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}, byte {error.start}: this is no UTF-8 text") from error


def _loads(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}, column {error.colno}: no JSON: {error.msg}") from error
    except RecursionError as error:
        raise ValueError(f"{path}: this is JSON, but nested too deeply") from error


def _lines(text: str, path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield line, f"{path}, line {number}"


def _coded(line: str, place: str) -> dict[str, Any]:
    try:
        return parse_board(line)
    except IllegalMove as wrong:
        raise ValueError(f"{place}: {wrong}") from wrong


def _from_json(text: str, path: str) -> Collection:
    """Boards as they stand: whether they are legal is not asked here."""
    value = _loads(text, path)
    name = ""
    if type(value) is dict and "sequence" in value:
        value = [value]
    elif type(value) is dict:
        key = "deck" if "deck" in value else "boards"
        if key not in value:
            raise ValueError(f"{path}: an object here is a board, a collection with 'boards', or a deck with 'deck'")
        name = value.get("name", "") if type(value.get("name", "")) is str else ""
        value = value[key]
    if type(value) is not list:
        raise ValueError(f"{path}: boards come as a list, not as {show(value)}")
    boards, names = [], []
    for number, item in enumerate(value, 1):
        place = f"{path}, board {number}"
        if type(item) is str:
            item = _coded(item, place)
        if type(item) is not dict:
            raise ValueError(f"{place}: a board is an object or a code, not {show(item)}")
        named = item.get("name", "")
        if type(named) is not str:
            raise ValueError(f"{place}: its name is a text, not {show(named)}")
        boards.append({key: part for key, part in item.items() if key != "name"})
        names.append(named)
    return Collection(boards, names, name)


# Writing


def with_grid(board: dict[str, Any]) -> dict[str, Any]:
    """A board in the document's format, its grid made from its sequence; IllegalMove if its steps jump."""
    size, actions = coded({key: board[key] for key in BOARD_KEYS})
    grid = grid_of(steps_of(actions, size), size)
    return {"boardSize": size, "grid": grid, "sequence": board["sequence"]}


def format_collection(boards: Iterable[dict[str, Any]], names: Iterable[str] = (), name: str = "") -> str:
    """A collection as JSON, one board a line."""
    called = [*names]
    lines = []
    for number, board in enumerate(boards):
        title = called[number] if number < len(called) else ""
        lines.append(json.dumps({**({"name": title} if title else {}), **with_grid(board)}, separators=(",", ":")))
    head = f'{{"name":{json.dumps(name)},"boards":[' if name else '{"boards":['
    return head + "\n" + ",\n".join(lines) + "\n]}\n"


def add_to_collection(path: str, board: dict[str, Any], name: str = "") -> int:
    """Add a board to a collection, which is made if there is none; how many there are now."""
    old = read_boards(path) if Path(path).exists() else Collection([])
    if old.boards and old.size != board["boardSize"]:
        raise ValueError(f"{path} holds boards of size {old.size}, and this one has size {board['boardSize']}")
    names = [*old.names, *[""] * (len(old.boards) - len(old.names)), name]
    write_text(path, format_collection([*old.boards, board], names, old.name))
    return len(old.boards) + 1


def write_text(path: str, text: str) -> None:
    """Write a file all at once; ValueError says why it cannot be."""
    write_bytes(path, gzip.compress(text.encode()) if path.endswith(".gz") else text.encode())


def write_bytes(path: str, data: bytes) -> None:
    """The same for bytes."""
    try:
        write_whole(Path(path), data)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error
