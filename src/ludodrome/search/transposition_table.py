"""The transposition table of alpha-beta: results of positions that were searched before.

Shape (buckets, ENTRIES, 2) uint64: for each entry the key, and one word with everything else. The key is stored
combined with that word (Hyatt and Mann 2002): two threads that write the same entry at once leave one
that fits no key, and nothing wrong is read.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ludodrome.jit import Array, Int, kernel, prefetch

ENTRIES = 4
"""Entries in a bucket: together they fill a cache line."""

LOWER, UPPER, VALUE = 1, 2, 3
"""What a stored value is: at least this, at most this, just this."""

NO_MOVE_ID = 0xFFFF
GENERATIONS = 32

_BYTE = np.uint64(0xFF)
_SHORT = np.uint64(0xFFFF)
_FIVE_BITS = np.uint64(GENERATIONS - 1)
_TWO_BITS, _ONE = np.uint64(3), np.uint64(1)
_HALF = 1 << 15
_MOVE_ID, _DEPTH, _BOUND, _EXACT, _GENERATION = (np.uint64(shift) for shift in (16, 32, 40, 42, 43))
_NOTHING = np.uint64(0)
_CERTAIN = 64
"""Added to the worth of a proved entry: a proof will be needed again."""
_LINE = 2 * ENTRIES
"""The words of a cache line."""


def new_table(bits: int) -> Array:
    """An empty table of 2**bits entries, its buckets where cache lines begin."""
    shape = (1 << bits >> 2, ENTRIES, 2)
    memory = np.zeros(math.prod(shape) + _LINE, np.uint64)
    begin = -(memory.ctypes.data // memory.itemsize) % _LINE
    return memory[begin : begin + math.prod(shape)].reshape(shape)


class TableEntry(NamedTuple):
    """An entry, for Python."""

    value: int
    move_id: int
    bound: int
    exact: bool


def lookup(table: Array, key: int) -> TableEntry | None:
    """Look a key up from Python, without compiling the kernels below."""
    for combined, word in table[key & (len(table) - 1)].tolist():
        if combined ^ word == key and word:
            return TableEntry(
                (word & int(_SHORT)) - _HALF,
                word >> int(_MOVE_ID) & NO_MOVE_ID,
                word >> int(_BOUND) & int(_TWO_BITS),
                bool(word >> int(_EXACT) & 1),
            )
    return None


@kernel
def pack(value: Int, depth: Int, bound: Int, exact: Any, generation: Int, move_id: Int) -> Any:
    """One word: value (16 bits), move id (16), depth (8), bound (2), exact (1), generation (5)."""
    return (
        np.uint64(value + _HALF)
        | np.uint64(move_id) << _MOVE_ID
        | np.uint64(depth) << _DEPTH
        | np.uint64(bound) << _BOUND
        | np.uint64(exact) << _EXACT
        | np.uint64(generation) << _GENERATION
    )


@kernel
def value_of(word: Any) -> Int:
    """The value, or the bound of it."""
    return np.int64(word & _SHORT) - _HALF


@kernel
def move_id_of(word: Any) -> Int:
    """The move id of the best move in the key's orientation; or NO_MOVE_ID."""
    return np.int64((word >> _MOVE_ID) & _SHORT)


@kernel
def depth_of(word: Any) -> Int:
    """How deep the search was."""
    return np.int64((word >> _DEPTH) & _BYTE)


@kernel
def bound_of(word: Any) -> Int:
    """LOWER, UPPER or VALUE."""
    return np.int64((word >> _BOUND) & _TWO_BITS)


@kernel
def is_exact(word: Any) -> Any:
    """Whether the claim holds for the whole rest of the game, not just for the depth searched."""
    return (word >> _EXACT) & _ONE != _NOTHING


@kernel
def expect(table: Array, key: Any) -> None:
    """Prefetch the bucket of a key."""
    prefetch(table, key & np.uint64(table.shape[0] - 1))


@kernel
def probe(table: Array, key: Any) -> Any:
    """The word stored for a key, or 0."""
    bucket = key & np.uint64(table.shape[0] - 1)
    for entry in range(ENTRIES):
        word = table[bucket, entry, 1]
        if table[bucket, entry, 0] ^ word == key and word != _NOTHING:
            return word
    return _NOTHING


@kernel
def store(table: Array, key: Any, word: Any) -> None:
    """Store a word: in the entry of the same key, or else replace the entry of least worth.

    A proved entry is not replaced by an unproved one of the same position.
    """
    bucket = key & np.uint64(table.shape[0] - 1)
    generation = word >> _GENERATION
    place = 0
    least = 1 << 30
    for entry in range(ENTRIES):
        old = table[bucket, entry, 1]
        if old == _NOTHING or table[bucket, entry, 0] ^ old == key:
            if is_exact(old) and not is_exact(word):
                return
            place = entry
            break
        age = np.int64((generation - (old >> _GENERATION)) & _FIVE_BITS)
        worth = depth_of(old) - 4 * age + _CERTAIN * np.int64(is_exact(old))
        if worth < least:
            least = worth
            place = entry
    table[bucket, place, 0] = key ^ word
    table[bucket, place, 1] = word
