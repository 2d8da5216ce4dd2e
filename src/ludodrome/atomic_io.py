"""Writing files whole or not at all, so that nobody ever reads half of one. What is in them belongs elsewhere."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place, or leave what was there; OSError says why it cannot be."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """The same for what is too large to be held twice: a file to write to, in its place when all is written.

    What is there and is no file, a device or a pipe, is written to as it is: nothing takes its place.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as there:
            yield there
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)  # less the umask
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


# Files that one process at a time has locked. Nothing is left of a lock when its holder dies.
# What a lock stands for belongs to those who take it: ``caching.py``, ``arena/sandbox/uid_pool.py``.


def lock_file(path: Path) -> int | None:
    """The open file, made if it is not there and locked by us alone; None if somebody else has it.

    OSError: it cannot be opened, or is on a disk that knows no locks.
    """
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
    """Whoever comes next may have it."""
    fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile may hold the file open
    os.close(file)
