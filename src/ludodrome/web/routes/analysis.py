"""Analysis: best moves and exact values of positions, and the analysis board."""

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ludodrome.analysis import solve
from ludodrome.game import BadState, Game
from ludodrome.games import GAMES, find
from ludodrome.web.budgets import UNLIMITED, CallerBudget, budget_of
from ludodrome.web.engine import analyse_position, engine_slot_for_request
from ludodrome.web.position_view import Json, line_labels, open_game, open_position_view
from ludodrome.web.routes.pages import showcase
from ludodrome.web.routes.schemas import ERROR_RESPONSES, MovesToTry, Question
from ludodrome.web.templating import page

# Analysis boards: any position, and the moves tried from it. Nothing is stored: a request has them all.


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
            text = game.move_label(raw, position)
            position = game.apply(position, raw)
        except ValueError as wrong:
            raise ValueError(f"move {number}: {wrong}") from wrong
        made.append({"seat": seat, "text": text, "move": game.page_move(raw, text)})
        positions.append(_shown(game, position))
    return {"game": game.id, "options": game.options, "positions": positions, "moves": made}


def _shown(game: Game, state: Any) -> Json:
    """A position with nothing hidden: its author knows everything."""
    return {**open_position_view(game, state), "line": game.format_state(state)}


def _read(text: str) -> Any:
    """Parse JSON; return any other text as it is."""
    if len(text) > MAX_STATE_TEXT:
        raise BadState(f"a position has at most {MAX_STATE_TEXT} characters")
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        return json.loads(text)
    except json.JSONDecodeError as wrong:
        raise BadState(f"the position is not JSON: look at line {wrong.lineno}, column {wrong.colno}") from None
    except (ValueError, RecursionError):
        raise BadState("the position is not JSON that can be read") from None


def solve_position(game: Game, state: Any, seconds: float, budget: CallerBudget = UNLIMITED) -> Json:
    """The exact value of a position, if a solver finds it within ``seconds``."""
    with engine_slot_for_request(budget):
        found = solve(game, state, seconds)
    text = None if found.move is None else game.move_label(found.move, state)
    return {
        "to_move": game.to_move(state),
        "value": found.value,
        "proven": found.proven,
        "distance": found.distance,
        "move": found.move,
        "text": text,
        "line": line_labels(game, state, found.line),
    }


router = APIRouter(tags=["analysis"], responses=ERROR_RESPONSES)
pages = APIRouter(include_in_schema=False)


@router.post("/analysis")
def analyse(request: Request, asked: Question) -> Json:
    """The best moves of a position, with their values for the seat to move."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    request.app.state.fair_play.check(request, game, state)
    return analyse_position(game, state, asked.seconds, asked.lines, budget_of(request))


@pages.get("/{game_id}/analysis")
def analysis_page(request: Request, game_id: str) -> Response:
    """The analysis board."""
    first = showcase(game_id) if game_id in GAMES else None
    options = dict(find(game_id).game_class().people_options) if first is not None else {}
    data = {"game": game_id, "showcase": first, "people_options": options}
    return page(request, "analysis.html", game_id, "/analysis", data=data)


@router.post("/boards/{game_id}")
def try_out(game_id: str, asked: MovesToTry) -> Json:
    """The positions after each of some moves, each with its legal moves and its one-line form."""
    return board(game_id, asked.options, asked.state, asked.moves)


@router.post("/values")
def value(request: Request, asked: Question) -> Json:
    """The exact value of a position for the seat to move, if a solver finds it in time."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    request.app.state.fair_play.check(request, game, state)
    return solve_position(game, state, asked.seconds, budget_of(request))
