"""The solver's table: what has been proved about positions, as two bounds of each value.

A position is a core and a heap (``prove.py``); V is what it is worth to the seat to move. Keys are exact, nothing is
taken for something else by chance. Several threads may share one table.
"""

from typing import Any

import numpy as np

from ludodrome.jit import GOLDEN, Array, Int, kernel, mix

BUCKET = 4
"""Entries in a bucket: eight words, one cache line."""
LINE = 64
"""Bytes of a cache line."""
FAR = 127
"""Farther from zero than any value."""

_16, _32, _48 = np.uint64(16), np.uint64(32), np.uint64(48)
_LAST = np.uint64(0xFFFF)


def new_table(bits: int) -> Array:
    """A table of 2**bits entries of 16 bytes, (buckets, 8).

    An entry is two words: the core's key, and 16 bits each for heap, low, high and effort.
    The key is stored mixed with the other word, so that an entry which two threads have written
    at once fits no position.
    """
    return aligned(np.zeros(((1 << bits) // BUCKET + 1, 2 * BUCKET), np.uint64))


def aligned(room: Array) -> Array:
    """All buckets but one of an array, so that each begins where a cache line does: else it would lie in two."""
    words = -room.ctypes.data % LINE // room.itemsize
    return room.reshape(-1)[words : words + room.size - 2 * BUCKET].reshape(-1, 2 * BUCKET)


def filled(table: Array) -> float:
    """The share of the entries in use, judged by a part of the table."""
    return float(np.mean(table[: 1 << 12, 1::2] != 0))


@kernel
def bucket_of(key: Any, heap: int, table: Array) -> Int:
    """The bucket of a core and a heap."""
    return np.int64(mix(key + np.uint64(heap) * GOLDEN) & np.uint64(table.shape[0] - 1))


@kernel
def look_up(bucket: int, key: Any, heap: int, left: int, table: Array) -> tuple[Int, Int]:
    """The bounds of a position's value; those that follow from the boxes left if it is not in the table."""
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if table[bucket, i] ^ data == key and np.int64(data & _LAST) == heap:
            return np.int64(data >> _16 & _LAST) - FAR, np.int64(data >> _32 & _LAST) - FAR
    return -left, left


@kernel
def note(key: Any, heap: int, low: int, high: int, effort: int, table: Array) -> None:
    """Write the bounds of a position's value: over its older entry, or over the one that took the least effort."""
    bucket = bucket_of(key, heap, table)
    place, least = 0, np.int64(1 << 16)
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if table[bucket, i] ^ data == key and np.int64(data & _LAST) == heap:
            place = i
            break
        if np.int64(data >> _48) < least:
            place, least = i, np.int64(data >> _48)
    data = np.uint64(heap) | np.uint64(low + FAR) << _16 | np.uint64(high + FAR) << _32 | np.uint64(effort) << _48
    table[bucket, place] = key ^ data
    table[bucket, place + 1] = data
