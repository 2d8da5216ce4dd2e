"""The rules for people as HTML, with diagrams among them that can be played on.

RULES.md is the only source of the text; its markup is rendered, raw HTML in it is not.
"""

import html
import re
from functools import cache
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markdown_it import MarkdownIt

from ludodrome.game_extras import Diagram
from ludodrome.games import GAMES, find
from ludodrome.web.templating import page

pages = APIRouter(include_in_schema=False)

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
