"""How people play dots and boxes: free boxes, safe edges, long chains, double-deals. Plain Python over bit sets.

A box with one undrawn side is *open*: whoever is to move may take it. An edge is *safe* when it opens no box. Once
no edge is safe, what is left falls into *passages*, runs of boxes with two undrawn sides each, and whoever is
to move must open one; keeping that from oneself is what counting chains is for. ``greedy_edges`` knows nothing of
it, ``chain_edges`` counts. Values are estimates here, wherever passages meet; the exact ones are ``solve.py``'s.

Theory: Berlekamp, The Dots and Boxes Game (2000).
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.rules import ALL, BESIDE, BOARDS, SIDES
from ludodrome.games.dots.solver.moves import opening_gains
from ludodrome.jit import Array, Int, Record, kernel, popcount

FEW_SAFE = 10
"""With no more safe edges than this, all orders of drawing them are thought through."""

LONG = 3
"""A chain is long from so many boxes on: its last two can be given back to keep control."""


class BoardMasks(NamedTuple):
    """The tables of one board, as whole numbers of Python."""

    everything: int
    """The set of all edges."""
    sides: tuple[int, ...]
    """Box -> the set of its sides."""
    beside: tuple[tuple[int, ...], ...]
    """Edge -> the boxes on its sides, one or two."""


class Run(NamedTuple):
    """Boxes in a row: what can be taken one after another, or a passage."""

    boxes: tuple[int, ...]
    edges: tuple[int, ...]
    """The undrawn edges of the boxes, each once, in order; an open run can be taken in this order."""
    closed: bool
    """Whether it leads nowhere else: a loop, or a run with an open box at either end."""


@cache
def board_masks(rows: int, cols: int) -> BoardMasks:
    """The tables of a board of so many boxes."""
    board = BOARDS.index((rows, cols))
    everything = int(ALL[board])
    beside = tuple(tuple(dict.fromkeys(pair)) for pair in BESIDE[board, : everything.bit_length()].tolist())
    return BoardMasks(everything, tuple(SIDES[board, : rows * cols].tolist()), beside)


def members(bits: int) -> list[int]:
    """The numbers in a set, ascending."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


def degrees(masks: BoardMasks, drawn: int) -> list[int]:
    """Box -> how many of its sides are undrawn."""
    return [(sides & ~drawn).bit_count() for sides in masks.sides]


def free_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The edges that close a box."""
    return members(sum({side for sides in masks.sides if (side := sides & ~drawn).bit_count() == 1}))


def safe_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The edges that are no box's third side, nor its fourth."""
    unsafe = drawn
    for sides in masks.sides:
        if (sides & ~drawn).bit_count() <= 2:
            unsafe |= sides
    return members(masks.everything & ~unsafe)


def greedy_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """Free boxes first, then no third sides, then whatever there is: the choice of those who count no chains."""
    return free_edges(masks, drawn) or safe_edges(masks, drawn) or members(masks.everything & ~drawn)


def chain_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The best edges for those who count chains; all are thought equally good."""
    degree = degrees(masks, drawn)
    if 1 in degree:
        return _captures(masks, drawn, degree)
    values: dict[int, float] = {}
    safe = safe_edges(masks, drawn)
    if len(safe) > FEW_SAFE:
        return safe
    memo: dict[int, int] = {}
    for edge in safe:
        values[edge] = -outlook(masks, drawn | 1 << edge, memo)
    for run in passages(masks, drawn, degree):
        if safe and (run.closed or len(run.boxes) >= LONG):
            continue  # while there are safe edges, at most a short chain is given up
        taken, kept = opening_gains(len(run.boxes), run.closed)
        rest = outlook(masks, drawn | _set_of(run.edges), memo)
        values[_opening(run)] = -(taken + (abs(kept + rest) if kept else rest))
    best = max(values.values())
    return [edge for edge, value in values.items() if value == best]


# Taking


def _captures(masks: BoardMasks, drawn: int, degree: list[int]) -> list[int]:
    """Take, or give the last two of a chain or the last four of a loop back, where the rest is worth more."""
    deals = []
    for run in open_runs(masks, drawn, degree):
        if len(run.boxes) == (4 if run.closed else 2):
            deals.append(run)
        else:
            return [run.edges[0]]
    deal = max(deals, key=lambda run: len(run.boxes))
    rest = drawn | _set_of(deal.edges)
    if len(deals) == 1 and len(safe_edges(masks, rest)) <= FEW_SAFE and len(deal.boxes) + outlook(masks, rest, {}) < 0:
        return [deal.edges[1]]
    return [deal.edges[0]]


def open_runs(masks: BoardMasks, drawn: int, degree: list[int]) -> list[Run]:
    """What can be taken in one go, each from an open box onwards."""
    runs: list[Run] = []
    for box, count in enumerate(degree):
        if count == 1 and not any(box in run.boxes for run in runs):
            (edge,) = members(masks.sides[box] & ~drawn)
            boxes, edges, end = _follow(masks, drawn, degree, box, edge)
            closed = end >= 0 and degree[end] == 1
            runs.append(Run((box, *boxes, end) if closed else (box, *boxes), tuple(edges), closed))
    return runs


def _follow(masks: BoardMasks, drawn: int, degree: list[int], box: int, edge: int) -> tuple[list[int], list[int], int]:
    """From a box over an undrawn edge and on through boxes with two undrawn sides.

    Gives the boxes and edges on the way, and the box where it ends, -1 for the ground. A loop ends with its first box.
    """
    boxes: list[int] = []
    edges = [edge]
    first = box
    while True:
        end = next((other for other in masks.beside[edge] if other != box), -1)
        if end < 0 or end == first or degree[end] != 2:
            return boxes, edges, end
        boxes.append(end)
        (edge,) = members(masks.sides[end] & ~drawn & ~(1 << edge))
        edges.append(edge)
        box = end


# What is left once no edge is safe


def passages(masks: BoardMasks, drawn: int, degree: list[int]) -> list[Run]:
    """The runs of boxes with two undrawn sides each."""
    runs: list[Run] = []
    seen: set[int] = set()
    for box, count in enumerate(degree):
        if count != 2 or box in seen:
            continue
        one, other = members(masks.sides[box] & ~drawn)
        boxes, edges, end = _follow(masks, drawn, degree, box, other)
        if end == box:
            run = Run((box, *boxes), tuple(edges), True)
        else:
            before, edges_before, _ = _follow(masks, drawn, degree, box, one)
            run = Run((*before[::-1], box, *boxes), (*edges_before[::-1], *edges), False)
        seen.update(run.boxes)
        runs.append(run)
    return runs


def _opening(run: Run) -> int:
    """The edge that opens a passage: of two boxes the middle, so that they can be no gift of a double-deal."""
    return run.edges[1 if len(run.boxes) == 2 else 0]


def _set_of(edges: tuple[int, ...]) -> int:
    return sum(1 << edge for edge in edges)


def outlook(masks: BoardMasks, drawn: int, memo: dict[int, int]) -> int:
    """What a position without open boxes is worth to the seat to move, if nobody opens one while an edge is safe."""
    if drawn not in memo:
        safe = safe_edges(masks, drawn)
        memo[drawn] = (
            max(-outlook(masks, drawn | 1 << edge, memo) for edge in safe) if safe else passages_value(masks, drawn)
        )
    return memo[drawn]


def passages_value(masks: BoardMasks, drawn: int) -> int:
    """The same once no edge is safe. Where passages meet, the two longest are taken for one, with the box between."""
    degree = degrees(masks, drawn)
    runs = passages(masks, drawn, degree)
    lengths = [len(run.boxes) for run in runs]
    part_of = {edge: number for number, run in enumerate(runs) for edge in run.edges}
    for box, count in enumerate(degree):
        if count > 2:
            arms = {part_of[edge] for edge in members(masks.sides[box] & ~drawn)}
            one = sorted(arms, key=lambda number: -lengths[number])[:2]
            length = 1 + sum(lengths[number] for number in one)
            for number in one:
                lengths[number] = 0
            lengths[one[0]] = length
            part_of = {edge: one[0] if number in one else number for edge, number in part_of.items()}
    chains = sorted(length for run, length in zip(runs, lengths, strict=True) if length and not run.closed)
    loops = sorted(length for run, length in zip(runs, lengths, strict=True) if run.closed)
    return heap_value(tuple(chains), tuple(loops))


@cache
def heap_value(chains: tuple[int, ...], loops: tuple[int, ...]) -> int:
    """What chains and loops that hang on nothing are worth to the seat that must open one. Sizes ascend."""
    values = [0] if not chains and not loops else []
    for at, size in enumerate(chains):
        if at and size == chains[at - 1]:
            continue
        taken, kept = opening_gains(size, loop=False)
        rest = heap_value(chains[:at] + chains[at + 1 :], loops)
        values.append(-(taken + (abs(kept + rest) if kept else rest)))
    if loops:
        taken, kept = opening_gains(loops[0], loop=True)
        values.append(-(taken + abs(kept + heap_value(chains, loops[1:]))))
    return max(values)


# The edges among which greedy players draw lots, in compiled code. For Python, ``strategy.py`` says the same.


@kernel
def keep_greedy_edges(s: Record, buffer: Array, count: Int) -> Int:
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
    return keep_greedy_edges(states[0], buffer, count)
