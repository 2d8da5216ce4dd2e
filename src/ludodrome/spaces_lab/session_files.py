"""Session files: the layout of a session of tests, the same for ours and for those of the public tool.

A session has ``tests`` with ``playerBoard``, ``opponentBoard`` and ``result``. Ours adds the rule set, names, notes,
tags, how the round ended, tables, and tests that could not be played. ``sessions.py`` keeps sessions for the user.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludodrome import validation
from ludodrome.games.spaces.boards import RULE_SETS
from ludodrome.games.spaces.legality import check, refusal
from ludodrome.games.spaces.simulation import Round, simulate
from ludodrome.spaces_lab.board_files import with_grid, without_entry_keys
from ludodrome.spaces_lab.board_sources import DEGREES, LEGAL, code_of
from ludodrome.spaces_lab.suites import ENDINGS, WINNERS, Expectation, winner_of
from ludodrome.validation import show

PUBLIC_RULES = "live"
"""The rule set of session files that name none."""


@dataclass(slots=True)
class SessionTest:
    """A round of a session."""

    number: int
    time: str
    boards: list[dict[str, Any]]
    names: list[str]
    """Names of the boards; may be empty."""
    points: tuple[int, int]
    rules: str = PUBLIC_RULES
    name: str = ""
    notes: str = ""
    tags: list[str] = field(default_factory=list)
    status: str = ""
    """Empty in the public tool's sessions, which expect nothing."""
    messages: list[str] = field(default_factory=list)
    collision: bool | None = None
    ended: str | None = None
    step: int | None = None
    squares: list[tuple[int, int] | None] = field(default_factory=lambda: [None, None])
    """Last squares of the pieces, on the common grid."""

    @property
    def size(self) -> int:
        """The size of its boards, or 0."""
        size = self.boards[0].get("boardSize")
        return size if type(size) is int and 2 <= size <= 100 else 0

    @property
    def title(self) -> str:
        """Its name, or the names of its boards."""
        return self.name or " against ".join(
            name or code_of(board, self.size) or "a board" for name, board in zip(self.names, self.boards, strict=True)
        )

    @property
    def result(self) -> str:
        """The result in a few words."""
        how = f", {self.ended} in step {self.step}" if self.ended else ", collision" if self.collision else ""
        return f"{self.points[0]} : {self.points[1]}{how}"

    def faults(self) -> list[str]:
        """Why its boards are not legal, a sentence for each board that is not."""
        sentences = []
        for name, board in zip(self.names, self.boards, strict=True):
            wrong = refusal(check(board, self.size or 3, self.rules))
            if wrong:
                title = name or code_of(board, self.size) or "a board"
                sentences.append(f"{title} is not legal under {self.rules}: {wrong}")
        return sentences

    def replay(self) -> Round:
        """Play the round again; IllegalMove if its boards are not playable."""
        return simulate(self.boards[0], self.boards[1], self.size or 3, self.rules)

    def expectation(self) -> Expectation:
        """What was recorded, as an expectation."""
        inside = [square if square is not None and 0 <= square[0] < self.size else None for square in self.squares]
        return Expectation(
            winner_of(self.points),
            self.points,
            self.ended,
            self.step,
            None,
            None,
            (inside[0], inside[1]),
            self.collision,
        )


@dataclass(slots=True)
class BoardSession:
    """A log of tests."""

    id: str
    name: str
    started: str
    tags: list[str] = field(default_factory=list)
    notes: str = ""
    tests: list[SessionTest] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    """Name, sources, rule set, seed, status and rows of each table."""
    unplayed: list[dict[str, Any]] = field(default_factory=list)
    """Name, status and messages of each test that could not be played."""
    number: int | None = None
    """None for a session that is only a file."""
    boards: str = LEGAL
    """What its boards must be when it is run as a suite."""

    def counts(self) -> dict[str, int]:
        """The number of entries by status; the status of a round without one is ``recorded``."""
        counts: dict[str, int] = {}
        for status in (one.status or "recorded" for one in self.tests):
            counts[status] = counts.get(status, 0) + 1
        for one in (*self.tables, *self.unplayed):
            counts[one["status"]] = counts.get(one["status"], 0) + 1
        return counts

    def test(self, number: int) -> SessionTest:
        """A round by its number; ValueError if there is none."""
        for one in self.tests:
            if one.number == number:
                return one
        known = f"{self.tests[0].number} to {self.tests[-1].number}" if self.tests else "none"
        raise ValueError(f"the session {show(self.name)} has no test {number}; its rounds have the numbers {known}")


# The layout of session files


def session_value(session: BoardSession, grids: bool = False) -> dict[str, Any]:
    """A session as JSON. ``grids``: boards with the drawn grid, as the public tool writes them."""
    return {
        "id": session.id,
        "name": session.name,
        "tags": session.tags,
        "notes": session.notes,
        "startTime": session.started,
        "boards": session.boards,
        "tests": [_test_value(one, grids) for one in session.tests],
        "tables": session.tables,
        "unplayed": session.unplayed,
    }


def _test_value(test: SessionTest, grids: bool) -> dict[str, Any]:
    boards = [
        {**(_drawn(board) if grids else board), **({"name": name} if name else {})}
        for board, name in zip(test.boards, test.names, strict=True)
    ]
    places = [None if one is None else {"row": one[0], "col": one[1]} for one in test.squares]
    return {
        "testNumber": test.number,
        "timestamp": test.time,
        "playerBoard": boards[0],
        "opponentBoard": boards[1],
        "result": {
            "winner": winner_of(test.points),
            "playerScore": test.points[0],
            "opponentScore": test.points[1],
            "playerFinalPosition": places[0],
            "opponentFinalPosition": places[1],
            "collision": test.collision,
            "ended": test.ended,
            "step": test.step,
        },
        "rules": test.rules,
        "name": test.name,
        "notes": test.notes,
        "tags": test.tags,
        "status": test.status,
        "messages": test.messages,
    }


def _drawn(board: dict[str, Any]) -> dict[str, Any]:
    try:
        return with_grid(board)
    except (ValueError, KeyError):  # a board whose steps jump keeps its sequence only
        return board


def is_session(value: Any) -> bool:
    """Whether a JSON value looks like a session and not like a suite."""
    tests = value.get("tests") if type(value) is dict else None
    return type(tests) is list and (
        any(type(one) is dict and "playerBoard" in one for one in tests) or ("startTime" in value)
    )


def parse_session(value: Any, path: str) -> BoardSession:
    """The session of a JSON value; ValueError names the place. Whether boards are legal is not checked."""
    if not is_session(value):
        raise ValueError(f"{path}: a session is an object with a list 'tests' of boards and results, not {show(value)}")
    texts = {key: _text(value.get(key, ""), f"{path}: {key}") for key in ("id", "name", "notes", "startTime")}
    session = BoardSession(texts["id"], texts["name"] or Path(path).stem, texts["startTime"], notes=texts["notes"])
    session.tags = _texts(value.get("tags", []), f"{path}: tags")
    session.boards = validation.choice(value.get("boards", LEGAL), DEGREES, f"{path}: boards", ValueError)
    session.tests = [_parse_test(one, f"{path}, test {at}", at) for at, one in enumerate(value["tests"], 1)]
    session.tables = [
        _parse_table(one, f"{path}: a table") for one in _list(value.get("tables", []), f"{path}: tables")
    ]
    session.unplayed = [
        _parse_entry(one, f"{path}: an unplayed test") for one in _list(value.get("unplayed", []), f"{path}: unplayed")
    ]
    return session


def _parse_test(item: Any, where: str, at: int) -> SessionTest:
    if type(item) is not dict:
        raise ValueError(f"{where}: a test is an object, not {show(item)}")
    boards = [_part(item, key, where) for key in ("playerBoard", "opponentBoard")]
    result = _part(item, "result", where)
    points = [
        validation.integer(result.get(key), 0, 10**6, f"{where}: {key}", ValueError)
        for key in ("playerScore", "opponentScore")
    ]
    winner = validation.choice(result.get("winner"), WINNERS, f"{where}: winner", ValueError)
    if winner != winner_of(points):
        raise ValueError(f"{where}: the winner is {winner!r}, and the points are {points[0]} : {points[1]}")
    collision = result.get("collision")
    ended = result.get("ended")
    return SessionTest(
        validation.integer(item.get("testNumber", at), 1, 10**9, f"{where}: testNumber", ValueError),
        _text(item.get("timestamp", ""), f"{where}: timestamp"),
        [without_entry_keys(board) for board in boards],
        [_text(board.get("name", ""), f"{where}: the name of a board") for board in boards],
        (points[0], points[1]),
        validation.choice(item.get("rules", PUBLIC_RULES), RULE_SETS, f"{where}: rules", ValueError),
        _text(item.get("name", ""), f"{where}: name"),
        _text(item.get("notes", ""), f"{where}: notes"),
        _texts(item.get("tags", []), f"{where}: tags"),
        _text(item.get("status", ""), f"{where}: status"),
        _texts(item.get("messages", []), f"{where}: messages"),
        collision if type(collision) is bool else None,
        None if ended is None else validation.choice(ended, ENDINGS, f"{where}: ended", ValueError),
        None
        if result.get("step") is None
        else validation.integer(result["step"], 1, 10**6, f"{where}: step", ValueError),
        [_square(result.get(f"{side}FinalPosition")) for side in ("player", "opponent")],
    )


def _part(item: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    part = item.get(key)
    if type(part) is not dict:
        raise ValueError(f"{where}: {key} is an object, not {show(part)}")
    return part


def _square(value: Any) -> tuple[int, int] | None:
    if type(value) is not dict or type(value.get("row")) is not int or type(value.get("col")) is not int:
        return None
    return value["row"], value["col"]


def _text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise ValueError(f"{where} is a text, not {show(value)}")
    return value


def _texts(value: Any, where: str) -> list[str]:
    if type(value) is not list:
        raise ValueError(f"{where} is a list of texts, not {show(value)}")
    return [_text(one, where) for one in value]


def _list(value: Any, where: str) -> list[Any]:
    if type(value) is not list:
        raise ValueError(f"{where} is a list, not {show(value)}")
    return value


def _parse_entry(value: Any, where: str) -> dict[str, Any]:
    """An object with name, status and messages."""
    if type(value) is not dict:
        raise ValueError(f"{where} is an object, not {show(value)}")
    for key in ("name", "status"):
        _text(value.get(key), f"{where}: {key}")
    _texts(value.get("messages"), f"{where}: messages")
    return value


def _parse_table(item: Any, where: str) -> dict[str, Any]:
    """The same with rule set, sources and rows."""
    value = _parse_entry(item, where)
    validation.choice(value.get("rules"), RULE_SETS, f"{where}: rules", ValueError)
    validation.items(value.get("sources"), 2, f"{where}: sources", ValueError)
    _texts(value["sources"], f"{where}: sources")
    validation.whole(value.get("seed", 0), f"{where}: seed", ValueError)
    for row in _list(value.get("rows"), f"{where}: rows"):
        validation.fields(row, ("name", "code", "won", "drawn", "lost", "points"), f"{where}: a row", ValueError)
        for key in ("name", "code"):
            _text(row[key], f"{where}: {key}")
        points = validation.items(row["points"], 2, f"{where}: points", ValueError)
        for number in (row["won"], row["drawn"], row["lost"], *points):
            validation.integer(number, 0, 10**12, f"{where}: a count", ValueError)
        if row["won"] + row["drawn"] + row["lost"] == 0:
            raise ValueError(f"{where}: a row has at least one round")
    if not value["rows"]:
        raise ValueError(f"{where} has at least one row")
    return value
