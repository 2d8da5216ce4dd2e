"""The documentation: the built site, or its Markdown pages.

``scripts/docs`` builds the site into ``site/``, and a wheel contains it. In a clone without it, the pages under docs/
are rendered at the same URLs.
"""

import functools
import html
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ludodrome.web.templating import CachedStaticFiles, general_page

SITE = Path(__file__).parents[1] / "site"
SOURCE = Path(__file__).parents[4] / "docs"
"""In a clone."""
INDEX = "index.html"
PAGE_PATH = re.compile(r"(?:[a-z0-9-]+/)*[a-z0-9-]+\.html")
PICTURE_PATH = re.compile(r"pictures/[a-z0-9-]+\.(?:svg|png|webp)")
DIRECTIVE = re.compile(r"^```\{([a-z-]+)\} ?(.*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FROM_DOCSTRINGS = "*`scripts/docs` generates this part from docstrings when it builds the site.*"
ABSENT = """\
# Documentation

This installation does not include it; `scripts/docs` builds it in a clone. Every command has `--help`, and the \
rules of each game are under its tab *Rules*.
"""


class DocsPage(NamedTuple):
    """A rendered Markdown page."""

    title: str
    body: str
    contents: tuple[tuple[str, str], ...]
    """Anchors and titles of its chapters."""


def is_built() -> bool:
    """Whether there is a site."""
    return (SITE / INDEX).is_file()


def plain_page(address: str) -> DocsPage | None:
    """The page at a path below /docs/, from its Markdown; None if there is none."""
    if not PAGE_PATH.fullmatch(address):
        return None
    source = (SOURCE / address).with_suffix(".md")
    if _is_file(source):
        return _rendered(_expanded(source))
    return _rendered(ABSENT) if address == INDEX else None


def find_picture(address: str) -> Path | None:
    """A picture of the pages."""
    found = SOURCE / address
    return found if PICTURE_PATH.fullmatch(address) and _is_file(found) else None


def _is_file(path: Path) -> bool:
    """Whether there is such a file; not, if the file system cannot have one of that name."""
    try:
        return path.is_file()
    except OSError:
        return False


def _expanded(source: Path) -> str:
    """The text of a page with its includes, without other directives."""

    def replace(found: re.Match[str]) -> str:
        name, argument, content = found.groups()
        if name == "include":
            return _excerpt((source.parent / argument).resolve().read_text("utf-8"), content)
        return FROM_DOCSTRINGS if name == "eval-rst" else ""

    text = DIRECTIVE.sub(replace, source.read_text("utf-8"))
    return re.sub(r"^<!--.*?-->$\n?", "", text, flags=re.DOTALL | re.MULTILINE)


def _excerpt(text: str, settings: str) -> str:
    """The part of a text that an include selects."""
    bounds = dict(re.findall(r'^:(start-after|end-before): "(.*)"$', settings, re.MULTILINE))
    if "start-after" in bounds:
        text = text.partition(bounds["start-after"])[2]
    return text.partition(bounds["end-before"])[0] if "end-before" in bounds else text


def _rendered(text: str) -> DocsPage:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    title, contents = "Documentation", []
    for heading, words in _headings(tokens):
        anchor = _anchor(words)
        heading.attrSet("id", anchor)
        if heading.tag == "h1":
            title = words
        elif heading.tag == "h2":
            contents.append((anchor, words))
    for link in _links(tokens):
        address, mark, anchor = str(link.attrGet("href")).partition("#")
        if address.endswith(".md") and "://" not in address:
            link.attrSet("href", f"{address.removesuffix('.md')}.html{mark}{anchor}")
    body = reader.renderer.render(tokens, reader.options, {})
    body = body.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    return DocsPage(title, body.replace("<pre>", '<pre tabindex="0">'), tuple(contents))


def _headings(tokens: list[Token]) -> Iterator[tuple[Token, str]]:
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            yield token, "".join(child.content for child in inside.children or ())


def _links(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from (child for child in token.children or () if child.type == "link_open")


def _anchor(title: str) -> str:
    """The anchor of a heading, nearly as Sphinx makes it."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", html.unescape(title).lower()))


pages = APIRouter(include_in_schema=False)

KEPT = {"cache-control": "no-cache"}
"""Browsers cache, and revalidate every time."""


@pages.get("/docs")
def beginning() -> Response:
    """The first page; its relative links need the slash."""
    return RedirectResponse("/docs/")


@pages.get("/docs/{address:path}")
async def documentation(request: Request, address: str) -> Response:
    """A page or file of the documentation."""
    wanted = f"{address}{INDEX}" if not address or address.endswith("/") else address
    if is_built():
        answer = _site((SITE / INDEX).stat().st_mtime_ns).answer(wanted, request.headers)
        if answer is None:
            raise _missing()
        answer.headers.update(KEPT)
        return answer
    if (picture := find_picture(wanted)) is not None:
        return FileResponse(picture, headers=KEPT)
    if (page := plain_page(wanted)) is None:
        raise _missing()
    up = "../" * wanted.count("/")
    return general_page(request, "docs.html", page=page, index=f"{up}{INDEX}")


@functools.lru_cache(1)
def _site(built: int) -> CachedStaticFiles:
    """The site; a new one after every build."""
    return CachedStaticFiles(SITE)


def _missing() -> HTTPException:
    return HTTPException(404, "The documentation has no such page; it starts at /docs/.")
