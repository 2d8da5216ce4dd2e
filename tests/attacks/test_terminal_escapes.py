"""Point 14: a bot's raw escape sequences reach the terminal of whoever looks at it."""

import io
import json
import sys
from pathlib import Path

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.seats import ERROR, Answer, SeatFault
from ludodrome.cli import console
from tests.arena.playing import Scripted, play_spec
from tests.cli.running import run

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eback\u2066[red]loud[/red]\r\x08\x7f\u2028\ud800"
RAW = ("\x1b]", "\x1b[2J", "\x9b", "\u202e", "\u2066", "\x07", "\x08", "\x7f", "\u2028")


def test_point_14_hostile_text_is_shown_as_escapes() -> None:
    shown = console.printable(HOSTILE)
    assert shown == (r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202eback\u2066[red]loud[/red]\r\x08\x7f\u2028\ud800")
    assert console.printable(shown) == shown
    assert (
        console.printable("two\nlines\tand a tab, é, 日本, 👩\u200d🚀") == "two\nlines\tand a tab, é, 日本, 👩\u200d🚀"
    )
    assert console.printable("two\nlines\t", one_line=True) == r"two\nlines\t"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [False, True])
def test_point_14_nothing_that_a_command_prints_is_raw(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "300")
    console.say(HOSTILE)
    console.complain(HOSTILE)
    console.stdout().print(HOSTILE)
    console.stderr().print(HOSTILE)
    console.show_table(("bot", "words"), [(HOSTILE, HOSTILE)])
    console.show_table(("bot", "words"), [("x" * 400, HOSTILE)])
    with console.reporting() as report:
        report(HOSTILE)
    written = out.getvalue() + err.getvalue()
    for raw in RAW:
        assert raw not in written
    assert written.count("[red]loud[/red]") >= 7 - terminal  # a status line of a terminal may be gone again
    assert r"\x1b]0;owned" in written
    assert r"\u202e" in written


def test_point_14_doctor_shows_what_a_bot_writes_without_obeying_it(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import json, sys\n"
        f"sys.stderr.write({HOSTILE[:-1]!r} + chr(10)); sys.stderr.flush()\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'turn':\n"
        f"        print(json.dumps({{'type': 'error', 'error': {HOSTILE[:-1]!r}}}), flush=True)\n",
        "utf-8",
    )
    spec = f"cmd:{sys.executable} -I -S -X utf8 {bot}"
    found = run("doctor", "dots", spec, "-o", "rows=1", "-o", "cols=1", "--only", "seats", "--record", str(tmp_path))
    assert found.exit_code == 1
    for raw in RAW:
        assert raw not in found.stdout + found.stderr
    assert r"\x1b]0;owned\x07\x1b[2J" in found.stdout
    assert "[red]loud[/red]" in found.stdout


def test_point_14_replay_and_records_show_what_a_bot_said_without_obeying_it(tmp_path: Path) -> None:
    said = HOSTILE[:-1]
    seat = Scripted(lambda turn: Answer(0.0, fault=SeatFault(ERROR, said), log=(said,)))
    spec = play_spec("dots", ("a", "b"), policy="forfeit", rows=1, cols=1)
    file = records.write(play(spec, [seat, seat]), tmp_path)
    for arguments in (["replay", str(file)], ["records", str(tmp_path)], ["rerun", str(file), "random"]):
        found = run(*arguments)
        for raw in RAW:
            assert raw not in found.output, arguments
    shown = run("replay", str(file)).stdout
    assert r"error: \x1b]0;owned\x07\x1b[2J\x9b31m\u202eback" in shown
    assert r"log: \x1b]0;owned" in shown
    exported = run("records", str(tmp_path), "--export", "jsonl").stdout  # for programs: nothing is lost in a pipe
    assert json.loads(exported)["turns"][0]["verdict"]["why"] == said
