"""Writing files whole or not at all, so that nobody ever reads half of one. What is in them belongs elsewhere."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place, or leave what was there; OSError says why it cannot be."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
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
