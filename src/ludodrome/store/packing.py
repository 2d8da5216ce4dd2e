"""Records as they are kept in a column: JSON, compressed."""

import json
import zlib
from typing import Any


def packed(record: Any) -> bytes:
    """A record as it is kept."""
    return zlib.compress(json.dumps(record, separators=(",", ":")).encode())


def unpacked(content: bytes) -> dict[str, Any]:
    """The record that is kept."""
    record: dict[str, Any] = json.loads(zlib.decompress(content))
    return record
