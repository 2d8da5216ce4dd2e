"""The exact solver of dots and boxes: the value of a position under perfect play, and a best move.

    solver = Solver(5, 5)
    solver.begin(state)  # a record of the game, or the set of drawn edges
    while not solver.run(100_000):  # at most this many nodes: then look at the clock, show progress, stop or resume
        print(solver.bounds)
    print(solver.value, solver.best_edge, solver.line())

    solver.begin(state, goal=1)  # only whether the value is at least 1: answered earlier
    while not solver.run(100_000):
        print(solver.progress)
    print(solver.answer, solver.best_edge)

A *value* is the margin of boxes still to come for the seat to move: its further boxes minus the other's. Boxes that the
seats already own do not count.
"""

import functools
import operator
from typing import Any

import numpy as np

from ludodrome.games.dots.rules import ALL, BOARDS, MAX_EDGES, SIDES
from ludodrome.games.dots.solver.board import edge_words, make_board_tables, next_capture, resolve_captures
from ludodrome.games.dots.solver.moves import ROOT_BEST, child_of, make_heap_tables
from ludodrome.games.dots.solver.search import SCOUT_EDGES, ask, begin, new_arrays, search, values_of
from ludodrome.games.dots.solver.table import fill_ratio, new_table
from ludodrome.jit import Array, entry, python

TABLE_BITS = 22
"""Default table size: four million entries, 64 MB."""
MIN_BITS, MAX_BITS = 4, 32
SLICE = 1 << 16

_board_tables, _heap_tables = functools.cache(make_board_tables), functools.cache(make_heap_tables)


# Compiled entry points


@entry
def _resolve_captures(undrawn: Any, edge_bits: Array, sizes: Array) -> Any:
    h, v = edge_words(undrawn, edge_bits)
    return resolve_captures(h, v, sizes)


@entry
def _next_capture(undrawn: Any, edge_bits: Array, sizes: Array) -> Any:
    h, v = edge_words(undrawn, edge_bits)
    return next_capture(h, v, sizes)


@entry
def _child_of(undrawn: Any, board: Any, heaps: Any) -> Any:
    return child_of(undrawn, board, heaps)


@entry
def _begin(h: Any, v: Any, guess: int, pauses: int, board: Any, heaps: Any, arrays: Any) -> None:
    begin(h, v, guess, pauses, board, heaps, arrays)


@entry
def _search(most: int, board: Any, heaps: Any, table: Array, arrays: Any) -> Any:
    return search(most, board, heaps, table, arrays)


@entry
def _values(positions: Array, board: Any, heaps: Any, table: Array, arrays: Any, values: Array) -> None:
    values_of(positions, board, heaps, table, arrays, values)


class Solver:
    """Solve positions of one board size. Proven bounds stay in the table for later positions.

    ``table``: the table of another solver of the same board, to share between threads. ``noise`` above 0 perturbs the
    move order, so that threads with the same task explore different branches. ``scout_edges``: see ``SCOUT_EDGES``; it
    only affects the time taken.

    ``max_safe``: solve a simpler game instead, in which nobody opens a chain or loop while more edges than this are
    safe. It has far fewer positions, and mostly the same winner (docs/results/solving-dots.md).
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
        max_safe: int = MAX_EDGES,
    ) -> None:
        if (rows, cols) not in BOARDS:
            raise ValueError(f"there is no board of {rows} x {cols} boxes: a board has at most 64 edges")
        if not MIN_BITS <= table_bits <= MAX_BITS:
            raise ValueError(f"table_bits is a whole number from {MIN_BITS} to {MAX_BITS}, not {table_bits}")
        self.rows, self.cols = rows, cols
        self.table: Array = new_table(table_bits) if table is None else table
        self._board = BOARDS.index((rows, cols))
        self._all = int(ALL[self._board])
        self._tables = _board_tables(rows, cols)
        self._heaps = _heap_tables(rows * cols)
        self._arrays = new_arrays(scout_edges, noise, max_safe)
        self._drawn = self._all
        self._sign, self._gain = 1, 0  # from the searched position to the requested one
        self._gained, self._dealt = 0, 0
        self._asked_edge: int | None = None
        self._goal: int | None = None
        self._root_goals: tuple[int, ...] = ()  # the questions about the root that lead to the answer

    # Questions

    def begin(self, position: Any, edge: int | None = None, guess: int = 0, *, goal: int | None = None) -> None:
        """Start solving a position: a record of this board, or the set of its drawn edges as an integer.

        With an edge: the value, to the seat to move, of drawing that edge. A good guess of the value saves time.
        With a goal: only whether the value is at least the goal, see ``answer``.
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
        gained, dealt, h, v = _resolve_captures(undrawn, self._tables.edge_bits, self._tables.sizes)
        self._gained, self._dealt = int(gained), int(dealt)
        self._goal, self._root_goals = goal, ()
        first = (guess - self._gain) * self._sign - self._gained - self._dealt
        _begin(np.uint64(h), np.uint64(v), first, goal is not None, self._tables, self._heaps, self._arrays)
        if goal is not None:
            self._ask_only(goal)

    def _ask_only(self, goal: int) -> None:
        """Turn a goal into questions about the root, all of which are answered in the end."""
        rest = (goal - self._gain if self._sign > 0 else 1 - goal) - self._gained  # -x >= goal: not x >= 1 - goal
        self._root_goals = (rest - self._dealt,)
        if self._dealt and rest > 0:  # |dealt + V| >= rest: V >= rest - dealt, or V <= -rest - dealt
            self._root_goals += (1 - rest - self._dealt,)
        elif not self._dealt and not self._gained:  # a question that every value answers finds no move
            self._root_goals = (max(rest, int(self._run.root_low) + 2),)
        self._run.paused = 1

    @property
    def _open_goals(self) -> list[int]:
        low, high = int(self._run.root_low), int(self._run.root_high)
        return [goal for goal in self._root_goals if low < goal <= high]

    def run(self, nodes: int = SLICE) -> bool:
        """Search at most ``nodes`` more nodes; True when the value is known, or whether it reaches the goal."""
        end = self.nodes + nodes
        while self._goal is None or self._open_goals:
            if self._run.paused:
                python(ask)(self._open_goals[0], self._arrays)
            if not _search(end - self.nodes, self._tables, self._heaps, self.table, self._arrays):
                return False
            if self._goal is None:
                break
        return True

    @property
    def nodes(self) -> int:
        """The nodes searched since ``begin``."""
        return int(self._run.nodes)

    @property
    def bounds(self) -> tuple[int, int]:
        """Proven bounds of the value: (low, high)."""
        low, high = int(self._run.root_low), int(self._run.root_high)
        if self._dealt:
            low, high = low + self._dealt, high + self._dealt
            least = (low & 1) if low <= 0 <= high else min(abs(low), abs(high))
            low, high = least, max(abs(low), abs(high))
        ends = [self._gain + self._sign * (self._gained + end) for end in (low, high)]
        return min(ends), max(ends)

    @property
    def value(self) -> int | None:
        """The value; None until it is known."""
        low, high = self.bounds
        return low if low == high else None

    @property
    def answer(self) -> bool | None:
        """Whether the value is at least the goal of ``begin``; None without a goal, and until it is known."""
        low, high = self.bounds
        if self._goal is None or low < self._goal <= high:
            return None
        return low >= self._goal

    @property
    def goal(self) -> int:
        """The current question is whether the searched position is worth at least this."""
        return int(self._arrays.frames[0].goal)

    @property
    def progress(self) -> tuple[int, int]:
        """(searched, total): the root's open moves for the current question."""
        root = self._arrays.frames[0]
        return int(root.at - root.first), int(root.end - root.first)

    @property
    def fill(self) -> float:
        """The share of the table in use."""
        return fill_ratio(self.table)

    # Moves

    @property
    def best_edge(self) -> int | None:
        """A best edge, or one that reaches the goal; None if there is none, or if it is not known yet."""
        goal = self.value if self._goal is None else self._goal
        return None if goal is None or self._open_goals else self.edge_reaching(goal)

    def edge_reaching(self, goal: int) -> int | None:
        """An edge that is proven to be worth at least ``goal``, also before the value is known; else None."""
        if self._drawn == self._all or self.bounds[0] < goal:
            return None
        if self._asked_edge is not None:
            return self._asked_edge
        low, high = int(self._run.root_low), int(self._run.root_high)
        if self._gained or self._dealt:
            take, give = self._captures()
            if give is None or self._gained + self._dealt + low >= goal:
                return take
            return give if self._gained - self._dealt - high >= goal else None
        best = self._arrays.children[ROOT_BEST]
        if best.heap < 0:  # no question was answered with yes
            return self._losing_edge(low) if low == high else None
        target = (int(best.taken), int(best.dealt), int(best.heap), int(best.key))
        return next(edge for edge in self._edges() if self._child(edge) == target)

    def _losing_edge(self, value: int) -> int:
        """An edge that is worth the value when no box can be won: an edge of chains that cancel may be worth less."""
        other = Solver(self.rows, self.cols, table=self.table, max_safe=int(self._run.max_safe))
        edges = list(self._edges())
        return next((edge for edge in edges if other._is_worth(self._drawn, edge, value)), edges[-1])

    def _is_worth(self, drawn: int, edge: int, value: int) -> bool:
        """Whether an edge of a position reaches a value."""
        self.begin(drawn, edge, goal=value)
        self.run(1 << 62)
        return bool(self.answer)

    def candidates(self, position: Any) -> list[int]:
        """The edges worth trying in a position: one for each outcome up to symmetry.

        An open box is taken at once if that is always right; with one double-deal left it is taken or given away.
        """
        self.begin(position)
        if self._gained or self._dealt:
            return [edge for edge in self._captures() if edge is not None]
        return list({self._child(edge): edge for edge in reversed(self._edges())}.values())[::-1]

    def line(self, nodes: int = SLICE) -> list[int]:
        """Best play from here as edges: to the end, or until a move takes more than ``nodes`` nodes to find."""
        other = Solver(self.rows, self.cols, table=self.table, max_safe=int(self._run.max_safe))
        drawn, edges = self._drawn, []
        edge = self.best_edge
        while edge is not None:
            edges.append(edge)
            drawn |= 1 << edge
            other.begin(drawn)
            edge = other.best_edge if other.run(nodes) else None
        return edges

    def identity(self, position: Any) -> tuple[int, int, int, int]:
        """What the solver identifies a position by: equal for all that symmetries map onto each other."""
        undrawn = np.uint64(self._all & ~self._checked(position))
        gained, dealt, heap, key = _child_of(undrawn, self._tables, self._heaps)
        return int(gained), int(dealt), int(heap), int(key)

    # Saving and resuming

    def saved(self) -> dict[str, Array]:
        """Everything a later process needs to resume: arrays by name."""
        edge = -1 if self._asked_edge is None else self._asked_edge
        goals = [] if self._goal is None else [self._goal]
        return {
            "question": np.array([self.rows, self.cols, edge, *goals], np.int64),
            "drawn": np.array([self._drawn], np.uint64),
            "table": self.table,
            **self._arrays._asdict(),
        }

    @classmethod
    def restored(cls, arrays: dict[str, Array]) -> "Solver":
        """A solver that resumes a saved run."""
        rows, cols, edge, *goals = arrays["question"].tolist()
        solver = cls(rows, cols, table=arrays["table"])
        solver.begin(int(arrays["drawn"][0]), None if edge < 0 else edge, goal=goals[0] if goals else None)
        for name, own in solver._arrays._asdict().items():
            own[...] = arrays[name]
        return solver

    def values(self, positions: Any) -> Array:
        """The values of many positions, each a set of drawn edges. Runs to completion."""
        undrawn = np.uint64(self._all) & ~np.asarray(positions, np.uint64)
        values = np.zeros(len(undrawn), np.int8)
        arrays = new_arrays(int(self._run.scout_edges), max_safe=int(self._run.max_safe))
        _values(undrawn, self._tables, self._heaps, self.table, arrays, values)
        return values

    # Helpers

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
        """The number of boxes that drawing an edge closes."""
        return sum(1 for sides in self._sides() if sides >> edge & 1 and not sides & ~drawn & ~(1 << edge))

    def _edges(self) -> list[int]:
        """The undrawn edges."""
        return [edge for edge in range(self._all.bit_length()) if not self._drawn >> edge & 1]

    def _child(self, edge: int) -> tuple[int, int, int, int]:
        return self.identity(self._drawn | 1 << edge)

    def _captures(self) -> tuple[int, int | None]:
        """The edge of the next capture, and the edge that gives the only double-deal away if that is a choice."""
        undrawn = self._all & ~self._drawn
        taking, deal = _next_capture(np.uint64(undrawn), self._tables.edge_bits, self._tables.sizes)
        stride = self.cols + 1
        sides = [
            self._sides()[place // stride * self.cols + place % stride] & undrawn
            for place in range(self.rows * stride)
            if (int(taking) | int(deal)) >> place & 1
        ]
        last = next(edges for edges in sides if edges.bit_count() == 1)
        take = last.bit_length() - 1
        if not deal:
            return take, None
        for edges in sides:  # the edge that belongs to none of its open boxes
            if edges.bit_count() == 1:
                last |= edges
        return take, (~last & functools.reduce(operator.or_, sides)).bit_length() - 1
