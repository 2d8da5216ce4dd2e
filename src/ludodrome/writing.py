"""Writing files whole or not at all, so that nobody ever reads half of one. What is in them belongs elsewhere."""

import os
import tempfile
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
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    """What this process takes away from a new file; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
