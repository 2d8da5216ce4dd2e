"""Immediate threats of caldera: pieces that can capture a crown, and eruption chains that bury one.

Positions are bit sets here, without a record, so that code can look past an action without playing it. The *ground* is
the four sets ``levels`` of ``rules.py``; a *side* is three sets: its crown, its lancers and its smiths. ``evaluate.py``
has the rest of the evaluator. R-numbers refer to RULES.md.
"""

from typing import Any, TypeAlias

import numpy as np

from ludodrome.games.caldera.rules import (
    ACTIONS,
    BOARD,
    CELLS,
    CROWN,
    DIRECTIONS,
    FORGE,
    KIND,
    LANCERS,
    LEAP,
    NEIGHBOURS,
    NOWHERE,
    ONE,
    SEATS,
    SIDE,
    SLOT,
    SLOTS,
    SMITHS,
    TO,
    ZERO,
    bit,
    cell_set,
    neighbour,
)
from ludodrome.jit import Array, Int, Record, kernel, lowest

Cells: TypeAlias = Any
"""A set of cells, uint64."""
Ground: TypeAlias = Any
"""Four sets: the cells higher than 0, 1, 2, and the vents."""
Side: TypeAlias = Any
"""Three sets: a side's crown, lancers and smiths."""

_ALL = range(CELLS)
LEAPS = np.array([cell_set({neighbour(cell, d, 2) for d in range(DIRECTIONS)} - {NOWHERE}) for cell in _ALL])
"""cell -> the cells two steps away in a straight line."""
_ROW = np.uint64(SIDE)
_NOT_WEST = ~cell_set(range(0, CELLS, SIDE))
_NOT_EAST = ~cell_set(range(SIDE - 1, CELLS, SIDE))

FIRST = np.array([[slot for slot, _, _ in ACTIONS].index(slot) for slot in range(SLOTS)])
"""slot -> its first action; the eight steps come first, then the leaps or the forges."""


def _ways() -> Array:
    """(from, to) -> the offset from a slot's first action."""
    table = np.zeros((CELLS, CELLS), np.uint8)
    for cell in _ALL:
        for slot, kind, direction in ACTIONS:
            if slot == LANCERS[0] and (to := neighbour(cell, direction, 2 if kind == LEAP else 1)) != NOWHERE:
                table[cell, to] = direction + DIRECTIONS * (kind == LEAP)
    return table


_WAYS = _ways()


# Positions as sets


@kernel
def ground_of(s: Record) -> Ground:
    """The ground of a position."""
    return s.levels[0], s.levels[1], s.levels[2], s.levels[3]


@kernel
def side_of(s: Record, seat: Int) -> Side:
    """The pieces of a seat."""
    crown, lancer, lancer_2, smith, smith_2 = s.cells[seat]
    return bit(crown) & BOARD, (bit(lancer) | bit(lancer_2)) & BOARD, (bit(smith) | bit(smith_2)) & BOARD


@kernel
def everyone(side: Side) -> Cells:
    """The cells of a side's pieces."""
    return side[0] | side[1] | side[2]


@kernel
def without(side: Side, cells: Cells) -> Side:
    """A side without its pieces on some cells."""
    return side[0] & ~cells, side[1] & ~cells, side[2] & ~cells


@kernel
def around(cells: Cells) -> Cells:
    """The orthogonal neighbours of a set."""
    return (cells >> _ROW) | ((cells & _NOT_WEST) >> ONE) | ((cells & _NOT_EAST) << ONE) | ((cells << _ROW) & BOARD)


@kernel
def _raised(ground: Ground, cells: Cells) -> Ground:
    above_0, above_1, above_2, vents = ground
    return above_0 | cells, above_1 | (above_0 & cells), above_2 | (above_1 & cells), vents | (above_2 & cells)


@kernel
def forged(ground: Ground, cells: Cells) -> Ground:
    """R11 to R13: the ground after forging some cells, with all eruptions.

    More forges erupt more cells: a cell that survives several at once survives each of them.
    """
    vents = ground[3]
    ground = _raised(ground, cells)
    erupting = ground[3] & ~vents
    while erupting:
        vents = ground[3]
        ground = _raised(ground, erupting >> _ROW)
        ground = _raised(ground, (erupting & _NOT_WEST) >> ONE)
        ground = _raised(ground, (erupting & _NOT_EAST) << ONE)
        ground = _raised(ground, (erupting << _ROW) & BOARD)
        erupting = ground[3] & ~vents
    return ground


# Threats


@kernel
def _footing(ground: Ground, cell: Int) -> Cells:
    """R7: the cells that are high enough to step onto ``cell``."""
    here = bit(cell)
    if ground[2] & here:
        return ground[1]
    return ground[0] if ground[1] & here else BOARD


@kernel
def attackers(ground: Ground, side: Side, cell: Int) -> Cells:
    """R7 to R10: the pieces of a side that could move to a cell, not a vent, if it were their turn."""
    crown, lancers, smiths = side
    footing = _footing(ground, cell)
    found = NEIGHBOURS[cell] & footing & (crown | lancers | smiths)
    leaping = LEAPS[cell] & lancers
    while leaping:
        source = lowest(leaping)
        middle = (source + np.int64(cell)) >> 1
        if bit(middle) & footing & ~ground[3] and bit(source) & _footing(ground, middle):
            found |= bit(source)
        leaping &= leaping - ONE
    return found


@kernel
def fuses(ground: Ground, side: Side, other: Side) -> Cells:
    """R11, R12: the cells that a side's smiths could cause to erupt."""
    return around(side[2]) & ground[2] & ~(ground[3] | everyone(side) | everyone(other))


@kernel
def burial(ground: Ground, side: Side, other: Side) -> Cells:
    """R17: the set of one cell that a side could forge to bury the other's crown and not its own; empty if none."""
    candidates = fuses(ground, side, other)
    if not candidates or not forged(ground, candidates)[3] & other[0]:
        return ZERO
    while candidates:
        one = candidates & ~(candidates - ONE)
        vents = forged(ground, one)[3]
        if vents & other[0] and not vents & side[0]:
            return one
        candidates &= candidates - ONE
    return ZERO


@kernel
def strikes(ground: Ground, side: Side, other: Side) -> Any:
    """Whether a side would win at once by R16 or R17 if it were its turn."""
    if attackers(ground, side, lowest(other[0])):
        return True
    return burial(ground, side, other) != ZERO


@kernel
def winning(s: Record) -> Int:
    """An action that captures or buries the enemy crown, or -1. The search finds stuck enemies (R19)."""
    seat = np.int64(s.ply) % SEATS
    ground, own, enemy = ground_of(s), side_of(s, seat), side_of(s, 1 - seat)
    crown = np.int64(s.cells[1 - seat, CROWN])
    hunters = attackers(ground, own, crown)
    if hunters:
        source = lowest(hunters)
        slot = 0
        while s.cells[seat, slot] != source:
            slot += 1
        return FIRST[slot] + np.int64(_WAYS[source, crown])
    target = burial(ground, own, enemy)
    if not target:
        return -1
    action = FIRST[SMITHS[0]]
    while KIND[action] != FORGE or bit(TO[s.cells[seat, SLOT[action]], action]) != target:
        action += 1
    return action


@kernel
def in_check(s: Record) -> Any:
    """Whether the enemy threatens to win at once by R16 or R17, and will have a turn to do it (R18)."""
    if s.ply + 1 >= s.turn_limit:
        return False
    seat = np.int64(s.ply) % SEATS
    return strikes(ground_of(s), side_of(s, 1 - seat), side_of(s, seat))


@kernel
def evasions(s: Record, buffer: Array, count: Int) -> Int:
    """Keep, in order, the actions after which the enemy cannot win at once; return their number.

    Drops actions that bury one's own crown too, since nothing loses faster, unless there is no other action.
    """
    seat = np.int64(s.ply) % SEATS
    if s.ply + 1 >= s.turn_limit:
        return count
    ground, own, enemy = ground_of(s), side_of(s, seat), side_of(s, 1 - seat)
    hunters = attackers(ground, enemy, np.int64(s.cells[seat, CROWN]))
    kept, buried = 0, 0
    for index in range(count):
        action = buffer[index]
        slot = SLOT[action]
        source = s.cells[seat, slot]
        to = bit(TO[source, action])
        after, mine, theirs = ground, own, enemy
        if KIND[action] == FORGE:
            after = forged(ground, to)
            mine, theirs = without(own, after[3]), without(enemy, after[3])
            if not mine[0]:
                buried += 1
                continue
        else:
            if slot != CROWN and hunters & ~to and not enemy[0] & to:  # R9: nothing can block an attacker
                continue
            theirs = without(enemy, to)
            mine = moved(own, slot, bit(source) | to)
        if not theirs[0] or not strikes(after, theirs, mine):
            buffer[kept] = action
            kept += 1
    return count if buried == count else kept


@kernel
def moved(side: Side, slot: Int, path: Cells) -> Side:
    """A side after the piece of a slot moved between the two cells of ``path``."""
    crown, lancers, smiths = side
    if slot == CROWN:
        return crown ^ path, lancers, smiths
    if slot in LANCERS:
        return crown, lancers ^ path, smiths
    return crown, lancers, smiths ^ path
