"""Fog: what a seat sees of the other's boards of earlier rounds (R26).

A board in fog is the part of it that was carried out in its round, with every trap as HIDDEN_TRAP: a trap was set in
this step, and its place is not seen. As actions it fits into a record like any other board.
"""

from dataclasses import dataclass
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState
from ludodrome.games.spaces.boards import (
    FINISH,
    FIRST_TRAP,
    HERE,
    HIDDEN_TRAP,
    PIECE_SHIFTS,
    TRAP,
    UP,
    action_word,
    is_finished,
    steps_of,
)
from ludodrome.games.spaces.rules import longest
from ludodrome.validation import show

FOG_KEYS = ("boardSize", "visited", "traps")
"""Keys of a board in fog; ``visited`` tells it from a whole board."""


def in_fog(actions: bytes, done: int, size: int) -> bytes:
    """A board in fog, of which ``done`` steps were carried out."""
    return bytes(size + HIDDEN_TRAP if FIRST_TRAP <= one - size < FINISH else one for one in actions[:done])


def format_in_fog(actions: bytes, size: int) -> dict[str, Any]:
    """The JSON form of a board in fog: the squares visited with their steps, and the steps of its traps."""
    steps = list(enumerate(steps_of(actions, size), 1))
    return {
        "boardSize": size,
        "visited": [[number, row, col] for number, (row, col, kind) in steps if kind != TRAP],
        "traps": [number for number, (_, _, kind) in steps if kind == TRAP],
    }


def is_in_fog(board: Any) -> bool:
    """Whether a JSON board is one in fog, right or wrong."""
    return type(board) is dict and "visited" in board


def read_in_fog(board: Any, size: int, where: str) -> bytes:
    """The actions of a JSON board in fog, or BadState."""
    validation.fields(board, FOG_KEYS, where, BadState)
    validation.choice(board["boardSize"], [size], f"{where}.boardSize", BadState)
    visited, traps = board["visited"], board["traps"]
    if type(visited) is not list or type(traps) is not list or not 0 < len(visited) + len(traps) <= longest(size):
        raise BadState(f"{where} has lists of the squares visited and of the steps of traps, not {show(board)}")
    at: dict[int, tuple[int, int]] = {}
    for number, place in enumerate(visited):
        step, row, col = validation.items(place, 3, f"{where}.visited[{number}]", BadState)
        if type(step) is not int or type(row) is not int or type(col) is not int:
            raise BadState(f"{where}.visited[{number}] is a step, a row and a column, not {show(place)}")
        at[step] = (row, col)
    total = len(visited) + len(traps)
    if any(type(step) is not int for step in traps) or sorted([*at, *traps]) != list(range(1, total + 1)):
        raise BadState(f"the steps of {where} are 1, 2, 3 and so on, each in visited or in traps, not {show(board)}")
    return _actions_along(at, total, size, where)


def _actions_along(at: dict[int, tuple[int, int]], total: int, size: int, where: str) -> bytes:
    """The actions of a piece that is on these squares in these steps, with hidden traps in the others, or BadState."""
    actions = bytearray()
    row, col = size, -1
    seen: set[tuple[int, int]] = set()
    for step in range(1, total + 1):
        if step not in at and step > 1 and row >= 0:
            actions.append(size + HIDDEN_TRAP)
            continue
        to = at.get(step, (row, col))
        action = _action_to(row, col, to, size)
        if action is None or to in seen:
            raise BadState(f"{where}: no legal board goes to {show(list(to))} in step {step}")
        actions.append(action)
        seen.add(to)
        row, col = to
    return bytes(actions)


def _action_to(row: int, col: int, to: tuple[int, int], size: int) -> int | None:
    """The action that takes a piece to a square; None if no legal board has one (R3, R4, R6, R9, R12)."""
    if row == size:  # not there yet
        return to[1] if to[0] == size - 1 and 0 <= to[1] < size else None
    if row == 0:
        return size + FINISH if to == (-1, col) else None
    shift = (to[0] - row, to[1] - col)
    if row < 0 or shift not in PIECE_SHIFTS or shift[0] > 0 or not 0 <= to[1] < size:
        return None
    return size + PIECE_SHIFTS[shift]


# A round in fog, step by step


@dataclass(frozen=True, slots=True)
class FogStep:
    """One step of one seat in a round in fog; squares are on the common grid."""

    did: str
    """As in ``simulation.RoundStep``; ``trap`` if its place is not seen."""
    square: tuple[int, int]
    trap: tuple[int, int] | None
    gained: int


def seat_steps(actions: bytes, done: int, seat: int, size: int) -> list[FogStep]:
    """The steps of a board that were carried out, whole or in fog."""
    found: list[FogStep] = []
    for action, (row, col, kind) in zip(actions[:done], steps_of(actions[:done], size), strict=True):
        place = (row, col) if seat == 0 else (size - 1 - row, size - 1 - col)
        is_trap = kind == TRAP
        hidden = action == size + HIDDEN_TRAP
        square = found[-1].square if is_trap else place
        gained = int(action - size in (UP, FINISH))
        found.append(FogStep(action_word(action, size), square, place if is_trap and not hidden else None, gained))
    return found


def guess_whole(actions: bytes, size: int) -> bytes:
    """A playable board as the one in fog might be: traps underfoot, which keep its pace, then straight to the goal."""
    guess = bytes(size + HERE if one == size + HIDDEN_TRAP else one for one in actions)
    if is_finished(guess, size):
        return guess
    row = next(row for row, _, kind in reversed(steps_of(guess, size)) if kind != TRAP)
    return guess + bytes([*[size + UP] * row, size + FINISH])
