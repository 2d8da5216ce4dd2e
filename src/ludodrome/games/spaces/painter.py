"""Pictures of boards of spaces."""

from ludodrome.envs.rendering import CELL, HEIGHTS, INK, PAPER, SEATS, Canvas
from ludodrome.game import Game
from ludodrome.games.spaces.boards import steps_of
from ludodrome.jit import Array, Record


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
