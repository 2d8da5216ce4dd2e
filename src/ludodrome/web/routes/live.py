"""Games as they go on: a WebSocket for those who play, server-sent events for those who look on."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from ludodrome.web.auth import POLICY_VIOLATION, Anybody, caller
from ludodrome.web.errors import Busy, Refused
from ludodrome.web.live import obey, present, views
from ludodrome.web.play import Play, Viewer
from ludodrome.web.play_registry import PlayRegistry
from ludodrome.web.position_view import Json
from ludodrome.web.routes.plays import LONGEST_KEY, library_of, play_of, watcher_of
from ludodrome.web.routes.schemas import FAULTS
from ludodrome.web.security import MOST_BODY

router = APIRouter(prefix="/plays", tags=["plays"], responses=FAULTS)

GOING_AWAY, TOO_BIG = 1001, 1009
KNOWN_SECONDS = 15.0
"""So long it is taken for granted that whoever speaks is still let in: a session ends, a token is revoked."""


@router.websocket("/{name}/live")
async def live(
    socket: WebSocket, name: str, who: Anybody, key: Annotated[str | None, Query(max_length=LONGEST_KEY)] = None
) -> None:
    """Views of the game whenever it changes; moves, undo, resign, rematch and ping the other way."""
    library = library_of(socket)
    play = await run_in_threadpool(library.find, name)
    if play is None:
        await socket.close(POLICY_VIOLATION, "there is no such game")
        return
    watcher = watcher_of(play, who, key)
    await socket.accept()
    with present(play, watcher):
        sending = asyncio.create_task(_send(socket, library, play, watcher))
        hearing = asyncio.create_task(_hear(socket, library, play, watcher, key))
        done, waiting = await asyncio.wait((sending, hearing), return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    for task in done:
        error = task.exception()
        if error is not None and not isinstance(error, WebSocketDisconnect | RuntimeError):
            raise error
    with suppress(RuntimeError, WebSocketDisconnect):  # the other side may have closed it
        await socket.close(GOING_AWAY, "connect again")


async def _send(socket: WebSocket, library: PlayRegistry, play: Play, watcher: Viewer) -> None:
    async for text in views(library, play, watcher):
        if text is not None:
            await socket.send_text(text)


async def _hear(socket: WebSocket, library: PlayRegistry, play: Play, watcher: Viewer, key: str | None) -> None:
    """Everything that is said gets one answer, under the ``id`` that came with it."""
    known = time.monotonic()
    while True:
        try:
            text = await socket.receive_text()
        except KeyError:  # bytes, which are no text of ours
            text = ""
        if time.monotonic() - known > KNOWN_SECONDS:
            socket.state.caller = None
            watcher, known = watcher_of(play, await caller(socket), key), time.monotonic()
        answer = await _answer(text, library, play, watcher)
        await socket.send_text(json.dumps(answer, separators=(",", ":")))


async def _answer(text: str, library: PlayRegistry, play: Play, watcher: Viewer) -> Json:
    try:
        said = json.loads(text) if len(text) <= MOST_BODY else None
    except (ValueError, RecursionError):
        said = None
    if type(said) is not dict:
        return _refusal(None, 422, f"what is said here is a JSON object of at most {MOST_BODY} characters")
    number = said.get("id") if type(said.get("id")) in (int, str) else None
    if said.get("type") == "ping":
        return {"type": "pong", "id": number}
    try:
        await obey(library, play, watcher, said)
    except Refused as wrong:
        return _refusal(number, wrong.status, str(wrong))
    except ValueError as wrong:
        return _refusal(number, 422, str(wrong))
    except Busy as wrong:
        return _refusal(number, 503, str(wrong))
    return {"type": "done", "id": number, "version": play.version}


def _refusal(number: Any, status: int, sentence: str) -> Json:
    return {"type": "refused", "id": number, "status": status, "error": sentence}


@router.get(
    "/{name}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Views of the game, one an event."}},
)
async def events(request: Request, name: str) -> StreamingResponse:
    """The game for those who look on: a view whenever it changes."""
    play = await run_in_threadpool(play_of, request, name)
    stream = _stream(library_of(request), play)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def _stream(library: PlayRegistry, play: Play) -> AsyncIterator[str]:
    async for text in views(library, play, Viewer()):
        yield ": still here\n\n" if text is None else f"data: {text}\n\n"
        if play.scene.result is not None and text is not None and play.company.next is not None:
            return
