"""Tournaments of the league, with their tables; a challenge is a small one."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Request
from pydantic import Field

from ludodrome.arena.ladder import events
from ludodrome.games import find
from ludodrome.store import league_matches as store
from ludodrome.store.models import TOURNAMENT, EventRow
from ludodrome.web import league
from ludodrome.web.auth import BotsScope
from ludodrome.web.position_view import Json
from ludodrome.web.routes.bots import bot_of
from ludodrome.web.routes.schemas import FAULTS, GAME_NAME, Strict

tournament_router = APIRouter(prefix="/tournaments", tags=["tournaments"], responses=FAULTS)

EventId = Annotated[str, Path(max_length=40)]
MAX_TOURNAMENTS = 100
STOPPED = "it was stopped"


class NewTournament(Strict):
    """A tournament between bots of the league. It does not change their ratings."""

    game: str = GAME_NAME
    name: str = Field(min_length=1, max_length=60, examples=["Sunday cup"])
    format: Literal["round-robin", "gauntlet"] = Field(
        default="round-robin", description="In a gauntlet the first bot meets all others."
    )
    bots: list[str] = Field(min_length=2, max_length=events.MOST_BOTS, description="The ids of the bots.")
    options: dict[str, Any] = Field(default={}, max_length=10)
    pairs: int = Field(default=1, ge=1, le=events.MOST_PAIRS, description="Openings of each meeting.")
    clock: str | None = Field(default=None, max_length=40, description="1s, 1s+10s (with a bank), 60s++1s (Fischer)")
    openings: bool = Field(default=True, description="Whether games begin from drawn openings.")


@tournament_router.get("")
def tournaments(
    request: Request,
    game: Annotated[str | None, Query(max_length=40)] = None,
    most: Annotated[int, Query(ge=1, le=MAX_TOURNAMENTS)] = 20,
) -> list[Json]:
    """The latest tournaments, of a game or of all."""
    engine = request.app.state.engine
    return league.event_list(engine, store.events(engine, game, TOURNAMENT, most))


@tournament_router.post("", status_code=201)
def begin_tournament(request: Request, wanted: NewTournament, who: BotsScope) -> Json:
    """Begin a tournament. Its games are played as workers are free."""
    find(wanted.game)
    engine = request.app.state.engine
    event_id = events.ask(
        engine,
        wanted.game,
        [bot_of(request, bot_id) for bot_id in wanted.bots],
        str(who.account),
        options=wanted.options,
        name=wanted.name,
        kind=wanted.format,
        pairs=wanted.pairs,
        clock=wanted.clock,
        openings=wanted.openings,
    )
    return league.event(event_of(request, event_id), 0)


@tournament_router.get("/{event_id}")
def one_tournament(request: Request, event_id: EventId) -> Json:
    """A tournament or a challenge: how far it is, its table and its crosstable."""
    return league.whole_event(request.app.state.engine, event_of(request, event_id))


@tournament_router.post("/{event_id}/stop")
def stop_tournament(request: Request, event_id: EventId, who: BotsScope) -> Json:
    """Stop a tournament or a challenge of one's own; what was played stays."""
    found = event_of(request, event_id)
    if found.asked_by != who.account and not who.admin:
        raise HTTPException(403, "this is not yours")
    store.close_event(request.app.state.engine, event_id, STOPPED)
    return league.event(event_of(request, event_id), store.played_of(request.app.state.engine, event_id))


def event_of(request: Request, event_id: str) -> EventRow:
    """An event by its id, or 404."""
    found = store.find_event(request.app.state.engine, event_id)
    if found is None:
        raise HTTPException(404, "there is no such tournament")
    return found
