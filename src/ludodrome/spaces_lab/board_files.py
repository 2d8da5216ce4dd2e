"""Boards, collections and decks in files: JSON with a grid, or codes, one per line.

Error sentences name the place in the file. Files are replaced atomically: readers see the old file
or the new one, never a part.
"""

import gzip
import io
import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from ludodrome.atomic_io import write_whole
from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import (
    BOARD_KEYS,
    DECK,
    encode_board,
    format_board,
    format_code,
    grid_of,
    parse_board,
    parse_playable,
    steps_of,
)
from ludodrome.games.spaces.counting import count_boards
from ludodrome.games.spaces.generation import EVERYTHING, BoardChunk, BoardFilter, BoardWalk
from ludodrome.games.spaces.ranking import MAX_RANKED, board_at
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sampling import quick
from ludodrome.validation import plural, show

MAX_BYTES = 1 << 30
"""Maximum size of a file that is read."""
ENTRY_KEYS = ("name", "index", "createdAt", "updatedAt", "description", "notes", "tags", "id")
"""What a collection may say about a board besides the board itself."""


@dataclass(slots=True)
class Collection:
    """Boards, each with a name that may be empty and with the index that its file gives it, if any."""

    boards: list[dict[str, Any]]
    names: list[str] = field(default_factory=list)
    name: str = ""
    indices: list[int | None] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The size of its boards."""
        return int(self.boards[0]["boardSize"])


# Reading


def read_board(text: str) -> dict[str, Any]:
    """The board of a code, of a file with one board, of ``FILE#3`` or ``FILE#name``; ValueError names the place."""
    if is_code(text):
        return parse_board(text)
    path, entry = split_entry(text)
    collection = read_boards(path, alike=False)
    return collection.boards[find_entry(collection, entry, path)]


def split_entry(text: str) -> tuple[str, str]:
    """Path and entry of ``FILE#entry``; the entry is empty if none is named, or if a file is called that."""
    if "#" not in text or os.path.exists(text):
        return text, ""
    parts = text.split("#")
    cuts = [("#".join(parts[:at]), "#".join(parts[at:])) for at in range(len(parts) - 1, 0, -1)]
    return next((cut for cut in cuts if os.path.exists(cut[0])), cuts[0])


def find_entry(collection: Collection, entry: str, path: str) -> int:
    """The position of the board that an entry names: by its name, its number from 1, or as ``index:0``.

    An empty entry is the only board. ValueError says what the collection has.
    """
    boards, names = collection.boards, collection.names
    if not entry and len(boards) == 1:
        return 0
    if not entry:
        raise ValueError(f"{path} holds {len(boards)} boards: choose one, like {path}#1")
    if names.count(entry) > 1:
        raise ValueError(f"{path} holds {names.count(entry)} boards with the name {show(entry)}: choose by number")
    if entry in names:
        return names.index(entry)
    if entry.startswith("index:"):
        wanted = entry.removeprefix("index:")
        found = [at for at, index in enumerate(collection.indices) if index is not None and str(index) == wanted]
        if len(found) != 1:
            raise ValueError(f"{path} holds {plural(len(found), 'board')} with the index {show(wanted)}")
        return found[0]
    if entry.isascii() and entry.isdecimal() and 1 <= int(entry) <= len(boards):
        return int(entry) - 1
    known = ", ".join(show(name) for name in names[:10] if name)
    raise ValueError(
        f"{path} holds {'board 1' if len(boards) == 1 else f'boards 1 to {len(boards)}'}"
        f"{f', with the names {known}' if known else ''}, not {show(entry)}"
    )


def is_code(text: str) -> bool:
    """Whether a text is a code and not the name of a file."""
    head = text.strip().partition(":")
    return bool(head[1]) and head[0].isdecimal() and not os.path.exists(text)  # a Path cannot hold a text this long


def read_boards(path: str, alike: bool = True) -> Collection:
    """All boards of a file: a board, a list, a collection or a deck in JSON, or codes; ValueError names the place.

    ``alike``: they must all have the same size.
    """
    text = read_text(path)
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
    """The JSON value in a file."""
    return _loads(read_text(path), path)


def read_text(path: str) -> str:
    """The text of a file, which may be compressed; ValueError says why it cannot be read."""
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise ValueError(f"{path} is larger than a gigabyte and is not read")
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{path} cannot be read: {why}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}, byte {error.start}: this is not UTF-8 text") from error


def _loads(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
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
    """The boards of a JSON text. Legality is not checked."""
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
    boards, names, indices = [], [], []
    for number, item in enumerate(value, 1):
        place = f"{path}, board {number}"
        if type(item) is str:
            item = _coded(item, place)
        if type(item) is not dict:
            raise ValueError(f"{place}: a board is an object or a code, not {show(item)}")
        named = item.get("name", "")
        if type(named) is not str:
            raise ValueError(f"{place}: its name is a text, not {show(named)}")
        index = item.get("index")
        boards.append(without_entry_keys(item))
        names.append(named)
        indices.append(index if type(index) is int else None)
    return Collection(boards, names, name, indices)


def without_entry_keys(item: dict[str, Any]) -> dict[str, Any]:
    """The board alone, without what a collection says about it."""
    return {key: part for key, part in item.items() if key not in ENTRY_KEYS}


# Writing


def with_grid(board: dict[str, Any]) -> dict[str, Any]:
    """A board with the grid that follows from its sequence; IllegalMove if a step jumps."""
    size, actions = parse_playable({key: board[key] for key in BOARD_KEYS})
    grid = grid_of(steps_of(actions, size), size)
    return {"boardSize": size, "grid": grid, "sequence": board["sequence"]}


def format_collection(boards: Iterable[dict[str, Any]], names: Iterable[str] = (), name: str = "") -> str:
    """A collection as JSON, one board per line."""
    called = [*names]
    lines = []
    for number, board in enumerate(boards):
        title = called[number] if number < len(called) else ""
        lines.append(json.dumps({**({"name": title} if title else {}), **with_grid(board)}, separators=(",", ":")))
    head = f'{{"name":{json.dumps(name)},"boards":[' if name else '{"boards":['
    return head + "\n" + ",\n".join(lines) + "\n]}\n"


def add_to_collection(path: str, board: dict[str, Any], name: str = "") -> int:
    """Add a board to a collection, creating it if necessary; return the number of boards."""
    old = read_boards(path) if Path(path).exists() else Collection([])
    if old.boards and old.size != board["boardSize"]:
        raise ValueError(f"{path} holds boards of size {old.size}, and this one has size {board['boardSize']}")
    names = [*old.names, *[""] * (len(old.boards) - len(old.names)), name]
    write_text(path, format_collection([*old.boards, board], names, old.name))
    return len(old.boards) + 1


def write_text(path: str, text: str) -> None:
    """Write a file atomically; ValueError says why it cannot be written."""
    write_bytes(path, gzip.compress(text.encode()) if path.endswith(".gz") else text.encode())


def write_bytes(path: str, data: bytes) -> None:
    """The same for bytes."""
    try:
        write_whole(Path(path), data)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error


# All boards in one file: codes, JSON or a NumPy array, in bounded memory, resumable
#
# The file is written as ``FILE.part``, with the progress in ``FILE.state``; both are removed when it
# is complete and renamed. A run that was killed resumes from the last saved progress.


FORMATS = ("codes", "json", "numpy")
PADDING = 255
"""Value after a board's last action in a NumPy array."""
_STATE_SECONDS = 1.0


def format_of(path: str) -> str:
    """The format for a file name."""
    name = path.removesuffix(".gz")
    return "json" if name.endswith(".json") else "numpy" if name.endswith(".npy") else "codes"


class BoardFile:
    """A file of all boards, and its progress."""

    def __init__(
        self,
        path: str,
        size: int,
        rules: str,
        limit: int | None,
        resume: bool = False,
        where: BoardFilter = EVERYTHING,
    ) -> None:
        self.path, self.size, self.rules, self.limit, self.where = path, size, rules, limit, where
        self.format = format_of(path)
        count, exact = where.count(size, rules)
        self.most = count if limit is None else limit if count is None else min(count, limit)
        """The number of boards to write, or an upper bound of it; None if neither is known."""
        self.total = self.most if exact or count is None else None
        if self.format == "numpy" and path.endswith(".gz"):
            raise ValueError(f"{path}: a NumPy file is not compressed; leave out .gz")
        if self.format == "numpy" and self.total is None:
            what = (
                f"with {where} is not known: write codes or JSON"
                if where != EVERYTHING
                else ("is not known: a NumPy file needs a --limit")
            )
            raise ValueError(f"the number of boards of size {size} {what}")
        self.part, self.state = Path(path + ".part"), Path(path + ".state")
        self.done, after, self._good = self._resumed() if resume else (0, None, 0)
        self.walk = BoardWalk(size, rules, after, where=where)

    def _resumed(self) -> tuple[int, str | None, int]:
        """The number of boards, the last one's code, and the bytes written before."""
        if not (self.part.exists() and self.state.exists()):
            return 0, None, 0
        state = read_value(str(self.state))
        asked = self._asked()
        keys = {*asked, "done", "after", "bytes"}
        if type(state) is dict:
            state.setdefault("where", "")  # files of earlier versions
        if type(state) is not dict or state.keys() != keys or self.part.stat().st_size < state["bytes"]:
            raise ValueError(f"{self.state} is not the state of {self.part}: delete both and start again")
        if any(state[key] != value for key, value in asked.items()):
            raise ValueError(
                f"{self.part} was started with another size, rule set, limit or condition: delete it, or use the same"
            )
        return state["done"], state["after"], state["bytes"]

    def _asked(self) -> dict[str, Any]:
        return {"size": self.size, "rules": self.rules, "limit": self.limit, "where": str(self.where)}

    @property
    def started(self) -> bool:
        """Whether an earlier run is continued."""
        return self.done > 0

    def run(self, report: Callable[[int, int | None], None]) -> int:
        """Write the file and return the number of boards. An interrupted run can be resumed."""
        try:
            with open(self.part, "r+b" if self._good else "wb") as file:
                file.truncate(self._good)
                file.seek(self._good)
                if not self._good:
                    self._write(file, self._head())
                self._fill(file, report)
            os.replace(self.part, self.path)
            self.state.unlink(missing_ok=True)
        except OSError as error:
            raise ValueError(f"{error.filename or self.part} cannot be written: {error.strerror or error}") from error
        return self.done

    def _fill(self, file: IO[bytes], report: Callable[[int, int | None], None]) -> None:
        noted = time.monotonic()
        while True:
            chunk = self.walk.next(None if self.limit is None else self.limit - self.done)
            if not len(chunk.ends):
                break
            self._write(file, self.body(chunk))
            self.done += len(chunk.ends)
            report(self.done, self.total)
            if time.monotonic() - noted > _STATE_SECONDS:
                self._note(file, chunk)
                noted = time.monotonic()
        self._write(file, self._tail())

    def _note(self, file: IO[bytes], chunk: BoardChunk) -> None:
        file.flush()
        last = format_code(chunk.boards()[-1], self.size)
        state = {**self._asked(), "done": self.done, "after": last, "bytes": file.tell()}
        write_text(str(self.state), json.dumps(state) + "\n")

    def _write(self, file: IO[bytes], data: bytes) -> None:
        if data:
            file.write(self.packed(data))

    def packed(self, data: bytes) -> bytes:
        """Bytes as they are in the file."""
        return gzip.compress(data, 6, mtime=0) if self.path.endswith(".gz") else data

    def _head(self) -> bytes:
        if self.format == "json":
            return b"[\n"
        if self.format == "numpy":
            head = io.BytesIO()
            shape = (self.total, longest(self.size))
            np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": shape})
            return head.getvalue()
        return b""

    def body(self, chunk: BoardChunk) -> bytes:
        """Boards in the format of the file."""
        if self.format == "codes":
            return self.walk.codes(chunk)
        if self.format == "numpy":
            rows = np.full((len(chunk.ends), longest(self.size)), PADDING, np.uint8)
            for row, board in zip(rows, chunk.boards(), strict=True):
                row[: len(board)] = np.frombuffer(board, np.uint8)
            return rows.tobytes()
        lines = [json.dumps(format_board(board, self.size), separators=(",", ":")) for board in chunk.boards()]
        return (",\n" if self.done else "").encode() + ",\n".join(lines).encode()

    def _tail(self) -> bytes:
        return b"\n]\n" if self.format == "json" else b""


# What a file of many boards would take, from a small sample


MAX_UNASKED_BOARDS = 100_000_000
MAX_UNASKED_BYTES = 10**10
"""Files beyond either of these are written only if the user insists."""
_PLACES = 16
_AT_EACH = {"codes": 4096, "json": 128, "numpy": 512}
"""The sample: random places in the list, and boards at each of them."""
_STEP_BYTES = {"codes": 1, "json": 70, "numpy": 1}
"""An upper bound for one step."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What writing boards takes, from a sample."""

    boards: int
    """The number of boards, or an upper bound."""
    board_bytes: float
    boards_a_second: float

    @property
    def bytes(self) -> float:
        """The size of the file."""
        return self.boards * self.board_bytes

    @property
    def seconds(self) -> float:
        """The processor time it takes."""
        return self.boards / self.boards_a_second

    @property
    def is_large(self) -> bool:
        """Whether the file is beyond what is written without asking."""
        return self.boards > MAX_UNASKED_BOARDS or self.bytes > MAX_UNASKED_BYTES


def estimate(file: BoardFile) -> Estimate | None:
    """What a file would take, by a sample of its boards; None if it is surely small, or endless."""
    most = file.most
    if most is None:
        return None
    if most <= MAX_UNASKED_BOARDS and most * (longest(file.size) + 10) * _STEP_BYTES[file.format] <= MAX_UNASKED_BYTES:
        return None
    seconds, length, boards = 0.0, 0, 0
    for number, code in enumerate(["", *_places(file.size, file.rules)]):
        walk = BoardWalk(file.size, file.rules, code or None, _AT_EACH[file.format])
        begin = time.process_time()
        chunk = walk.next()
        data = file.packed(file.body(chunk))
        if number:  # the first one compiles
            seconds += time.process_time() - begin
            length += len(data)
            boards += len(chunk.ends)
    return Estimate(most, length / max(1, boards), max(1, boards) / max(seconds, 1e-9))


def _places(size: int, rules: str) -> list[str]:
    """Boards at random places of the list, always the same."""
    if size > MAX_RANKED[rules]:
        return [encode_board(quick(size, rules, seed)) for seed in range(_PLACES)]
    rng = random.Random(0)
    count = count_boards(size, rules)
    return [format_code(board_at(rng.randint(1, count), size, rules), size) for _ in range(_PLACES)]
