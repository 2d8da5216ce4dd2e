"""Bots that were entered as source text: a folder with one program, run as a child process.

On one's own machine such a child has limits and a clean environment, which is no sandbox; a server for strangers runs
it under ``arena/sandbox/`` or not at all. The source is never compiled or imported here.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from ludodrome.arena.messages import longest_line
from ludodrome.arena.seats import AroundSeat, Seat
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.game import Game

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


class UploadedSeat(AroundSeat):
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
            return ChildSeat(spec, limited_command(program), longest_line(game))
        from ludodrome.arena import sandbox

        return sandbox.seat(program.parent, spec, longest_line(game))

    def close(self) -> None:
        """The child is ended, and its folder with it."""
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)
