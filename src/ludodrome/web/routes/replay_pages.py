"""Pages for people: a finished game, a place to bring a record, the analysis board."""

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.games import GAMES
from ludodrome.store import plays
from ludodrome.web.replays import find_record
from ludodrome.web.showcase import showcase
from ludodrome.web.templating import general_page, page

pages = APIRouter(include_in_schema=False)


@pages.get("/games/{name}")
def replay_page(request: Request, name: str) -> Response:
    """A finished game; one that is still played is shown where it is played."""
    found = find_record(request.app.state.engine, request.app.state.brought, name)
    if found is None:
        running = plays.find(request.app.state.engine, name)
        if running is None or running.assignment["game"] not in GAMES:
            raise HTTPException(404, "There is no finished game of this name here.")
        return RedirectResponse(f"/{running.assignment['game']}/plays/{running.id}")
    data = {"game": found["game"], "id": name}
    return page(request, "replay.html", found["game"], None, names=found["names"], data=data)


@pages.get("/replay")
def bring_page(request: Request) -> Response:
    """A place to drop a record."""
    return general_page(request, "bring.html")


@pages.get("/{game_id}/analysis")
def analysis_page(request: Request, game_id: str) -> Response:
    """The analysis board."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "analysis.html", game_id, "/analysis", data={"game": game_id, "showcase": first})
