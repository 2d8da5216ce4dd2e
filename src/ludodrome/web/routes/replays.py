"""Replays of finished games: positions, grading, record; uploads of records."""

import json
import threading
from typing import Annotated

from fastapi import APIRouter, Body, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.arena.records import to_text
from ludodrome.arena.records.replay import replay_record
from ludodrome.games import GAMES
from ludodrome.store import plays
from ludodrome.web.position_view import Json
from ludodrome.web.replays import Reviewer, add_record, find_record, replay_json
from ludodrome.web.responses import Busy, to_json_bytes
from ludodrome.web.routes.schemas import ERROR_RESPONSES
from ludodrome.web.templating import general_page, page

router = APIRouter(prefix="/replays", tags=["replays"], responses=ERROR_RESPONSES)

MAX_PLIES = 100_000
MAX_REPLAYS = 8
"""Replays prepared at once: a long one of spaces takes a second of one of the forty threads."""
Record = Annotated[Json, Body(examples=[{"ludodrome": "record", "version": 1}])]


_tellers = threading.BoundedSemaphore(MAX_REPLAYS)


def record_named(request: Request, name: str) -> Json:
    """The record of an id, or 404."""
    found = find_record(request.app.state.engine, request.app.state.uploaded_records, name)
    if found is None:
        raise HTTPException(404, "there is no finished game with this id")
    return found


@router.post("", status_code=201)
def bring(request: Request, record: Record) -> Json:
    """Upload a record. It is verified and kept for 12 hours."""
    return {"id": add_record(request.app.state.uploaded_records, record)}


@router.get("/{name}", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def look(request: Request, name: str) -> Response:
    """A finished game: all its positions and turns."""
    found = record_named(request, name)
    if not _tellers.acquire(blocking=False):
        raise Busy("too many replays are being prepared; try again in a moment")
    try:  # megabytes of plain JSON: validation would take longer than the rest
        return Response(to_json_bytes(replay_json(name, found)), media_type="application/json")
    finally:
        _tellers.release()


@router.get("/{name}/grading")
def grading(request: Request, name: str, after: int = Query(0, ge=0, le=MAX_PLIES)) -> Json:
    """The grades so far; the first request starts the grading.

    Plies come in the order of grading, the last ply first; ``after`` skips that many.
    """
    record = record_named(request, name)
    reviewer: Reviewer = request.app.state.reviewer
    found = reviewer.known(record["digest"]) or reviewer.review(record["digest"], replay_record(record))
    return found.view(after)


@router.get("/{name}/record", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def record(request: Request, name: str) -> Response:
    """The record."""
    kept = record_named(request, name)
    file = json.dumps(f"{kept['match']}.json")
    headers = {"content-disposition": f"attachment; filename={file}"}
    return Response(to_text(kept) + "\n", media_type="application/json", headers=headers)


# Pages


pages = APIRouter(include_in_schema=False)


@pages.get("/games/{name}")
def replay_page(request: Request, name: str) -> Response:
    """A finished game; a running one redirects to its play."""
    found = find_record(request.app.state.engine, request.app.state.uploaded_records, name)
    if found is None:
        running = plays.find(request.app.state.engine, name)
        if running is None or running.assignment["game"] not in GAMES:
            raise HTTPException(404, "There is no finished game with this id.")
        return RedirectResponse(f"/{running.assignment['game']}/plays/{running.id}")
    data = {"game": found["game"], "id": name}
    return page(request, "replay.html", found["game"], None, names=found["names"], data=data)


@pages.get("/replay")
def bring_page(request: Request) -> Response:
    """Upload a record."""
    return general_page(request, "bring.html")
