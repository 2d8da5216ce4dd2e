"""Skysummit by the book: a slow, plain reading of RULES.md to test the real engine against.

A cell is a tuple (row, column) here, and heights a dict from cell to height. The JSON states and moves
with their index numbers are met at the edges only. The R-numbers are those of RULES.md.
"""

from collections.abc import Iterator
from typing import Any

State = dict[str, Any]
Move = dict[str, Any]
Options = dict[str, Any]
Cell = tuple[int, int]

SIZE = 5
STOREY_TO_WIN = 3
DOME = 4

CELLS: list[Cell] = [(row, column) for row in range(SIZE) for column in range(SIZE)]
"""All cells in reading order, so that CELLS[index] is the cell of that index."""

INDEX: dict[Cell, int] = {cell: index for index, cell in enumerate(CELLS)}

BESIDE: dict[Cell, list[Cell]] = {
    (row, column): [cell for cell in CELLS if max(abs(cell[0] - row), abs(cell[1] - column)) == 1]
    for row, column in CELLS
}
"""The up to eight adjacent cells of each cell, in reading order (R7, R9)."""


# The five functions of the interface.


def initial(options: Options, nonce: int | None = None) -> State:
    """R1, R2: bare ground, nobody on it. Options and nonce make no difference."""
    return {
        "phase": "place",
        "ply": 0,
        "board": [0] * len(CELLS),
        "workers": [[None, None], [None, None]],
        "winner": None,
        "reason": "",
    }


def legal(state: State, options: Options) -> list[Move]:
    """All legal moves in the documented order; none once the game is over (R15)."""
    return [] if state["reason"] else list(_moves(state))


def to_move(state: State, options: Options) -> int | None:
    """R3: the seats alternate from seat 0 on. R15: nobody moves in a finished game."""
    return None if state["reason"] else state["ply"] % 2


def apply(state: State, move: Move, options: Options) -> State:
    """The state after a legal move, judged in the order of R14. The given state is left alone."""
    assert move in legal(state, options), f"illegal move: {move}"
    mover = state["ply"] % 2
    after = _placed(state, move) if move["t"] == "place" else _stepped_and_built(state, move)
    if _has_climbed(after, mover):  # R8
        after["winner"], after["reason"] = mover, "reached level 3"
    elif after["ply"] == options["turn_limit"]:  # R11
        after["winner"], after["reason"] = _tie_break(after)
    elif next(_moves(after), None) is None:  # R13
        after["winner"], after["reason"] = mover, "no legal moves"
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


# The rules one by one.


def _moves(state: State) -> Iterator[Move]:
    """R4, R6: the moves of the seat ply % 2, whether or not the game is over."""
    return _placements(state) if state["ply"] < 2 else _turns(state)


def _placements(state: State) -> Iterator[Move]:
    """R4: ordered pairs of different unoccupied cells, by first and then by second cell."""
    taken = _occupied(state)
    free = [INDEX[cell] for cell in CELLS if cell not in taken]
    for first in free:
        for second in free:
            if first != second:
                yield {"t": "place", "to": [first, second]}


def _turns(state: State) -> Iterator[Move]:
    """R6: by worker, then by destination, then by build; a winning step has no build (R8)."""
    heights = _heights(state)
    occupied = _occupied(state)
    for worker, index in enumerate(state["workers"][state["ply"] % 2]):
        start = CELLS[index]
        for end in _steps(heights, occupied, start):
            step = {"t": "move", "w": worker, "to": INDEX[end]}
            if heights[end] == STOREY_TO_WIN:
                yield {**step, "build": None}
                continue
            for site in _sites(heights, (occupied - {start}) | {end}, end):
                yield {**step, "build": INDEX[site]}


def _steps(heights: dict[Cell, int], occupied: set[Cell], start: Cell) -> list[Cell]:
    """R7, R10: the adjacent cells that a worker on `start` may enter, in reading order."""
    return [
        cell
        for cell in BESIDE[start]
        if cell not in occupied and heights[cell] != DOME and heights[cell] - heights[start] <= 1
    ]


def _sites(heights: dict[Cell, int], occupied: set[Cell], stand: Cell) -> list[Cell]:
    """R9, R10: the cells that a worker on `stand` may raise, in reading order."""
    return [cell for cell in BESIDE[stand] if cell not in occupied and heights[cell] < DOME]


def _placed(state: State, move: Move) -> State:
    """R4, R5: both workers are put down, the one on the lower index as worker 0."""
    return _next_state(state, list(state["board"]), sorted(move["to"]))


def _stepped_and_built(state: State, move: Move) -> State:
    """R6 to R9: one worker has gone to its destination, and the build, if any, is one storey higher."""
    own = list(state["workers"][state["ply"] % 2])
    own[move["w"]] = move["to"]
    heights = list(state["board"])
    if move["build"] is not None:
        heights[move["build"]] += 1
    return _next_state(state, heights, own)


def _next_state(state: State, heights: list[int], own: list[int]) -> State:
    """R3: one turn later, with these heights and these workers of the mover, and not yet judged."""
    ply = state["ply"]
    workers = [list(pair) for pair in state["workers"]]
    workers[ply % 2] = own
    return {
        "phase": "place" if ply + 1 < 2 else "play",
        "ply": ply + 1,
        "board": heights,
        "workers": workers,
        "winner": None,
        "reason": "",
    }


def _has_climbed(state: State, seat: int) -> bool:
    """R8: nobody stays on a third storey in a running game, so a worker there has just arrived."""
    return STOREY_TO_WIN in _heights_under(state, seat)


def _tie_break(state: State) -> tuple[int | None, str]:
    """R12: winner and reason at the turn limit, by altitude, then by peak."""
    ours, theirs = _heights_under(state, 0), _heights_under(state, 1)
    if sum(ours) != sum(theirs):
        return (0 if sum(ours) > sum(theirs) else 1), "turn limit: higher altitude"
    if max(ours) != max(theirs):
        return (0 if max(ours) > max(theirs) else 1), "turn limit: higher peak"
    return None, "turn limit: draw"


def _heights_under(state: State, seat: int) -> list[int]:
    """R12: the heights under the workers of a seat; 0 for a worker not yet placed."""
    return [0 if index is None else state["board"][index] for index in state["workers"][seat]]


def _heights(state: State) -> dict[Cell, int]:
    """R2: the height of every cell."""
    return dict(zip(CELLS, state["board"], strict=True))


def _occupied(state: State) -> set[Cell]:
    """R2: the cells under the workers of both seats."""
    return {CELLS[index] for pair in state["workers"] for index in pair if index is not None}
