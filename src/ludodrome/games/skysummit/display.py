"""How Skysummit is shown: diagrams of the rules, pictures."""

from ludodrome.game import Game
from ludodrome.game_extras import Diagram
from ludodrome.jit import Array, Record
from ludodrome.painting import paint_workers

DIAGRAMS = (
    Diagram(
        7,
        "Pick a blue worker: the dots are its steps. B2 is too high for it.",
        "00000/02000/01100/00100/00000 C2D4 B4E2 6",
    ),
    Diagram(8, "One step wins. Which?", "00000/03200/00111/00000/00000 B3E5 C4D2 8"),
)


def paint(game: Game, record: Record) -> Array:
    """Cells by height, workers by seat, numbered from 0."""
    return paint_workers(game, record, 0)
