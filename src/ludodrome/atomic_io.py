"""Files that are written whole or not at all, file locks, and new folders from templates."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl as _fcntl
except ImportError:  # only Unix has it
    _fcntl = None  # type: ignore[assignment]

fcntl: Any = _fcntl


OPEN, PRIVATE = 0o666, 0o600
"""Modes of a new file, before the umask: for everybody, and for its user alone."""


def write_whole(path: Path, data: bytes, mtime: float | None = None, mode: int = OPEN) -> None:
    """Replace a file at once, or leave it as it was and raise OSError; ``mtime`` sets its modification time."""
    with whole_file(path, mtime, mode) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path, mtime: float | None = None, mode: int = OPEN) -> Iterator[BinaryIO]:
    """Open a temporary file for writing; it replaces ``path`` when the block ends without an error.

    The file has its ``mode`` from the start, whatever the mode of the file that it replaces. A device or a pipe is
    written to directly: nothing can replace it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as there:
            yield there
        return
    with replacement(path, mode) as temporary:
        with open(temporary, "wb") as file:
            yield file
        if mtime is not None:
            os.utime(temporary, (mtime, mtime))


@contextmanager
def replacement(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Create an empty file beside ``path``, which it replaces, synchronised, when the block ends without an error.

    With ``mode`` 0o600 nobody else can read it at any time: it has that mode from the start, whatever the umask is.
    After an error it is removed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # The system applies the umask; reading the umask would change it for all threads for a moment.
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode))
    try:
        yield temporary
        with open(temporary, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def close_to_others(path: Path) -> None:
    """Make a file readable by its owner alone, if it is ours and others can read it.

    A file that only its group can read besides is left as it is: somebody chose that.
    """
    with suppress(OSError):
        found = os.stat(path)
        if open_to_others(path) and found.st_uid == os.geteuid():
            os.chmod(path, 0o600)


def open_to_others(path: Path) -> bool:
    """Whether every user of the machine can read or write a file; always False where files have no owners."""
    try:
        return hasattr(os, "geteuid") and bool(os.stat(path).st_mode & 0o006)
    except OSError:
        return False


# File locks. A lock ends with the process that holds it.


def lock_file(path: Path) -> int | None:
    """Create a file if it is missing, and lock it for this process; None if another process holds the lock.

    Returns the open file's descriptor for ``unlock_file``. Raises OSError if the file cannot be opened, or if the
    system or the disk has no locks.
    """
    if fcntl is None:
        raise OSError("this system has no file locks")
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except BaseException:
        os.close(file)
        raise
    return file


def unlock_file(file: int) -> None:
    """Release a lock and close its file."""
    fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile may hold the file open
    os.close(file)


# Templates that ship with the package, and new folders written from them

TEMPLATE = ".template"
"""The suffix of files that hold Python but are not modules of this package."""


def files_below(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield all files below a folder with their relative paths, sorted."""
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.is_dir():
            yield from files_below(file, f"{before}{file.name}/")
        else:
            yield before + file.name, file


def write_new(directory: Path, texts: Mapping[str, str]) -> list[str]:
    """Write texts into a new or empty folder, and return their names; raise ValueError if that is impossible."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} is there already, and nothing is overwritten; name a new or an empty folder")
    for name, text in texts.items():
        file = directory / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        except OSError as error:
            raise ValueError(f"{file} cannot be written: {error.strerror or error}") from error
    return list(texts)
