"""JSON and text of dots and boxes: states, moves, notation, one-line form, drawing.

Every refusal is a sentence. ``rules.py`` decides what is legal.
"""

import functools
import re
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.dots import rules
from ludodrome.games.dots.rules import BOARDS, DRAWN, DTYPE, NONCE_BITS, REASONS, board_edges
from ludodrome.jit import Record, packed, packing
from ludodrome.validation import show

STATE_KEYS = ("to_move", "rows", "cols", "h", "v", "owner", "scores", "turn", "nonce", "winner", "reason")
MOVE_KEYS = ("orient", "r", "c")
MAX_NONCE = (1 << NONCE_BITS) - 1
OWNER_SIGNS = {".": -1, "0": 0, "1": 1}

_PACKING = packing(DTYPE)
_BOARD = {size: board for board, size in enumerate(BOARDS)}
_BINARY = bytes.maketrans(b"\0\1", b"01")


@functools.cache
def _edges(rows: int, cols: int) -> list[tuple[str, int, int]]:
    """The edge of each number."""
    return board_edges(rows, cols)


@functools.cache
def _numbers(rows: int, cols: int) -> dict[tuple[str, int, int], int]:
    """The number of each edge."""
    return {edge: number for number, edge in enumerate(_edges(rows, cols))}


def _set_of(flags: list[bool]) -> int:
    """The bit set of the indices whose flag is set."""
    return int(bytes(flags)[::-1].translate(_BINARY), 2)


def _cut(flat: list[Any], width: int) -> list[list[Any]]:
    """Split a list into rows of ``width``."""
    return [flat[at : at + width] for at in range(0, len(flat), width)]


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """Read a JSON state into an array of one record; raise BadState."""
    rows, cols = options["rows"], options["cols"]
    validation.fields(state, STATE_KEYS, "a state of dots", BadState)
    validation.choice(state["rows"], [rows], "in this game rows", BadState)
    validation.choice(state["cols"], [cols], "in this game cols", BadState)
    drawn = _flatten(state["h"], rows + 1, cols, "h") + _flatten(state["v"], rows, cols + 1, "v")
    for number, flag in enumerate(drawn):
        if flag is not True and flag is not False:
            orient, r, c = _edges(rows, cols)[number]
            raise BadState(f"{orient.lower()}[{r}][{c}] is true or false, not {show(flag)}")
    owners = _flatten(state["owner"], rows, cols, "owner")
    for box, owner in enumerate(owners):
        if type(owner) is not int or not -1 <= owner <= 1:
            raise BadState(f"owner[{box // cols}][{box % cols}] is -1, 0 or 1, not {show(owner)}")
    to_move = validation.choice(state["to_move"], (0, 1, None), "to_move", BadState)
    nonce = validation.integer(state["nonce"], 0, MAX_NONCE, "nonce", BadState)
    states = _position(drawn, owners, to_move, nonce, rows, cols)
    _check_counts(state, states)
    return states


def _flatten(value: Any, rows: int, cols: int, where: str) -> list[Any]:
    """Check the shape of a list of lists and flatten it, row by row."""
    flat: list[Any] = []
    for r, row in enumerate(validation.items(value, rows, where, BadState)):
        flat += validation.items(row, cols, f"{where}[{r}]", BadState)
    return flat


def _position(drawn: list[bool], owners: list[int], to_move: int | None, nonce: int, rows: int, cols: int) -> Any:
    """Build the record; raise BadState if owners or the seat to move contradict the edges."""
    edges = _set_of(drawn)
    first, second = (_set_of([owner == seat for owner in owners]) for seat in (0, 1))
    seat = -1 if to_move is None else to_move
    fields = (edges, nonce, first, second, rows, cols, _BOARD[rows, cols], edges.bit_count(), seat, -1, 0)
    states = packed(DTYPE, _PACKING.pack(*fields))
    if wrong := int(rules.closed_boxes_of(states)) ^ (first | second):
        r, c = divmod((wrong & -wrong).bit_length() - 1, cols)
        if owners[r * cols + c] < 0:
            raise BadState(f"owner[{r}][{c}] is -1 although all four sides of that box are drawn; its owner is 0 or 1")
        raise BadState(f"owner[{r}][{c}] is {owners[r * cols + c]} although that box is open; an open box has -1")
    rules.judge_array(states)
    over = _PACKING.unpack(states.tobytes())[-1] != 0
    if over and to_move is not None:
        raise BadState(f"to_move is null once all edges are drawn, not {to_move}")
    if not over and to_move is None:
        raise BadState("to_move is 0 or 1 while an edge is undrawn, not null")
    return states


def _check_counts(state: dict[str, Any], states: Any) -> None:
    """Raise BadState if scores, turn, winner or reason contradict the record."""
    _, _, first, second, _, _, _, turn, _, winner, reason = _PACKING.unpack(states.tobytes())
    scores = validation.items(state["scores"], 2, "scores", BadState)
    for seat, boxes in enumerate((first, second)):
        validation.choice(scores[seat], [boxes.bit_count()], f"with these owners scores[{seat}]", BadState)
    validation.choice(state["turn"], [turn], "with these edges turn", BadState)
    validation.choice(state["reason"], [REASONS[reason]], "in this position reason", BadState)
    validation.choice(state["winner"], [None if winner < 0 else winner], "in this position winner", BadState)


def _drawn(edges: int, count: int) -> str:
    """1 for each drawn edge and 0 for the others, by edge number."""
    return f"{edges:0{count}b}"[::-1]


def _owners(first: int, second: int, count: int) -> list[int]:
    """The owner of each box, or -1."""
    return [0 if first >> box & 1 else 1 if second >> box & 1 else -1 for box in range(count)]


def format_state(record: Record) -> dict[str, Any]:
    """The JSON state of a record."""
    edges, nonce, first, second, rows, cols, _, turn, to_move, winner, reason = _PACKING.unpack(record.tobytes())
    drawn = [flag == "1" for flag in _drawn(edges, len(_edges(rows, cols)))]
    first_vertical = (rows + 1) * cols
    return {
        "to_move": None if to_move < 0 else to_move,
        "rows": rows,
        "cols": cols,
        "h": _cut(drawn[:first_vertical], cols),
        "v": _cut(drawn[first_vertical:], cols + 1),
        "owner": _cut(_owners(first, second, rows * cols), cols),
        "scores": [first.bit_count(), second.bit_count()],
        "turn": turn,
        "nonce": nonce,
        "winner": None if winner < 0 else winner,
        "reason": REASONS[reason],
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """Read the one-line form into an array of one record; raise BadState."""
    rows, cols = options["rows"], options["cols"]
    words = text.split() if type(text) is str else []
    if len(words) != 6:
        raise BadState(f"a position of dots is size, h, v, owners, seat to move and nonce, not {show(text)}")
    size, h, v, owner, to_move, nonce = words
    if size != f"{rows}x{cols}":
        raise BadState(f"the size is {rows}x{cols} in this game, not {show(size)}")
    flags = _parse_rows(h, rows + 1, cols, "01", "h") + _parse_rows(v, rows, cols + 1, "01", "v")
    signs = _parse_rows(owner, rows, cols, "".join(OWNER_SIGNS), "owner")
    if to_move not in ("0", "1", "-"):
        raise BadState(f"the seat to move is 0, 1 or -, not {show(to_move)}")
    if not (nonce.isascii() and nonce.isdigit() and len(nonce) <= len(str(MAX_NONCE)) and int(nonce) <= MAX_NONCE):
        raise BadState(f"the nonce is a whole number from 0 to {MAX_NONCE}, not {show(nonce)}")
    return _position(
        [flag == "1" for flag in flags],
        [OWNER_SIGNS[sign] for sign in signs],
        None if to_move == "-" else int(to_move),
        int(nonce),
        rows,
        cols,
    )


def _parse_rows(text: str, rows: int, cols: int, signs: str, where: str) -> str:
    """The signs of rows separated by slashes, without the slashes."""
    lines = text.split("/")
    if len(lines) != rows or any(len(line) != cols or not set(line) <= set(signs) for line in lines):
        right = validation.listing(signs, "or")
        raise BadState(f"{where} is {rows} times {cols} signs {right}, separated by '/', not {show(text)}")
    return "".join(lines)


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    edges, nonce, first, second, rows, cols, _, _, to_move, *_ = _PACKING.unpack(record.tobytes())
    drawn = _drawn(edges, len(_edges(rows, cols)))
    first_vertical = (rows + 1) * cols
    h = "/".join(drawn[at : at + cols] for at in range(0, first_vertical, cols))
    v = "/".join(drawn[at : at + cols + 1] for at in range(first_vertical, len(drawn), cols + 1))
    signs = "".join(".01"[owner + 1] for owner in _owners(first, second, rows * cols))
    owner = "/".join(signs[at : at + cols] for at in range(0, len(signs), cols))
    return f"{rows}x{cols} {h} {v} {owner} {'-' if to_move < 0 else to_move} {nonce}"


def render(record: Record) -> str:
    """The drawing, and a last line about the game."""
    edges, _, first, second, rows, cols, _, turn, to_move, winner, reason = _PACKING.unpack(record.tobytes())
    number = _numbers(rows, cols)
    owners = _owners(first, second, rows * cols)
    lines = ["   " + "".join(f"{c:<4}" for c in range(cols + 1))]
    for r in range(rows + 1):
        spans = ["───" if edges >> number["H", r, c] & 1 else "   " for c in range(cols)]
        lines.append(f"{r:2} •" + "".join(f"{span}•" for span in spans))
        if r < rows:
            walls = ["│" if edges >> number["V", r, c] & 1 else " " for c in range(cols + 1)]
            insides = [" 01"[owner + 1] for owner in owners[r * cols : (r + 1) * cols]]
            lines.append("   " + walls[0] + "".join(f" {x} {wall}" for x, wall in zip(insides, walls[1:], strict=True)))
    if not reason:
        end = f"seat {to_move} to move"
    else:
        end = f"{'drawn' if winner < 0 else f'seat {winner} won'}: {REASONS[reason]}"
    lines.append(f"turn {turn}, boxes {first.bit_count()}-{second.bit_count()}, {end}")
    return "\n".join(line.rstrip() for line in lines)


# Moves


def _size(states: Any) -> tuple[int, int]:
    """Rows and columns of boxes."""
    fields = _PACKING.unpack(states.tobytes())
    return fields[4], fields[5]


def parse_move(move: Any, states: Any) -> int:
    """The action of a JSON move on this board; raise IllegalMove if it is malformed."""
    validation.fields(move, MOVE_KEYS, "a move", IllegalMove)
    orient = validation.choice(move["orient"], ("H", "V"), "'orient'", IllegalMove)
    for name in ("r", "c"):
        if type(move[name]) is not int:
            raise IllegalMove(f"{name!r} is a whole number, not {show(move[name])}")
    return _number(orient, move["r"], move["c"], *_size(states))


def _number(orient: str, r: int, c: int, rows: int, cols: int) -> int:
    """The number of an edge; raise IllegalMove if the board does not have it."""
    number = _numbers(rows, cols).get((orient, r, c))
    if number is None:
        max_r, max_c = (rows, cols - 1) if orient == "H" else (rows - 1, cols)
        raise IllegalMove(
            f"there is no edge {orient}({show(r)},{show(c)}) on {rows} x {cols} boxes; "
            f"{orient}(r,c) has r from 0 to {max_r} and c from 0 to {max_c}"
        )
    return number


def format_moves(actions: list[int], record: Record) -> list[dict[str, Any]]:
    """The JSON moves of legal actions of one position."""
    edges = _edges(*_size(record))
    return [{"orient": orient, "r": r, "c": c} for orient, r, c in map(edges.__getitem__, actions)]


WHY = {
    GAME_OVER: "the game is over",
    DRAWN: "{edge} is already drawn; a move draws an undrawn edge",
}
"""Fault -> sentence."""


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of an action in this position."""
    return WHY[fault].format(edge=format_notation(action, record))


# The notation for people

_LONGEST = 100
_SPACING = str.maketrans("()[],", "     ")
_EDGE = re.compile(r"([HV]) ?([0-9]+)(?: ([0-9]+))?(?: \+[12])?")


def format_notation(action: int, record: Record) -> str:
    """``H(2,3)``."""
    return notations(*_size(record))[action]


@functools.cache
def notations(rows: int, cols: int) -> list[str]:
    """The notation of each edge."""
    return [f"{orient}({r},{c})" for orient, r, c in _edges(rows, cols)]


def format_label(notation: str, boxes: int) -> str:
    """The notation, with the number of boxes that the edge closes: ``H(2,3) +1``."""
    return f"{notation} +{boxes}" if boxes else notation


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal action that the text names; raise IllegalMove."""
    if type(text) is not str or len(text) > _LONGEST:
        raise IllegalMove(f"a move is a short text like 'H(2,3)', not {show(text)}")
    match = _EDGE.fullmatch(" ".join(text.translate(_SPACING).split()).upper())
    if not match:
        raise IllegalMove(f"a move is written like 'H(2,3)', 'v 0 5' or 'H23', not {show(text)}")
    orient, first, second = match.groups()
    if second is None:
        if len(first) != 2:
            raise IllegalMove(f"{show(text)} does not say where r ends and c begins; write {orient}(r,c)")
        first, second = first[0], first[1]
    action = _number(orient, int(first), int(second), *_size(states))
    if action not in legal:
        raise IllegalMove(explain(DRAWN, action, states[0]))
    return action
