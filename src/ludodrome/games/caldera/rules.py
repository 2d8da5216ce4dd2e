"""The board and the compiled rules of caldera. R-numbers refer to RULES.md in this folder.

The ground is four bit sets ``levels``: bit c of ``levels[k]`` is set if cell c is higher than k, and a vent counts as
height 4. So ``levels[3]`` are the vents (R2). Each seat's pieces are in five slots: crown, two lancers, two smiths;
when the first of two falls, the second moves up (R15). A fallen piece is on NOWHERE, a cell off the board without
neighbours, so that no code has to check for it.

Kernels trust their input; ``codec.py`` validates JSON and text.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.jit import Array, Int, Record, entry, kernel, lowest, popcount, record_dtype

# The board


SIDE = 7
CELLS = SIDE * SIDE
VENT = 4
"""The height at which a cell erupts; a vent has this height."""
NOWHERE = 63
"""The cell of fallen pieces: off the board, without neighbours."""

#  0  1  2  3  4  5  6
#  7  8  9 10 11 12 13
# ...               48
COMPASS = tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0))
"""The eight directions in reading order, so that a higher direction is a higher cell."""
DIRECTIONS = len(COMPASS)
ORTHOGONAL = tuple(direction for direction, (row, column) in enumerate(COMPASS) if not (row and column))
"""The four orthogonal directions in the same order, by their numbers among the eight."""


def neighbour(cell: int, direction: int, steps: int = 1) -> int:
    """The cell ``steps`` steps away, or NOWHERE."""
    down, right = COMPASS[direction]
    row, column = cell // SIDE + down * steps, cell % SIDE + right * steps
    return row * SIDE + column if cell < CELLS and 0 <= row < SIDE and 0 <= column < SIDE else NOWHERE


def cell_set(cells: Iterable[int]) -> np.uint64:
    """The bit set of some cells."""
    return np.uint64(sum(1 << cell for cell in cells))


_ALL = range(CELLS)
BOARD = cell_set(_ALL)
NEIGHBOURS = np.array([cell_set({neighbour(cell, d) for d in range(DIRECTIONS)} - {NOWHERE}) for cell in _ALL])
"""cell -> the set of its neighbours."""
INSIDE = np.array([cell_set(cell for cell in _ALL if neighbour(cell, d) != NOWHERE) for d in range(DIRECTIONS)])
"""direction -> the cells that have a neighbour there."""

_OFFSETS = [down * SIDE + right for down, right in COMPASS]
_ONWARD = np.array([offset % 64 for offset in _OFFSETS], np.uint64)
_BACK = np.array([-offset % 64 for offset in _OFFSETS], np.uint64)

ZERO, ONE = np.uint64(0), np.uint64(1)
_ROW = np.uint64(SIDE)
_WEST_EDGE, _EAST_EDGE = cell_set(range(0, CELLS, SIDE)), cell_set(range(SIDE - 1, CELLS, SIDE))


@kernel
def bit(cell: Int) -> Any:
    """The set of one cell."""
    return ONE << np.uint64(cell)


@kernel
def height(levels: Array, cell: Int) -> Int:
    """R2: the height of a cell, 0 to 4."""
    at = np.uint64(cell)
    total = ZERO
    for k in range(VENT):
        total += (levels[k] >> at) & ONE
    return np.int64(total)


@kernel
def beside(cells: Any, direction: Int) -> Any:
    """The cells whose neighbour in a direction is in the set; bits that are not INSIDE are meaningless.

    The word is rotated, not shifted, so that north and south need no separate case.
    """
    return (cells >> _ONWARD[direction]) | (cells << _BACK[direction])


@kernel
def lift(levels: Array, cells: Any) -> None:
    """Raise every cell of a set by 1, the highest first; vents do not change."""
    for k in range(VENT - 1, 0, -1):
        levels[k] |= levels[k - 1] & cells
    levels[0] |= cells


@kernel
def chain(levels: Array, erupting: Any) -> None:
    """R12, R13: resolve an eruption wave by wave; a cell that reaches 4 raises its neighbours once."""
    vents = levels[VENT - 1]
    while erupting:
        lift(levels, erupting >> _ROW)
        lift(levels, (erupting & ~_WEST_EDGE) >> ONE)
        lift(levels, (erupting & ~_EAST_EDGE) << ONE)
        lift(levels, (erupting << _ROW) & BOARD)
        erupting = levels[VENT - 1] & ~vents
        vents |= erupting


SEATS = 2
CROWN, LANCERS, SMITHS = 0, (1, 2), (3, 4)
"""The slots of a seat's pieces."""
FIRSTS = (LANCERS[0], SMITHS[0])
"""The slots that are followed by another of the same kind."""
SLOTS = 5
START = (3, 1, 5, 2, 4)
"""slot -> starting column (R3)."""

DTYPE = record_dtype(
    [
        ("levels", np.uint64, (VENT,)),
        ("cells", np.uint8, (SEATS, SLOTS)),  # cell by seat and slot, or NOWHERE
        ("ply", np.uint16),
        ("turn_limit", np.uint16),  # an option, never changed by a kernel
        ("winner", np.int8),  # -1: none
        ("reason", np.uint8),  # an index into REASONS
    ]
)

RUNNING, CAPTURED, ERUPTED, OWN_ERUPTED, BOTH_ERUPTED, MORE_PIECES, HIGHER_CROWN, DRAWN, STUCK = range(9)
REASONS = (
    "",
    "crown captured",
    "crown erupted",
    "own crown erupted",
    "both crowns erupted",
    "turn limit: more pieces",
    "turn limit: higher crown",
    "turn limit: draw",
    "no legal moves",
)

# Actions (R5), slot by slot: the steps of every piece, then a lancer's leaps or a smith's forges.
STEP, LEAP, FORGE = range(3)
_STEPS = [(STEP, direction) for direction in range(DIRECTIONS)]
_LEAPS = [(LEAP, direction) for direction in range(DIRECTIONS)]
_FORGES = [(FORGE, direction) for direction in ORTHOGONAL]
ACTIONS = tuple(
    (slot, kind, direction)
    for slot in range(SLOTS)
    for kind, direction in _STEPS + _LEAPS * (slot in LANCERS) + _FORGES * (slot in SMITHS)
)
"""action -> slot, kind, and one of the eight directions."""
NUM_ACTIONS = len(ACTIONS)
_LANCER, _LANCER_2, _SMITH, _SMITH_2 = (
    np.uint64([slot for slot, _, _ in ACTIONS].index(slot)) for slot in LANCERS + SMITHS
)
_LANCER_LEAP, _LANCER_2_LEAP = _LANCER + np.uint64(DIRECTIONS), _LANCER_2 + np.uint64(DIRECTIONS)
_SMITH_FORGE, _SMITH_2_FORGE = _SMITH + np.uint64(DIRECTIONS), _SMITH_2 + np.uint64(DIRECTIONS)

# Faults: why an action is illegal (1 is game_spec.GAME_OVER).
NO_PIECE = 2
LEADS_OFF_BOARD = 3
VENT_BETWEEN = 4
VENT_THERE = 5
OWN_PIECE_THERE = 6
TOO_STEEP = 7
FIRST_TOO_STEEP = 8
SECOND_TOO_STEEP = 9
FORGE_ON_VENT = 10
FORGE_OCCUPIED = 11


SLOT = np.array([slot for slot, _, _ in ACTIONS], np.uint8)
KIND = np.array([kind for _, kind, _ in ACTIONS], np.uint8)
TO = np.array(
    [
        [neighbour(cell, direction, 2 if kind == LEAP else 1) for _, kind, direction in ACTIONS]
        for cell in range(NOWHERE + 1)
    ],
    np.uint8,
)
"""(cell, action) -> the target of the action from there, or NOWHERE."""
_ORTHOGONAL = np.array(ORTHOGONAL)
_SHIFT = np.arange(DIRECTIONS, dtype=np.uint64)


@kernel
def standing(s: Record, seat: Int) -> Any:
    """The cells of a seat's pieces, with the bit of NOWHERE if one has fallen."""
    cells = ZERO
    for slot in range(SLOTS):
        cells |= bit(s.cells[seat, slot])
    return cells


# Moves


@kernel
def _has(cells: Any, cell: Int, action: Any) -> Any:
    """The set of this action if ``cells`` contains the cell, else the empty set."""
    return ((cells >> np.uint64(cell)) & ONE) << action


@kernel
def choices(s: Record) -> Any:
    """R5: the actions of the seat to move, bit a for action a, whether or not the game is over.

    Handles all pieces together, direction by direction: several times faster than one by one.
    """
    seat = np.int64(s.ply) % SEATS
    own = standing(s, seat)
    above_0, above_1, above_2, vents = s.levels[0], s.levels[1], s.levels[2], s.levels[3]
    crown, lancer, lancer_2, smith, smith_2 = s.cells[seat]
    found = ZERO
    for direction in range(DIRECTIONS):
        steep = (beside(above_1, direction) & ~above_0) | (beside(above_2, direction) & ~above_1)
        passable = INSIDE[direction] & ~(steep | beside(vents, direction))  # R7: from these cells
        step = passable & ~beside(own, direction)  # R6, R8
        leap = passable & beside(step, direction)  # R9: any piece may be in the middle
        of_lancer = _has(step, lancer, _LANCER) | _has(leap, lancer, _LANCER_LEAP)
        of_lancer_2 = _has(step, lancer_2, _LANCER_2) | _has(leap, lancer_2, _LANCER_2_LEAP)
        of_smiths = _has(step, smith, _SMITH) | _has(step, smith_2, _SMITH_2)
        found |= (_has(step, crown, ZERO) | of_lancer | of_lancer_2 | of_smiths) << _SHIFT[direction]
    occupied = own | standing(s, 1 - seat)
    for index in range(len(_ORTHOGONAL)):
        direction = _ORTHOGONAL[index]
        forge = INSIDE[direction] & ~beside(vents | occupied, direction)  # R11
        found |= (_has(forge, smith, _SMITH_FORGE) | _has(forge, smith_2, _SMITH_2_FORGE)) << _SHIFT[index]
    return found


@kernel
def legal(s: Record, buffer: Array) -> int:
    """All legal actions, ascending; R21: none once the game is over."""
    if s.reason != RUNNING:
        return 0
    actions = choices(s)
    count = 0
    while actions:
        buffer[count] = lowest(actions)
        actions &= actions - ONE
        count += 1
    return count


@kernel
def fault(s: Record, action: int) -> Int:
    """0 if the action is legal, else the first fault on the way."""
    if s.reason != RUNNING:  # R21
        return GAME_OVER
    seat = np.int64(s.ply) % SEATS
    source = s.cells[seat, SLOT[action]]
    if source == NOWHERE:
        return NO_PIECE
    to = TO[source, action]
    if to == NOWHERE:
        return LEADS_OFF_BOARD
    own = standing(s, seat)
    ground = height(s.levels, source)
    target = height(s.levels, to)
    if KIND[action] == FORGE:  # R11
        if target == VENT:
            return FORGE_ON_VENT
        return FORGE_OCCUPIED if (own | standing(s, 1 - seat)) & bit(to) else 0
    steep = TOO_STEEP
    if KIND[action] == LEAP:  # R9
        middle = height(s.levels, TO[source, action - DIRECTIONS])
        if middle == VENT:
            return VENT_BETWEEN
        if middle > ground + 1:
            return FIRST_TOO_STEEP
        ground = middle
        steep = SECOND_TOO_STEEP
    if target == VENT:  # R6
        return VENT_THERE
    if own & bit(to):
        return OWN_PIECE_THERE
    return steep if target > ground + 1 else 0  # R7


# Turns


@kernel
def reset(s: Record, seed: Any) -> None:
    """R2, R3: flat ground, two rows of pieces. Nothing is random."""
    for k in range(VENT):
        s.levels[k] = ZERO
    for seat in range(SEATS):
        row = (SIDE - 1) * SIDE if seat == 0 else 0
        for slot, column in enumerate(START):
            s.cells[seat, slot] = row + column
    s.ply = 0
    s.winner = -1
    s.reason = RUNNING


@kernel
def mover(s: Record) -> Int:
    """R4: the seats alternate; R21: -1 once the game is over."""
    return -1 if s.reason != RUNNING else np.int64(s.ply) % SEATS


@kernel
def play(s: Record, action: int) -> None:
    """Play a legal action, then check for the end."""
    seat = np.int64(s.ply) % SEATS
    enemy = 1 - seat
    slot = SLOT[action]
    to = TO[s.cells[seat, slot], action]
    captured = -1
    if KIND[action] == FORGE:  # R11, R12
        lift(s.levels, bit(to))
        if s.levels[VENT - 1] & bit(to):
            chain(s.levels, bit(to))  # R13
            for owner in range(SEATS):  # R14
                _bury(s, owner)
    else:
        s.cells[seat, slot] = to
        for other in range(SLOTS):  # R10
            if s.cells[enemy, other] == to:
                captured = other
        if captured >= 0:
            remove(s, enemy, captured)
    s.ply += 1
    judge(s)
    if captured == CROWN:  # R16: the position alone does not distinguish it from an eruption
        s.reason = CAPTURED


@kernel
def _bury(s: Record, seat: Int) -> None:
    """R14: remove a seat's pieces on vents, last slot first, since later ones move up."""
    for slot in range(SLOTS - 1, -1, -1):
        if s.levels[VENT - 1] & bit(s.cells[seat, slot]):
            remove(s, seat, slot)


@kernel
def remove(s: Record, seat: Int, slot: Int) -> None:
    """R15: remove a piece; the second of its kind moves up."""
    last = slot
    if slot in FIRSTS:
        last = slot + 1
        s.cells[seat, slot] = s.cells[seat, last]
    s.cells[seat, last] = NOWHERE


# Ends


@kernel
def judge(s: Record) -> None:
    """R20: derive the end from the position: the crowns, the turn limit, a stuck seat, in this order.

    The position does not show whether a missing enemy crown was captured: assume that it erupted.
    """
    s.winner = -1
    s.reason = RUNNING
    next_seat = np.int64(s.ply) % SEATS
    last = 1 - next_seat
    own_gone = s.cells[last, CROWN] == NOWHERE
    enemy_gone = s.cells[next_seat, CROWN] == NOWHERE
    if own_gone:  # R17: the seat that causes it loses
        s.winner = next_seat
        s.reason = BOTH_ERUPTED if enemy_gone else OWN_ERUPTED
    elif enemy_gone:  # R1, R17
        s.winner = last
        s.reason = ERUPTED
    elif s.ply == s.turn_limit:
        _break_tie(s)
    elif _stuck(s):
        s.winner = last
        s.reason = STUCK


@kernel
def _stuck(s: Record) -> Any:
    """R19: whether the seat to move has no action. Checks crown steps first, since most crowns have one."""
    seat = np.int64(s.ply) % SEATS
    crown = s.cells[seat, CROWN]
    too_high = s.levels[min(height(s.levels, crown) + 1, VENT - 1)]
    if NEIGHBOURS[crown] & ~(too_high | standing(s, seat)):
        return False
    return choices(s) == ZERO


@kernel
def _break_tie(s: Record) -> None:
    """R18: more pieces, then the higher crown, then a draw."""
    s.reason = DRAWN
    more = popcount(standing(s, 0) & BOARD) - popcount(standing(s, 1) & BOARD)
    higher = height(s.levels, s.cells[0, CROWN]) - height(s.levels, s.cells[1, CROWN])
    if more != 0:
        s.reason = MORE_PIECES
        s.winner = 0 if more > 0 else 1
    elif higher != 0:
        s.reason = HIGHER_CROWN
        s.winner = 0 if higher > 0 else 1


@kernel
def winner(s: Record) -> Int:
    """The winning seat, or -1."""
    return np.int64(s.winner)


@kernel
def turns(s: Record) -> Int:
    """R4: the number of turns made."""
    return np.int64(s.ply)


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


@entry
def judge_array(states: Any) -> None:
    """Judge states[0]: for the codec."""
    judge(states[0])
