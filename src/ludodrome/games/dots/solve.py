"""The exact solver of dots and boxes: what a position is worth under perfect play, and a move that attains it.

    solver = Solver(5, 5)
    solver.begin(state)  # a record of the game, or the set of drawn edges
    while not solver.run(100_000):  # so many nodes at a time: look at the clock, show progress, stop, go on
        print(solver.bounds)
    print(solver.value, solver.best_edge, solver.line())

A *value* is the margin of boxes still to come for the seat to move: its further boxes minus the other's. What the
seats own already is not part of it. The search itself is in ``prove.py``; files and clocks belong elsewhere.
"""

import functools
import operator
from typing import Any

import numpy as np

from ludodrome.games.dots import kernels
from ludodrome.games.dots.bounds import fill_ratio, new_table
from ludodrome.games.dots.branch import ROOT_BEST
from ludodrome.games.dots.endgame import make_heap_tables
from ludodrome.games.dots.lattice import make_board_tables
from ludodrome.games.dots.prove import ENOUGH, new_arrays
from ludodrome.games.dots.rules import ALL, BOARDS, SIDES
from ludodrome.jit import Array

TABLE_BITS = 22
"""The usual table: four million entries, 64 MB."""
LEAST_BITS, MOST_BITS = 4, 32
SLICE = 1 << 16

_lattice, _heaps = functools.cache(make_board_tables), functools.cache(make_heap_tables)


class Solver:
    """Solves positions of one board, one after another. What it has proved stays in its table.

    ``table``: the table of another solver of the same board, to share it between threads. ``noise`` above 0
    shuffles the order of moves a little, so that threads with the same task take different ways. ``enough``: the
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
        enough: int = ENOUGH,
    ) -> None:
        if (rows, cols) not in BOARDS:
            raise ValueError(f"there is no board of {rows} x {cols} boxes: a board has at most 64 edges")
        if not LEAST_BITS <= table_bits <= MOST_BITS:
            raise ValueError(f"table_bits is a whole number from {LEAST_BITS} to {MOST_BITS}, not {table_bits}")
        self.rows, self.cols = rows, cols
        self.table: Array = new_table(table_bits) if table is None else table
        self._board = BOARDS.index((rows, cols))
        self._all = int(ALL[self._board])
        self._lattice = _lattice(rows, cols)
        self._heaps = _heaps(rows * cols)
        self._arrays = new_arrays(enough, noise)
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
        gained, dealt, h, v = kernels.solver_settle(undrawn, self._lattice.places, self._lattice.sizes)
        self._gained, self._dealt = int(gained), int(dealt)
        first = (guess - self._gain) * self._sign - self._gained - self._dealt
        kernels.solver_begin(np.uint64(h), np.uint64(v), first, self._lattice, self._heaps, self._arrays)

    def run(self, nodes: int = SLICE) -> bool:
        """Search at most so many nodes more; whether the value is known."""
        return bool(kernels.solver_search(nodes, self._lattice, self._heaps, self.table, self._arrays))

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
        arrays = new_arrays(int(self._run.enough))
        kernels.solver_values(undrawn, self._lattice, self._heaps, self.table, arrays, values)
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
        gained, dealt, heap, key = kernels.solver_child(np.uint64(undrawn), self._lattice, self._heaps)
        return int(gained), int(dealt), int(heap), int(key)

    def _capture(self, undrawn: int) -> int:
        """The next box to take; or, if only a double-deal is open and giving it away is better, the edge for that."""
        taking, deal = kernels.solver_choose(np.uint64(undrawn), self._lattice.places, self._lattice.sizes)
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
