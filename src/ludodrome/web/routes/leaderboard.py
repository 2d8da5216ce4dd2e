"""The leaderboard of a game."""

from fastapi import APIRouter, Request

from ludodrome.web import league
from ludodrome.web.positions import Json
from ludodrome.web.routes.asking import FAULTS
from ludodrome.web.routes.bots import check_game

router = APIRouter(tags=["leaderboard"], responses=FAULTS)


@router.get("/leaderboard/{game_id}")
def leaderboard(request: Request, game_id: str) -> list[Json]:
    """The bots of a game, the best first: rating with its 95 % interval, games, verdicts, trend."""
    check_game(game_id)
    return league.leaderboard(request.app.state.engine, game_id)
