"""Analysis boards: any position, the moves tried from it, its exact value where a solver finds it."""

from fastapi import APIRouter

from ludodrome.web.analysis_board import board, solved
from ludodrome.web.position_view import Json, open_game
from ludodrome.web.routes.schemas import FAULTS, Question, Tried

router = APIRouter(tags=["analysis"], responses=FAULTS)


@router.post("/boards/{game_id}")
def try_out(game_id: str, asked: Tried) -> Json:
    """The positions that moves lead to from any position, each with its legal moves and its one-line form."""
    return board(game_id, asked.options, asked.state, asked.moves)


@router.post("/values")
def value(asked: Question) -> Json:
    """The exact value of a position for the seat to move, if it is found in so many seconds."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return solved(game, state, asked.seconds)
