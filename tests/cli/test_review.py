"""The command `review`."""

import json
from pathlib import Path

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from tests.arena.playing import play_spec
from tests.cli.running import complaint, output, run


@pytest.fixture(scope="module")
def game_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    opening = [{"orient": "H", "r": 0, "c": 0}]
    record = play(play_spec("dots", ("random", "expert"), opening=opening, clock="nodes=500", rows=2, cols=3))
    return records.write(record, tmp_path_factory.mktemp("games"))


def test_every_move_gets_a_line_and_every_seat_its_accuracy(game_file: Path) -> None:
    told = output("review", str(game_file), "--nodes", "5000").splitlines()
    assert len(told) == 1 + 17 + 2
    assert "opening" in told[1]
    assert "exact" in told[1]
    assert told[17].split()[0] == "16"
    assert "forced" in told[17]
    assert told[-1] == "seat 1 ◆ expert: accuracy 100.0%"
    assert told[-2].startswith("seat 0 ● random: accuracy ")


def test_as_json(game_file: Path) -> None:
    told = json.loads(output("review", str(game_file), "--nodes", "5000", "--json"))
    assert [one["ply"] for one in told["plies"]] == list(range(17))
    assert told["accuracy"][1] == 100
    assert told["turning_points"] == [one["ply"] for one in told["plies"] if one["grade"] in ("mistake", "blunder")]
    assert told["match"] == records.read(game_file)["match"]


def test_a_win_is_told_in_words(tmp_path: Path) -> None:
    record = play(play_spec("skysummit", ("level:3", "random"), clock="nodes=500"))
    told = output("review", str(records.write(record, tmp_path)), "--nodes", "2000")
    assert "estimated" in told
    assert "%" in told


def test_what_is_no_record_is_refused(tmp_path: Path, game_file: Path) -> None:
    assert "review grades one game, and 0 were found" in complaint(run("review", str(tmp_path)))
    false = json.loads(game_file.read_text())
    false["result"]["reason"] = "boredom"
    (tmp_path / "false.json").write_text(json.dumps(false))
    assert "boredom" in complaint(run("review", str(tmp_path / "false.json")))
