"""Tic-tac-toe a second time, written from RULES.md alone, slow and plain: the walk compares it with the kernels.

Whoever changes a rule changes RULES.md, then this, then ``rules.py``, and looks at the others for none of them.
"""

from typing import Any

EMPTY = "."
SIGNS = "XO"
ROWS = [[(row, column) for column in range(3)] for row in range(3)]
COLUMNS = [[(row, column) for row in range(3)] for column in range(3)]
DIAGONALS = [[(k, k) for k in range(3)], [(k, 2 - k) for k in range(3)]]


def initial(options: dict[str, Any], nonce: Any = None) -> Any:
    """R1."""
    return {"board": ["..."] * 3, "to_move": 0, "turn": 0, "winner": None, "reason": ""}


def to_move(state: Any, options: dict[str, Any]) -> int | None:
    """R2."""
    if outcome(state, options):
        return None
    return (sign_count(state, "X") + sign_count(state, "O")) % 2


def legal(state: Any, options: dict[str, Any]) -> list[Any]:
    """R2, in the order of the cells' numbers."""
    if outcome(state, options):
        return []
    return [{"cell": f"{'abc'[c]}{r + 1}"} for r in range(3) for c in range(3) if state["board"][r][c] == EMPTY]


def apply(state: Any, move: Any, options: dict[str, Any]) -> Any:
    """R2."""
    column, row = "abc".index(move["cell"][0]), int(move["cell"][1]) - 1
    board = [list(line) for line in state["board"]]
    board[row][column] = SIGNS[state["to_move"]]
    after: dict[str, Any] = {"board": ["".join(line) for line in board], "turn": state["turn"] + 1}
    end = outcome(after, options)
    after["to_move"] = to_move(after, options)
    after["winner"] = end["winner"] if end else None
    after["reason"] = end["reason"] if end else ""
    return after


def outcome(state: Any, options: dict[str, Any]) -> Any:
    """R3, R4; None while the game runs."""
    for seat, sign in enumerate(SIGNS):
        for line in (*ROWS, *COLUMNS, *DIAGONALS):
            if all(state["board"][row][column] == sign for row, column in line):
                scores = [int(seat == 0), int(seat == 1)]
                returns = [1, -1] if seat == 0 else [-1, 1]
                return {"winner": seat, "scores": scores, "returns": returns, "reason": "three in a row"}
    if sign_count(state, EMPTY) == 0:
        return {"winner": None, "scores": [0.5, 0.5], "returns": [0, 0], "reason": "a full board"}
    return None


def sign_count(state: Any, sign: str) -> int:
    """How many cells have a sign."""
    return sum(row.count(sign) for row in state["board"])
