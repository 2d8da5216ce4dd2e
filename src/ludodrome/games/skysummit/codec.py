"""JSON and text of skysummit: states, moves, notation, one-line form, drawing.

Every refusal is a sentence. ``rules.py`` decides what is legal.
"""

import re
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.skysummit import rules
from ludodrome.games.skysummit.rules import DTYPE, NOWHERE, PLACEMENT_TURNS, PLACEMENTS, REASONS, WORKERS
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

STATE_KEYS = ("phase", "ply", "board", "workers", "winner", "reason")
PLACE_KEYS = ("t", "to")
MOVE_KEYS = ("t", "w", "to", "build")
SIGNS = "●◆"
COLOURS = ("Blue", "Orange")

_PACKING = packing(DTYPE)
_STEP = [[*row, None] for row in STEP.tolist()]  # the last one: NO_BUILD
_PLACED = [python(rules.placed)(action) for action in range(PLACEMENTS)]
_SPLIT = [python(rules.split)(action) for action in range(PLACEMENTS, rules.NUM_ACTIONS)]
_MOVES: list[list[dict[str, Any]]] = [
    [{"t": "move", "w": w, "to": (to := steps[d]), "build": _STEP[to][e]} for w, d, e in _SPLIT] for steps in _STEP
]
"""(source, action - PLACEMENTS) -> the move; meaningless if it leads off the board."""
_DIRECTION = DIRECTION.tolist()
_CELLS = frozenset(range(CELLS))


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """Read a JSON state into an array of one record; raise BadState."""
    turn_limit = options["turn_limit"]
    validation.fields(state, STATE_KEYS, "a state of skysummit", BadState)
    ply = validation.integer(state["ply"], 0, turn_limit, "ply", BadState)
    phase = "place" if ply < PLACEMENT_TURNS else "play"
    validation.same(state["phase"], phase, f"at ply {ply} phase", BadState)
    heights = read_heights(validation.items(state["board"], CELLS, "board", BadState), "board")
    if phase == "place" and any(heights):
        raise BadState("board has heights above 0, but nothing can be built before both sides have placed")
    states = _position(heights, _parse_workers(state["workers"], ply), ply, turn_limit)
    winner, reason = _PACKING.unpack(states)[-2:]
    validation.same(state["reason"], REASONS[reason], "in this position reason", BadState)
    validation.same(state["winner"], None if winner < 0 else winner, "in this position winner", BadState)
    return states


def _parse_workers(value: Any, ply: int) -> list[int]:
    """The four cells, seat by seat; NOWHERE for unplaced workers."""
    if ply >= PLACEMENT_TURNS and (quickly := _four_cells(value)):
        return quickly
    cells: list[int] = []
    for seat, pair in enumerate(validation.items(value, 2, "workers", BadState)):
        where = f"workers[{seat}]"
        validation.items(pair, WORKERS, where, BadState)
        if ply <= seat:
            if pair[0] is not None or pair[1] is not None:
                raise BadState(f"{where} is [null, null] at ply {ply}: seat {seat} has not placed yet")
            cells += [NOWHERE, NOWHERE]
        else:
            cells += [validation.integer(cell, 0, CELLS - 1, f"a cell of {where}", BadState) for cell in pair]
    standing = cells[: 2 * min(ply, 2)]
    if len(set(standing)) != len(standing):
        twice = next(cell for cell in standing if standing.count(cell) > 1)
        raise BadState(f"workers has two on {NAMES[twice]}")
    if ply == 1 and cells[0] > cells[1]:
        raise BadState("workers[0] is in ascending order right after the placement")
    return cells


def _four_cells(value: Any) -> list[int] | None:
    """Fast path: the cells if all is well, else None; the slower reader then names the fault."""
    if type(value) is not list or len(value) != 2:
        return None
    first, second = value
    if not (type(first) is type(second) is list and len(first) == len(second) == WORKERS):
        return None
    a, b, c, d = cells = first + second
    if type(a) is type(b) is type(c) is type(d) is int and len({a, b, c, d}) == 4 and _CELLS.issuperset(cells):
        return cells
    return None


def _position(heights: bytes, workers: list[int], ply: int, turn_limit: int) -> Any:
    """Build an array of one record with its end; raise BadState if a worker is where none can be."""
    if SUMMIT in heights or DOME in heights:
        _check_summits(heights, workers, (ply - 1) % 2)
    states = packed(DTYPE, _PACKING.pack(0, 0, 0, 0, *workers, ply, turn_limit, -1, 0))
    rules.set_up(states, heights)
    return states


def _check_summits(heights: bytes, workers: list[int], last: int) -> None:
    """Raise BadState if a worker is on a dome, or on level 3 unless it is the only one and of the last mover."""
    for index, cell in enumerate(workers):
        if heights[cell] < SUMMIT:
            continue
        if heights[cell] == DOME:
            raise BadState(f"workers has one on the dome on {NAMES[cell]}")
        if index // WORKERS != last or heights[workers[index ^ 1]] >= SUMMIT:
            raise BadState(
                f"workers has one on level 3 on {NAMES[cell]}; "
                f"only the last mover, seat {last} here, can be there, with one worker"
            )


def format_state(record: Record) -> dict[str, Any]:
    """The JSON state of a record."""
    l0, l1, l2, l3, a, b, c, d, ply, _, winner, reason = _PACKING.unpack(record)
    return {
        "phase": "place" if ply < PLACEMENT_TURNS else "play",
        "ply": ply,
        "board": list(height_bytes((l0, l1, l2, l3))),
        "workers": [[None, None] if x == NOWHERE else [x, y] for x, y in ((a, b), (c, d))],
        "winner": None if winner < 0 else winner,
        "reason": REASONS[reason],
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """Read the one-line form into an array of one record; raise BadState."""
    words = text.split() if type(text) is str else []
    if len(words) != 4:
        raise BadState(f"a position of skysummit is heights, two pairs of workers and the ply, not {show(text)}")
    turn_limit = options["turn_limit"]
    heights = bytes(parse_height_rows(words[0]))
    ply = parse_number(words[3], "ply")
    workers: list[Any] = []
    for word in words[1:3]:
        names = parse_cells(word) if word != "-" else [None, None]
        for name in names:
            if name is not None and name not in CELL:
                raise BadState(f"{show(name)} is not a cell; cells are A1 to E5")
        workers.append([None if name is None else CELL[name] for name in names])
    validation.integer(ply, 0, turn_limit, "ply", BadState)
    if ply < PLACEMENT_TURNS and any(heights):
        raise BadState("there are heights above 0, but nothing can be built before both sides have placed")
    return _position(heights, _parse_workers(workers, ply), ply, turn_limit)


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    l0, l1, l2, l3, a, b, c, d, ply, *_ = _PACKING.unpack(record)
    pairs = ["-" if x == NOWHERE else NAMES[x] + NAMES[y] for x, y in ((a, b), (c, d))]
    return f"{height_rows((l0, l1, l2, l3))} {pairs[0]} {pairs[1]} {ply}"


def render(record: Record) -> str:
    """The drawing, and a last line about the game."""
    l0, l1, l2, l3, a, b, c, d, ply, _, winner, reason = _PACKING.unpack(record)
    marks = {cell: f"{SIGNS[k // 2]}{k % 2 + 1}" for k, cell in enumerate((a, b, c, d)) if cell != NOWHERE}
    if not reason:
        end = f"seat {ply % 2} {SIGNS[ply % 2]} to move"
    elif winner < 0:
        end = f"over: drawn ({REASONS[reason]})"
    else:
        end = f"over: seat {winner} {SIGNS[winner]} wins ({REASONS[reason]})"
    return f"{draw(height_digits((l0, l1, l2, l3)), marks)}\nply {ply}, {end}"


# Moves


def parse_move(move: Any, states: Any) -> int:
    """The action of a JSON move in this position; raise IllegalMove if it is malformed."""
    kind = move.get("t") if type(move) is dict else None
    if type(kind) is not str or kind not in ("place", "move"):
        raise IllegalMove(
            'a move of skysummit is {"t": "place", "to": [a, b]} '
            'or {"t": "move", "w": w, "to": cell, "build": cell or null}'
            f", not {show(move) if type(move) is not dict else 't = ' + show(kind)}"
        )
    fields = _PACKING.unpack(states)
    placing = fields[8] < PLACEMENT_TURNS
    if kind == "place":
        validation.fields(move, PLACE_KEYS, "a placement", IllegalMove)
        for cell in validation.items(move["to"], WORKERS, "'to' of a placement", IllegalMove):
            validation.whole(cell, "a cell of 'to'", IllegalMove)
    else:
        validation.fields(move, MOVE_KEYS, "a move", IllegalMove)
        validation.integer(move["w"], 0, WORKERS - 1, "'w'", IllegalMove)
        validation.whole(move["to"], "'to'", IllegalMove)
        if move["build"] is not None:
            validation.whole(move["build"], "'build', where it is not null,", IllegalMove)
    if placing != (kind == "place"):
        raise IllegalMove(WHY[rules.WRONG_PHASE])
    return _parse_placement(*move["to"]) if placing else _parse_step(move, fields, states)


def _parse_placement(a: int, b: int) -> int:
    for cell in (a, b):
        validation.integer(cell, 0, CELLS - 1, "a cell of 'to'", IllegalMove)
    if a == b:
        raise IllegalMove(f"'to' names {NAMES[a]} twice; the two workers go on two cells")
    return python(rules.placement)(a, b)


def _parse_step(move: dict[str, Any], fields: tuple[int, ...], states: Any) -> int:
    worker, target = move["w"], move["build"]
    to = validation.integer(move["to"], 0, CELLS - 1, "'to'", IllegalMove)
    source = fields[4 + fields[8] % 2 * WORKERS + worker]
    direction = _DIRECTION[source][to]
    if direction == OFF_BOARD:
        raise IllegalMove(f"{NAMES[to]} is not next to worker {worker + 1}, which is on {NAMES[source]}")
    step: int = PLACEMENTS + worker * rules.STEPS_OF_WORKER + direction * rules.BUILDS
    if target is None:
        return step + rules.NO_BUILD
    if 0 <= target < CELLS and _DIRECTION[to][target] != OFF_BOARD:
        return step + int(_DIRECTION[to][target])
    # No action builds that far away: report a fault of the step first.
    fault = _KERNELS.fault(states, step + rules.NO_BUILD) or rules.BUILD_WITH_WIN
    if fault != rules.BUILD_MISSING:
        raise IllegalMove(explain(fault, step + rules.NO_BUILD, states[0]))
    validation.integer(target, 0, CELLS - 1, "'build', where it is not null,", IllegalMove)
    raise IllegalMove(f"{NAMES[target]} is not next to {NAMES[to]}, from where worker {worker + 1} would build")


def format_moves(actions: list[int], record: Record) -> list[dict[str, Any]]:
    """The JSON moves of legal actions of one position."""
    fields = _PACKING.unpack(record)
    ply = fields[8]
    if ply < PLACEMENT_TURNS:
        return [{"t": "place", "to": list(_PLACED[action])} for action in actions]
    at = 4 + ply % 2 * WORKERS
    templates = _MOVES[fields[at]][: rules.STEPS_OF_WORKER] + _MOVES[fields[at + 1]][rules.STEPS_OF_WORKER :]
    return [templates[action - PLACEMENTS].copy() for action in actions]


def _squares(action: int, record: Record) -> tuple[int, int, int, int | None]:
    """Worker, source, destination and build of a legal action of the play phase."""
    fields = _PACKING.unpack(record)
    worker, direction, target = _SPLIT[action - PLACEMENTS]
    source = fields[4 + fields[8] % 2 * WORKERS + worker]
    to = _STEP[source][direction]
    return worker, source, to, _STEP[to][target]


WHY = {
    GAME_OVER: "the game is over",
    STEP_OFF_BOARD: "the step leads off the board",
    STEP_OCCUPIED: "{to} is occupied by {who}",
    STEP_ON_DOME: "{to} is a dome, which nobody can enter",
    STEP_TOO_HIGH: "{to} is more than one level higher than {source}",
    BUILD_OFF_BOARD: "the build is off the board",
    BUILD_OCCUPIED: "{target} is occupied by {who}, so nothing can be built there",
    BUILD_ON_DOME: "{target} is already a dome, so nothing can be built there",
    rules.WRONG_PHASE: "each side places its two workers in its first turn, and moves from then on",
    rules.PLACE_OCCUPIED: "both cells of a placement must be free",
    rules.BUILD_WITH_WIN: "a step onto level 3 wins at once, so 'build' is null",
    rules.BUILD_MISSING: "every step that does not win is followed by a build, so 'build' is a cell",
}
"""Fault -> sentence."""


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of an action in this position."""
    if action < PLACEMENTS or fault in (GAME_OVER, STEP_OFF_BOARD, BUILD_OFF_BOARD, rules.WRONG_PHASE):
        return WHY[fault]
    _, source, to, target = _squares(action, record)
    names = {"source": NAMES[source], "to": NAMES[to], "target": None if target is None else NAMES[target]}
    return WHY[fault].format(**names, who=_occupant(to if fault == STEP_OCCUPIED else target, record))


def _occupant(cell: int | None, record: Record) -> str:
    """The worker on a cell, as people call it; empty if there is none."""
    workers = _PACKING.unpack(record)[4:8]
    if cell not in workers:
        return ""
    seat, number = divmod(workers.index(cell), WORKERS)
    return f"{COLOURS[seat]}'s worker {number + 1}"


# The notation for people

_PLACE = re.compile(r"place([a-e][1-5])([a-e][1-5])")
_MOVE = re.compile(r"([12])?(?:([a-e][1-5])-)?([a-e][1-5])(?:[↑^+]|builds?)?([a-e][1-5])?")


def format_notation(action: int, record: Record) -> str:
    """``place B2 C3``, ``2C3-C4 ↑D4``, or ``2C3-B3`` for a winning step."""
    if action < PLACEMENTS:
        a, b = _PLACED[action]
        return f"place {NAMES[a]} {NAMES[b]}"
    worker, source, to, target = _squares(action, record)
    return f"{worker + 1}{NAMES[source]}-{NAMES[to]}" + ("" if target is None else f" ↑{NAMES[target]}")


def format_label(notation: str) -> str:
    """The notation in words: ``2C3-C4 ↑D4`` is ``C3-C4 build D4``."""
    return re.sub("^[12]", "", notation).replace("↑", "build ")


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The only legal action that fits the text; raise IllegalMove."""
    if type(text) is not str or len(text) > 100:
        raise IllegalMove(f"a move is a short text like 'place B2 C3' or '2C3-C4 ↑D4', not {show(text)}")
    squeezed = "".join(text.split()).lower()
    if match := _PLACE.fullmatch(squeezed):
        a, b = (CELL[name.upper()] for name in match.groups())
        fitting = [action for action in legal if action < PLACEMENTS and _PLACED[action] == (a, b)]
    elif match := _MOVE.fullmatch(squeezed):
        number, *names = match.groups()
        source, to, target = (None if name is None else CELL[name.upper()] for name in names)
        fitting = []
        for action in legal:
            if action >= PLACEMENTS:
                squares = _squares(action, states[0])
                same_worker = number in (None, str(squares[0] + 1)) and source in (None, squares[1])
                if same_worker and squares[2:] == (to, target):
                    fitting.append(action)
    else:
        raise IllegalMove(f"a move is written like 'place B2 C3' or '2C3-C4 ↑D4', not {show(text)}")
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise IllegalMove(f"{show(text)} fits more than one legal move; say which worker: 1 or 2 in front")
    raise IllegalMove(f"{show(text)} fits no legal move here")
