"""The search: is a position worth at least so much? Asked again with other bounds until the value is known.

Nodes are positions without open boxes; their moves are in ``branch.py``, the table of what has been proved in
``bounds.py``. A question about a node is whether V >= goal. Values have the parity of the boxes left, so bounds
move in steps of two. A move with a double-deal may need two answers about its child. All children
are made and looked up in the table before one is searched.

The search has its own stack, in arrays that the caller owns (``Arrays``), and can stop after any node and go on later.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.bounds import FAR, bucket_of, look_up, note, tag_of
from ludodrome.games.dots.branch import (
    AT,
    BEGUN,
    BEST,
    DEALT,
    DEPTH,
    EDGE,
    END,
    EXPANDED,
    FIRST,
    GOAL,
    HEAP,
    HIGH,
    KEY,
    LEFT,
    LOW,
    MARK,
    NODES,
    NOISE,
    RANK,
    ROOT_HIGH,
    ROOT_LOW,
    SCOUTED,
    TAKEN,
    H,
    V,
    expand,
    gather,
    pick,
    worth,
)
from ludodrome.games.dots.captures import settle
from ludodrome.games.dots.lattice import degrees, edge_count, images, in_order, least, words_of
from ludodrome.games.dots.likeness import OURS, look_up_alike, new_colours, painted
from ludodrome.games.dots.rules import MOST_EDGES
from ludodrome.jit import Array, Int, kernel, lent, popcount

ENOUGH = 24
"""Where so many edges of the core are undrawn, the children's own children are made and looked up before one is
searched, those with the fewest open moves first, and like positions are sought. Closer to the end that costs more
than it saves."""


class Arrays(NamedTuple):
    """What a run consists of, besides the table."""

    run: Array
    """int64 (8,): the numbers of the run."""
    frames: Array
    """int64 (levels, 8)"""
    frame_words: Array
    """uint64 (levels, 4)"""
    children: Array
    """int64 (places, 8): the children of all frames, one frame after another; the last place: the root's best."""
    child_words: Array
    """uint64 (places, 4)"""
    colours: Array
    """Room for ``likeness.py``."""


def new_arrays(enough: int = ENOUGH, noise: int = 0) -> Arrays:
    """The arrays of one run."""
    run = np.zeros(8, np.int64)
    run[SCOUTED], run[NOISE] = enough, noise
    levels = MOST_EDGES + 1
    places = levels * (levels + 1) // 2 + 3 * levels  # a level has a move for every edge at most, and three of the heap
    return Arrays(
        run,
        np.zeros((levels, 8), np.int64),
        np.zeros((levels, 4), np.uint64),
        np.zeros((places, 8), np.int64),
        np.zeros((places, 4), np.uint64),
        new_colours(),
    )


@kernel
def begin(h: Any, v: Any, guess: int, lattice: Any, heaps: Any, arrays: Any) -> None:
    """Set up a run for a position without open boxes; the first question is whether it is worth the guess."""
    run, frames = arrays.run, arrays.frames
    h, v = in_order(h, v, lattice.twins)
    _, two, more = degrees(h, v, lattice.sizes)
    left = popcount(two | more)
    h, v, heap, left = gather(two, two, more, h, v, 0, left, lattice.sizes, heaps.added)
    arrays.frame_words[0, H], arrays.frame_words[0, V] = h, v
    frames[0, HEAP], frames[0, LEFT], frames[0, FIRST] = heap, left, 0
    frames[0, GOAL] = max(2 - left, min(left, guess + (guess - left & 1)))
    run[DEPTH], run[EXPANDED], run[NODES] = 0, 0, 0
    run[ROOT_LOW], run[ROOT_HIGH] = -left, left
    arrays.children[-1, HEAP] = -1


@kernel
def search(most: int, lattice: Any, heaps: Any, table: Array, arrays: Any) -> Any:
    """Search at most so many nodes; True when the root's value is known."""
    sizes, twins, turned = lent(lattice.sizes), lent(lattice.twins), lent(lattice.turned)
    values, added, opened = lent(heaps.values), lent(heaps.added), lent(heaps.opened)
    run, table = lent(arrays.run), lent(table)
    frames, frame_words = lent(arrays.frames), lent(arrays.frame_words)
    children, words = lent(arrays.children), lent(arrays.child_words)
    places, colours = lent(lattice.places), lent(arrays.colours)
    depth = run[DEPTH]
    end = run[NODES] + most
    while run[ROOT_LOW] < run[ROOT_HIGH]:
        if not run[EXPANDED]:
            if run[NODES] >= end:
                break
            if not expand(
                depth,
                sizes,
                twins,
                turned,
                values,
                added,
                opened,
                table,
                run,
                frames,
                frame_words,
                children,
                words,
            ):
                if recognise(depth, run, sizes, places, table, frames, frame_words, children, words, colours):
                    answered(depth, run, frames, frame_words, children, table)
                    run[EXPANDED] = 1
                    depth -= 1
                    continue
                if edge_count(frame_words[depth, H], frame_words[depth, V]) >= run[SCOUTED]:
                    for place in range(frames[depth, FIRST], frames[depth, END]):
                        frames[depth, AT] = place
                        ask(depth, place, run, frames, frame_words, children, words)
                        yes = expand(
                            depth + 1,
                            sizes,
                            twins,
                            turned,
                            values,
                            added,
                            opened,
                            table,
                            run,
                            frames,
                            frame_words,
                            children,
                            words,
                        )
                        if not yes:
                            yes = recognise(
                                depth + 1,
                                run,
                                sizes,
                                places,
                                table,
                                frames,
                                frame_words,
                                children,
                                words,
                                colours,
                            )
                        if scouted(depth + 1, yes, run, frames, frame_words, children, table):
                            break
                    frames[depth, AT] = frames[depth, FIRST]
                pick(frames[depth, FIRST], frames[depth, END], children, words)
        after = step(depth, run, frames, frame_words, children, words, table)
        run[EXPANDED] = after < depth
        if after < 0:
            conclude(run, frames, children, words)
            after = 0
        depth = after
    run[DEPTH] = depth
    return run[ROOT_LOW] == run[ROOT_HIGH]


@kernel
def step(
    depth: int,
    run: Array,
    frames: Array,
    frame_words: Array,
    children: Array,
    words: Array,
    table: Array,
) -> Int:
    """Go on with a frame whose children are there: the depth to go on from, -1 when the root has its answer."""
    goal, best = frames[depth, GOAL], frames[depth, BEST]
    at, end = frames[depth, AT], frames[depth, END]
    fresh = True  # the first was looked up just now, or comes back from being searched
    while at < end:
        taken, dealt, left = children[at, TAKEN], children[at, DEALT], children[at, LEFT]
        low, high = worth(taken, dealt, left, children[at, LOW], children[at, HIGH])
        if low >= goal:
            best = low
            break
        if high >= goal and fresh:
            frames[depth, AT], frames[depth, BEST] = at, best
            ask(depth, at, run, frames, frame_words, children, words)
            return depth + 1
        if high >= goal:
            key, heap = words[at, KEY], children[at, HEAP]
            low, high = look_up(bucket_of(key, heap, table), key, heap, left, table)
            children[at, LOW], children[at, HIGH] = max(children[at, LOW], low), min(children[at, HIGH], high)
            fresh = True
        else:
            best = max(best, high)
            at += 1
            pick(at, end, children, words)
            fresh = False
    frames[depth, AT], frames[depth, BEST] = at, best
    if depth:
        answered(depth, run, frames, frame_words, children, table)
    return depth - 1


@kernel
def scouted(
    depth: int, known: bool, run: Array, frames: Array, frame_words: Array, children: Array, table: Array
) -> bool:
    """Note what expanding a child told about it: the answer, or else its rank by the number of its moves left open.

    True if the move to it will do: the frame above has its answer.
    """
    place = frames[depth - 1, AT]
    count = frames[depth, END] - frames[depth, FIRST]
    if known or count == 0:
        answered(depth, run, frames, frame_words, children, table)
        children[place, RANK] = -FAR
    else:
        children[place, RANK] += MOST_EDGES * count
    taken, dealt, left = children[place, TAKEN], children[place, DEALT], children[place, LEFT]
    low, _ = worth(taken, dealt, left, children[place, LOW], children[place, HIGH])
    return bool(low >= frames[depth - 1, GOAL])


@kernel
def recognise(
    depth: int,
    run: Array,
    sizes: Array,
    places: Array,
    table: Array,
    frames: Array,
    frame_words: Array,
    children: Array,
    words: Array,
    colours: Array,
) -> bool:
    """Take over what is known about a like position; True if that answers the frame's question, with BEST.

    Only where there are enough edges to make it worth the trouble, and an open question.
    """
    h, v, heap, left = frame_words[depth, H], frame_words[depth, V], frames[depth, HEAP], frames[depth, LEFT]
    if depth == 0 or frames[depth, END] == frames[depth, FIRST] or edge_count(h, v) < run[SCOUTED]:
        return False
    place, goal = frames[depth - 1, AT], frames[depth, GOAL]
    if not words[place, MARK]:
        words[place, MARK] = painted(h, v, sizes, OURS, colours)
    frame_words[depth, MARK] = words[place, MARK]
    low, high = look_up_alike(words[place, MARK], h, v, heap, left, sizes, places, table, colours)
    low, high = max(low, children[place, LOW]), min(high, children[place, HIGH])
    children[place, LOW], children[place, HIGH] = low, high
    if low < goal <= high:
        return False
    frames[depth, BEST] = low if low >= goal else high
    frames[depth, END] = frames[depth, FIRST]
    return True


@kernel
def ask(depth: int, place: int, run: Array, frames: Array, frame_words: Array, children: Array, words: Array) -> None:
    """Descend to a child with a question whose answer helps to decide about the move."""
    dealt, left = children[place, DEALT], children[place, LEFT]
    spare = -frames[depth, GOAL] - children[place, TAKEN]  # the move will do if the other side gets no more than that
    goal = spare - dealt + 1
    if dealt and children[place, HIGH] < goal:
        goal = -spare - dealt
    frames[depth + 1, HEAP], frames[depth + 1, LEFT] = children[place, HEAP], left
    frames[depth + 1, GOAL] = goal + (goal - left & 1)
    frames[depth + 1, FIRST] = frames[depth, END]
    frames[depth + 1, BEGUN] = run[NODES]
    for k in range(MARK + 1):
        frame_words[depth + 1, k] = words[place, k]


@kernel
def answered(depth: int, run: Array, frames: Array, frame_words: Array, children: Array, table: Array) -> None:
    """Bring what was found out about a frame to the table and to the frame above."""
    place, best = frames[depth - 1, AT], frames[depth, BEST]
    if best >= frames[depth, GOAL]:
        children[place, LOW] = max(children[place, LOW], best)
    else:
        children[place, HIGH] = min(children[place, HIGH], best)
    nodes = spent = run[NODES] - frames[depth, BEGUN]
    effort = 1
    while spent:
        spent >>= 1
        effort += 1
    key, heap, mark = frame_words[depth, KEY], frames[depth, HEAP], frame_words[depth, MARK]
    low, high = children[place, LOW], children[place, HIGH]
    note(bucket_of(key, heap, table), key, np.uint64(heap), low, high, effort, table)
    if mark and nodes > 1:  # an answer after one node came from a like position: its own entry knows what it took
        note(bucket_of(mark, heap, table), key, tag_of(mark, heap), low, high, effort, table)


@kernel
def conclude(run: Array, frames: Array, children: Array, words: Array) -> None:
    """The root's question is answered: note the bounds and the best move, and ask the next one."""
    if frames[0, BEST] >= frames[0, GOAL]:
        run[ROOT_LOW] = frames[0, BEST]
        for k in range(EDGE + 1):
            children[-1, k] = children[frames[0, AT], k]
        for k in range(MARK + 1):
            words[-1, k] = words[frames[0, AT], k]
        frames[0, GOAL] = run[ROOT_LOW] + 2
    else:
        run[ROOT_HIGH] = frames[0, BEST]
        frames[0, GOAL] = run[ROOT_HIGH]
    run[EXPANDED] = 0


@kernel
def child_of(undrawn: Any, lattice: Any, heaps: Any) -> tuple[int, int, Int, Any]:
    """A position as a child is known: the boxes taken, those of the double-deal, the heap, the core's key."""
    h, v = words_of(undrawn, lattice.places)
    gained, dealt, h, v = settle(h, v, lattice.sizes)
    h, v = in_order(h, v, lattice.twins)
    _, two, more = degrees(h, v, lattice.sizes)
    h, v, heap, _ = gather(two, two, more, h, v, 0, 0, lattice.sizes, heaps.added)
    key = least(images(h, v, lattice.turned))
    return gained, dealt, heap, key


@kernel
def values_of(positions: Array, lattice: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    """The values of many positions, given as sets of undrawn edge numbers."""
    for i in range(len(positions)):
        h, v = words_of(positions[i], lattice.places)
        gained, dealt, h, v = settle(h, v, lattice.sizes)
        begin(h, v, 0, lattice, heaps, arrays)
        search(1 << 62, lattice, heaps, table, arrays)
        value = arrays.run[ROOT_LOW]
        values[i] = gained + (abs(dealt + value) if dealt else value)
