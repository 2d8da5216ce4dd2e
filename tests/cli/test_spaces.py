"""The laboratory from the command line."""

import json
import math
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludodrome import spaces
from ludodrome.games.spaces import ranking
from ludodrome.games.spaces.boards import format_code
from ludodrome.games.spaces.generation import generate
from tests.cli.running import PROGRAM, complaint, on_terminal, output, run

pytestmark = pytest.mark.xdist_group("spaces")

TESTING_PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "testing-boards.md"
PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "spaces-lab.md"
LIVE = ("--rules", "live")


@pytest.fixture(autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))


def lab(*arguments: str, stdin: str = "") -> str:
    return output("spaces", *arguments, stdin=stdin)


def refused(*arguments: str, stdin: str = "") -> str:
    return complaint(run("spaces", *arguments, stdin=stdin))


def answer(*arguments: str) -> Any:
    return json.loads(lab(*arguments, "--json"))


def deck(path: Path, code: str) -> str:
    path.write_text(f"{code}\n" * 10)
    return str(path)


def test_every_command_has_its_place_on_the_page_and_an_example() -> None:
    commands = re.findall(r"^  (\w+)  ", lab("--help").partition("Options:")[0], re.MULTILINE)
    assert len(commands) == 14
    page = PAGE.read_text("utf-8") + TESTING_PAGE.read_text("utf-8")
    for command in commands:
        assert f"ludodrome spaces {command}" in page, command
        text = lab(command, "--help")
        assert "Examples:" in text
        for option in re.findall(r"^  (--[\w-]+)", text, re.MULTILINE):
            assert option == "--help" or f"`{option}" in page, (command, option)


# Boards


def test_count() -> None:
    assert lab("count", "4") == "968,799,595,254,970\n"
    assert answer("count", "3", *LIVE, "--by", "traps") == {
        "size": 3,
        "rules": "live",
        "count": 796,
        "by_traps": {"0": 27, "1": 210, "2": 559},
    }
    assert re.search(r"^ *2 +559 +70\.226%$", lab("count", "3", *LIVE, "--by", "traps"), re.MULTILINE)
    assert "can be counted up to size 5; size 6" in refused("count", "6")
    assert "what boards are counted by is" in refused("count", "3", "--by", "luck")
    assert refused("count", "3", "--rules", "mine") == "the rules of spaces are written or live, not 'mine'"


def test_generate(tmp_path: Path) -> None:
    codes = [format_code(board, 3) for board in generate(3, "live")]
    assert lab("generate", "3", *LIVE).splitlines() == codes
    assert lab("generate", "3", *LIVE, "--limit", "3", "--after", codes[5]).splitlines() == codes[6:9]
    path = str(tmp_path / "b.txt.gz")
    assert lab("generate", "3", *LIVE, "--out", path) == f"796 boards in {path}\n"
    assert lab("generate", "3", *LIVE, "--out", path, "--resume") == f"796 boards in {path}\n"
    assert refused("generate", "3", "--resume").startswith("--resume goes with --out")
    assert refused("generate", "3", "--out", path, "--after", "3:1:uuf").startswith("--after goes without --out")
    assert "cannot be written" in refused("generate", "3", *LIVE, "--out", str(tmp_path / "no" / "b.txt"))
    assert "the board to continue from" in refused("generate", "3", "--after", "4:1:uuuf")


def test_generate_says_what_very_many_boards_would_take(tmp_path: Path) -> None:
    sentence = refused("generate", "4")
    assert sentence.startswith("size 4 under written has 968,799,595,254,970 boards: about 3")
    for part in (" PB as codes, and ", "--limit N", "--where", "--view", "`ludodrome spaces sample 4 100`", "--yes"):
        assert part in sentence
    assert "100,000,000 boards or 10 GB" in sentence
    assert "814,139,608 boards with traps=5: about" in refused("generate", "4", "--where", "traps=5")
    assert "at most 814,139,608 boards with goal=1,traps=5" in refused("generate", "4", "--where", "traps=5,goal=1")
    assert " boards after 4:3:uuuf: about " in refused("generate", "4", "--after", "4:3:uuuf")
    last = format_code(ranking.board_at(121_439_362, 3), 3)
    assert len(lab("generate", "3", "--after", last).splitlines()) == 1
    assert "200,000,000 boards are asked for" in refused("generate", "4", "--limit", "200000000")
    assert "31,510,818 boards: about " in refused("generate", "5", *LIVE, "--out", str(tmp_path / "b.json"))
    assert refused("generate", "9").startswith("size 9 under written has more boards than can be counted")
    assert list(tmp_path.iterdir()) == []
    assert lab("generate", "4", "--limit", "2") == "4:0:uuuf\n4:0:uuruf\n"
    assert len(lab("generate", "4", "--where", "traps=0", "--where", "length<=5").splitlines()) == 4
    assert lab("generate", "4", "--yes", "--limit", "1") == "4:0:uuuf\n"
    assert "a condition is a property (start, goal, traps," in refused("generate", "3", "--where", "luck=1")


def test_view_in_a_pipe() -> None:
    printed = lab("generate", "4", "--view")
    assert printed.startswith("boards 1 to 5 of 968,799,595,254,970, size 4, written\n")
    assert "1  4:0:uuuf " in printed
    following = re.search(r"here --view --after (\S+) shows the next five\n$", printed)
    assert following
    assert lab("generate", "4", "--view", "--after", following[1]).startswith("boards 6 to 10 of ")
    few = lab("generate", "3", *LIVE, "--view", "--where", "traps=0,sideways=0")
    assert few.startswith("boards 1 to 3 of 3, size 3, live, traps=0,sideways=0\n")
    assert "--after" not in few
    assert refused("generate", "3", "--view", "--limit", "3").startswith("--view shows boards and writes no file")
    assert "the board to continue from" in refused("generate", "3", "--view", "--after", "4:1:uuuf")


def test_view_on_a_terminal() -> None:
    code, shown = on_terminal(["spaces", "generate", "3", *LIVE, "--view"], "q", prompt=b"q quit")
    assert code == 0
    assert "boards 1 to 5 of 796, size 3, live" in shown
    assert "n next  p previous  g go to number  ? keys  q quit" in shown


def test_the_reader_of_all_boards_may_leave() -> None:
    with subprocess.Popen(
        [*PROGRAM, "spaces", "generate", "3", "--yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as one:
        assert one.stdout is not None
        assert one.stderr is not None
        assert one.stdout.readline() == b"3:0:uuf\n"
        one.stdout.close()
        assert b"Traceback" not in one.stderr.read()


def test_sample(tmp_path: Path) -> None:
    codes = lab("sample", "3", "5", *LIVE, "--seed", "1").splitlines()
    assert answer("sample", "3", "5", *LIVE, "--seed", "1") == {
        "size": 3,
        "rules": "live",
        "uniform": True,
        "boards": codes,
    }
    for name in ("ten.json", "ten.txt", "ten.json.gz"):
        path = str(tmp_path / name)
        assert lab("sample", "3", "10", "--out", path) == f"10 boards in {path}\n"
        assert lab("check", path).count(": legal") == 10
    large = run("spaces", "sample", "60", "2", *LIVE)
    assert "not uniform: beyond size 40 under live" in large.stderr
    boards = large.stdout.splitlines()
    assert len({*boards}) == 2
    assert all(spaces.check(spaces.parse_board(code), 60, "live") == [] for code in boards)


def test_check(tmp_path: Path) -> None:
    assert lab("check", "3:1:u6uf", *LIVE).splitlines()[0] == "3:1:u6uf: legal"
    result = run("spaces", "check", "3:1:u88uuf", *LIVE)
    assert result.exit_code == 1
    assert "  2. move legality: failed" in result.stdout
    assert re.search(r"step 3: .*\(R13\)", result.stdout)
    assert re.search(r"step 4: .*\(R10\)", result.stdout)
    assert re.search(r"step 4: .*\(R15\)", result.stdout)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([spaces.parse_board("3:1:uuf"), {"boardSize": "big"}]))
    found = json.loads(run("spaces", "check", str(path), "--json").stdout)
    assert [one["legal"] for one in found["boards"]] == [True, False]
    assert [one["passed"] for one in found["boards"][1]["layers"]] == [False, None, None, False]
    assert found["boards"][1]["layers"][0]["faults"][0]["rule"] == "R2"
    assert lab("check", f"{path}#1").startswith(f"{path}#1: legal")
    assert "cannot be read" in refused("check", "nowhere.json")


def test_draw(tmp_path: Path) -> None:
    assert lab("draw", "3:1:u6uf").startswith("┌─────┬")
    path = tmp_path / "b.svg"
    assert lab("draw", "3:1:u6uf", "--svg", str(path)) == f"drawn in {path}\n"
    ElementTree.fromstring(path.read_text())
    assert "is outside and cannot be drawn" in refused("draw", "3:0:luuf")


# Rounds


def test_simulate_explains_every_point() -> None:
    printed = lab("simulate", "3:1:uuf", "3:0:u6uf")
    for event in (event for step in _round().steps for event in step.events):
        assert event.reason.replace("seat 0", "Blue").replace("seat 1", "Orange") in printed
    assert printed.count("step ") >= len(_round().steps)
    assert printed.rstrip().endswith("3 : 2 (goal, step 4), Blue wins")
    value = answer("simulate", "3:1:uuf", "3:0:u6uf")
    assert (value["points"], value["ended"], len(value["steps"])) == ([3, 2], "goal", len(_round().steps))
    code, screen = on_terminal(["spaces", "simulate", "3:1:uuf", "3:0:u6uf"])
    assert code == 0
    assert "\x1b[1;38;5;24mBlue" in screen
    assert "board of Orange: " in refused("simulate", "3:1:uuf", "4:1:uuuf")


def _round() -> Any:
    return spaces.simulate(spaces.parse_board("3:1:uuf"), spaces.parse_board("3:0:u6uf"), 3)


def test_simulate_many(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("3:1:uuf\n3:0:uuf\n")
    second.write_text("3:0:u6uf\n3:1:uuf\n3:2:uuf\n")
    value = answer("simulate", str(first), str(second), "--all")
    assert [rows[0][0] for rows in value["points"]] == [3, 2]
    assert [len(rows[0]) for rows in value["points"]] == [3, 3]
    assert "2 x 3 rounds" in lab("simulate", str(first), str(second), "--all")
    assert refused("simulate", str(first), str(second), "--all", "--save").startswith("--save saves one round")
    assert "holds 2 boards: choose one" in refused("simulate", str(first), str(second))


def test_saved_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert lab("replay", "--list") == "no round is saved yet\n"
    assert refused("replay", "--last").startswith("no round is saved yet")
    assert refused("replay").startswith("which round?")
    printed = lab("simulate", "3:1:uuf", "3:0:u6uf", "--save")
    assert printed.endswith("saved as round 1\n")
    assert lab("replay", "--last") == printed.removesuffix("saved as round 1\n")
    assert answer("replay", "1")["points"] == [3, 2]
    assert "3:1:uuf  3:0:u6uf" in lab("replay", "--list")
    file = tmp_path / "ludodrome" / "spaces-sessions" / "1.json"
    file.write_text(file.read_text().replace('"points": [3, 2]', '"points": [5, 5]'))
    result = run("spaces", "replay", "1")
    assert result.exit_code == 1
    assert "round 1 was saved with the result [5, 5] (goal)" in result.stderr


def test_decks(tmp_path: Path) -> None:
    first, second = deck(tmp_path / "a.txt", "3:1:uuf"), deck(tmp_path / "b.txt", "3:0:u6uf")
    assert lab("deck", first, second).endswith("totals 300 : 200, Blue wins\n")
    assert lab("deck", first, first).endswith(", a draw\n")
    picture = tmp_path / "m.svg"
    value = json.loads(lab("deck", first, second, "--json", "--svg", str(picture)))
    assert value["totals"] == [300, 200]
    assert len(value["points"][0]) == 10
    texts = [one.text for one in ElementTree.fromstring(picture.read_text()).iter() if one.tag.endswith("text")]
    assert texts == ["300 : 200", *["+1"] * 100]
    game = deck(tmp_path / "c.txt", "3:1:u8uf")
    assert re.search(r"c.txt, board 1: step 3: .*\(R13\)", refused("deck", game, first, *LIVE))


def test_respond() -> None:
    value = answer("respond", "3:1:uuf", *LIVE)
    assert (value["margin"], value["proven"]) == (3, True)
    printed = lab("respond", "3:1:uuf", *LIVE)
    assert printed.startswith(value["code"])
    assert printed.endswith("margin +3; no legal board does better\n")
    assert "the objective is" in refused("respond", "3:1:uuf", "--objective", "fun")
    assert "not proven; no legal board does better than" in lab(
        "respond", "40:20:" + "u" * 20 + "r" + "u" * 19 + "f", *LIVE, "--time", "0"
    )


# Perfect play


def test_solve() -> None:
    value = answer("solve", "2", *LIVE)
    assert value["gap"] <= 1e-9
    assert abs(value["primal"] - value["dual"]) < 1e-9
    weights = {one["code"]: one["weight"] for one in value["mixture"]}
    assert weights.keys() <= {format_code(board, 2) for board in generate(2, "live")}
    assert re.search(r"^gap: 0$", lab("solve", "4", *LIVE), re.MULTILINE)
    printed = lab("solve", "3", *LIVE)
    shares = [Fraction(word) for word in re.findall(r"^ *(\d+/\d+)  ", printed, re.MULTILINE)]
    assert sum(shares) == 1
    assert all(f"{one} " in printed for one in shares), "every share is in lowest terms"
    assert math.gcd(*(one["weight"] for one in answer("solve", "3", *LIVE)["mixture"])) == 1


def test_solve_spaces_names_the_command_that_does_it() -> None:
    sentence = complaint(run("solve", "spaces"))
    assert sentence.startswith("spaces is not solved move by move: `ludodrome spaces solve SIZE` finds perfect play")


# Scores


def test_scores_of_all_pairs(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    value = answer("scores", "3", *LIVE, "--state", str(path), "--top", "3")
    assert (value["exact"], value["boards"], value["opponents"]) == (True, 796, 796)
    assert [one["board"] for one in value["random"]] == ["3:1:uuf", "3:0:u6uf", "3:1:8luuf"]
    assert value["random"][0]["won"] == pytest.approx(662 / 796)
    assert value["random"][0]["won_interval"] is None
    assert value["people"][0]["board"] == "3:1:8luuf"
    assert [one["board"] for one in value["best_by_share"]] == ["3:1:uuf", "3:1:8luuf"]
    assert answer("scores", "3", *LIVE, "--state", str(path), "--top", "3") == value
    assert "was started with another size" in refused("scores", "2", *LIVE, "--state", str(path))
    printed = lab("scores", "2", *LIVE)
    assert "14 boards; all pairs are played: every number is exact" in printed
    assert "against people (50% straight runs in a random column, else a random legal board):" in printed
    assert refused("scores", "3", "--by", "luck").startswith("what boards are ranked by is")


def test_scores_of_a_sample(tmp_path: Path) -> None:
    few = ("--opponents", "2500", "--candidates", "50", "--seed", "3")
    path = tmp_path / "state.json"
    value = answer("scores", "5", *LIVE, *few, "--state", str(path))
    assert (value["exact"], value["boards"], value["opponents"]) == (False, 31_510_818, 2500)
    low, high = value["random"][0]["won_interval"]
    assert low < value["random"][0]["won"] < high
    assert value["best_by_share"] == []
    kept = json.loads(path.read_text())
    assert kept["played"] == 2500
    assert answer("scores", "5", *LIVE, *few) == value, "the same seed, the same numbers"
    assert "each against 2,500 random boards; intervals of 95 %" in lab("scores", "5", *LIVE, *few)
    assert "too many boards to meet every one" in refused("scores", "6", *LIVE, "--exact")
    assert "random (not uniform) boards" in lab("scores", "6", "--opponents", "10", "--candidates", "5")


def test_solve_saves_its_progress(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    first = answer("solve", "5", *LIVE, "--state", str(path))
    assert first["gap"] <= 1e-9
    kept = json.loads(path.read_text())
    assert len(kept["boards"]) >= 3
    assert answer("solve", "5", *LIVE, "--state", str(path))["gap"] <= 1e-9
    assert "was started with another size or rule set" in refused("solve", "4", *LIVE, "--state", str(path))


def test_stored_and_verified(tmp_path: Path) -> None:
    assert answer("solve", "2", *LIVE, "--stored")["mixture"] == [
        {"code": "2:0:6uf", "weight": 1},
        {"code": "2:1:4uf", "weight": 1},
    ]
    assert "proven: false" in lab("solve", "30", *LIVE, "--stored")
    state = str(tmp_path / "state.json")
    for _ in range(2):
        value = answer("solve", "3", *LIVE, "--verify", "--state", state)
        assert (value["boards"], value["best_margin"], value["beaten"]) == (796, 0, False)
    assert "too many to play one by one" in refused("solve", "6", *LIVE, "--verify")
    assert "give one of them" in refused("solve", "3", "--verify", "--seen")


def test_seen() -> None:
    assert answer("solve", "3", *LIVE, "--seen") == {
        "size": 3,
        "rules": "live",
        "loss": 3,
        "board": "3:0:uuf",
        "lead_of_seat_0": -3,
    }
    assert "Orange wins by 3" in lab("solve", "3", *LIVE, "--seen")
    assert "a draw, with perfect play" in lab("solve", "3", "--seen")


# Building by commands


def test_build_by_commands(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    script = "start 1; up; trap left; up; finish; save"
    assert lab("build", "3", "--do", script, "--out", str(path)) == "3:1:u4uf\n"
    assert lab("build", "3", "--do", "-", "--out", str(path), stdin=script.replace("; ", "\n")) == "3:1:u4uf\n"
    assert lab("check", str(path)).count(": legal") == 2
    assert lab("build", "--do", "start 1; up; up; finish", "--against", "3:0:u6uf") == "3:1:uuf\n3 : 2 (goal)\n"
    assert run("spaces", "build", "--do", "start 1").exit_code == 3
    assert refused("build", "--do", "start 1; down") == "command 2, 'down': a piece never goes down (R9)"
    assert refused("build", "--do", "save").startswith("command 1, 'save': there is no file")
    assert "the board is not finished" in refused("build", "--do", "start 1; save", "--out", str(path))
    assert refused("build", "3").startswith("the builder needs a terminal")
    assert "the opponent's board has size 4" in refused("build", "3", "--against", "4:1:uuuf")
