"""The commands ``analyse`` and ``solve``."""

import json
import signal
from pathlib import Path

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from tests.arena.playing import play_spec
from tests.cli.running import beside, complaint, on_terminal, output, run

ALMOST = "00000/03200/00111/00000/00000 B3E5 C4D2 10"
"""Skysummit: seat 0 wins at once, with its worker on B3."""


@pytest.mark.xdist_group("skysummit")
def test_analyse_in_a_pipe() -> None:
    text = output("analyse", "skysummit", "--state", ALMOST, "--time", "0.2", "--lines", "2")
    assert "ply 10, Blue" in text
    assert "move" in text
    line = next(line for line in text.splitlines() if line.startswith("1B3-B2"))
    assert line.split() == ["1B3-B2", "wins", "in", "1"]
    assert "depth 1, " in text


@pytest.mark.xdist_group("skysummit")
def test_analyse_as_json() -> None:
    data = json.loads(output("analyse", "skysummit", "--state", ALMOST, "--time", "0.1", "--lines", "1", "--json"))
    assert data["game"] == "skysummit"
    assert data["state"] == ALMOST
    (line,) = data["lines"]
    assert line["move"] == {"t": "move", "w": 0, "to": 6, "build": None}
    assert (line["text"], line["distance"], line["proven"], line["continuation"]) == ("1B3-B2", 1, True, [])


@pytest.mark.xdist_group("skysummit")
def test_analyse_on_a_terminal() -> None:
    code, screen = on_terminal(["analyse", "skysummit", "--state", ALMOST, "--time", "0.2"])
    assert code == 0
    assert "wins in 1" in screen


@pytest.mark.xdist_group("dots")
def test_solve_says_the_margin() -> None:
    text = output("solve", "dots", "-o", "rows=2", "-o", "cols=2")
    assert "the seat to move ends +2: " in text
    assert " positions in " in text
    assert "a draw: " in output("solve", "dots", "-o", "rows=1", "-o", "cols=2")


@pytest.mark.xdist_group("skysummit")
def test_solve_says_who_wins() -> None:
    assert "the seat to move wins in 1 plies: 1B3-B2" in output("solve", "skysummit", "--state", ALMOST)
    data = json.loads(output("solve", "skysummit", "--state", ALMOST, "--json"))
    assert (data["value"], data["proven"], data["distance"], data["line"]) == (1, True, 1, ["1B3-B2"])


@pytest.mark.xdist_group("santorini")
def test_what_is_not_solved_in_time_is_said() -> None:
    result = run("solve", "santorini", "--time", "0.1")
    assert result.exit_code == 3
    assert "not solved in the time given" in result.stdout


@pytest.mark.xdist_group("dots")
def test_ctrl_c_ends_with_what_is_known() -> None:
    with beside("solve", "dots", "-o", "rows=5", "-o", "cols=5", "--json") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b"solving: the margin is between" in line:
                break
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate()
    assert process.returncode == 3
    assert b"Traceback" not in errors
    assert json.loads(text)["proven"] is False


def test_what_cannot_be_is_refused() -> None:
    assert "`ludodrome spaces solve SIZE` finds perfect play" in complaint(run("solve", "spaces"))
    assert "only games of two seats" in complaint(run("solve", "santorini", "-o", "players=3"))
    assert complaint(run("analyse", "chess")).startswith("there is no game 'chess'")


@pytest.mark.xdist_group("dots")
def test_solve_goes_on_from_a_file(tmp_path: Path) -> None:
    asked = (
        "solve",
        "dots",
        "-o",
        "rows=3",
        "-o",
        "cols=3",
        "--bits",
        "14",
        "--file",
        str(tmp_path / "run.npz"),
        "--json",
    )
    first = json.loads(output(*asked))
    assert first["value"] == -3
    again = json.loads(output(*asked))
    assert again["value"] == -3
    assert again["nodes"] < first["nodes"] / 10
    other = list(asked)
    other[other.index("14")] = "15"
    path = tmp_path / "run.npz"
    assert complaint(run(*other)) == (f"the table in {path} has 2^14 positions, not 2^15: the size cannot be changed")
    without = [word for word in asked if word not in ("--bits", "14")]
    assert json.loads(output(*without))["value"] == -3
    refused = run("solve", "caldera", "--file", str(tmp_path / "other.npz"))
    assert refused.exit_code == 2
    assert "cannot be kept in a file" in complaint(refused)


# The command `review`.


@pytest.fixture(scope="module")
def game_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    opening = [{"orient": "H", "r": 0, "c": 0}]
    record = play(play_spec("dots", ("random", "expert"), opening=opening, clock="nodes=500", rows=2, cols=3))
    return records.write(record, tmp_path_factory.mktemp("games"))


def test_every_move_gets_a_line_and_every_seat_its_accuracy(game_file: Path) -> None:
    lines = output("review", str(game_file), "--nodes", "5000").splitlines()
    assert len(lines) == 1 + 17 + 2
    assert "opening" in lines[1]
    assert "exact" in lines[1]
    assert lines[17].split()[0] == "16"
    assert "forced" in lines[17]
    assert lines[-1] == "Orange ◆ expert: accuracy 100.0%"
    assert lines[-2].startswith("Blue ● random: accuracy ")


def test_as_json(game_file: Path) -> None:
    data = json.loads(output("review", str(game_file), "--nodes", "5000", "--json"))
    assert [one["ply"] for one in data["plies"]] == list(range(17))
    assert data["accuracy"][1] == 100
    assert data["turning_points"] == [one["ply"] for one in data["plies"] if one["grade"] in ("mistake", "blunder")]
    assert data["match"] == records.read(game_file)["match"]


def test_a_win_is_described_in_words(tmp_path: Path) -> None:
    record = play(play_spec("skysummit", ("level:3", "random"), clock="nodes=500"))
    text = output("review", str(records.write(record, tmp_path)), "--nodes", "2000")
    assert "estimated" in text
    assert "%" in text


def test_what_is_no_record_is_refused(tmp_path: Path, game_file: Path) -> None:
    assert complaint(run("review", str(tmp_path))) == f"review grades one game, but {tmp_path} has 0"
    false = json.loads(game_file.read_text())
    false["result"]["reason"] = "boredom"
    (tmp_path / "false.json").write_text(json.dumps(false))
    assert "boredom" in complaint(run("review", str(tmp_path / "false.json")))
