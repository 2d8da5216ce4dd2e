"""Moves in JSON and text: a board, or a deck of ten.

What a seat lays in one turn is a *lay* here: a list of boards as actions, ten in the mode ``deck``,
else one. Its shape is read first; the kernels judge while they lay it, and ``legality.py`` is asked
only for what is wrong.
"""

import json
from typing import Any, TypeAlias

import numpy as np

from ludodrome import validation
from ludodrome.game import IllegalMove
from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import (
    DECK,
    BadShape,
    actions_of,
    format_board,
    is_finished,
    most_steps,
    read_board,
    steps_of,
)
from ludodrome.games.spaces.legality import each_fault, refusal
from ludodrome.games.spaces.notation import format_code, parse_code
from ludodrome.validation import show

Lay: TypeAlias = list[bytes]
Options: TypeAlias = dict[str, Any]

_JSON_STEP = 250
"""So many characters are ample for a step in JSON and its share of the rest."""


# Laying


def lay_boards(states: Any, boards: Lay, names: list[str]) -> None:
    """Lay boards one after another; IllegalMove says what is wrong with the first that is not legal."""
    done = kernels.lay(states, np.frombuffer(b"".join(boards), np.uint8))
    for board, name in zip(boards, names, strict=True):
        if done < len(board):
            size, live = int(states["side"][0]), bool(states["live"][0])
            raise IllegalMove(name + refusal(each_fault(steps_of(board, size), size, live)))
        done -= len(board)


def lay_names(count: int) -> list[str]:
    """How the boards of one lay are called in complaints."""
    return [""] if count == 1 else [f"board {number}: " for number in range(1, count + 1)]


# JSON


def read_finished(board: Any, options: Options, grid_allowed: bool = True) -> bytes:
    """The actions of a board that has a finish and no jumps; else IllegalMove. Laying it tells whether it is legal."""
    size = options["size"]
    try:
        steps = read_board(board, size, grid_allowed)
    except BadShape as wrong:
        raise IllegalMove(str(wrong)) from None
    actions = actions_of(steps, size)
    if actions is None or not is_finished(actions, size):
        raise IllegalMove(refusal(each_fault(steps, size, options["rules"] == "live")))
    return actions


def parse_lay(move: Any, options: Options, grid_allowed: bool = True) -> Lay:
    """The boards of a JSON move, or IllegalMove. Laying them tells whether they are legal."""
    if options["mode"] != "deck":
        return [read_finished(move, options, grid_allowed)]
    validation.fields(move, ("deck",), "a move in the mode 'deck'", IllegalMove)
    boards = validation.items(move["deck"], DECK, "deck", IllegalMove)
    return [
        _named(read_finished, name, board, options, grid_allowed)
        for board, name in zip(boards, lay_names(DECK), strict=True)
    ]


def format_lay(boards: Lay, options: Options) -> dict[str, Any]:
    """The JSON move of boards, as it stands in ``chosen``."""
    if options["mode"] == "deck":
        return {"deck": [format_board(board, options["size"]) for board in boards]}
    return format_board(boards[0], options["size"])


# Text


def parse_lay_text(text: Any, options: Options) -> Lay:
    """The boards of a code, of ten codes, or of the JSON text of a move, or IllegalMove."""
    most = _JSON_STEP * (most_steps(options["size"]) + 4) * (DECK if options["mode"] == "deck" else 1)
    if type(text) is not str or len(text) > most:
        raise IllegalMove(f"a move of spaces is a text like 3:1:u6uf, or the board in JSON, not {show(text)}")
    if text.lstrip()[:1] != "{":
        return parse_codes(text, options)
    try:
        move = json.loads(text)
    except (ValueError, RecursionError):
        raise IllegalMove(f"the text begins like JSON and is none: {show(text)}") from None
    return parse_lay(move, options)


def parse_codes(text: str, options: Options) -> Lay:
    """The boards of a code, or of ten codes joined by commas, or IllegalMove."""
    codes = text.split(",")
    count = DECK if options["mode"] == "deck" else 1
    if len(codes) != count:
        right = f"{DECK} codes joined by commas" if count > 1 else "one code like 3:1:u6uf"
        raise IllegalMove(f"a move in the mode {options['mode']!r} is {right}, not {len(codes)}")
    return [_named(_parse_finished, name, code, options) for code, name in zip(codes, lay_names(count), strict=True)]


def _parse_finished(code: str, options: Options) -> bytes:
    size, actions = parse_code(code)
    if size != options["size"]:
        raise IllegalMove(f"this is a board of size {size}, and the game's size is {options['size']} (R2)")
    if not is_finished(actions, size):
        raise IllegalMove(refusal(each_fault(steps_of(actions, size), size, options["rules"] == "live")))
    return actions


def format_lay_text(boards: Lay, size: int) -> str:
    """The codes of boards."""
    return ",".join(format_code(board, size) for board in boards)


def _named(read: Any, name: str, *arguments: Any) -> bytes:
    """What ``read`` gives; its complaint begins with a name."""
    try:
        board: bytes = read(*arguments)
    except IllegalMove as wrong:
        raise IllegalMove(f"{name}{wrong}") from None
    return board
