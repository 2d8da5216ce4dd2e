"""Picks in JSON and text."""

from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.jit import Record, new_states
from ludodrome.validation import show

from .rules import DTYPE, NUMBERS, REASONS, judge_array


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """An array of one record, or BadState."""
    validation.fields(state, ("picks", "to_move", "winner", "reason"), "a state of picks", BadState)
    states = _position(validation.items(state["picks"], options["players"], "picks", BadState), options["players"])
    right = format_state(states[0])
    for key in ("to_move", "winner", "reason"):
        validation.same(state[key], right[key], key, BadState)
    return states


def _position(picks: Any, players: int) -> Any:
    states = new_states(DTYPE, 1)
    states["players"] = players
    for seat, pick in enumerate(picks):
        if pick is None:
            continue
        if states["ply"][0] != seat:
            raise BadState(f"seat {seat} has picked before seat {states['ply'][0]}")
        states["picks"][0, seat] = validation.integer(pick, 1, NUMBERS, "a pick", BadState)
        states["ply"] += 1
    judge_array(states)
    return states


def format_state(record: Record) -> Any:
    """The JSON state of a record."""
    ply, players, best = int(record["ply"]), int(record["players"]), int(record["winner"])
    reason = REASONS[int(record["reason"])]
    picks: list[int] = record["picks"].tolist()
    return {
        "picks": [picks[seat] if seat < ply else None for seat in range(players)],
        "to_move": None if reason else ply,
        "winner": None if best < 0 else best,
        "reason": reason,
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """An array of one record from the one-line form, or BadState."""
    typed = text.strip() if isinstance(text, str) else ""
    if len(typed) != options["players"] or not set(typed) <= set("1234-"):
        raise BadState(f"a position of picks is like 2-, not {show(text)}")
    return _position([None if sign == "-" else int(sign) for sign in typed], options["players"])


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    return "".join("-" if pick is None else str(pick) for pick in format_state(record)["picks"])


def render(record: Record) -> str:
    """The drawing of a record."""
    state = format_state(record)
    return f"picks {format_line(record)}, {state['reason'] or next_seat(state)}"


def next_seat(state: Any) -> str:
    """Who is to move."""
    return f"seat {state['to_move']} to move"


def parse_move(move: Any, states: Any) -> int:
    """The action, or IllegalMove."""
    pick = validation.fields(move, ("pick",), "a move of picks", IllegalMove)["pick"]
    return validation.integer(pick, 1, NUMBERS, "pick", IllegalMove) - 1


def format_moves(actions: list[int], record: Record) -> list[Any]:
    """The JSON moves of legal actions."""
    return [{"pick": action + 1} for action in actions]


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault."""
    return "the game is over" if fault == GAME_OVER else f"a number is 1 to {NUMBERS}, not {action + 1}"


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal action that a text means, or IllegalMove."""
    typed = text.strip() if isinstance(text, str) else ""
    if typed not in {str(action + 1) for action in legal}:
        raise IllegalMove(f"a move is a number from 1 to {NUMBERS}, not {show(text)}")
    return int(typed) - 1


def format_notation(action: int, record: Record) -> str:
    """A legal action as text."""
    return str(action + 1)
