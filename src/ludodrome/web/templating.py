"""Pages and their files: Jinja templates, static files from memory, style sheets to inline."""

import base64
import functools
import gzip
import hashlib
import json
import mimetypes
import os
from email.utils import formatdate
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.templating import Jinja2Templates
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from ludodrome.games import GAMES, PAGE_ORDER, GameEntry
from ludodrome.puzzle.lessons import has_lesson
from ludodrome.web.position_view import board_of

# Static files from memory: read and compressed once, and again after a change. Style sheets to inline.
# A page loads a dozen files at once; each would otherwise be opened in a thread and compressed anew.


MIN_GZIP_BYTES = 1024
"""Smaller files are sent uncompressed."""


class CachedFile(NamedTuple):
    """A file as last read."""

    stamp: tuple[int, int]
    """Modification time and size."""
    headers: dict[str, str]
    plain: bytes
    zipped: bytes | None


class CachedStaticFiles:
    """An ASGI app that serves the files that a folder has at start, with their current content."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        self._files: dict[str, CachedFile] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        name = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        answer = self.answer(name, Headers(scope=scope)) if scope["type"] == "http" else None
        if answer is None:
            raise HTTPException(404, "there is no such file")
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, "static files are read-only", {"allow": "GET, HEAD"})
        await answer(scope, receive, send)

    def answer(self, name: str, asked: Headers) -> Response | None:
        """The response for a path in the folder and these request headers; None if there is no such file."""
        return _answer(self._file(name), asked) if name in self._paths else None

    def _file(self, name: str) -> CachedFile:
        state = os.stat(self._paths[name])
        stamp = state.st_mtime_ns, state.st_size
        known = self._files.get(name)
        if known is None or known.stamp != stamp:
            known = self._files[name] = _read(self._paths[name], stamp)
        return known


def _read(path: Path, stamp: tuple[int, int]) -> CachedFile:
    content = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "last-modified": formatdate(stamp[0] / 1e9, usegmt=True),
        "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        "vary": "accept-encoding",
    }
    return CachedFile(stamp, headers, content, gzip.compress(content) if len(content) >= MIN_GZIP_BYTES else None)


def _answer(file: CachedFile, asked: Headers) -> Response:
    if file.headers["etag"] in asked.get("if-none-match", ""):
        return Response(status_code=304, headers=file.headers)
    if file.zipped is not None and "gzip" in asked.get("accept-encoding", ""):
        return Response(file.zipped, headers={**file.headers, "content-encoding": "gzip"})
    return Response(file.plain, headers=file.headers)


# Style sheets are inlined, because a separate request delays the first paint. They are read once: the content security
# policy allows them by hash.


_FOLDER = Path(__file__).parent / "static"


@functools.cache
def _sheets() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.css"))}


def style(name: str) -> Markup:
    """A style sheet as a ``<style>`` element."""
    return Markup(f"<style>{_sheets()[name]}</style>")


def style_hashes() -> str:
    """The hashes of all style sheets, for the content security policy."""
    digests = (hashlib.sha256(sheet.encode()).digest() for sheet in _sheets().values())
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


TABS = (
    ("Learn", "/learn"),
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


@functools.cache
def seats_of(game_id: str) -> dict[str, str]:
    """The names and the colours of a game's seats, for the attributes of a page."""
    game_class = GAMES[game_id].game_class()
    most = game_class.seat_range()[1]
    names = (game_class.seat_name(seat) for seat in range(most))
    return {"names": "|".join(names), "colours": " ".join(game_class.seat_colours[:most])}


_templates.env.globals["seats_of"] = seats_of


def embedded(value: Any) -> Markup:
    """JSON that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _games() -> list[GameEntry]:
    return [GAMES[one] for one in (*PAGE_ORDER, *sorted(set(GAMES) - set(PAGE_ORDER)))]


def _tabs(entry: GameEntry) -> list[tuple[str, str]]:
    """The tabs of a game: those of pages that it has."""
    return [(name, path) for name, path in TABS if path != "/learn" or has_lesson(entry.id)]


def page(request: Request, template: str, game_id: str, tab: str | None, **context: Any) -> Response:
    """A page of a game; ``tab`` is the current tab, if any. 404 if there is no such game."""
    if game_id not in GAMES:
        raise HTTPException(404, "There is no such game. The games are listed above.")
    entry: GameEntry = GAMES[game_id]
    shared = {"games": _games(), "game": entry, "tabs": _tabs(entry), "tab": tab, "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def general_page(request: Request, template: str, **context: Any) -> Response:
    """A page outside of any game."""
    shared = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "embedded": embedded}
    return _templates.TemplateResponse(request, template, {**shared, **context})


def error_page(request: Request, status: int, sentence: str) -> Response:
    """An error page."""
    context = {"games": _games(), "game": None, "tabs": TABS, "tab": "", "sentence": sentence}
    return _templates.TemplateResponse(request, "error.html", {**context, "status": status}, status_code=status)
