"""`play` against bots."""

import shlex
import sys
from pathlib import Path

import pytest

import ludodrome
from tests.cli.running import complaint, output, run

SMALL = ["play", "dots", "-o", "rows=1", "-o", "cols=1"]


def test_a_bot_answers() -> None:
    text = output(*SMALL, "--against", "chains", stdin="H(0,0)\nstate\n")
    assert text.count("Blue ●> ") == 3
    assert "Orange ◆> " not in text
    assert "  (chains)\n" in text


def test_the_bot_may_begin_and_win() -> None:
    text = output(*SMALL, "--against", "chains", "--seat", "1", stdin="H(0,0)\nH(1,0)\nV(0,0)\nV(0,1)\n" * 2)
    assert text.index("(chains)") < text.index("Orange ◆> ")
    assert text.splitlines()[-1].endswith("wins (more boxes), scores 0 : 1")


def test_the_same_seed_plays_the_same_game() -> None:
    games = [output(*SMALL, "--against", "random", "--seed", seed, stdin="H(0,0)\n") for seed in ("1", "1", "2", "3")]
    assert games[0] == games[1]
    assert len(set(games)) > 1


def test_undo_takes_the_answer_back_too() -> None:
    text = output(*SMALL, "--against", "random", stdin="H(0,0)\nundo\nstate\n")
    game = ludodrome.make("dots", rows=1, cols=1)
    assert f"Blue ●> state\n{game.format_state(game.initial_state())}\n" in text


def test_two_bots_in_a_game_of_three() -> None:
    text = output(
        "play", "santorini", "-o", "players=3", "--against", "random", "--against", "greedy", "--seat", "1", stdin=""
    )
    assert "  (random)\n" in text
    assert "  (greedy)\n" not in text
    text = output("play", "santorini", "-o", "players=3", "--against", "greedy", "--seat", "2", stdin="")
    assert text.count("  (greedy)\n") == 2


def test_leaving_tells_how_to_go_on_with_the_bot() -> None:
    *_, last = output(*SMALL, "--against", "chains", "--seat", "1", "--seed", "7", stdin="").splitlines()
    name, *arguments = shlex.split(last)
    assert name == "ludodrome"
    assert arguments[:-2] == [*SMALL, "--against", "chains", "--seat", "1", "--seed", "7"]
    assert output(*arguments).splitlines()[-1] == last


def test_what_a_bot_lays_face_down_is_not_shown() -> None:
    text = output("play", "spaces", "-o", "choice=blind", "--against", "random", "--seat", "1", stdin="3:1:uuf\n")
    before, _, after = text.partition("Orange ◆> ")
    assert "Blue ●  (random)\n" in before
    assert "3:" not in before
    assert "round 1: 3:" in after


def test_bots_see_no_board_that_lies_face_down() -> None:
    typed = ["3:1:uuf\n", "3:0:uuf\n"]
    asked = ["play", "spaces", "-o", "choice=blind", "--against", "greedy", "--seed", "0"]
    games = [output(*asked, stdin=text) for text in typed]
    laid = [game.partition("round 1: ")[2].split()[4] for game in games]
    assert laid[0] == laid[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--against", "nobody"], "there is no bot 'nobody'; the bots of dots are random, greedy, chains, "),
        (["--against", "random", "--seat", "2"], "a seat of dots is a whole number from 0 to 1, not 2"),
        (
            ["--against", "random", "--against", "random"],
            "give --against once, or once per other seat (here 1), not 2 times",
        ),
        (
            ["--against", "cmd:no-such-program"],
            "the program no-such-program of the bot cmd:no-such-program cannot be found",
        ),
        (["--against", "py:nowhere.py:Bot"], "there is no file nowhere.py for the bot py:nowhere.py:Bot"),
    ],
)
def test_refusals(arguments: list[str], sentence: str) -> None:
    assert complaint(run("play", "dots", *arguments)).startswith(sentence)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("1 / 0", "the bot Mine failed: ZeroDivisionError: division by zero"),
        ("'H(0,0)'", "the bot Mine failed: IllegalMove: "),
    ],
)
def test_a_bot_that_fails_ends_the_game_with_a_sentence(tmp_path: Path, answer: str, sentence: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"class Mine:\n    def choose(self, observation):\n        return {answer}\n", "utf-8")
    result = run("play", "dots", "--against", f"py:{file}:Mine", "--seed", "7", stdin="H(0,0)\n")
    assert complaint(result).startswith(sentence)
    assert f"--against py:{file}:Mine --seat 0 --seed 7 --state" in result.stdout.splitlines()[-1]


PROGRAM = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print("asked", message["turn"], file=sys.stderr)
        if message["turn"] > 2:
            raise RuntimeError("\\x1b[31mno idea")
        print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
"""


def test_a_program_plays_begins_anew_after_an_undo_and_says_why_it_failed(tmp_path: Path) -> None:
    """It was refused before: programs played only in matches."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, "utf-8")
    spec = f"cmd:{sys.executable} {file}"
    text = output(*SMALL, "--against", spec, stdin="H(0,0)\nundo\nV(0,0)\nstate\n")
    assert text.count(f"({spec})") == 2
    assert "program.py)" in output(*SMALL, "--against", str(file), stdin="H(0,0)\n")  # a path is a spec
    failed = run(*SMALL, "--against", spec, stdin="H(0,0)\nV(0,0)\n")
    assert failed.exit_code != 0
    said = failed.stderr
    assert "failed: crash: it exited with code 1" in said
    assert "asked 3" in said
    assert "RuntimeError" in said
    assert "\x1b[31m" not in said
