"""Pictures of Caldera."""

from ludodrome.envs.rendering import CELL, PAPER, SEATS, ground, heights, middle
from ludodrome.game import Game
from ludodrome.jit import Array, Record


def paint(game: Game, record: Record) -> Array:
    """Cells by height, dark vents, lettered pieces by seat."""
    canvas = ground(heights(record["levels"], 49), 7)
    for seat in range(game.seats):
        for letter, cell in zip("CLLSS", record["cells"][seat].tolist(), strict=True):
            if cell < 49:
                row, column = middle(cell // 7), middle(cell % 7)
                canvas.disc(row, column, CELL * 3 // 8, SEATS[seat])
                canvas.write(row, column, letter, PAPER)
    return canvas.pixels
