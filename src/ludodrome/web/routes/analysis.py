"""Analysis: best moves and exact values of positions, and the analysis board."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ludodrome.games import GAMES
from ludodrome.web.analysis_board import board, solve_position
from ludodrome.web.engine import analyse_position
from ludodrome.web.position_view import Json, open_game
from ludodrome.web.routes.schemas import ERROR_RESPONSES, MovesToTry, Question
from ludodrome.web.showcase import showcase
from ludodrome.web.templating import page

router = APIRouter(tags=["analysis"], responses=ERROR_RESPONSES)
pages = APIRouter(include_in_schema=False)


@router.post("/analysis")
def analyse(asked: Question) -> Json:
    """The best moves of a position, with their values for the seat to move."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return analyse_position(game, state, asked.seconds, asked.lines)


@pages.get("/{game_id}/analysis")
def analysis_page(request: Request, game_id: str) -> Response:
    """The analysis board."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "analysis.html", game_id, "/analysis", data={"game": game_id, "showcase": first})


@router.post("/boards/{game_id}")
def try_out(game_id: str, asked: MovesToTry) -> Json:
    """The positions after each of some moves, each with its legal moves and its one-line form."""
    return board(game_id, asked.options, asked.state, asked.moves)


@router.post("/values")
def value(asked: Question) -> Json:
    """The exact value of a position for the seat to move, if a solver finds it in time."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return solve_position(game, state, asked.seconds)
