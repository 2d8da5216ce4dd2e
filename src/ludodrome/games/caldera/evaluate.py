"""Evaluator of caldera: values, move ordering, move ids and hash keys. ``threats.py`` has the immediate threats.

Pieces have no forward direction, so everything here is invariant under the eight symmetries of the board. R-numbers
refer to RULES.md.
"""

from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator
from ludodrome.games.caldera import threats
from ludodrome.games.caldera.rules import (
    ACTIONS,
    BOARD,
    CELLS,
    COMPASS,
    CROWN,
    DIRECTIONS,
    FORGE,
    INSIDE,
    KIND,
    LANCERS,
    LEAP,
    NEIGHBOURS,
    NOWHERE,
    ONE,
    ORTHOGONAL,
    SEATS,
    SIDE,
    SLOT,
    SLOTS,
    STEP,
    TO,
    VENT,
    ZERO,
    beside,
    bit,
    cell_set,
    standing,
)
from ludodrome.games.caldera.threats import (
    Cells,
    Ground,
    Side,
    around,
    attackers,
    everyone,
    forged,
    fuses,
    ground_of,
    side_of,
)
from ludodrome.jit import Array, Int, Record, entry, kernel, lowest, popcount
from ludodrome.search.symmetry import SYMMETRIES, cell_turns, direction_turns, key_table

# Values

FEATURES = (
    ("a lancer", 397),
    ("a smith", 331),
    ("a cell that lancers can move to", 1),
    ("a cell that smiths can move to", 1),
    ("a cell that smiths can forge", -3),
    ("a level under a lancer", 23),
    ("a level under a smith", 9),
    ("a level under the crown", 18),
    ("a lancer or smith not on the edge", 24),
    ("a lancer or smith on the nine cells in the middle", 11),
    ("a lancer or smith within two steps of the enemy crown", 24),
    ("a cell that the crown can move to and nobody attacks", 6),
    ("no such cell", -59),
    ("an attacked cell around the crown", 2),
    ("the crown attacked", -51),
    ("a lancer or smith attacked and unguarded, on the enemy's turn", -326),
    ("the same on one's own turn", 1),
    ("a cell of height 3 beside the crown", -24),
    ("a level of the cells beside the crown", 10),
    ("the crown within what the enemy's smiths could make erupt together", -120),
    ("a lancer or smith within it", -43),
    ("the turn", 7),
    ("more pieces, for each turn that the limit is nearer than LATE (R18)", 64),
    ("as many pieces and the higher crown, likewise", 13),
)
"""Features of a side and their weights."""
(LANCER, SMITH, LANCER_REACH, SMITH_REACH, FORGES, LANCER_HEIGHT, SMITH_HEIGHT, CROWN_HEIGHT) = range(8)
(INNER, MIDDLE, HUNTING, ESCAPES, CORNERED, BESIEGED, ATTACKED, HANGING) = range(8, 16)
(TINDER, HEAT, CROWN_FUSED, FUSED, TURN, LATE_PIECES, LATE_CROWN) = range(17, 24)
WEIGHTS = np.array([weight for _, weight in FEATURES])
LATE = 24
"""The tie-break begins to count this many turns before the limit."""
MAX_VALUE = 9_999


def _square(cell: int, steps: int) -> np.uint64:
    """The cells within ``steps`` steps of a cell, including itself."""
    rows = range(max(0, cell // SIDE - steps), min(SIDE, cell // SIDE + steps + 1))
    columns = range(max(0, cell % SIDE - steps), min(SIDE, cell % SIDE + steps + 1))
    return cell_set(row * SIDE + column for row in rows for column in columns)


_CENTRE = CELLS // 2
_INNER, _MIDDLE = _square(_CENTRE, 2), _square(_CENTRE, 1)
_NEAR = np.array([_square(cell, 2) for cell in range(CELLS)])
_ONWARD = np.array([(row * SIDE + column) % 64 for row, column in COMPASS], np.uint64)
_BACK = np.array([-(row * SIDE + column) % 64 for row, column in COMPASS], np.uint64)


@kernel
def _ahead(cells: Cells, direction: Int) -> Cells:
    """The neighbours of a set in a direction."""
    return (cells << _ONWARD[direction]) | (cells >> _BACK[direction])


@kernel
def _reaches(ground: Ground, own: Side, enemy: Side) -> Any:
    """R6 to R9: the cells that either side's crown, lancers and smiths reach, occupied or not."""
    above_0, above_1, above_2, vents = ground
    crown, lancers, smiths = ZERO, ZERO, ZERO
    crown_2, lancers_2, smiths_2 = ZERO, ZERO, ZERO
    for direction in range(DIRECTIONS):
        steep = (beside(above_1, direction) & ~above_0) | (beside(above_2, direction) & ~above_1)
        passable = INSIDE[direction] & ~(steep | beside(vents, direction))
        leap = passable & beside(passable, direction)
        crown |= _ahead(own[0] & passable, direction)
        smiths |= _ahead(own[2] & passable, direction)
        lancers |= _ahead((own[1] & passable) | _ahead(own[1] & leap, direction), direction)
        crown_2 |= _ahead(enemy[0] & passable, direction)
        smiths_2 |= _ahead(enemy[2] & passable, direction)
        lancers_2 |= _ahead((enemy[1] & passable) | _ahead(enemy[1] & leap, direction), direction)
    return (crown, lancers, smiths), (crown_2, lancers_2, smiths_2)


@kernel
def _levels(ground: Ground, cells: Cells) -> Int:
    """Sum of the heights of some cells; a vent counts 4."""
    return popcount(ground[0] & cells) + popcount(ground[1] & cells) + popcount(ground[2] & cells)


@kernel
def _side_value(
    ground: Ground, own: Side, enemy: Side, reach: Side, enemy_reach: Side, turn: Int, urgency: Int, weights: Array
) -> Int:
    """Value of one side's features. turn: 1 if it is to move; urgency: turns past LATE."""
    crown, lancers, smiths = own
    pieces = lancers | smiths
    free = ~(crown | pieces)
    attacked = everyone(enemy_reach)
    beside_crown = around(crown) & ~ground[3]
    total = weights[LANCER] * popcount(lancers) + weights[SMITH] * popcount(smiths)
    total += weights[LANCER_REACH] * popcount(reach[1] & free) + weights[SMITH_REACH] * popcount(reach[2] & free)
    total += weights[FORGES] * popcount(around(smiths) & free & ~(ground[3] | everyone(enemy)))
    total += weights[LANCER_HEIGHT] * _levels(ground, lancers) + weights[SMITH_HEIGHT] * _levels(ground, smiths)
    total += weights[INNER] * popcount(pieces & _INNER) + weights[MIDDLE] * popcount(pieces & _MIDDLE)
    total += weights[HUNTING] * popcount(pieces & _NEAR[lowest(enemy[0])])
    escapes = popcount(reach[0] & free & ~attacked)
    total += weights[ESCAPES] * escapes + weights[CORNERED] * np.int64(escapes == 0)
    total += weights[BESIEGED] * popcount(NEIGHBOURS[lowest(crown)] & attacked)
    total += weights[ATTACKED] * popcount(crown & attacked)
    total += weights[HANGING + turn] * popcount(pieces & attacked & ~everyone(reach))
    total += weights[TINDER] * popcount(beside_crown & ground[2]) + weights[HEAT] * _levels(ground, beside_crown)
    fused = fuses(ground, enemy, own)
    if fused:
        vents = forged(ground, fused)[3]
        total += weights[CROWN_FUSED] * popcount(vents & crown) + weights[FUSED] * popcount(vents & pieces)
    more = popcount(crown | pieces) - popcount(everyone(enemy))
    higher = _levels(ground, crown) - _levels(ground, enemy[0])
    total += weights[CROWN_HEIGHT] * _levels(ground, crown) + weights[TURN] * turn
    if urgency and more >= 0:
        if more:
            total += weights[LATE_PIECES] * urgency
        elif higher > 0:
            total += weights[LATE_CROWN] * urgency
    return total


@kernel
def weighted_value(s: Record, pov_seat: Int, weights: Array) -> Int:
    """Value of ``pov_seat``'s features minus the enemy's; weights: [features] int64 in the order of FEATURES."""
    ground, own, enemy = ground_of(s), side_of(s, pov_seat), side_of(s, 1 - pov_seat)
    reach, enemy_reach = _reaches(ground, own, enemy)
    turn = np.int64(np.int64(s.ply) % SEATS == pov_seat)
    urgency = max(0, LATE + np.int64(s.ply) - np.int64(s.turn_limit))
    ours = _side_value(ground, own, enemy, reach, enemy_reach, turn, urgency, weights)
    theirs = _side_value(ground, enemy, own, enemy_reach, reach, 1 - turn, urgency, weights)
    return ours - theirs


@kernel
def value(s: Record, pov_seat: Int) -> Int:
    """Value of a running position to ``pov_seat``."""
    return min(max(weighted_value(s, pov_seat, WEIGHTS), -MAX_VALUE), MAX_VALUE)


# Move ordering and tactics

_PRICE = np.array([1000, *(WEIGHTS[LANCER] if slot in LANCERS else WEIGHTS[SMITH] for slot in range(1, SLOTS))])
"""slot -> value of its piece in move ordering."""


@kernel
def _price(side: Side, cells: Cells) -> Int:
    """Value of a side's pieces on some cells."""
    return (
        _PRICE[0] * popcount(side[0] & cells)
        + _PRICE[1] * popcount(side[1] & cells)
        + _PRICE[3] * popcount(side[2] & cells)
    )


@kernel
def is_tactical(s: Record, action: Int) -> Any:
    """Captures, and eruptions that bury a piece but not one's own crown."""
    seat = np.int64(s.ply) % SEATS
    to = bit(TO[s.cells[seat, SLOT[action]], action])
    if KIND[action] != FORGE:
        return (standing(s, 1 - seat) & to) != ZERO
    ground = ground_of(s)
    if not ground[2] & to:
        return False
    vents = forged(ground, to)[3]
    own = side_of(s, seat)
    return not vents & own[0] and ((everyone(own) | standing(s, 1 - seat)) & vents & BOARD) != ZERO


@kernel
def move_context(s: Record) -> tuple[Ground, Side, Side]:
    """The ground, the mover's pieces and the other seat's."""
    seat = np.int64(s.ply) % SEATS
    return ground_of(s), side_of(s, seat), side_of(s, 1 - seat)


@kernel
def move_score(s: Record, context: tuple[Ground, Side, Side], action: Int) -> Int:
    """Score eruptions by the buried pieces, captures by the gain, other actions by their target."""
    ground, own, enemy = context
    slot = np.int64(SLOT[action])
    source = s.cells[np.int64(s.ply) % SEATS, slot]
    cell = np.int64(TO[source, action])
    to = bit(cell)
    if KIND[action] == FORGE:
        return _forge_score(ground, own, enemy, to)
    victim = _price(enemy, to)
    risk = _PRICE[slot] if attackers(ground, enemy, cell) else 0
    if victim:
        return min(1000, 300 + victim - risk)
    fled = 60 if slot != CROWN and attackers(ground, enemy, source) else 0
    nearer = popcount(_NEAR[lowest(enemy[0])] & to) - popcount(_NEAR[lowest(enemy[0])] & bit(source))
    climbed = _levels(ground, to) - _levels(ground, bit(source))
    return fled + 20 * nearer + 10 * climbed - risk // 2


@kernel
def _forge_score(ground: Ground, own: Side, enemy: Side, to: Cells) -> Int:
    if ground[2] & to:
        vents = forged(ground, to)[3]
        if vents & own[0]:
            return -1000
        return min(1000, 300 + _price(enemy, vents) - _price(own, vents))
    heat = popcount(around(enemy[0]) & to) - popcount(around(own[0]) & to)
    return heat * (20 + 20 * _levels(ground, to))


# Move ids: the source and the way of moving, whichever piece is there

_HOWS = [
    *((STEP, direction) for direction in range(DIRECTIONS)),
    *((LEAP, direction) for direction in range(DIRECTIONS)),
    *((FORGE, direction) for direction in ORTHOGONAL),
]
_WAYS = len(_HOWS)
NUM_MOVE_IDS = CELLS * _WAYS
_HOW = np.array([_HOWS.index((kind, direction)) for _, kind, direction in ACTIONS])
_CELL_TURNS = cell_turns(SIDE, SIDE)


def _move_id_symmetries() -> Array:
    turns = direction_turns(COMPASS)
    table = np.zeros((SYMMETRIES, NUM_MOVE_IDS), np.uint16)
    for symmetry in range(SYMMETRIES):
        hows = [_HOWS.index((kind, turns[symmetry, direction])) for kind, direction in _HOWS]
        for cell in range(CELLS):
            for how in range(_WAYS):
                table[symmetry, cell * _WAYS + how] = _CELL_TURNS[symmetry, cell] * _WAYS + hows[how]
    return table


@kernel
def move_id(s: Record, action: Int) -> Int:
    """The source cell, and one of the twenty ways to move or forge."""
    seat = np.int64(s.ply) % SEATS
    return np.int64(s.cells[seat, SLOT[action]]) * _WAYS + _HOW[action]


# Hash keys: two pieces of a kind share them; the seat to move follows from the ply

_GROUND_KINDS = VENT
_PIECE_KINDS = np.array([[_GROUND_KINDS + 3 * seat + kind for kind in (0, 1, 1, 2, 2)] for seat in range(SEATS)])
"""(seat, slot) -> row in the table of keys."""
_KEYS = np.zeros((_GROUND_KINDS + 3 * SEATS, NOWHERE + 1, SYMMETRIES), np.uint64)
_KEYS[:, :CELLS] = key_table(_CELL_TURNS, len(_KEYS), seed=7)
_MAX_PLIES = 1000
_PLY_KEYS = key_table(np.zeros((SYMMETRIES, 1), np.int64), _MAX_PLIES + 1, seed=8)[:, 0]


@kernel
def _toggle(keys: Array, at: Int, words: Array) -> None:
    for symmetry in range(SYMMETRIES):
        keys[at, symmetry] ^= words[symmetry]


@kernel
def update_hash(before: Record, after: Record, keys: Array, at: Int) -> None:
    """Update the keys by the difference of two records.

    A blank record, with both crowns on one cell, counts as a board without pieces: hashing from scratch starts there.
    """
    blank = before.cells[0, CROWN] == before.cells[1, CROWN]
    past, now = _PLY_KEYS[before.ply], _PLY_KEYS[after.ply]
    for symmetry in range(SYMMETRIES):
        keys[at + 1, symmetry] = keys[at, symmetry] ^ past[symmetry] ^ now[symmetry]
    for k in range(_GROUND_KINDS):
        changed = before.levels[k] ^ after.levels[k]
        while changed:
            _toggle(keys, at + 1, _KEYS[k, lowest(changed)])
            changed &= changed - ONE
    for seat in range(SEATS):
        for slot in range(SLOTS):
            source, to = before.cells[seat, slot], after.cells[seat, slot]
            if blank:
                source = np.uint8(NOWHERE)
            if source != to:
                _toggle(keys, at + 1, _KEYS[_PIECE_KINDS[seat, slot], source])
                _toggle(keys, at + 1, _KEYS[_PIECE_KINDS[seat, slot], to])


@kernel
def gain(before: Record, after: Record) -> Int:
    """0: there are no points."""
    return 0


EVALUATOR = Evaluator(
    value=value,
    winning=threats.winning,
    in_check=threats.in_check,
    evasions=threats.evasions,
    is_tactical=is_tactical,
    move_context=move_context,
    move_score=move_score,
    gain=gain,
    move_id=move_id,
    update_hash=update_hash,
    num_move_ids=NUM_MOVE_IDS,
    move_id_symmetries=_move_id_symmetries(),
    by_points=False,
    has_no_tactics=False,
)


@entry
def weighted_value_of(states: Any, pov_seat: int, weights: Array) -> Int:
    """Weigh states[0] for a seat: for tuning the weights."""
    return weighted_value(states[0], pov_seat, weights)
