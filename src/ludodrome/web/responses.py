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


_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
"""Type of a validation error -> what would be right."""
_LIMITS = {
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "too_long": "at most {max_length} entries",
    "too_short": "at least {min_length} entries",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
}
"""Type of a validation error -> the limit, with the names of Pydantic's context."""


def malformed_request(error: Mapping[str, Any]) -> str:
    """A sentence about the first error that Pydantic found in a request."""
    kind = error["type"]
    context = {name: f"{one:g}" if type(one) is float else one for name, one in error.get("ctx", {}).items()}
    place = [part for part in error["loc"] if part not in ("body", "query", "path", "header")]
    names = [f"entry {part + 1}" if type(part) is int else str(part).replace("_", " ") for part in place]
    name = " of ".join(reversed(names)) or "the request"
    if kind == "json_invalid":
        return "the request is not JSON"
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"the request has an unknown field: {name}"
    if kind in _KINDS:
        return f"{name} must be {_KINDS[kind]}"
    if kind in _LIMITS:
        verb = "have" if "length" in _LIMITS[kind] else "be"
        return f"{name} must {verb} {_LIMITS[kind].format(**context)}"
    return f"{name} is not valid"


def write_error(error: SQLAlchemyError) -> Exception:
    """The error to raise when the database did not save something."""
    if isinstance(error, IntegrityError):
        return Conflict("the game has changed meanwhile; load it again")
    return Busy("the database did not save this, so it did not happen; try again")
