"""Human strategy for dots and boxes: free boxes, safe edges, long chains, double-deals. Plain Python over bit sets.

A box with one undrawn side is *open*: the seat to move may take it. An edge is *safe* if it opens no box. Once no edge
is safe, the board splits into *passages*, runs of boxes with two undrawn sides each, and the seat to move must open
one. Counting chains is how to make the other seat do it. ``greedy_edges`` ignores this, ``chain_edges`` counts. Values
are estimates where passages meet; ``solver/`` has the exact ones.

Theory: Berlekamp, The Dots and Boxes Game (2000).
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.rules import ALL, BESIDE, BOARDS, SIDES
from ludodrome.games.dots.solver.moves import opening_gains
from ludodrome.jit import Array, Int, Record, kernel, popcount

FEW_SAFE = 10
"""With at most this many safe edges, try all orders of drawing them."""

LONG = 3
"""A chain of at least this many boxes is long: its last two can be given back to keep control."""


class BoardMasks(NamedTuple):
    """Bit sets of one board, as Python integers."""

    everything: int
    """The set of all edges."""
    sides: tuple[int, ...]
    """Box -> the set of its sides."""
    beside: tuple[tuple[int, ...], ...]
    """Edge -> the one or two boxes next to it."""


class Run(NamedTuple):
    """Boxes in a row that can be taken one after another, or a passage."""

    boxes: tuple[int, ...]
    edges: tuple[int, ...]
    """The undrawn edges of the boxes, each once; draw them in this order to take an open run."""
    closed: bool
    """Whether it has no way out: a loop, or a run with an open box at both ends."""


@cache
def board_masks(rows: int, cols: int) -> BoardMasks:
    """The bit sets of a board of ``rows`` x ``cols`` boxes."""
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
    """The number of undrawn sides of each box."""
    return [(sides & ~drawn).bit_count() for sides in masks.sides]


def free_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The edges that close a box."""
    return members(sum({side for sides in masks.sides if (side := sides & ~drawn).bit_count() == 1}))


def safe_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The edges that would not be the third or fourth side of any box."""
    unsafe = drawn
    for sides in masks.sides:
        if (sides & ~drawn).bit_count() <= 2:
            unsafe |= sides
    return members(masks.everything & ~unsafe)


def greedy_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """Edges that close a box; else safe edges; else all: play without counting chains."""
    return free_edges(masks, drawn) or safe_edges(masks, drawn) or members(masks.everything & ~drawn)


def chain_edges(masks: BoardMasks, drawn: int) -> list[int]:
    """The best edges by counting chains, all rated equal."""
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
            continue  # while safe edges are left, give up at most a short chain
        taken, kept = opening_gains(len(run.boxes), run.closed)
        rest = outlook(masks, drawn | _set_of(run.edges), memo)
        values[_opening(run)] = -(taken + (abs(kept + rest) if kept else rest))
    best = max(values.values())
    return [edge for edge, value in values.items() if value == best]


# Captures


def _captures(masks: BoardMasks, drawn: int, degree: list[int]) -> list[int]:
    """Take boxes, or give the last two of a chain or the last four of a loop back if the rest is worth more."""
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
    """The runs that can be taken now, each from an open box on."""
    runs: list[Run] = []
    for box, count in enumerate(degree):
        if count == 1 and not any(box in run.boxes for run in runs):
            (edge,) = members(masks.sides[box] & ~drawn)
            boxes, edges, end = _follow(masks, drawn, degree, box, edge)
            closed = end >= 0 and degree[end] == 1
            runs.append(Run((box, *boxes, end) if closed else (box, *boxes), tuple(edges), closed))
    return runs


def _follow(masks: BoardMasks, drawn: int, degree: list[int], box: int, edge: int) -> tuple[list[int], list[int], int]:
    """Walk from a box across an undrawn edge and on through boxes with two undrawn sides.

    Return the boxes and edges on the way, and the box at the end: -1 for the ground, the first box for a loop.
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


# Passages: once no edge is safe


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
    """The edge to open a passage: the middle of two boxes, so that they cannot become a double-deal."""
    return run.edges[1 if len(run.boxes) == 2 else 0]


def _set_of(edges: tuple[int, ...]) -> int:
    return sum(1 << edge for edge in edges)


def outlook(masks: BoardMasks, drawn: int, memo: dict[int, int]) -> int:
    """Value of a position without open boxes to the seat to move, if nobody opens one while an edge is safe."""
    if drawn not in memo:
        safe = safe_edges(masks, drawn)
        memo[drawn] = (
            max(-outlook(masks, drawn | 1 << edge, memo) for edge in safe) if safe else passages_value(masks, drawn)
        )
    return memo[drawn]


def passages_value(masks: BoardMasks, drawn: int) -> int:
    """Value once no edge is safe. Where passages meet, join the two longest with the box between them."""
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
    """Value of separate chains and loops, given by ascending sizes, to the seat that must open one."""
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


# ``greedy_edges`` in compiled code


@kernel
def keep_greedy_edges(s: Record, buffer: Array, count: Int) -> Int:
    """Keep the legal edges that close a box; else the safe ones; else all. Return their number."""
    best = 0
    kept = 0
    for k in range(count):
        edge = buffer[k]
        rating = _rating(s, np.int64(edge))
        if rating > best:
            best = rating
            kept = 0
        if rating == best:
            buffer[kept] = edge
            kept += 1
    return kept


@kernel
def _rating(s: Record, edge: Int) -> Int:
    """2: closes a box; 1: safe; 0: draws a third side."""
    rating = 1
    for k in range(2):
        sides = popcount(SIDES[s.board, BESIDE[s.board, edge, k]] & ~s.edges)
        if sides == 1:
            return 2
        if sides == 2:
            rating = 0
    return rating


@kernel
def best_edges(states: Any, words: Array, buffer: Array, count: Int) -> Int:
    """``keep_greedy_edges`` for states[0]."""
    return keep_greedy_edges(states[0], buffer, count)
