"""Pictures of Dots and Boxes."""

from ludodrome.envs.rendering import CELL, FAINT, INK, SEATS, Canvas
from ludodrome.game import Game
from ludodrome.games.dots.rules import board_edges
from ludodrome.jit import Array, Record


def paint(game: Game, record: Record) -> Array:
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
