"""Sessions of tests: kept, found, compared, exported; and the reports in JUnit, HTML and Markdown."""

import json
import re
import threading
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ludodrome import spaces
from ludodrome.spaces_lab import session_files, sessions, suite_page, suite_report
from ludodrome.spaces_lab.board_sources import BoardReader
from ludodrome.spaces_lab.suites import BoardTest, BoardTestResult, Expectation, run_tests

pytestmark = pytest.mark.xdist_group("spaces")

PUBLIC = Path(__file__).parent / "public" / "session.json"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "ludodrome"


def results(**first: Any) -> list[BoardTestResult]:
    """A round, a table, a test that is skipped, one that fails."""
    tests = [
        BoardTest("round", "3:1:uuf", "3:0:u6uf", expect=Expectation("player"), suite="mine", tags=("a",), **first),
        BoardTest("table", "3:1:uuf", "random", "live", count=20, seed=4, suite="mine"),
        BoardTest("skipped", "3:1:u8uf", "3:0:uuf", "live", boards="legal", suite="mine"),
        BoardTest("wrong <&> \x00", "3:1:uuf", "3:0:u6uf", expect=Expectation("tie"), suite="other", notes="why"),
    ]
    return list(run_tests(tests, BoardReader()))


def recorded(name: str = "one", found: list[BoardTestResult] | None = None) -> session_files.BoardSession:
    session = sessions.create_session(name)
    assert session.number is not None
    with sessions.editing(session.number) as open_:
        sessions.record(open_, results() if found is None else found)
    return sessions.load_number(session.number)


# Keeping


def test_a_session_is_kept_as_it_was() -> None:
    session = recorded()
    assert (session.number, session.name, session.counts()) == (1, "one", {"passed": 2, "failed": 1, "skipped": 1})
    first = session.test(1)
    assert (first.title, first.result, first.status, first.tags) == ("round", "3 : 2, goal in step 4", "passed", ["a"])
    assert [spaces.encode_board(board) for board in first.boards] == ["3:1:uuf", "3:0:u6uf"]
    assert session.tables[0]["seed"] == 4
    assert "(R13)" in session.unplayed[0]["messages"][0]
    value = session_files.session_value(session)
    assert session_files.session_value(session_files.parse_session(value, "x")) == value
    assert [one.status for one in run_tests(sessions.suite_of(session).tests, BoardReader())] == ["passed"] * 2
    with pytest.raises(ValueError, match="has no test 3; its rounds have the numbers 1 to 2"):
        session.test(3)


def test_sessions_are_found_by_number_last_name_id_and_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no session 'last'; `ludodrome spaces test` makes the first"):
        sessions.find_session("last")
    first, second = recorded("a", []), recorded("b", [])
    assert sessions.find_session("1") == sessions.find_session("a") == sessions.find_session(first.id) == first
    assert sessions.find_session("last") == second
    assert sessions.find_session(str(PUBLIC)).number is None
    recorded("b", [])
    with pytest.raises(ValueError, match="2 sessions are called 'b': give a number"):
        sessions.find_session("b")
    with pytest.raises(ValueError, match="there is no session '7'; there are 1, 2, 3"):
        sessions.find_session("7")


def test_sessions_without_a_name_are_removed_when_many_are_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_AUTO", 3)
    named = sessions.create_session("kept")
    noted = sessions.create_session("", [sessions.AUTO], "kept too")
    for _ in range(5):
        sessions.create_session("", [sessions.AUTO])
    assert sessions.session_numbers() == [named.number, noted.number, 5, 6, 7]


def test_two_writers_lose_nothing() -> None:
    number = recorded("both", []).number
    assert number is not None
    found = results()[:1]

    def write() -> None:
        for _ in range(5):
            with sessions.editing(number) as session:
                sessions.record(session, found)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [one.number for one in sessions.load_number(number).tests] == [*range(1, 16)]


def test_the_current_session(data_folder: Path) -> None:
    assert sessions.current_session() is None
    session = recorded("now", [])
    sessions.set_current(session.number)
    assert sessions.current_session() == session.number
    assert session.number is not None
    sessions.delete_session(session.number)
    assert sessions.current_session() is None
    assert json.loads((data_folder / "spaces-tests" / "state.json").read_text()) == {"current": None}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tests": 7}, "a session is an object with a list 'tests'"),
        ({"tags": 7}, "tags is a list of texts, not 7"),
        ({"name": 7}, "name is a text, not 7"),
        ({"tests": [7, {"playerBoard": {}}]}, "test 1: a test is an object, not 7"),
        ({"tests": [{"playerBoard": 7}]}, "test 1: playerBoard is an object, not 7"),
        ({"tables": [{}]}, "a table: name is a text, not null"),
        ({"tables": {}}, "tables is a list, not an empty object"),
        ({"unplayed": [{"name": "a", "status": "error"}]}, "an unplayed test: messages is a list of texts, not null"),
        ({"boards": "any"}, "boards is 'playable' or 'legal', not 'any'"),
    ],
)
def test_files_that_are_no_sessions(change: dict[str, Any], sentence: str) -> None:
    value = json.loads(PUBLIC.read_text()) | change
    with pytest.raises(ValueError, match=r"^here") as caught:
        session_files.parse_session(value, "here")
    assert sentence in str(caught.value)


def test_results_that_contradict_themselves_are_refused() -> None:
    value = json.loads(PUBLIC.read_text())
    value["tests"][0]["result"]["winner"] = "tie"
    with pytest.raises(ValueError, match="test 1: the winner is 'tie', and the points are 4 : 1"):
        session_files.parse_session(value, "here")


def test_the_public_session_and_its_faults() -> None:
    session = sessions.find_session(str(PUBLIC))
    assert [bool(test.faults()) for test in session.tests] == [True, True, False, False, True]
    assert "Ryan size 4 is not legal under live: step 3" in session.tests[0].faults()[0]
    assert session.tests[0].title == "Ryan size 4 against Ted size 4"
    assert session.tests[2].title == "3:0:uuf against 3:0:uruf"


# Comparing and exporting


def test_two_sessions_side_by_side() -> None:
    first = recorded("first")
    changed = results(rules="written")
    changed[0].status = "failed"
    changed[3].test = BoardTest("new", "3:1:uuf", "3:0:u6uf")
    second = recorded("second", changed)
    assert [(one.name, one.change) for one in sessions.compare(first, second)] == [
        ("round", "broken"),
        ("wrong <&> \x00", "only in the first"),
        ("table", "same"),
        ("skipped", "same"),
        ("new", "only in the second"),
    ]
    assert next(one.change for one in sessions.compare(second, first)) == "fixed"
    assert {one.change for one in sessions.compare(first, first)} == {"same"}
    assert len(sessions.compare(sessions.find_session(str(PUBLIC)), sessions.find_session(str(PUBLIC)))) == 5


def test_an_export_has_the_layout_of_the_public_tool() -> None:
    theirs = json.loads(PUBLIC.read_text())
    value = session_files.session_value(sessions.find_session(str(PUBLIC)), grids=True)
    assert value.keys() >= theirs.keys()
    for ours, other in zip(value["tests"], theirs["tests"], strict=True):
        assert ours["result"].items() >= other["result"].items()
        for side in ("playerBoard", "opponentBoard"):
            assert ours[side].items() >= {key: other[side][key] for key in ("boardSize", "grid", "sequence")}.items()


def test_markdown_has_every_test_and_draws_what_failed() -> None:
    text = suite_report.session_markdown(recorded("a | b"))
    assert text.startswith("# a | b\n\n4 tests: 2 passed, 1 failed, 1 skipped.")
    assert "| 1 | round | written | 3 : 2, goal in step 4 | passed |" in text
    assert "## table\n\n3:1:uuf against random, live, seed 4: passed" in text
    assert "Blue moves forward to row 1: +1" in text.partition("## 2. wrong")[2]
    assert "Blue" not in text.partition("## 2. wrong")[0]
    assert text.count("```") == 2


# Reports


def test_junit_counts_and_says_why() -> None:
    root = ElementTree.fromstring(suite_report.junit(results(), 1.5))
    assert root.attrib == {
        "name": "ludodrome spaces test",
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "1.500",
    }
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [("mine", "3"), ("other", "1")]
    failure = root.find("testsuite[@name='other']/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "expected tie, got player (3 : 2)"
    assert "Blue reaches the goal: +1" in (failure.text or "")
    skipped = root.find("testsuite/testcase[@name='skipped']/skipped")
    assert skipped is not None
    assert "(R13)" in (skipped.get("message") or "")
    assert root.findall("testsuite/testcase/properties/property[@value='a']")


class _Page(HTMLParser):
    """Whether all elements are closed in order, and what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing() -> None:
    text = suite_page.page(results(), "mine <b>", "today", "about")
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.loads == []
    assert "url(" not in text
    assert "mine &lt;b&gt;" in text
    assert "wrong &lt;&amp;&gt;" in text
    assert "<b>" not in text.partition("<header>")[2].partition("</header>")[0]
    assert page.seen.count("details") == 4
    assert page.seen.count("svg") == 2 + 4  # both rounds, and the four steps of the one that failed
    assert re.search(r"<details open><summary><span class=\"status failed\">", text)


def test_a_large_board_is_told_in_words() -> None:
    code = "60:1:" + "u" * 59 + "f"
    [result] = run_tests([BoardTest("large", code, code, expect=Expectation("player"))], BoardReader())
    text = suite_page.page([result], "large", "today")
    assert "<svg" not in text
    assert "reaches the goal" in text


def test_rounds_fit_the_terminal() -> None:
    boards = [spaces.parse_board(code) for code in ("3:1:uuf", "3:0:u6uf")]
    played = spaces.simulate(boards[0], boards[1], 3)
    narrow, wide = (suite_report.round_lines(boards, played, 3, width) for width in (80, 200))
    assert max(map(len, narrow)) <= 80 < max(map(len, wide))
    for lines in (narrow, wide):
        assert "y its traps" in "\n".join(lines)
        assert lines[-1] == "3 : 2 (goal, step 4), Blue wins"
    words = suite_report.round_lines(boards, played, 3, 10)
    assert "step 4, Blue: finish, Orange: up" in words


def test_a_long_table_is_recorded_in_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_ROWS", 10)
    monkeypatch.setattr(suite_page, "MAX_ROWS", 10)
    found = list(run_tests([BoardTest("all", "generated", "3:1:uuf", "live")], BoardReader()))
    [row] = recorded("long", found).tables[0]["rows"]
    assert (row["name"], row["won"] + row["drawn"] + row["lost"]) == ("796 boards", 796)
    assert "and 786 more" in suite_page.page(found, "long", "today")
