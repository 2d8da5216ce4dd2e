"""Spaces on the page: diagrams of the rules, and rounds step by step."""

from typing import Any

from ludodrome.game_extras import Diagram, Json
from ludodrome.games.spaces.simulation import simulate

MAX_SIZE, MAX_ROUNDS = 10, 25
"""The largest grid, and the most rounds of a match, that the page shows."""
DIAGRAMS = (
    Diagram(17, "Lay a board: from the bottom row up to the goal.", "", {"size": 3, "rounds": 1}),
    Diagram(
        19,
        "The other board is in view, turned. Lay an answer and watch the round.",
        "rounds 3 written seen 1/1 3:1:u6uf -",
        {"size": 3, "rounds": 1},
    ),
)


def round_view(boards: list[Any], size: int, rules: str) -> Json:
    """A round, step by step, on the common grid."""
    played = simulate(boards[0], boards[1], size, rules)
    return {
        "points": played.points,
        "ended": played.ended,
        "steps": [
            {
                "squares": [list(square) for square in step.squares],
                "did": step.did,
                "traps": [None if trap is None else list(trap) for trap in step.traps],
                "points": step.points,
                "events": [{"seat": e.seat, "points": e.points, "reason": e.reason} for e in step.events],
            }
            for step in played.steps
        ],
    }
