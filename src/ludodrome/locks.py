"""Files that one process at a time has locked. Nothing is left of a lock when its holder dies.

What a lock stands for belongs to those who take it: ``caching.py``, ``arena/sandbox/identities.py``.
"""

import fcntl
import os
from pathlib import Path


def take(path: Path) -> int | None:
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


def give_back(file: int) -> None:
    """Whoever comes next may have it."""
    fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile may hold the file open
    os.close(file)
