"""The solver's transposition table: two bounds of each value; and isomorphic positions, which share entries.

A position is a core and a heap (``moves.py``); V is its value to the seat to move. Keys are exact: no entry is ever
mistaken for another. Several threads may share one table.
"""

from typing import Any

import numpy as np

from ludodrome.games.dots.solver.board import BOXES, ONE, STRIDE, ZERO, edge_count, edge_words, edges_of, neighbours
from ludodrome.jit import GOLDEN, Array, Int, inline_kernel, kernel, lowest, mix

BUCKET = 4
"""Entries per bucket: eight words, one cache line."""
CACHE_LINE = 64
"""Bytes of a cache line."""
INFINITY = 127
"""Greater than the magnitude of any value."""

_16, _24, _32, _40 = np.uint64(16), np.uint64(24), np.uint64(32), np.uint64(40)
_BYTE, _LAST = np.uint64(0xFF), np.uint64(0xFFFF)
_TAG = ~np.uint64(0xFFFFFF0000)


def new_table(bits: int) -> Array:
    """Allocate a table of 2**bits entries of 16 bytes: uint64 (buckets, 8).

    An entry is two words: the core's key, and from the lowest bit 16 bits for the heap, 8 each for low, high and
    effort, and 24 bits of the graph hash if the entry is stored under it, else zero. Heap and graph hash are its
    *tag*. The key is XORed with the other word, so that an entry torn between two threads matches no position.
    """
    return cache_aligned(np.zeros(((1 << bits) // BUCKET + 1, 2 * BUCKET), np.uint64))


def cache_aligned(memory: Array) -> Array:
    """All buckets of an array but one, shifted so that each is exactly one cache line."""
    words = -memory.ctypes.data % CACHE_LINE // memory.itemsize
    return memory.reshape(-1)[words : words + memory.size - 2 * BUCKET].reshape(-1, 2 * BUCKET)


def fill_ratio(table: Array) -> float:
    """The share of entries in use, estimated from the first buckets."""
    return float(np.mean(table[: 1 << 12, 1::2] != 0))


@inline_kernel
def bucket_of(key: Any, heap: Int, table: Array) -> Int:
    """The bucket of a core and a heap; ``key`` is the core's key or its graph hash."""
    return np.int64(mix(key + np.uint64(heap) * GOLDEN) & np.uint64(table.shape[0] - 1))


@kernel
def tag_of(graph_hash: Any, heap: Int) -> Any:
    """The tag of an entry stored under a graph hash, which is never zero."""
    return graph_hash << _40 | np.uint64(heap)


@inline_kernel
def probe(bucket: Int, key: Any, heap: Int, left: Int, table: Array) -> tuple[Int, Int]:
    """Look up the bounds of a position's value; ``-left, left`` if the table does not have it."""
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
    """Write the bounds of a position's value: replace its own entry, or else the one that took the least effort.

    Under a graph hash, replace any entry of the same tag: it knows no more, or (rarely) belongs to another core.
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


# Isomorphic positions
#
# A value depends on the graph alone: the boxes, the edges between them, and the number of ground edges of each. Many
# cores that no symmetry of the board maps onto each other are the same graph, such as two that differ in the side where
# a chain leaves a junction. The *graph hash* combines the colours of the boxes, refined round by round from the colours
# of their neighbours, so isomorphic graphs share it. Other graphs may share it too: the hash proves nothing.
# ``isomorphic`` does, by finding a partner for every box.


ROUNDS = 3
"""Rounds of colour refinement: a box's colour depends on the boxes within this many steps."""
MARGIN = 16
"""Padding before the first box in a row of colours, so that reads above the board are valid and ignored."""
_4, _HALF_WORD = np.uint64(4), np.uint64(32)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)

# Rows of the colour buffer: two positions, the previous round, and the partners
OURS, THEIRS, BEFORE, PARTNERS = range(4)


def new_colour_buffer() -> Array:
    """Allocate the buffer for the colours of two positions and the partners of boxes."""
    return np.zeros((4, 64 + 2 * MARGIN), np.uint64)


@kernel
def inner_edges(h: Any, v: Any, sizes: Array) -> tuple[Any, Any]:
    """The edges between two boxes, as sets of the lower and of the right box of each pair."""
    boxes = sizes[BOXES]
    return h & boxes & boxes << sizes[STRIDE], v & boxes & boxes << ONE


@kernel
def colour_boxes(h: Any, v: Any, sizes: Array, which: int, colours: Array) -> Any:
    """Colour every box that has an undrawn edge; return the graph hash, which is never zero."""
    stride, steps = sizes[STRIDE], np.int64(sizes[STRIDE])
    upper, lefter = inner_edges(h, v, sizes)
    lower, righter = upper >> stride, lefter >> ONE
    bottom, right = h >> stride, v >> ONE
    touched = (h | bottom | v | right) & sizes[BOXES]
    rest, graph_hash = touched, ZERO
    while rest:
        box = np.uint64(lowest(rest))
        rest &= rest - ONE
        degree = (h >> box & ONE) + (bottom >> box & ONE) + (v >> box & ONE) + (right >> box & ONE)
        inner = (upper >> box & ONE) + (lower >> box & ONE) + (lefter >> box & ONE) + (righter >> box & ONE)
        colours[BEFORE, np.int64(box) + MARGIN] = (degree << _4 | inner) * GOLDEN
    old, new = BEFORE, which
    for _ in range(ROUNDS):
        rest, graph_hash = touched, ZERO
        while rest:
            box = np.uint64(lowest(rest))
            at = np.int64(box) + MARGIN
            rest &= rest - ONE
            around = (ZERO - (upper >> box & ONE)) & colours[old, at - steps]
            around += (ZERO - (lower >> box & ONE)) & colours[old, at + steps]
            around += (ZERO - (lefter >> box & ONE)) & colours[old, at - 1]
            around += (ZERO - (righter >> box & ONE)) & colours[old, at + 1]
            colour = colours[old, at] + around * GOLDEN
            colour = (colour ^ colour >> _HALF_WORD) * _SPREAD
            colours[new, at] = colour
            graph_hash += colour
        old, new = new, old
    return mix(graph_hash) | ONE


@kernel
def isomorphic(h: Any, v: Any, other_h: Any, other_v: Any, sizes: Array, colours: Array) -> bool:
    """Whether two positions are found to be isomorphic. True is a proof, False is not.

    Every box gets a partner of the same colour and number of undrawn sides, whose neighbours among the matched
    boxes are exactly the partners of its own neighbours. Once all boxes of both are matched, neighbours correspond,
    and so do the ground edges, which are the remaining sides. The first partner that fits is never taken back, so
    the function may miss an isomorphism.
    """
    colour_boxes(h, v, sizes, OURS, colours)
    colour_boxes(other_h, other_v, sizes, THEIRS, colours)
    boxes, stride = sizes[BOXES], sizes[STRIDE]
    ours = (h | h >> stride | v | v >> ONE) & boxes
    free = (other_h | other_h >> stride | other_v | other_v >> ONE) & boxes
    taken, near = ZERO, ZERO
    while ours:
        nearer = near & ours if near & ours else ours
        box = nearer & (~nearer + ONE)
        ours ^= box
        around = neighbours(box, h, v, sizes) & boxes
        near |= around
        needed = ZERO
        rest = around & ~ours
        while rest:
            needed |= colours[PARTNERS, lowest(rest)]
            rest &= rest - ONE
        partner = find_partner(
            colours[OURS, lowest(box) + MARGIN], needed, free, taken, other_h, other_v, sizes, colours
        )
        own_h, own_v = edges_of(box, h, v, sizes)
        other_own_h, other_own_v = edges_of(partner, other_h, other_v, sizes)
        if not partner or edge_count(own_h, own_v) != edge_count(other_own_h, other_own_v):
            return False
        colours[PARTNERS, lowest(box)] = partner
        taken |= partner
        free ^= partner
    return bool(free == ZERO)


@kernel
def find_partner(colour: Any, needed: Any, free: Any, taken: Any, h: Any, v: Any, sizes: Array, colours: Array) -> Any:
    """The first free box of a colour whose neighbours among those taken are exactly ``needed``; else the empty set."""
    while free:
        box = free & (~free + ONE)
        if colours[THEIRS, lowest(box) + MARGIN] == colour and neighbours(box, h, v, sizes) & taken == needed:
            return box
        free ^= box
    return ZERO


@kernel
def probe_isomorphic(
    graph_hash: Any, h: Any, v: Any, heap: Int, left: Int, sizes: Array, edge_bits: Array, table: Array, colours: Array
) -> tuple[Int, Int]:
    """Look up the bounds of an isomorphic position under the graph hash; ``-left, left`` if there is none.

    If another thread overwrites an entry during the read, its two words do not match, and the garbled key is
    not isomorphic.
    """
    bucket, tag = bucket_of(graph_hash, heap, table), tag_of(graph_hash, heap)
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if has_tag(data, tag):
            other_h, other_v = edge_words(table[bucket, i] ^ data, edge_bits)
            if isomorphic(h, v, other_h, other_v, sizes, colours):
                return bounds_of(data)
    return -left, left
