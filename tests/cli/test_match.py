"""The commands ``match`` and ``sprt``."""

import json
import re
import signal
import time
from pathlib import Path

import pytest

from ludodrome.arena.matches.tallies import GameResult, MatchTally
from ludodrome.arena.matches.workers import processes_with
from ludodrome.cli.match import sentences
from tests.cli.running import beside, complaint, on_terminal, output, run

pytestmark = pytest.mark.xdist_group("dots")

SMALL = ["-o", "rows=2", "-o", "cols=2", "--clock", "nodes=100"]
MATCH = ["match", "dots", "greedy", "random", *SMALL]


def test_a_match_ends_with_a_table(tmp_path: Path) -> None:
    text = output(*MATCH, "--games", "4", "--openings", "none", "--workers", "1", "--seed", "0")
    lines = text.splitlines()
    assert lines[0] == "dots rows=2 cols=2, 4 of 4 games, clock nodes=100, policy substitute, seed 0"
    assert lines[2].split()[:5] == ["bot", "games", "won", "drawn", "lost"]
    assert [line.split()[:2] for line in lines[3:5]] == [["greedy", "4"], ["random", "4"]]
    assert "greedy against random: " in text
    assert "length: 12.0 turns on average, from 12 to 12" in text
    assert "decided by: play 4, forfeit 0, resignation 0, arena 0; 0 of 4 games not by play" in text


def test_the_summary_counts_every_decision() -> None:
    tally = MatchTally(["a", "b"], 2)
    for number, decision in enumerate(("play", "resignation", "forfeit", "arena", "resignation")):
        returns, rated = ((0.0, 0.0), False) if decision == "arena" else ((1.0, -1.0), True)
        tally.add(
            GameResult(
                f"m-{number}", ("a", "b"), returns, rated, "over", decision, (), 10, (5, 5), (1.0, 1.0), (1.0, 1.0)
            ),
            number,
        )
    line = "decided by: play 1, forfeit 1, resignation 2, arena 1; 4 of 5 games not by play"
    assert line in sentences(tally)


def test_records_are_resumed_and_json_is_printed(tmp_path: Path) -> None:
    record = ["--record", str(tmp_path), "--seed", "3", "--json"]
    half = json.loads(output(*MATCH, "--games", "2", *record))
    whole = json.loads(output(*MATCH, "--games", "4", *record))
    assert (half["games"], whole["games"], whole["wanted"]) == (2, 4, 4)
    assert len(list(tmp_path.glob("m-*.json"))) == 4
    assert len(list(tmp_path.glob("openings-dots-*.jsonl"))) == 1
    again = json.loads(output(*MATCH, "--games", "4", *record, "--workers", "1"))
    assert (half.pop("recalled"), whole.pop("recalled"), again.pop("recalled")) == (0, 2, 4)
    assert again.pop("notes")[0].startswith("4 of 4 games were recalled from records of ")
    del whole["notes"]
    assert again == whole
    assert whole["conditions"].items() >= {"legal_moves": True, "policy": "substitute"}.items()
    assert whole["conditions"]["clock"] == {"nodes": 100}
    assert whole["score"]["games"] == 4
    first = json.loads(next(tmp_path.glob("m-*.json")).read_text())
    assert first["opening"]


def test_three_seats_and_no_legal_moves() -> None:
    bots = ["greedy", "random", "greedy"]
    options = ["-o", "players=3", "--clock", "nodes=50", "--hide-legal-moves", "--no-openings", "--policy", "forfeit"]
    data = json.loads(output("match", "santorini", *bots, *options, "--games", "3", "--json"))
    assert data["names"] == ["greedy", "random", "greedy (2)"]
    assert data["score"] is None
    assert data["conditions"].items() >= {"policy": "forfeit", "legal_moves": False}.items()
    assert sum(player["points"] for player in data["players"]) == pytest.approx(3)


def test_a_test_passes_or_fails_or_neither() -> None:
    test = ["sprt", "dots", *SMALL, "--no-openings", "--elo1", "400", "--alpha", "0.4", "--beta", "0.4"]
    passed = run(*test, "chains", "random", "--elo0", "-400", "--max-games", "40")
    assert passed.exit_code == 0
    assert "SPRT -400 to 400 Elo: passed, LLR +" in passed.stdout
    undecided = run(*test, "greedy", "random", "--alpha", "0.0001", "--beta", "0.0001", "--max-games", "3", "--json")
    assert undecided.exit_code == 3
    data = json.loads(undecided.stdout)
    assert data["sprt"]["verdict"] is None
    assert (data["games"], data["counted"]) == (2, 1)
    failed = run(*test, "random", "chains", "--elo0", "300", "--max-games", "40")
    assert failed.exit_code == 1
    assert "failed, LLR -" in failed.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["match", "dots", "greedy"], "dots has 2 seats with these options, so give 2 bots, not 1"),
        (["match", "dots", "greedy", "grumpy"], "there is no bot 'grumpy'"),
        (
            ["match", "dots", "greedy", "grumpy"],
            "; cmd:PROGRAM is a program of one's own, wasm:FILE a",
        ),
        (
            ["match", "dots", "greedy", "cmd:/nowhere/bot"],
            "the program /nowhere/bot of the bot cmd:/nowhere/bot cannot",
        ),
        (["match", "dots", "greedy", "py:nowhere.py:Bot"], "there is no file nowhere.py"),
        ([*MATCH, "--games", "3"], "3 games are not whole rounds; 4 would be"),
        ([*MATCH, "--clock", "soon"], "'soon' is not a time from 1ms to a day"),
        ([*MATCH, "--policy", "mercy"], "a policy is forfeit, substitute or retry:10"),
        ([*MATCH, "--openings", "/nowhere"], "the openings /nowhere cannot be read"),
        ([*MATCH, "--no-openings", "--record", "/dev/null/games"], "records cannot be kept in /dev/null/games: Not a"),
        ([*MATCH, "--workers", "1", "--cluster", "tcp://x:1"], "give either --workers or --cluster"),
        (["sprt", "santorini", "greedy", "random", "-o", "players=3"], "Elo compares two players"),
        (["sprt", "dots", "greedy", "random", "--elo0", "10", "--elo1", "0"], "elo0 is less than elo1"),
        (["sprt", "dots", "greedy", "random", "--alpha", "2"], "alpha and beta are between 0 and 0.5"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments: list[str], sentence: str) -> None:
    assert sentence in complaint(run(*arguments))


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    process = beside(*MATCH, "--games", "100000", "--no-openings", "--record", str(tmp_path))
    deadline = time.monotonic() + 100
    while len(list(tmp_path.glob("m-*.json"))) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = len(list(tmp_path.glob("m-*.json")))
    assert f"{kept} of 100000 games" in text.decode()
    assert not list(tmp_path.glob(".record-*"))


STUBBORN = """#!/usr/bin/env python3
import json, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        open("moved", "w").close()
        time.sleep(0.05)
        print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nobody_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals) -> None:
    """Whatever ends the program, its workers end, and so do bots that ignore signals."""
    monkeypatch.setenv("BOT_TEST", tmp_path.name)
    monkeypatch.chdir(tmp_path)
    bot = tmp_path / "stubborn"
    bot.write_text(STUBBORN)
    bot.chmod(0o755)
    process = beside("match", "dots", *SMALL, f"cmd:{bot}", f"cmd:{bot}", "--games", "1000", "--no-openings")
    deadline = time.monotonic() + 100
    while not (tmp_path / "moved").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    process.communicate(timeout=60)
    while left := processes_with(f"BOT_TEST={tmp_path.name}"):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_progress_on_a_terminal() -> None:
    code, screen = on_terminal([*MATCH, "--games", "20", "--no-openings"])
    assert code == 0
    assert "/20" in screen
    assert "20 of 20 games" in screen


@pytest.mark.parametrize(
    ("command", "page"),
    [
        (["match"], "matches.md"),
        (["sprt"], "matches.md"),
        *((["tournament", one], "tournaments.md") for one in ("run", "show", "export")),
    ],
)
def test_every_option_is_documented(command: list[str], page: str) -> None:
    words = (Path(__file__).parents[2] / "docs" / "how-to" / page).read_text("utf-8")
    assert f"ludodrome {' '.join(command)}" in words
    options = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", output(*command, "--help").partition("Examples")[0]))
    assert {one for one in options if f"`{one}" not in words and f"{one}`" not in words} <= {"--help"}
