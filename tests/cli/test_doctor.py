import json
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from ludodrome import installation
from ludodrome.arena import sandbox
from ludodrome.arena.sandbox import SandboxLevel
from ludodrome.installation import OK, PROBLEM, WARNING, PartStatus
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
    assert "\nply 5, Orange ◆ to move\n" in output(*shlex.split(show)[1:])
    assert f"    ludodrome doctor skysummit {shlex.quote(spec)} --clock 20s --seed 0 --only seats" in lines
    assert any(line.startswith(f"    ludodrome rerun {kept}/m-") for line in lines)
    assert any(line.endswith(f" < {kept}/seats-1.jsonl") for line in lines)
    assert lines[-1] == "It does not pass: 1 failed."


def test_the_last_words_of_a_bot_are_shown(tmp_path: Path) -> None:
    result = run("doctor", "skysummit", quirk("dead"), "--only", "start", "--record", str(tmp_path))
    assert "  the last lines of its stderr:\n    I will not play\n" in result.stdout


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
    assert complaint(run("doctor", "dots", "random", "--clock", "soon")).startswith("'soon' is not a time")
    assert "cannot be found" in complaint(run("doctor", "dots", "cmd:/nowhere/bot"))


def test_on_a_terminal_the_page_is_a_table(tmp_path: Path) -> None:
    code, screen = on_terminal(["doctor", "skysummit", quirk("dead"), "--only", "start", "--record", str(tmp_path)])
    assert code == 1
    assert "✗ failure" in screen
    assert sys.executable in screen


HELD = SandboxLevel(
    "landlock",
    ("bubblewrap: the program bwrap cannot be found",),
    "/usr/bin/python3.11",
    "3.11.2",
    None,
    ({"name": "access.database", "verdict": "held", "words": ""},),
)
NOTHING = SandboxLevel("none", ("bubblewrap: not here", "landlock: it needs root"))


def test_the_level_and_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def level(refresh: bool = False) -> SandboxLevel:
        asked.append(refresh)
        return HELD

    monkeypatch.setattr(sandbox, "level", level)
    page = run("sandbox")
    assert page.exit_code == 0
    lines = page.stdout.splitlines()
    assert lines[0] == "Uploaded bots run under landlock, with Python 3.11.2 and its standard library, without NumPy."
    assert lines[1] == "A stronger level does not hold. bubblewrap: the program bwrap cannot be found."
    row = next(line for line in lines if line.startswith("access.database"))
    assert row.split(maxsplit=2)[1:] == ["held", "Reads the server's database by its path."]
    assert lines[-1] == "1 of 1 attacks were held off."
    assert json.loads(run("sandbox", "--again", "--json").stdout) == HELD.to_json()
    assert asked == [False, True]


def test_where_none_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "level", lambda refresh=False: NOTHING)
    page = run("sandbox")
    assert page.exit_code == 1
    why = "Uploaded bots are not run here, because no sandbox holds: bubblewrap: not here; landlock: it needs root."
    assert page.stdout == why + "\n"
    (tmp_path / "main.py").write_text("pass")
    assert complaint(run("match", "dots", f"box:{tmp_path}", "random")) == why
    assert complaint(run("doctor", "dots", f"box:{tmp_path}")) == why


def test_a_box_that_holds_no_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "level", lambda refresh=False: HELD)
    sentence = complaint(run("match", "dots", f"box:{tmp_path}", "random"))
    assert sentence == f"a bot in a sandbox is a folder with a main.py, and {tmp_path} has none"


# `doctor` without a bot.


PARTS = ("program", "python", "packages", "processor", "cache", "sandbox", "database", "port", "browser", "terminal")


def test_every_part_has_its_line() -> None:
    result = run("doctor")
    *lines, _, last = result.stdout.splitlines()
    parts = [line for line in lines if not line.strip().startswith("->")]
    assert [line[11:25].strip() for line in parts][: len(PARTS)] == list(PARTS)
    assert all(line[0] in "✓!✗" for line in parts)
    assert last.startswith("It can be used: " if result.exit_code == 0 else "Something must be done: ")


def _stand_in(monkeypatch: pytest.MonkeyPatch, *found: PartStatus) -> None:
    monkeypatch.setattr(installation, "part_statuses", lambda host, ports: iter(found))


GOOD, DOUBTFUL = (
    PartStatus("python", OK, "it is there"),
    PartStatus("browser", WARNING, "there is none", "open it by hand"),
)
BAD = PartStatus("cache", PROBLEM, "it is full", "remove it")


def test_warnings_pass_and_problems_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch, GOOD, DOUBTFUL)
    page = output("doctor")
    assert page.splitlines() == [
        "✓ ok       python        it is there",
        "! warning  browser       there is none",
        "                         -> open it by hand",
        "",
        "It can be used: 1 ok, 1 warning.",
    ]
    _stand_in(monkeypatch, GOOD, BAD)
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "Something must be done: 1 ok, 1 problem."


def test_the_installation_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch, GOOD, BAD)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["passed"] is False
    assert data["findings"][1] == {"part": "cache", "grade": "problem", "sentence": "it is full", "advice": "remove it"}


def test_a_game_wants_a_bot() -> None:
    sentence = "give a game and a bot, like `ludodrome doctor dots cmd:./bot`, or neither of them and no options"
    assert complaint(run("doctor", "dots")) == sentence
    assert complaint(run("doctor", "--only", "seats")) == sentence


def test_on_a_terminal_it_is_a_table() -> None:
    code, screen = on_terminal(["doctor"], NUMBA_DISABLE_JIT="1")
    assert code in (0, 1)
    assert "\x1b[" in screen
    assert "80 columns, utf-8, with colours" in screen
