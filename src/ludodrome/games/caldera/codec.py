"""JSON and text of caldera: states, moves, notation, one-line form, drawing.

Every refusal is a sentence. ``rules.py`` decides what is legal.
"""

import re
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.caldera import rules
from ludodrome.games.caldera.rules import (
    ACTIONS,
    CAPTURED,
    CELLS,
    CROWN,
    DTYPE,
    ERUPTED,
    FORGE,
    LANCERS,
    LEAP,
    NOWHERE,
    REASONS,
    SEATS,
    SIDE,
    SLOTS,
    SMITHS,
    TO,
    VENT,
)
from ludodrome.jit import Record, packed, packing
from ludodrome.search.entry_points import make_kernels
from ludodrome.validation import show

_KERNELS = make_kernels(rules.RULES)

STATE_KEYS = ("board", "p0", "p1", "ply", "winner", "reason")
PIECE_KEYS = ("type", "r", "c")
MOVE_KEYS = {"move": ("action", "from", "to"), "forge": ("action", "smith", "target")}
KINDS = ("crown", "lancer", "smith")
LETTERS = {kind[0]: kind for kind in KINDS}
KIND = tuple("lancer" if slot in LANCERS else "smith" if slot in SMITHS else "crown" for slot in range(SLOTS))
"""slot -> kind."""
LAST_WORDS = {"captured": CAPTURED, "erupted": ERUPTED}
NAMES = [f"{cell // SIDE}{cell % SIDE}" for cell in range(CELLS)]
"""cell -> name: row and column."""

_PACKING = packing(DTYPE)
_TO = TO.tolist()
_ABOVE = [bytes(b"01"[height > k] for height in range(256)) for k in range(VENT)]  # a vent, -1, is byte 255
_GROUND = {str(height): height for height in range(VENT)} | {str(VENT): -1}
"""The digit of a height in rules.py -> the height in JSON."""

Fields = tuple[tuple[int, ...], tuple[int, ...], int, int, int]
"""The four levels, the ten cells, ply, winner and reason of a record."""


def _fields(record: Record) -> Fields:
    every = _PACKING.unpack(record.tobytes())
    return every[:VENT], every[VENT:-4], every[-4], every[-2], every[-1]


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """Read a JSON state into an array of one record; raise BadState."""
    turn_limit = options["turn_limit"]
    validation.fields(state, STATE_KEYS, "a state of caldera", BadState)
    ply = validation.integer(state["ply"], 0, turn_limit, "ply", BadState)
    heights: list[int] = []
    for r, row in enumerate(validation.items(state["board"], SIDE, "board", BadState)):
        for c, height in enumerate(validation.items(row, SIDE, f"board[{r}]", BadState)):
            if type(height) is not int or not -1 <= height < VENT:
                raise BadState(f"board has {show(height)} on {r}{c}; a height is 0 to {VENT - 1}, and a vent is -1")
            heights.append(height)
    cells = _parse_pieces(state["p0"], 0) + _parse_pieces(state["p1"], 1)
    states = _position(heights, cells, ply, turn_limit)
    winner, reason = _PACKING.unpack(states.tobytes())[-2:]
    possible = LAST_WORDS.values() if reason == ERUPTED else (reason,)
    claimed = validation.choice(
        state["reason"], [REASONS[number] for number in possible], "in this position reason", BadState
    )
    validation.choice(state["winner"], [None if winner < 0 else winner], "in this position winner", BadState)
    states["reason"] = REASONS.index(claimed)
    return states


def _parse_pieces(value: Any, seat: int) -> list[int]:
    """The five cells of a seat from its list in JSON."""
    where = f"p{seat}"
    if type(value) is not list or len(value) > SLOTS:
        raise BadState(f"{where} is a list of at most {SLOTS} pieces, not {show(value)}")
    pieces = []
    for index, piece in enumerate(value):
        one = f"{where}[{index}]"
        validation.fields(piece, PIECE_KEYS, one, BadState)
        kind = validation.choice(piece["type"], KINDS, f"'type' of {one}", BadState)
        r, c = (validation.integer(piece[key], 0, SIDE - 1, f"'{key}' of {one}", BadState) for key in ("r", "c"))
        pieces.append((kind, r * SIDE + c))
    return _slots(pieces, seat)


def _slots(pieces: list[tuple[str, int]], seat: int) -> list[int]:
    """The five cells of a seat from listed kinds and cells; NOWHERE for fallen pieces."""
    cells = [NOWHERE] * SLOTS
    free = list(range(SLOTS))
    for kind, cell in pieces:
        while free and KIND[free[0]] != kind:
            free.pop(0)
        if not free:
            found, most = sum(other == kind for other, _ in pieces), KIND.count(kind)
            if found > most:
                raise BadState(f"seat {seat} has {found} pieces of the kind {kind}; it can have at most {most}")
            raise BadState(
                f"the pieces of seat {seat} are listed crown, lancers, smiths; a {kind} comes too late there"
            )
        cells[free.pop(0)] = cell
    return cells


def _position(heights: list[int], cells: list[int], ply: int, turn_limit: int) -> Any:
    """Build an array of one record with its end; raise BadState if a piece is where none can be."""
    taken: set[int] = set()
    for index, cell in enumerate(cells):
        if cell == NOWHERE:
            continue
        if cell in taken:
            raise BadState(f"two pieces are on {NAMES[cell]}")
        if heights[cell] < 0:
            raise BadState(f"the {KIND[index % SLOTS]} of seat {index // SLOTS} is on a vent, on {NAMES[cell]}")
        taken.add(cell)
    for seat in range(SEATS):
        if ply == 0 and cells[seat * SLOTS + CROWN] == NOWHERE:
            raise BadState(f"seat {seat} has no crown, but no turn has been made at ply 0")
    backwards = bytes(height & 255 for height in reversed(heights))
    levels = [int(backwards.translate(table), 2) for table in _ABOVE]
    states = packed(DTYPE, _PACKING.pack(*levels, *cells, ply, turn_limit, -1, 0))
    rules.judge_array(states)
    return states


def _digits(levels: tuple[int, ...]) -> str:
    """49 digits in row order. Bit sets read as decimal numbers add up digit by digit, to 4 (a vent) at most."""
    return f"{sum(int(f'{level:b}') for level in levels):0{CELLS}d}"[::-1]


def format_state(record: Record) -> dict[str, Any]:
    """The JSON state of a record."""
    levels, cells, ply, winner, reason = _fields(record)
    ground = [_GROUND[digit] for digit in _digits(levels)]
    sides = [
        [
            {"type": kind, "r": cell // SIDE, "c": cell % SIDE}
            for kind, cell in zip(KIND, cells[seat * SLOTS : seat * SLOTS + SLOTS], strict=True)
            if cell != NOWHERE
        ]
        for seat in range(SEATS)
    ]
    return {
        "board": [ground[row : row + SIDE] for row in range(0, CELLS, SIDE)],
        "p0": sides[0],
        "p1": sides[1],
        "ply": ply,
        "winner": None if winner < 0 else winner,
        "reason": REASONS[reason],
    }


# The one-line form

_ROWS = re.compile(rf"[0-3x]{{{SIDE}}}(?:/[0-3x]{{{SIDE}}}){{{SIDE - 1}}}")
_PIECES = re.compile(rf"-|(?:[cls][0-6][0-6]){{1,{SLOTS}}}")
_PLY = re.compile(r"[0-9]{1,10}")


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """Read the one-line form into an array of one record; raise BadState."""
    words = text.split() if type(text) is str else []
    if len(words) not in (4, 5):
        raise BadState(
            "a position of caldera is the heights, the pieces of seat 0 and of seat 1, the ply, "
            f"and sometimes 'captured' or 'erupted', not {show(text)}"
        )
    if not _ROWS.fullmatch(words[0]):
        raise BadState(
            f"the heights are seven rows of seven of 0, 1, 2, 3 and x separated by '/', not {show(words[0])}"
        )
    cells: list[int] = []
    for seat, word in enumerate(words[1:3]):
        if not _PIECES.fullmatch(word):
            raise BadState(f"the pieces of seat {seat} are written like c63l61s62, or - for none, not {show(word)}")
        named = [word[at : at + 3] for at in range(0, len(word) - 2, 3)]
        cells += _slots([(LETTERS[name[0]], int(name[1]) * SIDE + int(name[2])) for name in named], seat)
    if not _PLY.fullmatch(words[3]):
        raise BadState(f"ply is a whole number, not {show(words[3])}")
    ply = validation.integer(int(words[3]), 0, options["turn_limit"], "ply", BadState)
    heights = [-1 if sign == "x" else int(sign) for sign in words[0] if sign != "/"]
    states = _position(heights, cells, ply, options["turn_limit"])
    if _PACKING.unpack(states.tobytes())[-1] == ERUPTED:
        last = words[4] if len(words) == 5 else None
        states["reason"] = LAST_WORDS[
            validation.choice(
                last, list(LAST_WORDS), f"with the crown of seat {ply % 2} gone, the fifth word", BadState
            )
        ]
    elif len(words) == 5:
        raise BadState(
            f"this position has no fifth word, such as {show(words[4])}: the other four determine its result"
        )
    return states


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    levels, cells, ply, _, reason = _fields(record)
    digits = _digits(levels).replace(str(VENT), "x")
    words = ["/".join(digits[row : row + SIDE] for row in range(0, CELLS, SIDE))]
    for seat in range(SEATS):
        own = cells[seat * SLOTS : seat * SLOTS + SLOTS]
        words.append("".join(KIND[slot][0] + NAMES[cell] for slot, cell in enumerate(own) if cell != NOWHERE) or "-")
    words.append(str(ply))
    words += [word for word, number in LAST_WORDS.items() if number == reason]
    return " ".join(words)


def render(record: Record) -> str:
    """The drawing, and a last line about the game."""
    levels, cells, ply, winner, reason = _fields(record)
    digits = _digits(levels)
    signs = [".#"[digit == str(VENT)] if digit in "04" else digit for digit in digits]
    for index, cell in enumerate(cells):
        if cell != NOWHERE:
            letter = KIND[index % SLOTS][0]
            signs[cell] = (letter.upper() if index >= SLOTS else letter) + digits[cell].replace("0", "")
    lines = ["  " + "  ".join(str(column) for column in range(SIDE))]
    for row in range(SIDE):
        line = "".join(f"{sign:3}" for sign in signs[row * SIDE : row * SIDE + SIDE])
        lines.append(f"{row} {line}".rstrip())
    if not reason:
        end = f"seat {ply % SEATS} to move"
    else:
        end = f"{'drawn' if winner < 0 else f'seat {winner} won'}: {REASONS[reason]}"
    return "\n".join([*lines, f"ply {ply}, {end}"])


# Moves


def _aims(forge: bool) -> list[list[dict[int, int]]]:
    """Slot and cell -> {target: action} of the piece, forging or moving."""
    return [
        [
            {
                _TO[cell][action]: action
                for action, (of, kind, _) in enumerate(ACTIONS)
                if of == slot and (kind == FORGE) == forge and _TO[cell][action] != NOWHERE
            }
            for cell in range(CELLS)
        ]
        for slot in range(SLOTS)
    ]


_MOVES, _FORGES = _aims(False), _aims(True)


def parse_move(move: Any, states: Any) -> int:
    """The action of a JSON move in this position; raise IllegalMove if it is malformed."""
    word = move.get("action") if type(move) is dict else None
    if type(word) is not str or word not in MOVE_KEYS:
        raise IllegalMove(
            'a move of caldera is {"action": "move", "from": [r, c], "to": [r, c]} or '
            '{"action": "forge", "smith": [r, c], "target": [r, c]}, '
            f"not {show(move) if type(move) is not dict else 'action = ' + show(word)}"
        )
    keys = MOVE_KEYS[word]
    validation.fields(move, keys, f"a {word}", IllegalMove)
    source, to = (_parse_cell(move[key], f"'{key}' of a {word}") for key in keys[1:])
    return _action(word == "forge", source, to, _fields(states))


def _parse_cell(value: Any, where: str) -> int:
    pair = validation.items(value, 2, where, IllegalMove)
    r, c = (validation.integer(number, 0, SIDE - 1, f"each number of {where}", IllegalMove) for number in pair)
    return r * SIDE + c


def _action(forge: bool, source: int, to: int, fields: Fields) -> int:
    """The action of the mover's piece on ``source`` with target ``to``, legal or not."""
    _, cells, ply, _, _ = fields
    first = ply % SEATS * SLOTS
    if source not in cells[first : first + SLOTS]:
        there = f"a {KIND[cells.index(source) % SLOTS]} of seat {1 - ply % SEATS}" if source in cells else "nobody"
        raise IllegalMove(f"you have no piece on {NAMES[source]}: there is {there}, and seat {ply % SEATS} is to move")
    slot = cells.index(source) - first
    action = (_FORGES if forge else _MOVES)[slot][source].get(to)
    if action is not None:
        return action
    if not forge:
        steps = "one step, or two in one direction," if slot in LANCERS else "one step"
        raise IllegalMove(f"a {KIND[slot]} moves {steps} and cannot get from {NAMES[source]} to {NAMES[to]}")
    if slot not in SMITHS:
        raise IllegalMove(f"only a smith can forge, and your piece on {NAMES[source]} is a {KIND[slot]}")
    raise IllegalMove(
        f"the smith on {NAMES[source]} forges only the cells above, below, left and right of it, and {NAMES[to]} is "
        "not one of them"
    )


def _aim(action: int, fields: Fields) -> tuple[int, int]:
    """The cell of the acting piece and its target, or NOWHERE."""
    _, cells, ply, _, _ = fields
    source = cells[ply % SEATS * SLOTS + ACTIONS[action][0]]
    return source, _TO[source][action]


def format_moves(actions: list[int], record: Record) -> list[dict[str, Any]]:
    """The JSON moves of legal actions of one position."""
    fields = _fields(record)
    moves: list[dict[str, Any]] = []
    for action in actions:
        source, to = (list(divmod(cell, SIDE)) for cell in _aim(action, fields))
        if ACTIONS[action][1] == FORGE:
            moves.append({"action": "forge", "smith": source, "target": to})
        else:
            moves.append({"action": "move", "from": source, "to": to})
    return moves


_TOO_STEEP = "climbs {climb}; a step climbs at most 1"
WHY = {
    GAME_OVER: "the game is over",
    rules.NO_PIECE: "the piece of this action is gone",
    rules.LEADS_OFF_BOARD: "the action leads off the board",
    rules.VENT_BETWEEN: "the way from {source} to {to} leads over the vent on {middle}, which nobody can cross",
    rules.VENT_THERE: "{to} is a vent, which nobody can enter",
    rules.OWN_PIECE_THERE: "your own piece is on {to}",
    rules.TOO_STEEP: f"the step from {{source}} to {{to}} {_TOO_STEEP}",
    rules.FIRST_TOO_STEEP: f"the first step, from {{source}} to {{middle}}, {_TOO_STEEP}",
    rules.SECOND_TOO_STEEP: f"the second step, from {{middle}} to {{to}}, {_TOO_STEEP}",
    rules.FORGE_ON_VENT: "{to} is a vent, which no forge can raise",
    rules.FORGE_OCCUPIED: "a piece is on {to}, and a smith forges only empty cells",
}
"""Fault -> sentence."""


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of an action in this position."""
    if fault in (GAME_OVER, rules.NO_PIECE, rules.LEADS_OFF_BOARD):
        return WHY[fault]
    fields = _fields(record)
    digits = _digits(fields[0])
    _, kind, direction = ACTIONS[action]
    source, to = _aim(action, fields)
    middle = _TO[source][direction] if kind == LEAP else source  # as the crown's action of this direction
    start, end = (source, middle) if fault == rules.FIRST_TOO_STEEP else (middle, to)
    climb = int(digits[end]) - int(digits[start])
    return WHY[fault].format(source=NAMES[source], middle=NAMES[middle], to=NAMES[to], climb=climb)


# The notation for people

_BETWEEN = "[-,x^]*"
_NOTATION = re.compile(_BETWEEN + "([cls]?)" + _BETWEEN + _BETWEEN.join(["([0-9])"] * 4) + _BETWEEN)
_LONGEST = 100


def format_notation(action: int, record: Record) -> str:
    """``C63-53``, ``L61x43`` for a capture, ``S62^52`` for a forge."""
    fields = _fields(record)
    slot, kind, _ = ACTIONS[action]
    source, to = _aim(action, fields)
    sign = "^" if kind == FORGE else "x" if to in fields[1] else "-"
    return f"{KIND[slot][0].upper()}{NAMES[source]}{sign}{NAMES[to]}"


def format_label(notation: str, state: Any) -> str:
    """The notation of a legal move in words: ``S62^52`` is ``S62 forges 52``, and perhaps ``, erupts``."""
    source, forge, target = notation.partition("^")
    if not forge:
        return notation
    erupts = state["board"][int(target[0])][int(target[1])] == VENT - 1
    return f"{source} forges {target}" + (", erupts" if erupts else "")


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal action that the text names; raise IllegalMove."""
    squeezed = "".join(text.split()).lower() if type(text) is str and len(text) <= _LONGEST else ""
    squeezed = re.sub(",?erupts$", "", re.sub("forges?", "^", squeezed))
    match = _NOTATION.fullmatch(squeezed)
    if not match:
        raise IllegalMove(f"a move is written like 'C63-53', 'L61x43' or 'S62^52', not {show(text)}")
    letter, *digits = match.groups()
    if max(digits) >= str(SIDE):
        raise IllegalMove(f"rows and columns go from 0 to {SIDE - 1}, and {show(text)} has a {max(digits)}")
    a, b, c, d = (int(digit) for digit in digits)
    source, to = a * SIDE + b, c * SIDE + d
    fields = _fields(states)
    action = _action("^" in squeezed, source, to, fields)
    kind = KIND[ACTIONS[action][0]]
    if letter and LETTERS[letter] != kind:
        raise IllegalMove(f"your piece on {NAMES[source]} is a {kind}, not a {LETTERS[letter]}")
    if action not in legal:
        raise IllegalMove(explain(_KERNELS.fault(states, action), action, states[0]))
    return action
