"""The board builder; saved rounds; saved solver progress."""

import json
from pathlib import Path

import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces.equilibria import perfect, straight_run
from ludodrome.spaces_lab import saved_state
from ludodrome.spaces_lab.board_builder import BoardBuilder
from ludodrome.spaces_lab.saved_state import load_inspection, load_solver_boards, save_inspection, save_solver_boards
from tests.games.spaces.boards import board

pytestmark = pytest.mark.xdist_group("spaces")


def test_a_whole_board_by_commands() -> None:
    builder = BoardBuilder(3)
    assert (builder.code, builder.position, builder.ghost(), builder.trial()) == ("", None, None, None)
    for command in ("start 1", "UP", " trap   left ", "u", "f"):
        builder.do(command)
    assert builder.code == "3:1:u4uf"
    assert builder.is_finished
    assert builder.board == board("3:1:u4uf")
    assert builder.following() == []
    assert builder.do("undo") == "taken back: finish"
    assert builder.do("clear") == "the board is empty"
    assert builder.following() == ["start 0", "start 1", "start 2"]


@pytest.mark.parametrize(
    ("done", "command", "sentence"),
    [
        ("", "up", r"a board begins with a start on row 2 \(R3\)"),
        ("", "undo", "there is nothing to take back"),
        ("start 1", "start 0", "the piece has started already"),
        ("start 1", "down", "a piece never goes down"),
        ("start 1", "dance", "there is no command 'dance'"),
        ("", "start 9", "there is no command 'start 9'"),
        ("start 0", "left", r"step 2: the piece leaves the grid, to \(2,-1\) \(R4\)"),
        ("start 0;up;up;finish", "up", "the board is finished"),
        ("start 0;trap here", "trap up", r"R11"),
        ("start 2;left;trap left;up;right", "trap up", r"step 6: a trap is set on row 0"),
    ],
)
def test_what_cannot_be_done_changes_nothing(done: str, command: str, sentence: str) -> None:
    builder = BoardBuilder(3, "live")
    for one in filter(None, done.split(";")):
        builder.do(one)
    before = builder.code
    with pytest.raises(ValueError, match=sentence):
        builder.do(command)
    assert builder.code == before


@pytest.mark.parametrize(
    ("rules", "done", "code"),
    [
        ("live", "start 1", "4:1:uuuf"),
        ("live", "start 1;trap left;up", "4:1:4uuuf"),
        ("written", "start 1;trap up", "4:1:8uuuf"),
        ("written", "start 1;up;up;up", "4:1:uuuf"),
    ],
)
def test_finish_completes_the_straight_way(rules: str, done: str, code: str) -> None:
    builder = BoardBuilder(4, rules)
    for one in done.split(";"):
        builder.do(one)
    builder.do("finish")
    assert builder.code == code
    assert builder.is_finished
    assert spaces.check(builder.board, 4, rules) == []


def test_finish_says_why_the_straight_way_is_closed() -> None:
    builder = BoardBuilder(4, "live")
    with pytest.raises(IllegalMove, match=r"a board begins with a start on row 3 \(R3\)"):
        builder.do("finish")
    for command in ("start 1", "up", "trap up"):
        builder.do(command)
    with pytest.raises(IllegalMove, match=r"the straight way to the goal is closed: step 4: .* \(R16\)"):
        builder.do("finish")
    assert builder.code == "4:1:u8"
    builder.do("left")
    assert builder.do("f") == "2 steps up, and the finish"
    with pytest.raises(IllegalMove, match="the board is finished"):
        builder.do("finish")


def test_a_trap_that_leaves_no_step() -> None:
    builder = BoardBuilder(4, "live")
    for command in ("start 1", "right", "right"):
        builder.do(command)
    with pytest.raises(IllegalMove, match="leaves no step to the side"):
        builder.do("trap up")


def test_the_opponent_is_met_straight_on_from_here() -> None:
    builder = BoardBuilder(3, "written", board("3:0:u6uf"))
    builder.do("start 1")
    assert builder.ghost() == (0, 2)
    builder.do("up")
    assert builder.ghost() == (1, 2)
    played = builder.trial()
    assert played is not None
    assert played.points == spaces.simulate(board("3:1:uuf"), board("3:0:u6uf"), 3).points
    gone = BoardBuilder(3, "written", board("3:0:uuf"))
    for command in ("start 0", "trap here", "up", "up"):
        gone.do(command)
    assert gone.ghost() is None
    with pytest.raises(ValueError, match="the opponent's board has size 2, and this one has size 3"):
        BoardBuilder(3, opponent=board("2:0:uf"))
    with pytest.raises(IllegalMove):
        BoardBuilder(3, opponent=board("3:0:uuff"))


def test_rounds_are_saved_numbered_and_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(ValueError, match="no round is saved yet"):
        saved_state.load()
    boards = [board("3:1:uuf"), board("3:0:u6uf")]
    round_ = spaces.simulate(boards[0], boards[1], 3, "live")
    assert [saved_state.save(boards, "live", round_) for _ in range(2)] == [1, 2]
    assert saved_state.numbers() == [1, 2]
    assert saved_state.load().number == 2
    kept = saved_state.load(1)
    assert (kept.points, kept.ended, kept.rules) == (round_.points, round_.ended, "live")
    assert kept.replay() == round_
    with pytest.raises(ValueError, match="there is no saved round 7; there are 1, 2"):
        saved_state.load(7)
    for text, sentence in (("{}", "a saved round is an object with the keys"), ("{", "not JSON")):
        (saved_state.folder() / "3.json").write_text(text)
        with pytest.raises(ValueError, match=sentence):
            saved_state.load()
    value = {"rules": "live", "boards": [1], "points": [0, 0], "ended": "goal"}
    (saved_state.folder() / "3.json").write_text(json.dumps(value))
    with pytest.raises(ValueError, match="boards is a list of two boards"):
        saved_state.load()


def test_saved_rounds_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ludodrome").write_text("in the way")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    boards = [board("3:1:uuf")] * 2
    with pytest.raises(ValueError, match="cannot be created"):
        saved_state.save(boards, "written", spaces.simulate(boards[0], boards[1], 3))


def test_the_progress_of_a_double_oracle_is_saved(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    assert load_solver_boards(path, 3, "live") == []
    boards = [straight_run(3, 0), straight_run(3, 1)]
    save_solver_boards(path, 3, "live", boards)
    assert load_solver_boards(path, 3, "live") == boards
    with pytest.raises(ValueError, match="was started with another size or rule set"):
        load_solver_boards(path, 4, "live")
    for value, sentence in (
        ({"size": 3}, "a state has the keys size, rules, boards"),
        ({"size": 3, "rules": "live", "boards": 5}, "boards is a list of codes, not 5"),
        ({"size": 3, "rules": "live", "boards": ["3:1:uuf", "3:1:uu"]}, "board 2: step 3: the board ends without"),
        ({"size": 3, "rules": "live", "boards": [5]}, "board 1: the code of a board is a text, not 5"),
    ):
        (tmp_path / "state.json").write_text(json.dumps(value))
        with pytest.raises(ValueError, match=sentence):
            load_solver_boards(path, 3, "live")


def test_an_inspection_is_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    mixture = perfect(2, "live")
    inspection = load_inspection(mixture, path)
    assert (inspection.done, load_inspection(mixture, None).done) == (0, 0)
    inspection.step()
    save_inspection(path, inspection)
    again = load_inspection(mixture, path)
    assert (again.done, again.best, again.after) == (14, 0, inspection.after)
    again.step()
    assert again.over
    (tmp_path / "state.json").write_text('{"size": 2, "rules": "live", "after": 1, "done": 1, "best": 1}')
    with pytest.raises(ValueError, match="after is a code"):
        load_inspection(mixture, path)
