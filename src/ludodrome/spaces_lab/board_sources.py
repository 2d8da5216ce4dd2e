"""Where the boards of a test come from: codes, JSON, files, the builder, random, generated and best-response boards.

A *source* is a text, or a board in JSON. ``BoardReader`` turns the two sources of a test into boards. It reads each
file once and remembers which ones it has read.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ludodrome.games.spaces.best_response import Response, respond
from ludodrome.games.spaces.boards import DECK, encode_board, format_board, format_code, parse_board
from ludodrome.games.spaces.counting import quick_count
from ludodrome.games.spaces.generation import BoardWalk
from ludodrome.games.spaces.legality import check, refusal
from ludodrome.games.spaces.sampling import UNIFORM, quick, sample
from ludodrome.spaces_lab import saved_state
from ludodrome.spaces_lab.board_files import (
    Collection,
    find_entry,
    is_code,
    read_boards,
    split_entry,
    without_entry_keys,
)
from ludodrome.validation import plural, show

LabBoard: TypeAlias = "dict[str, Any] | bytes"
"""A board as JSON, or the actions of a legal board."""

PLAYABLE, LEGAL = DEGREES = ("playable", "legal")
"""What the boards of a test must be."""
BUILDER, RANDOM, GENERATED, BEST_RESPONSE = WORDS = ("builder", "random", "generated", "best-response")
MAX_BOARDS = 1_000_000
"""Maximum number of boards of one side."""
MAX_INDEX = 50_000_000
"""Maximum number of a generated board."""
MAX_NOTES = 20
"""Maximum number of boards of a side that are named as not legal."""
_GENERATED = re.compile(r"generated(?::([0-9]{1,12})(?:-([0-9]{1,12}))?)?", re.ASCII)


class NotLegal(ValueError):
    """A test wants legal boards and has one that is not; the sentence names step and rule."""


@dataclass(slots=True)
class Side:
    """The boards of one side of a test."""

    source: str
    """The source as it was written."""
    size: int
    boards: list[LabBoard]
    names: list[str] = field(default_factory=list)
    """Names by board; may be empty."""
    sampled: bool = False
    """Whether the boards are a random sample."""
    uniform: bool = True
    """Whether all legal boards were equally likely."""
    notes: list[str] = field(default_factory=list)
    """Boards that are not legal, each with step and rule."""

    def name(self, at: int) -> str:
        """The name of a board, or its code."""
        named = self.names[at] if at < len(self.names) else ""
        return named or code_of(self.boards[at], self.size)

    def json_board(self, at: int) -> dict[str, Any]:
        """A board as JSON."""
        return json_of(self.boards[at], self.size)


def json_of(board: LabBoard, size: int) -> dict[str, Any]:
    """A board as JSON."""
    return format_board(board, size) if isinstance(board, bytes) else board


def code_of(board: LabBoard, size: int) -> str:
    """The code of a board; empty for a board whose steps jump."""
    try:
        return format_code(board, size) if isinstance(board, bytes) else encode_board(board)
    except ValueError:
        return ""


def check_source(value: Any, where: str) -> None:
    """Raise ValueError if a value cannot be the source of a board. Files are not looked at."""
    if type(value) is dict:
        return
    if type(value) is not str or not value.strip():
        raise ValueError(
            f"{where} is a board: a code, a file, an object or one of {', '.join(WORDS)}; not {show(value)}"
        )
    if value.startswith(GENERATED):
        _generated_range(value)


class BoardReader:
    """Finds the boards of tests. Files and best responses are kept for the next test."""

    def __init__(self) -> None:
        self.files: set[Path] = set()
        """The files that were read, or were looked for and not found."""
        self._collections: dict[Path, Collection] = {}
        self._responses: dict[tuple[str, str], Response] = {}

    def sides(
        self, sources: tuple[Any, Any], folder: Path, rules: str, size: int | None, count: int, seed: int, degree: str
    ) -> tuple[Side, Side]:
        """The two sides of a test; ValueError says what is wrong with a source, NotLegal which board is not legal.

        ``folder``: where relative paths start. ``count`` and ``seed``: of random boards; the opponent's are those of
        `spaces sample --seed`, the player's those of the next seed.
        """
        found: list[Side | None] = [self._given(source, folder, rules, degree) for source in sources]
        sizes = {side.size for side in found if side is not None} | ({size} if size is not None else set())
        if len(sizes) > 1:
            raise ValueError(
                f"the boards of a test have one size, and these have {' and '.join(map(str, sorted(sizes)))}"
            )
        for seat, source in enumerate(sources):
            if found[seat] is None and source != BEST_RESPONSE:
                if not sizes:
                    raise ValueError(
                        f"the source {show(source)} needs a size: give `size`, or a board on the other side"
                    )
                [grid] = sizes
                made = (
                    _random(grid, rules, count, seed + (1 - seat)) if source == RANDOM else _listed(source, grid, rules)
                )
                found[seat] = made
        return self._answered(found, 0, rules), self._answered(found, 1, rules)

    # Boards that are given

    def _given(self, source: Any, folder: Path, rules: str, degree: str) -> Side | None:
        """The side of a source that names its boards; None for random, generated and best-response boards."""
        if type(source) is dict:
            return _checked(Side("JSON", 0, [without_entry_keys(source)], [_text(source.get("name"))]), rules, degree)
        text = source.strip()
        if text in (RANDOM, BEST_RESPONSE) or _GENERATED.fullmatch(text):
            return None
        if text.startswith("{"):
            return self._given(_parsed(text), folder, rules, degree)
        if text == BUILDER:
            draft = saved_state.draft_file()
            self.files.add(draft)
            return _checked(Side(BUILDER, 0, [saved_state.load_draft().board], [BUILDER]), rules, degree)
        if text.startswith(("all:", "deck:")):
            return self._many(text, folder, rules, degree)
        if is_code(text):
            return _checked(Side(text, 0, [parse_board(text)]), rules, degree)
        path, entry = split_entry(os.path.join(folder, text))
        collection = self._collection(path)
        at = find_entry(collection, entry, text.removesuffix(f"#{entry}"))
        names = collection.names[at : at + 1]
        return _checked(Side(text, 0, [collection.boards[at]], names), rules, degree)

    def _many(self, text: str, folder: Path, rules: str, degree: str) -> Side:
        """All boards of a file. Boards that are not legal are named and, where the test wants legal ones, left out."""
        word, _, path = text.partition(":")
        collection = self._collection(os.path.join(folder, path))
        if word == "deck" and len(collection.boards) != DECK:
            raise ValueError(f"{path}: a deck has {DECK} boards, and this has {len(collection.boards)}")
        side = Side(text, _size(collection.boards[0]), [])
        for at, board in enumerate(collection.boards):
            wrong = refusal(check(board, side.size, rules))
            name = (collection.names[at] if at < len(collection.names) else "") or f"board {at + 1}"
            if wrong and len(side.notes) < MAX_NOTES:
                side.notes.append(f"{name} is not legal under {rules}: {wrong}")
            if not wrong or degree == PLAYABLE:
                side.boards.append(board)
                side.names.append(name)
        if not side.boards:
            raise NotLegal(f"{path}: no board is legal under {rules}: {'; '.join(side.notes[:3])}")
        return side

    def _collection(self, path: str) -> Collection:
        file = Path(path).absolute()
        self.files.add(file)
        if file not in self._collections:
            self._collections[file] = read_boards(path, alike=False)
        return self._collections[file]

    # Best responses

    def _answered(self, found: list[Side | None], seat: int, rules: str) -> Side:
        side, other = found[seat], found[1 - seat]
        if side is not None:
            return side
        if other is None:
            raise ValueError("best-response answers the other board, so the other side must be a board")
        if len(other.boards) != 1:
            raise ValueError(f"best-response answers one board, and the other side has {len(other.boards)}")
        board = other.json_board(0)
        key = (json.dumps(board, sort_keys=True), rules)
        if key not in self._responses:
            self._responses[key] = respond(board, other.size, rules)
        best = self._responses[key]
        doubt = f"the best response is not proven: its margin is {best.margin:+d}, and none is above {best.bound:+d}"
        return Side(BEST_RESPONSE, other.size, [best.board], notes=[] if best.proven else [doubt])


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _size(board: Any) -> int:
    claimed = board.get("boardSize") if type(board) is dict else None
    if type(claimed) is not int or not 2 <= claimed <= 100:
        raise ValueError(f"the boardSize of a board is a whole number from 2 to 100, not {show(claimed)}")
    return claimed


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"this board is not JSON: {error}") from error
    if type(value) is not dict:
        raise ValueError(f"a board in JSON is an object, not {show(value)}")
    return value


def _checked(side: Side, rules: str, degree: str) -> Side:
    """A side of one board, with its size and with a note if it is not legal."""
    side.size = _size(side.boards[0])
    wrong = refusal(check(side.boards[0], side.size, rules))
    if wrong:
        sentence = f"{side.name(0) or 'the board'} is not legal under {rules}: {wrong}"
        if degree == LEGAL:
            raise NotLegal(sentence)
        side.notes.append(sentence)
    return side


# Boards that are made


def _random(size: int, rules: str, count: int, seed: int) -> Side:
    if size <= UNIFORM[rules]:
        boards: Iterable[LabBoard] = sample(size, count, rules, seed)
        return Side(RANDOM, size, list(boards), sampled=True)
    made: list[LabBoard] = [quick(size, rules, seed * 1_000_003 + one) for one in range(count)]
    return Side(RANDOM, size, made, sampled=True, uniform=False)


def _generated_range(text: str) -> tuple[int, int | None]:
    """First and last number of ``generated``, ``generated:7`` or ``generated:7-20``; None: to the end."""
    match = _GENERATED.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"generated boards are written generated, generated:7 or generated:7-20, not {show(text)}")
    if match[1] is None:
        return 1, None
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= MAX_INDEX:
        raise ValueError(f"generated boards have numbers from 1 to {MAX_INDEX:,}, in ascending order, not {show(text)}")
    if last - first >= MAX_BOARDS:
        raise ValueError(f"a side has at most {MAX_BOARDS:,} boards, and {text} are {last - first + 1:,}")
    return first, last


def _listed(source: str, size: int, rules: str) -> Side:
    first, last = _generated_range(source)
    total = quick_count(size, rules)
    if last is None and (total is None or total > MAX_BOARDS):
        many = "too many to count" if total is None else plural(total, "board")
        raise ValueError(
            f"all legal boards of size {size} under {rules} are {many}: give a range like generated:1-1000"
        )
    if total is not None and first > total:
        raise ValueError(f"size {size} has {plural(total, 'legal board')} under {rules}, so there is no {source}")
    boards: list[LabBoard] = []
    walk, passed = BoardWalk(size, rules), 0
    while last is None or passed < last:
        chunk = walk.next(None if last is None else last - passed)
        if not len(chunk.ends):
            break
        if passed + len(chunk.ends) >= first:
            boards += chunk.boards()[max(0, first - 1 - passed) :]
        passed += len(chunk.ends)
    names = [f"generated:{first + at}" for at in range(len(boards))] if len(boards) < 1000 else []
    return Side(source, size, boards, names)
