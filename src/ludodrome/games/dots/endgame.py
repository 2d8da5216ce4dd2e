"""Chains and loops that hang on nothing: the end of dots and boxes, as a table.

A *chain* is a path of boxes with two undrawn sides each, from the ground to the ground; a *loop* is a ring of
them. Where they are does not matter, so a set of them is a *heap*: so many chains and loops of each size, and a
number. The tables here know every heap that fits a board, what it is worth when nothing else is left, and which
heap it becomes when one is added or opened. Finding chains on a board is ``prove.py``'s work.

What it is worth to open one (the proofs are in ``captures.py``): a chain of one or two gives its boxes away (a
chain of two is opened in the middle, so that it can be no gift of a double-deal). Of a longer chain the other
side gets all but two, and the choice between the last two with the move or neither: ``n - 2 + |2 + V|``, where V
is what the rest is worth to the side that must move there. In a loop it is the last four: ``n - 4 + |4 + V|``.

Two short chains of the same size n cancel: V(P + c + c) = V(P) for every position P. By induction every move of P
is worth as much as without the pair; and to open one of the two is worth no more: the other side may take its n boxes
and open the second, V(P + c + opened c) >= n + V(P + c) >= n - (n + V(P)) = -V(P). With no move left in P, the
pair alone is worth n - n = 0. So a heap has at most one chain of one and one of two.
"""

from typing import NamedTuple

import numpy as np

from ludodrome.jit import Array

SHORTEST_LONG_CHAIN, SHORTEST_LOOP = 3, 4


class HeapTables(NamedTuple):
    """The tables of all heaps of at most so many boxes. Heap 0 is the empty one."""

    values: Array
    """int8 (heaps,): the margin of the seat to move when nothing else is left."""
    boxes: Array
    """int8 (heaps,): how many boxes it has."""
    added: Array
    """uint16 (heaps, kinds): the heap with one more of that kind, or with one less, which has a lower number, where it
    cancels one that is there. Kind n - 1 is the chain of n boxes; the loops, of 4, 6, 8, ... boxes, are counted from
    the last kind backwards."""
    opened: Array
    """int16 (heaps, 3, 3): up to three openings that are worth a try, each as the heap that is left, the boxes
    taken without a choice, and the boxes of the double-deal (0, 2, 4); no boxes at all where there is none."""


def make_heap_tables(boxes: int) -> HeapTables:
    """The tables for boards of so many boxes."""
    sizes = [*range(1, boxes + 1), *reversed(range(SHORTEST_LOOP, boxes + 1, 2))]
    codes, totals, units = np.zeros(1, np.int64), np.zeros(1, np.int64), []
    unit = 1
    for size in sizes:  # a heap's code is a number of mixed radix, one digit for each kind
        units.append(unit)
        most = boxes // size
        grown = [(codes + k * unit, totals + k * size) for k in range(most + 1)]
        codes, totals = (np.concatenate(parts) for parts in zip(*grown, strict=True))
        codes, totals = codes[totals <= boxes], totals[totals <= boxes]
        unit *= most + 1
    order = np.lexsort((codes, totals))
    codes, totals = codes[order], totals[order]
    by_code = np.argsort(codes)
    added = np.zeros((len(codes), len(sizes)), np.uint16)
    removed = np.full((len(codes), len(sizes)), -1, np.int64)
    for kind, size in enumerate(sizes):
        (room,) = np.nonzero(totals + size <= boxes)
        bigger = by_code[np.searchsorted(codes, codes[room] + units[kind], sorter=by_code)]
        added[room, kind] = bigger
        removed[bigger, kind] = room
    for kind in range(min(SHORTEST_LONG_CHAIN - 1, boxes)):
        (there,) = np.nonzero(removed[:, kind] >= 0)
        added[there, kind] = removed[there, kind]
    values = _values(sizes, boxes, totals, removed)
    return HeapTables(values, totals.astype(np.int8), added, _openings(sizes, boxes, removed))


def opening_gains(size: int, loop: bool) -> tuple[int, int]:
    """Of a chain or loop that is opened: the boxes taken without a choice, and those of the double-deal."""
    if loop:
        return size - 4, 4
    return (size, 0) if size < SHORTEST_LONG_CHAIN else (size - 2, 2)


def _values(sizes: list[int], boxes: int, totals: Array, removed: Array) -> Array:
    """Heaps of fewer boxes come first, so that their values are there when they are needed."""
    values = np.zeros(len(totals), np.int8)
    starts = np.searchsorted(totals, np.arange(boxes + 2))
    for total in range(1, boxes + 1):
        rows = slice(starts[total], starts[total + 1])
        best = np.full(rows.stop - rows.start, -128, np.int64)
        for kind, size in enumerate(sizes):
            taken, kept = opening_gains(size, kind >= boxes)
            rest = values[removed[rows, kind]].astype(np.int64)
            worth = -(taken + (np.abs(kept + rest) if kept else rest))
            best = np.where(removed[rows, kind] >= 0, np.maximum(best, worth), best)
        values[rows] = best
    return values


def _openings(sizes: list[int], boxes: int, removed: Array) -> Array:
    """The shortest of the short chains, of the long chains and of the loops.

    The others are never better. One box more in a long chain, wherever the rest of the board
    stands, changes the value by one at most (by induction: opening it gives exactly one box
    more, and every other move leads to two positions that differ in the same way); so to open
    the chain of a boxes instead of the one of b > a saves b - a boxes at once and costs
    at most b - a later. The same holds between chains of one and two, and between loops.
    """
    opened = np.zeros((len(removed), 3, 3), np.int16)
    for kind in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):  # the shortest is written last
        loop = kind >= boxes
        place = 2 if loop else 0 if sizes[kind] < SHORTEST_LONG_CHAIN else 1
        (there,) = np.nonzero(removed[:, kind] >= 0)
        taken, kept = opening_gains(sizes[kind], loop)
        opened[there, place, 0] = removed[there, kind]
        opened[there, place, 1:] = taken, kept
    return opened
