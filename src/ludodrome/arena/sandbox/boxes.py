"""A box: one bot as a sandboxed process, which leaves nothing behind when it ends.

``bubblewrap.py`` and ``landlock.py`` are the backends; ``levels.py`` finds which one holds. The interpreter must be
under /usr: another uid cannot read one in somebody's home. Bots see only the interpreter, its libraries and their own
files.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ludodrome.arena.messages import MAX_LINE
from ludodrome.arena.sandbox.levels import ResourceLimits
from ludodrome.arena.sandbox.uid_pool import PooledUid
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.processes import KILL_SECONDS, Process

# The interpreter

CANDIDATES = ("/usr/bin/python3",)
LIBRARIES = ("/usr/lib", "/usr/lib64")
LINKS = ("/lib", "/lib64")
"""Other paths to the same libraries."""
TABLES = ("/etc/ld.so.cache", "/etc/alternatives")
"""The loader's tables of libraries, such as NumPy's BLAS: they contain only file names."""
PACKAGES = ("/usr/lib/python3/dist-packages",)
"""Where the system's packages put NumPy."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python under /usr."""

    path: str
    version: str = ""
    numpy: str | None = None
    """NumPy's version, if the system has it."""

    def command(self, main: str) -> list[str]:
        """Run a program: no environment, no user packages, no bytecode, site packages only for NumPy."""
        return [self.path, "-EsB" if self.numpy else "-EsSB", main]


def find_interpreter(candidates: Iterable[str] = CANDIDATES) -> Interpreter | None:
    """Find an interpreter that every uid can run."""
    for candidate in candidates:
        path = Path(candidate).resolve()
        if path.is_relative_to("/usr") and not path.is_relative_to("/usr/local") and _runs_for_all(path):
            return Interpreter(str(path))
    return None


def _runs_for_all(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o001)


def shown(interpreter: Interpreter) -> list[str]:
    """The system's files and folders that a bot can read."""
    links = [link for link in LINKS if os.path.isdir(link) and not os.path.islink(link)]
    return [path for path in (interpreter.path, *LIBRARIES, *links, *TABLES) if os.path.exists(path)]


def links() -> dict[str, str]:
    """Top-level links to the libraries, by path."""
    return {link: os.readlink(link) for link in LINKS if os.path.islink(link)}


MAIN = "main.py"
MAX_FILES = 16
MAX_BYTES = 1024 * 1024
"""The most bytes of all files of a bot together."""
NAMESPACE_EXIT_SECONDS = 1.0
"""Longest wait for bubblewrap to exit after its namespace; then it is killed."""
ENVIRONMENT = {"PATH": "/usr/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""A bot's whole environment. NumPy threads would each take much of its memory; so would its own threads, since the C
library reserves 64 MiB of address space for each unless they share one arena."""

Files = Mapping[str, bytes]


@dataclass(slots=True)
class Launch:
    """How to start a boxed process. Call ``close`` after the start."""

    arguments: list[str]
    descriptors: list[int] = field(default_factory=list)
    """Open descriptors that the process inherits."""
    report: int | None = None
    """A descriptor from which to read the pid of the namespace's first process."""
    folder: Path | None = None
    """A folder to remove at the end."""

    def close(self) -> None:
        """Close the inherited descriptors on our side."""
        while self.descriptors:
            os.close(self.descriptors.pop())


class BoxBackend(Protocol):
    """A way to box a bot: the interface of the modules ``bubblewrap`` and ``landlock``."""

    NAME: str

    def missing(self) -> str | None:
        """Why this backend cannot be tried here; None if it can."""

    def launch(self, files: Files, interpreter: Interpreter, limits: ResourceLimits, user: int | None) -> Launch:
        """How to start a bot with these files."""


@dataclass(frozen=True, slots=True)
class Box:
    """Everything that determines how a bot runs."""

    kind: BoxBackend
    interpreter: Interpreter
    limits: ResourceLimits
    files: Files


def read_folder(folder: Path) -> dict[str, bytes]:
    """Read a bot's files, by name; a single Python file is a bot too. Links are not followed.

    ValueError: no main.py, a file that is not a plain file, too many files or bytes.
    """
    if not folder.exists():
        raise ValueError(f"there is no {folder}: a bot in a sandbox is a folder with a {MAIN}, or a Python file")
    if folder.is_file() and folder.stat().st_size <= MAX_BYTES:
        return {MAIN: folder.read_bytes()}
    files: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ValueError(f"{name} is not a plain file, and a bot in a sandbox consists of plain files")
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        size += path.stat().st_size
        if len(files) == MAX_FILES or size > MAX_BYTES:
            raise ValueError(f"a bot in a sandbox has at most {MAX_FILES} files of {MAX_BYTES} bytes together")
        files[name] = path.read_bytes()
    if MAIN not in files:
        raise ValueError(f"a bot in a sandbox is a folder with a {MAIN}, and {folder} has none")
    return files


def memory_file(data: bytes) -> int:
    """Put bytes into an anonymous file; return its descriptor."""
    descriptor = os.memfd_create("ludodrome", os.MFD_CLOEXEC)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class BoxedProcess(Process):
    """A child in a box. Only ``end`` releases its uid."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._uid = PooledUid.take() if os.geteuid() == 0 else None
        self._launch: Launch | None = None
        self._first: int | None = None
        """A pidfd of the namespace's first process, once it is being ended."""
        self._swept = False
        """Whether its namespace has ended and its first process is reaped, so that no process can be left."""
        self.gone = True
        """Whether nothing was left of it at the end."""
        try:
            super().__init__(())
        except BaseException:
            self._release_box()
            raise

    def _spawn(self, arguments: Any) -> "subprocess.Popen[bytes]":
        box, uid = self._box, self._uid.uid if self._uid else None
        self._launch = launch = box.kind.launch(box.files, box.interpreter, box.limits, uid)

        def begin() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                launch.arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={},
                cwd="/",
                pass_fds=launch.descriptors,
            )

        try:
            return in_launcher_thread(begin)
        finally:
            launch.close()

    def end(self, grace: float, heard: Callable[[bytes], None]) -> None:
        """Close its input, wait ``grace`` seconds, then kill everything in the box and release its uid."""
        if not self.ended:
            self._first = self._first_of_namespace()
        super().end(grace, heard)
        if self._uid is not None:  # it has not exited, so its uid stays taken
            self.gone = False

    def _first_of_namespace(self) -> int | None:
        """A pidfd of the process whose end is the end of all others in the box; None if there is none.

        It must be a child of the process that we started: its pid alone proves nothing, since pids are reused.
        """
        if self._launch is None or self._launch.report is None:
            return None
        try:
            os.set_blocking(self._launch.report, False)
            number = json.loads(os.read(self._launch.report, 4096))["child-pid"]
            handle = os.pidfd_open(number)
        except (OSError, ValueError):  # bubblewrap has not started it yet, or has exited
            return None
        try:
            status = Path(f"/proc/{number}/status").read_text("utf-8", "replace")
        except OSError:
            status = ""
        if f"\nPPid:\t{self._popen.pid}\n" in status:
            return handle
        os.close(handle)
        return None

    def _signal(self, number: int) -> None:
        """Kill the first process of the namespace first; bubblewrap then reaps it and exits.

        In the other order, init would have to reap it, and until then the zombie counts against its uid's limit.
        """
        if self._first is not None:
            self._end_namespace()
        if not self.has_exited(0.0 if self._first is None else NAMESPACE_EXIT_SECONDS):
            super()._signal(number)

    def _sweep(self) -> None:
        """Make sure that nothing of the box is left but the process that we started, which is still to be reaped."""
        self._swept = self._namespace_ended()

    def _release(self) -> None:
        super()._release()
        self._release_box()

    def _namespace_ended(self) -> bool:
        """Whether it has a namespace that has ended with nothing left to reap."""
        if self._first is None:
            return False
        try:
            self._end_namespace()
            watch = select.poll()
            watch.register(self._first, select.POLLIN)
            self.gone = bool(watch.poll(KILL_SECONDS * 1000))
            signal.pidfd_send_signal(self._first, 0)
            return False
        except ProcessLookupError:  # not even a zombie
            return self.gone
        finally:
            os.close(self._first)
            self._first = None

    def _end_namespace(self) -> None:
        assert self._first is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self._first, signal.SIGKILL)

    def _release_box(self) -> None:
        if self._launch is not None:
            self._launch.close()
            if self._launch.report is not None:
                os.close(self._launch.report)
            if self._launch.folder is not None:
                shutil.rmtree(self._launch.folder, ignore_errors=True)
            self._launch = None
        if self._uid is not None:
            if self._swept or self._uid.sweep():
                self._uid.release(clean=self._swept)
            else:
                self.gone = False  # and the uid stays taken
            self._uid = None


# The kernel kills a boxed process when the thread that started it ends: one thread starts them all

_lock = threading.Lock()
_launcher: ThreadPoolExecutor | None = None


def in_launcher_thread(begin: "Callable[[], subprocess.Popen[bytes]]") -> "subprocess.Popen[bytes]":
    """Call ``begin`` in a thread that lives as long as this process, and return its result."""
    global _launcher
    with _lock:
        if _launcher is None:
            _launcher = ThreadPoolExecutor(1, thread_name_prefix="sandbox launcher")
    return _launcher.submit(begin).result()


def _forget_thread() -> None:
    """Forget the thread in a forked process, which does not inherit it."""
    global _launcher, _lock
    _launcher = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_thread)


# The seat


class SandboxStartError(RuntimeError):
    """A box could not be made, which is not the bot's fault."""


class BoxedSeat(ChildSeat):
    """A bot in a box, which is made with its first game. Otherwise it is like any child process."""

    def __init__(self, name: str, box: Box, longest_line: int = MAX_LINE) -> None:
        super().__init__(name, (), longest_line)
        self._box = box

    def _begin(self) -> BoxedProcess:
        try:
            return BoxedProcess(self._box)
        except OSError as error:
            raise SandboxStartError(f"the sandbox could not be started: {error}") from error
