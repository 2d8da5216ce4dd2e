"""`play` as a command: when it fills the screen, and what it records."""

import os
import pty
import subprocess
import termios
from pathlib import Path

import pytest

from ludodrome.arena import records
from ludodrome.cli import play as cli_play
from ludodrome.cli.base import CommandError
from tests.cli.playing import new_play
from tests.cli.running import PROGRAM, complaint, output, run


def on_screen(arguments: list[str], typed: bytes, **variables: str) -> tuple[int, str]:
    """Exit code and output of `play` on a terminal; what is typed is typed once the screen is drawn."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    process = subprocess.Popen(
        [*PROGRAM, "play", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux: the other side is closed
            break
        told += part
        if typed and b"resign" in told:
            os.write(ours, typed)
            typed = b""
    os.close(ours)
    return process.wait(), told.decode(errors="replace").replace("\r\n", "\n")


def test_on_a_terminal_the_game_fills_the_screen_and_leaving_prints_how_to_go_on() -> None:
    code, text = on_screen(["dots", "-o", "rows=1", "-o", "cols=1"], b"q")
    assert code == 0
    assert "\x1b[?1049h" in text  # the alternate screen
    rest = text.partition("\x1b[?1049l")[2]
    assert "You left the game. To continue it later:" in rest
    assert "ludodrome play dots -o rows=1 -o cols=1 --state '1x1 " in rest


def test_sixteen_colours_are_enough() -> None:
    code, text = on_screen(["skysummit"], b"q", TERM="xterm", COLORTERM="", TEXTUAL_COLOR_SYSTEM="standard")
    assert code == 0
    assert "\x1b[?1049h" in text
    assert ";2;" not in text.partition("\x1b[?1049h")[2]  # a colour of 24 bits


def test_without_textual_a_sentence_says_so_and_the_game_is_played_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert cli_play._has_screen()
    monkeypatch.setattr(cli_play, "find_spec", lambda name: None)
    assert not cli_play._has_screen()
    assert "pip install 'ludodrome[lab]'. This is the form line by line." in capsys.readouterr().out


def test_the_record_line_by_line(tmp_path: Path) -> None:
    arguments = ["play", "dots", "-o", "rows=1", "-o", "cols=1", "--against", "chains", "--record", str(tmp_path)]
    text = output(*arguments, "--plain", "--seed", "5", stdin="H(0,0)\nH(1,0)\nV(0,0)\nV(0,1)\nundo\n")
    (path,) = tmp_path.iterdir()
    assert text.endswith(f"Record: {path}\n")
    record = records.read(path)
    assert (record["bots"], record["names"]) == (["person", "chains"], ["You", "chains"])
    assert output("replay", "--verify", str(path)) == "1 of 1 records are correct\n"


def test_a_wrong_clock_is_a_sentence() -> None:
    assert "a clock of `play` counts time" in complaint(run("play", "dots", "--clock", "nodes=5"))
    assert "a clock is written like" in complaint(run("play", "dots", "--clock", "soon"))


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    play = new_play("dots", rows=1, cols=1)
    play.folder = tmp_path / "file"
    play.resign(0)
    with pytest.raises(CommandError, match="the record cannot be written into"):
        play.write_record()
