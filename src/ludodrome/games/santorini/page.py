"""Santorini on the page: diagrams of the rules."""

from ludodrome.game_extras import Diagram

DIAGRAMS = (
    Diagram(7, "Pick a blue worker, a step, and where it builds.", "00000/02100/01020/00100/00000 C2B3 D3C4 6"),
    Diagram(12, "Three players: each for itself.", "00000/00100/01000/00010/00000 C3B3 D3B4 D2D4 0", {"players": 3}),
)
