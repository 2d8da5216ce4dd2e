"""Pages for people."""

import json
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from ludodrome.games import GAMES, GameEntry
from ludodrome.puzzle import puzzles
from ludodrome.web.auth import Anybody
from ludodrome.web.position_view import board_of
from ludodrome.web.puzzles import solved_by
from ludodrome.web.routes.puzzles import puzzle_of
from ludodrome.web.routes.rules import rules
from ludodrome.web.showcase import showcase
from ludodrome.web.static_files import style

router = APIRouter(include_in_schema=False)

FIRST = "skysummit"
ORDER = ("skysummit", "caldera", "dots", "santorini", "spaces")
"""The five; games of other packages come after them."""
TABS = (
    ("Play", ""),
    ("Arena", "/arena"),
    ("New bot", "/bots/new"),
    ("Leaderboard", "/leaderboard"),
    ("Analysis", "/analysis"),
    ("Puzzles", "/puzzles"),
    ("Rules", "/rules"),
)
KIND_WORDS = {"win": "Win in {goal}", "save": "Save the game", "margin": "The only edge", "respond": "Best answer"}
_templates = Jinja2Templates(Path(__file__).parent.parent / "templates")
_templates.env.globals["board_of"] = board_of
_templates.env.globals["style"] = style


def embedded(value: Any) -> Markup:
    """JSON that can stand in a page's script element, whatever is in it."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _games() -> list[GameEntry]:
    return [GAMES[one] for one in (*ORDER, *sorted(set(GAMES) - set(ORDER)))]


def page(request: Request, template: str, game_id: str, tab: str | None, **context: Any) -> Response:
    """A page of a game, under one of its tabs or beside them; 404 if there is no such game."""
    if game_id not in GAMES:
        raise HTTPException(404, "There is no such game. The games are listed above.")
    entry: GameEntry = GAMES[game_id]
    shared = {"games": _games(), "game": entry, "tabs": TABS, "tab": tab, "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def general_page(request: Request, template: str, **context: Any) -> Response:
    """A page of no game in particular."""
    shared = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def error_page(request: Request, status: int, sentence: str) -> Response:
    """A page that says what is wrong."""
    context = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "sentence": sentence}
    return _templates.TemplateResponse(request, "error.html", {**context, "status": status}, status_code=status)


@router.get("/")
def home() -> Response:
    """The first game."""
    return RedirectResponse(f"/{FIRST}")


@router.get("/favicon.ico")
def icon() -> Response:
    """For browsers that do not read the page's link."""
    return RedirectResponse("/static/icon.svg")


@router.get("/{game_id}")
def play(request: Request, game_id: str) -> Response:
    """Play: a game in progress."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, None, first))


def _play_data(request: Request, game_id: str, play: str | None, first: Any) -> dict[str, Any]:
    """What the play page is told: the game, and where friends find this server."""
    state = request.app.state
    return {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}


@router.get("/join/{link}")
def join(request: Request, link: str) -> Response:
    """A link that gives a seat away: the page takes it."""
    return general_page(request, "join.html", data={"link": link})


@router.get("/{game_id}/plays/{name}")
def play_again(request: Request, game_id: str, name: str) -> Response:
    """Play: the game of that id."""
    found = request.app.state.plays.find(name)
    if found is None or found.game.id != game_id:
        raise HTTPException(404, "There is no such game of this kind.")
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, name, None))


@router.get("/{game_id}/rules")
def rules_page(request: Request, game_id: str) -> Response:
    """The rules, with diagrams."""
    book = rules(game_id) if game_id in GAMES else None
    diagrams = [] if book is None else [{"position": one.position, "options": one.options} for one in book.diagrams]
    return page(request, "rules.html", game_id, "/rules", book=book, data={"game": game_id, "diagrams": diagrams})


@router.get("/{game_id}/puzzles")
def puzzles_page(request: Request, game_id: str, who: Anybody) -> Response:
    """The puzzles of a game, by grade."""
    book = puzzles(game_id) if game_id in GAMES else []
    solved = solved_by(request, who)
    grades = [
        [(one, KIND_WORDS[one.kind].format(goal=one.goal), one in solved) for one in book if one.grade == grade]
        for grade in sorted({one.grade for one in book})
    ]
    count = sum(one in solved for one in book)
    first = next((one.number for one in book if one not in solved), 1)
    return page(request, "puzzles.html", game_id, "/puzzles", grades=grades, count=count, total=len(book), first=first)


@router.get("/{game_id}/puzzles/{number}")
def puzzle_page(request: Request, game_id: str, number: int, who: Anybody) -> Response:
    """One puzzle."""
    if game_id not in GAMES:
        return page(request, "puzzle.html", game_id, "/puzzles")
    one, total = puzzle_of(game_id, number), len(puzzles(game_id))
    data = {"game": game_id, "number": number, "total": total}
    solved = one in solved_by(request, who)
    return page(request, "puzzle.html", game_id, "/puzzles", puzzle=one, total=total, solved=solved, data=data)
