"""Santorini by the book: a slow and plain second reading of the rules, to compare the engine with.

It is written from RULES.md alone and speaks of squares by their names. Heights are a dict from square to
number, workers are a dict from name ("N1") to square, and what is occupied is a set.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

State: TypeAlias = dict[str, Any]
Options: TypeAlias = dict[str, Any]

ROWS = "ABCDE"
COLUMNS = "12345"
SQUARES = [row + column for row in ROWS for column in COLUMNS]
LETTERS = "NWG"  # R1: Navy, White, Grey
DOME = 4  # R2

START = {
    2: [["C2", "B3"], ["D3", "C4"]],  # R3
    3: [["C3", "B3"], ["D3", "B4"], ["D2", "D4"]],  # R4
}


def _adjacent(one: str, other: str) -> bool:
    """R7, R8: side by side or corner to corner, and not the same square."""
    return one != other and all(abs(ord(a) - ord(b)) <= 1 for a, b in zip(one, other, strict=True))


# In the order of SQUARES, which is that of the squares' indices.
NEIGHBOURS = {square: [other for other in SQUARES if _adjacent(square, other)] for square in SQUARES}


class Position(NamedTuple):
    """What lies on the table, and how many turns have been made."""

    players: int
    ply: int
    heights: dict[str, int]
    workers: dict[str, str]

    @property
    def next_seat(self) -> int:
        """R5: the seat whose turn it is, or would be if the game were not over."""
        return self.ply % self.players

    @property
    def last_seat(self) -> int:
        """R13: the seat that has just moved."""
        return (self.ply - 1) % self.players


def _read(state: State) -> Position:
    """The position that a JSON state describes."""
    heights = [height for row in state["board"] for height in row]
    workers = {
        f"{letter}{number}": square
        for letter, pair in zip(LETTERS, state["workers"], strict=False)
        for number, square in enumerate(pair, start=1)
    }
    return Position(state["players"], state["ply"], dict(zip(SQUARES, heights, strict=True)), workers)


def _write(position: Position) -> State:
    """The JSON state of a position, with what follows from it."""
    winner, reason = _verdict(position)
    return {
        "players": position.players,
        "ply": position.ply,
        "to_move": position.next_seat if winner is None else None,
        "board": [[position.heights[row + column] for column in COLUMNS] for row in ROWS],
        "workers": [[position.workers[letter + n] for n in "12"] for letter in LETTERS[: position.players]],
        "winner": winner,
        "reason": reason,
    }


def _steps(position: Position, worker: str) -> Iterator[str]:
    """R7, R9: the squares that a worker may step to, in order."""
    origin = position.workers[worker]
    occupied = set(position.workers.values())
    for square in NEIGHBOURS[origin]:
        height = position.heights[square]
        if square not in occupied and height != DOME and height <= position.heights[origin] + 1:
            yield square


def _builds(position: Position, worker: str, destination: str) -> Iterator[str]:
    """R8, R9: the squares that a worker may raise once it has stepped to its destination, in order."""
    occupied = {square for name, square in position.workers.items() if name != worker} | {destination}
    for square in NEIGHBOURS[destination]:
        if square not in occupied and position.heights[square] != DOME:
            yield square


def _turns(position: Position) -> Iterator[str]:
    """R6: the turns of the next seat by worker, destination and build, climbing aside."""
    for number in "12":
        worker = LETTERS[position.next_seat] + number
        for destination in _steps(position, worker):
            for site in _builds(position, worker, destination):
                yield f"[{worker}{position.workers[worker]}{destination}{site}]"


def _climbed(position: Position) -> bool:
    """R10: a worker stands on height 3. It got there by the last turn, since that ends the game."""
    return any(position.heights[square] == 3 for square in position.workers.values())


def _blocked(position: Position) -> bool:
    """R11, R12: the next seat, and only that one is looked at, has no turn."""
    return next(_turns(position), None) is None


def _verdict(position: Position) -> tuple[int | None, str]:
    """R10 to R14: the winner and the reason. Climbing is looked at first, and the last mover wins either way."""
    if _climbed(position):
        return position.last_seat, "reached level 3"
    if _blocked(position):
        return position.last_seat, "no legal moves"
    return None, ""


def initial(options: Options, nonce: int | None = None) -> State:
    """R1 to R5: the start, which is the same for every nonce."""
    players = options["players"]
    bare = [[0] * len(COLUMNS) for _ in ROWS]
    return _write(_read({"players": players, "ply": 0, "board": bare, "workers": START[players]}))


def legal(state: State, options: Options) -> list[str]:
    """R6, R13: the texts of all legal moves in the documented order; none when the game is over."""
    position = _read(state)
    return [] if _climbed(position) else list(_turns(position))


def to_move(state: State, options: Options) -> int | None:
    """R5, R13: the seat to move, None when the game is over."""
    position = _read(state)
    winner, _ = _verdict(position)
    return position.next_seat if winner is None else None


def apply(state: State, move: str, options: Options) -> State:
    """R6 to R8, R10: step, then build, also when the step wins; the state given stays as it is."""
    assert move in legal(state, options), move
    position = _read(state)
    worker, destination, site = move[1:3], move[5:7], move[7:9]
    heights = position.heights | {site: position.heights[site] + 1}
    workers = position.workers | {worker: destination}
    return _write(Position(position.players, position.ply + 1, heights, workers))


def outcome(state: State, options: Options) -> dict[str, Any] | None:
    """R10 to R14: who has won and why, with scores and returns by seat; None while the game runs."""
    position = _read(state)
    winner, reason = _verdict(position)
    if winner is None:
        return None
    loss = {2: -1, 3: -0.5}[position.players]
    seats = range(position.players)
    return {
        "winner": winner,
        "scores": [1 if seat == winner else 0 for seat in seats],
        "returns": [1 if seat == winner else loss for seat in seats],
        "reason": reason,
    }


def draw(state: State) -> str:
    """The drawing of the page: heights and workers in a table, and nothing else."""
    position = _read(state)
    standing = {square: worker for worker, square in position.workers.items()}

    def rule(left: str, middle: str, right: str) -> str:
        return "  " + left + middle.join("─" * 5 for _ in COLUMNS) + right

    def line(row: str) -> str:
        squares = [row + column for column in COLUMNS]
        cells = [f" {position.heights[square]} {standing.get(square, ''):2}" for square in squares]
        return f"{row} │{'│'.join(cells)}│ {row}"

    legend = "".join(f"     {column}" for column in COLUMNS)
    body = f"\n{rule('├', '┼', '┤')}\n".join(line(row) for row in ROWS)
    return "\n".join([legend, rule("┌", "┬", "┐"), body, rule("└", "┴", "┘"), legend])
