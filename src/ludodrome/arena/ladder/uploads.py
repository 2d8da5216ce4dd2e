"""Uploaded bots: one source file, run as a child process, and the doctor's check of it.

A public server runs the child under ``arena/sandbox/`` or not at all. On one's own machine it runs there too where a
level holds; elsewhere it has limits and a clean environment, which is not a sandbox. The source is never compiled or
imported here.
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

REQUIRED, PREFERRED, OFF = "required", "preferred", "off"
SANDBOX_POLICIES = (REQUIRED, PREFERRED, OFF)
"""Whether uploaded bots run in a sandbox: always, where a level holds, or never."""
MAX_SOURCE = 64 * 1024
"""Bytes of a source."""
PROGRAM = "main.py"
MEMORY = 1 << 30
"""Memory limit of a child without a sandbox, in bytes ..."""
CPU_SECONDS = 3600
"""... and its limit of CPU seconds per game."""
LIMITED = (
    "import os, resource, runpy, sys\n"
    "for name, most in (('RLIMIT_AS', {memory}), ('RLIMIT_CPU', {seconds}), ('RLIMIT_CORE', 0), ('RLIMIT_FSIZE', 0)):\n"
    "    resource.setrlimit(getattr(resource, name), (most, most))\n"
    "sys.argv = sys.argv[1:]\n"
    "os.chdir(os.path.dirname(sys.argv[0]))\n"
    "runpy.run_path(sys.argv[0], run_name='__main__')\n"
)


def is_sandboxed(policy: str) -> bool:
    """Whether uploaded bots run in a sandbox here. The first call may take two seconds."""
    return policy == REQUIRED or (policy == PREFERRED and sandbox.level().holds)


def check_source(source: str) -> None:
    """ValueError if a text cannot be the source of a bot; the doctor tests whether it runs."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ValueError("the source has an unpaired surrogate, which no file can hold") from None
    if size > MAX_SOURCE:
        raise ValueError(f"the source of a bot has at most {MAX_SOURCE} bytes, and this one has {size}")
    if "\0" in source:
        raise ValueError("the source contains a NUL, so it is not Python")
    if not source.strip():
        raise ValueError("the source is empty")


def write_source(source: str, folder: Path) -> Path:
    """Write the source to a folder and return the program's path."""
    program = folder / PROGRAM
    program.write_text(source, "utf-8")
    return program


def limited_command(program: Path) -> list[str]:
    """The command that runs a program without a sandbox: isolated, with limits."""
    launcher = LIMITED.format(memory=MEMORY, seconds=CPU_SECONDS)
    return [sys.executable, "-I", "-u", "-c", launcher, str(program)]


class UploadedSeat(SeatWrapper):
    """The seat of an uploaded bot; closing it deletes the bot's folder."""

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
        """End the child and delete its folder."""
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)


# The doctor's check: ``python -m ludodrome.arena.ladder.uploads``
#
# The first line of the standard input is a JSON object that names the bot. Findings are printed as JSON Lines. The
# process ends when its input does.


QUICK = ("start", "seats")
"""The checks that a bot must pass to be entered."""


def check_main() -> None:
    """Examine the bot named by the first line of the input."""
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
                announce=lambda note: _say(note=note),
            )
            for finding in found:
                _say(finding=_for_people(finding.to_json(), folder))
            _say(over=True)
        except ValueError as error:
            _say(trouble=str(error))


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def _for_people(finding: dict[str, Any], folder: str) -> dict[str, Any]:
    """A finding without this machine's commands and paths."""
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
