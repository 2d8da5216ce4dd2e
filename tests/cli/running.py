"""Running the command line, inside this process or as one of its own."""

import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence

from typer.testing import CliRunner, Result

from ludodrome.cli import app

PROGRAM = [sys.executable, "-m", "ludodrome"]
PROMPT = b"\x1b[0m>"
OPENINGS = {"spaces": ["3:1:uuf"]}
"""A legal first move of games whose moves cannot be listed."""


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False, prog_name="ludodrome")


def output(*arguments: str, stdin: str = "") -> str:
    """What a command prints that must succeed."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def complaint(result: Result) -> str:
    """The one sentence of a command that must be refused."""
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]
    assert len(lines) == 1
    assert lines[0].startswith("ludodrome: ")
    return lines[0].removeprefix("ludodrome: ")


def beside(*arguments: str) -> subprocess.Popen[bytes]:
    """A command that runs beside the test, its streams pipes, and heeds Ctrl-C.

    The process that started the tests may ignore that signal, and children inherit it.
    """

    def heed() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heed)


def in_shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """What a line of shell does; ``$L`` in it is the program."""
    program = shlex.join(PROGRAM)
    return subprocess.run(
        ["/bin/sh", "-c", line.replace("$L", program)], capture_output=True, env={**os.environ, **environment}
    )


def on_terminal(arguments: Sequence[str], typed: str = "", prompt: bytes = PROMPT, **variables: str) -> tuple[int, str]:
    """Exit code and screen of a command that runs on a terminal of its own, with cat for a pager.

    What is typed is typed at the first prompt: before it, the terminal would not take Ctrl-D for what it is.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PAGER": "cat", "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **variables}
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    screen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: the other side is closed
            break
        if not part:
            break
        screen += part
        if typed and screen.rstrip(b" ").endswith(prompt):
            os.write(ours, typed.encode())
            typed = ""
    os.close(ours)
    return process.wait(), screen.decode().replace("\r\n", "\n")
