"""The analysis of dots by its exact solver: lines, reviews of moves, solving with checkpoints."""

import os
import time as clock
import zipfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome.analysis.lines import Analysis, Line, lead, notations
from ludodrome.analysis.move_review import SHOWN_PLIES, MoveReview, SearchReviewer
from ludodrome.analysis.solving import TABLE_BITS, Solution
from ludodrome.analysis.win_probability import Value
from ludodrome.atomic_io import whole_file
from ludodrome.game import Game
from ludodrome.games.dots.bots import MAX_SOLVER_EDGES, SOLVER_TABLE_BITS
from ludodrome.games.dots.solver import MAX_BITS, MIN_BITS, SLICE, Solver
from ludodrome.games.dots.solver.table import BUCKET, CACHE_LINE, new_table
from ludodrome.games.dots.strategy import board_masks

# Lines

SOLVER_SLICE = 2000
"""Nodes between two looks at the clock."""
SOLVER_TIME_SHARE = 0.5
"""The solver's share of the time: the rest is for a search, if the position is too hard to solve."""


def exact_value(game: Game, states: Any, nodes: int) -> int | None:
    """The exact final margin of boxes for the seat to move; None if it takes more than ``nodes``."""
    if len(game.legal_actions_of(states)) > MAX_SOLVER_EDGES:
        return None
    solver = Solver(**game.options, table_bits=SOLVER_TABLE_BITS)
    solver.begin(states[0])
    if not solver.run(nodes):
        return None
    assert solver.value is not None
    return solver.value + lead(game, states)


def exact_analysis(game: Game, states: Any, time: float | None, count: int) -> Analysis | None:
    """The best ``count`` edges with exact margins; None if they are not found in the solver's share of ``time``."""
    begin = clock.perf_counter()
    edges = game.legal_actions_of(states)
    if len(edges) > MAX_SOLVER_EDGES:
        return None
    solver, nodes, margins = Solver(**game.options, table_bits=SOLVER_TABLE_BITS), 0, {}
    for edge in edges:
        solver.begin(states[0], edge)
        while not solver.run(SOLVER_SLICE):
            if time is not None and clock.perf_counter() - begin > SOLVER_TIME_SHARE * time:
                return None
        assert solver.value is not None
        nodes, margins[edge] = nodes + solver.nodes, solver.value
    best = sorted(edges, key=lambda edge: -margins[edge])[:count]
    lines = [_solved_line(game, states, edge, margins[edge], solver) for edge in best]
    return Analysis(lines, len(edges), nodes, clock.perf_counter() - begin)


def _solved_line(game: Game, states: Any, edge: int, margin: int, solver: Solver) -> Line:
    """An edge and its best continuation, from the solver's table."""
    solver.begin(states[0], edge)
    solver.run()
    texts = notations(game, states, tuple(solver.line()) or (edge,))
    move = game.codec.format_moves([edge], states[0])[0]
    return Line(move, texts[0], float(margin + lead(game, states)), texts[1:], True, None)


# Reviews of moves

SOLVER_SHARE = 4
"""The solver may visit this many times the nodes of a search, since its values are exact."""
MAX_FAILURES = 3
"""The solver is not tried again after this many unsolved positions in a row."""


def make_reviewer(game: Game) -> "DotsReviewer":
    """The reviewer of a game's moves."""
    return DotsReviewer(game)


class DotsReviewer:
    """The exact solver where it is fast enough, otherwise the search."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._search = SearchReviewer(game)
        self._solver = Solver(game.options["rows"], game.options["cols"], SOLVER_TABLE_BITS)
        self._failures = 0

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a move by the final margin of boxes."""
        states = self.game.encode_array(state)
        edge = self._solved(states, nodes * SOLVER_SHARE)
        if edge is None:  # an estimate of the best move beside the exact value of the one played would be unfair
            return self._search.review(state, move, None, nodes)
        best = Value(float((self._solver.value or 0) + lead(self.game, states)), proven=True)
        text = self.game.format_move(move, state)
        if after is None or not after.proven:
            after = self._after(states, move, state, nodes)
        if after.score >= best.score:
            return MoveReview(best, after if after.proven else best, move, text)
        chosen = self.game.codec.format_moves([edge], states[0])[0]
        texts = notations(self.game, states, tuple(self._solver.line(nodes)[:SHOWN_PLIES]))
        return MoveReview(best, after, chosen, texts[0], tuple(texts[1:]))

    def _solved(self, states: Any, nodes: int) -> int | None:
        """A best edge, or None if the solver does not find it."""
        undrawn = len(self.game.legal_actions_of(states))
        if undrawn > MAX_SOLVER_EDGES or self._failures >= MAX_FAILURES:
            return None
        self._solver.begin(states[0])
        if not self._solver.run(nodes):
            self._failures += 1
            return None
        self._failures = 0
        return self._solver.best_edge

    def _after(self, states: Any, move: Any, state: Any, nodes: int) -> Value:
        """The value of one edge, if that of the next position is unknown; uses the solver's table."""
        edge = self.game.action(move, state)
        one = Solver(self._solver.rows, self._solver.cols, table=self._solver.table)
        one.begin(states[0], edge)
        solved = one.run(nodes * SOLVER_SHARE)
        low, high = one.bounds
        return Value((low + high) / 2 + lead(self.game, states), proven=solved)


# Solving

MAX_TABLE_BITS = 27
PROOF_TABLE_BITS = 16
"""The table for a proof of few nodes: a new one each time, so that a proof depends on the position alone."""


def table_bits(game: Game, state: Any) -> int:
    """The table size for solving a position, log2 of entries: at most a quarter of the machine's memory.

    The default is enough for 31 undrawn edges; the 40 of 4x4 need a table 32 times as large
    (docs/results/solving-dots.md).
    """
    undrawn = len(game.legal_moves(state))
    wanted = TABLE_BITS + max(0, undrawn - 31) * 5 // 9
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    affordable = (memory // 4 // (CACHE_LINE // BUCKET)).bit_length() - 1
    return max(TABLE_BITS, min(wanted, affordable, MAX_TABLE_BITS))


def solve_move(game: Game, states: Any, edge: int, bits: int) -> tuple[int, tuple[int, ...]]:
    """The exact margin of the boxes still to be won after an edge, and the edges of best play from it on."""
    solver = Solver(game.options["rows"], game.options["cols"], bits)
    solver.begin(states[0], edge)
    while not solver.run():
        pass
    assert solver.value is not None
    return solver.value, tuple(solver.line())


def proven_value(game: Game, states: Any, nodes: int) -> int | None:
    """The final margin for the seat to move; None if the solver does not prove it within ``nodes``."""
    if len(game.legal_actions_of(states)) > MAX_SOLVER_EDGES:
        return None
    solver = Solver(**game.options, table_bits=PROOF_TABLE_BITS)
    solver.begin(states[0])
    if not solver.run(nodes) or solver.value is None:
        return None
    return solver.value + lead(game, states)


def make_solver(
    game: Game, states: Any, bits: int, saved: Solver | None, *, who_wins: bool = False
) -> "DotsBackend | WhoWinsBackend":
    """A solve of states[0] with a new table, or with that of a saved solver."""
    backend = WhoWinsBackend if who_wins else DotsBackend
    return backend(game, states, saved or Solver(**game.options, table_bits=bits))


class DotsBackend:
    """The exact solver as a backend of ``Solving``."""

    def __init__(self, game: Game, states: Any, solver: Solver) -> None:
        self._game, self._states = game, states
        self.solver = solver
        self._begin()
        self.solver.run(1)

    def _begin(self) -> None:
        self.solver.begin(self._states[0])

    @property
    def nodes(self) -> int:
        """Positions visited."""
        return self.solver.nodes

    @property
    def state(self) -> str:
        """The bounds of the value."""
        low, high = (bound + lead(self._game, self._states) for bound in self.solver.bounds)
        return f"the margin is between {low:+d} and {high:+d}"

    def save(self, path: Path) -> None:
        """Write the board's size and the table into a file."""
        with whole_file(path) as file:
            np.savez(file, board=np.array([self.solver.rows, self.solver.cols], np.int64), table=self.solver.table)

    def work(self) -> Iterator[None]:
        """Solve in slices of positions."""
        while not self.solver.run(SLICE):
            yield

    @property
    def solution(self) -> Solution:
        """The final margin; unknown until the bounds meet."""
        edge, value = self.solver.best_edge, self.solver.value
        if edge is None or value is None:
            return Solution(None, False, None, None, [])
        move = self._game.codec.format_moves([edge], self._states[0])[0]
        line = notations(self._game, self._states, tuple(self.solver.line()))
        return Solution(value + lead(self._game, self._states), True, None, move, line)


class WhoWinsBackend(DotsBackend):
    """Ask only who wins: whether the final margin is at least 1, and if not, whether it is at least 0."""

    def _begin(self) -> None:
        self._margin = 1
        self._winner: int | None = None
        self._finished_nodes = 0
        self.solver.begin(self._states[0], goal=1 - lead(self._game, self._states))

    @property
    def nodes(self) -> int:
        """Positions visited, for both questions together."""
        return self._finished_nodes + self.solver.nodes

    @property
    def state(self) -> str:
        """The question, and the moves that are searched."""
        done, moves = self.solver.progress
        return f"{'a win' if self._margin else 'a draw'} for the seat to move? {done} of {moves} moves searched"

    def work(self) -> Iterator[None]:
        """Ask the two questions; the second only if the boxes can be shared equally."""
        yield from super().work()
        boxes = self._game.options["rows"] * self._game.options["cols"]
        if not self.solver.answer and boxes % 2 == 0:
            self._finished_nodes, self._margin = self.solver.nodes, 0
            self.solver.begin(self._states[0], goal=-lead(self._game, self._states))
            yield from super().work()
        self._winner = self._margin if self.solver.answer else -1

    @property
    def solution(self) -> Solution:
        """1, 0 or -1 with one move that keeps it; a lost position has no such move."""
        edge = self.solver.best_edge
        if self._winner is None or edge is None:
            return Solution(self._winner, self._winner is not None, None, None, [])
        move = self._game.codec.format_moves([edge], self._states[0])[0]
        return Solution(self._winner, True, None, move, notations(self._game, self._states, (edge,)))


# Who wins after every few moves: tasks for many processes (benchmarks/solve_dots --after)

MAX_MOVES_AFTER = 4
"""More first moves would be too many positions to list."""


def positions_after(rows: int, cols: int, moves: int) -> dict[int, int]:
    """The positions after a number of moves, up to symmetry: set of drawn edges -> how many positions it stands for.

    Positions with a closed box are left out. Raises ValueError for a wrong number of moves.
    """
    if not 1 <= moves <= MAX_MOVES_AFTER:
        raise ValueError(f"the number of moves is from 1 to {MAX_MOVES_AFTER}, not {moves}")
    solver, masks = Solver(rows, cols, MIN_BITS), board_masks(rows, cols)
    found: dict[tuple[int, ...], int] = {}
    counts: dict[int, int] = {}
    for edges in combinations(range(masks.everything.bit_length()), moves):
        drawn = sum(1 << edge for edge in edges)
        if all(sides & ~drawn for sides in masks.sides):
            first = found.setdefault(solver.identity(drawn), drawn)
            counts[first] = counts.get(first, 0) + 1
    return counts


def who_wins(rows: int, cols: int, drawn: int, bits: int, nodes: int) -> tuple[int | None, int]:
    """1, 0 or -1 for the seat to move, if both own as many boxes, and the nodes searched; None if that takes more.

    A call that other processes and machines can make.
    """
    solver, searched = Solver(rows, cols, bits), 0
    for margin in (1,) if rows * cols % 2 else (1, 0):
        solver.begin(drawn, goal=margin)
        done = solver.run(nodes - searched)
        searched += solver.nodes
        if not done or solver.answer:
            return (margin if done else None), searched
    return -1, searched


def load_solver(game: Game, path: Path, table_bits: int | None) -> Solver:
    """The solver that a file holds; a forged file cannot corrupt memory. Raises ValueError if the file does not fit.

    ``table_bits``: the expected size of the table, None for any.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            if any(part.compress_type != zipfile.ZIP_STORED for part in packed.infolist()):
                raise ValueError("it is compressed, and could expand to any size")
        with np.load(path, allow_pickle=False) as kept:
            board, table = kept["board"].tolist(), kept["table"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no file of `ludodrome solve`: {error}") from error
    if board != [game.options["rows"], game.options["cols"]]:
        raise ValueError(
            f"{path} is about a board of {board}, not {game.options['rows']} x {game.options['cols']} boxes"
        )
    bits = max(1, table.size // 2).bit_length() - 1
    if (
        table.dtype != np.uint64
        or table.shape != ((1 << bits) // BUCKET, 2 * BUCKET)
        or not (MIN_BITS <= bits <= MAX_BITS)
    ):
        raise ValueError(f"{path} has no table of the solver in it")
    if table_bits not in (None, bits):
        raise ValueError(f"the table in {path} has 2^{bits} positions, not 2^{table_bits}: the size cannot be changed")
    aligned = new_table(bits)
    aligned[:] = table
    del table
    return Solver(**game.options, table=aligned)
