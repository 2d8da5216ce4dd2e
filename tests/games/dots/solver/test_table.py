"""Isomorphic positions have equal values and share entries of the solver's table."""

import itertools
from typing import Any

import numpy as np
import pytest

from ludodrome.games.dots.rules import ALL, BOARDS
from ludodrome.games.dots.solver import Solver
from ludodrome.games.dots.solver.board import BoardTables, edge_words, make_board_tables
from ludodrome.games.dots.solver.table import (
    OURS,
    bucket_of,
    colour_boxes,
    isomorphic,
    new_colour_buffer,
    new_table,
    probe_isomorphic,
    store,
    tag_of,
)
from ludodrome.jit import COMPILED
from tests.games.dots.retrograde import all_values

LOOPS = ["H(1,0) V(0,1) H(1,1) V(1,1)", "H(1,2) V(0,3) H(1,3) V(1,3)"]
RING = "V(0,1) V(0,2) V(0,3) H(1,3) V(1,3) V(1,2) V(1,1) H(1,0)"


@pytest.fixture(autouse=True)
def _wrapping() -> Any:
    """Without compilation, products of machine words warn about overflow."""
    with np.errstate(over="ignore"):
        yield


def undrawn(rows: int, cols: int, edges: str) -> int:
    """H(r,c) and V(r,c) as a set of edge numbers: H row by row, then V."""
    numbers = 0
    for edge in edges.split():
        r, c = int(edge[2]), int(edge[4])
        numbers |= 1 << (r * cols + c if edge[0] == "H" else (rows + 1) * cols + r * (cols + 1) + c)
    return numbers


def words(position: int, board: BoardTables) -> tuple[Any, Any]:
    h, v = edge_words(np.uint64(position), board.edge_bits)
    return np.uint64(h), np.uint64(v)


@pytest.mark.parametrize(("rows", "cols", "count"), [(2, 2, 400), (2, 3, 4000 if COMPILED else 200)])
def test_isomorphic_positions_have_equal_values(rows: int, cols: int, count: int) -> None:
    board, colours, values = make_board_tables(rows, cols), new_colour_buffer(), all_values(rows, cols)
    full = int(ALL[BOARDS.index((rows, cols))])
    by_hash: dict[int, list[int]] = {}
    for drawn in np.random.default_rng(4).choice(full + 1, count).tolist():
        graph_hash = colour_boxes(*words(full & ~drawn, board), board.sizes, OURS, colours)
        by_hash.setdefault(int(graph_hash), []).append(drawn)
    pairs = 0
    for same in by_hash.values():
        for one, other in itertools.pairwise(same):
            if isomorphic(*words(full & ~one, board), *words(full & ~other, board), board.sizes, colours):
                assert values[one] == values[other]
                pairs += 1
    assert pairs > count / 10


def test_an_equal_hash_proves_nothing() -> None:
    """Two loops of four boxes and one of eight: each box sees the same around it."""
    board, colours = make_board_tables(2, 4), new_colour_buffer()
    loops, ring = words(undrawn(2, 4, " ".join(LOOPS)), board), words(undrawn(2, 4, RING), board)
    assert colour_boxes(*loops, board.sizes, OURS, colours) == colour_boxes(*ring, board.sizes, OURS, colours)
    assert not isomorphic(*loops, *ring, board.sizes, colours)
    assert isomorphic(*ring, *ring, board.sizes, colours)
    one_loop = words(undrawn(2, 4, LOOPS[0]), board)
    assert not isomorphic(*one_loop, *loops, board.sizes, colours)
    assert isomorphic(*one_loop, *words(undrawn(2, 4, LOOPS[1]), board), board.sizes, colours)


def test_a_probe_by_hash_finds_only_isomorphic_positions() -> None:
    board, colours, table = make_board_tables(2, 4), new_colour_buffer(), new_table(4)
    loops, ring = undrawn(2, 4, " ".join(LOOPS)), undrawn(2, 4, RING)
    h, v = words(ring, board)
    graph_hash = np.uint64(colour_boxes(h, v, board.sizes, OURS, colours))

    def found() -> tuple[int, int]:
        low, high = probe_isomorphic(graph_hash, h, v, 3, 8, board.sizes, board.edge_bits, table, colours)
        return int(low), int(high)

    assert found() == (-8, 8)
    bucket, tag = bucket_of(graph_hash, 3, table), np.uint64(tag_of(graph_hash, 3))
    store(bucket, np.uint64(loops), tag, -2, 4, 5, table)
    assert found() == (-8, 8)
    store(bucket, np.uint64(ring), tag, -6, 2, 5, table)
    assert found() == (-6, 2)
    other_heap = np.uint64(tag_of(graph_hash, 4))
    store(bucket, np.uint64(ring), other_heap, 0, 0, 5, table)
    assert found() == (-6, 2)


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (1, 4), *([(2, 3), (3, 2)] if COMPILED else [])])
def test_isomorphism_checks_change_no_value(rows: int, cols: int) -> None:
    expected = all_values(rows, cols)
    positions = np.arange(len(expected))
    if not COMPILED:
        positions = np.unique(np.random.default_rng(1).choice(positions, 200))
    np.testing.assert_array_equal(Solver(rows, cols, 16, scout_edges=6).values(positions), expected[positions])


def test_isomorphic_positions_share_proofs() -> None:
    """2 x 3 with scouting never, at the beginning (which saves nodes), and almost to the end: the same margin."""
    nodes = []
    for scout_edges in (30, 16, 8):
        solver = Solver(2, 3, 16, scout_edges=scout_edges)
        solver.begin(0)
        while not solver.run():
            pass
        assert solver.value == -2
        nodes.append(solver.nodes)
    assert nodes[1] < nodes[0]
