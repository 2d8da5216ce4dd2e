"""How Santorini is shown: diagrams of the rules, pictures."""

from ludodrome.game import Game
from ludodrome.game_extras import Diagram
from ludodrome.jit import Array, Record
from ludodrome.painting import paint_workers

DIAGRAMS = (
    Diagram(7, "Pick a blue worker, a step, and where it builds.", "00000/02100/01020/00100/00000 C2B3 D3C4 6"),
    Diagram(12, "Three players: each for itself.", "00000/00100/01000/00010/00000 C3B3 D3B4 D2D4 0", {"players": 3}),
)


def paint(game: Game, record: Record) -> Array:
    """Cells by height, workers by seat, numbered from 1."""
    return paint_workers(game, record, 1)
