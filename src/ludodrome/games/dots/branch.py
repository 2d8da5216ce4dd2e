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

from ludodrome.games.dots.bounds import FAR, bucket_of, look_up
from ludodrome.games.dots.captures import settle
from ludodrome.games.dots.lattice import ONE, canonical, degrees, edge_count, edges_of, flood, in_order
from ludodrome.jit import Array, Int, kernel, lowest, mix, popcount, prefetch

# The words of a position, in frames and children alike
H, V, KEY = range(3)

# The numbers of a child: its heap, the boxes left in it, what the other side gets on the way, the bounds of its value,
# its rank among its brothers (before that its bucket), and the edge drawn
HEAP, LEFT, TAKEN, DEALT, LOW, HIGH, RANK, EDGE = range(8)
NO_EDGE = 128
"""In EDGE: a chain or loop was opened. Edges are numbered as in ``Lattice.places``."""

# The numbers of a frame besides HEAP and LEFT: whether V >= GOAL is asked; places of children; the best; its beginning
GOAL, FIRST, END, AT, BEST, BEGUN = range(2, 8)

# The numbers of a run: where it is, how far it is, the bounds of the root, how much its order differs from others'
DEPTH, EXPANDED, NODES, ROOT_LOW, ROOT_HIGH, NOISE = range(6)

AHEAD = 4
"""So many children are made before the first is looked up: the table is far away."""
ESTEEM = 10
"""How much the edge that has done best in this run counts, in safe edges."""


@kernel
def gather(h: Any, v: Any, heap: Int, sizes: Array, added: Array) -> tuple[Any, Any, Int]:
    """Move the chains and loops that hang on nothing from the board to the heap; no box may be open."""
    _, two, more = degrees(h, v, sizes)
    free = two & ~flood(more, two | more, h, v, sizes)
    while free:
        part = flood(free & (~free + ONE), free, h, v, sizes)
        free &= ~part
        own_h, own_v = edges_of(part, h, v, sizes)
        h &= ~own_h
        v &= ~own_v
        size = popcount(part)
        kind = size - 1 if edge_count(own_h, own_v) > size else added.shape[1] + 1 - size // 2
        heap = np.int64(added[heap, kind])
    return h, v, heap


@kernel
def reduced(
    h: Any, v: Any, heap: Int, sizes: Array, twins: Array, turned: Array, added: Array
) -> tuple[Any, Any, Int, Any]:
    """A position without open boxes in its least form: the core's words, the heap, and the core's key."""
    h, v = in_order(h, v, twins)
    h, v, heap = gather(h, v, heap, sizes, added)
    return h, v, heap, canonical(h, v, turned)


@kernel
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
        return settle(h & ~(own_h & (~own_h + ONE)), v, sizes)
    size = popcount(chain)
    if size < 3:
        return size, 0, h & ~own_h, v & ~own_v
    return size - 2, 2, h & ~own_h, v & ~own_v


@kernel
def next_move(
    h: Any, v: Any, heap: int, safe_h: Any, safe_v: Any, chains: Any, opening: int, sizes: Array, opened: Array
) -> tuple[Any, Any, Int, Int, Int, Any, Any, Any, int]:
    """The first of the moves left: the position after it, taken (-1: none is left), dealt; and the moves left then."""
    if safe_h:
        return h & ~(safe_h & (~safe_h + ONE)), v, heap, 0, 0, safe_h & (safe_h - ONE), safe_v, chains, opening
    if safe_v:
        return h, v & ~(safe_v & (~safe_v + ONE)), heap, 0, 0, safe_h, safe_v & (safe_v - ONE), chains, opening
    if chains:
        chain = flood(chains & (~chains + ONE), chains, h, v, sizes)
        taken, dealt, after_h, after_v = open_chain(chain, h, v, sizes)
        return after_h, after_v, heap, taken, dealt, safe_h, safe_v, chains & ~chain, opening
    while opening < opened.shape[1]:
        rest, taken, dealt = opened[heap, opening, 0], opened[heap, opening, 1], opened[heap, opening, 2]
        opening += 1
        if taken + dealt:
            return h, v, np.int64(rest), np.int64(taken), np.int64(dealt), safe_h, safe_v, chains, opening
    return h, v, heap, -1, 0, safe_h, safe_v, chains, opening


@kernel
def worth(taken: int, dealt: int, left: int, low: int, high: int) -> tuple[int, int]:
    """The bounds of what a move is worth to the mover, from the bounds of the child's own value."""
    if dealt == 0:
        return -(taken + high), -(taken + low)
    low, high = dealt + low, dealt + high
    least = left & 1 if low <= 0 <= high else min(abs(low), abs(high))
    return -(taken + max(abs(low), abs(high))), -(taken + least)


@kernel
def rank(h: Any, v: Any, lost: int, esteem: int, sizes: Array) -> Int:
    """A child's place among its brothers, the least first: few safe edges, much given away, a successful edge."""
    _, two, _ = degrees(h, v, sizes)
    chain_h, chain_v = edges_of(two, h, v, sizes)
    return edge_count(h & ~chain_h, v & ~chain_v) - lost - esteem


@kernel
def drawn_edge(h: Any, v: Any, after_h: Any, after_v: Any) -> Int:
    """The one edge that was drawn, or NO_EDGE."""
    if edge_count(h ^ after_h, v ^ after_v) != 1:
        return NO_EDGE
    return lowest(h ^ after_h) if h != after_h else 64 + lowest(v ^ after_v)


@kernel
def expand(
    depth: int,
    sizes: Array,
    twins: Array,
    turned: Array,
    values: Array,
    added: Array,
    opened: Array,
    table: Array,
    run: Array,
    esteem: Array,
    frames: Array,
    frame_words: Array,
    children: Array,
    words: Array,
) -> bool:
    """Make the children of a frame. True as soon as one of them answers its question with yes: that one is the last."""
    run[NODES] += 1
    h, v = frame_words[depth, H], frame_words[depth, V]
    heap, left, goal = frames[depth, HEAP], frames[depth, LEFT], frames[depth, GOAL]
    place = made = seen = frames[depth, FIRST]
    best = -FAR
    _, chains, _ = degrees(h, v, sizes)
    safe_h, safe_v = safe_edges(h, v, chains, sizes, twins)
    opening = 0
    while True:
        next_h, next_v, next_heap, taken, dealt, safe_h, safe_v, chains, opening = next_move(
            h, v, heap, safe_h, safe_v, chains, opening, sizes, opened
        )
        if taken >= 0:
            children[made, EDGE] = drawn_edge(h, v, next_h, next_v)
            next_h, next_v, next_heap, key = reduced(next_h, next_v, next_heap, sizes, twins, turned, added)
            bucket = bucket_of(key, next_heap, table)
            prefetch(table, bucket)
            children[made, HEAP], children[made, LEFT], children[made, RANK] = next_heap, left - taken - dealt, bucket
            children[made, TAKEN], children[made, DEALT] = taken, dealt
            words[made, H], words[made, V], words[made, KEY] = next_h, next_v, key
            made += 1
            if made - seen < AHEAD:
                continue
        elif seen == made:
            break
        low, high = weigh(seen, place, values, table, children, words)
        seen += 1
        if low >= goal:
            frames[depth, AT], frames[depth, END], frames[depth, BEST] = place, place + 1, low
            return True
        if high >= goal:
            lost = children[place, TAKEN] + children[place, DEALT]
            liked = ESTEEM * esteem[children[place, EDGE]] // (esteem[-1] + 1)
            children[place, RANK] = rank(words[place, H], words[place, V], lost, liked, sizes)
            if run[NOISE]:
                children[place, RANK] += np.int64(mix(words[place, KEY]) & np.uint64(run[NOISE]))
            place += 1
        else:
            best = max(best, high)
    frames[depth, AT], frames[depth, END], frames[depth, BEST] = frames[depth, FIRST], place, best
    return False


@kernel
def weigh(seen: int, place: int, values: Array, table: Array, children: Array, words: Array) -> tuple[int, int]:
    """Move a child to its final place, with the bounds that are known; the bounds of what the move is worth."""
    for k in range(EDGE + 1):
        children[place, k] = children[seen, k]
    for k in range(KEY + 1):
        words[place, k] = words[seen, k]
    heap, left = children[place, HEAP], children[place, LEFT]
    if words[place, KEY]:
        low, high = look_up(children[place, RANK], words[place, KEY], heap, left, table)
    else:
        low = high = values[heap] + 0
    children[place, LOW], children[place, HIGH] = low, high
    return worth(children[place, TAKEN], children[place, DEALT], left, low, high)


@kernel
def sort(first: int, end: int, children: Array, words: Array) -> None:
    """Put children in the order of their ranks; equal ones stay as they are."""
    for i in range(first + 1, end):
        j = i
        while j > first and children[j - 1, RANK] > children[j, RANK]:
            for k in range(EDGE + 1):
                children[j - 1, k], children[j, k] = children[j, k], children[j - 1, k]
            for k in range(KEY + 1):
                words[j - 1, k], words[j, k] = words[j, k], words[j - 1, k]
            j -= 1
