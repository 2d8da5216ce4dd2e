"""Render pages: Jinja templates and what every page shares."""

import json
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from ludodrome.games import GAMES, PAGE_ORDER, GameEntry
from ludodrome.web.position_view import board_of
from ludodrome.web.static_files import style

TABS = (
    ("Play", ""),
    ("Arena", "/arena"),
    ("New bot", "/bots/new"),
    ("Leaderboard", "/leaderboard"),
    ("Analysis", "/analysis"),
    ("Puzzles", "/puzzles"),
    ("Rules", "/rules"),
)
_templates = Jinja2Templates(Path(__file__).parent / "templates")
_templates.env.globals["board_of"] = board_of
_templates.env.globals["style"] = style


def embedded(value: Any) -> Markup:
    """JSON that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _games() -> list[GameEntry]:
    return [GAMES[one] for one in (*PAGE_ORDER, *sorted(set(GAMES) - set(PAGE_ORDER)))]


def page(request: Request, template: str, game_id: str, tab: str | None, **context: Any) -> Response:
    """A page of a game; ``tab`` is the current tab, if any. 404 if there is no such game."""
    if game_id not in GAMES:
        raise HTTPException(404, "There is no such game. The games are listed above.")
    entry: GameEntry = GAMES[game_id]
    shared = {"games": _games(), "game": entry, "tabs": TABS, "tab": tab, "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def general_page(request: Request, template: str, **context: Any) -> Response:
    """A page outside of any game."""
    shared = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def error_page(request: Request, status: int, sentence: str) -> Response:
    """An error page."""
    context = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "sentence": sentence}
    return _templates.TemplateResponse(request, "error.html", {**context, "status": status}, status_code=status)
