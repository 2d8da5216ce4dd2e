"""A box: one bot as a sandboxed process, which leaves nothing behind when it ends.

``bubblewrap.py`` and ``landlock.py`` are the backends; ``levels.py`` finds which one holds, and whether a box has a
control group too. The interpreter must be under /usr: another uid cannot read one in somebody's home. Bots see only the
interpreter, its library, the shared libraries that these need, and their own files.
"""

import contextlib
import functools
import json
import os
import re
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
from ludodrome.arena.sandbox.control_groups import ControlGroup, GroupLimits
from ludodrome.arena.sandbox.uid_pool import PooledUid
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.processes import KILL_SECONDS, Process

# The interpreter

CANDIDATES = ("/usr/bin/python3",)
LINKS = ("/lib", "/lib64")
"""Other paths to the libraries under /usr."""
LOADER_CACHE = "/etc/ld.so.cache"
"""The loader's table of libraries outside its own folders; it contains only file names."""
LOADED_LATER = ("libgcc_s.so.1",)
"""Libraries that the C library loads when a thread ends, so that no program names them."""
USELESS_MODULES = ("_curses", "_curses_panel", "_dbm", "_gdbm", "_tkinter", "nis", "readline")
"""Extension modules for terminals and files of databases. Their libraries are not shown: each is one more mount."""
LOCALE = "/usr/lib/locale/C.utf8"
PACKAGES = ("/usr/lib/python3/dist-packages",)
"""Where the system's packages put NumPy."""
NUMPY = ("numpy", "numpy.libs")
"""Its folders there."""
LDD = "ldd"
LDD_SECONDS = 60.0
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


GROUP_MEMORY = 32 * 1024 * 1024
"""Bytes in a control group beyond the bot's own: page tables, names that the kernel remembers, bubblewrap."""
GROUP_PROCESSES = 8
GROUP_PROCESSORS = 1.0
"""A bot has one processor, with all its threads."""

# The kernel's rlimits are set inside the sandbox after the change of uid: root is exempt from the limit on processes.


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of one bot process."""

    memory: int = 256 * 1024 * 1024
    """Bytes of address space. The limit holds for each process, and a bot has only one."""
    cpu_seconds: int = 300
    """Processor time of all threads together. Deadlines stop a slow bot; this stops one that is not asked."""
    threads: int = 8
    open_files: int = 32

    def values(self) -> dict[str, int]:
        """The limits by their names in the ``resource`` module, without RLIMIT_."""
        return {
            "NPROC": self.threads,
            "AS": self.memory,
            "CPU": self.cpu_seconds,
            "NOFILE": self.open_files,
            "FSIZE": 0,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }

    def group(self) -> GroupLimits:
        """The limits of the bot's control group, in which the kernel's memory and the sandbox's own processes count."""
        return GroupLimits(self.memory + GROUP_MEMORY, self.threads + GROUP_PROCESSES, GROUP_PROCESSORS, freezer=True)

    def command(self, prlimit: str) -> list[str]:
        """A command prefix that sets the limits."""
        return [prlimit, *(f"--{name.lower()}={value}" for name, value in self.values().items()), "--"]


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python under /usr."""

    path: str
    version: str = ""
    numpy: str | None = None
    """NumPy's version, if the system has it."""
    paths: tuple[str, ...] = ()
    """What ``shown`` found for it; empty: not looked up yet."""

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


def shown(interpreter: Interpreter, programs: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The system's files and folders that a bot can read; ``programs``: others that start it.

    OSError if the machine cannot tell which libraries they need.
    """
    return interpreter.paths or _shown(interpreter.path, PACKAGES if interpreter.numpy else (), programs)


@functools.lru_cache(maxsize=16)
def _shown(interpreter: str, packages: tuple[str, ...], programs: tuple[str, ...]) -> tuple[str, ...]:
    folders = {*_library(interpreter), LOCALE, *(f"{package}/{name}" for package in packages for name in NUMPY)}
    folders = {path for path in folders if os.path.isdir(path)}
    folders = {path for path in folders if not _is_in(path, folders - {path})}
    found = [path for folder in sorted(folders) for path in sorted(Path(folder).rglob("*.so*"))]
    modules = [str(path) for path in found if path.name.partition(".")[0] not in USELESS_MODULES]
    libraries = [path for path in needed_libraries((interpreter, *programs, *modules)) if not _is_in(path, folders)]
    elsewhere = {os.path.dirname(path) for path in libraries} - _loader_folders(libraries)
    tables = [LOADER_CACHE] if elsewhere and os.path.exists(LOADER_CACHE) else []
    return (interpreter, *programs, *sorted(folders), *libraries, *tables)


def listable(interpreter: Interpreter) -> list[str]:
    """The folders whose names a bot must be able to list, to import what ``shown`` has of them."""
    return [path for path in PACKAGES if interpreter.numpy and os.path.isdir(path)]


def _library(interpreter: str) -> list[str]:
    """The folders of the standard library and of its extension modules."""
    script = "import sysconfig as s; print(s.get_path('stdlib'), s.get_path('platstdlib'), sep='\\n')"
    return _output([interpreter, "-ISc", script]).splitlines()


def _output(command: list[str]) -> str:
    """What a program of the system prints; OSError if it hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LDD_SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{command[0]} took longer than {LDD_SECONDS:.0f} seconds") from error
    return done.stdout


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _loader_folders(libraries: Iterable[str]) -> set[str]:
    """The folders that the loader searches without its cache: those of the C library."""
    own = {os.path.dirname(path) for path in libraries if re.match(r"libc\.|ld-|ld64", os.path.basename(path))}
    return {"/usr/lib", "/usr/lib64", *own}


def needed_libraries(programs: tuple[str, ...]) -> tuple[str, ...]:
    """The shared libraries of programs and extension modules, and the loader; OSError if the machine cannot tell."""
    said = _output([shutil.which(LDD) or f"/usr/bin/{LDD}", *programs])
    paths = {
        os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for path in re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", said, re.MULTILINE)
    }
    beside = {os.path.dirname(path) for path in paths if os.path.basename(path).startswith("libc.")}
    paths |= {f"{folder}/{name}" for folder in beside for name in LOADED_LATER if os.path.exists(f"{folder}/{name}")}
    if not paths:
        raise OSError(f"{LDD} found no libraries of {programs[0]}")
    return tuple(sorted(paths))


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
    PROGRAMS: tuple[str, ...]
    """Programs that run inside the box before the bot."""

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
    group: GroupLimits | None = None
    """The limits of its control group; None without one."""


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
        self.group: ControlGroup | None = None
        self._launch: Launch | None = None
        self._first: int | None = None
        """A pidfd of the namespace's first process, once it is being ended."""
        self._swept = False
        """Whether its namespace has ended and its first process is reaped, so that no process can be left."""
        self.gone = True
        """Whether nothing was left of it at the end."""
        try:
            if box.group is not None and box.group.controls:
                self.group = ControlGroup.make(box.group)
            super().__init__(())
        except BaseException:
            self._release_box()
            raise

    def _spawn(self, arguments: Any) -> "subprocess.Popen[bytes]":
        box, uid = self._box, self._uid.uid if self._uid else None
        self._launch = launch = box.kind.launch(box.files, box.interpreter, box.limits, uid)
        joining = self.group.command() if self.group else []

        def begin() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                [*joining, *launch.arguments],
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

    def begin_turn(self) -> None:
        """Its turn begins: thaw it, if it has a control group."""
        super().begin_turn()
        if self.group is not None and self.group.limits.freezer:
            self.group.thaw()

    def end_turn(self) -> None:
        """Another's turn begins: freeze it, if it has a control group."""
        super().end_turn()
        if self.group is not None and self.group.limits.freezer:
            self.group.freeze()

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
        if self.group is not None:
            self.group.kill()

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
        if self.group is not None:
            self.gone &= self.group.remove()
            self.group = None
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

    def __init__(self, name: str, box: Box, longest_line: int = MAX_LINE, tolerant: bool = False) -> None:
        super().__init__(name, (), longest_line, tolerant)
        self._box = box

    def _begin(self) -> BoxedProcess:
        try:
            return BoxedProcess(self._box)
        except OSError as error:
            raise SandboxStartError(f"the sandbox could not be started: {error}") from error
