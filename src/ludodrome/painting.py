"""Paint boards with NumPy: a canvas, the colours of seats and heights, and boards that several games share."""

from typing import Any

import numpy as np

from ludodrome.game import Cell, Game
from ludodrome.jit import Array, Record

Colour = tuple[int, int, int]

CELL = 32
"""Pixels of a cell's side."""
PAPER, INK, FAINT = (250, 248, 242), (40, 40, 46), (205, 200, 190)
SEATS = ((52, 101, 164), (204, 82, 41), (84, 138, 62))
PIECES: dict[str, tuple[Colour, Colour]] = {
    "navy": ((31, 58, 110), PAPER),
    "white": ((255, 255, 255), INK),
    "grey": ((141, 148, 156), INK),
}
"""The colours of pieces that are not ``SEATS``: of the piece, and of what is written on it."""
HEIGHTS = ((232, 226, 212), (206, 196, 170), (172, 158, 126), (128, 114, 88), (58, 54, 60))

# Glyphs of 3 columns x 5 rows, a bit for each pixel, from the top.
_FONT = {
    "0": 0b111101101101111,
    "1": 0b010110010010111,
    "2": 0b111001111100111,
    "3": 0b111001111001111,
    "4": 0b101101111001001,
    "5": 0b111100111001111,
    "6": 0b111100111101111,
    "7": 0b111001001001001,
    "8": 0b111101111101111,
    "9": 0b111101111001111,
    "C": 0b111100100100111,
    "L": 0b100100100100111,
    "S": 0b111100111001111,
}


class Canvas:
    """A picture, [height, width, 3] uint8; coordinates are pixels from the top and the left."""

    def __init__(self, height: int, width: int, colour: Colour = PAPER) -> None:
        self.pixels: Array = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = colour

    def box(self, top: int, left: int, height: int, width: int, colour: Colour) -> None:
        """A filled rectangle."""
        self.pixels[top : top + height, left : left + width] = colour

    def disc(self, row: int, column: int, radius: int, colour: Colour) -> None:
        """A filled circle."""
        height, width = self.pixels.shape[:2]
        down, right = np.ogrid[:height, :width]
        self.pixels[(down - row) ** 2 + (right - column) ** 2 <= radius * radius] = colour

    def write(self, row: int, column: int, words: str, colour: Colour, scale: int = 2) -> None:
        """Text, centred."""
        left = column - (4 * len(words) - 1) * scale // 2
        for place, sign in enumerate(words):
            for bit in range(15):
                if _FONT[sign] >> (14 - bit) & 1:
                    top = row + (bit // 3 - 2) * scale - scale // 2
                    self.box(top, left + (4 * place + bit % 3) * scale, scale, scale, colour)


def middle(cell: int) -> int:
    """The pixel in the middle of a cell, by its row or column."""
    return cell * CELL + CELL // 2


def ground(levels: list[int], side: int) -> Canvas:
    """A board with its cells coloured by height."""
    canvas = Canvas(side * CELL, side * CELL, INK)
    for cell, height in enumerate(levels):
        canvas.box(cell // side * CELL + 1, cell % side * CELL + 1, CELL - 2, CELL - 2, HEIGHTS[height])
    return canvas


def heights(levels: Any, cells: int) -> list[int]:
    """The height of each cell from bit sets of levels."""
    return [sum(int(level) >> cell & 1 for level in levels) for cell in range(cells)]


def paint_workers(game: Game, record: Record) -> Array:
    """A 5 x 5 tower board: cells by height, workers by seat, numbered from 1."""
    canvas = ground(heights(record["levels"], 25), 5)
    for seat in range(game.seats):
        for number, cell in enumerate(record["workers"][seat].tolist()):
            if cell < 25:
                row, column = middle(cell // 5), middle(cell % 5)
                fill, on = PIECES.get(game.seat_colours[seat], (SEATS[seat], PAPER))
                canvas.disc(row, column, CELL * 3 // 8 + 1, on)
                canvas.disc(row, column, CELL * 3 // 8, fill)
                canvas.write(row, column, str(number + 1), on)
    return canvas.pixels


def paint_cells(game: Game, record: Record) -> Array:
    """Any other game: its cells, with discs in the seats' colours; one empty cell if it has none."""
    rows = game.cells(game.decode(record)) or [[Cell("")]]
    canvas = Canvas(len(rows) * CELL, max(map(len, rows)) * CELL, INK)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            canvas.box(row * CELL + 1, column * CELL + 1, CELL - 2, CELL - 2, HEIGHTS[0])
            if cell.seat is not None:
                canvas.disc(middle(row), middle(column), CELL * 3 // 8, SEATS[cell.seat % len(SEATS)])
    return canvas.pixels
