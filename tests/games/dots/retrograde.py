"""Retrograde analysis of small boards: the value of every set of drawn edges, from the full board backwards.

A plain second way to what the solver finds: no chains, no symmetry, no search. The value of a position is the seat
to move's further boxes minus the other's; it takes the best of all edges (R3), where closing boxes gains
them and keeps the move (R4, R5) and anything else passes it (R6).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.games.dots.oracle import _boxes, _edges


def all_values(rows: int, cols: int) -> npt.NDArray[np.int8]:
    """Set of drawn edges, as bits of edge numbers -> value. The full board is worth 0 (R9)."""
    edges = _edges(rows, cols)
    number = {edge: e for e, edge in enumerate(edges)}
    boxes = [sum(1 << number[side] for side in sides) for sides in _boxes(rows, cols).values()]
    beside = [[box for box in boxes if box >> e & 1] for e in range(len(edges))]
    values = np.zeros(1 << len(edges), np.int8)
    drawn = np.bitwise_count(np.arange(1 << len(edges), dtype=np.uint32))
    by_count = np.argsort(drawn, kind="stable").astype(np.uint32)
    starts = np.searchsorted(drawn[by_count], np.arange(len(edges) + 2))
    for count in reversed(range(len(edges))):
        positions = by_count[starts[count] : starts[count + 1]]
        values[positions] = _best(positions, beside, values)
    return values


def _best(positions: Any, beside: list[list[int]], values: npt.NDArray[np.int8]) -> Any:
    best = np.full(len(positions), -128, np.int8)
    for edge, boxes in enumerate(beside):
        (free,) = np.nonzero(positions >> np.uint32(edge) & np.uint32(1) == 0)
        after = positions[free] | np.uint32(1 << edge)
        closed = sum((after & np.uint32(box) == box).astype(np.int8) for box in boxes)
        best[free] = np.maximum(best[free], np.where(closed > 0, closed + values[after], -values[after]))
    return best
