"""The league: matches, tournaments, leaderboard, and its pages."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from ludodrome.arena.ladder import events
from ludodrome.arena.ladder.prior_ratings import crosstable, prior_ratings
from ludodrome.arena.ladder.uploads import MAX_UPLOADED_MODULE, OFF, is_module, is_packed
from ludodrome.bots.starters import GAMES_WITH_STARTERS, one_file
from ludodrome.games import GAMES, find
from ludodrome.store import league_bots, league_matches
from ludodrome.store.league_models import TOURNAMENT, UPLOADED, EventRow
from ludodrome.store.league_ratings import MAX_FAILURES
from ludodrome.web import league
from ludodrome.web.auth import Anybody, BotsScope, Caller
from ludodrome.web.budgets import budget_of
from ludodrome.web.league import RatingAxis, Spectators, as_event, sparkline
from ludodrome.web.position_view import Json
from ludodrome.web.responses import StreamedResponse
from ludodrome.web.routes.bots import bot_of, check_game
from ludodrome.web.routes.pages import showcase
from ludodrome.web.routes.schemas import ERROR_RESPONSES, GAME_NAME, Strict
from ludodrome.web.templating import page

router = APIRouter(tags=["matches"], responses=ERROR_RESPONSES)

MatchId = Annotated[str, Path(max_length=60)]
MAX_MATCHES = 100
ALL_GAMES = "all"
"""In the place of a game, for spectators of any."""
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Views of matches, one an event."}
}


class NewMatch(Strict):
    """A match between bots of the league. It does not change their ratings."""

    game: str = GAME_NAME
    bots: list[str] = Field(min_length=2, max_length=3, description="The ids of the bots.")
    options: dict[str, Any] = Field(default={}, max_length=10)
    pairs: int = Field(
        default=1, ge=1, le=events.MAX_PAIRS, description="Number of openings; each is played in every seating."
    )
    clock: str | None = Field(default=None, max_length=40, description="1s, 1s+10s (with a bank), 60s++1s (Fischer)")
    openings: bool = Field(default=True, description="Whether games begin from random openings.")
    pace_ms: int = Field(
        default=0, ge=0, le=events.MAX_PACE_MS, description="Pause between two moves in milliseconds, for spectators."
    )


@router.get("/matches")
def matches(
    request: Request,
    game: Annotated[str | None, Query(max_length=40)] = None,
    bot: Annotated[str | None, Query(max_length=40)] = None,
    event: Annotated[str | None, Query(max_length=40)] = None,
    most: Annotated[int, Query(ge=1, le=MAX_MATCHES)] = 20,
) -> list[Json]:
    """The latest finished games: of a game, a bot, or an event."""
    return [league.match_json(one) for one in league_matches.recent(request.app.state.engine, game, bot, event, most)]


@router.post("/matches", status_code=201)
def ask_match(request: Request, wanted: NewMatch, who: BotsScope) -> Json:
    """Request a match. It is played as soon as a worker is free; the answer is its event."""
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
    found = league_matches.find_event(engine, event_id)
    assert found is not None
    return league.event_json(found, 0)


@router.get("/matches/{match_id}")
def one_match(request: Request, match_id: MatchId) -> Json:
    """A match; its record is at /api/v1/replays/{id}/record once it is over."""
    return league.match_json(match_of(request, match_id))


@router.get("/matches/{match_id}/logs")
def logs(request: Request, match_id: MatchId, who: BotsScope) -> list[Json]:
    """What your bots said in a finished game: standard error, notes, log messages, errors, malformed lines.

    Nobody else can read it, except administrators.
    """
    found, engine = match_of(request, match_id), request.app.state.engine
    if not league.own_seats(engine, found, who):
        raise HTTPException(403, "none of the bots in this match is yours")
    kept = league_matches.record_of(engine, match_id)
    if kept is None:
        raise HTTPException(404, "this match is not over")
    return league.logs_json(engine, found, kept.record, who)


@router.get("/matches/{match_id}/events", response_class=Response, responses=STREAM)
async def events_of_match(request: Request, match_id: MatchId, who: Anybody) -> StreamedResponse:
    """A match for spectators: its view whenever it changes, and ``gone`` when it is over."""
    await run_in_threadpool(match_of, request, match_id)
    return _event_stream(request, None, match_id)


@router.get("/live/{game_id}", response_class=Response, responses=STREAM)
async def live(request: Request, game_id: str, who: Anybody) -> StreamedResponse:
    """All running matches of a game, or of `all` games: a view whenever one changes, and ``gone`` when one is over.

    While there is none, it is a show match between built-ins, with ``show`` and the ``evaluation`` in its view.
    """
    if game_id != ALL_GAMES:
        check_game(game_id)
    return _event_stream(request, None if game_id == ALL_GAMES else game_id, None)


def match_of(request: Request, match_id: str) -> league_matches.MatchInfo:
    """A match by its id, or 404."""
    found = league_matches.find_match(request.app.state.engine, match_id)
    if found is None:
        raise HTTPException(404, "there is no such match")
    return found


def _event_stream(request: Request, game: str | None, match: str | None) -> StreamedResponse:
    spectators: Spectators = request.app.state.spectators

    async def text() -> AsyncGenerator[str, None]:
        yield "retry: 2000\n\n"
        async with aclosing(spectators.matches(game, match)) as changes:
            async for news in changes:
                yield as_event(news)

    return StreamedResponse(text(), budget_of(request), "text/event-stream", {"x-accel-buffering": "no"})


# Tournaments; a challenge is a small one


tournament_router = APIRouter(prefix="/tournaments", tags=["tournaments"], responses=ERROR_RESPONSES)

EventId = Annotated[str, Path(max_length=40)]
MAX_TOURNAMENTS = 100
STOPPED = "it was stopped"


class NewTournament(Strict):
    """A tournament between bots of the league. It does not change their ratings."""

    game: str = GAME_NAME
    name: str = Field(min_length=1, max_length=60, examples=["Sunday cup"])
    format: Literal["round-robin", "gauntlet"] = Field(
        default="round-robin", description="In a gauntlet the first bot plays all others."
    )
    bots: list[str] = Field(min_length=2, max_length=events.MAX_BOTS, description="The ids of the bots.")
    options: dict[str, Any] = Field(default={}, max_length=10)
    pairs: int = Field(default=1, ge=1, le=events.MAX_PAIRS, description="Openings per pairing.")
    clock: str | None = Field(default=None, max_length=40, description="1s, 1s+10s (with a bank), 60s++1s (Fischer)")
    openings: bool = Field(default=True, description="Whether games begin from random openings.")


@tournament_router.get("")
def tournaments(
    request: Request,
    game: Annotated[str | None, Query(max_length=40)] = None,
    most: Annotated[int, Query(ge=1, le=MAX_TOURNAMENTS)] = 20,
) -> list[Json]:
    """The latest tournaments, of a game or of all."""
    engine = request.app.state.engine
    return league.event_list(engine, league_matches.events(engine, game, TOURNAMENT, most))


@tournament_router.post("", status_code=201)
def begin_tournament(request: Request, wanted: NewTournament, who: BotsScope) -> Json:
    """Begin a tournament. Its games are played as workers become free."""
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
    return league.event_json(event_of(request, event_id), 0)


@tournament_router.get("/{event_id}")
def one_tournament(request: Request, event_id: EventId) -> Json:
    """A tournament or a challenge: progress, standings and crosstable."""
    return league.event_details(request.app.state.engine, event_of(request, event_id))


@tournament_router.post("/{event_id}/stop")
def stop_tournament(request: Request, event_id: EventId, who: BotsScope) -> Json:
    """Stop your tournament or challenge; finished games stay."""
    found = event_of(request, event_id)
    if found.asked_by != who.account and not who.admin:
        raise HTTPException(403, "this event is not yours")
    league_matches.close_event(request.app.state.engine, event_id, STOPPED)
    return league.event_json(event_of(request, event_id), league_matches.played_of(request.app.state.engine, event_id))


def event_of(request: Request, event_id: str) -> EventRow:
    """An event by its id, or 404."""
    found = league_matches.find_event(request.app.state.engine, event_id)
    if found is None:
        raise HTTPException(404, "there is no such tournament")
    return found


# Leaderboard


MAX_ROWS = 1000
MAX_SKIP = 10_000_000
leaderboard_router = APIRouter(tags=["leaderboard"], responses=ERROR_RESPONSES)


@leaderboard_router.get("/leaderboard/{game_id}")
def leaderboard(
    request: Request,
    game_id: str,
    most: Annotated[int, Query(ge=1, le=MAX_ROWS)] = league.PAGE_ROWS,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP)] = 0,
) -> list[Json]:
    """The bots of a game, the best first: rating with its 95 % interval, games, verdicts, trend."""
    check_game(game_id)
    return league.leaderboard(request.app.state.engine, game_id, most, skip)


# Pages


pages = APIRouter(include_in_schema=False)

RECENT = 12
GLANCE = 0.05
"""Seconds that a page waits for optional facts."""
TOURNAMENTS = 6
SHOW_MATCH = "show"
"""In the place of a match's id: what is played now."""


def _here(request: Request, game_id: str) -> Any:
    if game_id not in GAMES:
        raise HTTPException(404, "There is no such game. The games are listed above.")
    return request.app.state.engine


@pages.get("/{game_id}/arena")
def arena_page(request: Request, game_id: str, who: Anybody) -> Response:
    """Running matches, results, and forms for matches and tournaments."""
    engine = _here(request, game_id)
    bots = [league.bot_json(one) for one in league_bots.bots(engine, game_id) if one.retired is None]
    recent = [league.match_json(one) for one in league_matches.recent(engine, game_id, most=RECENT)]
    found = league_matches.events(engine, game_id, TOURNAMENT, TOURNAMENTS)
    data = {
        "game": game_id,
        "options": dict(find(game_id).game_class().people_options),
        "bots": bots,
        "recent": recent,
        "tournaments": league.event_list(engine, found),
    }
    return page(
        request,
        "arena.html",
        game_id,
        "/arena",
        may=who.account is not None,
        word=league.runner_notice(engine),
        most_pairs=events.MAX_PAIRS,
        measured=prior_ratings(game_id),
        measured_rows=crosstable(game_id),
        conditions=league.ladder_conditions(game_id),
        data=data,
    )


@pages.get("/{game_id}/bots/new")
def new_bot_page(request: Request, game_id: str, who: Anybody, bot: str | None = None) -> Response:
    """An editor with a starter bot, and a form for remote bots. ``bot``: edit a new version of that bot."""
    engine = _here(request, game_id)
    known = league_bots.find_bot(engine, bot[:40]) if bot else None
    source, old = one_file(game_id) if game_id in GAMES_WITH_STARTERS else "", None
    if known is not None and known.kind == UPLOADED and _owns(known, who) and known.game == game_id:
        kept, old = league_bots.source_of(engine, known.spec.partition(":")[2]), league.bot_json(known)
        source = source if kept is None or is_packed(kept) or is_module(kept) else kept
    mine = [league.bot_json(one) for one in league_bots.bots(engine, game_id, who.account)] if who.account else []
    doctor = request.app.state.doctor
    if doctor.policy != OFF:
        with suppress(TimeoutError):  # the result is for later visitors
            request.app.state.bot_pool.executor.submit(doctor.look).result(GLANCE)
    state = showcase(game_id)["state"]
    data = {
        "game": game_id,
        "source": source,
        "fields": list(state) if isinstance(state, dict) else [],
        "most_module": MAX_UPLOADED_MODULE,
        "bot": old,
        "mine": mine,
        "hosted": request.app.state.mode == "hosted",
    }
    return page(
        request,
        "newbot.html",
        game_id,
        "/bots/new",
        may=who.account is not None,
        old=old,
        mine=mine,
        doctor=doctor,
        data=data,
    )


@pages.get("/{game_id}/leaderboard")
def leaderboard_page(
    request: Request, game_id: str, who: Anybody, skip: Annotated[int, Query(ge=0, le=MAX_SKIP)] = 0
) -> Response:
    """The bots of a game, the best first."""
    engine = _here(request, game_id)
    lines = league.leaderboard(engine, game_id, league.PAGE_ROWS + 1, skip)
    more, lines = len(lines) > league.PAGE_ROWS, lines[: league.PAGE_ROWS]
    axis = RatingAxis.around(lines)
    for line in lines:
        line["sparkline"] = sparkline(line["trend"])
    mine = {one.id for one in league_bots.bots(engine, game_id, who.account)} if who.account else set()
    return page(
        request,
        "leaderboard.html",
        game_id,
        "/leaderboard",
        lines=lines,
        axis=axis,
        measured=prior_ratings(game_id),
        mine=mine,
        word=league.runner_notice(engine),
        conditions=league.ladder_conditions(game_id),
        before=max(0, skip - league.PAGE_ROWS) if skip else None,
        after=skip + league.PAGE_ROWS if more else None,
        data=None,
    )


@pages.get("/{game_id}/bots/{bot_id}")
def bot_page(request: Request, game_id: str, bot_id: str, who: Anybody) -> Response:
    """A bot: its history plotted, its head-to-heads, its games."""
    engine = _here(request, game_id)
    found = bot_of(request, bot_id[:40])
    if found.game != game_id:
        return RedirectResponse(f"/{found.game}/bots/{found.id}")
    standing = league_bots.standing(engine, found.id)
    assert standing is not None
    details = league.bot_details(engine, standing)
    owned = _owns(found, who)
    failure = None
    if owned and found.paused is not None:
        failure = next(iter(league.failures(engine, found, MAX_FAILURES)), None)
    data = {"game": game_id, "bot": details, "mine": owned}
    return page(
        request,
        "bot.html",
        game_id,
        "/leaderboard",
        bot=details,
        mine=owned,
        failure=failure,
        max_failures=MAX_FAILURES,
        version_axis=RatingAxis.around([one for one in details["versions"] if one.get("rating")]),
        data=data,
    )


@pages.get("/{game_id}/tournaments/{event_id}")
def tournament_page(request: Request, game_id: str, event_id: str, who: Anybody) -> Response:
    """A tournament or a challenge: its table, its crosstable, its games."""
    engine = _here(request, game_id)
    found = event_of(request, event_id[:40])
    if found.game != game_id:
        return RedirectResponse(f"/{found.game}/tournaments/{found.id}")
    games = [league.match_json(one) for one in league_matches.recent(engine, event=found.id, most=100)]
    mine = who.account is not None and (found.asked_by == who.account or who.admin)
    data = {"game": game_id, "event": league.event_details(engine, found), "matches": games, "mine": mine}
    return page(request, "tournament.html", game_id, "/arena", event=data["event"], mine=mine, data=data)


@pages.get("/{game_id}/matches/{match_id}")
def match_page(request: Request, game_id: str, match_id: str) -> Response:
    """A running match, or the show match of the game; a finished one redirects to its replay."""
    _here(request, game_id)
    if match_id == SHOW_MATCH:
        return page(request, "match.html", game_id, "/arena", match=None, data={"game": game_id, "match": None})
    found = match_of(request, match_id[:60])
    if found.counted is not None:
        return RedirectResponse(f"/games/{found.id}")
    data = {"game": game_id, "match": league.match_json(found)}
    return page(request, "match.html", found.game, "/arena", match=data["match"], data=data)


def _owns(bot: league_bots.BotEntry, who: Caller) -> bool:
    return bot.owner is not None and (bot.owner == who.account or who.admin)
