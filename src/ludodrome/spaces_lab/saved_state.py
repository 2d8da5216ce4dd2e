"""Saved rounds, the board being built, and the progress of solvers.

Saved rounds are small JSON files in the user's data folder, named by a number; the highest is the last. Sessions of
tests are in ``sessions.py``.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import format_code, parse_board, parse_code
from ludodrome.games.spaces.equilibria import Inspection, Mixture
from ludodrome.games.spaces.legality import check, refusal
from ludodrome.games.spaces.simulation import Round, simulate
from ludodrome.spaces_lab.board_files import read_value, write_text
from ludodrome.system import data_folder
from ludodrome.validation import show

KEYS = ("rules", "boards", "points", "ended")


@dataclass(frozen=True, slots=True)
class SavedRound:
    """A saved round."""

    number: int
    rules: str
    boards: list[dict[str, Any]]
    points: list[int]
    ended: str

    def replay(self) -> Round:
        """Play the round again; IllegalMove if its boards are not playable."""
        return simulate(self.boards[0], self.boards[1], self.boards[0]["boardSize"], self.rules)


def folder() -> Path:
    """The folder of the saved rounds; ValueError if the user has no home."""
    return user_folder() / "spaces-sessions"  # its name is older than the sessions of tests


def user_folder() -> Path:
    """The user's data folder; ValueError if the user has no home."""
    try:
        return data_folder()
    except OSError as error:
        raise ValueError(f"there is no folder for the state of spaces: {error}") from error


def numbers() -> list[int]:
    """The numbers of all saved rounds, ascending."""
    return sorted(int(file.stem) for file in folder().glob("*.json") if file.stem.isdecimal())


def make_folder(path: Path) -> None:
    """Create a folder if it is missing; ValueError says why it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{path} cannot be created: {error.strerror or error}") from error


def save(boards: list[dict[str, Any]], rules: str, round_: Round) -> int:
    """Save a round; return its number."""
    make_folder(folder())
    number = max(numbers(), default=0) + 1
    value = {"rules": rules, "boards": boards, "points": round_.points, "ended": round_.ended}
    write_text(str(folder() / f"{number}.json"), json.dumps(value) + "\n")
    return number


def load(number: int | None = None) -> SavedRound:
    """A saved round, by default the last; ValueError if there is none, or its file is damaged."""
    there = numbers()
    if not there:
        raise ValueError("no round is saved yet: `simulate A B --save` saves one")
    if number is None:
        number = there[-1]
    if number not in there:
        raise ValueError(f"there is no saved round {number}; there are {', '.join(map(str, there[-10:]))}")
    path = folder() / f"{number}.json"
    value = read_value(str(path))
    if type(value) is not dict or value.keys() != {*KEYS}:
        raise ValueError(f"{path}: a saved round is an object with the keys {', '.join(KEYS)}, not {show(value)}")
    boards = value["boards"]
    if type(boards) is not list or len(boards) != 2 or not all(type(b) is dict and "boardSize" in b for b in boards):
        raise ValueError(f"{path}: boards is a list of two boards, not {show(boards)}")
    return SavedRound(number, value["rules"], boards, value["points"], value["ended"])


# The draft: the board that the builder works on


@dataclass(frozen=True, slots=True)
class Draft:
    """The board that was built last, which may be unfinished."""

    code: str
    rules: str

    @property
    def board(self) -> dict[str, Any]:
        """The board as JSON."""
        return parse_board(self.code)


def draft_file() -> Path:
    """The file of the draft."""
    return user_folder() / "spaces-draft.json"


def save_draft(code: str, rules: str) -> None:
    """Save the board that is being built, as its code. An empty board is not saved.

    The builder does this at every step, so the file is replaced at once but not synchronised with the disk.
    """
    if not code:
        return
    path = draft_file()
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps({"rules": rules, "code": code}) + "\n", "utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error


def load_draft() -> Draft:
    """The board that was built last; ValueError if there is none, or its file is damaged."""
    path = draft_file()
    if not path.exists():
        raise ValueError("no board was built yet: `ludodrome spaces build` builds one")
    value = read_value(str(path))
    if type(value) is not dict or value.keys() != {"rules", "code"} or not all(type(v) is str for v in value.values()):
        raise ValueError(f"{path}: a draft is an object with the keys rules and code, not {show(value)}")
    parse_code(value["code"])
    return Draft(value["code"], value["rules"])


# Progress of solvers: the boards of a double oracle, and inspections


MAX_INSPECTED = 10**10
"""Maximum number of boards that are played one by one."""


def load_solver_boards(path: str, size: int, rules: str) -> list[bytes]:
    """The boards of an earlier search, or none. ValueError names the fault."""
    if not Path(path).exists():
        return []
    value = _state(path, {"size": size, "rules": rules}, ("boards",))
    if type(value["boards"]) is not list:
        raise ValueError(f"{path}: boards is a list of codes, not {show(value['boards'])}")
    boards = []
    for number, code in enumerate(value["boards"], 1):
        try:
            wrong = refusal(check(parse_board(code), size, rules))
        except IllegalMove as error:
            wrong = str(error)
        if wrong:
            raise ValueError(f"{path}, board {number}: {wrong}")
        boards.append(parse_code(code)[1])
    return boards


def save_solver_boards(path: str, size: int, rules: str, boards: Iterable[bytes]) -> None:
    """Save the boards of a search."""
    codes = [format_code(board, size) for board in boards]
    write_text(path, json.dumps({"size": size, "rules": rules, "boards": codes}) + "\n")


def load_inspection(mixture: Mixture, path: str | None) -> Inspection:
    """A new inspection, or the one saved in the file."""
    if path is None or not Path(path).exists():
        return Inspection(mixture)
    value = _state(path, {"size": mixture.size, "rules": mixture.rules}, ("after", "done", "best"))
    if not (type(value["after"]) is str and type(value["done"]) is int and type(value["best"]) is int):
        raise ValueError(f"{path}: after is a code, done and best are whole numbers")
    return Inspection(mixture, value["after"], value["done"], value["best"])


def save_inspection(path: str, inspection: Inspection) -> None:
    """Save the progress of an inspection."""
    mixture = inspection.mixture
    value = {"size": mixture.size, "rules": mixture.rules}
    write_text(
        path,
        json.dumps({**value, "after": inspection.after, "done": inspection.done, "best": inspection.best}) + "\n",
    )


def _state(path: str, asked: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    value = read_value(path)
    if type(value) is not dict or value.keys() != {*asked, *keys}:
        raise ValueError(f"{path}: a state has the keys {', '.join((*asked, *keys))}, and this file has others")
    if any(value[name] != one for name, one in asked.items()):
        raise ValueError(f"{path} was started with another size or rule set: delete it, or use the same")
    return value
