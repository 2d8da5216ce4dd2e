"""Move generation: the moves of a position without open boxes, the positions they lead to, and heaps.

Such a position is a *core*, the undrawn edges connected to a box of three or four undrawn sides, and a *heap* of
chains and loops connected to nothing else. V is its value to the seat to move: its further boxes minus the other's.
After a move the other side makes all captures that are always right (``board.py``), so a child again has no open
boxes, and comes with the boxes taken and those of the double-deal left: the move is worth ``-(taken + V(child))``,
or ``-(taken + |dealt + V(child)|)``.

The moves:

* each *safe* edge, which touches no box of two undrawn sides; of a box's ground edges only one;
* one for each chain of the core, a path of boxes of degree two between two ends (the ground or a box of a higher
  degree). One box: the other side takes it, whichever edge was drawn. Two boxes: the middle edge gives both away,
  -(2 + V); the outer ones let the other side choose, -|2 + V|, which is no better. Three or more: whichever edge is
  drawn, the other side gets all but two and the choice. If both ends are the same box of degree three, the captures
  continue through that box, and ``resolve_captures`` follows them: they are the same for every edge;
* up to three from the heap.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.solver.board import (
    ONE,
    STRIDE,
    ZERO,
    canonical_key,
    canonical_key_without,
    degrees,
    edge_count,
    edge_words,
    edges_of,
    flood,
    images,
    neighbours,
    resolve_captures,
    sort_twins,
)
from ludodrome.games.dots.solver.table import INFINITY, bucket_of, probe
from ludodrome.jit import Array, Int, Record, inline_kernel, kernel, lowest, mix, popcount, prefetch, record_dtype

_POSITION = [
    ("h", "u8"),
    ("v", "u8"),
    ("key", "u8"),
    ("graph_hash", "u8"),
    ("bucket", "i8"),
    ("heap", "i4"),
    ("left", "i2"),
]
"""The position in frames and children: the core's undrawn edges, its key, its graph hash (zero until it is needed), its
bucket in the table, the heap, and the boxes left in both."""

CHILD = record_dtype(
    [*_POSITION, ("taken", "i2"), ("dealt", "i2"), ("low", "i2"), ("high", "i2"), ("rank", "i4")]
)  # 64 bytes
"""A move: the position it leads to, the boxes the other side gets first, the bounds of the child's value, and its rank
among its siblings."""

FRAME = record_dtype(
    [*_POSITION, ("goal", "i2"), ("best", "i2"), ("first", "i4"), ("end", "i4"), ("at", "i4"), ("begun", "i8")]
)
"""A position under search: the question is whether V >= goal; the best value so far, the range of its children, the
current one, and the node count at its start."""

RUN = record_dtype(
    [
        (name, "i8")
        for name in (
            *("depth", "expanded", "nodes", "root_low", "root_high", "pauses", "paused"),
            *("noise", "scout_edges", "max_safe"),
        )
    ]
)
"""A run: its depth and progress, the bounds of the root, whether it pauses after each question about the root and has
done so, the noise in its move order, the number of undrawn core edges from which on it scouts children and probes by
graph hash (``search.py``), and the number of safe edges up to which it opens chains and loops."""

ROOT_BEST, SPARE = -1, -2
"""Reserved slots among the children: the root's best move, and one for swapping two."""

PREFETCH_BATCH = 16
"""Children whose buckets are prefetched together: many page walks at once take hardly longer than one."""


@kernel
def free_component(seed: Any, two: Any, more: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The chain or loop of a box of degree two; empty if it is connected to a box of a higher degree."""
    reached = seed
    while True:
        around = neighbours(reached, h, v, sizes)
        if around & more:
            return ZERO
        wider = reached | (around & two)
        if wider == reached:
            return reached
        reached = wider


@inline_kernel
def move_to_heap(
    fresh: Any, two: Any, more: Any, h: Any, v: Any, heap: Int, left: Int, sizes: Array, added: Array
) -> tuple[Any, Any, Int, Int]:
    """Move free chains and loops that have a box of ``fresh`` from the board to the heap.

    ``two`` and ``more`` are the boxes of degree two and of a higher degree; no box may be open. Return the words, the
    heap and the boxes left, without pairs that cancel.
    """
    while fresh:
        seed = fresh & (~fresh + ONE)
        part = free_component(seed, two, more, h, v, sizes)
        fresh &= ~(seed | part)
        if part:
            own_h, own_v = edges_of(part, h, v, sizes)
            h &= ~own_h
            v &= ~own_v
            size = popcount(part)
            kind = size - 1 if edge_count(own_h, own_v) > size else added.shape[1] + 1 - size // 2
            after = np.int64(added[heap, kind])
            if after < heap:  # it cancelled its pair
                left -= 2 * size
            heap = after
    return h, v, heap, left


@inline_kernel
def safe_edges(h: Any, v: Any, two: Any, sizes: Array, twins: Array) -> tuple[Any, Any]:
    """The edges that touch no box of degree two, and only one of each pair of twins. Twins must be sorted."""
    chain_h, chain_v = edges_of(two, h, v, sizes)
    safe_h, safe_v = h & ~chain_h, v & ~chain_v
    for i in range(len(twins)):
        if (h & twins[i, 2]) | (v & twins[i, 3]):
            safe_h &= ~twins[i, 0]
            safe_v &= ~twins[i, 1]
    return safe_h, safe_v


@kernel
def open_chain(chain: Any, h: Any, v: Any, sizes: Array) -> tuple[int, int, Any, Any]:
    """What the other side gets when a chain of the core is opened in the best way; as ``resolve_captures``."""
    own_h, own_v = edges_of(chain, h, v, sizes)
    one, _, _ = degrees(h & ~own_h, v & ~own_v, sizes)
    if one:  # both ends were one box; such a ring has edges of both kinds
        return resolve_captures(h & ~(own_h & (~own_h + ONE)), v, sizes)
    size = popcount(chain)
    if size < 3:
        return size, 0, h & ~own_h, v & ~own_v
    return size - 2, 2, h & ~own_h, v & ~own_v


@inline_kernel
def next_safe(
    h: Any, v: Any, safe_h: Any, safe_v: Any, three: Any, sizes: Array
) -> tuple[Int, Any, Any, Any, Any, Any]:
    """Draw the first safe edge: (edge, h, v, safe edges left in h and v, boxes now of degree two)."""
    if safe_h:
        bit = safe_h & (~safe_h + ONE)
        return lowest(bit), h ^ bit, v, safe_h ^ bit, safe_v, (bit | bit >> sizes[STRIDE]) & three
    bit = safe_v & (~safe_v + ONE)
    return 64 + lowest(bit), h, v ^ bit, safe_h, safe_v ^ bit, (bit | bit >> ONE) & three


@kernel
def move_value_bounds(taken: Int, dealt: Int, left: Int, low: Int, high: Int) -> tuple[Int, Int]:
    """The bounds of a move's value to the mover, from the bounds of the child's value."""
    if dealt == 0:
        return -(taken + high), -(taken + low)
    low, high = dealt + low, dealt + high
    least = left & 1 if low <= 0 <= high else min(abs(low), abs(high))
    return -(taken + max(abs(low), abs(high))), -(taken + least)


@kernel
def max_move_value(taken: Int, dealt: Int, left: Int) -> Int:
    """The maximum value of a move that leaves a double-deal, for any value of the child.

    The child's V has the parity of the boxes left and is at least ``-left``; dealt is even. So ``|dealt + V|`` is at
    least ``left & 1`` and at least ``dealt - left``.
    """
    return -(taken + max(left & 1, dealt - left))


@inline_kernel
def rank(child: Record, sizes: Array) -> Int:
    """A child's rank for move ordering, lowest first: few safe edges, many boxes given away."""
    _, two, _ = degrees(child.h, child.v, sizes)
    chain_h, chain_v = edges_of(two, child.h, child.v, sizes)
    return edge_count(child.h & ~chain_h, child.v & ~chain_v) - child.taken - child.dealt


@inline_kernel
def expand(
    run: Record,
    frame: Record,
    sizes: Array,
    twins: Array,
    image_masks: Array,
    values: Array,
    added: Array,
    opened: Array,
    table: Array,
    children: Array,
) -> bool:
    """Generate the children of a frame. True as soon as one of them proves V >= goal: that one is then the last."""
    run.nodes += 1
    h, v, heap, left, goal = frame.h, frame.v, np.int64(frame.heap), np.int64(frame.left), np.int64(frame.goal)
    place = made = prefetched = seen = np.int64(frame.first)
    best = np.int64(-INFINITY)
    _, two, more = degrees(h, v, sizes)
    three = more & ~(h & h >> sizes[STRIDE] & v & v >> ONE)
    safe_h, safe_v = safe_edges(h, v, two, sizes, twins)
    of = images(h, v, image_masks)
    chains, opening = two, 0
    if edge_count(safe_h, safe_v) > run.max_safe:
        chains, opening = ZERO, opened.shape[1]
    while True:
        taken: Int = 0
        dealt: Int = 0
        next_h, next_v, next_heap, next_left, key = h, v, heap, left, ZERO
        if safe_h | safe_v:
            # The parent is reduced: only a box that is new in degree two can belong to a free chain. Twins stay
            # sorted, because the move is the second of two undrawn ones.
            edge, next_h, next_v, safe_h, safe_v, fresh = next_safe(h, v, safe_h, safe_v, three, sizes)
            if fresh:
                next_h, next_v, next_heap, next_left = move_to_heap(
                    fresh, two | fresh, more ^ fresh, next_h, next_v, heap, left, sizes, added
                )
            if next_heap == heap and next_left == left:  # nothing has left the core
                key = canonical_key_without(of, edge, image_masks)
            else:
                key = canonical_key(images(next_h, next_v, image_masks))
        elif chains:
            chain = flood(chains & (~chains + ONE), chains, h, v, sizes)
            chains &= ~chain
            taken, dealt, next_h, next_v = open_chain(chain, h, v, sizes)
            if dealt and max_move_value(taken, dealt, left - taken - dealt) < goal:
                best = max(best, max_move_value(taken, dealt, left - taken - dealt))
                continue
            _, now_two, now_more = degrees(next_h, next_v, sizes)
            next_h, next_v, next_heap, next_left = move_to_heap(
                now_two & ~two, now_two, now_more, next_h, next_v, heap, left - taken - dealt, sizes, added
            )
            key = canonical_key(images(next_h, next_v, image_masks))
        elif opening < opened.shape[1]:
            next_heap = np.int64(opened[heap, opening, 0])
            taken, dealt = np.int64(opened[heap, opening, 1]), np.int64(opened[heap, opening, 2])
            opening += 1
            if taken + dealt == 0:
                continue
            if dealt and max_move_value(taken, dealt, left - taken - dealt) < goal:
                best = max(best, max_move_value(taken, dealt, left - taken - dealt))
                continue
            next_left = left - taken - dealt
            key = canonical_key(of)
        else:
            taken = -1
        if taken >= 0:
            child = children[made]
            child.h, child.v, child.key, child.graph_hash = next_h, next_v, key, ZERO
            child.bucket, child.heap, child.left = bucket_of(key, next_heap, table), next_heap, next_left
            child.taken, child.dealt = taken, dealt
            made += 1
            if made - prefetched < PREFETCH_BATCH:
                continue
        for k in range(prefetched, made):
            prefetch(table, children[k].bucket)
        ready = prefetched if taken >= 0 else made  # the earlier batch is in the cache by now
        prefetched = made
        while seen < ready:
            low, high = probe_child(children[seen], values, table)
            if max(low, high) >= goal:
                children[place] = children[seen]
                if low >= goal:
                    frame.at, frame.end, frame.best = place, place + 1, low
                    return True
                place += 1
            else:
                best = max(best, high)
            seen += 1
        if taken < 0:
            break
    frame.at, frame.end, frame.best = frame.first, place, best
    for k in range(np.int64(frame.first), place):
        child = children[k]
        child.rank = rank(child, sizes)
        if run.noise:
            child.rank += np.int64(mix(child.key) & np.uint64(run.noise))
    return False


@inline_kernel
def probe_child(child: Record, values: Array, table: Array) -> tuple[Int, Int]:
    """Look up a child; return the bounds of the move's value."""
    if child.key:
        low, high = probe(child.bucket, child.key, child.heap, child.left, table)
    else:
        low = high = np.int64(values[child.heap])
    child.low, child.high = low, high
    return bounds_of_move(child)


@inline_kernel
def bounds_of_move(child: Record) -> tuple[Int, Int]:
    """The bounds of a move's value to the mover, from the bounds of the child's value."""
    return move_value_bounds(
        np.int64(child.taken), np.int64(child.dealt), np.int64(child.left), np.int64(child.low), np.int64(child.high)
    )


@inline_kernel
def select_next(at: Int, end: Int, children: Any) -> None:
    """Swap the child of the lowest rank, among those from ``at`` on, to this place."""
    least_place = at
    for place in range(at + 1, end):
        if children[place].rank < children[least_place].rank:
            least_place = place
    if least_place > at:
        children[SPARE] = children[at]
        children[at] = children[least_place]
        children[least_place] = children[SPARE]


@kernel
def child_of(undrawn: Any, board: Any, heaps: Any) -> tuple[int, int, Int, Any]:
    """Identify a position as children are identified: (boxes taken, boxes of the double-deal, heap, core's key)."""
    h, v = edge_words(undrawn, board.edge_bits)
    gained, dealt, h, v = resolve_captures(h, v, board.sizes)
    h, v = sort_twins(h, v, board.twins)
    _, two, more = degrees(h, v, board.sizes)
    h, v, heap, _ = move_to_heap(two, two, more, h, v, 0, 0, board.sizes, heaps.added)
    key = canonical_key(images(h, v, board.image_masks))
    return gained, dealt, heap, key


# Heaps: free chains and loops, the endgame of dots and boxes
#
# A *chain* is a path of boxes with two undrawn sides each, from the ground to the ground; a *loop* is a ring of them.
# Where they are does not matter, so a set of them is a *heap*: the number of chains and loops of each size. Heaps are
# numbered. The tables hold, for every heap that fits a board, its value when nothing else is left, and the heap it
# becomes when a chain or loop is added or opened.
#
# The value of opening one (proofs in ``board.py``): a chain of one or two gives its boxes away (a chain of two is
# opened in the middle, so that it cannot become a double-deal). Of a longer chain the other side gets all but two, and
# the choice between the last two with the move or neither: ``n - 2 + |2 + V|``, where V is the value of the rest to
# the side that must move there. In a loop it is the last four: ``n - 4 + |4 + V|``.
#
# Two short chains of the same size n cancel: V(P + c + c) = V(P) for every position P. By induction every move of P has
# the same value as without the pair; and opening one of the two is no better: the other side may take its n boxes and
# open the second, V(P + c + opened c) >= n + V(P + c) >= n - (n + V(P)) = -V(P). With no move left in P, the pair alone
# is worth n - n = 0. So a heap has at most one chain of one and one of two.


SHORTEST_LONG_CHAIN, SHORTEST_LOOP = 3, 4


class HeapTables(NamedTuple):
    """Tables of all heaps that fit a board. Heap 0 is empty."""

    values: Array
    """int8 (heaps,): the value to the seat to move when nothing else is left."""
    boxes: Array
    """int8 (heaps,): number of boxes."""
    added: Array
    """uint16 (heaps, kinds): the heap with one more of that kind; if that cancels one, the heap with one fewer, which
    has a lower number. Kind n - 1 is the chain of n boxes; loops of 4, 6, 8, ... boxes count from the last kind
    backwards."""
    opened: Array
    """int16 (heaps, 3, 3): up to three openings worth trying, each as the heap left, the boxes taken without a choice,
    and the boxes of the double-deal (0, 2, 4); all zero for an unused slot."""


def make_heap_tables(boxes: int) -> HeapTables:
    """Build the tables for boards of ``boxes`` boxes."""
    sizes = [*range(1, boxes + 1), *reversed(range(SHORTEST_LOOP, boxes + 1, 2))]
    codes, totals, units = np.zeros(1, np.int64), np.zeros(1, np.int64), []
    unit = 1
    for size in sizes:  # a heap's code is a mixed-radix number, one digit per kind
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
        (fits,) = np.nonzero(totals + size <= boxes)
        bigger = by_code[np.searchsorted(codes, codes[fits] + units[kind], sorter=by_code)]
        added[fits, kind] = bigger
        removed[bigger, kind] = fits
    for kind in range(min(SHORTEST_LONG_CHAIN - 1, boxes)):
        (there,) = np.nonzero(removed[:, kind] >= 0)
        added[there, kind] = removed[there, kind]
    values = _values(sizes, boxes, totals, removed)
    return HeapTables(values, totals.astype(np.int8), added, _openings(sizes, boxes, removed))


def opening_gains(size: int, loop: bool) -> tuple[int, int]:
    """Boxes that opening a chain or loop gives: (taken without a choice, in the double-deal)."""
    if loop:
        return size - 4, 4
    return (size, 0) if size < SHORTEST_LONG_CHAIN else (size - 2, 2)


def _values(sizes: list[int], boxes: int, totals: Array, removed: Array) -> Array:
    """Values of all heaps. Heaps of fewer boxes come first, since later values depend on them."""
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
    """Openings of the shortest short chain, the shortest long chain and the shortest loop.

    The others are never better. One more box in a long chain changes the value by at most one, whatever the rest of
    the board is (by induction: opening it gives exactly one box more, and every other move leads to two positions
    that differ in the same way). So opening the chain of a boxes instead of the one of b > a saves b - a boxes at
    once and costs at most b - a later. The same holds between chains of one and two, and between loops.
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
