"""The search: is a position worth at least so much? Asked again with other bounds until the value is known.

Nodes are positions without open boxes; their moves are in ``branch.py``, the table of what has been proved in
``bounds.py``. A question about a node is whether V >= goal. Values have the parity of the boxes left, so bounds
move in steps of two. A move with a double-deal may need two answers about its child. All children
are made and looked up in the table before one is searched.

The search has its own stack, in arrays that the caller owns (``Arrays``), and can stop after any node and go on later.
"""

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.rules import ALL, BOARDS, MAX_EDGES, SIDES
from ludodrome.games.dots.solver.board import (
    degrees,
    edge_count,
    edge_words,
    make_board_tables,
    next_capture,
    resolve_captures,
    sort_twins,
)
from ludodrome.games.dots.solver.moves import (
    CHILD,
    FRAME,
    ROOT_BEST,
    RUN,
    bounds_of_move,
    child_of,
    expand,
    make_heap_tables,
    move_to_heap,
    select_next,
)
from ludodrome.games.dots.solver.table import (
    INFINITY,
    OURS,
    bucket_of,
    colour_boxes,
    fill_ratio,
    new_colour_buffer,
    new_table,
    probe,
    probe_isomorphic,
    store,
    tag_of,
)
from ludodrome.jit import Array, Record, borrow, entry, inline_kernel, kernel, new_states, popcount

SCOUT_EDGES = 28
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


def new_arrays(scout_edges: int = SCOUT_EDGES, noise: int = 0) -> Arrays:
    """The arrays of one run."""
    run = new_states(RUN, 1)
    run["scout_edges"], run["noise"] = scout_edges, noise
    levels = MAX_EDGES + 1
    places = levels * (levels + 1) // 2 + 3 * levels  # a level has a move for every edge at most, and three of the heap
    return Arrays(run, new_states(FRAME, levels), new_states(CHILD, places + 2), new_colour_buffer())


@kernel
def begin(h: Any, v: Any, guess: int, lattice: Any, heaps: Any, arrays: Any) -> None:
    """Set up a run for a position without open boxes; the first question is whether it is worth the guess."""
    run, root = arrays.run[0], arrays.frames[0]
    h, v = sort_twins(h, v, lattice.twins)
    _, two, more = degrees(h, v, lattice.sizes)
    left = popcount(two | more)
    h, v, heap, left = move_to_heap(two, two, more, h, v, 0, left, lattice.sizes, heaps.added)
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
                and edge_count(frame.h, frame.v) >= run.scout_edges
                and probe_by_graph(frame, children[frames[depth - 1].at], sizes, places, table, colours)
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
            select_next(at, end, children)
            fresh = False
    frame.at, frame.best = at, best
    return False


@inline_kernel
def finish_scout(run: Record, frame: Record, above: Record, known: bool, children: Array, table: Array) -> bool:
    """Note what expanding a child told about it: the answer, or else its rank by the number of its moves left open.

    True if the move to it will do: the frame above has its answer.
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
def probe_by_graph(frame: Record, child: Record, sizes: Array, places: Array, table: Array, colours: Array) -> bool:
    """Take over what is known about a like position; True if that answers the frame's question, with its best."""
    if not child.graph_hash:
        child.graph_hash = colour_boxes(frame.h, frame.v, sizes, OURS, colours)
    frame.graph_hash = child.graph_hash
    low, high = probe_isomorphic(
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
def descend(run: Record, frame: Record, below: Record, children: Array) -> None:
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
def back_up(run: Record, frame: Record, child: Record, table: Array) -> None:
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
def next_root_question(run: Record, root: Record, children: Array) -> None:
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
def values_of(positions: Array, lattice: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    """The values of many positions, given as sets of undrawn edge numbers."""
    for i in range(len(positions)):
        h, v = edge_words(positions[i], lattice.places)
        gained, dealt, h, v = resolve_captures(h, v, lattice.sizes)
        begin(h, v, 0, lattice, heaps, arrays)
        search(1 << 62, lattice, heaps, table, arrays)
        value = arrays.run[0].root_low
        values[i] = gained + (abs(dealt + value) if dealt else value)


# The exact solver of dots and boxes: what a position is worth under perfect play, and a move that attains it.
#     solver = Solver(5, 5)
#     solver.begin(state)  # a record of the game, or the set of drawn edges
#     while not solver.run(100_000):  # so many nodes at a time: look at the clock, show progress, stop, go on
#         print(solver.bounds)
#     print(solver.value, solver.best_edge, solver.line())
# A *value* is the margin of boxes still to come for the seat to move: its further boxes minus the other's. What the
# seats own already is not part of it. The search itself is in ``prove.py``; files and clocks belong elsewhere.


TABLE_BITS = 22
"""The usual table: four million entries, 64 MB."""
MIN_BITS, MAX_BITS = 4, 32
SLICE = 1 << 16

_lattice, _heaps = functools.cache(make_board_tables), functools.cache(make_heap_tables)


# Compiled entry points


@entry
def _resolve_captures(undrawn: Any, places: Array, sizes: Array) -> Any:
    h, v = edge_words(undrawn, places)
    return resolve_captures(h, v, sizes)


@entry
def _next_capture(undrawn: Any, places: Array, sizes: Array) -> Any:
    h, v = edge_words(undrawn, places)
    return next_capture(h, v, sizes)


@entry
def _child_of(undrawn: Any, board: Any, heaps: Any) -> Any:
    return child_of(undrawn, board, heaps)


@entry
def _begin(h: Any, v: Any, guess: int, board: Any, heaps: Any, arrays: Any) -> None:
    begin(h, v, guess, board, heaps, arrays)


@entry
def _search(most: int, board: Any, heaps: Any, table: Array, arrays: Any) -> Any:
    return search(most, board, heaps, table, arrays)


@entry
def _values(positions: Array, board: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    values_of(positions, board, heaps, table, arrays, values)


class Solver:
    """Solves positions of one board, one after another. What it has proved stays in its table.

    ``table``: the table of another solver of the same board, to share it between threads. ``noise`` above 0
    shuffles the order of moves a little, so that threads with the same task take different ways. ``scout_edges``: the
    undrawn edges from which on a position is looked at more closely; it changes the time that is taken, nothing else.
    """

    def __init__(
        self,
        rows: int,
        cols: int,
        table_bits: int = TABLE_BITS,
        *,
        table: Array | None = None,
        noise: int = 0,
        scout_edges: int = SCOUT_EDGES,
    ) -> None:
        if (rows, cols) not in BOARDS:
            raise ValueError(f"there is no board of {rows} x {cols} boxes: a board has at most 64 edges")
        if not MIN_BITS <= table_bits <= MAX_BITS:
            raise ValueError(f"table_bits is a whole number from {MIN_BITS} to {MAX_BITS}, not {table_bits}")
        self.rows, self.cols = rows, cols
        self.table: Array = new_table(table_bits) if table is None else table
        self._board = BOARDS.index((rows, cols))
        self._all = int(ALL[self._board])
        self._lattice = _lattice(rows, cols)
        self._heaps = _heaps(rows * cols)
        self._arrays = new_arrays(scout_edges, noise)
        self._drawn = self._all
        self._sign, self._gain = 1, 0  # from the position that is searched to the one that was asked about
        self._gained, self._dealt = 0, 0
        self._asked_edge: int | None = None

    # A question

    def begin(self, position: Any, edge: int | None = None, guess: int = 0) -> None:
        """Ask for the value of a position: a record of this board, or the set of its drawn edges as an integer.

        With an edge: for the value, to the seat to move, of drawing that edge. A guess of the value may save time.
        """
        drawn = self._checked(position)
        self._drawn, self._sign, self._gain = drawn, 1, 0
        if edge is not None:
            if not 0 <= edge < self._all.bit_length() or drawn >> edge & 1:
                raise ValueError(f"edge {edge} cannot be drawn: it is drawn already, or there is no such edge")
            self._gain = self._closed(drawn, edge)
            self._sign = 1 if self._gain else -1
            drawn |= 1 << edge
        self._asked_edge = edge
        undrawn = np.uint64(self._all & ~drawn)
        gained, dealt, h, v = _resolve_captures(undrawn, self._lattice.places, self._lattice.sizes)
        self._gained, self._dealt = int(gained), int(dealt)
        first = (guess - self._gain) * self._sign - self._gained - self._dealt
        _begin(np.uint64(h), np.uint64(v), first, self._lattice, self._heaps, self._arrays)

    def run(self, nodes: int = SLICE) -> bool:
        """Search at most so many nodes more; whether the value is known."""
        return bool(_search(nodes, self._lattice, self._heaps, self.table, self._arrays))

    @property
    def nodes(self) -> int:
        """The nodes searched since ``begin``."""
        return int(self._run.nodes)

    @property
    def bounds(self) -> tuple[int, int]:
        """What is proved of the value so far: it is not less than the first and not more than the second."""
        low, high = int(self._run.root_low), int(self._run.root_high)
        if self._dealt:
            low, high = low + self._dealt, high + self._dealt
            least = (low & 1) if low <= 0 <= high else min(abs(low), abs(high))
            low, high = least, max(abs(low), abs(high))
        ends = [self._gain + self._sign * (self._gained + end) for end in (low, high)]
        return min(ends), max(ends)

    @property
    def value(self) -> int | None:
        """The value, once it is known."""
        low, high = self.bounds
        return low if low == high else None

    @property
    def goal(self) -> int:
        """The present question is whether the position that is searched is worth at least so much."""
        return int(self._arrays.frames[0].goal)

    @property
    def progress(self) -> tuple[int, int]:
        """How many of the root's open moves have been searched for the present question, and how many there are."""
        root = self._arrays.frames[0]
        return int(root.at - root.first), int(root.end - root.first)

    @property
    def fill(self) -> float:
        """The share of the table in use."""
        return fill_ratio(self.table)

    # Moves

    @property
    def best_edge(self) -> int | None:
        """An edge that attains the value, once it is known; None if none is left, or while it is not known."""
        if self._drawn == self._all or self._run.root_low < self._run.root_high:
            return None
        if self._asked_edge is not None:
            return self._asked_edge
        undrawn = self._all & ~self._drawn
        edges = [edge for edge in range(self._all.bit_length()) if undrawn >> edge & 1]
        if self._gained or self._dealt:
            return self._capture(undrawn)
        best = self._arrays.children[ROOT_BEST]
        if best.heap < 0:  # not one box can be had: every edge is as good
            return edges[0]
        wanted = (int(best.taken), int(best.dealt), int(best.heap), int(best.key))
        return next(edge for edge in edges if self._child(undrawn & ~(1 << edge)) == wanted)

    def line(self, nodes: int = SLICE) -> list[int]:
        """Best play from here, as edges: to the end, or until a move takes more than so many nodes to find."""
        other = Solver(self.rows, self.cols, table=self.table)
        drawn, edges = self._drawn, []
        edge = self.best_edge
        while edge is not None:
            edges.append(edge)
            drawn |= 1 << edge
            other.begin(drawn)
            edge = other.best_edge if other.run(nodes) else None
        return edges

    # A run that is put aside

    def saved(self) -> dict[str, Array]:
        """Everything that a later process needs to go on: arrays by name."""
        edge = -1 if self._asked_edge is None else self._asked_edge
        return {
            "question": np.array([self.rows, self.cols, edge], np.int64),
            "drawn": np.array([self._drawn], np.uint64),
            "table": self.table,
            **self._arrays._asdict(),
        }

    @classmethod
    def restored(cls, arrays: dict[str, Array]) -> "Solver":
        """A solver that goes on where the saved one was."""
        rows, cols, edge = arrays["question"].tolist()
        solver = cls(rows, cols, table=arrays["table"])
        solver.begin(int(arrays["drawn"][0]), None if edge < 0 else edge)
        for name, own in solver._arrays._asdict().items():
            own[...] = arrays[name]
        return solver

    def values(self, positions: Any) -> Array:
        """The values of many positions, each a set of drawn edges. It does not stop before it is done."""
        undrawn = np.uint64(self._all) & ~np.asarray(positions, np.uint64)
        values = np.zeros(len(undrawn), np.int8)
        arrays = new_arrays(int(self._run.scout_edges))
        _values(undrawn, self._lattice, self._heaps, self.table, arrays, values)
        return values

    # Underneath

    @property
    def _run(self) -> Any:
        return self._arrays.run[0]

    def _checked(self, position: Any) -> int:
        if isinstance(position, np.void):
            if (position["rows"], position["cols"]) != (self.rows, self.cols):
                raise ValueError(f"this solver is for {self.rows} x {self.cols} boxes, not for that record's board")
            return int(position["edges"])
        drawn = int(position)
        if drawn & ~self._all:
            raise ValueError(
                f"a position of {self.rows} x {self.cols} boxes is a set of {self._all.bit_length()} edges"
            )
        return drawn

    def _sides(self) -> list[int]:
        return [int(sides) for sides in SIDES[self._board, : self.rows * self.cols]]

    def _closed(self, drawn: int, edge: int) -> int:
        """How many boxes drawing an edge closes."""
        return sum(1 for sides in self._sides() if sides >> edge & 1 and not sides & ~drawn & ~(1 << edge))

    def _child(self, undrawn: int) -> tuple[int, int, int, int]:
        gained, dealt, heap, key = _child_of(np.uint64(undrawn), self._lattice, self._heaps)
        return int(gained), int(dealt), int(heap), int(key)

    def _capture(self, undrawn: int) -> int:
        """The next box to take; or, if only a double-deal is open and giving it away is better, the edge for that."""
        taking, deal = _next_capture(np.uint64(undrawn), self._lattice.places, self._lattice.sizes)
        stride = self.cols + 1
        sides = [
            self._sides()[place // stride * self.cols + place % stride] & undrawn
            for place in range(self.rows * stride)
            if (int(taking) | int(deal)) >> place & 1
        ]
        last = next(edges for edges in sides if edges.bit_count() == 1)
        if deal and self._dealt + int(self._run.root_low) < 0:
            for edges in sides:  # what is left is the edge that none of its open boxes has
                if edges.bit_count() == 1:
                    last |= edges
            last = ~last & functools.reduce(operator.or_, sides)
        return last.bit_length() - 1
