"""The 5 x 5 board that santorini and skysummit share: heights, steps and builds, planes, and text forms.

Heights are four bit sets ``levels``: bit c of ``levels[k]`` is set if cell c is higher than k. So ``levels[0]`` are the
cells with at least one block, ``levels[3]`` the domes. Each game's package has its rules, with their R-numbers.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import BadState, Game
from ludodrome.game_extras import Explanation
from ludodrome.jit import FOUR, Array, Int, fours, kernel, store_four
from ludodrome.text_board import STONE, Pick, Room, Square, TextBoard, draw_squares, height_square
from ludodrome.validation import is_int, listing, show

SIDE = 5
CELLS = SIDE * SIDE
DOME = 4
SUMMIT = 3

# 0  1  2  3  4
# 5  6  7  8  9
# ...       24
COMPASS = tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0))
"""The eight directions in reading order, so that a higher direction is a higher cell."""
DIRECTIONS = len(COMPASS)
OFF_BOARD = -1

ONE = np.uint64(1)


def _step_table() -> Array:
    table = np.full((CELLS, DIRECTIONS), OFF_BOARD, np.int16)
    for cell in range(CELLS):
        for direction, (down, right) in enumerate(COMPASS):
            row, column = cell // SIDE + down, cell % SIDE + right
            if 0 <= row < SIDE and 0 <= column < SIDE:
                table[cell, direction] = row * SIDE + column
    return table


STEP = _step_table()
"""(cell, direction) -> the neighbouring cell, or OFF_BOARD."""

DIRECTION = np.full((CELLS, CELLS), OFF_BOARD, np.int16)
"""(cell, neighbour) -> the direction, or OFF_BOARD if they are not adjacent."""
NEIGHBOURS = np.zeros(CELLS, np.uint64)
"""cell -> the set of its neighbours."""
for _cell in range(CELLS):
    for _direction in range(DIRECTIONS):
        if (_to := int(STEP[_cell, _direction])) != OFF_BOARD:
            DIRECTION[_cell, _to] = _direction
            NEIGHBOURS[_cell] |= ONE << np.uint64(_to)

# A padded set of cells, 7 x 7: the eight neighbours of any cell are at the same shifts.
RIMMED_SIDE = SIDE + 2
_FIRST_NEIGHBOUR = np.uint64(RIMMED_SIDE + 1)
_ROW = np.uint64((1 << SIDE) - 1)
_NORTH, _WEST, _EAST, _SOUTH = np.uint64(0b111), np.uint64(0b1000), np.uint64(0b10000), np.uint64(0b11100000)
_WEST_SHIFT, _EAST_SHIFT = np.uint64(RIMMED_SIDE - 3), np.uint64(RIMMED_SIDE + 2 - 4)
_SOUTH_SHIFT = np.uint64(2 * RIMMED_SIDE - 5)
RIMMED = np.array([(cell // SIDE + 1) * RIMMED_SIDE + cell % SIDE + 1 for cell in range(CELLS)], np.uint64)
"""cell -> its bit in a padded set."""

_SETS = 1 << DIRECTIONS
_SPELLED = np.zeros((_SETS, DIRECTIONS), np.int16)
for _members in range(_SETS):
    _SPELLED[_members, : _members.bit_count()] = [k for k in range(DIRECTIONS) if _members >> k & 1]
SPELLED = fours(_SPELLED)
"""set of directions -> its members, ascending, in two words of four."""
SIZES = np.array([members.bit_count() for members in range(_SETS)], np.uint64)
"""set of directions -> its size."""

# Faults: why a step or a build is illegal (1 is game_spec.GAME_OVER).
STEP_OFF_BOARD = 2
STEP_OCCUPIED = 3
STEP_ON_DOME = 4
STEP_TOO_HIGH = 5
BUILD_OFF_BOARD = 6
BUILD_OCCUPIED = 7
BUILD_ON_DOME = 8


@kernel
def bit(cell: int) -> Any:
    """The set of one cell."""
    return ONE << np.uint64(cell)


@kernel
def height(levels: Array, cell: Int) -> Int:
    """The height of a cell, 0 to 4."""
    at = np.uint64(cell)
    return np.int64(
        ((levels[0] >> at) & ONE) + ((levels[1] >> at) & ONE) + ((levels[2] >> at) & ONE) + ((levels[3] >> at) & ONE)
    )


@kernel
def lay(levels: Array, heights: Any) -> None:
    """Fill the four sets from 25 heights."""
    for k in range(DOME):
        cells = np.uint64(0)
        for cell in range(CELLS):
            if heights[cell] > k:
                cells |= bit(cell)
        levels[k] = cells


@kernel
def build(levels: Array, cell: int) -> None:
    """Raise a cell by one: a carry through the four sets."""
    carry = bit(cell)
    for k in range(DOME):
        full = levels[k] & carry
        levels[k] |= carry
        carry = full


@kernel
def reach(levels: Array, source: int, occupied: Any) -> Any:
    """The cells that a worker may step to: at most one level up, no worker, no dome."""
    too_high = levels[min(height(levels, source) + 1, SUMMIT)]
    return NEIGHBOURS[source] & ~(occupied | too_high)


@kernel
def rimmed(cells: Any) -> Any:
    """Pad a set of cells to 7 x 7."""
    wide = np.uint64(0)
    for row in range(SIDE):
        wide |= ((cells >> np.uint64(row * SIDE)) & _ROW) << np.uint64((row + 1) * RIMMED_SIDE + 1)
    return wide


@kernel
def around(wide: Any, cell: Any) -> Any:
    """The directions in which a cell's neighbours are in a padded set; eight bits."""
    near = wide >> (RIMMED[cell] - _FIRST_NEIGHBOUR)
    return (
        (near & _NORTH)
        | ((near >> _WEST_SHIFT) & _WEST)
        | ((near >> _EAST_SHIFT) & _EAST)
        | ((near >> _SOUTH_SHIFT) & _SOUTH)
    )


@kernel
def list_builds(buffer: Array, count: Any, action: Any, directions: Any) -> Any:
    """Append action + d for every direction d of a set; return the new count. All numbers are uint64.

    Always writes eight numbers, in two stores, of which the first ones count: a buffer has room for eight more than
    the maximum.
    """
    word = action * FOUR
    store_four(buffer, count, SPELLED[directions, np.uint64(0)] + word)
    store_four(buffer, count + np.uint64(4), SPELLED[directions, np.uint64(1)] + word)
    return count + SIZES[directions]


@kernel
def step_fault(levels: Array, source: int, to: int, occupied: Any) -> int:
    """0 if a worker may step from source to the cell ``to``, else the fault."""
    if to == OFF_BOARD:
        return STEP_OFF_BOARD
    if occupied & bit(to):
        return STEP_OCCUPIED
    if levels[DOME - 1] & bit(to):
        return STEP_ON_DOME
    if height(levels, to) > height(levels, source) + 1:
        return STEP_TOO_HIGH
    return 0


@kernel
def build_fault(levels: Array, at: int, occupied: Any) -> int:
    """0 if a cell may be built on, else the fault; ``occupied`` excludes the worker that has just left."""
    if at == OFF_BOARD:
        return BUILD_OFF_BOARD
    if occupied & bit(at):
        return BUILD_OCCUPIED
    if levels[DOME - 1] & bit(at):
        return BUILD_ON_DOME
    return 0


# Observation planes of 25 cells: heights and workers. Each game's ``planes.py`` defines the order.


HEIGHTS = tuple(f"higher than {level}" for level in range(DOME))
"""The first planes: 1 where a cell is higher than this level."""


@kernel
def fill(out: Array, plane: Int, number: Int) -> None:
    """Fill a plane with one number."""
    for cell in range(CELLS):
        out[plane, cell] = number


@kernel
def draw_heights(levels: Array, out: Array) -> None:
    """Write the first four planes."""
    for level in range(DOME):
        cells = np.uint64(levels[level])
        for cell in range(CELLS):
            out[level, cell] = (cells >> np.uint64(cell)) & ONE


@kernel
def draw_worker(cell: Any, out: Array, plane: Int) -> None:
    """Write 1 at a worker's cell; an empty plane if it is off the board."""
    fill(out, plane, 0)
    if cell < CELLS:
        out[plane, cell] = 1


# Text and JSON: cell names, height digits, the drawn table


ROWS = "ABCDE"
COLUMNS = "12345"
NAMES = [row + column for row in ROWS for column in COLUMNS]
"""cell -> name; cell 0 is A1, cell 7 is B3."""
CELL = {name: cell for cell, name in enumerate(NAMES)}

_INTEGER = {int}
_HEIGHTS = frozenset(range(DOME + 1))
_HALF = 13
"""Bit sets are spread in two halves, to keep the table small."""
_SPREAD = [sum(1 << 8 * cell for cell in range(_HALF) if half >> cell & 1) for half in range(1 << _HALF)]
"""half a set -> a number with one byte per cell."""

Levels = tuple[int, int, int, int]


def read_heights(heights: list[Any], where: str) -> bytes:
    """Read 25 heights in row order as bytes; BadState names a wrong one."""
    if set(map(type, heights)) == _INTEGER and _HEIGHTS.issuperset(heights):
        return bytes(heights)
    wrong = next(cell for cell, height in enumerate(heights) if not is_int(height, 0, DOME))
    raise BadState(f"{where} has {show(heights[wrong])} on {NAMES[wrong]}; a height is a whole number from 0 to {DOME}")


def height_bytes(levels: Levels) -> bytes:
    """25 heights in row order: spread each set to one byte per cell and add them up, to 4 at most."""
    low, high = 0, 0
    for level in levels:
        low += _SPREAD[level & (1 << _HALF) - 1]
        high += _SPREAD[level >> _HALF]
    return (low | high << 8 * _HALF).to_bytes(CELLS, "little")


def height_digits(levels: Levels) -> str:
    """25 digits in row order."""
    return "".join(map(str, height_bytes(levels)))


def height_rows(levels: Levels) -> str:
    """The heights in the one-line form, rows separated by slashes."""
    digits = height_digits(levels)
    return "/".join(digits[row : row + SIDE] for row in range(0, CELLS, SIDE))


def parse_height_rows(text: str) -> list[int]:
    """Read the 25 heights of the one-line form."""
    rows = text.split("/")
    if len(rows) != SIDE or any(len(row) != SIDE or not set(row) <= set("01234") for row in rows):
        raise BadState(f"the heights are five rows of five digits 0 to {DOME} separated by '/', not {show(text)}")
    return [int(digit) for row in rows for digit in row]


def parse_cells(text: str) -> list[str]:
    """Split a word like B2C3 into names of two characters, without further checks."""
    if len(text) % 2:
        raise BadState(f"{show(text)} is not a list of cells like B2C3")
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def parse_number(text: str, what: str) -> int:
    """Read a count in plain digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise BadState(f"{what} is a whole number, not {show(text)}")
    return int(text)


def draw(digits: str, workers: dict[int, str]) -> str:
    """The drawn table; ``workers``: cell -> the two characters of the worker on it."""
    marks = ["  "] * CELLS
    for cell, worker in workers.items():
        marks[cell] = worker
    return _TABLE % tuple(part for pair in zip(digits, marks, strict=True) for part in pair)


def _table() -> str:
    """The drawing with a place for the height and one for the worker of each cell."""
    header = "     " + "     ".join(COLUMNS)
    row, line = "│".join([" %s %s"] * SIDE), ["─────"] * SIDE
    rows = ("\n  ├" + "┼".join(line) + "┤\n").join(f"{letter} │{row}│ {letter}" for letter in ROWS)
    return "\n".join([header, "  ┌" + "┬".join(line) + "┐", rows, "  └" + "┴".join(line) + "┘", header])


_TABLE = _table()


# What a turn did, for people who learn the game


class TowerTurn(NamedTuple):
    """A step and its build; ``build`` is None where a winning step has none."""

    worker: int
    source: int
    to: int
    build: int | None


def winning_cells(game: Game, state: Any, ahead: int, to_of: Callable[[Any], int], heights: Sequence[int]) -> set[int]:
    """The cells of height 3 that a seat could step onto if it were to move; ``ahead``: how many turns from now."""
    states = game.encode_array(state)
    states["ply"] += ahead
    return {to for move in game.legal_moves_of(states) if heights[to := to_of(move)] == SUMMIT}


def explain_turn(
    who: str, other: str, turn: TowerTurn, heights: Sequence[int], threats: tuple[set[int], ...]
) -> list[Explanation]:
    """What a turn that does not end the game did.

    ``who`` has moved and ``other`` is next. ``heights`` are those before it. ``threats``: the cells onto which the next
    player could step and win, before and after the turn, and those of the player who has moved, after it.
    """
    assert turn.build is not None
    climb = heights[turn.to] - heights[turn.source]
    height, build = heights[turn.build] + 1, NAMES[turn.build]
    told = [_told_turn(who, turn, heights)]
    if climb > 0:
        told.append(Explanation("climb", f"{who} climbed: one step goes up by one level at most."))
    if climb < 0:
        told.append(Explanation("down", f"{who} stepped down, which is possible from any height."))
    if height == DOME:
        told.append(Explanation("dome", f"There is a dome on {build} now: nobody can step or build there any more."))
    if height == SUMMIT:
        told.append(Explanation("level 3", f"{build} is level 3 now: a step onto it from level 2 wins."))
    before, after, own = threats
    if before and not after:
        told.append(Explanation("stopped", f"{other} can no longer step onto {_names(before)} and win."))
    if after:
        text = f"{other} can step onto {_names(after)} now and win."
        if other == "You":
            text = "One of your workers can step up onto level 3 now and win. Find the step."
        told.append(Explanation("danger", text, momentary=True))
    elif own:
        key = "fork" if len(own) > 1 else "threat"
        text = f"{who} can step onto {_names(own)} next and win, if nobody prevents it."
        warning = text if who == "You" else f"Careful: {text[0].lower()}{text[1:]}"
        told.append(Explanation(key, warning, momentary=True))
    return told


def explain_end(who: str, other: str, turn: TowerTurn, heights: Sequence[int], climbed: bool) -> list[Explanation]:
    """What a turn that won the game did."""
    told = [_told_turn(who, turn, heights)]
    if climbed:
        return [*told, Explanation("win", f"{who} stepped up onto level 3 on {NAMES[turn.to]}: that wins the game.")]
    stuck = "You have" if other == "You" else f"{other} has"
    return [*told, Explanation("stuck", f"{stuck} no legal move left, and that loses the game.")]


def _told_turn(who: str, turn: TowerTurn, heights: Sequence[int]) -> Explanation:
    """The step and its build in a sentence."""
    step = f"{who} stepped with worker {turn.worker + 1} from {NAMES[turn.source]} to {NAMES[turn.to]}"
    if turn.build is None:
        return Explanation("turn", f"{step}.")
    height, build = heights[turn.build] + 1, NAMES[turn.build]
    result = f"built a dome on {build}" if height == DOME else f"raised {build} to level {height}"
    return Explanation("turn", f"{step} and {result}.")


def _names(cells: set[int]) -> str:
    return listing((NAMES[cell] for cell in sorted(cells)), "or")


# The full screen of the terminal

DOME_SIGN = "▟█▙"


def text_board(heights: list[int], workers: dict[int, tuple[str, int]], room: Room) -> TextBoard:
    """The board with its heights; ``workers``: cell -> what is drawn of the worker on it, and its seat."""
    squares = []
    for cell, height in enumerate(heights):
        if height == DOME:
            squares.append(Square(NAMES[cell], "4", tone=STONE, piece=DOME_SIGN))
        else:
            squares.append(height_square(NAMES[cell], height, STONE, *workers.get(cell, ("", None))))
    rows = [squares[row : row + SIDE] for row in range(0, CELLS, SIDE)]
    return draw_squares(rows, ROWS, COLUMNS, room)


def turn_picks(worker: str, to: str, build: str | None) -> list[Pick]:
    """The picks of a turn, given by the names of its cells: worker, step, build."""
    steps = [Pick(worker, "worker"), Pick(to, "step to" if build else "win on")]
    return [*steps, Pick(build, "build on")] if build else steps
