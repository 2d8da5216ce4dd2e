"""Boards as text for the full screen of the terminal: places for the cursor, what is drawn, how moves are picked.

A game draws a ``TextBoard`` and maps every legal move to the places that are picked for it, one after the other: a
worker, its step, its build. ``MovePicker`` narrows the legal moves pick by pick and knows nothing of the game.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ludodrome.game import Cell, Game

Room = tuple[int, int]
"""Columns and lines that a drawing may use."""

SIZES = ((11, 5), (9, 3), (7, 3), (9, 2), (7, 2), (7, 1), (5, 1))
"""Widths and heights of a square, the largest first; the first that fits is used."""
MARGIN = 3
"""Columns left of the grid, for the names of the rows."""
BLOCKS = " ▂▄▆█"
"""A square of height 0 to 4."""
DIM, STONE, HOT, VENT, BOLD = "dim", "stone", "hot", "vent", "bold"
"""Tones of text that belongs to no seat."""


class Place(NamedTuple):
    """A rectangle of the drawing that the cursor can be on."""

    name: str
    row: int
    column: int
    height: int
    width: int


class Ink(NamedTuple):
    """A text at a point of the drawing, in the colour of a seat or in a tone."""

    row: int
    column: int
    text: str
    seat: int | None = None
    tone: str = ""


class TextBoard(NamedTuple):
    """A drawn position."""

    width: int
    height: int
    places: tuple[Place, ...]
    inks: tuple[Ink, ...]

    def place_at(self, column: int, row: int) -> str | None:
        """The place at a point: the smallest that contains it, or one a step beside it."""
        for reach in (0, 1):
            near = [
                place
                for place in self.places
                if place.row - reach <= row < place.row + place.height + reach
                and place.column - reach <= column < place.column + place.width + reach
            ]
            if near:
                return min(near, key=lambda place: place.height * place.width).name
        return None

    def beside(self, name: str, down: int, right: int) -> str:
        """The nearest place in a direction; the same place if there is none.

        Of two that are as near, the choice depends on the shape of this one: among edges, which lie between each other,
        the same arrow then goes on in a straight zigzag.
        """
        middles = {
            place.name: (place.row * 4 + place.height * 2, place.column * 2 + place.width) for place in self.places
        }
        here = next(place for place in self.places if place.name == name)
        (row, column), bias = middles[name], 0.01 if here.width > 2 * here.height + 1 else -0.01

        def distance(other: str) -> float:
            below, beside = middles[other][0] - row, middles[other][1] - column
            ahead, aside = below * down + beside * right, below * abs(right) + beside * abs(down)
            if ahead <= 0 or abs(aside) > 3 * ahead:
                return float("inf")
            return ahead + 0.4 * abs(aside) + bias * aside * (1 if down else -1)

        best = min(middles, key=distance)
        return best if distance(best) < float("inf") else name


# Grids of squares


class Square(NamedTuple):
    """One square of a grid: its ground, and the piece on it."""

    name: str
    ground: str = ""
    """A character or two, like the height."""
    block: str = ""
    """The ground as a picture: a character that fills the square's width."""
    tone: str = ""
    piece: str = ""
    seat: int | None = None


def height_square(name: str, height: int, tone: str = STONE, piece: str = "", seat: int | None = None) -> Square:
    """A square of a height from 0 to 3, with a piece on it."""
    return Square(name, str(height) if height else "", BLOCKS[height], tone, piece, seat)


def draw_squares(
    squares: Sequence[Sequence[Square]], rows: Sequence[str], columns: Sequence[str], room: Room
) -> TextBoard:
    """A grid with the names of its rows and columns, as large as there is room for."""
    down, across = len(squares), max(map(len, squares))
    width, height = next(
        (
            size
            for size in SIZES
            if across * (size[0] + 1) + 1 + MARGIN <= room[0] and down * (size[1] + 1) + 2 <= room[1]
        ),
        SIZES[-1],
    )
    inks = [
        Ink(0, MARGIN + 1 + c * (width + 1), name.center(width).rstrip(), tone=DIM) for c, name in enumerate(columns)
    ]
    places = []
    for r, line in enumerate(squares):
        top = 2 + r * (height + 1)
        ends = "┌┬┐" if r == 0 else "├┼┤"
        inks.append(Ink(top - 1, MARGIN, ends[0] + ends[1].join(["─" * width] * across) + ends[2], tone=DIM))
        if rows:
            inks.append(Ink(top + (height - 1) // 2, 1, rows[r], tone=DIM))
        for c in range(across + 1):
            inks += [Ink(top + one, MARGIN + c * (width + 1), "│", tone=DIM) for one in range(height)]
        for c, square in enumerate(line):
            left = MARGIN + 1 + c * (width + 1)
            places.append(Place(square.name, top, left, height, width))
            inks += _in_square(square, top, left, height, width - 2)
    bottom = 1 + down * (height + 1)
    inks.append(Ink(bottom, MARGIN, "└" + "┴".join(["─" * width] * across) + "┘", tone=DIM))
    return TextBoard(MARGIN + 1 + across * (width + 1), bottom + 1, tuple(places), tuple(inks))


def _in_square(square: Square, top: int, left: int, height: int, inner: int) -> Iterable[Ink]:
    """The content of a square: on one line the ground and the piece, on more lines the piece above the ground."""
    piece = square.piece[-inner:] if not square.ground or height > 1 else square.piece[-(inner - 1) :]
    tone = BOLD if square.seat is None else ""
    if height == 1:
        yield Ink(top, left + 1, square.ground, tone=square.tone)
        yield Ink(
            top,
            left + 1 + inner - len(piece) - (inner - len(piece) - len(square.ground)) // 2,
            piece,
            square.seat,
            tone,
        )
        return
    yield Ink(top + (height - 1) // 2, left + 1 + (inner - len(piece)) // 2, piece, square.seat, tone)
    ground = (
        square.block.strip() * (inner - 2) + square.ground.rjust(2)
        if square.block.strip()
        else square.ground.rjust(inner)
    )
    yield Ink(top + height - 1, left + 1, ground, tone=square.tone)


def draw_cells(cells: Sequence[Sequence[Cell]], room: Room) -> TextBoard:
    """The cells of a game without a drawing of its own, each with its name."""
    squares = [
        [Square(cell.name, cell.name[-3:], tone=DIM, piece=cell.sign, seat=cell.seat) for cell in row] for row in cells
    ]
    return draw_squares(squares, (), (), room)


# Picking a move


class Pick(NamedTuple):
    """A place that is picked, and in a word what happens there."""

    place: str
    action: str = ""

    def __str__(self) -> str:
        return f"{self.action} {self.place}".strip()


class PickWarning(NamedTuple):
    """What picks would bring about besides the move itself."""

    places: tuple[str, ...]
    note: str


class MovePicker:
    """The legal moves of a position, narrowed pick by pick."""

    def __init__(self, game: Game, state: Any, moves: Sequence[Any]) -> None:
        self._ways = [(tuple(way), move) for move in moves for way in game.move_picks(move, state)]
        self.picked: tuple[Pick, ...] = ()

    def choices(self) -> Mapping[str, list[Pick]]:
        """The places that can be picked next, each with its picks: several if it can be picked for several things."""
        at = len(self.picked)
        found: dict[str, list[Pick]] = {}
        for way, _ in self._ways:
            if len(way) > at and way[:at] == self.picked and way[at] not in found.setdefault(way[at].place, []):
                found[way[at].place].append(way[at])
        return found

    def pick(self, pick: Pick) -> Any | None:
        """Pick a place, one of the choices; return the move if that makes one."""
        self.picked = (*self.picked, pick)
        return next((move for way, move in self._ways if way == self.picked), None)

    def back(self) -> bool:
        """Take the last pick back; whether there was one."""
        had = bool(self.picked)
        self.picked = self.picked[:-1]
        return had
