"""The documentation at /docs/: Markdown pages rendered on request, with a tree of contents and an index for the search.

The Markdown files are the only form: a clone has them under docs/, a wheel carries the same files as web/docs/. The
lists ``- [Title](page.md)`` of the index pages are the contents. A paragraph that is nothing but a link to a game's
RULES.md is replaced by that file, so that a page reads well on a forge, too.
"""

import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from ludodrome.web.templating import general_page

PACKAGE = Path(__file__).parents[2]
CARRIED = PACKAGE / "web" / "docs"
"""In a wheel."""
SOURCE = CARRIED if CARRIED.is_dir() else PACKAGE.parents[1] / "docs"
INDEX = "index.md"
SEARCH_PAGE = "search.html"
SEARCH_INDEX = "search.json"
PAGE_PATH = re.compile(r"(?:[a-z0-9-]+/)*[a-z0-9-]+\.html")
PICTURE_PATH = re.compile(r"pictures/[a-z0-9-]+\.(?:svg|png|webp)")
LISTED = re.compile(r"^- \[(.+?)\]\(([a-z0-9/-]+\.md)\)", re.MULTILINE)
RULES_FILE = re.compile(r"src/ludodrome/games/([a-z0-9_]+)/RULES\.md")
RULE = re.compile(r"R(\d+)\. ")
COMMENT = re.compile(r"^<!--.*?-->$\n?", re.DOTALL | re.MULTILINE)
KEPT = {"cache-control": "no-cache"}
"""Browsers cache, and revalidate every time."""
ABSENT = """\
# Documentation

This installation does not include it: `src/ludodrome` was copied without `docs`. Every command has `--help`, and the \
rules of each game are under its tab *Rules*.
"""


class Section(NamedTuple):
    """A part of a page under one heading, as the search finds it."""

    anchor: str
    title: str
    text: str


class DocsPage(NamedTuple):
    """A rendered page."""

    title: str
    body: str
    contents: tuple[tuple[str, str], ...]
    """Anchors and titles of its chapters."""
    sections: tuple[Section, ...]


class Entry(NamedTuple):
    """A page in the tree of contents."""

    path: str
    """Of its Markdown file, below docs/."""
    title: str
    children: tuple["Entry", ...] = ()

    @property
    def address(self) -> str:
        """The path of the page below /docs/."""
        return self.path.removesuffix(".md") + ".html"

    def holds(self, path: str) -> bool:
        """Whether a page is this one or in the tree below it."""
        return self.path == path or any(child.holds(path) for child in self.children)


# The tree of contents


def contents(path: str = INDEX, title: str = "Documentation") -> Entry:
    """The tree below an index page."""
    folder = posixpath.dirname(path)
    listed = [
        (words.replace("`", ""), posixpath.join(folder, target)) for words, target in LISTED.findall(_text(path) or "")
    ]
    children = (
        contents(target, words) if target.endswith(f"/{INDEX}") else Entry(target, words) for words, target in listed
    )
    return Entry(path, title, tuple(children))


def in_order(entry: Entry) -> Iterator[Entry]:
    """The pages in reading order."""
    yield entry
    for child in entry.children:
        yield from in_order(child)


def _text(path: str) -> str | None:
    """The Markdown of a page below docs/; None if there is none."""
    try:
        return (SOURCE / path).read_text("utf-8")
    except OSError:
        return None


# From Markdown to HTML


def find_page(path: str) -> DocsPage | None:
    """The page of a Markdown file below docs/; None if there is none."""
    text = _text(path)
    if text is None:
        return _rendered(path, ABSENT, "") if path == INDEX else None
    games = RULES_FILE.findall(text)
    rules = PACKAGE / "games" / games[0] / "RULES.md" if games else None
    return _rendered(path, text, rules.read_text("utf-8") if rules and rules.is_file() else "")


@lru_cache(512)
def _rendered(path: str, text: str, rules: str) -> DocsPage:
    reader = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted}).enable("table")
    tokens = _with_rules(reader, path, reader.parse(COMMENT.sub("", text)), rules)
    _relink(tokens, f"docs/{path}", path)
    _name_headings(tokens)
    sections = tuple(_sections(tokens))
    chapters = [
        (str(token.attrGet("id")), _words(inside)) for token, inside in pairwise(tokens) if _is_heading(token, "h2")
    ]
    body = str(reader.renderer.render(tokens, reader.options, {}))
    body = body.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    body = body.replace("<pre>", '<pre tabindex="0">').replace("<img ", '<img loading="lazy" ')
    return DocsPage(sections[0].title, body, tuple(chapters), sections)


def _highlighted(code: str, language: str, attributes: str) -> str:
    """A block of code with its tokens marked."""
    if language in ("", "text"):
        return ""
    try:
        lexer = get_lexer_by_name("pycon" if code.startswith(">>>") else language, stripnl=False)
    except ClassNotFound:
        return ""
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def _with_rules(reader: MarkdownIt, path: str, tokens: list[Token], rules: str) -> list[Token]:
    """The tokens of a page, with the rules of a game in place of the paragraph that links them."""
    for at, token in enumerate(tokens):
        inside = token.children or ()
        if token.type != "inline" or len(inside) != 3 or inside[0].type != "link_open" or not rules:
            continue
        target = _absolute(f"docs/{path}", str(inside[0].attrGet("href")))
        if RULES_FILE.fullmatch(target):
            return tokens[: at - 1] + _rules(reader, path, target, rules) + tokens[at + 2 :]
    return tokens


def _rules(reader: MarkdownIt, path: str, source: str, text: str) -> list[Token]:
    """The tokens of a game's rules as a chapter of a page: no title, headings one rank lower, rules with anchors."""
    tokens = reader.parse(COMMENT.sub("", text))
    if tokens and _is_heading(tokens[0], "h1"):
        tokens = tokens[3:]
    for token, inside in pairwise(tokens):
        if token.type == "paragraph_open" and (number := RULE.match(_words(inside))):
            token.attrSet("id", f"R{number[1]}")
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    _relink(tokens, source, path)
    return tokens


def _absolute(source: str, target: str) -> str:
    """Where a relative link of a file leads, from the root of the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target.partition("#")[0]))


def _relink(tokens: list[Token], source: str, path: str) -> None:
    """Let the links of a file lead to pages, seen from the page at ``path``."""
    for link in (child for token in tokens for child in token.children or ()):
        name = {"link_open": "href", "image": "src"}.get(link.type)
        target = str(link.attrGet(name) or "") if name else ""
        if name is None or not target or link.meta.get("final") or re.match(r"[a-z]+:|[#/]", target):
            continue
        link.meta["final"] = True
        found, mark, anchor = _absolute(source, target), *target.partition("#")[1:]
        if rules := RULES_FILE.fullmatch(found):
            link.attrSet(name, f"/{rules[1]}/rules{mark}{anchor}")
        elif found.startswith("docs/"):
            away = posixpath.relpath(found.removeprefix("docs/"), posixpath.dirname(path) or ".")
            link.attrSet(name, re.sub(r"\.md$", ".html", away) + mark + anchor)


def _is_heading(token: Token, tag: str) -> bool:
    return token.type == "heading_open" and token.tag == tag


def _words(inside: Token) -> str:
    """The text of an inline token, without its markup."""
    return "".join(" " if one.type.endswith("break") else one.content for one in inside.children or ())


def _name_headings(tokens: list[Token]) -> None:
    """Give every heading the anchor that forges give it."""
    used: dict[str, int] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", html.unescape(_words(inside)).lower()))
            used[anchor] = used.get(anchor, -1) + 1
            token.attrSet("id", f"{anchor}-{used[anchor]}" if used[anchor] else anchor)


def _sections(tokens: list[Token]) -> Iterator[Section]:
    """The text under each heading."""
    anchor, title, texts = "", "Documentation", list[str]()
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if before.type == "heading_open" and token.type == "inline":
            if title and (anchor or texts):
                yield Section(anchor, title, " ".join(texts))
            anchor, title, texts = str(before.attrGet("id")), _words(token), []
        elif token.type == "inline":
            texts.append(_words(token))
        elif token.type == "fence":
            texts.append(" ".join(token.content.split()))
    yield Section(anchor, title, " ".join(texts))


# The search


def search_index() -> bytes:
    """The index for the search in the browser, as JSON.

    ``pages`` are lists [address, title, part]; ``sections`` are lists [number of the page, anchor, title, text].
    """
    tree = contents()
    parts = {one.path: part.title for part in tree.children for one in in_order(part)}
    found = [(entry, page) for entry in in_order(tree) if (page := find_page(entry.path)) is not None]
    pages = [[entry.address, page.title, parts.get(entry.path, "")] for entry, page in found]
    sections = [[at, *section] for at, (_, page) in enumerate(found) for section in page.sections]
    return json.dumps({"pages": pages, "sections": sections}, ensure_ascii=False, separators=(",", ":")).encode()


# Routes


pages = APIRouter(include_in_schema=False)


@pages.get("/docs")
def beginning() -> Response:
    """The first page; its relative links need the slash."""
    return RedirectResponse("/docs/")


@pages.get("/docs/{address:path}")
def documentation(request: Request, address: str) -> Response:
    """A page of the documentation, a picture of one, or the search."""
    if address == SEARCH_INDEX:
        return _with_tag(request, search_index())
    wanted = f"{address}index.html" if not address or address.endswith("/") else address
    if PICTURE_PATH.fullmatch(wanted) and _is_file(SOURCE / wanted):
        return FileResponse(SOURCE / wanted, headers=KEPT)
    path = wanted.removesuffix(".html") + ".md"
    page = find_page(path) if PAGE_PATH.fullmatch(wanted) and wanted != SEARCH_PAGE else None
    if page is None and wanted != SEARCH_PAGE:
        raise HTTPException(404, "The documentation has no such page; it starts at /docs/.")
    tree = contents()
    order = list(in_order(tree))
    at = next((number for number, entry in enumerate(order) if entry.path == path), None)
    return general_page(
        request,
        "docs.html",
        page=page,
        tree=tree,
        path=path,
        up="../" * wanted.count("/"),
        before=order[at - 1] if at else None,
        after=order[at + 1] if at is not None and at + 1 < len(order) else None,
    )


def _with_tag(request: Request, content: bytes) -> Response:
    """JSON that a browser keeps as long as it stays the same."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**KEPT, "etag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)


def _is_file(path: Path) -> bool:
    """Whether there is such a file; not, if the file system cannot have one of that name."""
    try:
        return path.is_file()
    except OSError:
        return False
