"""Where compiled code is kept: a folder for each room and each state of its sources. ``jit.py`` puts it there.

The folder is the user's: ``LUDODROME_CACHE``, else in the user's cache folder, else (a read-only home, or none) in the
temporary folder, if it is certainly the user's own there: whoever can write compiled code decides what is run.
"""

import functools
import hashlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

VARIABLE = "LUDODROME_CACHE"
KEPT_DAYS = 30
OURS = stat.S_IWGRP | stat.S_IWOTH
"""The rights that others must not have in a folder that anybody could have made."""

_PACKAGE = Path(__file__).resolve().parent


def cache_root() -> Path:
    """Where things are kept that can be made again: LUDODROME_CACHE, else the user's cache folder.

    A user without a home has it in the temporary folder. Whether anything can be written there is another matter.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ludodrome"
    except RuntimeError:  # an account without an entry and without HOME
        return temporary_root()


def temporary_root() -> Path:
    """The user's folder among the temporary ones."""
    try:
        folder = tempfile.gettempdir()
    except OSError:  # none can be written
        folder = "/tmp"
    return Path(folder) / f"ludodrome-{os.getuid()}"


@functools.cache
def cache_directory(room: Path) -> Path | None:
    """The directory for the compiled entries of one room; None if nothing can be kept, and a warning says so.

    Numba does not notice that a function in another file has changed, so the name holds
    a hash of every source that the room's kernels can be made of, and of Numba's version.
    """
    import numba
    import numpy as np

    digest = hashlib.blake2b(digest_size=10)
    digest.update(f"{numba.__version__} {np.__version__}".encode())
    for source in _sources(room):
        digest.update(str(source.name).encode() + b"\0" + source.read_bytes() + b"\0")
    for root in _roots():
        directory = root / f"{room.name}-{digest.hexdigest()}"
        if usable(directory):
            _forget_old(root)
            return directory
    warnings.warn(
        f"compiled code cannot be kept, so that every start compiles anew: name a folder for it with {VARIABLE}",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _roots() -> Iterator[Path]:
    yield cache_root()
    root = temporary_root()
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        found = root.lstat()
    except OSError:
        return
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & OURS:
        yield root


def usable(directory: Path) -> bool:
    """Whether a directory can be written; it is made if it is not there, and marked as used today."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        os.utime(directory)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)


def kept_bytes(root: Path) -> int:
    """The size of all files of compiled code under a folder."""
    total = 0
    for file in root.rglob("*.nb?"):
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total


def _sources(room: Path) -> Iterable[Path]:
    """A room of another package may have folders of its own, or live beside modules that it shares with others."""
    games = _PACKAGE / "games"
    shared = {_PACKAGE / "jit.py", *(_PACKAGE / "search").glob("*.py"), *games.glob("*.py")} - {games / "__init__.py"}
    own = room.glob("*.py") if room.is_relative_to(_PACKAGE) else _top(room).rglob("*.py")
    return sorted({*shared, *own})


def _top(folder: Path) -> Path:
    """The outermost package that a folder belongs to; itself if it is no package."""
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _forget_old(root: Path) -> None:
    """Remove what no process has opened for a month: compiled code of older sources."""
    oldest = time.time() - KEPT_DAYS * 86400
    for directory in root.iterdir():
        try:
            if directory.is_dir() and directory.stat().st_mtime < oldest:
                for file in directory.rglob("*.nb?"):
                    file.unlink(missing_ok=True)
                for folder in (*directory.rglob("*/"), directory):
                    folder.rmdir()
        except OSError:
            continue
