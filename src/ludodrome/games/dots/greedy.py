"""The edges among which greedy players draw lots, in compiled code. For Python, ``strategy.py`` says the same."""

from typing import Any

import numpy as np

from ludodrome.games.dots.rules import BESIDE, SIDES
from ludodrome.jit import Array, Int, Record, kernel, popcount


@kernel
def greedy_edges(s: Record, buffer: Array, count: Int) -> Int:
    """Of the legal edges keep those that close a box; else those that are no box's third side; else all. How many."""
    best = 0
    kept = 0
    for k in range(count):
        edge = buffer[k]
        worth = _worth(s, np.int64(edge))
        if worth > best:
            best = worth
            kept = 0
        if worth == best:
            buffer[kept] = edge
            kept += 1
    return kept


@kernel
def _worth(s: Record, edge: Int) -> Int:
    """2: it closes a box; 1: it opens none; 0: it is a third side."""
    worth = 1
    for k in range(2):
        sides = popcount(SIDES[s.board, BESIDE[s.board, edge, k]] & ~s.edges)
        if sides == 1:
            return 2
        if sides == 2:
            worth = 0
    return worth


@kernel
def best_edges(states: Any, words: Array, buffer: Array, count: Int) -> Int:
    """The same of states[0]."""
    return greedy_edges(states[0], buffer, count)
