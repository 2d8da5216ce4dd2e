"""Bots that were entered as source text: a folder with one program, run as a child process.

On one's own machine such a child has limits and a clean environment, which is no sandbox; a server for strangers runs
it under ``arena/sandbox/`` or not at all. The source is never compiled or imported here.
"""

import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from ludodrome.arena import sandbox
from ludodrome.arena.doctor import examine
from ludodrome.arena.messages import max_line
from ludodrome.arena.seats import Seat, SeatWrapper
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.game import Game
from ludodrome.games import make

MOST_SOURCE = 64 * 1024
"""Bytes."""
PROGRAM = "main.py"
MEMORY = 1 << 30
"""Bytes that a child on one's own machine may use ..."""
CPU_SECONDS = 3600
"""... and seconds, in one game."""
LIMITED = (
    "import os, resource, runpy, sys\n"
    "for name, most in (('RLIMIT_AS', {memory}), ('RLIMIT_CPU', {seconds}), ('RLIMIT_CORE', 0), ('RLIMIT_FSIZE', 0)):\n"
    "    resource.setrlimit(getattr(resource, name), (most, most))\n"
    "sys.argv = sys.argv[1:]\n"
    "os.chdir(os.path.dirname(sys.argv[0]))\n"
    "runpy.run_path(sys.argv[0], run_name='__main__')\n"
)


def check_source(source: str) -> None:
    """ValueError if a text cannot be the source of a bot. Whether it is a program, the doctor finds out."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ValueError("the source has half a character in it, which no file can hold") from None
    if size > MOST_SOURCE:
        raise ValueError(f"the source of a bot has at most {MOST_SOURCE} bytes, and this one has {size}")
    if "\0" in source:
        raise ValueError("the source has a NUL in it: it is no Python text")
    if not source.strip():
        raise ValueError("the source is empty")


def write_source(source: str, folder: Path) -> Path:
    """The program in a folder."""
    program = folder / PROGRAM
    program.write_text(source, "utf-8")
    return program


def limited_command(program: Path) -> list[str]:
    """How a program is run on one's own machine: isolated from its surroundings, with limits."""
    launcher = LIMITED.format(memory=MEMORY, seconds=CPU_SECONDS)
    return [sys.executable, "-I", "-u", "-c", launcher, str(program)]


class UploadedSeat(SeatWrapper):
    """A seat around the child of an uploaded bot, whose folder is gone when it is closed."""

    def __init__(self, spec: str, source: str, game: Game, sandboxed: bool) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ludodrome-bot-"))
        try:
            program = write_source(source, self._folder)
            super().__init__(self._make(spec, program, game, sandboxed))
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @staticmethod
    def _make(spec: str, program: Path, game: Game, sandboxed: bool) -> Seat:
        if not sandboxed:
            return ChildSeat(spec, limited_command(program), max_line(game))
        return sandbox.seat(program.parent, spec, max_line(game))

    def close(self) -> None:
        """The child is ended, and its folder with it."""
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)


# The doctor's child: ``python -m ludodrome.arena.ladder.uploads`` examines an uploaded bot, away from the server.
# A JSON line on the standard input says what to examine; every finding is a JSON line on the standard output as soon as
# it is made. It ends when its input does.


QUICK = ("start", "seats")
"""The checks that every bot passes before it is entered."""


def check_main() -> None:
    """Examines what the first line of the input asks for."""
    asked = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_input, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ludodrome-checkup-") as folder:
        program = write_source(asked["source"], Path(folder))
        spec = f"box:{program}" if asked["sandboxed"] else f"cmd:{shlex.join(limited_command(program))}"
        try:
            found = examine(
                make(asked["game"]),
                spec,
                Path(folder) / "troubles",
                only=asked["only"],
                tell=lambda note: _say(note=note),
            )
            for finding in found:
                _say(finding=_for_people(finding.to_json(), folder))
            _say(over=True)
        except ValueError as error:
            _say(trouble=str(error))


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def _for_people(finding: dict[str, Any], folder: str) -> dict[str, Any]:
    """A finding without what concerns this machine alone: its commands, and its paths."""
    plain = {name: value for name, value in finding.items() if name != "commands"}
    return {name: str(value).replace(f"{folder}/", "") for name, value in plain.items()}


def _follow_input() -> None:
    while sys.stdin.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


if __name__ == "__main__":
    check_main()
