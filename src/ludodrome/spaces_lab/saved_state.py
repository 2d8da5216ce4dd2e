"""Test sessions: rounds that were simulated and kept, to be replayed later.

They are small JSON files in the user's data folder, named by a number; ``last`` is the newest.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.games.spaces.simulation import Round, simulate
from ludodrome.lab.files import read_value, write_text
from ludodrome.puzzle.book import data_folder
from ludodrome.validation import show

KEYS = ("rules", "boards", "points", "ended")


@dataclass(frozen=True, slots=True)
class Session:
    """A round that was kept."""

    number: int
    rules: str
    boards: list[dict[str, Any]]
    points: list[int]
    ended: str

    def replay(self) -> Round:
        """The round once more; IllegalMove if its boards are not playable."""
        return simulate(self.boards[0], self.boards[1], self.boards[0]["boardSize"], self.rules)


def folder() -> Path:
    """Where sessions are kept; ValueError if the user has no home."""
    try:
        return data_folder() / "spaces-sessions"
    except OSError as error:
        raise ValueError(f"there is no place to keep sessions: {error}") from error


def numbers() -> list[int]:
    """The numbers of all sessions, ascending."""
    return sorted(int(file.stem) for file in folder().glob("*.json") if file.stem.isdecimal())


def save(boards: list[dict[str, Any]], rules: str, round_: Round) -> int:
    """Keep a round; its number."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder()} cannot be made: {error.strerror or error}") from error
    number = max(numbers(), default=0) + 1
    value = {"rules": rules, "boards": boards, "points": round_.points, "ended": round_.ended}
    write_text(str(folder() / f"{number}.json"), json.dumps(value) + "\n")
    return number


def load(number: int | None = None) -> Session:
    """A session, by default the last; ValueError if there is none, or its file is not right."""
    there = numbers()
    if not there:
        raise ValueError("no session is kept yet: `simulate A B --save` keeps one")
    if number is None:
        number = there[-1]
    if number not in there:
        raise ValueError(f"there is no session {number}; there are {', '.join(map(str, there[-10:]))}")
    path = folder() / f"{number}.json"
    value = read_value(str(path))
    if type(value) is not dict or value.keys() != {*KEYS}:
        raise ValueError(f"{path}: a session is an object with the keys {', '.join(KEYS)}, not {show(value)}")
    boards = value["boards"]
    if type(boards) is not list or len(boards) != 2 or not all(type(b) is dict and "boardSize" in b for b in boards):
        raise ValueError(f"{path}: boards is a list of two boards, not {show(boards)}")
    return Session(number, value["rules"], boards, value["points"], value["ended"])
