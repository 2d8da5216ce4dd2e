"""Live plays: a WebSocket for players, server-sent events for spectators."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool

from ludodrome.web.auth import Anybody, caller
from ludodrome.web.budgets import MESSAGES, SOCKETS, WRITES, CallerBudget, budget_of
from ludodrome.web.concurrency import POLICY_VIOLATION
from ludodrome.web.play import WebPlay
from ludodrome.web.play_registry import PlayRegistry
from ludodrome.web.play_state import DRAW, TAKEBACK, Viewer
from ludodrome.web.position_view import Json
from ludodrome.web.responses import Busy, Conflict, StreamedResponse, to_json_bytes
from ludodrome.web.routes.plays import MAX_KEY, check_fair_move, noted_viewer, play_of, registry_of, viewer_of
from ludodrome.web.routes.schemas import ERROR_RESPONSES
from ludodrome.web.security import MAX_BODY

PATIENCE = 15.0
"""Seconds after which an idle stream sends a sign of life."""


@contextmanager
def present(registry: PlayRegistry, play: WebPlay, viewer: Viewer) -> Iterator[None]:
    """Count a viewer as present; the others are notified."""
    if play.participants.arrive(viewer):
        play.mark_changed()
        registry.tell_presence(play)
    try:
        yield
    finally:
        if play.participants.leave(viewer):
            play.mark_changed()
            registry.tell_presence(play)


async def views(registry: PlayRegistry, play: WebPlay, viewer: Viewer) -> AsyncGenerator[str | None, None]:
    """The play as JSON, now and after every change, until it leaves memory; None as a sign of life."""
    seen = -1
    while not play.closed:
        if play.tick != seen:
            seen = play.tick
            ready = play.snapshot.point_of_view(viewer.seats) in play.snapshot.positions
            yield _text(play, viewer) if ready else await run_in_threadpool(_text, play, viewer)
            continue
        flag, takeover = play.seconds_left_to_move(), play.seconds_to_takeover()
        patience = min(left for left in (PATIENCE, flag, takeover) if left is not None)
        await play.notifier.wait(_changed(play, seen), patience)
        registry.cached(play.id)  # a watched play stays in memory
        if flag is not None:
            await run_in_threadpool(play.check_clock)
        if takeover is not None:
            await run_in_threadpool(play.take_over)
        if play.tick == seen and not play.closed:
            yield None


def _changed(play: WebPlay, seen: int) -> Callable[[], bool]:
    return lambda: play.closed or play.tick != seen


def _text(play: WebPlay, viewer: Viewer) -> str:
    return to_json_bytes({"type": "play", "play": play.view(viewer)}).decode()


async def obey(
    socket: WebSocket, registry: PlayRegistry, play: WebPlay, viewer: Viewer, key: str | None, said: Json
) -> None:
    """Execute a message of a viewer; ValueError says why it cannot be done."""
    kind = said.get("type")
    if kind == "move":
        if "move" not in said:
            raise ValueError("a message of type move has a field move")
        await check_fair_move(socket, play, viewer, key, said["move"])
        await play.move_async(said["move"], viewer.seats, _whole(said, "version"))
    elif kind == "undo":
        await run_in_threadpool(play.undo, viewer)
    elif kind == "resign":
        await run_in_threadpool(play.resign, viewer.seats, _whole(said, "seat"))
    elif kind == "offer":
        if said.get("offer", "") not in (DRAW, TAKEBACK, None):
            raise ValueError("the field offer of a message is draw, takeback or null")
        await run_in_threadpool(play.propose, viewer, said["offer"])
    elif kind == "rematch":
        await run_in_threadpool(registry.rematch, play, viewer)
    else:
        raise ValueError("a message has the type move, undo, resign, offer, rematch or ping")


def _whole(said: Json, name: str) -> int | None:
    number = said.get(name)
    if number is not None and type(number) is not int:
        raise ValueError(f"{name} is a whole number, or left out")
    return number


router = APIRouter(prefix="/plays", tags=["plays"], responses=ERROR_RESPONSES)

GOING_AWAY, TOO_BIG = 1001, 1009
MAX_REFUSALS = 5
"""Messages over the budget, one after another, after which a WebSocket is closed."""
REFUSAL_SECONDS = 1.0
"""Seconds, at most, that a WebSocket is not read after such a message."""
KNOWN_SECONDS = 15.0
"""Seconds after which a WebSocket checks again whether its session or token is still valid."""


@router.websocket("/{name}/live")
async def live(
    socket: WebSocket, name: str, who: Anybody, key: Annotated[str | None, Query(max_length=MAX_KEY)] = None
) -> None:
    """Views whenever the play changes; move, undo, resign, offer, rematch and ping from the client."""
    registry = registry_of(socket)
    budget = budget_of(socket)
    play = await run_in_threadpool(registry.find, name, budget.owner)
    if play is None:
        await socket.close(POLICY_VIOLATION, "there is no such game")
        return
    viewer = await run_in_threadpool(noted_viewer, socket, play, who, key)
    with budget.hold_for_account(SOCKETS):
        await socket.accept()
        await _serve(socket, registry, play, viewer, key, budget)


async def _serve(
    socket: WebSocket, registry: PlayRegistry, play: WebPlay, viewer: Viewer, key: str | None, budget: CallerBudget
) -> None:
    with present(registry, play, viewer):
        sending = asyncio.create_task(_send(socket, registry, play, viewer))
        hearing = asyncio.create_task(_hear(socket, registry, play, viewer, key, budget))
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


async def _send(socket: WebSocket, registry: PlayRegistry, play: WebPlay, viewer: Viewer) -> None:
    async for text in views(registry, play, viewer):
        if text is not None:
            await socket.send_text(text)


async def _hear(
    socket: WebSocket, registry: PlayRegistry, play: WebPlay, viewer: Viewer, key: str | None, budget: CallerBudget
) -> None:
    """Answer every message once, with its ``id``. Close the socket if messages over the budget go on."""
    known = time.monotonic()
    refusals = 0
    while True:
        try:
            text = await socket.receive_text()
        except KeyError:  # a binary message
            text = ""
        if time.monotonic() - known > KNOWN_SECONDS:
            socket.state.caller = None
            viewer, known = viewer_of(play, await caller(socket), key), time.monotonic()
        answer = await _answer(text, socket, registry, play, viewer, key, budget)
        await socket.send_text(json.dumps(answer, separators=(",", ":")))
        refusals = refusals + 1 if answer.get("status") == 429 else 0
        if refusals >= MAX_REFUSALS:
            await socket.close(POLICY_VIOLATION, "too many messages")
            return
        if refusals:
            await asyncio.sleep(min(answer["retry_after"], REFUSAL_SECONDS))  # meanwhile the client must wait


async def _answer(
    text: str,
    socket: WebSocket,
    registry: PlayRegistry,
    play: WebPlay,
    viewer: Viewer,
    key: str | None,
    budget: CallerBudget,
) -> Json:
    number = None
    try:
        budget.take(MESSAGES)
        number, said = _read(text)
        if said.get("type") == "ping":
            return {"type": "pong", "id": number}
        budget.take(WRITES)
        await obey(socket, registry, play, viewer, key, said)
    except HTTPException as wrong:
        after = int((wrong.headers or {}).get("retry-after", 1))
        return {**_refusal(number, wrong.status_code, wrong.detail), "retry_after": after}
    except Conflict as wrong:
        return _refusal(number, wrong.status, str(wrong))
    except ValueError as wrong:
        return _refusal(number, 422, str(wrong))
    except Busy as wrong:
        return _refusal(number, 503, str(wrong))
    return {"type": "done", "id": number, "version": play.version}


def _read(text: str) -> tuple[int | str | None, Json]:
    """The ``id`` of a message, if it has one, and the message; ValueError if it is not a JSON object."""
    try:
        said = json.loads(text) if len(text) <= MAX_BODY else None
    except (ValueError, RecursionError):
        said = None
    if type(said) is not dict:
        raise ValueError(f"a message is a JSON object of at most {MAX_BODY} characters")
    return said.get("id") if type(said.get("id")) in (int, str) else None, said


def _refusal(number: Any, status: int, sentence: str) -> Json:
    return {"type": "refused", "id": number, "status": status, "error": sentence}


@router.get(
    "/{name}/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Views of the game, one an event."}},
)
async def events(request: Request, name: str) -> StreamedResponse:
    """The play for spectators: a view whenever it changes."""
    play = await run_in_threadpool(play_of, request, name)
    stream = _stream(registry_of(request), play)
    return StreamedResponse(stream, budget_of(request), "text/event-stream", {"x-accel-buffering": "no"})


async def _stream(registry: PlayRegistry, play: WebPlay) -> AsyncGenerator[str, None]:
    async with aclosing(views(registry, play, Viewer())) as seen:
        async for text in seen:
            yield ": still here\n\n" if text is None else f"data: {text}\n\n"
            if play.snapshot.result is not None and text is not None and play.participants.next is not None:
                return
