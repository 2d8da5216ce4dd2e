"""The moves of a position without open boxes, and the positions they lead to.

Such a position is a *core*, the undrawn edges that hang together with a box of three or four undrawn sides, and
the heap of the chains and loops that hang on nothing (``endgame.py``). V is what it is worth to the seat to move: its
further boxes minus the other's. After a move the other side takes what must be taken (``captures.py``), so a
child is again without open boxes, and comes with the boxes taken and those of the double-deal that is left: the move
is worth ``-(taken + V(child))``, or ``-(taken + |dealt + V(child)|)``.

The moves:

* a *safe* edge, which touches no box of two undrawn sides; of a box's ground edges only one;
* one for each chain of the core, a path of boxes of degree two between two ends (the ground or a box of a higher
  degree). Of one box: the other side takes it, whichever edge was drawn. Of two boxes: the middle edge gives both
  away, -(2 + V); the outer ones let the other side choose, -|2 + V|, which is no better. Of three or more:
  whichever edge is drawn, the other side gets all but two and the choice. If both ends are one box
  of degree three, the captures go on through that box, and ``settle`` follows them: they are the same for every edge;
* up to three from the heap.
"""

from typing import Any

import numpy as np

from ludodrome.games.dots.bounds import INFINITY, bucket_of, probe
from ludodrome.games.dots.captures import neighbours, resolve_captures
from ludodrome.games.dots.lattice import (
    ONE,
    STRIDE,
    ZERO,
    canonical_key,
    canonical_key_without,
    degrees,
    edge_count,
    edges_of,
    flood,
    images,
)
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
"""What frames and children know of their position: the core's undrawn edges, its key and its graph_hash (``likeness.py``),
which is zero as long as it is not needed; its place in the table; the heap, and the boxes left in both."""

CHILD = record_dtype(
    [*_POSITION, ("taken", "i2"), ("dealt", "i2"), ("low", "i2"), ("high", "i2"), ("rank", "i4")]
)  # 64 bytes
"""A move: where it leads, what the other side gets on the way, the bounds of the child's value, and its rank among
its brothers."""

FRAME = record_dtype(
    [*_POSITION, ("goal", "i2"), ("best", "i2"), ("first", "i4"), ("end", "i4"), ("at", "i4"), ("begun", "i8")]
)
"""A position under search: whether V >= goal is asked, the best so far, the places of its children, the one it is
at, and the nodes that had been searched when it was begun."""

RUN = record_dtype(
    [(name, "i8") for name in ("depth", "expanded", "nodes", "root_low", "root_high", "noise", "enough")]
)
"""A run: where it is, how far it is, the bounds of the root, how much its order differs from others', and the edges
of the core from which on children are scouted and like positions sought (``prove.py``)."""

ROOT_BEST, SPARE = -1, -2
"""Places of children for the root's best move, and for swapping two."""

AHEAD = 16
"""So many children are made before the table is warned of them all: it is far away, and finding the way to many
of its pages at once takes hardly longer than to one."""


@kernel
def loose(seed: Any, two: Any, more: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The chain or loop of a box of degree two, or the empty set if it hangs on a box of a higher degree."""
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
def gather(
    fresh: Any, two: Any, more: Any, h: Any, v: Any, heap: Int, left: Int, sizes: Array, added: Array
) -> tuple[Any, Any, Int, Int]:
    """Move the chains and loops that hang on nothing from the board to the heap: those with a box of ``fresh``.

    The words, the heap and the boxes left after that: pairs that cancel no longer count. No box may be open. ``two``
    and ``more`` are the boxes of degree two and those of a higher degree.
    """
    while fresh:
        seed = fresh & (~fresh + ONE)
        part = loose(seed, two, more, h, v, sizes)
        fresh &= ~(seed | part)
        if part:
            own_h, own_v = edges_of(part, h, v, sizes)
            h &= ~own_h
            v &= ~own_v
            size = popcount(part)
            kind = size - 1 if edge_count(own_h, own_v) > size else added.shape[1] + 1 - size // 2
            after = np.int64(added[heap, kind])
            if after < heap:  # it was one of a pair, and both are gone
                left -= 2 * size
            heap = after
    return h, v, heap, left


@inline_kernel
def safe_edges(h: Any, v: Any, two: Any, sizes: Array, twins: Array) -> tuple[Any, Any]:
    """The edges that touch no box of degree two, of twins only one. The position's twins are in order."""
    chain_h, chain_v = edges_of(two, h, v, sizes)
    safe_h, safe_v = h & ~chain_h, v & ~chain_v
    for i in range(len(twins)):
        if (h & twins[i, 2]) | (v & twins[i, 3]):
            safe_h &= ~twins[i, 0]
            safe_v &= ~twins[i, 1]
    return safe_h, safe_v


@kernel
def open_chain(chain: Any, h: Any, v: Any, sizes: Array) -> tuple[int, int, Any, Any]:
    """What the other side gets when a chain of the core is opened in the best way: as ``settle``."""
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
    """Draw the first of the safe edges: it, the words after it, the safe edges left, the boxes now of degree two."""
    if safe_h:
        bit = safe_h & (~safe_h + ONE)
        return lowest(bit), h ^ bit, v, safe_h ^ bit, safe_v, (bit | bit >> sizes[STRIDE]) & three
    bit = safe_v & (~safe_v + ONE)
    return 64 + lowest(bit), h, v ^ bit, safe_h, safe_v ^ bit, (bit | bit >> ONE) & three


@kernel
def worth(taken: Int, dealt: Int, left: Int, low: Int, high: Int) -> tuple[Int, Int]:
    """The bounds of what a move is worth to the mover, from the bounds of the child's own value."""
    if dealt == 0:
        return -(taken + high), -(taken + low)
    low, high = dealt + low, dealt + high
    canonical_key = left & 1 if low <= 0 <= high else min(abs(low), abs(high))
    return -(taken + max(abs(low), abs(high))), -(taken + canonical_key)


@kernel
def at_most(taken: Int, dealt: Int, left: Int) -> Int:
    """What a move that leaves a double-deal can be worth at most, whatever the child is worth.

    The child's V has the parity of the boxes left and is not below ``-left``; dealt is even. So ``|dealt + V|`` is
    not less than either.
    """
    return -(taken + max(left & 1, dealt - left))


@inline_kernel
def rank(child: Record, sizes: Array) -> Int:
    """A child's place among its brothers, the least first: few safe edges, much given away."""
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
    """Make the children of a frame. True as soon as one of them answers its question with yes: that one is the last."""
    run.nodes += 1
    h, v, heap, left, goal = frame.h, frame.v, np.int64(frame.heap), np.int64(frame.left), np.int64(frame.goal)
    place = made = warned = seen = np.int64(frame.first)
    best = np.int64(-INFINITY)
    _, two, more = degrees(h, v, sizes)
    three = more & ~(h & h >> sizes[STRIDE] & v & v >> ONE)
    safe_h, safe_v = safe_edges(h, v, two, sizes, twins)
    of = images(h, v, image_masks)
    chains, opening = two, 0
    while True:
        taken: Int = 0
        dealt: Int = 0
        next_h, next_v, next_heap, next_left, key = h, v, heap, left, ZERO
        if safe_h | safe_v:
            # The parent is reduced: only a box new in degree two can belong to a chain that hangs on nothing. Twins
            # stay in order, for of two undrawn ones the move is the second.
            edge, next_h, next_v, safe_h, safe_v, fresh = next_safe(h, v, safe_h, safe_v, three, sizes)
            if fresh:
                next_h, next_v, next_heap, next_left = gather(
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
            if dealt and at_most(taken, dealt, left - taken - dealt) < goal:
                best = max(best, at_most(taken, dealt, left - taken - dealt))
                continue
            _, now_two, now_more = degrees(next_h, next_v, sizes)
            next_h, next_v, next_heap, next_left = gather(
                now_two & ~two, now_two, now_more, next_h, next_v, heap, left - taken - dealt, sizes, added
            )
            key = canonical_key(images(next_h, next_v, image_masks))
        elif opening < opened.shape[1]:
            next_heap = np.int64(opened[heap, opening, 0])
            taken, dealt = np.int64(opened[heap, opening, 1]), np.int64(opened[heap, opening, 2])
            opening += 1
            if taken + dealt == 0:
                continue
            if dealt and at_most(taken, dealt, left - taken - dealt) < goal:
                best = max(best, at_most(taken, dealt, left - taken - dealt))
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
            if made - warned < AHEAD:
                continue
        for k in range(warned, made):
            prefetch(table, children[k].bucket)
        ready = warned if taken >= 0 else made  # the first are near by now
        warned = made
        while seen < ready:
            low, high = weigh(children[seen], values, table)
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
def weigh(child: Record, values: Array, table: Array) -> tuple[Int, Int]:
    """Look a child up; the bounds of what the move is worth."""
    if child.key:
        low, high = probe(child.bucket, child.key, child.heap, child.left, table)
    else:
        low = high = np.int64(values[child.heap])
    child.low, child.high = low, high
    return bounds_of_move(child)


@inline_kernel
def bounds_of_move(child: Record) -> tuple[Int, Int]:
    """The bounds of what a move is worth to the mover, from the bounds of the child's own value."""
    return worth(
        np.int64(child.taken), np.int64(child.dealt), np.int64(child.left), np.int64(child.low), np.int64(child.high)
    )


@inline_kernel
def pick(at: Int, end: Int, children: Any) -> None:
    """Bring the child of the least rank, of those from ``at`` on, to this place."""
    least_place = at
    for place in range(at + 1, end):
        if children[place].rank < children[least_place].rank:
            least_place = place
    if least_place > at:
        children[SPARE] = children[at]
        children[at] = children[least_place]
        children[least_place] = children[SPARE]
