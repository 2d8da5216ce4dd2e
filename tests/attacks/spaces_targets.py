"""Fuzz targets of the laboratory of spaces: suites and sessions of strangers, filters, boards of the solver."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ludodrome.games.spaces.generation import parse_filter
from ludodrome.spaces_lab import sessions, suites
from ludodrome.spaces_lab.board_files import read_value
from ludodrome.spaces_lab.saved_state import load_solver_boards
from ludodrome.spaces_lab.session_files import parse_session
from ludodrome.spaces_lab.suite_report import session_markdown

SUITE_PARSERS = (
    "spaces_lab.suites.load_suite",
    "spaces_lab.suites.parse_suite",
    "spaces_lab.suites.parse_expectation",
)
SESSION_PARSERS = ("spaces_lab.session_files.parse_session", "spaces_lab.sessions.read_tests")
FILTER_PARSERS = ("games.spaces.generation.parse_filter",)
SOLVER_PARSERS = ("spaces_lab.saved_state.load_solver_boards",)
FILTERS = (b"traps<=2", b"start=1, length<8,goal>=0")
SOLVER_BOARDS = (b'{"size": 3, "rules": "written", "boards": ["3:1:uuf"]}',)
EXEMPT = {
    "spaces_lab.saved_state.load": "reads a round that its user saved, by read_value",
    "spaces_lab.saved_state.load_draft": "reads a board that its user built, by read_value and parse_code",
    "spaces_lab.saved_state.load_inspection": "reads a state that its user saved, by read_value",
    "spaces_lab.saved_scores.load_pairs": "reads a state that its user saved, by read_value",
    "spaces_lab.saved_scores.load_search": "reads a state that its user saved, by read_value and parse_code",
    "spaces_lab.sessions.load_last_run": "reads what its user ran last, by read_value and parse_suite",
    "spaces_lab.sessions.load_number": "reads a session that its user recorded, by parse_session",
    "spaces_lab.board_files.read_text": "the text of read_boards",
    "spaces_lab.board_files.read_value": "the JSON of read_boards",
}
SUITES = (
    b'[[tests]]\nplayer = "3:1:uuf"\nopponent = "random"\nexpect = {winner = "tie", step = 5}\n',
    b'{"tests": [{"player": "generated:1-9", "opponent": "all:x", "expect": "player", "size": 3}]}',
)


def read_filter(text: str) -> None:
    """Read the conditions of ``--where``."""
    parse_filter([text])


def read_solver_boards(path: Path) -> None:
    """Read the boards with which a solver goes on."""
    load_solver_boards(str(path), 3, "written")


def read_suite(path: Path) -> None:
    """Read a file as TOML and as JSON: its name decides."""
    toml = path.with_suffix(".toml")
    toml.write_bytes(path.read_bytes())
    with suppress(ValueError):
        sessions.read_tests(str(toml))
    suites.parse_suite(suites.load_suite(str(path)), str(path))


def read_session(path: Path) -> None:
    """Read a session, and do everything that is shown of it."""
    session = parse_session(read_value(str(path)), str(path))
    for test in session.tests:
        test.faults()
    sessions.compare(session, session)
    session_markdown(session)
    sessions.read_tests(str(path))


def _sessions() -> tuple[bytes, ...]:
    """A session of the public tool, of one test, and one with a table and a test that could not be played."""
    value: Any = json.loads((Path(__file__).parents[1] / "spaces_lab" / "public" / "session.json").read_text("utf-8"))
    for test in value["tests"]:
        for side in ("playerBoard", "opponentBoard"):
            del test[side]["grid"]
    row = {"name": "a", "code": "2:0:uf", "won": 1, "drawn": 0, "lost": 2, "points": [3, 4]}
    table = {"name": "t", "status": "passed", "messages": [], "sources": ["2:0:uf", "random"], "rules": "live"}
    unplayed = {"name": "u", "status": "error", "messages": ["why"]}
    ours = {"startTime": "", "tests": [], "tables": [{**table, "rows": [row]}], "unplayed": [unplayed]}
    return json.dumps({**value, "tests": value["tests"][2:3]}).encode(), json.dumps(ours).encode()


SESSIONS = _sessions()
