"""Tic-tac-toe in JSON and text: states, moves, the notation, the one-line form, the drawing.

Every refusal is a sentence that says what would be right. What is legal is decided in ``rules.py``.
"""

from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.jit import Record, new_states, python
from ludodrome.validation import show
from ludodrome_tictactoe.rules import CELLS, DTYPE, REASONS, SEATS, SIDE, has_line, judge_array

STATE_KEYS = ("board", "to_move", "turn", "winner", "reason")
SIGNS = ("X", "O")
EMPTY = "."
NAMES = tuple(f"{'abc'[cell % SIDE]}{cell // SIDE + 1}" for cell in range(CELLS))
"""The cells in the order of their numbers."""


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """An array of one record, or BadState."""
    validation.fields(state, STATE_KEYS, "a state of tictactoe", BadState)
    states = _position(validation.items(state["board"], SIDE, "board", BadState))
    right = format_state(states[0])
    for name in STATE_KEYS[1:]:
        validation.same(state[name], right[name], f"in this position {name}", BadState)
    return states


def format_state(record: Record) -> Any:
    """The JSON state of a record."""
    seat, winner = int(record["ply"]) % SEATS, int(record["winner"])
    reason = REASONS[int(record["reason"])]
    return {
        "board": _rows(record),
        "to_move": None if reason else seat,
        "turn": int(record["ply"]),
        "winner": None if winner < 0 else winner,
        "reason": reason,
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """An array of one record from rows like ``X.O/.X./...``, or BadState."""
    if type(text) is not str:
        raise BadState(f"a position is a text, not {show(text)}")
    return _position(validation.items(text.strip().split("/"), SIDE, "the rows between /", BadState))


def format_line(record: Record) -> str:
    """The rows from the top."""
    return "/".join(_rows(record))


def render(record: Record) -> str:
    """The drawing."""
    rows = [f"{number} {' '.join(row)}" for number, row in enumerate(_rows(record), 1)]
    return "\n".join(["  a b c", *rows, f"turn {int(record['ply'])}, {_standing(record)}"])


def _standing(record: Record) -> str:
    reason, winner = REASONS[int(record["reason"])], int(record["winner"])
    if not reason:
        return f"seat {int(record['ply']) % SEATS} to move"
    return f"drawn: {reason}" if winner < 0 else f"seat {winner} won: {reason}"


def _rows(record: Record) -> list[str]:
    sets = [int(signs) for signs in record["signs"]]
    board = "".join(
        next((sign for sign, cells in zip(SIGNS, sets, strict=True) if cells >> cell & 1), EMPTY)
        for cell in range(CELLS)
    )
    return [board[at : at + SIDE] for at in range(0, CELLS, SIDE)]


def _position(rows: list[Any]) -> Any:
    """The record of a board, if turns can have led there."""
    for number, row in enumerate(rows):
        if type(row) is not str or len(row) != SIDE or set(row) - {*SIGNS, EMPTY}:
            raise BadState(f"row {number + 1} of a board is three of X, O and ., not {show(row)}")
    board = "".join(rows)
    first, second = (board.count(sign) for sign in SIGNS)
    if first - second not in (0, 1):
        raise BadState(f"there are as many X as O, or one more, not {first} and {second}")
    states = new_states(DTYPE, 1)
    states["signs"][0] = [sum(1 << cell for cell in range(CELLS) if board[cell] == sign) for sign in SIGNS]
    states["ply"] = first + second
    judge_array(states)
    last = (first + second + 1) % SEATS
    if python(has_line)(states["signs"][0][1 - last].astype(np.uint64)):
        raise BadState(f"only {SIGNS[last]}, who moved last, can have three in a row")
    return states


# Moves


def parse_move(move: Any, states: Any) -> int:
    """The cell's number, or IllegalMove."""
    return _cell(validation.fields(move, ("cell",), "a move of tictactoe", IllegalMove)["cell"])


def format_moves(actions: list[int], record: Record) -> list[Any]:
    """The JSON moves of cells."""
    return [{"cell": NAMES[action]} for action in actions]


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault."""
    if fault == GAME_OVER:
        return f"the game is over: {REASONS[int(record['reason'])]}"
    return f"{NAMES[action]} is not empty: a sign goes on an empty cell"


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """A legal cell from what a person typed, or IllegalMove."""
    action = _cell(text.strip().lower() if type(text) is str else text)
    if action not in legal:
        raise IllegalMove(f"{NAMES[action]} is not empty: a sign goes on an empty cell")
    return action


def format_notation(action: int, record: Record) -> str:
    """The cell's name."""
    return NAMES[action]


def _cell(name: Any) -> int:
    if type(name) is str and name in NAMES:
        return NAMES.index(name)
    raise IllegalMove(f"a cell is a letter from a to c and a number from 1 to 3, like b2, not {show(name)}")
