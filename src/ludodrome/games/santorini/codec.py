"""JSON and text of santorini: states, moves as text, one-line form, drawing.

Every refusal is a sentence that begins with its kind. ``rules.py`` decides what is legal.
"""

import re
from functools import cache
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.games.santorini import rules
from ludodrome.games.santorini.rules import DTYPE, MAX_SEATS, REASONS, WORKERS
from ludodrome.games.towers import (
    BUILD_OCCUPIED,
    BUILD_OFF_BOARD,
    BUILD_ON_DOME,
    CELL,
    CELLS,
    DIRECTION,
    DOME,
    NAMES,
    OFF_BOARD,
    SIDE,
    STEP,
    STEP_OCCUPIED,
    STEP_OFF_BOARD,
    STEP_ON_DOME,
    STEP_TOO_HIGH,
    SUMMIT,
    draw,
    height_bytes,
    height_digits,
    height_rows,
    parse_cells,
    parse_height_rows,
    parse_number,
    read_heights,
)
from ludodrome.jit import Record, packed, packing, python
from ludodrome.search.entry_points import make_kernels
from ludodrome.validation import show

_KERNELS = make_kernels(rules.RULES)

STATE_KEYS = ("players", "ply", "to_move", "board", "workers", "winner", "reason")
LETTERS = "NWG"
COLOURS = ("Navy", "White", "Grey")
MAX_PLIES = 1_000_000_000
"""Fits the record even after a whole further game: every turn builds one of MAX_TURNS levels."""
EXAMPLE = "[N1C2B2C3]"

_PACKING = packing(DTYPE)
_STEP = STEP.tolist()
_DIRECTION = DIRECTION.tolist()
_SPLIT = [python(rules.split)(action) for action in range(rules.NUM_ACTIONS)]


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """Read a JSON state into an array of one record; raise BadState."""
    validation.fields(state, STATE_KEYS, "a state of santorini", BadState)
    players = options["players"]
    validation.same(state["players"], players, "players", BadState)
    ply = validation.integer(state["ply"], 0, MAX_PLIES, "ply", BadState)
    heights: list[Any] = []
    for row, values in enumerate(validation.items(state["board"], SIDE, "board", BadState)):
        heights += validation.items(values, SIDE, f"board[{row}]", BadState)
    names: list[Any] = []
    for seat, pair in enumerate(validation.items(state["workers"], players, "workers", BadState)):
        names += validation.items(pair, WORKERS, f"workers[{seat}]", BadState)
    states = _position(heights, names, ply, players)
    winner, reason, _ = _PACKING.unpack(states)[-3:]
    to_move = None if reason else ply % players
    validation.same(state["reason"], REASONS[reason], "in this position reason", BadState)
    validation.same(state["winner"], None if winner < 0 else winner, "in this position winner", BadState)
    validation.same(state["to_move"], to_move, "in this position to_move", BadState)
    return states


def _position(rows: list[Any], names: list[Any], ply: int, players: int) -> Any:
    """Build an array of one record from heights and the names of the workers' squares, with its end."""
    heights = read_heights(rows, "board")
    most = MAX_PLIES - rules.MAX_TURNS + sum(heights)
    if ply > most:
        raise BadState(f"ply is at most {most} with these heights, not {ply}")
    for name in names:
        if type(name) is not str or name not in CELL:
            raise BadState(f"workers has {show(name)}; a square is a text from 'A1' to 'E5'")
    cells = [CELL[name] for name in names]
    last = (ply - 1) % players
    for index, cell in enumerate(cells):
        if cells.count(cell) > 1:
            raise BadState(f"workers has two on {NAMES[cell]}")
        if heights[cell] == DOME:
            raise BadState(f"workers has one on the dome on {NAMES[cell]}")
        other = cells[index ^ 1]
        if heights[cell] == SUMMIT and (index // WORKERS != last or heights[other] >= SUMMIT):
            raise BadState(
                f"workers has one on level 3 on {NAMES[cell]}; only the last mover, "
                f"{COLOURS[last]} here, can be there, with one worker"
            )
    idle = [0] * WORKERS * (MAX_SEATS - players)
    states = packed(DTYPE, _PACKING.pack(0, 0, 0, 0, *cells, *idle, players, -1, 0, ply))
    rules.set_up(states, heights)
    return states


def format_state(record: Record) -> dict[str, Any]:
    """The JSON state of a record."""
    *fields, players, winner, reason, ply = _PACKING.unpack(record)
    heights = list(height_bytes(tuple(fields[:4])))
    cells = fields[4:]
    return {
        "players": players,
        "ply": ply,
        "to_move": None if reason else ply % players,
        "board": [heights[row : row + SIDE] for row in range(0, CELLS, SIDE)],
        "workers": [[NAMES[cells[k]], NAMES[cells[k + 1]]] for k in range(0, WORKERS * players, WORKERS)],
        "winner": None if winner < 0 else winner,
        "reason": REASONS[reason],
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """Read the one-line form into an array of one record; raise BadState."""
    players = options["players"]
    words = text.split() if type(text) is str else []
    if len(words) != 2 + players:
        raise BadState(
            f"a position of santorini with {players} players is heights, {players} pairs of squares and the ply, "
            f"not {show(text)}"
        )
    heights = parse_height_rows(words[0])
    names: list[str] = []
    for word in words[1:-1]:
        names += validation.items(parse_cells(word), WORKERS, f"a pair like C2B3 (here {show(word)})", BadState)
    ply = validation.integer(parse_number(words[-1], "ply"), 0, MAX_PLIES, "ply", BadState)
    return _position(heights, names, ply, players)


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    *fields, players, _, _, ply = _PACKING.unpack(record)
    cells = fields[4:]
    pairs = " ".join(NAMES[cells[k]] + NAMES[cells[k + 1]] for k in range(0, WORKERS * players, WORKERS))
    return f"{height_rows(tuple(fields[:4]))} {pairs} {ply}"


def render(record: Record) -> str:
    """The drawing as on the rules page."""
    *fields, players, _, _, _ = _PACKING.unpack(record)
    marks = {cell: _worker(k) for k, cell in enumerate(fields[4 : 4 + WORKERS * players])}
    return draw(height_digits(tuple(fields[:4])), marks)


def _worker(index: int) -> str:
    """N1, N2, W1, ... by seat and number."""
    return f"{LETTERS[index // WORKERS]}{index % WORKERS + 1}"


# Moves

_CANONICAL = re.compile(r"\[([NWG])([12])([A-E][1-5])([A-E][1-5])([A-E][1-5])\]")
_SPOKEN = re.compile(r"\[\s*([nwg])\s*([12])\s*([a-e]\s*[1-5])\s*([a-e]\s*[1-5])\s*([a-e]\s*[1-5])\s*\]", re.IGNORECASE)


_LABEL = re.compile(r"(?:[nwg]?[12])?([a-e][1-5])-([a-e][1-5])builds?([a-e][1-5])", re.IGNORECASE)
_LONGEST = 100


def parse_move(move: Any, states: Any) -> int:
    """The action of a canonical text; raise IllegalMove if it cannot be one here."""
    match = _CANONICAL.fullmatch(move) if type(move) is str else None
    if match is None:
        raise IllegalMove(f"Format: a move is a text like {EXAMPLE}, upper case and without blanks, not {show(move)}.")
    return _action(match.groups(), states)


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The action of the first bracketed move in a text, read leniently, or of a label that is the whole text."""
    match = _SPOKEN.search(text) if type(text) is str else None
    if match is None and (words := _label_words(text, states)):
        action = _action(words, states)
    elif match is None:
        raise IllegalMove(f"Format: no move like {EXAMPLE} was found in {show(text)}.")
    else:
        action = _action(tuple("".join(group.split()).upper() for group in match.groups()), states)
    fault = _KERNELS.fault(states, action)
    if fault:
        raise IllegalMove(explain(fault, action, states[0]))
    return action


def format_label(notation: str) -> str:
    """The canonical text in words: ``[N1C2B2C3]`` is ``C2-B2 build C3``."""
    return f"{notation[3:5]}-{notation[5:7]} build {notation[7:9]}"


def _label_words(text: Any, states: Any) -> tuple[str, ...] | None:
    """The five words of a label, with the worker that stands on its first square; None if it is none."""
    match = _LABEL.fullmatch("".join(text.split())) if type(text) is str and len(text) <= _LONGEST else None
    if match is None:
        return None
    *fields, players, _, _, ply = _PACKING.unpack(states)
    seat = ply % players
    squares = tuple(group.upper() for group in match.groups())
    own = [NAMES[cell] for cell in fields[4 + seat * WORKERS : 4 + (seat + 1) * WORKERS]]
    number = own.index(squares[0]) + 1 if squares[0] in own else 1
    return LETTERS[seat], str(number), *squares


def _action(words: tuple[str | Any, ...], states: Any) -> int:
    """The action of letter, number, source, destination and build; checks only the geometry."""
    letter, number, *squares = words
    *fields, players, _, _, ply = _PACKING.unpack(states)
    seat = ply % players
    own = LETTERS[seat]
    if letter != own:
        raise IllegalMove(f"Not your worker: {letter}{number}, and {COLOURS[seat]} is to move ({own}1 or {own}2).")
    worker = int(number) - 1
    cell = fields[4 + seat * WORKERS + worker]
    source, to, at = (CELL[square] for square in squares)
    if source != cell:
        raise IllegalMove(f"No such worker there: {own}{number} is on {NAMES[cell]}, not on {squares[0]}.")
    direction, build_direction = _DIRECTION[source][to], _DIRECTION[to][at]
    if direction == OFF_BOARD:
        raise IllegalMove(f"Cannot move there: {squares[1]} is not adjacent to {squares[0]}.")
    if build_direction == OFF_BOARD:
        step = worker * rules.STEPS_OF_WORKER + direction * rules.BUILDS
        if (fault := _KERNELS.fault(states, step)) in _STEP_FAULTS:
            raise IllegalMove(explain(fault, step, states[0]))
        raise IllegalMove(f"Cannot build there: {squares[2]} is not adjacent to {squares[1]}.")
    return worker * rules.STEPS_OF_WORKER + direction * rules.BUILDS + build_direction


def format_moves(actions: list[int], record: Record) -> list[str]:
    """The canonical texts of legal actions of one position."""
    *fields, players, _, _, ply = _PACKING.unpack(record)
    seat = ply % players
    sources = fields[4 + seat * WORKERS : 4 + seat * WORKERS + WORKERS]
    texts = [_texts(seat, worker, source) for worker, source in enumerate(sources)]
    return [texts[_SPLIT[action][0]][action] for action in actions]


@cache
def _texts(seat: int, worker: int, source: int) -> dict[int, str]:
    """The texts of a worker's actions on a square, by action; those that leave the board have none."""
    found = {}
    for action, (who, direction, target) in enumerate(_SPLIT):
        to = _STEP[source][direction] if who == worker else OFF_BOARD
        build = OFF_BOARD if to == OFF_BOARD else _STEP[to][target]
        if build != OFF_BOARD:
            found[action] = f"[{LETTERS[seat]}{worker + 1}{NAMES[source]}{NAMES[to]}{NAMES[build]}]"
    return found


def format_notation(action: int, record: Record) -> str:
    """The canonical text: santorini has no other notation."""
    return format_moves([action], record)[0]


_STEP_FAULTS = (STEP_OCCUPIED, STEP_ON_DOME, STEP_TOO_HIGH)

WHY = {
    STEP_OFF_BOARD: "Cannot move there: the step leads off the board.",
    STEP_OCCUPIED: "Cannot move there: {to} is occupied by {who}.",
    STEP_ON_DOME: "Cannot move there: {to} has a dome.",
    STEP_TOO_HIGH: "Cannot move there: {to} is more than one level higher than {source}.",
    BUILD_OFF_BOARD: "Cannot build there: it is off the board.",
    BUILD_OCCUPIED: "Cannot build there: {at} is occupied by {who}.",
    BUILD_ON_DOME: "Cannot build there: {at} already has a dome.",
}
"""Fault -> sentence."""


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of an action in this position."""
    *fields, players, _, _, ply = _PACKING.unpack(record)
    cells = fields[4 : 4 + WORKERS * players]
    worker, direction, target = _SPLIT[action]
    source = cells[ply % players * WORKERS + worker]
    to = _STEP[source][direction]
    at = _STEP[to][target]
    where = to if fault in _STEP_FAULTS else at
    found = cells.index(where) if where in cells else 0
    who = f"{COLOURS[found // WORKERS]}'s worker {found % WORKERS + 1}"
    return WHY[fault].format(source=NAMES[source], to=NAMES[to], at=NAMES[at], who=who)
