"""Pages to play on, and the home page."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.games import BUILT_IN, GAMES, PAGE_ORDER, find
from ludodrome.web.position_view import Json
from ludodrome.web.templating import general_page, page

# The games in progress that a first visit finds: some moves are made, and it is your turn.
# They are read from a file, so that a page can draw its board before any rule is compiled.


OPPONENT = "level:3"


@cache
def _all() -> Json:
    read: Json = json.loads(files("ludodrome.web").joinpath("data", "showcase.json").read_text("utf-8"))
    return read


def showcase(game_id: str) -> Any:
    """``options``, ``seats``, the moves of the ``opening``, their ``texts``, and the ``state`` they lead to."""
    return _all()[game_id] if game_id in BUILT_IN else _empty(game_id)


@cache
def _empty(game_id: str) -> Json:
    """The first position, for a game of another package."""
    others = find(game_id).game_class()().seats - 1
    return {"options": {}, "seats": ["person"] + [OPPONENT] * others, "opening": [], "texts": [], "state": None}


pages = APIRouter(include_in_schema=False)

FIRST = PAGE_ORDER[0]


@pages.get("/")
def home() -> Response:
    """The first game."""
    return RedirectResponse(f"/{FIRST}")


@pages.get("/favicon.ico")
def icon() -> Response:
    """For browsers that ignore the link in the page."""
    return RedirectResponse("/static/icon.svg")


@pages.get("/{game_id}")
def play(request: Request, game_id: str) -> Response:
    """Play: a game in progress."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, None, first))


def _play_data(request: Request, game_id: str, play: str | None, first: Any) -> dict[str, Any]:
    """Data of the play page: the game, and the URL of this server for friends."""
    state = request.app.state
    return {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}


@pages.get("/join/{link}")
def join(request: Request, link: str) -> Response:
    """A link to a free seat; the page takes it."""
    return general_page(request, "join.html", data={"link": link})


@pages.get("/{game_id}/plays/{name}")
def play_again(request: Request, game_id: str, name: str) -> Response:
    """Play: the game of that id."""
    found = request.app.state.plays.find(name)
    if found is None or found.game.id != game_id:
        raise HTTPException(404, "There is no game with this id.")
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, name, None))
