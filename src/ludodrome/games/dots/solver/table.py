"""The solver's table: what has been proved about positions, as two bounds of each value.

A position is a core and a heap (``prove.py``); V is what it is worth to the seat to move. Keys are exact, nothing is
taken for something else by chance. Several threads may share one table.
"""

from typing import Any

import numpy as np

from ludodrome.games.dots.solver.board import BOXES, ONE, STRIDE, ZERO, edge_count, edge_words, edges_of, neighbours
from ludodrome.jit import GOLDEN, Array, Int, inline_kernel, kernel, lowest, mix

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


# Positions that differ on the board and are one as graphs: a graph_hash that like ones share, and the proof of likeness.
# What a position is worth depends on the graph alone: the boxes, the edges between them, and how many edges each has to
# the ground. Many cores that no symmetry of the board maps onto each other are the same graph, such as two that differ
# in the side where a chain leaves a junction. The *graph_hash* is a hash of the boxes' colours, and colours are made of the
# colours around, over and over; so it is the same for like graphs. It may be the same for others too: a graph_hash proves
# nothing. ``alike`` does, by giving every box a partner. Where likeness is sought is in ``prove.py``.


ROUNDS = 3
"""A box's colour is made of the degrees of the boxes within so many steps."""
MARGIN = 16
"""Before the first box in a row of colours: what lies above the board can be read, and counts for nothing."""
_4, _HALF_WORD = np.uint64(4), np.uint64(32)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)

# The rows of the room for colours: of two positions, of the round before, and the partners
OURS, THEIRS, BEFORE, PARTNERS = range(4)


def new_colour_buffer() -> Array:
    """Room for the colours of two positions, and for the partners of the boxes."""
    return np.zeros((4, 64 + 2 * MARGIN), np.uint64)


@kernel
def inner_edges(h: Any, v: Any, sizes: Array) -> tuple[Any, Any]:
    """The edges between two boxes, as sets of the lower and of the right one of the two."""
    boxes = sizes[BOXES]
    return h & boxes & boxes << sizes[STRIDE], v & boxes & boxes << ONE


@kernel
def colour_boxes(h: Any, v: Any, sizes: Array, which: int, colours: Array) -> Any:
    """Colour every box that has an undrawn edge; the position's graph_hash, which is not zero."""
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
    """Whether two positions are shown to be one graph: True is a proof, False is none.

    Every box gets a partner of its own colour, with as many undrawn sides, whose neighbours among the boxes that
    are partners already are the partners of its own neighbours, no more and no fewer. When all boxes of both
    have one, neighbours correspond; so do the edges to the ground, which are the sides left. The first
    partner that fits is never taken back, so a likeness may be missed.
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
        wanted = ZERO
        rest = around & ~ours
        while rest:
            wanted |= colours[PARTNERS, lowest(rest)]
            rest &= rest - ONE
        partner = find_partner(
            colours[OURS, lowest(box) + MARGIN], wanted, free, taken, other_h, other_v, sizes, colours
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
def find_partner(colour: Any, wanted: Any, free: Any, taken: Any, h: Any, v: Any, sizes: Array, colours: Array) -> Any:
    """The first free box of a colour whose neighbours among those taken are the wanted ones; or the empty set."""
    while free:
        box = free & (~free + ONE)
        if colours[THEIRS, lowest(box) + MARGIN] == colour and neighbours(box, h, v, sizes) & taken == wanted:
            return box
        free ^= box
    return ZERO


@kernel
def probe_isomorphic(
    graph_hash: Any, h: Any, v: Any, heap: Int, left: Int, sizes: Array, places: Array, table: Array, colours: Array
) -> tuple[Int, Int]:
    """The bounds of a like position that is in the table under the graph_hash; else those that follow from the boxes left.

    Another thread may write an entry while it is read here; then its words do not belong together, and what
    its key has become is not alike.
    """
    bucket, tag = bucket_of(graph_hash, heap, table), tag_of(graph_hash, heap)
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if has_tag(data, tag):
            other_h, other_v = edge_words(table[bucket, i] ^ data, places)
            if isomorphic(h, v, other_h, other_v, sizes, colours):
                return bounds_of(data)
    return -left, left
