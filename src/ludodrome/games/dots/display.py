"""How Dots is shown: diagrams of the rules, chains and loops, pictures."""

from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Json
from ludodrome.games.dots.rules import board_edges
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, FAINT, INK, SEATS, Canvas

DIAGRAMS = (
    Diagram(
        "Goal",
        "You are Blue. Draw the fourth side of a box, and go on.",
        "2x3 111/010/101 1101/1001 .../... 0 0",
        {"rows": 2, "cols": 3},
    ),
    Diagram(
        "A few tips",
        "You are Blue, and a chain of four is open. Take two boxes, leave two: Orange has to open the other chain.",
        "2x4 1111/1111/1111 00001/00000 ..../.... 0 0",
        {"rows": 2, "cols": 4},
    ),
)


def chains(state: Any) -> list[Json]:
    """The chains and loops of a position: boxes with two open sides, joined through them."""
    rows, columns = state["rows"], state["cols"]
    ways: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for r in range(rows):
        for c in range(columns):
            sides = (
                (state["h"][r][c], (r - 1, c)),
                (state["h"][r + 1][c], (r + 1, c)),
                (state["v"][r][c], (r, c - 1)),
                (state["v"][r][c + 1], (r, c + 1)),
            )
            beyond = [box for drawn, box in sides if not drawn]
            if len(beyond) == 2:
                ways[r, c] = beyond
    found = []
    while ways:
        first = min(ways, key=lambda box: sum(one in ways for one in ways[box]))  # an end, if there is one
        chain, edge, inner = [first], 0, 0
        members = set(chain)
        while edge < len(chain):
            for box in ways[chain[edge]]:
                inner += box in ways
                if box in ways and box not in members:
                    members.add(box)
                    chain.append(box)
            edge += 1
        for box in chain:
            del ways[box]
        if len(chain) > 1:
            found.append({"boxes": [list(box) for box in chain], "loop": inner == 2 * len(chain)})
    return found


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
