"""Uploaded bots: one source file, a zip or a WebAssembly module, and the doctor's check of it.

Python runs as a child process. A public server runs the child under ``arena/sandbox/`` or not at all. On one's own
machine it runs there too where a level holds; elsewhere it has limits and a clean environment, which is not a sandbox.
The source is never compiled or imported here, and a zip is never opened here: the bot's own process imports from it,
and unpacks nothing. A WebAssembly module needs no sandbox of the operating system; it is compiled in a child process.
"""

import base64
import binascii
import io
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

from ludodrome.arena import sandbox
from ludodrome.arena.doctor import examine
from ludodrome.arena.ladder.prior_ratings import ladder_game
from ludodrome.arena.messages import max_line
from ludodrome.arena.seats import Seat, SeatWrapper
from ludodrome.arena.transports import wasm_seat
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.wasm_modules import MISSING, PREFIX, check_module, is_installed
from ludodrome.game import Game
from ludodrome.validation import show

REQUIRED, PREFERRED, OFF = "required", "preferred", "off"
SANDBOX_POLICIES = (REQUIRED, PREFERRED, OFF)
"""Whether uploaded bots run in a sandbox: always, where a level holds, or never."""
MAX_SOURCE = 64 * 1024
"""Bytes of a source."""
PROGRAM = "main.py"
ARCHIVE = "bot.zip"
PACKED = "data:application/zip;base64,"
"""How the source of a bot of several files begins; the zip follows."""
MODULE = "data:application/wasm;base64,"
"""How the source of a WebAssembly bot begins; the module follows."""
MODULE_FILE = "bot.wasm"
MAX_UPLOADED_MODULE = 512 * 1024
"""Bytes of a module."""
FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,60}\.(py|json|txt|csv)")
MAX_FILES = 50
MAX_UNPACKED = 8 << 20
"""Files of a zip, and their bytes in all."""
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
FROM_ARCHIVE = """import os, runpy, sys, zipfile
archive = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{archive}")
try:
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
    sys.exit(f"the zip cannot be read: {{error}}")
if "{program}" not in [one.filename for one in entries]:
    sys.exit("the zip has no file {program} at its top")
if len(entries) > {files} or sum(one.file_size for one in entries) > {size}:
    sys.exit("the zip has more than {files} files, or more than {size} bytes unpacked")
sys.path.insert(0, archive)
runpy.run_module("{module}", run_name="__main__", alter_sys=True)
"""
"""The program that runs a zip, in the bot's own process."""
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
    if is_module(source):
        check_module(_decoded(source), MAX_UPLOADED_MODULE)
        return
    if is_packed(source):
        size = len(_decoded(source))
    if size > MAX_SOURCE:
        raise ValueError(f"the source of a bot has at most {MAX_SOURCE} bytes, and this one has {size}")
    if "\0" in source:
        raise ValueError("the source contains a NUL, so it is not Python")
    if not source.strip():
        raise ValueError("the source is empty")


def pack_archive(encoded: str) -> str:
    """A zip or a WebAssembly module in base64 as a source; ValueError if it is neither. The zip is not opened."""
    source = PACKED + encoded
    data = _decoded(source)
    if data.startswith(PREFIX):
        if not is_installed():
            raise ValueError("this server has no WebAssembly engine: " + MISSING)
        source = MODULE + encoded
    elif not data.startswith(b"PK\x03\x04"):
        raise ValueError("the archive is neither a zip nor a WebAssembly module")
    check_source(source)
    return source


def pack_files(files: dict[str, str]) -> str:
    """Several files as a source; ValueError if one cannot be part of a bot."""
    if PROGRAM not in files:
        raise ValueError(f"one of the files of a bot is {PROGRAM}, the program")
    if len(files) > MAX_FILES:
        raise ValueError(f"a bot has at most {MAX_FILES} files, not {len(files)}")
    for name, text in files.items():
        if FILE_NAME.fullmatch(name) is None:
            raise ValueError(f"a file of a bot has a name like eval.py or weights.json, not {show(name)}")
        if text.strip():
            check_source(text)
    if (size := sum(len(text.encode()) for text in files.values())) > MAX_SOURCE:
        raise ValueError(f"the files of a bot have at most {MAX_SOURCE} bytes together, and these have {size}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
        for name, text in sorted(files.items()):
            written.writestr(zipfile.ZipInfo(name, ZIP_DATE), text, zipfile.ZIP_DEFLATED)
    return PACKED + base64.b64encode(buffer.getvalue()).decode()


def is_packed(source: str) -> bool:
    """Whether a source is a zip."""
    return source.startswith(PACKED)


def is_module(source: str) -> bool:
    """Whether a source is a WebAssembly module."""
    return source.startswith(MODULE)


def _decoded(source: str) -> bytes:
    """The zip or the module of a source."""
    try:
        return base64.b64decode(source.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the archive is not in base64") from None


def write_source(source: str, folder: Path) -> Path:
    """Write the source to a folder and return the program's path."""
    if is_module(source):
        (folder / MODULE_FILE).write_bytes(_decoded(source))
        return folder / MODULE_FILE
    program = folder / PROGRAM
    if is_packed(source):
        (folder / ARCHIVE).write_bytes(_decoded(source))
        names = {"archive": ARCHIVE, "program": PROGRAM, "module": program.stem}
        source = FROM_ARCHIVE.format(**names, files=MAX_FILES, size=MAX_UNPACKED)
    program.write_text(source, "utf-8")
    return program


def limited_command(program: Path) -> list[str]:
    """The command that runs a program without a sandbox: isolated, with limits."""
    launcher = LIMITED.format(memory=MEMORY, seconds=CPU_SECONDS)
    return [sys.executable, "-I", "-u", "-c", launcher, str(program)]


def uploaded_seat(spec: str, source: str, game: Game, seed: int, policy: str) -> Seat:
    """The seat of an uploaded bot. ``policy``: whether Python runs in a sandbox, one of ``SANDBOX_POLICIES``."""
    if is_module(source):
        return wasm_seat(spec, _decoded(source), game, seed)
    return UploadedSeat(spec, source, game, is_sandboxed(policy))


class UploadedSeat(SeatWrapper):
    """The seat of an uploaded bot in Python; closing it deletes the bot's folder."""

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
        if program.name == MODULE_FILE:
            spec = f"wasm:{program}"
        else:
            spec = f"box:{program}" if asked["sandboxed"] else f"cmd:{shlex.join(limited_command(program))}"
        try:
            found = examine(
                ladder_game(asked["game"]),
                spec,
                Path(folder) / "troubles",
                only=asked["only"],
                announce=lambda note: _say(note=note),
            )
            for finding in found:
                _say(finding=_for_people(finding.to_json(), folder))
            _say(over=True)
        except ValueError as error:
            _say(trouble=str(error).replace(f"{folder}/", ""))


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
