"""The solver's table: what has been proved about positions, as two bounds of each value.

A position is a core and a heap (``prove.py``); V is what it is worth to the seat to move. Keys are exact, nothing is
taken for something else by chance. Several threads may share one table.
"""

from typing import Any

import numpy as np

from ludodrome.jit import GOLDEN, Array, Int, inline_kernel, kernel, mix

BUCKET = 4
"""Entries in a bucket: eight words, one cache line."""
CACHE_LINE = 64
"""Bytes of a cache line."""
INFINITY = 127
"""Farther from zero than any value."""

_16, _24, _32, _40 = np.uint64(16), np.uint64(24), np.uint64(32), np.uint64(40)
_BYTE, _LAST = np.uint64(0xFF), np.uint64(0xFFFF)
_TAG = ~np.uint64(0xFFFFFF0000)


def new_table(bits: int) -> Array:
    """A table of 2**bits entries of 16 bytes, (buckets, 8).

    An entry is two words: the core's key, and from the lowest bit on 16 bits for the heap, 8 each for low, high and
    effort, and 24 of the graph_hash if the entry is under its core's graph_hash, else zero. Heap and graph_hash are its *tag*.
    The key is stored mixed with the other word, so that an entry which two threads have written
    at once fits no position.
    """
    return cache_aligned(np.zeros(((1 << bits) // BUCKET + 1, 2 * BUCKET), np.uint64))


def cache_aligned(room: Array) -> Array:
    """All buckets but one of an array, so that each begins where a cache line does: else it would lie in two."""
    words = -room.ctypes.data % CACHE_LINE // room.itemsize
    return room.reshape(-1)[words : words + room.size - 2 * BUCKET].reshape(-1, 2 * BUCKET)


def fill_ratio(table: Array) -> float:
    """The share of the entries in use, judged by a part of the table."""
    return float(np.mean(table[: 1 << 12, 1::2] != 0))


@inline_kernel
def bucket_of(key: Any, heap: Int, table: Array) -> Int:
    """The bucket of a core and a heap; instead of the core's key its graph_hash will do."""
    return np.int64(mix(key + np.uint64(heap) * GOLDEN) & np.uint64(table.shape[0] - 1))


@kernel
def tag_of(graph_hash: Any, heap: Int) -> Any:
    """How an entry under a graph_hash is known from those of other heaps and other graph hashes. A graph_hash is not zero."""
    return graph_hash << _40 | np.uint64(heap)


@inline_kernel
def probe(bucket: Int, key: Any, heap: Int, left: Int, table: Array) -> tuple[Int, Int]:
    """The bounds of a position's value; those that follow from the boxes left if it is not in the table."""
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if table[bucket, i] ^ data == key and has_tag(data, np.uint64(heap)):
            return bounds_of(data)
    return -left, left


@inline_kernel
def bounds_of(data: Any) -> tuple[Int, Int]:
    """The bounds in an entry's second word."""
    return np.int64(data >> _16 & _BYTE) - INFINITY, np.int64(data >> _24 & _BYTE) - INFINITY


@inline_kernel
def has_tag(data: Any, tag: Any) -> bool:
    """Whether an entry's second word has this tag."""
    return bool(data & _TAG == tag)


@inline_kernel
def store(bucket: Int, key: Any, tag: Any, low: Int, high: Int, effort: Int, table: Array) -> None:
    """Write the bounds of a position's value: over its older entry, or over the one that took the least effort.

    Under a graph_hash, an entry of the same tag gives way as well: it tells no more, or is about
    another core, which is rare.
    """
    place, least = 0, np.int64(1 << 16)
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if has_tag(data, tag) and (tag > _LAST or table[bucket, i] ^ data == key):
            place = i
            break
        if np.int64(data >> _32 & _BYTE) < least:
            place, least = i, np.int64(data >> _32 & _BYTE)
    data = tag | np.uint64(low + INFINITY) << _16 | np.uint64(high + INFINITY) << _24 | np.uint64(effort) << _32
    table[bucket, place] = key ^ data
    table[bucket, place + 1] = data
