"""Caldera by the book: a slow, plain reading of RULES.md to test the real engine against.

A cell is a tuple (row, column), the ground a dict from cell to height that simply lacks the vents.
An eruption is played through cell by cell (R12), not computed as the closure of R13, so that the
two can be compared. The R-numbers are those of RULES.md.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

State = dict[str, Any]
Move = dict[str, Any]
Options = dict[str, Any]
Piece = dict[str, Any]
Board = list[list[int]]
Cell = tuple[int, int]
Ground = dict[Cell, int]
Order = Callable[[list[Cell]], Cell]

SIZE = 7
VENT = -1
BURSTING = 4

ORTHOGONAL: list[Cell] = [(-1, 0), (0, -1), (0, 1), (1, 0)]
"""N, W, E, S."""

ALL_AROUND: list[Cell] = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
"""NW, N, NE, W, E, SW, S, SE."""

PATHS: dict[tuple[Cell, int], list[list[Cell]]] = {
    ((row, column), steps): [
        [(row + step * down, column + step * right) for step in range(steps + 1)]
        for down, right in ALL_AROUND
        if 0 <= row + steps * down < SIZE and 0 <= column + steps * right < SIZE
    ]
    for row in range(SIZE)
    for column in range(SIZE)
    for steps in (1, 2)
}
"""R8, R9: the straight paths on the board from a cell, both ends included, of one step or of two, by direction."""

LINE_UP: list[tuple[str, int]] = [("crown", 3), ("lancer", 1), ("lancer", 5), ("smith", 2), ("smith", 4)]
"""R3, R15: kind and starting column of the pieces, in the order of the list."""


# The five functions of the interface.


def initial(options: Options, nonce: int | None = None) -> State:
    """R2, R3: level ground, seat 0 on row 6 and seat 1 on row 0. Options and nonce make no difference."""
    return {
        "board": [[0] * SIZE for _ in range(SIZE)],
        "p0": [_piece(kind, (6, column)) for kind, column in LINE_UP],
        "p1": [_piece(kind, (0, column)) for kind, column in LINE_UP],
        "ply": 0,
        "winner": None,
        "reason": "",
    }


def legal(state: State, options: Options) -> list[Move]:
    """All legal moves in the documented order; none once the game is over (R21)."""
    return [] if state["reason"] else list(_actions(state))


def to_move(state: State, options: Options) -> int | None:
    """R4: the seats alternate from seat 0 on. R21: nobody moves in a finished game."""
    return None if state["reason"] else state["ply"] % 2


def apply(state: State, move: Move, options: Options) -> State:
    """The state after a legal move, with its end by R20. Leaves the given state alone."""
    assert move in legal(state, options), f"illegal move: {move}"
    after = _moved(state, move) if move["action"] == "move" else _forged(state, move)
    verdict = _crowns_fallen(after, move)  # R16, R17
    if verdict is None and after["ply"] == options["turn_limit"]:
        verdict = _tie_break(after)  # R18
    if verdict is None and next(_actions(after), None) is None:
        verdict = state["ply"] % 2, "no legal moves"  # R19
    if verdict is not None:
        after["winner"], after["reason"] = verdict
    return after


def outcome(state: State, options: Options) -> dict[str, Any] | None:
    """Who has won, and why; None while the game runs ("How it ends")."""
    if not state["reason"]:
        return None
    winner = state["winner"]
    if winner is None:
        scores, returns = [0.5, 0.5], [0, 0]
    else:
        scores = [1 if seat == winner else 0 for seat in (0, 1)]
        returns = [1 if seat == winner else -1 for seat in (0, 1)]
    return {"winner": winner, "scores": scores, "returns": returns, "reason": state["reason"]}


# What can be done.


def _actions(state: State) -> Iterator[Move]:
    """R5: the actions of the seat ply % 2 in documented order, whether or not the game is over.

    The list of pieces has the order of the action numbers already: crown, lancers, smiths (R15).
    """
    ground = _ground(state["board"])
    own = _side(state, state["ply"] % 2)
    friends = {_cell(piece) for piece in own}
    anyone = friends | {_cell(piece) for piece in _side(state, 1 - state["ply"] % 2)}
    for piece in own:
        start = _cell(piece)
        for end in _destinations(ground, friends, piece["type"], start):
            yield {"action": "move", "from": list(start), "to": list(end)}
        if piece["type"] == "smith":
            for target in _forgeable(ground, anyone, start):
                yield {"action": "forge", "smith": list(start), "target": list(target)}


def _destinations(ground: Ground, friends: set[Cell], kind: str, start: Cell) -> Iterator[Cell]:
    """R6, R8, R9: where a piece of this kind can go, by number of steps and then by direction."""
    for steps in (1, 2) if kind == "lancer" else (1,):
        for path in PATHS[start, steps]:
            if path[-1] not in friends and _walkable(ground, path):
                yield path[-1]


def _walkable(ground: Ground, path: list[Cell]) -> bool:
    """R2, R6, R7, R9: no cell of the path is a vent, and no step of it climbs more than 1."""
    return all(end in ground and ground[end] <= ground[start] + 1 for start, end in pairwise(path))


def _forgeable(ground: Ground, anyone: set[Cell], smith: Cell) -> Iterator[Cell]:
    """R11: orthogonally adjacent ground, of any height, without a piece of either side."""
    for direction in ORTHOGONAL:
        target = _shift(smith, direction)
        if target in ground and target not in anyone:
            yield target


# What it does.


def _moved(state: State, move: Move) -> State:
    """R10, R15: the piece keeps its place in the list; an enemy on the destination is taken out."""
    start, end = tuple(move["from"]), tuple(move["to"])
    mover = state["ply"] % 2
    own = [_piece(piece["type"], end if _cell(piece) == start else _cell(piece)) for piece in _side(state, mover)]
    enemy = [dict(piece) for piece in _side(state, 1 - mover) if _cell(piece) != end]
    sides = (own, enemy) if mover == 0 else (enemy, own)
    return _next_state(state, [list(row) for row in state["board"]], *sides)


def _forged(state: State, move: Move) -> State:
    """R11, R12: the target rises by 1, and whatever that sets off is worked out to the end."""
    row, column = move["target"]
    board: Board = [list(line) for line in state["board"]]
    board[row][column] += 1
    return _next_state(state, *erupt(board, state["p0"], state["p1"]))


def erupt(
    board: Board, p0: list[Piece], p1: list[Piece], order: Order | None = None
) -> tuple[Board, list[Piece], list[Piece]]:
    """R12, R14: let every cell of height 4 or more burst, one after the other, until none is left.

    `board` is the board after the forge has added its 1. `order` picks the cell that bursts next from
    the sorted list of those that are due (by default the first); by R13 it must not matter. Returns
    board, pieces of seat 0 and pieces of seat 1 afterwards as new objects; the given ones are left alone.
    """
    pick = order or min
    ground = _ground(board)
    due = {cell for cell, height in ground.items() if height >= BURSTING}
    while due:
        bursting = pick(sorted(due))
        due.remove(bursting)
        del ground[bursting]
        for direction in ORTHOGONAL:
            neighbour = _shift(bursting, direction)
            if neighbour in ground:
                ground[neighbour] += 1
                if ground[neighbour] >= BURSTING:
                    due.add(neighbour)
    quiet = [[ground.get((row, column), VENT) for column in range(SIZE)] for row in range(SIZE)]
    survivors = [[dict(piece) for piece in side if _cell(piece) in ground] for side in (p0, p1)]
    return quiet, survivors[0], survivors[1]


def _next_state(state: State, board: Board, p0: list[Piece], p1: list[Piece]) -> State:
    """R4: one turn later, with this board and these pieces, and not yet judged."""
    return {"board": board, "p0": p0, "p1": p1, "ply": state["ply"] + 1, "winner": None, "reason": ""}


# How it ends.


def _crowns_fallen(after: State, move: Move) -> tuple[int | None, str] | None:
    """R16, R17: winner and reason if the turn just made, `move`, has cost a crown or both."""
    active = (after["ply"] - 1) % 2
    own_fell, enemy_fell = _crown(after, active) is None, _crown(after, 1 - active) is None
    if own_fell:
        return 1 - active, "both crowns erupted" if enemy_fell else "own crown erupted"
    if enemy_fell:
        return active, "crown captured" if move["action"] == "move" else "crown erupted"
    return None


def _tie_break(state: State) -> tuple[int | None, str]:
    """R18: winner and reason at the turn limit, by number of pieces, then by the height under the crown."""
    counts = [len(_side(state, seat)) for seat in (0, 1)]
    if counts[0] != counts[1]:
        return counts.index(max(counts)), "turn limit: more pieces"
    ground = _ground(state["board"])
    heights = [ground[cell] for seat in (0, 1) if (cell := _crown(state, seat)) is not None]
    if heights[0] != heights[1]:
        return heights.index(max(heights)), "turn limit: higher crown"
    return None, "turn limit: draw"


# Small words.


def _piece(kind: str, cell: Cell) -> Piece:
    """A piece as the state has it."""
    return {"type": kind, "r": cell[0], "c": cell[1]}


def _cell(piece: Piece) -> Cell:
    """Where a piece stands."""
    return piece["r"], piece["c"]


def _side(state: State, seat: int) -> list[Piece]:
    """R15: the list of the pieces of a seat."""
    pieces: list[Piece] = state["p0"] if seat == 0 else state["p1"]
    return pieces


def _crown(state: State, seat: int) -> Cell | None:
    """Where the crown of a seat stands, if it has one."""
    return next((_cell(piece) for piece in _side(state, seat) if piece["type"] == "crown"), None)


def _ground(board: Board) -> Ground:
    """R2: the heights of all cells that are not vents."""
    return {
        (row, column): height for row, line in enumerate(board) for column, height in enumerate(line) if height != VENT
    }


def _shift(cell: Cell, direction: Cell) -> Cell:
    """The next cell in a direction, on the board or not."""
    return cell[0] + direction[0], cell[1] + direction[1]
