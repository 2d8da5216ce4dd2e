"""Pages of the league: arena, new bot, leaderboard, one bot, one tournament, one match as it is played."""

from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.arena.ladder import events
from ludodrome.bots.starters import GAMES_WITH_STARTERS, one_file
from ludodrome.games import GAMES
from ludodrome.store import league_bots as store
from ludodrome.store import league_matches
from ludodrome.store.models import TOURNAMENT, UPLOADED
from ludodrome.web import league
from ludodrome.web.auth import Anybody, Caller
from ludodrome.web.league import Axis, sparkline
from ludodrome.web.routes.bots import bot_of
from ludodrome.web.routes.leaderboard import MAX_SKIP
from ludodrome.web.routes.matches import match_of
from ludodrome.web.routes.tournaments import event_of
from ludodrome.web.templating import page

pages = APIRouter(include_in_schema=False)

RECENT = 12
GLANCE = 0.05
"""Seconds that a page waits for what it can do without."""
TOURNAMENTS = 6


def _here(request: Request, game_id: str) -> Any:
    if game_id not in GAMES:
        raise HTTPException(404, "There is no such game. The games are listed above.")
    return request.app.state.engine


@pages.get("/{game_id}/arena")
def arena(request: Request, game_id: str, who: Anybody) -> Response:
    """What is played now, what was played, and a form to ask for more."""
    engine = _here(request, game_id)
    bots = [league.bot(one) for one in store.bots(engine, game_id) if one.retired is None]
    recent = [league.match(one) for one in league_matches.recent(engine, game_id, most=RECENT)]
    found = league_matches.events(engine, game_id, TOURNAMENT, TOURNAMENTS)
    data = {"game": game_id, "bots": bots, "recent": recent, "tournaments": league.event_list(engine, found)}
    return page(
        request,
        "arena.html",
        game_id,
        "/arena",
        may=who.account is not None,
        word=league.word(engine),
        most_pairs=events.MOST_PAIRS,
        data=data,
    )


@pages.get("/{game_id}/bots/new")
def new_bot(request: Request, game_id: str, who: Anybody, bot: str | None = None) -> Response:
    """An editor with a working example, and what a remote bot needs. ``bot``: a new version of that bot."""
    engine = _here(request, game_id)
    known = store.find_bot(engine, bot[:40]) if bot else None
    source, old = one_file(game_id) if game_id in GAMES_WITH_STARTERS else "", None
    if known is not None and known.kind == UPLOADED and _owns(known, who) and known.game == game_id:
        source, old = store.source_of(engine, known.spec.partition(":")[2]) or source, league.bot(known)
    mine = [league.bot(one) for one in store.bots(engine, game_id, who.account)] if who.account else []
    doctor = request.app.state.doctor
    if doctor.sandboxed:
        with suppress(TimeoutError):  # what takes longer is found out for those who come later
            request.app.state.staff.executor.submit(doctor.look).result(GLANCE)
    data = {"game": game_id, "source": source, "bot": old, "mine": mine, "hosted": request.app.state.mode == "hosted"}
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
def leaderboard(
    request: Request, game_id: str, who: Anybody, skip: Annotated[int, Query(ge=0, le=MAX_SKIP)] = 0
) -> Response:
    """The bots of a game, the best first."""
    engine = _here(request, game_id)
    lines = league.leaderboard(engine, game_id, league.LINES + 1, skip)
    more, lines = len(lines) > league.LINES, lines[: league.LINES]
    axis = Axis.around(lines)
    for line in lines:
        line["sparkline"] = sparkline(line["trend"])
    mine = {one.id for one in store.bots(engine, game_id, who.account)} if who.account else set()
    return page(
        request,
        "leaderboard.html",
        game_id,
        "/leaderboard",
        lines=lines,
        axis=axis,
        mine=mine,
        word=league.word(engine),
        before=max(0, skip - league.LINES) if skip else None,
        after=skip + league.LINES if more else None,
        data=None,
    )


@pages.get("/{game_id}/bots/{bot_id}")
def one_bot(request: Request, game_id: str, bot_id: str, who: Anybody) -> Response:
    """A bot: its history plotted, its head-to-heads, its games."""
    engine = _here(request, game_id)
    found = bot_of(request, bot_id[:40])
    if found.game != game_id:
        return RedirectResponse(f"/{found.game}/bots/{found.id}")
    standing = store.standing(engine, found.id)
    assert standing is not None
    told = league.one_bot(engine, standing)
    owned = _owns(found, who)
    data = {"game": game_id, "bot": told, "mine": owned}
    return page(request, "bot.html", game_id, "/leaderboard", bot=told, mine=owned, axis=Axis.around([told]), data=data)


@pages.get("/{game_id}/tournaments/{event_id}")
def tournament(request: Request, game_id: str, event_id: str, who: Anybody) -> Response:
    """A tournament or a challenge: its table, its crosstable, its games."""
    engine = _here(request, game_id)
    found = event_of(request, event_id[:40])
    if found.game != game_id:
        return RedirectResponse(f"/{found.game}/tournaments/{found.id}")
    games = [league.match(one) for one in league_matches.recent(engine, event=found.id, most=100)]
    mine = who.account is not None and (found.asked_by == who.account or who.admin)
    data = {"game": game_id, "event": league.whole_event(engine, found), "matches": games, "mine": mine}
    return page(request, "tournament.html", game_id, "/arena", event=data["event"], mine=mine, data=data)


@pages.get("/{game_id}/matches/{match_id}")
def match(request: Request, game_id: str, match_id: str) -> Response:
    """A match as it is played; one that is over is replayed."""
    _here(request, game_id)
    found = match_of(request, match_id[:60])
    if found.counted is not None:
        return RedirectResponse(f"/games/{found.id}")
    data = {"game": game_id, "match": league.match(found)}
    return page(request, "match.html", found.game, "/arena", match=data["match"], data=data)


def _owns(bot: store.BotEntry, who: Caller) -> bool:
    return bot.owner is not None and (bot.owner == who.account or who.admin)
