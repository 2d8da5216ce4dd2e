"""How Caldera is shown: diagrams of the rules, the eruptions that a forge sets off, pictures."""

from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Json
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, PAPER, SEATS, ground, heights, middle

DIAGRAMS = (
    Diagram(
        "Goal",
        "You are Blue. Pick the smith on 32, choose Forge and then 22: the whole chain is shown before you confirm.",
        "0001000/0023000/0033200/0020000/0000000/0000000/0000000 c63l24s32 c12l23l03s05 40",
    ),
    Diagram("Setup", "The start: crown in the middle, a smith at each side, then the lancers.", "", still=True),
    Diagram(
        "Your turn",
        "Pick a lancer: it leaps. Pick a smith: it steps, or forges.",
        "0000000/0000000/0000000/0001000/0000000/0000000/0000000 c63l61l54s62s64 c03l01l05s02s04 8",
    ),
)


def eruptions(game: Game, states: Any, legal: Sequence[Any]) -> list[Json]:
    """The forges that set off an eruption, with the cells that erupt and the cells of the pieces that are lost."""
    found = []
    state = game.decode(states[0])
    for move in legal:
        row, column = move.get("target", (0, 0))
        if move["action"] != "forge" or state["board"][row][column] != 3:
            continue
        forged = states.copy()
        game.apply_to(forged, move)
        after = game.decode(forged[0])["board"]
        cells = [
            [r, c] for r in range(len(after)) for c in range(len(after)) if after[r][c] < 0 <= state["board"][r][c]
        ]
        lost = [[piece["r"], piece["c"]] for side in ("p0", "p1") for piece in state[side]]
        found.append({"move": move, "cells": cells, "lost": [cell for cell in lost if cell in cells]})
    return found


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
