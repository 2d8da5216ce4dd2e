"""The leaderboard of a game."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from ludodrome.web import league
from ludodrome.web.position_view import Json
from ludodrome.web.routes.bots import check_game
from ludodrome.web.routes.schemas import FAULTS

MAX_ROWS = 1000
MAX_SKIP = 10_000_000
leaderboard_router = APIRouter(tags=["leaderboard"], responses=FAULTS)


@leaderboard_router.get("/leaderboard/{game_id}")
def leaderboard(
    request: Request,
    game_id: str,
    most: Annotated[int, Query(ge=1, le=MAX_ROWS)] = league.LINES,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP)] = 0,
) -> list[Json]:
    """The bots of a game, the best first: rating with its 95 % interval, games, verdicts, trend."""
    check_game(game_id)
    return league.leaderboard(request.app.state.engine, game_id, most, skip)
