"""Skysummit on the page: diagrams of the rules."""

from ludodrome.game_extras import Diagram

DIAGRAMS = (
    Diagram(
        7,
        "Pick a blue worker: the dots are its steps. B2 is too high for it.",
        "00000/02000/01100/00100/00000 C2D4 B4E2 6",
    ),
    Diagram(8, "One step wins. Which?", "00000/03200/00111/00000/00000 B3E5 C4D2 8"),
)
