"""How Spaces is shown: diagrams of the rules, rounds step by step, pictures."""

from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Json
from ludodrome.games.spaces.boards import steps_of
from ludodrome.games.spaces.simulation import simulate
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, HEIGHTS, INK, PAPER, SEATS, Canvas

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


def paint(game: Game, record: Record) -> Array:
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
