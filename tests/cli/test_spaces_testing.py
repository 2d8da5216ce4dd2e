"""`ludodrome spaces test` and `ludodrome spaces session`: what they print, write and end with."""

import json
import os
import re
import signal
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from ludodrome import spaces
from tests.cli.running import beside, complaint, on_terminal, output, run

pytestmark = pytest.mark.xdist_group("spaces")

PUBLIC = Path(__file__).parents[1] / "spaces_lab" / "public"
PAIR = ("--player", "3:1:uuf", "--opponent", "3:0:u6uf")
SUITE = """
name = "mine"
rules = "live"
[[tests]]
name = "good"
player = "3:1:uuf"
opponent = "3:0:u6uf"
expect = "player"
tags = ["quick"]
[[tests]]
name = "bad"
player = "3:1:uuf"
opponent = "3:0:u6uf"
expect = "tie"
"""


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.toml").write_text(SUITE)


def lab(*arguments: str) -> str:
    return output("spaces", *arguments)


def fails(*arguments: str) -> str:
    """What a command prints that must end with 1."""
    result = run("spaces", *arguments)
    assert result.exit_code == 1, result.output
    return result.stdout


def refused(*arguments: str) -> str:
    return complaint(run("spaces", *arguments))


def answer(*arguments: str) -> Any:
    return json.loads(run("spaces", *arguments, "--json").stdout)


def replace(name: str, text: str) -> None:
    """Change a file at once: nobody sees it empty."""
    Path(f"{name}.new").write_text(text)
    os.replace(f"{name}.new", name)


# test


def test_a_single_test_passes_or_fails_with_the_round_drawn() -> None:
    assert re.fullmatch(
        r" passed  3:1:uuf against 3:0:u6uf  3 : 2, goal in step 4\n1 test: 1 passed in [\d.]+ s; session 1\n",
        lab("test", *PAIR, "--expect", "player", "--points", "3:2", "--ended", "goal", "--step", "4"),
    )
    printed = fails("test", *PAIR, "--expect", "tie")
    assert "expected tie, got player (3 : 2)" in printed
    board = spaces.parse_board("3:1:uuf")
    for step in spaces.simulate(board, spaces.parse_board("3:0:u6uf"), 3).steps:
        for event in step.events:
            assert event.reason.replace("seat 0", "Blue").replace("seat 1", "Orange") in printed
    assert "┌" in printed
    assert "y its traps" in printed
    assert "┌" in lab("test", *PAIR, "--steps")


def test_a_test_against_a_thousand_random_boards_has_intervals_and_a_seed() -> None:
    asked = (
        "test",
        "--player",
        "4:1:uuuf",
        "--opponent",
        "random",
        "--count",
        "1000",
        "--rules",
        "live",
        "--seed",
        "1",
    )
    printed = lab(*asked, "--min-won", "0.8")
    assert re.search(r"won +835  83\.5% +81\.1% to 85\.7%", printed)
    assert "seed 1" in printed
    assert "expected to win at least 90.0%, won 83.5%" in fails(*asked, "--min-won", "0.9")
    assert "expected to lose at most 10.0%, lost 16.5%" in fails(*asked, "--max-lost", "0.1")
    row = answer(*asked)["tests"][0]["rows"][0]
    assert (row["won"], row["drawn"], row["lost"]) == (835, 0, 165)
    assert [round(end, 3) for end in row["won_interval"]] == [0.811, 0.857]


def test_a_suite_with_filters_and_the_last_run() -> None:
    printed = fails("test", "suite.toml")
    assert "2 tests: 1 passed, 1 failed" in printed
    assert "1 test: 1 passed" in lab("test", "suite.toml", "--tag", "quick")
    assert "1 test: 1 failed" in fails("test", "suite.toml", "--name", "BA*")
    assert refused("test", "suite.toml", "--name", "nothing").startswith("no test has such a name or tag")
    fails("test", "suite.toml")
    assert "1 test: 1 failed" in fails("test", "--last", "--failed")
    assert "2 tests: 1 passed, 1 failed" in fails("test", "--last")
    Path("suite.toml").write_text(SUITE.replace('"tie"', '"player"'))
    assert "1 test: 1 passed" in lab("test", "--last", "--failed")
    assert lab("test", "--last", "--failed") == "nothing failed in the last run\n"
    assert "2 tests: 2 passed" in lab("test", "--last")
    assert re.search(r"^mine +live +quick +good", lab("test", "suite.toml", "--list"), re.MULTILINE)
    Path("suite.toml").write_text(SUITE.replace('"player"', '"tie"', 1).replace('name = "bad"', 'name = "later"'))
    assert "1 test: 1 failed" in fails("test", "suite.toml", "--stop")


def test_a_suite_of_a_hundred_ends_with_one_if_one_fails() -> None:
    tests = [
        {"name": f"test {at}", "player": "3:1:uuf", "opponent": "3:0:u6uf", "expect": "player"} for at in range(100)
    ]
    Path("many.json").write_text(json.dumps({"tests": tests}))
    assert "100 tests: 100 passed" in lab("test", "many.json")
    tests[57]["expect"] = "opponent"
    Path("many.json").write_text(json.dumps({"tests": tests}))
    value = json.loads(fails("test", "many.json", "--json"))
    assert (value["passed"], value["failed"]) == (99, 1)
    assert [one["name"] for one in value["tests"] if one["status"] == "failed"] == ["test 57"]


def test_reports_in_files() -> None:
    fails("test", "suite.toml", "--junit", "j.xml", "--html", "r.html")
    root = ElementTree.parse("j.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    page = Path("r.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "1 passed, 1 failed" in page
    assert "cannot be written" in refused("test", *PAIR, "--junit", "no/j.xml")


def test_the_public_session_gives_its_results() -> None:
    printed = lab("test", str(PUBLIC / "session.json"))
    assert "5 tests: 2 passed, 3 skipped" in printed
    assert len(re.findall(r"is not legal under live: .*\(R15\)", printed)) == 3
    assert "5 tests: 5 passed" in lab("test", str(PUBLIC / "session.json"), "--boards", "playable")


def test_the_board_being_built_can_be_tested() -> None:
    lab("build", "3", "--do", "start 1; up; trap right; up; finish")
    assert "1 : 0, trap in step 3" in lab("test", "--player", "builder", "--opponent", "3:0:5uuf")


def test_what_cannot_be_tested() -> None:
    assert refused("test").startswith("what to test? Give a suite, or --player and --opponent, or --last")
    assert refused("test", "--last") == "no test was run yet"
    assert refused("test", "--player", "3:1:uuf") == "a test has two sides: give --player and --opponent"
    assert refused("test", "suite.toml", "--expect", "tie").startswith(
        "--expect, --points and the like go with --player"
    )
    assert refused("test", *PAIR, "--points", "3").startswith("points are written like 3:2")
    assert refused("test", *PAIR, "--rules", "mine") == "the rules of spaces are written or live, not 'mine'"
    assert refused("test", "suite.toml", "--failed").startswith("--failed goes with --last")
    assert refused("test", *PAIR, "--session", "a", "--no-session").endswith("exclude each other")
    assert "nowhere.toml cannot be read" in refused("test", "nowhere.toml")
    assert "expect is 'player', 'opponent' or 'tie'" in refused("test", *PAIR, "--expect", "me").replace(".winner", "")
    lab("test", *PAIR)
    assert refused("test", "suite.toml", "--last").startswith("--last runs the same tests")


def test_watching_runs_again_when_a_file_changes_and_ends_with_ctrl_c() -> None:
    Path("boards.txt").write_text("3:1:uuf\n")
    Path("suite.toml").write_text(SUITE.replace('player = "3:1:uuf"', 'player = "boards.txt"'))
    process = beside("spaces", "test", "suite.toml", "--watch", "--interval", "0.05")
    assert process.stdout is not None

    def printed() -> str:
        """The output up to the line that says that files are watched."""
        assert process.stdout is not None
        lines: list[str] = []
        while not (lines and lines[-1].startswith("watching")):
            line = process.stdout.readline().decode()
            assert line, lines
            lines.append(line)
        return "".join(lines)

    try:
        first = printed()
        assert "2 tests: 1 passed, 1 failed" in first
        assert "watching 2 files; Ctrl-C ends" in first
        replace("boards.txt", "3:2:uuf\n")
        assert " failed  good  0 : 0, collision in step 2" in printed()
        replace("suite.toml", "name = =")
        assert "watching" in printed()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, errors
    assert rest.decode().endswith("ended\n")
    assert b"this is not TOML" in errors
    assert b"Traceback" not in errors
    assert lab("session", "list").count("auto") == 1  # one session for the whole time


# session


def test_sessions_are_started_named_and_ended() -> None:
    assert lab("session", "list") == "there is no session yet: `ludodrome spaces test` makes one\n"
    assert refused("session", "end").startswith("no session was started")
    assert lab("session", "start", "corners", "--tag", "a", "--notes", "first") == "session 1 has started: corners\n"
    lab("test", *PAIR)
    fails("test", "suite.toml")
    listed = lab("session", "list")
    assert re.search(r"^ *1\*  .* 3 +2 +1  a +corners", listed, re.MULTILINE)
    assert lab("session", "end") == "session 1 has ended\n"
    lab("test", *PAIR)
    lab("test", *PAIR, "--session", "other")
    lab("test", *PAIR, "--session", "other")
    lab("test", *PAIR, "--no-session")
    assert [one["counts"] for one in answer("session", "list")] == [
        {"passed": 2, "failed": 1},
        {"passed": 1},
        {"passed": 2},
    ]
    assert answer("session", "list", "--tag", "auto")[0]["name"] == "3:1:uuf against 3:0:u6uf"


def test_a_session_is_shown_edited_exported_and_deleted() -> None:
    fails("test", "suite.toml", "--session", "mine")
    lab("session", "edit", "last", "--notes", "look here", "--tag", "x", "--tag", "y", "--untag", "y")
    lab("session", "edit", "1", "--test", "2", "--notes", "strange", "--name", "worse")
    shown = lab("session", "show", "mine")
    assert "look here" in shown
    assert "tags x\n" in shown
    assert re.search(r"^2 +failed +live +3 : 2, goal in step 4 +worse", shown, re.MULTILINE)
    assert lab("session", "export", "1", "--out", "s.json") == "session exported to s.json\n"
    lab("session", "export", "1", "--out", "s.md")
    assert Path("s.md").read_text("utf-8").startswith("# mine\n\n2 tests: 1 passed, 1 failed.")
    assert lab("session", "export", "1", "--markdown") == Path("s.md").read_text("utf-8")
    assert answer("session", "show", "s.json")["tests"][1]["notes"] == "strange"
    assert "2 tests: 2 passed" in lab("test", "s.json")
    assert refused("session", "edit", "s.json", "--notes", "x").startswith("s.json is a file")
    assert lab("session", "delete", "1") == "session 1 is deleted\n"
    assert "there is no session '1'" in refused("session", "show", "1")
    public = lab("session", "show", str(PUBLIC / "session.json"))
    assert "test 1: Ryan size 4 is not legal under live: step 3" in public


def test_a_session_is_replayed_step_by_step() -> None:
    lab("test", *PAIR)
    printed = lab("session", "replay", "last", "1")
    assert printed.count("\n┌") == 1 + 4
    assert answer("session", "replay", "last", "1")["points"] == [3, 2]
    code, screen = on_terminal(["spaces", "session", "replay", "last", "1"], "\n\nb\n\n\n\n")
    assert code == 0
    steps = re.findall(r"step (\d) of 4: Enter, b or q", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen))
    assert [*dict.fromkeys(steps)] == ["1", "2", "3", "4"]
    assert steps[:5] == ["1", "2", "3", "2", "3"]
    lab("session", "export", "last", "--out", "s.json")
    value = json.loads(Path("s.json").read_text())
    value["tests"][0]["result"] |= {"playerScore": 2, "winner": "tie"}
    Path("s.json").write_text(json.dumps(value))
    result = run("spaces", "session", "replay", "s.json", "1")
    assert result.exit_code == 1
    assert "test 1 was recorded with another result: expected tie, got player (3 : 2)" in result.stderr
    assert "has no test 7" in refused("session", "replay", "last", "7")


def test_two_sessions_are_compared() -> None:
    fails("test", "suite.toml")
    Path("suite.toml").write_text(SUITE.replace('"tie"', '"player"'))
    lab("test", "suite.toml")
    printed = fails("session", "compare", "1", "2")
    assert re.search(r"^fixed +3 : 2, goal in step 4 +3 : 2, goal in step 4 +bad", printed, re.MULTILINE)
    assert printed.endswith("1 test the same, 1 not\n")
    assert "2 tests the same, 0 not" in lab("session", "compare", "2", "2")
    assert [one["change"] for one in answer("session", "compare", "1", "2")] == ["same", "fixed"]
    assert "same" in fails("session", "compare", "1", "2", "--all").split()
