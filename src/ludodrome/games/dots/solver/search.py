"""The search: null-window questions about a value until two bounds meet, or until one question is answered.

Nodes are positions without open boxes (``moves.py``). A question is whether V >= goal. Values have the parity of the
boxes left, so bounds move in steps of two. A move with a double-deal may need two answers about its child. The search
generates all children and probes the table (``table.py``) before it searches one.

The stack is in arrays that the caller owns (``SolverArrays``), so the search can stop after any node and resume later.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.rules import MAX_EDGES
from ludodrome.games.dots.solver.board import (
    degrees,
    edge_count,
    edge_words,
    resolve_captures,
    sort_twins,
)
from ludodrome.games.dots.solver.moves import (
    CHILD,
    FRAME,
    ROOT_BEST,
    RUN,
    bounds_of_move,
    expand,
    move_to_heap,
    select_next,
)
from ludodrome.games.dots.solver.table import (
    INFINITY,
    OURS,
    bucket_of,
    colour_boxes,
    new_colour_buffer,
    probe,
    probe_isomorphic,
    store,
    tag_of,
)
from ludodrome.jit import Array, Record, borrow, inline_kernel, kernel, new_states, popcount

SCOUT_EDGES = 28
"""From this many undrawn core edges on, scout the children (generate and probe their own children, then search those
with the fewest unanswered moves first) and probe by graph hash. Closer to the end that costs more than it saves."""


class SolverArrays(NamedTuple):
    """The state of a run, apart from the table."""

    run: Array
    """RUN (1,)"""
    frames: Array
    """FRAME (levels,)"""
    children: Array
    """CHILD (slots,): the children of all frames, one frame after another, and two reserved slots."""
    colours: Array
    """The colour buffer of ``table.py``."""


def new_arrays(scout_edges: int = SCOUT_EDGES, noise: int = 0, max_safe: int = MAX_EDGES) -> SolverArrays:
    """Allocate the arrays of one run."""
    run = new_states(RUN, 1)
    run["scout_edges"], run["noise"], run["max_safe"] = scout_edges, noise, max_safe
    levels = MAX_EDGES + 1
    slots = levels * (levels + 1) // 2 + 3 * levels  # per level at most one move per edge, and three of the heap
    return SolverArrays(run, new_states(FRAME, levels), new_states(CHILD, slots + 2), new_colour_buffer())


@kernel
def begin(h: Any, v: Any, guess: int, pauses: int, board: Any, heaps: Any, arrays: Any) -> None:
    """Set up a run for a position without open boxes; the first question is whether V >= guess.

    ``pauses``: 1 to stop after every question (``ask`` sets the next), 0 to go on until the value is known.
    """
    run, root = arrays.run[0], arrays.frames[0]
    h, v = sort_twins(h, v, board.twins)
    _, two, more = degrees(h, v, board.sizes)
    left = popcount(two | more)
    h, v, heap, left = move_to_heap(two, two, more, h, v, 0, left, board.sizes, heaps.added)
    root.h, root.v, root.heap, root.left, root.first = h, v, heap, left, 0
    run.nodes = 0
    run.root_low, run.root_high, run.pauses = -left, left, pauses
    arrays.children[ROOT_BEST].heap = -1
    ask(guess, arrays)


@kernel
def ask(goal: int, arrays: Any) -> None:
    """Start a question about the root: is V >= goal? Without an answer that is known already, the nearest goal."""
    run, root = arrays.run[0], arrays.frames[0]
    low, high = run.root_low, run.root_high
    root.goal = max(low + 2, min(high, goal + (goal - low & 1)))
    run.depth, run.expanded, run.paused = 0, 0, 0


@kernel
def search(most: int, board: Any, heaps: Any, table: Array, arrays: Any) -> Any:
    """Search at most ``most`` nodes; True when the root's value is known, or when the run has paused.

    Scouting uses the same loop: it expands the children of the frame above one by one. That frame resumes when all are
    expanded, or when one of them has answered its question.
    """
    sizes, twins, image_masks, edge_bits = (
        borrow(board.sizes),
        borrow(board.twins),
        borrow(board.image_masks),
        borrow(board.edge_bits),
    )
    values, added, opened = borrow(heaps.values), borrow(heaps.added), borrow(heaps.opened)
    table, frames, children = borrow(table), borrow(arrays.frames), borrow(arrays.children)
    colours, run = borrow(arrays.colours), borrow(arrays.run)[0]
    depth = run.depth
    end = run.nodes + most
    scouting = False
    while run.root_low < run.root_high and not run.paused:
        if not run.expanded:
            if run.nodes >= end and not scouting:
                break
            frame = frames[depth]
            yes = expand(run, frame, sizes, twins, image_masks, values, added, opened, table, children)
            recognised = (
                not yes
                and depth > 0
                and frame.first < frame.end
                and edge_count(frame.h, frame.v) >= run.scout_edges
                and probe_by_graph(frame, children[frames[depth - 1].at], sizes, edge_bits, table, colours)
            )
            if scouting:
                above = frames[depth - 1]
                decided = finish_scout(run, frame, above, yes or recognised, children, table)
                above.at += 1
                if above.at < above.end and not decided:
                    descend(run, above, frame, children)
                    continue
                scouting = False
                depth -= 1
                above.at = above.first
                select_next(np.int64(above.first), np.int64(above.end), children)
            elif recognised:
                depth -= 1
                back_up(run, frame, children[frames[depth].at], table)
                run.expanded = 1
                continue
            elif not yes and frame.first < frame.end and edge_count(frame.h, frame.v) >= run.scout_edges:
                scouting = True
                depth += 1
                descend(run, frame, frames[depth], children)
                continue
            elif not yes:
                select_next(np.int64(frame.first), np.int64(frame.end), children)
        if step(frames[depth], children, table):
            descend(run, frames[depth], frames[depth + 1], children)
            depth += 1
            run.expanded = 0
        elif depth:
            depth -= 1
            back_up(run, frames[depth + 1], children[frames[depth].at], table)
            run.expanded = 1
        else:
            next_root_question(run, frames[0], children)
    run.depth = depth
    return run.root_low == run.root_high or run.paused != 0


@inline_kernel
def step(frame: Record, children: Array, table: Array) -> bool:
    """Continue a frame whose children are generated. True if its current child must be searched, False if done."""
    goal, best = np.int64(frame.goal), np.int64(frame.best)
    at, end = np.int64(frame.at), np.int64(frame.end)
    fresh = True  # the first was just probed or searched
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
            select_next(at, end, children)
            fresh = False
    frame.at, frame.best = at, best
    return False


@inline_kernel
def finish_scout(run: Record, frame: Record, above: Record, known: bool, children: Array, table: Array) -> bool:
    """Use the expansion of a scouted child: back up its answer, or rank it by its number of unanswered moves.

    True if the move to it answers the question of the frame above.
    """
    child = children[above.at]
    if known or frame.first == frame.end:
        back_up(run, frame, child, table)
        child.rank = -INFINITY
    else:
        child.rank += MAX_EDGES * (frame.end - frame.first)
    low, _ = bounds_of_move(child)
    return bool(low >= above.goal)


@kernel
def probe_by_graph(frame: Record, child: Record, sizes: Array, edge_bits: Array, table: Array, colours: Array) -> bool:
    """Use the bounds of an isomorphic position; True if they answer the frame's question (then sets its best)."""
    if not child.graph_hash:
        child.graph_hash = colour_boxes(frame.h, frame.v, sizes, OURS, colours)
    frame.graph_hash = child.graph_hash
    low, high = probe_isomorphic(
        child.graph_hash, frame.h, frame.v, np.int64(frame.heap), np.int64(frame.left), sizes, edge_bits, table, colours
    )
    low, high = max(low, np.int64(child.low)), min(high, np.int64(child.high))
    child.low, child.high = low, high
    if low < frame.goal <= high:
        return False
    frame.best = low if low >= frame.goal else high
    frame.end = frame.first
    return True


@inline_kernel
def descend(run: Record, frame: Record, below: Record, children: Array) -> None:
    """Set up the frame below for the current child, with a question whose answer helps to decide the move."""
    child = children[frame.at]
    dealt, left = np.int64(child.dealt), np.int64(child.left)
    spare = -frame.goal - child.taken  # the move is good enough if the other side gets no more than this
    goal = spare - dealt + 1
    if dealt and child.high < goal:
        goal = -spare - dealt
    below.h, below.v, below.key, below.graph_hash = child.h, child.v, child.key, child.graph_hash
    below.bucket, below.heap, below.left = child.bucket, child.heap, left
    below.goal = goal + (goal - left & 1)
    below.first, below.begun = frame.end, run.nodes


@kernel
def back_up(run: Record, frame: Record, child: Record, table: Array) -> None:
    """Store a frame's answer in the table and in the child record of the frame above."""
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
    if frame.graph_hash and nodes > 1:  # after one node the answer came from an isomorphic position's own entry
        bucket = bucket_of(frame.graph_hash, np.int64(frame.heap), table)
        store(bucket, frame.key, tag_of(frame.graph_hash, np.int64(frame.heap)), low, high, effort, table)


@kernel
def next_root_question(run: Record, root: Record, children: Array) -> None:
    """Record the answer to the root's question, its bounds and best move, and set the next question."""
    if root.best >= root.goal:
        run.root_low = root.best
        children[ROOT_BEST] = children[root.at]
        root.goal = root.best + 2
    else:
        run.root_high = root.best
        root.goal = root.best
    run.expanded, run.paused = 0, run.pauses


@kernel
def values_of(positions: Array, board: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    """Compute the values of many positions, given as sets of undrawn edge numbers."""
    for i in range(len(positions)):
        h, v = edge_words(positions[i], board.edge_bits)
        gained, dealt, h, v = resolve_captures(h, v, board.sizes)
        begin(h, v, 0, 0, board, heaps, arrays)
        search(1 << 62, board, heaps, table, arrays)
        value = arrays.run[0].root_low
        values[i] = gained + (abs(dealt + value) if dealt else value)
