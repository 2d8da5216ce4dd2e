"""Observations: what lies face down (R25, R26), and fog over the other's boards of earlier rounds (R26).

A board in fog is the part of it that was carried out in its round, with every trap as HIDDEN_TRAP: a trap was set in
this step, and its place is not seen. As actions it fits into a record like any other board.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.games.spaces import codec
from ludodrome.games.spaces.boards import (
    FINISH,
    FIRST_TRAP,
    FOG,
    HERE,
    HIDDEN_TRAP,
    PIECE_SHIFTS,
    SEEN,
    TRAP,
    UP,
    action_word,
    is_finished,
    steps_of,
)
from ludodrome.games.spaces.legality import iter_faults, read_finished, refusal
from ludodrome.games.spaces.rounds import COMPLETE, ENDED
from ludodrome.games.spaces.rules import longest
from ludodrome.jit import Record
from ludodrome.validation import show

FOG_KEYS = ("boardSize", "visited", "traps")
"""Keys of a board in fog; ``visited`` tells it from a whole board."""
ENTRY_KEYS = (*codec.ENTRY_KEYS, "steps")
"""Keys of an entry of the history with a board in fog."""


def in_fog(actions: bytes, done: int, size: int) -> bytes:
    """A board in fog, of which ``done`` steps were carried out."""
    return bytes(size + HIDDEN_TRAP if FIRST_TRAP <= one - size < FINISH else one for one in actions[:done])


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


# Observations


def hides_lays(options: dict[str, Any]) -> bool:
    """Whether what is laid first stays face down (R25, R26)."""
    return bool(options["mode"] == "deck" or options["choice"] != SEEN)


def hides_history(options: dict[str, Any]) -> bool:
    """Whether the other's boards of earlier rounds are in fog while the game runs (R26)."""
    return bool(options["mode"] == "rounds" and options["choice"] == FOG)


def observe(record: Record, options: dict[str, Any], seat: int | None) -> dict[str, Any]:
    """The JSON observation of a seat, or of spectators (None)."""
    states = codec.array_of(record)
    seen = states[0]
    mover = int(codec.KERNELS.mover(states))
    if mover >= 0 and hides_history(options):
        for slot in range(int(record["laid"]) // 2 * 2):
            if slot % 2 != seat:
                done = int(record["done"][slot])
                board = in_fog(record["boards"][slot, :done].tobytes(), done, options["size"])
                seen["boards"][slot, :done] = np.frombuffer(board, np.uint8)
                seen["lengths"][slot] = done
                seen["fogged"][slot] = 1
    shown = codec.format_state(seen)
    if hides_lays(options) and shown["chosen"] is not None and seat != 1 - mover:
        shown["chosen"] = None
    return shown


def parse_observation(observation: Any, options: dict[str, Any]) -> Any:
    """An array of one record of what a seat or a spectator sees, or BadState.

    Where a lay is face down, the seat that laid it is to move in the record.
    """
    known = type(observation) is dict and type(observation.get("round")) is int
    if known and hides_lays(options) and observation.get("chosen") is None and type(observation.get("to_move")) is int:
        validation.integer(observation["to_move"], 0, 1, "to_move", BadState)
        observation = {**observation, "to_move": (observation["round"] - 1) % 2}
    history = observation.get("history") if known else None
    if hides_history(options) and type(history) is list and any(map(_is_fogged, history)):
        return _parse_fogged(observation, options)
    return codec.parse_state(observation, options)


def _is_fogged(entry: Any) -> bool:
    return type(entry) is dict and type(entry.get("boards")) is list and any(map(is_in_fog, entry["boards"]))


def _parse_fogged(observation: Any, options: dict[str, Any]) -> Any:
    """The record of an observation with boards in fog, or BadState."""
    validation.fields(observation, codec.STATE_KEYS, "an observation of spaces", BadState)
    for name in codec.OPTION_KEYS:
        validation.choice(observation[name], [options[name]], f"{name} in this game", BadState)
    history = observation["history"]
    for name, right in (("round", len(history) + 1), ("winner", None), ("reason", "")):
        codec.compare(observation[name], right, name)
    validation.integer(observation["round"], 2, options["rounds"], "round", BadState)
    states = codec.empty_match(options)
    record = states[0]
    patterns = set()
    for number, entry in enumerate(history):
        patterns.add(_parse_fogged_entry(record, number, entry, options))
    if len(patterns) > 1:
        raise BadState("the boards in fog are those of the other seat, in every round")
    record["laid"] = 2 * len(history)
    record["totals"] = record["results"][: len(history), :2].sum(axis=0)
    first = (observation["round"] - 1) % 2
    if observation["chosen"] is not None:
        if patterns != {(first == 1, first == 0)}:
            raise BadState("chosen is null for everyone but the seat that laid it")
        chosen = codec.parse_chosen(observation["chosen"], options)
        try:
            codec.lay_boards(states, chosen or [], ["chosen, "])
        except IllegalMove as wrong:
            raise BadState(str(wrong)) from None
    codec.compare(observation["totals"], record["totals"].tolist(), "totals")
    codec.compare(observation["to_move"], int(codec.KERNELS.mover(states)), "to_move")
    return states


def _parse_fogged_entry(record: Any, number: int, entry: Any, options: dict[str, Any]) -> tuple[bool, bool]:
    """Write a round of an observation into a record; return which boards are in fog."""
    where, size = f"history[{number}]", options["size"]
    validation.fields(entry, ENTRY_KEYS, where, BadState)
    fogged = []
    for seat, board in enumerate(validation.items(entry["boards"], 2, f"{where}.boards", BadState)):
        name, slot = f"{where}.boards[{seat}]", 2 * number + seat
        fogged.append(is_in_fog(board))
        actions = read_in_fog(board, size, name) if fogged[-1] else _read_legal(board, options, name)
        record["boards"][slot, : len(actions)] = np.frombuffer(actions, np.uint8)
        record["lengths"][slot] = len(actions)
        record["fogged"][slot] = fogged[-1]
        done = validation.items(entry["steps"], 2, f"{where}.steps", BadState)[seat]
        low = len(actions) if fogged[-1] else 1
        record["done"][slot] = validation.integer(done, low, len(actions), f"{where}.steps[{seat}]", BadState)
        points = validation.items(entry["points"], 2, f"{where}.points", BadState)[seat]
        record["results"][number, seat] = validation.integer(points, 0, size, f"{where}.points[{seat}]", BadState)
    ended = validation.choice(entry["ended"], ENDED[:COMPLETE], f"{where}.ended", BadState)
    record["results"][number, 2] = ENDED.index(ended)
    return fogged[0], fogged[1]


def _read_legal(board: Any, options: dict[str, Any], where: str) -> bytes:
    """The actions of a legal JSON board, or BadState."""
    try:
        actions = read_finished(board, options, grid_allowed=False)
    except IllegalMove as wrong:
        raise BadState(f"{where}, {wrong}") from None
    size = options["size"]
    wrong_steps = refusal(iter_faults(steps_of(actions, size), size, options["rules"] == "live"))
    if wrong_steps:
        raise BadState(f"{where}, {wrong_steps}")
    return actions


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
