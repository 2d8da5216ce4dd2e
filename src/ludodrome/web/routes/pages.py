"""Pages: the home page, pages to play on, the rules."""

import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markdown_it import MarkdownIt

from ludodrome.game_extras import Diagram
from ludodrome.games import BUILT_IN, GAMES, PAGE_ORDER, find
from ludodrome.puzzle.lessons import FIRST_OPPONENT, lesson
from ludodrome.web.budgets import budget_of
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
    data = {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}
    if "first" in request.query_params:
        data["lesson"] = _first_game(game_id)
    return data


def _first_game(game_id: str) -> Json:
    """The game after a lesson: options for people, and the weakest opponent."""
    found = lesson(game_id) if game_id in GAMES else None
    return {"options": {} if found is None else found.first_options(), "seats": ["person", FIRST_OPPONENT]}


@pages.get("/join/{link}")
def join(request: Request, link: str) -> Response:
    """A link to a free seat; the page takes it."""
    return general_page(request, "join.html", data={"link": link})


@pages.get("/{game_id}/plays/{name}")
def play_again(request: Request, game_id: str, name: str) -> Response:
    """Play: the game of that id."""
    found = request.app.state.plays.find(name, budget_of(request).owner)
    if found is None or found.game.id != game_id:
        raise HTTPException(404, "There is no game with this id.")
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, name, None))


@pages.get("/{game_id}/learn")
def learn(request: Request, game_id: str) -> Response:
    """Learn: the lesson of a game, step by step; a game without one has its rules."""
    found = lesson(game_id) if game_id in GAMES else None
    if found is None and game_id in GAMES:
        return RedirectResponse(f"/{game_id}/rules")
    titles = [] if found is None else [step.title for step in found.steps]
    return page(request, "learn.html", game_id, "/learn", titles=titles, data={"game": game_id, "titles": titles})


# The rules for people as HTML, with diagrams among them that can be played on.
# RULES.md is the only source of the text; its markup is rendered, raw HTML in it is not.


APPENDICES = ("Encodings", "What is refused", "Example", "Rulings")
"""Chapters for programmers, collapsed."""
RULE = re.compile(r"<p><strong>(R(\d+)\. .*?)</strong>")


class Chapter(NamedTuple):
    """A chapter of the rules."""

    anchor: str
    title: str
    body: str
    folded: bool


class RulesPage(NamedTuple):
    """The rules of a game, ready for the page."""

    lead: str
    chapters: tuple[Chapter, ...]
    diagrams: tuple[Diagram, ...]


@cache
def rules(game_id: str) -> RulesPage:
    """The rules of a game; ValueError if there is none of that name."""
    entry = find(game_id)
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(entry.rules())
    text = re.sub(r"<h1>.*?</h1>\s*", "", text, count=1)
    text = text.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    text = re.sub(r"<pre>", '<pre tabindex="0">', text)
    text = RULE.sub(r'<p id="R\2"><strong>\1</strong>', text)
    diagrams = entry.game_class().diagrams
    for number, diagram in enumerate(diagrams):
        text = _with_diagram(text, number, diagram)
    lead, *parts = re.split(r"<h2>(.*?)</h2>", text)
    titles, bodies = parts[::2], parts[1::2]
    chapters = tuple(
        Chapter(_anchor(title), html.unescape(title), body, title in APPENDICES)
        for title, body in zip(titles, bodies, strict=True)
    )
    return RulesPage(lead, chapters, diagrams)


def _with_diagram(text: str, number: int, diagram: Diagram) -> str:
    """Insert a diagram after its rule."""
    start = text.index(f'<p id="R{diagram.rule}">')
    ends = [at for mark in ('<p id="R', "<h2>", "<h3>") if (at := text.find(mark, start + 1)) > 0]
    figure = (
        f'<figure class="diagram" data-diagram="{number}">'
        f'<figcaption>{html.escape(diagram.caption)}</figcaption><div class="board"></div></figure>\n'
    )
    end = min(ends)
    return text[:end] + figure + text[end:]


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@pages.get("/{game_id}/rules")
def rules_page(request: Request, game_id: str) -> Response:
    """The rules, with diagrams."""
    book = rules(game_id) if game_id in GAMES else None
    diagrams = [] if book is None else [{"position": one.position, "options": one.options} for one in book.diagrams]
    return page(request, "rules.html", game_id, "/rules", book=book, data={"game": game_id, "diagrams": diagrams})
