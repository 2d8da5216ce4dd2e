"""All boards into a file, as codes, as JSON or as a NumPy array, in bounded memory, and resumable.

While it is made, the file is called ``FILE.part``, and ``FILE.state`` says how far it is good; both
go when it is done, and only then is there a file of the asked name. A run that was killed is taken
up at the last state.
"""

import gzip
import io
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.count import COUNTABLE, count_boards
from ludodrome.games.spaces.generate_ import Chunk, Walk
from ludodrome.games.spaces.notation import format_code
from ludodrome.games.spaces.rules import longest
from ludodrome.lab.files import read_value, write_text

FORMATS = ("codes", "json", "numpy")
PADDING = 255
"""In a NumPy array, what stands after a board's last action."""
_STATE_SECONDS = 1.0


def format_of(path: str) -> str:
    """The format that a file's name asks for."""
    name = path.removesuffix(".gz")
    return "json" if name.endswith(".json") else "numpy" if name.endswith(".npy") else "codes"


def total_boards(size: int, rules: str, limit: int | None) -> int | None:
    """How many boards there will be, where that is known."""
    count = count_boards(size, rules) if size <= min(COUNTABLE[rules], 10) else None
    if count is None or limit is None:
        return count if limit is None else limit
    return min(count, limit)


class BoardFile:
    """A file of all boards in the making."""

    def __init__(self, path: str, size: int, rules: str, limit: int | None, resume: bool) -> None:
        self.path, self.size, self.rules, self.limit = path, size, rules, limit
        self.format = format_of(path)
        self.total = total_boards(size, rules, limit)
        if self.format == "numpy" and path.endswith(".gz"):
            raise ValueError(f"{path}: a NumPy file is not packed; leave out .gz")
        if self.format == "numpy" and self.total is None:
            raise ValueError(f"nobody knows how many boards of size {size} there are: a NumPy file needs a --limit")
        self.part, self.state = Path(path + ".part"), Path(path + ".state")
        self.done, after, self._good = self._resumed() if resume else (0, None, 0)
        self.walk = Walk(size, rules, after)

    def _resumed(self) -> tuple[int, str | None, int]:
        """Boards, the last one's code, and bytes that are good."""
        if not (self.part.exists() and self.state.exists()):
            return 0, None, 0
        state = read_value(str(self.state))
        asked: dict[str, Any] = {"size": self.size, "rules": self.rules, "limit": self.limit}
        keys = {*asked, "done", "after", "bytes"}
        if type(state) is not dict or state.keys() != keys or self.part.stat().st_size < state["bytes"]:
            raise ValueError(f"{self.state} is not the state of {self.part}: delete both, and begin anew")
        if any(state[key] != value for key, value in asked.items()):
            raise ValueError(
                f"{self.part} was begun with another size, rule set or limit: delete it, or ask for the same"
            )
        return state["done"], state["after"], state["bytes"]

    def run(self, report: Callable[[int, int | None], None]) -> int:
        """Make the file; how many boards there are. Whatever stops it leaves a part that can be taken up."""
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
            self._write(file, self._body(chunk))
            self.done += len(chunk.ends)
            report(self.done, self.total)
            if time.monotonic() - noted > _STATE_SECONDS:
                self._note(file, chunk)
                noted = time.monotonic()
        self._write(file, self._tail())

    def _note(self, file: IO[bytes], chunk: Chunk) -> None:
        file.flush()
        state = {"size": self.size, "rules": self.rules, "limit": self.limit, "done": self.done}
        last = format_code(chunk.boards()[-1], self.size)
        write_text(str(self.state), json.dumps({**state, "after": last, "bytes": file.tell()}) + "\n")

    def _write(self, file: IO[bytes], data: bytes) -> None:
        if data:
            file.write(gzip.compress(data, 6) if self.path.endswith(".gz") else data)

    def _head(self) -> bytes:
        if self.format == "json":
            return b"[\n"
        if self.format == "numpy":
            head = io.BytesIO()
            shape = (self.total, longest(self.size))
            np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": shape})
            return head.getvalue()
        return b""

    def _body(self, chunk: Chunk) -> bytes:
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
