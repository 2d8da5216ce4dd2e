"""Render positions: ``render_mode`` "ansi" for text, "rgb_array" for pictures, painted with NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludodrome.game import Cell, Game
from ludodrome.games.dots.rules import board_edges
from ludodrome.games.spaces import encode_board
from ludodrome.games.spaces.boards import steps_of
from ludodrome.jit import Array, Record
from ludodrome.validation import listing, show

MODES = ("ansi", "rgb_array")

Colour = tuple[int, int, int]

CELL = 32
"""Pixels of a cell's side."""
PAPER, INK, FAINT = (250, 248, 242), (40, 40, 46), (205, 200, 190)
SEATS = ((52, 101, 164), (204, 82, 41), (84, 138, 62))
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


def check_render_mode(mode: str | None) -> str | None:
    """Return a valid render mode or None. Raises ValueError otherwise."""
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(mode)}")
    return mode


def frame(game: Game, record: Record, mode: str) -> Any:
    """A position as text, or as a picture [height, width, 3] uint8."""
    if mode == "ansi":
        return text(game, record)
    return _PAINTERS.get(game.id, paint_cells)(game, record)


def text(game: Game, record: Record) -> str:
    """The drawing of the terminal; in spaces also the board being built."""
    drawing = game.codec.render(record)
    if game.id != "spaces":
        return drawing
    steps = game.prefix(record)  # type: ignore[attr-defined]
    if not steps:
        return drawing
    board = {"boardSize": game.options["size"], "sequence": steps}
    return f"{drawing}\nbuilding: {encode_board(board)}"


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


def _middle(cell: int) -> int:
    return cell * CELL + CELL // 2


def _ground(heights: list[int], side: int) -> Canvas:
    """A board with its cells coloured by height."""
    canvas = Canvas(side * CELL, side * CELL, INK)
    for cell, height in enumerate(heights):
        canvas.box(cell // side * CELL + 1, cell % side * CELL + 1, CELL - 2, CELL - 2, HEIGHTS[height])
    return canvas


def _heights(levels: Any, cells: int) -> list[int]:
    return [sum(int(level) >> cell & 1 for level in levels) for cell in range(cells)]


def paint_towers(game: Game, record: Record) -> Array:
    """Skysummit and santorini: cells by height, numbered workers by seat."""
    canvas = _ground(_heights(record["levels"], 25), 5)
    first = 0 if game.id == "skysummit" else 1
    for seat in range(game.seats):
        for number, cell in enumerate(record["workers"][seat].tolist()):
            if cell < 25:
                row, column = _middle(cell // 5), _middle(cell % 5)
                canvas.disc(row, column, CELL * 3 // 8, SEATS[seat])
                canvas.write(row, column, str(number + first), PAPER)
    return canvas.pixels


def paint_caldera(game: Game, record: Record) -> Array:
    """Cells by height, dark vents, lettered pieces by seat."""
    canvas = _ground(_heights(record["levels"], 49), 7)
    for seat in range(game.seats):
        for letter, cell in zip("CLLSS", record["cells"][seat].tolist(), strict=True):
            if cell < 49:
                row, column = _middle(cell // 7), _middle(cell % 7)
                canvas.disc(row, column, CELL * 3 // 8, SEATS[seat])
                canvas.write(row, column, letter, PAPER)
    return canvas.pixels


def paint_dots(game: Game, record: Record) -> Array:
    """Dots, drawn edges, boxes by owner."""
    rows, cols = game.options["rows"], game.options["cols"]
    canvas = Canvas((rows + 1) * CELL, (cols + 1) * CELL)
    half = CELL // 2
    for seat, boxes in enumerate(record["boxes"].tolist()):
        for box in range(rows * cols):
            if boxes >> box & 1:
                top, left = box // cols * CELL + half, box % cols * CELL + half
                canvas.box(top + 4, left + 4, CELL - 8, CELL - 8, SEATS[seat])
    for edge, (way, r, c) in enumerate(board_edges(rows, cols)):
        colour = INK if int(record["edges"]) >> edge & 1 else FAINT
        top, left = r * CELL + half, c * CELL + half
        if way == "H":
            canvas.box(top - 1, left, 3, CELL, colour)
        else:
            canvas.box(top, left - 1, CELL, 3, colour)
    for r in range(rows + 1):
        for c in range(cols + 1):
            canvas.disc(r * CELL + half, c * CELL + half, 4, INK)
    return canvas.pixels


def paint_spaces(game: Game, record: Record) -> Array:
    """Both boards of this round or the last one, each as its owner sees it."""
    deck = game.options["mode"] == "deck"
    slots = [_slot(record, seat, deck) for seat in range(2)]
    boards = [record["boards"][slot, : int(record["lengths"][slot])].tobytes() for slot in slots]
    return paint_boards(boards, game.options["size"])


def paint_boards(boards: list[bytes], size: int) -> Array:
    """Boards, given as actions, side by side: pieces as discs and traps as squares, numbered by step."""
    cell = CELL if size <= 10 else 8
    canvas = Canvas((size + 1) * cell, (len(boards) * (size + 1) - 1) * cell)
    for place, actions in enumerate(boards):
        left = place * (size + 1) * cell
        for square in range(size * size):
            canvas.box((square // size + 1) * cell, left + square % size * cell, cell - 1, cell - 1, HEIGHTS[0])
        for number, (row, col, kind) in enumerate(steps_of(actions, size), 1):
            top, at = (row + 1) * cell, left + col * cell
            if kind == "trap":
                canvas.box(top + cell // 8, at + cell // 8, cell * 3 // 4, cell * 3 // 4, INK)
            else:
                canvas.disc(top + cell // 2, at + cell // 2, cell * 3 // 8, SEATS[place % len(SEATS)])
            if cell == CELL:
                canvas.write(top + cell // 2, at + cell // 2, str(number), PAPER)
    return canvas.pixels


def _slot(record: Record, seat: int, deck: bool) -> int:
    """The index of a seat's board to show."""
    laid = int(record["laid"])
    if deck:
        return seat * 10 + min(max(laid - seat * 10, 0), 9)
    now = laid // 2 * 2
    if now + 1 >= len(record["lengths"]) or not record["lengths"][now : now + 2].any():
        now = max(now - 2, 0)
    return now + seat


def paint_cells(game: Game, record: Record) -> Array:
    """Any other game: its cells, with discs in the seats' colours; one empty cell if it has none."""
    rows = game.cells(game.decode(record)) or [[Cell("")]]
    canvas = Canvas(len(rows) * CELL, max(map(len, rows)) * CELL, INK)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            canvas.box(row * CELL + 1, column * CELL + 1, CELL - 2, CELL - 2, HEIGHTS[0])
            if cell.seat is not None:
                canvas.disc(_middle(row), _middle(column), CELL * 3 // 8, SEATS[cell.seat % len(SEATS)])
    return canvas.pixels


_PAINTERS: dict[str, Callable[[Game, Record], Array]] = {
    "caldera": paint_caldera,
    "dots": paint_dots,
    "santorini": paint_towers,
    "skysummit": paint_towers,
    "spaces": paint_spaces,
}
