"""Boards for people: the code ``3:1:ul8uf``, the words of the steps, the drawing."""

import re
from functools import cache
from typing import Any

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import (
    FINAL,
    LARGEST,
    PIECE,
    SMALLEST,
    TRAP,
    Steps,
    coded,
    format_board,
    most_steps,
    steps_of,
)
from ludodrome.validation import show

_WORDS = (
    "up",
    "left",
    "right",
    "trap up-left",
    "trap up",
    "trap up-right",
    "trap left",
    "trap here",
    "trap right",
    "trap down-left",
    "trap down",
    "trap down-right",
    "finish",
)
"""What is done -> word."""

SIGNS = "ulr789456123fd"
"""What is done -> the character in a code; traps as on a number pad."""
_DONE_BY_SIGN = {sign: what for what, sign in enumerate(SIGNS)}
_MIRROR = [SIGNS.index(sign) for sign in "url987654321fd"]
"""What is done -> the same in a mirror."""
_CODE = re.compile(r"([1-9][0-9]{0,2}):(0|[1-9][0-9]?):([ulrdf1-9]*)", re.ASCII)

_MARKS = {PIECE: "●", TRAP: "X", FINAL: "★"}
_MOST_DRAWN = 10_000_000


# Words


@cache
def step_words(size: int) -> tuple[str, ...]:
    """The word of each action on a grid of that size, in the order of the action numbers."""
    return (*(f"start {col}" for col in range(size)), *_WORDS)


@cache
def step_numbers(size: int) -> dict[str, int]:
    """The action of each word."""
    return {word: action for action, word in enumerate(step_words(size))}


def done_word(action: int, size: int) -> str:
    """The word of an action of a playable board, which may go down."""
    words = step_words(size)
    return words[action] if action < len(words) else "down"


# Codes


def format_code(actions: bytes, size: int) -> str:
    """The code of a board."""
    return f"{size}:{actions[0]}:" + "".join([SIGNS[action - size] for action in actions[1:]])


def longest_code(size: int) -> int:
    """No code of a playable board has more characters than this."""
    return most_steps(size) + len(f"{LARGEST}:{LARGEST}:")


def parse_code(text: str) -> tuple[int, bytes]:
    """Size and actions of a code, or IllegalMove. Judges the writing alone, not whether the board is legal."""
    if len(text) > longest_code(LARGEST) + 100:
        raise IllegalMove(f"a board has at most {most_steps(LARGEST)} steps at any size (R7), and this is {show(text)}")
    match = _CODE.fullmatch(text.strip().lower())
    if match is None:
        raise IllegalMove(
            f"a board is written as size, start column and steps, like 3:1:u6uf "
            f"(u, l, r, d, 1 to 9 for traps, f), not {show(text)}"
        )
    size, start, signs = int(match[1]), int(match[2]), match[3]
    if not SMALLEST <= size <= LARGEST:
        raise IllegalMove(f"the size of a board is a whole number from {SMALLEST} to {LARGEST}, not {size} (R1)")
    if start >= size:
        raise IllegalMove(f"step 1: the start column is a whole number from 0 to {size - 1}, not {start} (R3)")
    return size, bytes([start, *[size + _DONE_BY_SIGN[sign] for sign in signs]])


def parse_board(code: str) -> dict[str, Any]:
    """The JSON board of a code like ``3:1:u6uf``; one without ``f`` is unfinished.

    Whether the board is legal is not asked here: ``check`` tells.
    """
    if type(code) is not str:
        raise IllegalMove(f"the code of a board is a text, not {show(code)}")
    size, actions = parse_code(code)
    return format_board(actions, size)


def encode_board(board: Any) -> str:
    """The code of a JSON board; IllegalMove if one of its steps jumps."""
    size, actions = coded(board)
    return format_code(actions, size)


def mirrored(actions: bytes, size: int) -> bytes:
    """The mirror image of a board: left and right change places."""
    return bytes([size - 1 - actions[0], *[size + _MIRROR[action - size] for action in actions[1:]]])


# Drawings


def draw_board(board: Any) -> str:
    """The drawing of a JSON board; IllegalMove if one of its steps jumps or leaves the grid."""
    size, actions = coded(board)
    steps = steps_of(actions, size)
    for number, (row, col, kind) in enumerate(steps, 1):
        if not -1 <= row < size or not 0 <= col < size or (row < 0 and kind != FINAL):
            raise IllegalMove(f"step {number}: ({row},{col}) is outside and cannot be drawn")
    return draw(steps, size)


def draw(steps: Steps, size: int) -> str:
    """The number of each step where it happens, below the goal row."""
    cells: dict[tuple[int, int], list[str]] = {}
    for number, (row, col, kind) in enumerate(steps, 1):
        cells.setdefault((row, col), []).append(f"{number}{_MARKS[kind]}")
    texts = {cell: ",".join(marks) for cell, marks in cells.items()}
    width = max(len(str(size - 1)), *map(len, texts.values()))
    if width * size * size > _MOST_DRAWN:
        raise IllegalMove("so much happens on one square of this board that it cannot be drawn")
    margin = max(2, len(str(size - 1)))
    lines = [" " * margin + "".join(f"  {col:<{width}}" for col in range(size))]
    for row in range(-1, size):
        empty = "·" if row >= 0 else ""
        line = "".join(f"  {texts.get((row, col), empty):<{width}}" for col in range(size))
        lines.append(f"{row:>{margin}}{line}")
    return "\n".join(line.rstrip() for line in lines)
