"""The plain alpha-beta of ``benchmarks/``: its rules are right, and it speaks the protocol."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import ludodrome
from benchmarks.caldera_rival import SOURCE, report

ROOT = Path(__file__).parents[2]
START = "0000000/0000000/0000000/0000000/0000000/0000000/0000000 c63l61l65s62s64 c03l01l05s02s04 0"


@pytest.fixture(scope="session")
def rival(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: it compiles the rival")
    program = tmp_path_factory.mktemp("rival") / "rival"
    subprocess.run(["g++", "-O1", "-std=c++17", "-o", str(program), str(SOURCE)], check=True)
    return program


def test_its_rules_count_the_same_games(rival: Path) -> None:
    lines = (ROOT / "tests" / "games" / "caldera" / "perft.txt").read_text("utf-8").splitlines()
    checked = 0
    for line in lines:
        if line and not line.startswith("#"):
            options, position, depth, count = (part.strip() for part in line.split("|"))
            limit = options.partition("=")[2] or "200"
            command = [str(rival), "perft", limit, depth, START if position == "-" else position]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert int(found) == int(count), line
            checked += 1
    assert checked > 15


def test_it_takes_the_crown_and_plays_legal_games(rival: Path) -> None:
    state = ludodrome.make("caldera").parse_state(
        "0000000/0000000/0000000/0000000/0000000/0000000/0000000 c63l23 c03l01 40"
    )
    turn = {"type": "turn", "turn": 40, "state": state, "legal_moves": None, "match": "m-1"}
    said = subprocess.run([str(rival)], input=json.dumps(turn) + "\n", capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert answers[-1]["move"] == {"action": "move", "from": [2, 3], "to": [0, 3]}
    match = ludodrome.play_match(
        "caldera", {"bot": "random", "rival": f"cmd:{rival}"}, games=2, clock="30ms+60s", workers=0, seed=1
    )
    lines = report(match.records)
    assert lines[:2] == ["0 points of 2 games (0.0%)", "0 wins, 0 draws, 2 losses"]
    assert not any("faults" in line for line in lines)
