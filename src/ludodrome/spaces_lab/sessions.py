"""Sessions of tests in the user's data folder: recorded, found, compared, and run again as suites."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ludodrome.atomic_io import lock_file, unlock_file
from ludodrome.spaces_lab.board_files import read_value, without_entry_keys, write_text
from ludodrome.spaces_lab.board_sources import PLAYABLE
from ludodrome.spaces_lab.saved_state import make_folder, user_folder
from ludodrome.spaces_lab.session_files import BoardSession, SessionTest, is_session, parse_session, session_value
from ludodrome.spaces_lab.suites import (
    FAILED,
    PASSED,
    BoardTest,
    BoardTestResult,
    Suite,
    load_suite,
    parse_suite,
    total_row,
)
from ludodrome.validation import show

AUTO = "auto"
"""Tag of sessions that were made by themselves."""
MAX_AUTO = 100
"""Such a session is deleted when this many newer ones exist, unless it has notes."""
MAX_ROWS = 1000
"""A longer table is recorded as one row."""
_LOCK_SECONDS = 10.0


# Sessions as suites


def read_tests(path: str, **defaults: Any) -> Suite:
    """The tests of a suite in TOML or JSON, or of a session file; ValueError names the place."""
    value = load_suite(path)
    if not is_session(value):
        return parse_suite(value, path, **defaults)
    return suite_of(parse_session(value, path), path, defaults.get("boards"))


def suite_of(session: BoardSession, path: str = "", boards: str | None = None) -> Suite:
    """The rounds of a session as tests that expect what was recorded. Where a name comes twice, numbers are added."""
    titles = [one.title for one in session.tests]
    tests = tuple(
        BoardTest(
            one.title if titles.count(one.title) == 1 else f"{one.number}. {one.title}",
            {**one.boards[0], "name": one.names[0]},
            {**one.boards[1], "name": one.names[1]},
            one.rules,
            one.expectation(),
            boards=boards or session.boards,
            notes=one.notes,
            tags=(*session.tags, *one.tags),
            suite=session.name,
        )
        for one in session.tests
    )
    if not tests:
        raise ValueError(f"{path or session.name}: this session has no round")
    return Suite(session.name, tests, session.notes, path)


# Sessions in the user's data folder


def tests_folder() -> Path:
    """The folder of everything about tests; ValueError if the user has no home."""
    return user_folder() / "spaces-tests"


def sessions_folder() -> Path:
    """The folder of the sessions."""
    return tests_folder() / "sessions"


def session_numbers() -> list[int]:
    """The numbers of all sessions, ascending."""
    return sorted(int(file.stem) for file in sessions_folder().glob("*.json") if file.stem.isdecimal())


def load_number(number: int) -> BoardSession:
    """A session by its number; ValueError if it is missing or damaged."""
    path = str(sessions_folder() / f"{number}.json")
    session = parse_session(read_value(path), path)
    session.number = number
    return session


def find_session(text: str) -> BoardSession:
    """A session by its number, ``last``, its name, its id, or as a file; ValueError says what there is."""
    there = session_numbers()
    if text == "last" and there:
        return load_number(there[-1])
    if text.isascii() and text.isdecimal() and int(text) in there:
        return load_number(int(text))
    if os.path.isfile(text):
        return parse_session(read_value(text), text)
    found = [session for session in map(load_number, there) if text in (session.name, session.id)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{len(found)} sessions are called {show(text)}: give a number")
    known = f"there are {', '.join(map(str, there[-10:]))}" if there else "`ludodrome spaces test` makes the first"
    raise ValueError(f"there is no session {show(text)}; {known}")


def now() -> str:
    """The time as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def create_session(name: str, tags: Iterable[str] = (), notes: str = "") -> BoardSession:
    """Create a session in the data folder. The tag ``auto`` says that nobody asked for it."""
    started = now()
    session_id = f"session-{started.replace(':', '-').replace('.', '-')}"
    session = BoardSession(session_id, name, started, list(dict.fromkeys(tags)), notes)
    session.boards = PLAYABLE
    with _locked():
        session.number = max(session_numbers(), default=0) + 1
        _write(session)
        _remove_old_ones()
    return session


def _remove_old_ones() -> None:
    for number in session_numbers()[:-MAX_AUTO]:
        session = load_number(number)
        if AUTO in session.tags and not session.notes and number != current_session():
            (sessions_folder() / f"{number}.json").unlink(missing_ok=True)


def _write(session: BoardSession) -> None:
    write_text(str(sessions_folder() / f"{session.number}.json"), json.dumps(session_value(session)) + "\n")


@contextmanager
def editing(number: int) -> Iterator[BoardSession]:
    """A session to change; it is written when the block ends. Other processes wait."""
    with _locked():
        session = load_number(number)
        yield session
        _write(session)


def delete_session(number: int) -> None:
    """Delete a session; it is no longer the current one."""
    with _locked():
        (sessions_folder() / f"{number}.json").unlink(missing_ok=True)
    if current_session() is None:
        set_current(None)


@contextmanager
def _locked() -> Iterator[None]:
    """One process at a time changes sessions."""
    make_folder(sessions_folder())
    until, held = time.monotonic() + _LOCK_SECONDS, None
    while held is None:
        try:
            held = lock_file(tests_folder() / ".lock")
        except OSError:  # a system or a disk without locks
            break
        if held is None and time.monotonic() > until:
            raise ValueError("another process has been writing to the sessions for ten seconds: try again later")
        if held is None:
            time.sleep(0.02)
    try:
        yield
    finally:
        if held is not None:
            unlock_file(held)


def current_session() -> int | None:
    """The number of the session that was started and not ended, if any."""
    number = _state().get("current")
    return number if type(number) is int and number in session_numbers() else None


def set_current(number: int | None) -> None:
    """Let later tests go to this session; None: each run makes its own."""
    make_folder(tests_folder())
    write_text(str(tests_folder() / "state.json"), json.dumps({"current": number}) + "\n")


def _state() -> dict[str, Any]:
    path = tests_folder() / "state.json"
    value = read_value(str(path)) if path.exists() else {}
    return value if type(value) is dict else {}


def record(session: BoardSession, results: Iterable[BoardTestResult]) -> None:
    """Add results to a session."""
    time_ = now()
    for result in results:
        test = result.test
        entry = {"name": test.name, "status": result.status, "messages": result.messages, "timestamp": time_}
        if result.rows:
            rows = [asdict(row) for row in (result.rows if len(result.rows) <= MAX_ROWS else [total_row(result.rows)])]
            more = {"sources": list(test.sources), "rules": test.rules, "seed": test.seed, "size": result.size}
            session.tables.append({**entry, **more, "sampled": result.sampled, "rows": rows})
        elif result.played is None or result.sides is None:
            session.unplayed.append(entry)
        else:
            session.tests.append(_session_test(result, len(session.tests) + 1, time_))


def _session_test(result: BoardTestResult, number: int, time_: str) -> SessionTest:
    test, played = result.test, result.played
    assert played is not None
    assert result.sides is not None
    names = [side.names[0] if side.names else "" for side in result.sides]
    return SessionTest(
        number,
        time_,
        [without_entry_keys(board) for board in result.boards()],
        names,
        (played.points[0], played.points[1]),
        test.rules,
        test.name,
        test.notes,
        list(test.tags),
        result.status,
        result.messages,
        played.ended == "collision",
        played.ended,
        len(played.steps),
        list(played.steps[-1].squares),
    )


# Comparing


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A test in two sessions; a result is empty where the test is missing."""

    name: str
    before: str
    after: str
    change: str
    """``same``, ``changed``, ``fixed``, ``broken``, ``only in the first`` or ``only in the second``."""


def compare(first: BoardSession, second: BoardSession) -> list[SessionChange]:
    """All tests of two sessions side by side. Tests are matched by name and rule set, unnamed ones by their boards."""
    before, after = _entries_by_key(first), _entries_by_key(second)
    changes = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            change = "only in the first" if new is None else "only in the second"
        elif old == new:
            change = "same"
        else:
            change = {(FAILED, PASSED): "fixed", (PASSED, FAILED): "broken"}.get((old[1], new[1]), "changed")
        changes.append(SessionChange(key[0], (old or ("", ""))[0], (new or ("", ""))[0], change))
    return changes


def _entries_by_key(session: BoardSession) -> dict[tuple[str, str, int], tuple[str, str]]:
    """Result and status of every test, by name, rule set and how many of that name came before."""
    found: dict[tuple[str, str, int], tuple[str, str]] = {}
    entries = [(one.title, one.rules, one.result, one.status) for one in session.tests]
    entries += [(one["name"], one["rules"], table_result(one), one["status"]) for one in session.tables]
    entries += [(one["name"], "", one["status"], one["status"]) for one in session.unplayed]
    for name, rules, result, status in entries:
        number = 0
        while (name, rules, number) in found:
            number += 1
        found[name, rules, number] = (result, status)
    return found


def table_result(table: dict[str, Any]) -> str:
    """The result of a table in a few words."""
    won, drawn, lost = (sum(row[key] for row in table["rows"]) for key in ("won", "drawn", "lost"))
    return f"{won:,} won, {drawn:,} drawn, {lost:,} lost"


# The last run


def save_last_run(value: dict[str, Any]) -> None:
    """Keep what was asked in the last run, and the status of each test."""
    make_folder(tests_folder())
    write_text(str(tests_folder() / "last.json"), json.dumps(value) + "\n")


def load_last_run() -> dict[str, Any]:
    """The same again; ValueError if no test was run yet."""
    path = tests_folder() / "last.json"
    if not path.exists():
        raise ValueError("no test was run yet")
    value = read_value(str(path))
    if type(value) is not dict or {"asked", "statuses"} - value.keys():
        raise ValueError(f"{path}: this is not what the last run left behind; delete it")
    return value
