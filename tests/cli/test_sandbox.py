import json
from pathlib import Path

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.sandbox import SandboxLevel
from tests.cli.running import complaint, run

HELD = SandboxLevel(
    "landlock",
    ("bubblewrap: the program bwrap cannot be found",),
    "/usr/bin/python3.11",
    "3.11.2",
    None,
    ({"name": "reading.database", "verdict": "held", "words": ""},),
)
NOTHING = SandboxLevel("none", ("bubblewrap: not here", "landlock: it needs root"))


def test_the_level_and_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def level(anew: bool = False) -> SandboxLevel:
        asked.append(anew)
        return HELD

    monkeypatch.setattr(sandbox, "level", level)
    page = run("sandbox")
    assert page.exit_code == 0
    lines = page.stdout.splitlines()
    assert lines[0] == "Uploaded bots run under landlock, with Python 3.11.2 and its standard library, without NumPy."
    assert lines[1] == "A better level does not hold. bubblewrap: the program bwrap cannot be found."
    row = next(line for line in lines if line.startswith("reading.database"))
    assert row.split(maxsplit=2)[1:] == ["held", "Reads the server's database by its path."]
    assert lines[-1] == "1 of 1 attacks were held off."
    assert json.loads(run("sandbox", "--again", "--json").stdout) == HELD.to_json()
    assert asked == [False, True]


def test_where_none_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "level", lambda anew=False: NOTHING)
    page = run("sandbox")
    assert page.exit_code == 1
    why = "Uploaded bots are not run here, because no sandbox holds: bubblewrap: not here; landlock: it needs root."
    assert page.stdout == why + "\n"
    (tmp_path / "main.py").write_text("pass")
    assert complaint(run("match", "dots", f"box:{tmp_path}", "random")) == why
    assert complaint(run("doctor", "dots", f"box:{tmp_path}")) == why


def test_a_box_that_holds_no_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "level", lambda anew=False: HELD)
    sentence = complaint(run("match", "dots", f"box:{tmp_path}", "random"))
    assert sentence == f"a bot in a sandbox is a folder with a main.py, and {tmp_path} has none"
