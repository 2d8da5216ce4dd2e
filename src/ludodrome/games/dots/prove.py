"""The search: is a position worth at least so much? Asked again with other bounds until the value is known.

Nodes are positions without open boxes (``captures.py`` says why that is enough): the undrawn edges that
hang together with a box of three or four undrawn sides, the *core*, and the heap of the chains and loops that hang on nothing
(``endgame.py``). V is what a position is worth to the seat to move: its further boxes minus the other's.

The moves of a node:

* a *safe* edge, which touches no box of two undrawn sides; of a box's ground edges only one;
* one for each chain of the core, a path of boxes of degree two between two ends (the ground or a box of a higher degree). Of
  one box: the other side takes it, whichever edge was drawn. Of two boxes: the middle edge gives both away,
  V = -(2 + V(rest)); the outer ones let the other side choose, -|2 + V(rest)|, which is no better. Of three or more:
  whichever edge is drawn, the other side gets all but two and the choice, -(n - 2 + |2 + V(rest)|). If both ends are
  one box of degree three, the captures go on through it: ``settle`` follows them;
* up to three from the heap.

A test of a node asks whether V >= goal. Values have the parity of the boxes left, so bounds move in steps of two.
A move with a double-deal needs two answers about its child. All children are made and looked up
in the table before one is searched. The search has its own stack and can stop after any node and go on later.

All state is in arrays that the caller owns (``Arrays``). The table is the only big one.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.captures import settle
from ludodrome.games.dots.lattice import BOXES, ONE, ZERO, canonical, degrees, edge_count, edges_of, flood, in_order, words_of
from ludodrome.jit import GOLDEN, Array, Int, kernel, lowest, mix, popcount
from ludodrome.games.dots.rules import MOST_EDGES

# The words of a position, in frames and children alike
H, V, KEY = range(3)

# The numbers of a child: its heap, the boxes left, what opening it gives (taken, dealt), the bounds of its value, its rank
HEAP, LEFT, TAKEN, DEALT, LOW, HIGH, RANK = range(7)

# The numbers of a frame besides HEAP and LEFT: what is asked, the place of its children in the stack, how far it is
GOAL, FIRST, END, AT, BEST, BEGUN = range(2, 8)

# The numbers of a run
DEPTH, EXPANDED, NODES, ROOT_LOW, ROOT_HIGH, BEST_CHILD, GUESS = range(7)

BUCKET = 4
"""Entries in a bucket of the table: eight words, one cache line."""
FAR = 127


class Arrays(NamedTuple):
    """What a run consists of."""

    run: Array
    """int64 (7,)"""
    frames: Array
    """int64 (levels, 8)"""
    frame_words: Array
    """uint64 (levels, 3)"""
    children: Array
    """int64 (places, 7): the children of all frames, one frame after another."""
    child_words: Array
    """uint64 (places, 3)"""


def new_arrays() -> Arrays:
    """The arrays of one run."""
    levels = MOST_EDGES + 1
    places = levels * (levels + 1) // 2 + 3 * levels
    return Arrays(
        np.zeros(7, np.int64),
        np.zeros((levels, 8), np.int64),
        np.zeros((levels, 3), np.uint64),
        np.zeros((places, 7), np.int64),
        np.zeros((places, 3), np.uint64),
    )


def new_table(bits: int) -> Array:
    """A table of 2**bits entries of 16 bytes, (buckets, 8).

    An entry is two words: the key of the core, and its heap, low, high and effort, 16 bits each.
    """
    return np.zeros(((1 << bits) // BUCKET, 2 * BUCKET), np.uint64)


# The table

_16, _32, _48 = np.uint64(16), np.uint64(32), np.uint64(48)
_LAST = np.uint64(0xFFFF)


@kernel
def bucket_of(key: Any, heap: int, table: Array) -> Int:
    """The bucket of a core and a heap."""
    return np.int64(mix(key + np.uint64(heap) * GOLDEN) & np.uint64(table.shape[0] - 1))


@kernel
def look_up(key: Any, heap: int, left: int, table: Array) -> tuple[int, int]:
    """The bounds of a position's value; those that follow from the boxes left if it is not in the table."""
    bucket = bucket_of(key, heap, table)
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if table[bucket, i] ^ data == key and np.int64(data & _LAST) == heap and data:
            return np.int64(data >> _16 & _LAST) - FAR, np.int64(data >> _32 & _LAST) - FAR
    return -left, left


@kernel
def note(key: Any, heap: int, low: int, high: int, effort: int, table: Array) -> None:
    """Write the bounds of a position's value over an older entry for it, or over the one that took the least effort.

    The key is stored mixed with the other word, so that an entry that two threads have written together fits nobody.
    """
    bucket = bucket_of(key, heap, table)
    place, least = 0, 1 << 16
    for i in range(0, 2 * BUCKET, 2):
        data = table[bucket, i + 1]
        if table[bucket, i] ^ data == key and np.int64(data & _LAST) == heap:
            place = i
            break
        if np.int64(data >> _48) < least:
            place, least = i, np.int64(data >> _48)
    data = (
        np.uint64(heap)
        | np.uint64(low + FAR) << _16
        | np.uint64(high + FAR) << _32
        | np.uint64(effort) << _48
    )
    table[bucket, place] = key ^ data
    table[bucket, place + 1] = data


# Children


@kernel
def gather(h: Any, v: Any, heap: int, lattice: Any, heaps: Any) -> tuple[Any, Any, int]:
    """Move the chains and loops that hang on nothing from the board to the heap; no box may be open."""
    sizes = lattice.sizes
    one, two, more = degrees(h, v, sizes)
    free = two & ~flood(more, two | more, h, v, sizes)
    while free:
        part = flood(free & (~free + ONE), free, h, v, sizes)
        free &= ~part
        own_h, own_v = edges_of(part, h, v, sizes)
        h &= ~own_h
        v &= ~own_v
        size = popcount(part)
        kind = size - 1 if edge_count(own_h, own_v) > size else heaps.first_loop + size // 2 - 2
        heap = np.int64(heaps.added[heap, kind])
    return h, v, heap


@kernel
def worth(child: Array) -> tuple[int, int]:
    """The bounds of what the move to a child is worth to the mover, from the bounds of the child's own value."""
    taken, dealt, low, high = child[TAKEN], child[DEALT], child[LOW], child[HIGH]
    if dealt == 0:
        return -(taken + high), -(taken + low)
    low, high = dealt + low, dealt + high
    least = child[LEFT] & 1 if low <= 0 <= high else min(abs(low), abs(high))
    return -(taken + max(abs(low), abs(high))), -(taken + least)


@kernel
def enter(
    place: int, h: Any, v: Any, heap: int, left: int, taken: int, dealt: int, lattice: Any, heaps: Any, table: Array, arrays: Any
) -> None:
    """Write a child to the stack, with the bounds known of it. ``left`` counts the boxes before the move."""
    h, v = in_order(h, v, lattice.twins)
    h, v, heap = gather(h, v, heap, lattice, heaps)
    left -= taken + dealt
    key = ZERO
    if h | v:
        key = canonical(h, v, lattice.turned)
        low, high = look_up(key, heap, left, table)
    else:
        low = high = np.int64(heaps.values[heap])
    child, words = arrays.children[place], arrays.child_words[place]
    child[HEAP], child[LEFT], child[TAKEN], child[DEALT] = heap, left, taken, dealt
    child[LOW], child[HIGH] = low, high
    words[H], words[V], words[KEY] = h, v, key


@kernel
def expand(depth: int, lattice: Any, heaps: Any, table: Array, arrays: Any) -> bool:
    """Make the children of a frame. True as soon as one of them answers its question with yes: that one is the last."""
    frame = arrays.frames[depth]
    sizes = lattice.sizes
    h, v = arrays.frame_words[depth, H], arrays.frame_words[depth, V]
    heap, left = frame[HEAP], frame[LEFT]
    place = frame[FIRST]
    frame[BEST] = -FAR
    one, two, more = degrees(h, v, sizes)
    chain_h, chain_v = edges_of(two, h, v, sizes)
    safe_h, safe_v = h & ~chain_h, v & ~chain_v
    for i in range(len(lattice.twins)):
        twin = lattice.twins[i]
        if (h & twin[2]) | (v & twin[3]):
            safe_h &= ~twin[0]
            safe_v &= ~twin[1]
    opening = 0
    while True:
        next_h, next_v, next_heap, taken, dealt = h, v, heap, 0, 0
        if safe_h:
            next_h = h & ~(safe_h & (~safe_h + ONE))
            safe_h &= safe_h - ONE
        elif safe_v:
            next_v = v & ~(safe_v & (~safe_v + ONE))
            safe_v &= safe_v - ONE
        elif two:
            chain = flood(two & (~two + ONE), two, h, v, sizes)
            two &= ~chain
            taken, dealt, next_h, next_v = open_chain(chain, h, v, sizes)
        elif opening < 3:
            opened = heaps.opened[heap, opening]
            opening += 1
            if not opened[3]:
                continue
            next_heap, taken, dealt = np.int64(opened[0]), np.int64(opened[1]), np.int64(opened[2])
        else:
            break
        enter(place, next_h, next_v, next_heap, left, taken, dealt, lattice, heaps, table, arrays)
        low, high = worth(arrays.children[place])
        if low >= frame[GOAL]:
            frame[AT], frame[END], frame[BEST] = place, place + 1, low
            return True
        if high < frame[GOAL]:
            frame[BEST] = max(frame[BEST], high)
            continue
        arrays.children[place, RANK] = rank(place, arrays)
        place += 1
    frame[AT], frame[END] = frame[FIRST], place
    return False


@kernel
def open_chain(chain: Any, h: Any, v: Any, sizes: Array) -> tuple[int, int, Any, Any]:
    """What the other side gets when a chain of the core is opened in the best way: as ``settle``."""
    own_h, own_v = edges_of(chain, h, v, sizes)
    one, two, more = degrees(h & ~own_h, v & ~own_v, sizes)
    if one:  # both ends were one box
        edge = own_h & (~own_h + ONE)
        return settle(h & ~edge, v, sizes)
    size = popcount(chain)
    if size < 3:
        return size, 0, h & ~own_h, v & ~own_v
    return size - 2, 2, h & ~own_h, v & ~own_v


@kernel
def rank(place: int, arrays: Any) -> Int:
    """Where a child stands among its brothers: the least is searched first."""
    child = arrays.children[place]
    return 4 * (child[TAKEN] + child[DEALT])


@kernel
def sort(first: int, end: int, children: Array, words: Array) -> None:
    """Put children in the order of their ranks; equal ones stay as they are."""
    for i in range(first + 1, end):
        j = i
        while j > first and children[j - 1, RANK] > children[j, RANK]:
            for k in range(children.shape[1]):
                children[j - 1, k], children[j, k] = children[j, k], children[j - 1, k]
            for k in range(words.shape[1]):
                words[j - 1, k], words[j, k] = words[j, k], words[j - 1, k]
            j -= 1


# The search


@kernel
def ask(depth: int, place: int, arrays: Any) -> None:
    """Descend to a child with a question whose answer helps to decide about the move."""
    frame, child = arrays.frames[depth], arrays.children[place]
    spare = -frame[GOAL] - child[TAKEN]  # the move is good enough if what the other side gets beyond TAKEN is no more
    goal = spare - child[DEALT] + 1
    if child[DEALT] and child[HIGH] < goal:
        goal = -spare - child[DEALT]
    below = arrays.frames[depth + 1]
    below[HEAP], below[LEFT] = child[HEAP], child[LEFT]
    below[GOAL] = goal + (goal - child[LEFT] & 1)
    below[FIRST] = frame[END]
    below[BEGUN] = arrays.run[NODES]
    for k in range(3):
        arrays.frame_words[depth + 1, k] = arrays.child_words[place, k]


@kernel
def answered(depth: int, low: int, high: int, arrays: Any, table: Array) -> None:
    """Bring what was found out about a frame to the table and to the frame above."""
    frame, above = arrays.frames[depth], arrays.frames[depth - 1]
    child = arrays.children[above[AT]]
    child[LOW], child[HIGH] = max(child[LOW], low), min(child[HIGH], high)
    effort = 1
    spent = arrays.run[NODES] - frame[BEGUN]
    while spent:
        spent >>= 1
        effort += 1
    note(arrays.frame_words[depth, KEY], frame[HEAP], child[LOW], child[HIGH], effort, table)


@kernel
def step(depth: int, arrays: Any, table: Array) -> Int:
    """Go on with a frame whose children are there: the depth to go on from, -1 when the root has its answer."""
    frame = arrays.frames[depth]
    while frame[AT] < frame[END]:
        low, high = worth(arrays.children[frame[AT]])
        if low >= frame[GOAL]:
            frame[BEST] = low
            break
        if high >= frame[GOAL]:
            ask(depth, frame[AT], arrays)
            return depth + 1
        frame[BEST] = max(frame[BEST], high)
        frame[AT] += 1
    if depth:
        left = frame[LEFT]
        if frame[BEST] >= frame[GOAL]:
            answered(depth, frame[BEST], left, arrays, table)
        else:
            answered(depth, -left, frame[BEST], arrays, table)
    return depth - 1


@kernel
def search(most: int, lattice: Any, heaps: Any, table: Array, arrays: Any) -> bool:
    """Search at most so many nodes; True when the root's value is known."""
    run = arrays.run
    depth = run[DEPTH]
    end = run[NODES] + most
    while run[ROOT_LOW] < run[ROOT_HIGH]:
        frame = arrays.frames[depth]
        if not run[EXPANDED]:
            if run[NODES] >= end:
                break
            run[NODES] += 1
            if not expand(depth, lattice, heaps, table, arrays):
                sort(frame[FIRST], frame[END], arrays.children, arrays.child_words)
        after = step(depth, arrays, table)
        run[EXPANDED] = after < depth
        if after < 0:
            conclude(arrays)
            after = 0
        depth = after
    run[DEPTH] = depth
    return run[ROOT_LOW] == run[ROOT_HIGH]


@kernel
def conclude(arrays: Any) -> None:
    """The root's question is answered: note the bounds, and ask the next one."""
    run, frame = arrays.run, arrays.frames[0]
    if frame[BEST] >= frame[GOAL]:
        run[ROOT_LOW] = frame[BEST]
        for k in range(3):
            arrays.child_words[-1, k] = arrays.child_words[frame[AT], k]
        for k in range(7):
            arrays.children[-1, k] = arrays.children[frame[AT], k]
        frame[GOAL] = run[ROOT_LOW] + 2
    else:
        run[ROOT_HIGH] = frame[BEST]
        frame[GOAL] = run[ROOT_HIGH]
    run[EXPANDED] = 0


@kernel
def begin(h: Any, v: Any, guess: int, lattice: Any, heaps: Any, arrays: Any) -> None:
    """Set up a run for a position without open boxes."""
    run, frame = arrays.run, arrays.frames[0]
    h, v = in_order(h, v, lattice.twins)
    one, two, more = degrees(h, v, lattice.sizes)
    left = popcount(two | more)
    h, v, heap = gather(h, v, 0, lattice, heaps)
    arrays.frame_words[0, H], arrays.frame_words[0, V] = h, v
    frame[HEAP], frame[LEFT], frame[FIRST] = heap, left, 0
    run[DEPTH], run[EXPANDED], run[NODES] = 0, 0, 0
    run[ROOT_LOW], run[ROOT_HIGH] = -left, left
    frame[GOAL] = max(2 - left, min(left, guess + (guess - left & 1)))
    arrays.children[-1, HEAP] = -1


@kernel
def values_of(positions: Array, lattice: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    """The values of many positions, given as sets of undrawn edge numbers: for comparing and for tables."""
    for i in range(len(positions)):
        h, v = words_of(positions[i], lattice.places)
        gained, dealt, h, v = settle(h, v, lattice.sizes)
        begin(h, v, 0, lattice, heaps, arrays)
        while not search(1 << 20, lattice, heaps, table, arrays):
            pass
        value = arrays.run[ROOT_LOW]
        values[i] = gained + (abs(dealt + value) if dealt else value)
