"""The leaderboard of a game."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from ludodrome.web import league
from ludodrome.web.position_view import Json
from ludodrome.web.routes.bots import check_game
from ludodrome.web.routes.schemas import FAULTS

MOST_LINES = 1000
MOST_SKIPPED = 10_000_000
router = APIRouter(tags=["leaderboard"], responses=FAULTS)


@router.get("/leaderboard/{game_id}")
def leaderboard(
    request: Request,
    game_id: str,
    most: Annotated[int, Query(ge=1, le=MOST_LINES)] = league.LINES,
    skip: Annotated[int, Query(ge=0, le=MOST_SKIPPED)] = 0,
) -> list[Json]:
    """The bots of a game, the best first: rating with its 95 % interval, games, verdicts, trend."""
    check_game(game_id)
    return league.leaderboard(request.app.state.engine, game_id, most, skip)
