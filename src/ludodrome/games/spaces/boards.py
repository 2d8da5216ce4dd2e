"""Boards: JSON, steps, actions, codes and the plain drawing.

A board has three forms here. *JSON*: ``{"boardSize": n, "sequence": [...]}``, as clients send it.
*Steps*: a list of ``(row, col, type)``, once the shape has been checked. *Actions*: ``bytes``, one
number per step, for boards without jumps; kernels read these. ``legality.py`` and ``rules.py``
decide what is legal.
"""

import re
from functools import cache
from typing import Any, TypeAlias

from ludodrome import validation
from ludodrome.game import IllegalMove
from ludodrome.validation import show

Steps: TypeAlias = list[tuple[int, int, str]]
"""Row, column and type of each step."""

SMALLEST, LARGEST = 2, 100
RULE_SETS = ("written", "live")
SEEN, BLIND, FOG = CHOICES = ("seen", "blind", "fog")
"""What a seat sees of the other's boards (R26)."""
DECK = 10
"""Number of boards in a deck."""

PIECE, TRAP, FINAL = KINDS = ("piece", "trap", "final")
EMPTY = "empty"
BOARD_KEYS = ("boardSize", "sequence")
STEP_KEYS = ("position", "type", "order")

# Actions minus ``size``: the first ``size`` actions are the starts, then these follow. There are
# size + 13 actions. The last three are never legal: DOWN and WAIT exist for the simulator only, where a
# playable board may go down, and an unfinished one waits once its steps are done (R7); HIDDEN_TRAP is a
# trap whose place is not seen (R26, ``fog.py``).
UP, LEFT, RIGHT, FIRST_TRAP = range(4)
PLACES = tuple((row, col) for row in (-1, 0, 1) for col in (-1, 0, 1))
"""Trap places around the piece, in reading order."""
HERE = FIRST_TRAP + PLACES.index((0, 0))
FINISH = FIRST_TRAP + len(PLACES)
DOWN = FINISH + 1
HIDDEN_TRAP = DOWN + 1
WAIT = HIDDEN_TRAP + 1

PIECE_SHIFTS = {(-1, 0): UP, (0, -1): LEFT, (0, 1): RIGHT, (1, 0): DOWN}
"""The piece step that moves by these rows and columns."""
_TRAPS = {place: FIRST_TRAP + k for k, place in enumerate(PLACES)}
# action - size -> type, and row and column relative to the piece
_STEP_OF_ACTION = {what: (PIECE, *shift) for shift, what in PIECE_SHIFTS.items()}
_STEP_OF_ACTION |= {what: (TRAP, *shift) for shift, what in _TRAPS.items()}
_STEP_OF_ACTION[FINISH] = (FINAL, -1, 0)
_STEP_OF_ACTION[HIDDEN_TRAP] = (TRAP, 0, 0)  # shown where the piece stands


class BadShape(ValueError):
    """The value does not have the shape of a board (R2)."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} (R2)")


def checked_size(size: Any) -> int:
    """Return a valid size (R1), or raise ValueError."""
    return validation.integer(size, SMALLEST, LARGEST, "the size of spaces", ValueError)


def is_live(rules: Any) -> bool:
    """Whether the rule set is ``live``; ValueError if it is neither ``live`` nor ``written``."""
    return bool(validation.choice(rules, RULE_SETS, "the rules of spaces", ValueError) == "live")


def max_steps(size: int) -> int:
    """The maximum number of steps of a playable board (R7)."""
    return 4 * size * size


# Reading


def read_board(board: Any, size: int, grid_allowed: bool = True, may_be_empty: bool = False) -> Steps:
    """Return the steps of a board with the right shape (R2), or raise BadShape."""
    keys = (*BOARD_KEYS, "grid") if grid_allowed and type(board) is dict and "grid" in board else BOARD_KEYS
    validation.fields(board, keys, "a board", BadShape)
    if type(board["boardSize"]) is not int or board["boardSize"] != size:
        raise BadShape(f"boardSize is {size} here, not {show(board['boardSize'])}")
    sequence = board["sequence"]
    if type(sequence) is not list or not (sequence or may_be_empty):
        raise BadShape(f"the sequence is a list of at least one step, not {show(sequence)}")
    steps = read_steps(sequence)
    if "grid" in keys:
        _check_grid(board["grid"], steps, size)
    return steps


def read_steps(sequence: list[Any]) -> Steps:
    """Return the steps of a JSON sequence, or raise BadShape.

    The loop checks fast; ``_shape_error`` finds the reason.
    """
    steps: Steps = []
    for number, step in enumerate(sequence, 1):
        if type(step) is not dict or len(step) != len(STEP_KEYS):
            raise _shape_error(step, number)
        position, kind, order = step.get("position"), step.get("type"), step.get("order")
        if type(position) is not dict or len(position) != 2 or type(order) is not int or order != number:
            raise _shape_error(step, number)
        row, col = position.get("row"), position.get("col")
        if type(row) is not int or type(col) is not int or type(kind) is not str or kind not in KINDS:
            raise _shape_error(step, number)
        steps.append((row, col, kind))
    return steps


def _shape_error(step: Any, number: int) -> BadShape:
    """Say what is wrong with a step."""
    try:
        validation.fields(step, STEP_KEYS, "it", BadShape)
        position = validation.fields(step["position"], ("row", "col"), "its position", BadShape)
        validation.choice(step["type"], KINDS, "its type", BadShape)
    except BadShape as wrong:
        return BadShape(f"step {number}: {str(wrong).removesuffix(' (R2)')}")
    for name in ("row", "col"):
        if type(position[name]) is not int:
            return BadShape(f"step {number}: its {name} is a whole number, not {show(position[name])}")
    return BadShape(f"step {number}: its order is {number}, not {show(step['order'])}")


def grid_of(steps: Steps, size: int) -> list[list[str]]:
    """The drawn grid of a sequence: traps cover pieces, the finish leaves no mark."""
    grid = [[EMPTY] * size for _ in range(size)]
    for wanted in (PIECE, TRAP):
        for row, col, kind in steps:
            if kind == wanted and 0 <= row < size and 0 <= col < size:
                grid[row][col] = kind
    return grid


def _check_grid(grid: Any, steps: Steps, size: int) -> None:
    validation.items(grid, size, "the grid", BadShape)
    for row, right in enumerate(grid_of(steps, size)):
        cells = validation.items(grid[row], size, f"row {row} of the grid", BadShape)
        for col, word in enumerate(right):
            if type(cells[col]) is not str or cells[col] != word:
                raise BadShape(
                    f"the grid has {show(cells[col])} at ({row},{col}), where the sequence gives {word!r}; "
                    f"it may be left out"
                )


# Steps and actions


def actions_of(steps: Steps, size: int) -> bytes | None:
    """The actions of steps; None if a step jumps or the start is not on the bottom row.

    The finish goes one up from any square. Legality is not checked.
    """
    (row, col, kind), *rest = steps
    if kind != PIECE or row != size - 1 or not 0 <= col < size:
        return None
    actions = [col]
    for to_row, to_col, kind in rest:
        shift = (to_row - row, to_col - col)
        if kind == TRAP:
            what = _TRAPS.get(shift)
        elif kind == PIECE:
            what = PIECE_SHIFTS.get(shift)
        else:
            what = FINISH if shift == (-1, 0) else None
        if what is None:
            return None
        actions.append(size + what)
        if kind != TRAP:
            row, col = to_row, to_col
    return bytes(actions)


def is_finished(actions: bytes, size: int) -> bool:
    """Whether the last step is a finish."""
    return len(actions) > 0 and actions[-1] == size + FINISH


def step_of(action: int, size: int, row: int, col: int) -> tuple[int, int, str]:
    """The step that an action stands for when the piece is on (row, col)."""
    if action < size:
        return size - 1, action, PIECE
    kind, down, right = _STEP_OF_ACTION[action - size]
    return row + down, col + right, kind


def steps_of(actions: bytes, size: int) -> Steps:
    """The steps that actions stand for."""
    row = col = 0
    steps: Steps = []
    for action in actions:
        step = step_of(action, size, row, col)
        steps.append(step)
        if step[2] != TRAP:
            row, col, _ = step
    return steps


def format_step(step: tuple[int, int, str], order: int) -> dict[str, Any]:
    """A step as an object of a JSON sequence."""
    row, col, kind = step
    return {"position": {"row": row, "col": col}, "type": kind, "order": order}


def format_steps(steps: Steps) -> list[dict[str, Any]]:
    """Steps as a JSON sequence."""
    return [format_step(step, order) for order, step in enumerate(steps, 1)]


def format_board(actions: bytes, size: int) -> dict[str, Any]:
    """The JSON board of actions, without a grid.

    >>> from ludodrome import spaces
    >>> spaces.encode_board(spaces.format_board(spaces.board_at(796, 3, "live"), 3))
    '3:2:5l5lurruf'
    """
    return {"boardSize": size, "sequence": format_steps(steps_of(actions, size))}


def format_in_fog(actions: bytes, size: int) -> dict[str, Any]:
    """The JSON form of a board in fog: the squares visited with their steps, and the steps of its traps."""
    steps = list(enumerate(steps_of(actions, size), 1))
    return {
        "boardSize": size,
        "visited": [[number, row, col] for number, (row, col, kind) in steps if kind != TRAP],
        "traps": [number for number, (_, _, kind) in steps if kind == TRAP],
    }


def parse_playable(board: Any) -> tuple[int, bytes]:
    """Size and actions of a JSON board of any size; IllegalMove if a step jumps or the shape is wrong."""
    try:
        claimed = board.get("boardSize") if type(board) is dict else None
        size = (
            claimed if type(claimed) is int and SMALLEST <= claimed <= LARGEST else SMALLEST
        )  # else read_board raises
        steps = read_board(board, size)
    except BadShape as wrong:
        raise IllegalMove(str(wrong)) from None
    actions = actions_of(steps, size)
    if actions is None:
        raise IllegalMove("this board has no code: it does not start on the bottom row, or one of its steps jumps")
    return size, actions


# Notation: the code ``3:1:ul8uf``, the words of the steps, the drawing


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
"""Word of each action after the starts."""

SIGNS = "ulr789456123fd?"
"""Code character of each action after the starts; traps as on a number pad, ``?`` for a hidden one."""
_ACTION_OF_SIGN = {sign: what for what, sign in enumerate(SIGNS)}
_MIRROR = [SIGNS.index(sign) for sign in "url987654321fd?"]
"""Mirror image of each action after the starts."""
_CODE = re.compile(r"([1-9][0-9]{0,2}):(0|[1-9][0-9]?):([ulrdf1-9]*)", re.ASCII)

MARKS = {PIECE: "●", TRAP: "X", FINAL: "★"}
_MAX_DRAWN = 10_000_000


# Words


@cache
def step_words(size: int) -> tuple[str, ...]:
    """The word of each action on a grid of this size, in action order."""
    return (*(f"start {col}" for col in range(size)), *_WORDS)


@cache
def step_numbers(size: int) -> dict[str, int]:
    """The action of each word."""
    return {word: action for action, word in enumerate(step_words(size))}


def action_word(action: int, size: int) -> str:
    """The word of an action of a playable board, which may go down, or of a board in fog."""
    words = step_words(size)
    if action < len(words):
        return words[action]
    return "trap" if action == size + HIDDEN_TRAP else "down"


# Codes


def format_code(actions: bytes, size: int) -> str:
    """The code of a board."""
    return f"{size}:{actions[0]}:" + "".join([SIGNS[action - size] for action in actions[1:]])


def longest_code(size: int) -> int:
    """The maximum length of the code of a playable board."""
    return max_steps(size) + len(f"{LARGEST}:{LARGEST}:")


def parse_code(text: str) -> tuple[int, bytes]:
    """Size and actions of a code, or IllegalMove. Checks the notation only, not whether the board is legal."""
    if len(text) > longest_code(LARGEST) + 100:
        raise IllegalMove(f"a board has at most {max_steps(LARGEST)} steps at any size (R7), and this is {show(text)}")
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
    return size, bytes([start, *[size + _ACTION_OF_SIGN[sign] for sign in signs]])


def parse_board(code: str) -> dict[str, Any]:
    """The JSON board of a code like ``3:1:u6uf``; a code without ``f`` is an unfinished board.

    Legality is not checked: use ``check``.
    """
    if type(code) is not str:
        raise IllegalMove(f"the code of a board is a text, not {show(code)}")
    size, actions = parse_code(code)
    return format_board(actions, size)


def encode_board(board: Any) -> str:
    """The code of a JSON board; IllegalMove if a step jumps."""
    size, actions = parse_playable(board)
    return format_code(actions, size)


def mirrored(actions: bytes, size: int) -> bytes:
    """The mirror image of a board: left and right swapped."""
    return bytes([size - 1 - actions[0], *[size + _MIRROR[action - size] for action in actions[1:]]])


# Drawings


def draw_board(board: Any) -> str:
    """The drawing of a JSON board; IllegalMove if a step jumps or leaves the grid."""
    size, steps = drawable_steps(board)
    return draw(steps, size)


def drawable_steps(board: Any) -> tuple[int, Steps]:
    """Size and steps of a JSON board that can be drawn, else IllegalMove."""
    size, actions = parse_playable(board)
    steps = steps_of(actions, size)
    for number, (row, col, kind) in enumerate(steps, 1):
        if not -1 <= row < size or not 0 <= col < size or (row < 0 and kind != FINAL):
            raise IllegalMove(f"step {number}: ({row},{col}) is outside and cannot be drawn")
    return size, steps


def draw(steps: Steps, size: int) -> str:
    """The number of each step on its square, below the goal row."""
    cells: dict[tuple[int, int], list[str]] = {}
    for number, (row, col, kind) in enumerate(steps, 1):
        cells.setdefault((row, col), []).append(f"{number}{MARKS[kind]}")
    texts = {cell: ",".join(marks) for cell, marks in cells.items()}
    width = max(len(str(size - 1)), *map(len, texts.values()))
    if width * size * size > _MAX_DRAWN:
        raise IllegalMove("this board cannot be drawn: too many steps happen on one square")
    margin = max(2, len(str(size - 1)))
    lines = [" " * margin + "".join(f"  {col:<{width}}" for col in range(size))]
    for row in range(-1, size):
        empty = "·" if row >= 0 else ""
        line = "".join(f"  {texts.get((row, col), empty):<{width}}" for col in range(size))
        lines.append(f"{row:>{margin}}{line}")
    return "\n".join(line.rstrip() for line in lines)
