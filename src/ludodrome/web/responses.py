"""Responses: JSON as bytes, quickly; streams; HEAD for every route that has GET; errors with a sentence."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from fastapi.responses import JSONResponse, Response
from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.web.budgets import STREAMS, CallerBudget


def to_json_bytes(value: Any) -> bytes:
    """Plain values as JSON. What UTF-8 cannot encode, such as a lone surrogate, is escaped."""
    try:
        return to_json(value)  # a third of the time of json.dumps, which was a quarter of the cost of a move
    except PydanticSerializationError:
        return json.dumps(value, separators=(",", ":")).encode()


class AsciiJSONResponse(JSONResponse):
    """JSON in ASCII: it can always be encoded, whatever text it quotes."""

    def render(self, content: Any) -> bytes:
        """The content in bytes."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


class StreamedResponse(Response):
    """The only response that is made while it is sent. It counts as a stream of the caller.

    The first item is made before the response starts, so that its errors have a status. The generator ends when the
    reader goes away, and must hold no thread and no database connection while it yields: a reader may take its time.
    ``server.py`` disconnects readers that are too slow.
    """

    def __init__(
        self,
        items: AsyncGenerator[str, None],
        budget: CallerBudget,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._items, self._budget = items, budget
        self.status_code, self.media_type, self.background = 200, media_type, None
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the generator or the reader ends."""
        with self._budget.hold(STREAMS):
            sending = asyncio.create_task(self._send(send))
            leaving = asyncio.create_task(_disconnected(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if sending.done():
                    sending.result()
            finally:
                for task in (sending, leaving):
                    task.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)
                await self._items.aclose()

    async def _send(self, send: Send) -> None:
        item = await anext(self._items, None)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while item is not None:
            body, item = item.encode(), None  # one copy is enough while a slow reader takes its time
            await send({"type": "http.response.body", "body": body, "more_body": True})
            item = await anext(self._items, None)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class HeadMiddleware:
    """Answers HEAD with the status and the headers of GET, and no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        streaming = asyncio.Event()

        async def send_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})
            elif message.get("more_body", False):
                streaming.set()
                await asyncio.sleep(0)

        inner = {**scope, "method": "GET"}
        answering = asyncio.ensure_future(self._app(inner, receive, send_headers))
        waiting = asyncio.create_task(streaming.wait())
        try:
            await asyncio.wait({answering, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            scope.update({name: value for name, value in inner.items() if name != "method"})
            for task in (waiting, answering):  # an event stream would go on for ever
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


# Errors with a sentence for the caller. ``app.py`` turns them into responses.


class Conflict(ValueError):
    """The request conflicts with the current state."""

    status = 409


class Forbidden(Conflict):
    """The caller may not do this."""

    status = 403


class Busy(Exception):
    """Too much is going on; the caller may try again."""


def write_error(error: SQLAlchemyError) -> Exception:
    """The error to raise when the database did not save something."""
    if isinstance(error, IntegrityError):
        return Conflict("the game has changed meanwhile; load it again")
    return Busy("the database did not save this, so it did not happen; try again")
