"""What learners see of a game whose room has no planes of its own: its record, byte after byte, and whose turn it is.

It knows no game: the fields come from the state's dtype. ``room.plain_planes`` says how large the planes are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludodrome.jit import Array, kernel_of
from ludodrome.room import Verbs, field_shapes, plain_planes

_BYTE = np.uint64(255)
_BITS = 8


def make_plain_observe(verbs: Verbs, dtype: np.dtype[Any], seats: int = 2) -> Callable[..., Any]:
    """The kernel ``observe`` of one game: (s, seat, out) fills out, (planes, cells) uint8."""
    mover = verbs.mover
    write = _nothing(verbs)
    at = plain_planes(dtype).cols
    for name, (base, shape) in reversed(field_shapes(dtype).items()):
        count = int(np.prod(shape, dtype=np.int64))
        at -= count * base.itemsize
        write = (_many if shape else _one)(verbs, name, at, count, base.itemsize, write)

    @kernel_of(verbs.legal)
    def observe(s: Any, seat: Any, out: Array) -> None:
        """What a seat sees: the same numbers for everybody, and 1 on the second plane if it is its turn."""
        write(s, out)
        moving = mover(s)
        out[1, :] = 0 if moving < 0 else 1 + (moving - seat) % seats

    return observe


def _nothing(verbs: Verbs) -> Callable[..., Any]:
    @kernel_of(verbs.legal)
    def nothing(s: Any, out: Array) -> None:
        """After the last field."""

    return nothing


def _one(verbs: Verbs, name: str, at: int, count: int, size: int, rest: Callable[..., Any]) -> Callable[..., Any]:
    """Writes a field of one number, then the rest."""

    def write(s: Any, out: Array) -> None:
        number = np.uint64(np.int64(s[name]))
        for place in range(size):
            out[0, at + place] = (number >> np.uint64(_BITS * place)) & _BYTE
        rest(s, out)

    return _named(verbs, write, name)


def _many(verbs: Verbs, name: str, at: int, count: int, size: int, rest: Callable[..., Any]) -> Callable[..., Any]:
    """Writes a field of several numbers, then the rest."""

    def write(s: Any, out: Array) -> None:
        numbers = s[name].reshape(count)
        for k in range(count):
            number = np.uint64(np.int64(numbers[k]))
            for place in range(size):
                out[0, at + k * size + place] = (number >> np.uint64(_BITS * place)) & _BYTE
        rest(s, out)

    return _named(verbs, write, name)


def _named(verbs: Verbs, write: Callable[..., Any], field: str) -> Callable[..., Any]:
    """Compiled under a name of its own: see the names of compiled functions in ``jit.py``."""
    write.__name__ = f"write_{field}"
    return kernel_of(verbs.legal)(write)
