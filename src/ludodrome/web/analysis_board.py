"""Analysis boards: a position that somebody set up or pasted, and the moves that were tried from there.

Nothing is kept: a board is told anew from its first position and its moves. What the engine says of a position is in
``thinking.py``.
"""

import json
from typing import Any

from ludodrome.analysis import solve
from ludodrome.game import BadState, Game
from ludodrome.games import find
from ludodrome.web.engine import engine_slot_for_request
from ludodrome.web.position_view import Json, open_game, position_view

MAX_STATE_TEXT = 200_000


def board(game_id: str, options: Json | None, state: Any, moves: list[Any]) -> Json:
    """The positions of a board from the first to the last; ValueError says what is wrong with which move.

    Without options, those that the state itself tells. A text is a position on one line or as JSON; moves are JSON, or
    texts in the notation for people.
    """
    if type(state) is str:
        state = _read(state)
    game = open_game(game_id, find(game_id).game_class().options_from_state(state) if options is None else options)
    if state is None:
        position = game.initial_state()
    elif type(state) is str:
        position = game.parse_state(state)
    else:
        position = game.decode(game.encode(state))
    positions, made = [_shown(game, position)], []
    for number, move in enumerate(moves, 1):
        seat = game.to_move(position)
        try:
            raw = game.parse_move(move, position) if type(move) is str else move
            text = game.format_move(raw, position)
            position = game.apply(position, raw)
        except ValueError as wrong:
            raise ValueError(f"move {number}: {wrong}") from wrong
        made.append({"seat": seat, "text": text, "move": raw})
        positions.append(_shown(game, position))
    return {"game": game.id, "options": game.options, "positions": positions, "moves": made}


def _shown(game: Game, state: Any) -> Json:
    """A position with nothing hidden: its author knows everything."""
    return {**position_view(game, state), "state": state, "line": game.format_state(state)}


def _read(text: str) -> Any:
    """Parse JSON; return any other text as it is."""
    if len(text) > MAX_STATE_TEXT:
        raise BadState(f"a position has at most {MAX_STATE_TEXT} characters")
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise BadState(f"the position is not JSON: {wrong}") from None


def solve_position(game: Game, state: Any, seconds: float) -> Json:
    """The exact value of a position, if a solver finds it within ``seconds``."""
    with engine_slot_for_request():
        found = solve(game, state, seconds)
    text = None if found.move is None else game.format_move(found.move, state)
    return {
        "to_move": game.to_move(state),
        "value": found.value,
        "proven": found.proven,
        "distance": found.distance,
        "move": found.move,
        "text": text,
        "line": found.line,
    }
