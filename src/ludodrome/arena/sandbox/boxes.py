"""One bot in one box: a process that is started under a level and ended with certainty, and nothing left of it.

What a level makes of a bot's files is in ``bubblewrap.py`` and ``landlock.py``; which level is in force, in
``probe.py``.
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
from ludodrome.arena.sandbox.limits import ResourceLimits
from ludodrome.arena.sandbox.uid_pool import PooledUid
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.processes import KILL_SECONDS, Process

# The interpreter that uploaded bots get, and the parts of the machine that it needs to run: these alone are shown.
# It must lie under /usr: one in somebody's home cannot be read by another uid, and belongs to somebody.


CANDIDATES = ("/usr/bin/python3",)
LIBRARIES = ("/usr/lib", "/usr/lib64")
LINKS = ("/lib", "/lib64")
"""Where programs look for the same libraries."""
TABLES = ("/etc/ld.so.cache", "/etc/alternatives")
"""Where the loader finds libraries that have several makers, NumPy's among them: file names, and nothing else."""
PACKAGES = ("/usr/lib/python3/dist-packages",)
"""Where the machine's packages put NumPy."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python under /usr."""

    path: str
    version: str = ""
    numpy: str | None = None
    """NumPy's version, if the machine's packages have it."""

    def command(self, main: str) -> list[str]:
        """Running a program: no environment, no user's packages, no bytecode written; other packages only for NumPy."""
        return [self.path, "-EsB" if self.numpy else "-EsSB", main]


def find_interpreter(candidates: Iterable[str] = CANDIDATES) -> Interpreter | None:
    """The interpreter, if the machine has one that every uid can run."""
    for candidate in candidates:
        path = Path(candidate).resolve()
        if path.is_relative_to("/usr") and not path.is_relative_to("/usr/local") and _runs_for_all(path):
            return Interpreter(str(path))
    return None


def _runs_for_all(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o001)


def shown(interpreter: Interpreter) -> list[str]:
    """Files and folders of the machine that a bot may read."""
    links = [link for link in LINKS if os.path.isdir(link) and not os.path.islink(link)]
    return [path for path in (interpreter.path, *LIBRARIES, *links, *TABLES) if os.path.exists(path)]


def links() -> dict[str, str]:
    """Links at the top of the tree to where the libraries are."""
    return {link: os.readlink(link) for link in LINKS if os.path.islink(link)}


MAIN = "main.py"
MAX_FILES = 16
MAX_BYTES = 1024 * 1024
"""Of all files of a bot together."""
LEAVING_SECONDS = 1.0
"""Between the end of a namespace and the end of the bubblewrap that made it. Then it is ended itself."""
ENVIRONMENT = {"PATH": "/usr/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""All that a bot sees. More threads of NumPy's would each take a good part of its memory; so would its own, for each of
which the C library sets 64 MiB of address space aside, unless they share one arena."""

Files = Mapping[str, bytes]


@dataclass(slots=True)
class Launch:
    """How a boxed process is started. What it holds is given back by ``close``, once it has been started."""

    arguments: list[str]
    handed: list[int] = field(default_factory=list)
    """Descriptors that the process gets."""
    report: int | None = None
    """Where the number of the namespace's first process can be read."""
    folder: Path | None = None
    """Removed at the end."""

    def close(self) -> None:
        """Close what was handed over."""
        while self.handed:
            os.close(self.handed.pop())


class BoxBackend(Protocol):
    """A way to box a bot. Modules are kinds."""

    NAME: str

    def missing(self) -> str | None:
        """Why this cannot be tried here; None if it can."""

    def launch(self, files: Files, interpreter: Interpreter, limits: ResourceLimits, user: int | None) -> Launch:
        """How a bot with these files is started."""


@dataclass(frozen=True, slots=True)
class Box:
    """All that decides how a bot runs."""

    kind: BoxBackend
    interpreter: Interpreter
    limits: ResourceLimits
    files: Files


def read_folder(folder: Path) -> dict[str, bytes]:
    """A bot's files by their names; ValueError if they are not such as can be run. Links are not followed.

    A single Python file is a bot too.
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
            raise ValueError(f"{name} is no plain file, and a bot in a sandbox is made of plain files")
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
    """A descriptor from which these bytes can be read."""
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
    """A child in a box. It must be ended with ``end``: only then its uid is given back."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._identity = PooledUid.take() if os.geteuid() == 0 else None
        self._launch: Launch | None = None
        self._first: int | None = None
        """A handle of the first process of its namespace, once it is to be ended."""
        self._swept = False
        """Whether its namespace was seen to end and its first process is reaped: nobody needs to be looked for."""
        self.gone = True
        """Whether, once it was ended, nothing of it was left."""
        try:
            super().__init__(())
        except BaseException:
            self._release_box()
            raise

    def _spawn(self, arguments: Any) -> "subprocess.Popen[bytes]":
        box, uid = self._box, self._identity.uid if self._identity else None
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
                pass_fds=launch.handed,
            )

        try:
            return in_lasting_thread(begin)
        finally:
            launch.close()

    def end(self, grace: float, heard: Callable[[bytes], None]) -> None:
        """Close its input, give it time to leave, then end it. Nothing is left of it, and its uid is given back."""
        if not self.ended:
            self._first = self._first_of_namespace()
        super().end(grace, heard)
        if self._identity is not None:  # it has not exited, and its uid stays taken
            self.gone = False

    def _first_of_namespace(self) -> int | None:
        """A handle of the process whose end is the end of all others; None if it is not there, or not any more.

        It is the child of the one that we have started. Its number alone proves nothing: numbers are used again.
        """
        if self._launch is None or self._launch.report is None:
            return None
        try:
            os.set_blocking(self._launch.report, False)
            number = json.loads(os.read(self._launch.report, 4096))["child-pid"]
            handle = os.pidfd_open(number)
        except (OSError, ValueError):  # bubblewrap has not come so far, or is done
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
        """The first of its namespace goes first: bubblewrap then reaps it and leaves.

        The other way round it would be left to the machine's init, and until that takes notice, which may be long, the
        dead process counts as one of its uid's.
        """
        if self._first is not None:
            self._end_namespace()
        if not self.has_exited(0.0 if self._first is None else LEAVING_SECONDS):
            super()._signal(number)

    def _sweep(self) -> None:
        """See that nothing of the box is left but the process that we have started, and which is still to be reaped."""
        self._swept = self._namespace_ended()

    def _release(self) -> None:
        super()._release()
        self._release_box()

    def _namespace_ended(self) -> bool:
        """Whether its namespace was seen to end and nothing of it waits to be reaped, if it has one."""
        if self._first is None:
            return False
        try:
            self._end_namespace()
            watch = select.poll()
            watch.register(self._first, select.POLLIN)
            self.gone = bool(watch.poll(KILL_SECONDS * 1000))
            signal.pidfd_send_signal(self._first, 0)
            return False
        except ProcessLookupError:  # not even a dead process
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
        if self._identity is not None:
            if self._swept or self._identity.sweep():
                self._identity.give_back(clean=self._swept)
            else:
                self.gone = False  # and the uid stays taken
            self._identity = None


# A thread that lasts: the kernel ends a boxed process when the thread that started it ends

_lock = threading.Lock()
_lasting: ThreadPoolExecutor | None = None


def in_lasting_thread(begin: "Callable[[], subprocess.Popen[bytes]]") -> "subprocess.Popen[bytes]":
    """What ``begin`` returns, called in a thread that ends with this process."""
    global _lasting
    with _lock:
        if _lasting is None:
            _lasting = ThreadPoolExecutor(1, thread_name_prefix="starts boxed bots")
    return _lasting.submit(begin).result()


def _forget_thread() -> None:
    """A forked process has none of its parent's threads."""
    global _lasting, _lock
    _lasting = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_thread)


# A boxed bot as a seat: pipes, deadlines and verdicts are those of every child process.


class SandboxStartError(RuntimeError):
    """A box could not be made, which is no fault of the bot in it."""


class BoxedSeat(ChildSeat):
    """A bot in a box. The box is made with its first game."""

    def __init__(self, name: str, box: Box, longest_line: int = MAX_LINE) -> None:
        super().__init__(name, (), longest_line)
        self._box = box

    def _begin(self) -> BoxedProcess:
        try:
            return BoxedProcess(self._box)
        except OSError as error:
            raise SandboxStartError(f"the sandbox could not be started: {error}") from error
