"""How Spaces is shown: diagrams of the rules, rounds step by step, pictures."""

from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Json
from ludodrome.games.spaces.boards import HIDDEN_TRAP, actions_of, read_board, steps_of
from ludodrome.games.spaces.fog import is_in_fog, read_in_fog, seat_steps
from ludodrome.games.spaces.rounds import COLLISION, ENDED
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


def entry_view(entry: Json, size: int, rules: str) -> Json:
    """A round of the history, step by step; of an observation it may be in fog."""
    return fog_view(entry, size) if "steps" in entry else round_view(entry["boards"], size, rules)


def fog_view(entry: Json, size: int) -> Json:
    """A round in fog: as ``round_view``, with a ``trap`` of null where its place is not seen."""
    boards = [
        read_in_fog(board, size, "a board") if is_in_fog(board) else actions_of(read_board(board, size), size) or b""
        for board in entry["boards"]
    ]
    sides = [seat_steps(board, entry["steps"][seat], seat, size) for seat, board in enumerate(boards)]
    points, steps = [0, 0], []
    last = max(entry["steps"]) - 1
    for k in range(last + 1):
        now = [side[k] if k < len(side) else None for side in sides]
        squares = [side[min(k, len(side) - 1)].square for side in sides]
        events = []
        for seat, one in enumerate(now):
            if one is not None and one.gained:
                points[seat] += 1
                what = "reaches the goal" if one.did == "finish" else f"moves forward to row {one.square[0]}"
                events.append({"seat": seat, "points": 1, "reason": f"seat {seat} {what}: +1"})
        for seat, side in enumerate(sides):
            ends = k == last
            left = entry["points"][seat] if ends else max(0, points[seat] - (k == len(side) - 1))
            if left < points[seat]:
                collides = ends and entry["ended"] == ENDED[COLLISION]
                row, col = squares[seat]
                what = f"collides with seat {1 - seat} on" if collides else f"is hit by a trap of seat {1 - seat} at"
                lost = left - points[seat]
                events.append({"seat": seat, "points": lost, "reason": f"seat {seat} {what} ({row},{col}): {lost}"})
                points[seat] = left
        steps.append(
            {
                "squares": [list(square) for square in squares],
                "did": ["stopped" if one is None else one.did for one in now],
                "traps": [None if one is None or one.trap is None else list(one.trap) for one in now],
                "points": points.copy(),
                "events": events,
            }
        )
    return {"points": entry["points"], "ended": entry["ended"], "steps": steps, "fog": True}


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
            if actions[number - 1] == size + HIDDEN_TRAP:
                continue
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
