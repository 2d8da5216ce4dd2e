"""Analysis: what the engine thinks of a position."""

from fastapi import APIRouter

from ludodrome.web.engine import analysed
from ludodrome.web.position_view import Json, open_game
from ludodrome.web.routes.schemas import FAULTS, Question

router = APIRouter(tags=["analysis"], responses=FAULTS)


@router.post("/analysis")
def analyse(asked: Question) -> Json:
    """The best moves of a position, with what they are worth to the seat to move."""
    game = open_game(asked.game, asked.options)
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return analysed(game, state, asked.seconds, asked.lines)
