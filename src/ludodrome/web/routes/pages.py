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
    return {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}


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


# The rules as HTML: a part for people with diagrams that can be played on, and below it the part for programs.
# RULES.md is the only source of the text; its markup is rendered, raw HTML in it is not.


RULE = re.compile(r"<p><strong>(R(\d+)\. .*?)</strong>")
DRAWING = re.compile(r"<pre[^>]*>.*?</pre>\n?", re.DOTALL)


class Chapter(NamedTuple):
    """A chapter of the rules: its text, and the diagrams beside it."""

    anchor: str
    title: str
    body: str
    figures: str = ""


class RulesPage(NamedTuple):
    """The rules of a game, ready for the page. ``lead`` is what comes before the first chapter."""

    lead: str
    people: tuple[Chapter, ...]
    preface: str
    programs: tuple[Chapter, ...]
    diagrams: tuple[Diagram, ...]


@cache
def rules(game_id: str) -> RulesPage:
    """The rules of a game; ValueError if there is none of that name."""
    entry = find(game_id)
    diagrams = entry.game_class().diagrams
    people, programs = entry.rules_for_people(), entry.rules_for_programs()
    lead, first = _chapters(people, diagrams)
    preface, second = ("", ()) if people == programs else _chapters(programs.partition("\n")[2], diagrams)
    return RulesPage(lead, first, preface, second, diagrams)


def _chapters(markdown: str, diagrams: tuple[Diagram, ...]) -> tuple[str, tuple[Chapter, ...]]:
    """What comes before the first heading, and the chapters."""
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    text = re.sub(r"<h1>.*?</h1>\s*", "", text, count=1)
    text = text.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    text = re.sub(r"<pre>", '<pre tabindex="0">', text)
    text = RULE.sub(r'<p id="R\2"><strong>\1</strong>', text)
    for number, diagram in enumerate(diagrams):
        text = _with_diagram(text, number, diagram)
    lead, *parts = re.split(r"<h2>(.*?)</h2>", text)
    chapters = []
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        figures = "".join(
            _figure(number, diagram) for number, diagram in enumerate(diagrams) if diagram.rule == html.unescape(title)
        )
        # The board is the picture; the drawing is for terminals.
        shown = DRAWING.sub("", body) if figures else body
        chapters.append(Chapter(_anchor(title), html.unescape(title), shown, figures))
    return lead, tuple(chapters)


def _with_diagram(text: str, number: int, diagram: Diagram) -> str:
    """Insert the diagram of a numbered rule below it, if the text has that rule."""
    start = text.find(f'<p id="R{diagram.rule}">')
    if start < 0:
        return text
    ends = [at for mark in ('<p id="R', "<h2>", "<h3>") if (at := text.find(mark, start + 1)) > 0]
    end = min(ends, default=len(text))
    return text[:end] + _figure(number, diagram) + text[end:]


def _figure(number: int, diagram: Diagram) -> str:
    return (
        f'<figure class="diagram{" still" if diagram.still else ""}" data-diagram="{number}">'
        f'<figcaption>{html.escape(diagram.caption)}</figcaption><div class="board"></div></figure>\n'
    )


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@pages.get("/{game_id}/rules")
def rules_page(request: Request, game_id: str) -> Response:
    """The rules, with diagrams."""
    book = rules(game_id) if game_id in GAMES else None
    diagrams = [
        {"position": one.position, "options": one.options, "still": one.still}
        for one in (book.diagrams if book else ())
    ]
    return page(request, "rules.html", game_id, "/rules", book=book, data={"game": game_id, "diagrams": diagrams})
