"""The commands `replay`, `rerun` and `records`."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ludodrome.arena import records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.seats import CRASH, Answer, SeatFault, Turn
from ludodrome.games import make
from tests.arena.playing import Scripted, play_spec
from tests.cli.running import complaint, on_terminal, output, run


@pytest.fixture(scope="module")
def game_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    game = make("caldera")
    bots = ("greedy", "random")
    record = play(PlaySpec("caldera", game.options, bots, bots, conditions(game, clock="nodes=50"), 3))
    return records.write(record, tmp_path_factory.mktemp("games"))


def test_a_pipe_gets_the_whole_game(game_file: Path) -> None:
    record = records.read(game_file)
    text = output("replay", str(game_file))
    assert text.count("ply ") == len(record["turns"]) + 1
    assert "Blue ● greedy" in text
    assert record["result"]["reason"] in text


def test_one_turn(game_file: Path) -> None:
    assert output("replay", str(game_file), "--turn", "1").startswith("turn 1  Orange ◆ random: ")
    assert "the game has turns 0 to" in complaint(run("replay", str(game_file), "--turn", "999"))


def test_stepping_at_the_terminal(game_file: Path) -> None:
    turns = len(records.read(game_file)["turns"])
    code, text = on_terminal(["replay", str(game_file)], "\nlast\nback\n1\nnonsense\nquit\n")
    assert code == 0
    places = re.findall(r"(\d+)/\d+\S*> ", text)
    assert list(map(int, places)) == [0, 1, turns, turns - 1, 2, 2]


def test_verifying(game_file: Path, tmp_path: Path) -> None:
    assert output("replay", str(game_file.parent), "--verify") == "1 of 1 records are correct\n"
    false = json.loads(game_file.read_text())
    false["result"]["winner"] = 1 - false["result"]["winner"]
    (tmp_path / "false.json").write_text(json.dumps(false))
    result = run("replay", str(game_file), str(tmp_path), "--verify")
    assert result.exit_code == 1
    assert "the result's winner" in result.stderr
    assert result.stdout == "1 of 2 records are correct\n"
    (tmp_path / "empty").mkdir()
    assert "has no record" in complaint(run("replay", str(tmp_path / "empty"), "--verify"))


def test_a_record_without_its_seed_verifies_and_says_so(game_file: Path, tmp_path: Path) -> None:
    file = records.write(records.withheld(records.read(game_file)), tmp_path)
    assert output("replay", str(file), "--verify") == (
        "1 of 1 records are correct\n"
        "1 of them are without their seeds, which were not verified: they are published later\n"
    )
    assert "Blue ● greedy" in output("replay", str(file))
    assert "the seed of this record is withheld" in complaint(run("rerun", str(file)))


def test_rerun(game_file: Path) -> None:
    assert "all moves are the same" in output("rerun", str(game_file), "--seat", "1")
    result = run("rerun", str(game_file), "greedy", "--seat", "1", "--json")
    assert result.exit_code == 1
    assert not all(echo["same"] for echo in json.loads(result.stdout))
    assert "there is no bot" in complaint(run("rerun", str(game_file), "nobody"))
    assert "the record has the seats 0 to 1" in complaint(run("rerun", str(game_file), "--seat", "5"))


def test_listing_and_writing_out(game_file: Path, tmp_path: Path) -> None:
    folder = str(game_file.parent)
    assert "greedy - random" in output("records", folder)
    assert output("records", folder, "--game", "dots") == "0 games\n"
    assert json.loads(output("records", folder, "--json"))[0]["game"] == "caldera"
    out = tmp_path / "games.txt"
    output("records", folder, "--export", "text", "--out", str(out))
    assert output("records", str(out), "--export", "jsonl") == game_file.read_text()
    assert "jsonl, csv, moves or text" in complaint(run("records", folder, "--export", "pdf"))
    assert "cannot be written" in complaint(run("records", folder, "--export", "csv", "--out", "/nowhere/x.csv"))
    assert "a verdict is" in complaint(run("records", folder, "--verdict", "laziness"))


def test_lists_in_json_are_lists(game_file: Path) -> None:
    (shown,) = json.loads(output("records", str(game_file), "--json"))
    record = records.read(game_file)
    assert shown["names"] == ["greedy", "random"]
    assert shown["options"] == record["options"]
    assert shown["scores"] == record["result"]["scores"]
    assert shown["verdicts"] == []
    assert shown["failures"] == []
    assert shown["clock"] == {"nodes": 50}


def test_a_row_for_each_move(game_file: Path) -> None:
    rows = list(csv.DictReader(output("records", str(game_file), "--export", "moves").splitlines()))
    record = records.read(game_file)
    assert [int(row["turn"]) for row in rows] == [entry["turn"] for entry in record["turns"]]
    assert [row["name"] for row in rows[:2]] == ["greedy", "random"]
    assert float(rows[0]["ms"]) == record["turns"][0]["ms"]
    assert rows[0]["score"] == ""


# Telemetry and failures

STDERR = "".join(f"line {number}\n" for number in range(30)) + "Traceback: \x1b[31mno table\n"


@pytest.fixture(scope="module")
def talking_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of two bots that say what they think; the second one crashes in its third turn."""

    def talk(turn: Turn) -> Answer:
        move = turn.message["legal_moves"][0]
        said = {"score": 10 * turn.number, "depth": 9, "nodes": 350_000, "pv": [move, "and so on"]}
        return Answer(0.0, move, info=({"text": "\x1b[2Jhello"}, said))

    def crash(turn: Turn) -> Answer:
        if turn.number < 5:
            return replace(talk(turn), info=({"score": -1.5},))
        return Answer(0.0, fault=SeatFault(CRASH, "it exited with code 3"))

    seats = [Scripted(talk), Scripted(crash)]
    seats[1].stderr = STDERR
    record = play(play_spec("skysummit", ("mine", "yours")), seats)
    return records.write(record, tmp_path_factory.mktemp("talking"))


def test_replay_shows_what_both_bots_think(talking_file: Path) -> None:
    text = output("replay", str(talking_file), "--turn", "3")
    assert "evaluations: mine +20 at depth 9, 350,000 nodes; yours -1.5" in text
    text = output("replay", str(talking_file), "--turn", "2")
    played = re.search(r"mine: (.+?)  0 ms", text)
    assert played is not None
    assert f"line: {played[1]} and so on" in text
    assert "text: \\x1b[2Jhello" in text
    assert "\x1b" not in text


def test_replay_and_records_say_why_a_bot_failed(talking_file: Path) -> None:
    for text in (output("replay", str(talking_file)), output("records", str(talking_file))):
        assert "crash: it exited with code 3" in text
        assert "stderr: Traceback: \\x1b[31mno table" in text
        assert "line 0\n" not in text
        assert "\x1b" not in text
    (shown,) = json.loads(output("records", str(talking_file), "--json"))
    (failure,) = shown["failures"]
    assert (failure["name"], failure["seat"], failure["cause"]) == ("yours", 1, "crash")
    assert failure["stderr"].endswith("no table")


def test_moves_with_evaluations_as_csv_and_as_text(talking_file: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(output("records", str(talking_file), "--export", "moves").splitlines()))
    assert [row["score"] for row in rows] == ["0", "-1.5", "20", "-1.5", "40", ""]
    assert rows[2]["depth"] == "9"
    assert rows[2]["nodes"] == "350000"
    assert rows[5]["verdict"] == "crash"
    assert rows[5]["move"] == ""
    out = tmp_path / "games.txt"
    output("records", str(talking_file), "--export", "text", "--out", str(out))
    assert "{-1.5 0s}" in out.read_text()
    assert output("records", str(out), "--export", "jsonl") == talking_file.read_text()
