import json
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from tests.arena.doctor.test_checks import quirk
from tests.cli.running import complaint, on_terminal, output, run


def test_new_bot_writes_a_bot_and_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "my bot"
    said = output("new-bot", str(folder), "--game", "dots", "--language", "c")
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "bot.c", "json.h", "strategy.h"]
    lines = [line.strip() for line in said.splitlines() if line.startswith("    ")]
    assert lines == [
        f"cd {shlex.quote(str(folder))}",
        "cc -O2 -o bot bot.c",
        "ludodrome doctor dots cmd:./bot",
        "ludodrome match dots cmd:./bot random --games 10",
    ]


def test_new_bot_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    sentence = complaint(run("new-bot", str(tmp_path), "--game", "dots"))
    assert sentence == f"{tmp_path} is there already, and nothing is overwritten; name a new or an empty folder"
    assert [file.name for file in tmp_path.iterdir()] == ["notes"]


def test_new_bot_knows_its_games_and_languages(tmp_path: Path) -> None:
    assert "the games are caldera, dots" in complaint(run("new-bot", str(tmp_path), "--game", "go"))
    assert "the languages are python" in complaint(run("new-bot", str(tmp_path), "--game", "dots", "--language", "d"))


def test_a_page_of_what_held(tmp_path: Path) -> None:
    page = output("doctor", "dots", "greedy", "-o", "rows=2", "-o", "cols=2", "--clock", "20s", "--only", "seats")
    assert page.splitlines()[0] == "greedy plays dots"
    assert re.search(r"^✓ held +seats +it plays in every seat \(2 games, \d+ turns\)$", page, re.MULTILINE)
    assert page.splitlines()[-1] == "It passes: 1 held."


def test_a_page_of_what_did_not_hold(tmp_path: Path) -> None:
    spec = quirk("illegal as seat 1")
    kept = tmp_path / "kept"
    result = run("doctor", "skysummit", spec, "--clock", "20s", "--only", "seats", "--record", str(kept))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert any(re.match(r"✗ failure +seats +as seat 1, turn 5: illegal: ", line) for line in lines)
    show = next(line for line in lines if line.startswith("    ludodrome show skysummit "))
    assert "\nply 5, seat 1 ◆ to move\n" in output(*shlex.split(show)[1:])
    assert f"    ludodrome doctor skysummit {shlex.quote(spec)} --clock 20s --seed 0 --only seats" in lines
    assert any(line.startswith(f"    ludodrome rerun {kept}/m-") for line in lines)
    assert any(line.endswith(f" < {kept}/seats-1.jsonl") for line in lines)
    assert lines[-1] == "It does not pass: 1 failed."


def test_the_last_words_of_a_bot_are_shown(tmp_path: Path) -> None:
    result = run("doctor", "skysummit", quirk("dead"), "--only", "start", "--record", str(tmp_path))
    assert "  its last words on stderr:\n    I will not play\n" in result.stdout


def test_machines_get_json(tmp_path: Path) -> None:
    result = run("doctor", "skysummit", quirk("dead"), "--json", "--record", str(tmp_path))
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["game"], found["bot"], found["seed"], found["passed"]) == ("skysummit", quirk("dead"), 0, False)
    first, *rest = found["findings"]
    assert (first["check"], first["grade"], first["stderr"]) == ("start", "failure", "I will not play\n")
    assert {one["grade"] for one in rest} == {"skipped"}


def test_no_empty_folder_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    output("doctor", "dots", "random", "-o", "rows=1", "-o", "cols=1", "--only", "seats")
    assert not list(tmp_path.iterdir())
    run("doctor", "skysummit", quirk("dead"), "--only", "start")
    (folder,) = tmp_path.iterdir()
    assert {file.suffix for file in folder.iterdir()} == {".json", ".jsonl"}


def test_what_is_asked_wrongly_is_refused() -> None:
    assert complaint(run("doctor", "dots", "grady")).startswith("there is no bot 'grady'")
    assert complaint(run("doctor", "dots", "random", "--only", "luck")).startswith("there is no check 'luck'")
    assert complaint(run("doctor", "dots", "random", "--clock", "soon")).startswith("'soon' is no time")
    assert "cannot be found" in complaint(run("doctor", "dots", "cmd:/nowhere/bot"))


def test_on_a_terminal_the_page_is_a_table(tmp_path: Path) -> None:
    code, screen = on_terminal(["doctor", "skysummit", quirk("dead"), "--only", "start", "--record", str(tmp_path)])
    assert code == 1
    assert "✗ failure" in screen
    assert sys.executable in screen
