"""Matches of the league: what is played, what was played, and asking for one."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from ludodrome.arena.ladder import events
from ludodrome.games import find
from ludodrome.store import league_matches as store
from ludodrome.web import league
from ludodrome.web.auth import Anybody, BotsScope
from ludodrome.web.position_view import Json
from ludodrome.web.routes.bots import bot_of, check_game
from ludodrome.web.routes.schemas import FAULTS, GAME_NAME, Strict
from ludodrome.web.spectators import Spectators, as_event

router = APIRouter(tags=["matches"], responses=FAULTS)

MatchId = Annotated[str, Path(max_length=60)]
MAX_MATCHES = 100
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Views of matches, one an event."}
}


class NewMatch(Strict):
    """A match between bots of the league. It does not change their ratings."""

    game: str = GAME_NAME
    bots: list[str] = Field(min_length=2, max_length=3, description="The ids of the bots.")
    options: dict[str, Any] = Field(default={}, max_length=10)
    pairs: int = Field(default=1, ge=1, le=events.MOST_PAIRS, description="Openings; each is played in every seating.")
    clock: str | None = Field(default=None, max_length=40, description="1s, 1s+10s (with a bank), 60s++1s (Fischer)")
    openings: bool = Field(default=True, description="Whether games begin from drawn openings.")
    pace_ms: int = Field(default=0, ge=0, le=events.MOST_PACE_MS, description="Left between two moves, to watch.")


@router.get("/matches")
def matches(
    request: Request,
    game: Annotated[str | None, Query(max_length=40)] = None,
    bot: Annotated[str | None, Query(max_length=40)] = None,
    event: Annotated[str | None, Query(max_length=40)] = None,
    most: Annotated[int, Query(ge=1, le=MAX_MATCHES)] = 20,
) -> list[Json]:
    """The games that ended last: of a game, of a bot, of an event."""
    return [league.match(one) for one in store.recent(request.app.state.engine, game, bot, event, most)]


@router.post("/matches", status_code=201)
def ask(request: Request, wanted: NewMatch, who: BotsScope) -> Json:
    """Ask for a match. It is played as soon as a worker is free; the answer is the event that holds its games."""
    find(wanted.game)
    engine = request.app.state.engine
    event_id = events.ask(
        engine,
        wanted.game,
        [bot_of(request, bot_id) for bot_id in wanted.bots],
        str(who.account),
        options=wanted.options,
        pairs=wanted.pairs,
        clock=wanted.clock,
        openings=wanted.openings,
        pace_ms=wanted.pace_ms,
    )
    found = store.find_event(engine, event_id)
    assert found is not None
    return league.event(found, 0)


@router.get("/matches/{match_id}")
def one_match(request: Request, match_id: MatchId) -> Json:
    """A match; its record is at /api/v1/replays/{id}/record once it is over."""
    return league.match(match_of(request, match_id))


@router.get("/matches/{match_id}/events", response_class=Response, responses=STREAM)
async def events_of_match(request: Request, match_id: MatchId, who: Anybody) -> StreamingResponse:
    """A match for those who look on: its view whenever it changes, and ``gone`` when it is over."""
    await run_in_threadpool(match_of, request, match_id)
    return _stream(request.app.state.spectators, None, match_id)


@router.get("/live/{game_id}", response_class=Response, responses=STREAM)
async def live(request: Request, game_id: str, who: Anybody) -> StreamingResponse:
    """All matches of a game that are being played: a view whenever one changes, and ``gone`` when one is over."""
    check_game(game_id)
    return _stream(request.app.state.spectators, game_id, None)


def match_of(request: Request, match_id: str) -> store.MatchInfo:
    """A match by its id, or 404."""
    found = store.find_match(request.app.state.engine, match_id)
    if found is None:
        raise HTTPException(404, "there is no such match")
    return found


def _stream(spectators: Spectators, game: str | None, match: str | None) -> StreamingResponse:
    async def text() -> AsyncIterator[str]:
        yield "retry: 2000\n\n"
        async for news in spectators.matches(game, match):
            yield as_event(news)

    return StreamingResponse(text(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})
