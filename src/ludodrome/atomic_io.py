"""Files that are written whole or not at all, and file locks."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # The system applies the umask; reading the umask would change it for all threads for a moment.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mtime is not None:
            os.utime(temporary, (mtime, mtime))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


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
