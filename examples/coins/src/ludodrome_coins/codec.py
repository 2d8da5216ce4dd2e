"""Coins in JSON and text: states, moves, the notation, the one-line form, the drawing.

Every refusal is a sentence that says what would be right. ``rules.py`` decides what is legal.
"""

import re
from typing import Any

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.jit import Record, new_states
from ludodrome.validation import show
from ludodrome_coins.rules import COINS, DTYPE, REASONS, VALUES, judge_array

STATE_KEYS = ("first", "last", "scores", "to_move", "turn", "winner", "reason")
LINE = re.compile(r"(?:(\d{1,2})-(\d{1,2})|-) (\d{1,2}(?:/\d{1,2})+) (\d|-)")
_POINTS: list[int] = VALUES.tolist()
_ALL = sum(_POINTS)


# States


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """An array of one record, or BadState."""
    validation.fields(state, STATE_KEYS, "a state of coins", BadState)
    states = _position(state["first"], state["last"], state["scores"], state["to_move"], options["players"])
    right = format_state(states[0])
    for key in ("turn", "winner", "reason"):
        validation.same(state[key], right[key], key, BadState)
    return states


def format_state(record: Record) -> Any:
    """The JSON state of a record."""
    first, end, reason = int(record["first"]), int(record["end"]), REASONS[int(record["reason"])]
    best = int(record["winner"])
    return {
        "first": None if reason else first + 1,
        "last": None if reason else end,
        "scores": record["scores"].tolist()[: int(record["players"])],
        "to_move": None if reason else int(record["to_move"]),
        "turn": COINS - (end - first),
        "winner": None if best < 0 else best,
        "reason": reason,
    }


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """An array of one record from the one-line form, or BadState."""
    found = LINE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise BadState(f"a position of coins is like 3-15 3/0 1, or - 17/13 - at its end, not {show(text)}")
    first, last, points, seat = found.groups()
    scores = [int(one) for one in points.split("/")]
    ends = (None, None) if first is None else (int(first), int(last))
    return _position(*ends, scores, None if seat == "-" else int(seat), options["players"])


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    state = format_state(record)
    over = bool(state["reason"])
    ends = "-" if over else f"{state['first']}-{state['last']}"
    return f"{ends} {'/'.join(map(str, state['scores']))} {'-' if over else state['to_move']}"


def render(record: Record) -> str:
    """The drawing of a record."""
    state = format_state(record)
    first, end = int(record["first"]), int(record["end"])
    values = [str(points) if first <= coin < end else "." for coin, points in enumerate(_POINTS)]
    stand = state["reason"] or f"seat {state['to_move']} to move"
    return "\n".join(
        (
            " ".join(f"{coin + 1:2}" for coin in range(COINS)),
            " ".join(f"{value:>2}" for value in values),
            f"points {' '.join(map(str, state['scores']))}, {stand}",
        )
    )


def _position(first: Any, last: Any, scores: Any, to_move: Any, players: int) -> Any:
    """The record of a row, if the points are those of the coins taken."""
    over = first is None
    if over:
        validation.same(last, None, "last, where first is null,", BadState)
        validation.same(to_move, None, "to_move at the end", BadState)
        begin, end = 0, 0
    else:
        begin = validation.integer(first, 1, COINS, "first", BadState) - 1
        end = validation.integer(last, begin + 1, COINS, "last", BadState)
        validation.integer(to_move, 0, players - 1, "to_move", BadState)
    taken = _ALL - sum(_POINTS[begin:end])
    for points in validation.items(scores, players, "scores", BadState):
        validation.integer(points, 0, _ALL, "a score", BadState)
    if sum(scores) != taken:
        raise BadState(f"the coins taken are worth {taken} points, and the scores add up to {sum(scores)}")
    states = new_states(DTYPE, 1)
    states["first"], states["end"] = begin, end
    states["scores"][0, :players] = scores
    states["to_move"], states["players"] = to_move or 0, players
    judge_array(states)
    return states


# Moves


def parse_move(move: Any, states: Any) -> int:
    """The coin's action, or IllegalMove."""
    coin = validation.fields(move, ("coin",), "a move of coins", IllegalMove)["coin"]
    return validation.integer(coin, 1, COINS, "coin", IllegalMove) - 1


def format_moves(actions: list[int], record: Record) -> list[Any]:
    """The JSON moves of legal actions."""
    return [{"coin": action + 1} for action in actions]


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault."""
    if fault == GAME_OVER:
        return "the game is over"
    return f"coin {action + 1} is not at an end of the row; the ends are {record['first'] + 1} and {record['end']}"


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal action that a person's text means, or IllegalMove."""
    typed = text.strip() if isinstance(text, str) else ""
    numbers = {str(action + 1): action for action in legal}
    if typed not in numbers:
        raise IllegalMove(
            f"a move is the number of a coin at an end, {validation.listing(numbers, 'or')}, not {show(text)}"
        )
    return numbers[typed]


def format_notation(action: int, record: Record) -> str:
    """A legal action in the notation for people."""
    return str(action + 1)
