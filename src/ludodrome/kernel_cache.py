"""The cache of compiled code on disk: its directories, their age, and locks so that one process compiles a function.

``jit.py`` compiles. If LLVM is interrupted, it crashes at its next use: Ctrl-C waits until it is done.
"""

import functools
import hashlib
import os
import signal
import stat
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.np import linalg

from ludodrome import atomic_io

VARIABLE = "LUDODROME_CACHE"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
KEPT_DAYS = 30
MAX_COMPILE_SECONDS = 120.0
"""The longest time that a process waits for another one that compiles the same function."""

WITHOUT_KERNELS = (
    "analysis.py",
    "benchmarks.py",
    "bots.py",
    "display.py",
    "environments.py",
    "parallel_env.py",
    "routes.py",
)
"""Modules of a game's package that hold no kernels (``game_extras.py``): a change there recompiles nothing."""

_PACKAGE = Path(__file__).resolve().parent


def _postpone_blas() -> None:
    """Let Numba import SciPy's linear algebra when a kernel needs it, not to know at the first kernel that it is there.

    The module of array functions asks while it is imported, and the answer takes a third of a second.
    """
    if "numba.np.arraymath" in sys.modules or find_spec("scipy") is None:
        return
    ask = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath").ensure_blas = ask  # type: ignore[attr-defined]
    finally:
        linalg.ensure_blas = ask


if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    _postpone_blas()


# The directory


def cache_root() -> Path:
    """Return the cache folder: LUDODROME_CACHE, or the user's cache folder.

    A user without a home has it in the temporary folder. It may not be writable.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ludodrome"
    except RuntimeError:  # an account without an entry and without HOME
        return _temporary_root()


def _temporary_root() -> Path:
    """The user's folder among the temporary ones."""
    try:
        folder = tempfile.gettempdir()
    except OSError:  # none can be written
        folder = "/tmp"
    return Path(folder) / f"ludodrome-{_user_id()}"


@functools.cache
def cache_directory(package: Path) -> Path | None:
    """Return the cache directory of one game package; warn and return None if nothing can be written.

    Numba does not notice that a function in another file has changed, so the name holds
    a hash of every source that the package's kernels can be made of, and of Numba's version.
    """
    digest = hashlib.blake2b(digest_size=10)
    digest.update(f"{numba.__version__} {np.__version__}".encode())
    for source in _sources(package):
        digest.update(str(source.name).encode() + b"\0" + source.read_bytes() + b"\0")
    for root in _roots():
        directory = root / f"{package.name}-{digest.hexdigest()}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            os.utime(directory)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            _forget_old(root)
            return directory
    warnings.warn(
        f"compiled code cannot be kept, so that every start compiles anew: name a folder for it with {VARIABLE}",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _roots() -> Iterator[Path]:
    """Yield the usual folder, and a temporary one if it certainly belongs to the user.

    A user who can write compiled code there decides what runs.
    """
    yield cache_root()
    root = _temporary_root()
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        found = root.lstat()
    except OSError:
        return
    if stat.S_ISDIR(found.st_mode) and found.st_uid == _user_id() and not found.st_mode & OTHERS_WRITE:
        yield root


def _user_id() -> int:
    """The user's number; 0 where the system has none."""
    return os.getuid() if hasattr(os, "getuid") else 0


def kept_bytes(root: Path) -> int:
    """The size of all files of compiled code under a folder."""
    total = 0
    for file in root.rglob("*.nb?"):
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total


def package_folder(file: Path) -> Path:
    """Return the folder that a source file is compiled with: its game's folder, or the one it lies in."""
    games = _PACKAGE / "games"
    if file.is_relative_to(games) and len(file.relative_to(games).parts) > 1:
        return games / file.relative_to(games).parts[0]
    return file.parent


def _sources(package: Path) -> Iterable[Path]:
    """List all sources that the kernels of a package can be made of.

    A plug-in game may have folders of its own, or share modules with others of its package.
    """
    games = _PACKAGE / "games"
    own_modules = {_PACKAGE / name for name in ("jit.py", "splitmix.py", "game_spec.py")}
    shared = {*own_modules, *(_PACKAGE / "search").glob("*.py"), *games.glob("*.py")}
    if package.is_relative_to(_PACKAGE):
        package = package_folder(package / "__init__.py")
    own = (package if package.is_relative_to(_PACKAGE) else _top(package)).rglob("*.py")
    others = {games / "__init__.py", *(package / name for name in WITHOUT_KERNELS)}
    return sorted({*shared, *own} - others)


def _top(folder: Path) -> Path:
    """Return the outermost package that a folder belongs to; the folder itself if it is not in a package."""
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _forget_old(root: Path) -> None:
    """Remove the cache directories that no process has used for a month."""
    oldest = time.time() - KEPT_DAYS * 86400
    for directory in root.iterdir():
        try:
            if directory.is_dir() and directory.stat().st_mtime < oldest:
                for file in (
                    *directory.rglob("*.nb?"),
                    *directory.glob("*.turn"),
                    *directory.glob("*.ready"),
                    *directory.glob("*_entry_points.py"),
                ):
                    file.unlink(missing_ok=True)
                for folder in (*directory.rglob("*/"), directory):
                    folder.rmdir()
        except OSError:
            continue


# Taking turns


_compiled_now: set[Path] = set()
"""The functions that this process compiles now, by the files of their locks."""


def is_compiling() -> bool:
    """Whether this process compiles now, rather than loads what was compiled before."""
    return bool(_compiled_now)


def ready_file(package: Path, what: str) -> Path | None:
    """The file that is there once these kernels of a game are compiled; None if nothing can be kept."""
    directory = cache_directory(package)
    return None if directory is None else directory / f"{what}.ready"


def take_turns(compiled: Any, directory: Path) -> None:
    """Let one process at a time compile this function, which is cached in this directory."""
    _Turns(compiled, directory)


class _Turns:
    """A lock for each function: one process compiles it, and the others wait and load the result.

    It wraps the function's cache on disk. Numba calls it from one thread at a time.
    """

    def __init__(self, compiled: Any, directory: Path) -> None:
        cache = compiled._cache
        self._load, self._save = cache.load_overload, cache.save_overload
        self._path = directory / f"{compiled.py_func.__module__}.{compiled.py_func.__qualname__}.turn"
        self._held: int | None = None
        cache.load_overload, cache.save_overload = self.load, self.save

    def load(self, *arguments: Any) -> Any:
        """Load from the cache; if nothing is found, take the lock: the caller compiles next."""
        found = self._load(*arguments)
        if found is None and self._held is None:
            self._held = _turn(self._path)
            found = self._load(*arguments)
            if found is not None:
                self._end()
        if found is None:
            _compiled_now.add(self._path)
        return found

    def save(self, *arguments: Any) -> None:
        """Save to the cache, and release the lock."""
        try:
            self._save(*arguments)
        finally:
            self._end()

    def _end(self) -> None:
        _compiled_now.discard(self._path)
        if self._held is not None:
            atomic_io.unlock_file(self._held)
            self._held = None


def _turn(path: Path) -> int | None:
    """Lock a file; None if that is impossible, or takes too long."""
    until = time.monotonic() + MAX_COMPILE_SECONDS
    with suppress(OSError):  # nothing can be written there, or the disk knows no locks
        while time.monotonic() < until:
            if (file := atomic_io.lock_file(path)) is not None:
                return file
            time.sleep(0.02)
    return None


# Ctrl-C and the compiler. ``jit.py`` calls ``hold_while_compiling`` once; programs with worker threads call
# ``end_compiling`` before they exit.


_event: Any = event
_lock: Any = global_compiler_lock
_LOCK = "numba:compiler_lock"
"""What Numba calls the times in which it compiles, or loads what it has compiled before."""


def hold_while_compiling() -> None:
    """Delay Ctrl-C until the current compilation is done; a second Ctrl-C ends the process at once."""
    _event.register(_LOCK, _Hold())


def end_compiling() -> None:
    """Wait for the current compilation, and let no other thread begin one: this process is about to end.

    A process that ends while a thread is in the compiler may crash.
    """
    _lock.acquire()


class _Hold(_event.Listener):  # type: ignore[misc]
    """Replaces the handler of Ctrl-C while the main thread, which receives it, holds the compiler lock."""

    def __init__(self) -> None:
        self._depth = 0
        self._before: Any = None
        self._caught: tuple[int, FrameType | None] | None = None

    def on_start(self, event: Any) -> None:
        """The main thread asks for the lock, possibly nested."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0:
            self._caught = None
            handler = signal.getsignal(signal.SIGINT)
            self._before = handler if callable(handler) else None  # else the signal is ignored, or ends the process
            if self._before is not None:
                signal.signal(signal.SIGINT, self._catch)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """The main thread released the lock: after the outermost release, handle a Ctrl-C that came meanwhile."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._caught is not None:
                self._before(*self._caught)

    def _catch(self, number: int, frame: FrameType | None) -> None:
        if self._caught is not None:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._caught = (number, frame)
