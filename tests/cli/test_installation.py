"""`doctor` without a bot."""

import json

import pytest

from ludodrome import installation
from ludodrome.installation import OK, PROBLEM, WARNING, PartStatus
from tests.cli.running import complaint, on_terminal, output, run

PARTS = ("program", "python", "packages", "processor", "cache", "sandbox", "database", "port", "browser", "terminal")


def test_every_part_has_its_line() -> None:
    result = run("doctor")
    *lines, _, last = result.stdout.splitlines()
    told = [line for line in lines if not line.strip().startswith("->")]
    assert [line[11:25].strip() for line in told][: len(PARTS)] == list(PARTS)
    assert all(line[0] in "✓!✗" for line in told)
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


def test_machines_get_json(monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch, GOOD, BAD)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["passed"] is False
    assert told["findings"][1] == {"part": "cache", "grade": "problem", "sentence": "it is full", "advice": "remove it"}


def test_a_game_wants_a_bot() -> None:
    sentence = "name a game and a bot, like `ludodrome doctor dots cmd:./bot`, or neither and no options"
    assert complaint(run("doctor", "dots")) == sentence
    assert complaint(run("doctor", "--only", "seats")) == sentence


def test_on_a_terminal_it_is_a_table() -> None:
    code, screen = on_terminal(["doctor"], NUMBA_DISABLE_JIT="1")
    assert code in (0, 1)
    assert "\x1b[" in screen
    assert "80 columns, utf-8, with colours" in screen
