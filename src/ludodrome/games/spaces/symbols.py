"""Compiled code of records by their layout, not by a number.

The names under which Numba keeps compiled functions tell two record types apart by a number that
each process hands out anew, in the order in which it meets them. Where a game has several record
types, code cached by two processes can thus go by one name, and a third process that loads both
runs the one for the other: wrong answers, or a crash. With names made of the layout that cannot be.
Importing this module is enough. It belongs in ``jit.py``: the kernels of ``search/`` are shared by
all games, and have the same trouble.
"""

import hashlib
from typing import Any

from numba.core import types


def _mangling_args(record: Any) -> tuple[str, tuple[int]]:
    """The parts of a record type's name: fields, their types and offsets, the size."""
    digest = hashlib.blake2b(record.name.encode(), digest_size=7).digest()
    return type(record).__name__, (int.from_bytes(digest, "little"),)


_record_type: Any = types.Record
_record_type.mangling_args = property(_mangling_args)
