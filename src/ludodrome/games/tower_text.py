"""The 5 x 5 tower board as people and JSON write it: cell names, height digits, the drawn table.

Shared by the codecs of the two tower games. Kernels are in ``towers.py``.
"""

from typing import Any

from ludodrome.game import BadState
from ludodrome.games.towers import CELLS, DOME, SIDE
from ludodrome.validation import is_int, show

ROWS = "ABCDE"
COLUMNS = "12345"
NAMES = [row + column for row in ROWS for column in COLUMNS]
"""cell -> name; cell 0 is A1, cell 7 is B3."""
CELL = {name: cell for cell, name in enumerate(NAMES)}

_INTEGER = {int}
_HEIGHTS = frozenset(range(DOME + 1))
_HALF = 13
"""The bit sets of the board are spread in two halves: the table stays small."""
_SPREAD = [sum(1 << 8 * cell for cell in range(_HALF) if half >> cell & 1) for half in range(1 << _HALF)]
"""half a set -> a number with one byte a cell."""

Levels = tuple[int, int, int, int]


def read_heights(heights: list[Any], where: str) -> bytes:
    """25 heights in row order as bytes; BadState names the one that is wrong."""
    if set(map(type, heights)) == _INTEGER and _HEIGHTS.issuperset(heights):
        return bytes(heights)
    wrong = next(cell for cell, height in enumerate(heights) if not is_int(height, 0, DOME))
    raise BadState(f"{where} has {show(heights[wrong])} on {NAMES[wrong]}; a height is a whole number from 0 to {DOME}")


def height_bytes(levels: Levels) -> bytes:
    """25 heights in row order. The sets are spread to a byte a cell, and the bytes add up: 4 is the most."""
    low, high = 0, 0
    for level in levels:
        low += _SPREAD[level & (1 << _HALF) - 1]
        high += _SPREAD[level >> _HALF]
    return (low | high << 8 * _HALF).to_bytes(CELLS, "little")


def height_digits(levels: Levels) -> str:
    """25 digits in row order."""
    return "".join(map(str, height_bytes(levels)))


def height_rows(levels: Levels) -> str:
    """The heights as the one-line form has them, rows parted by strokes."""
    digits = height_digits(levels)
    return "/".join(digits[row : row + SIDE] for row in range(0, CELLS, SIDE))


def parse_height_rows(text: str) -> list[int]:
    """The 25 heights of the one-line form."""
    rows = text.split("/")
    if len(rows) != SIDE or any(len(row) != SIDE or not set(row) <= set("01234") for row in rows):
        raise BadState(f"the heights are five rows of five digits 0 to {DOME} parted by '/', not {show(text)}")
    return [int(digit) for row in rows for digit in row]


def parse_cells(text: str) -> list[str]:
    """The names in a word like B2C3, two characters each; not checked further."""
    if len(text) % 2:
        raise BadState(f"{show(text)} is no list of cells like B2C3")
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def parse_number(text: str, what: str) -> int:
    """A count in plain digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise BadState(f"{what} is a whole number, not {show(text)}")
    return int(text)


def draw(digits: str, marks: dict[int, str]) -> str:
    """The table; marks: cell -> the two characters of the worker on it."""
    header = "     " + "     ".join(COLUMNS)
    lines = [header, "  ┌" + "┬".join(["─────"] * SIDE) + "┐"]
    for row, letter in enumerate(ROWS):
        if row:
            lines.append("  ├" + "┼".join(["─────"] * SIDE) + "┤")
        cells = range(row * SIDE, row * SIDE + SIDE)
        lines.append(
            f"{letter} │" + "│".join(f" {digits[cell]} {marks.get(cell, '  ')}" for cell in cells) + f"│ {letter}"
        )
    return "\n".join([*lines, "  └" + "┴".join(["─────"] * SIDE) + "┘", header])
