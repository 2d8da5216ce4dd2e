"""Versions of bots: their ratings, matches between them, why they failed, and bots that are paused."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from ludodrome.arena.ladder import events
from ludodrome.games import find
from ludodrome.store import league_bots, league_matches
from ludodrome.store.league_models import UPLOADED
from ludodrome.web import league
from ludodrome.web.auth import BotsScope
from ludodrome.web.position_view import Json
from ludodrome.web.routes.accounts import actor
from ludodrome.web.routes.bots import BotId, bot_of, own_bot
from ludodrome.web.routes.schemas import ERROR_RESPONSES, Strict

router = APIRouter(tags=["bots"], responses=ERROR_RESPONSES)

MAX_GAMES = 100
"""Games that are searched for failures."""
MAX_NUMBER = 1_000_000


class VersionMatch(Strict):
    """A match between two versions of a bot. It does not change their ratings."""

    first: int = Field(ge=1, le=MAX_NUMBER, description="The number of a version.")
    second: int = Field(ge=1, le=MAX_NUMBER, description="The number of another one.")
    pairs: int = Field(
        default=10, ge=1, le=events.MAX_PAIRS, description="Number of openings; each is played in both seatings."
    )
    clock: str | None = Field(default=None, max_length=40, description="1s, 1s+10s (with a bank), 60s++1s (Fischer)")


@router.get("/bots/{bot_id}/versions")
def versions(request: Request, bot_id: BotId) -> list[Json]:
    """The versions of a bot, latest first: number, date, identity (a hash of what runs), rating, games."""
    return league.version_list(request.app.state.engine, bot_of(request, bot_id))


@router.post("/bots/{bot_id}/versions/match", status_code=201)
def match_versions(request: Request, bot_id: BotId, wanted: VersionMatch, who: BotsScope) -> Json:
    """Begin a match between two versions of your uploaded bot; the answer is its event."""
    engine, bot = request.app.state.engine, own_bot(request, bot_id, who)
    if bot.kind != UPLOADED:
        raise ValueError("only versions of an uploaded bot can meet: of a remote bot the server has one at a time")
    if wanted.first == wanted.second:
        raise ValueError("a version does not meet itself")
    entries = []
    for number in (wanted.first, wanted.second):
        version = league_bots.numbered_version(engine, bot_id, number)
        if version is None:
            raise HTTPException(404, f"{bot.name} has no version {number}")
        entries.append(bot._replace(name=f"{bot.name} v{number}", spec=f"{UPLOADED}:{version}", version=version))
    options = dict(find(bot.game).game_class().people_options)  # as on the ladder
    event_id = events.ask(
        engine, bot.game, entries, str(who.account), options=options, pairs=wanted.pairs, clock=wanted.clock
    )
    found = league_matches.find_event(engine, event_id)
    assert found is not None
    return league.event_json(found, 0)


@router.get("/bots/{bot_id}/failures")
def failures(
    request: Request, bot_id: BotId, who: BotsScope, most: Annotated[int, Query(ge=1, le=MAX_GAMES)] = 20
) -> list[Json]:
    """Why your bot failed in its latest games: cause, reason, what it had sent, and the end of its standard error."""
    return league.failures(request.app.state.engine, own_bot(request, bot_id, who), most)


@router.post("/bots/{bot_id}/resume")
def resume(request: Request, bot_id: BotId, who: BotsScope) -> Json:
    """Let your bot play again that was paused because it kept failing."""
    own_bot(request, bot_id, who)
    league_bots.resume(request.app.state.engine, bot_id, actor(request, who))
    return league.bot_json(bot_of(request, bot_id))
