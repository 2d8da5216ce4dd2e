"""The search: is a position worth at least so much? Asked again with other bounds until the value is known.

Nodes are positions without open boxes; their moves are in ``branch.py``, the table of what has been proved in
``bounds.py``. A question about a node is whether V >= goal. Values have the parity of the boxes left, so bounds
move in steps of two. A move with a double-deal may need two answers about its child. All children
are made and looked up in the table before one is searched.

The search has its own stack, in arrays that the caller owns (``Arrays``), and can stop after any node and go on later.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.bounds import INFINITY, bucket_of, probe, store, tag_of
from ludodrome.games.dots.branch import CHILD, FRAME, ROOT_BEST, RUN, bounds_of_move, expand, gather, pick
from ludodrome.games.dots.captures import resolve_captures
from ludodrome.games.dots.lattice import canonical_key, degrees, edge_count, edge_words, images, sort_twins
from ludodrome.games.dots.likeness import OURS, look_up_alike, new_colours, painted
from ludodrome.games.dots.rules import MOST_EDGES
from ludodrome.jit import Array, Int, Record, borrow, inline_kernel, kernel, new_states, popcount

ENOUGH = 28
"""Where so many edges of the core are undrawn, the children's own children are made and looked up before one is
searched, those with the fewest open moves first, and like positions are sought. Closer to the end that costs more
than it saves."""


class Arrays(NamedTuple):
    """What a run consists of, besides the table."""

    run: Array
    """RUN (1,)"""
    frames: Array
    """FRAME (levels,)"""
    children: Array
    """CHILD (places,): the children of all frames, one frame after another, and two places of their own."""
    colours: Array
    """Room for ``likeness.py``."""


def new_arrays(enough: int = ENOUGH, noise: int = 0) -> Arrays:
    """The arrays of one run."""
    run = new_states(RUN, 1)
    run["enough"], run["noise"] = enough, noise
    levels = MOST_EDGES + 1
    places = levels * (levels + 1) // 2 + 3 * levels  # a level has a move for every edge at most, and three of the heap
    return Arrays(run, new_states(FRAME, levels), new_states(CHILD, places + 2), new_colours())


@kernel
def begin(h: Any, v: Any, guess: int, lattice: Any, heaps: Any, arrays: Any) -> None:
    """Set up a run for a position without open boxes; the first question is whether it is worth the guess."""
    run, root = arrays.run[0], arrays.frames[0]
    h, v = sort_twins(h, v, lattice.twins)
    _, two, more = degrees(h, v, lattice.sizes)
    left = popcount(two | more)
    h, v, heap, left = gather(two, two, more, h, v, 0, left, lattice.sizes, heaps.added)
    root.h, root.v, root.heap, root.left, root.first = h, v, heap, left, 0
    root.goal = max(2 - left, min(left, guess + (guess - left & 1)))
    run.depth, run.expanded, run.nodes = 0, 0, 0
    run.root_low, run.root_high = -left, left
    arrays.children[ROOT_BEST].heap = -1


@kernel
def search(most: int, lattice: Any, heaps: Any, table: Array, arrays: Any) -> Any:
    """Search at most so many nodes; True when the root's value is known.

    Scouting is part of the same loop: the children of the frame above are expanded one after the other, and that
    frame goes on when all have been, or when one of them has answered its question.
    """
    sizes, twins, image_masks, places = (
        borrow(lattice.sizes),
        borrow(lattice.twins),
        borrow(lattice.image_masks),
        borrow(lattice.places),
    )
    values, added, opened = borrow(heaps.values), borrow(heaps.added), borrow(heaps.opened)
    table, frames, children = borrow(table), borrow(arrays.frames), borrow(arrays.children)
    colours, run = borrow(arrays.colours), borrow(arrays.run)[0]
    depth = run.depth
    end = run.nodes + most
    scouting = False
    while run.root_low < run.root_high:
        if not run.expanded:
            if run.nodes >= end and not scouting:
                break
            frame = frames[depth]
            yes = expand(run, frame, sizes, twins, image_masks, values, added, opened, table, children)
            recognised = (
                not yes
                and depth > 0
                and frame.first < frame.end
                and edge_count(frame.h, frame.v) >= run.enough
                and recognise(frame, children[frames[depth - 1].at], sizes, places, table, colours)
            )
            if scouting:
                above = frames[depth - 1]
                decided = scouted(run, frame, above, yes or recognised, children, table)
                above.at += 1
                if above.at < above.end and not decided:
                    ask(run, above, frame, children)
                    continue
                scouting = False
                depth -= 1
                above.at = above.first
                pick(np.int64(above.first), np.int64(above.end), children)
            elif recognised:
                depth -= 1
                answered(run, frame, children[frames[depth].at], table)
                run.expanded = 1
                continue
            elif not yes and frame.first < frame.end and edge_count(frame.h, frame.v) >= run.enough:
                scouting = True
                depth += 1
                ask(run, frame, frames[depth], children)
                continue
            elif not yes:
                pick(np.int64(frame.first), np.int64(frame.end), children)
        if step(frames[depth], children, table):
            ask(run, frames[depth], frames[depth + 1], children)
            depth += 1
            run.expanded = 0
        elif depth:
            depth -= 1
            answered(run, frames[depth + 1], children[frames[depth].at], table)
            run.expanded = 1
        else:
            conclude(run, frames[0], children)
    run.depth = depth
    return run.root_low == run.root_high


@inline_kernel
def step(frame: Record, children: Array, table: Array) -> bool:
    """Go on with a frame whose children are there: whether the one it is at is to be searched, or all is known."""
    goal, best = np.int64(frame.goal), np.int64(frame.best)
    at, end = np.int64(frame.at), np.int64(frame.end)
    fresh = True  # the first was looked up just now, or comes back from being searched
    while at < end:
        child = children[at]
        low, high = bounds_of_move(child)
        if low >= goal:
            best = low
            break
        if high >= goal and fresh:
            frame.at, frame.best = at, best
            return True
        if high >= goal:
            low, high = probe(child.bucket, child.key, child.heap, child.left, table)
            child.low, child.high = max(low, child.low), min(high, child.high)
            fresh = True
        else:
            best = max(best, high)
            at += 1
            pick(at, end, children)
            fresh = False
    frame.at, frame.best = at, best
    return False


@inline_kernel
def scouted(run: Record, frame: Record, above: Record, known: bool, children: Array, table: Array) -> bool:
    """Note what expanding a child told about it: the answer, or else its rank by the number of its moves left open.

    True if the move to it will do: the frame above has its answer.
    """
    child = children[above.at]
    if known or frame.first == frame.end:
        answered(run, frame, child, table)
        child.rank = -INFINITY
    else:
        child.rank += MOST_EDGES * (frame.end - frame.first)
    low, _ = bounds_of_move(child)
    return bool(low >= above.goal)


@kernel
def recognise(frame: Record, child: Record, sizes: Array, places: Array, table: Array, colours: Array) -> bool:
    """Take over what is known about a like position; True if that answers the frame's question, with its best."""
    if not child.graph_hash:
        child.graph_hash = painted(frame.h, frame.v, sizes, OURS, colours)
    frame.graph_hash = child.graph_hash
    low, high = look_up_alike(
        child.graph_hash, frame.h, frame.v, np.int64(frame.heap), np.int64(frame.left), sizes, places, table, colours
    )
    low, high = max(low, np.int64(child.low)), min(high, np.int64(child.high))
    child.low, child.high = low, high
    if low < frame.goal <= high:
        return False
    frame.best = low if low >= frame.goal else high
    frame.end = frame.first
    return True


@inline_kernel
def ask(run: Record, frame: Record, below: Record, children: Array) -> None:
    """Descend to a child with a question whose answer helps to decide about the move."""
    child = children[frame.at]
    dealt, left = np.int64(child.dealt), np.int64(child.left)
    spare = -frame.goal - child.taken  # the move will do if the other side gets no more than that
    goal = spare - dealt + 1
    if dealt and child.high < goal:
        goal = -spare - dealt
    below.h, below.v, below.key, below.graph_hash = child.h, child.v, child.key, child.graph_hash
    below.bucket, below.heap, below.left = child.bucket, child.heap, left
    below.goal = goal + (goal - left & 1)
    below.first, below.begun = frame.end, run.nodes


@kernel
def answered(run: Record, frame: Record, child: Record, table: Array) -> None:
    """Bring what was found out about a frame to the table, and to the child of the frame above that it is."""
    if frame.best >= frame.goal:
        child.low = max(child.low, frame.best)
    else:
        child.high = min(child.high, frame.best)
    nodes = spent = run.nodes - frame.begun
    effort = 1
    while spent:
        spent >>= 1
        effort += 1
    low, high = np.int64(child.low), np.int64(child.high)
    store(frame.bucket, frame.key, np.uint64(frame.heap), low, high, effort, table)
    if (
        frame.graph_hash and nodes > 1
    ):  # an answer after one node came from a like position: its own entry knows what it took
        bucket = bucket_of(frame.graph_hash, np.int64(frame.heap), table)
        store(bucket, frame.key, tag_of(frame.graph_hash, np.int64(frame.heap)), low, high, effort, table)


@kernel
def conclude(run: Record, root: Record, children: Array) -> None:
    """The root's question is answered: note the bounds and the best move, and ask the next one."""
    if root.best >= root.goal:
        run.root_low = root.best
        children[ROOT_BEST] = children[root.at]
        root.goal = root.best + 2
    else:
        run.root_high = root.best
        root.goal = root.best
    run.expanded = 0


@kernel
def child_of(undrawn: Any, lattice: Any, heaps: Any) -> tuple[int, int, Int, Any]:
    """A position as a child is known: the boxes taken, those of the double-deal, the heap, the core's key."""
    h, v = edge_words(undrawn, lattice.places)
    gained, dealt, h, v = resolve_captures(h, v, lattice.sizes)
    h, v = sort_twins(h, v, lattice.twins)
    _, two, more = degrees(h, v, lattice.sizes)
    h, v, heap, _ = gather(two, two, more, h, v, 0, 0, lattice.sizes, heaps.added)
    key = canonical_key(images(h, v, lattice.image_masks))
    return gained, dealt, heap, key


@kernel
def values_of(positions: Array, lattice: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    """The values of many positions, given as sets of undrawn edge numbers."""
    for i in range(len(positions)):
        h, v = edge_words(positions[i], lattice.places)
        gained, dealt, h, v = resolve_captures(h, v, lattice.sizes)
        begin(h, v, 0, lattice, heaps, arrays)
        search(1 << 62, lattice, heaps, table, arrays)
        value = arrays.run[0].root_low
        values[i] = gained + (abs(dealt + value) if dealt else value)
