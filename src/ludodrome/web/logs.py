"""Logs: a line for every request and every problem, as text or as JSON, with the id of the request.

Addresses are logged as routes (``/join/{link}``), never with their values or queries; secrets that other messages quote
are replaced. People appear by the id of their account and the network of their address.
"""

import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.web.budgets import client_network
from ludodrome.web.metrics import NOWHERE, route_template

LogFormat = Literal["text", "json"]
LOG_FORMATS: tuple[LogFormat, ...] = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")
HEADER = "x-request-id"
SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
"""Ids that are taken from a proxy; others are replaced."""
HIDDEN = "***"
SECRETS = re.compile(
    r"""(?ix)
    (?P<before>
        [\w.-]*(?:key|token|secret|password|session|link)=     # of a query or a cookie
      | \bbearer\s+
      | ://[^\s:/@"']*:(?=[^\s/@"']+@)                         # the password of a database's URL
    )[^\s&;,"'<>@]+
    | \blud_[\w-]+                                             # a token
    """
)
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127, 0x85, 0x2028, 0x2029)}
"""Control characters, as they are written: a message cannot begin a new line or colour the terminal."""
FIELDS = ("method", "route", "status", "ms", "account", "network")
"""What the line of a request says, besides its id."""

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_requests = logging.getLogger("ludodrome.requests")


def redacted(text: str) -> str:
    """A text without secrets: tokens, passwords, and values of queries like ``key=``."""
    return SECRETS.sub(lambda found: f"{found['before'] or ''}{HIDDEN}", text)


def request_id(connection: HTTPConnection) -> str:
    """The id of a request."""
    return str(getattr(connection.state, "request_id", ""))


class RequestLogMiddleware:
    """Gives every request an id, sends it back in ``x-request-id``, and logs a line when the request is answered.

    ``behind_proxy``: the id of the proxy is taken, if it looks like one.
    """

    def __init__(self, app: ASGIApp, *, behind_proxy: bool = False) -> None:
        self._app, self._behind_proxy = app, behind_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = self._name(scope)
        scope.setdefault("state", {})["request_id"] = name
        _request_id.set(name)  # not reset: an error is logged after this returns, by the same task
        status, begun = 500, time.perf_counter()

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = name
            elif message["type"] == "websocket.accept":
                status = 101
                message = {**message, "headers": [*message.get("headers", ()), (HEADER.encode(), name.encode())]}
            elif message["type"] == "websocket.close" and status == 500:
                status = 403
            await send(message)

        try:
            await self._app(scope, receive, send_named)
        finally:
            if _requests.isEnabledFor(logging.INFO):
                _log_request(scope, status, 1000 * (time.perf_counter() - begun))

    def _name(self, scope: Scope) -> str:
        given = Headers(scope=scope).get(HEADER, "") if self._behind_proxy else ""
        return given if SANE_ID.fullmatch(given) else secrets.token_hex(8)


def _log_request(scope: Scope, status: int, ms: float) -> None:
    connection = HTTPConnection(scope)
    caller = getattr(connection.state, "caller", None)
    fields = {
        "method": scope.get("method", "WEBSOCKET"),
        "route": route_template(scope) or NOWHERE,
        "status": status,
        "ms": round(ms, 1),
        "account": getattr(caller, "account", None),
        "network": client_network(connection),
    }
    level = logging.ERROR if status >= 500 and status != 503 else logging.INFO
    _requests.log(level, "%s %s %d", fields["method"], fields["route"], status, extra=fields)


# Formats


class JsonLogFormatter(logging.Formatter):
    """A line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
        }
        if name := _request_id.get():
            line["request_id"] = name
        line |= {field: getattr(record, field) for field in FIELDS if hasattr(record, field)}
        if record.exc_info:
            line["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(line)


class TextLogFormatter(logging.Formatter):
    """A line for each record, and the lines of its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        parts = [_time(record), record.levelname.lower(), f"{record.name}:"]
        parts.append(redacted(record.getMessage()).translate(CONTROLS))
        if hasattr(record, "ms"):
            parts += [f"{record.ms} ms", f"account={getattr(record, 'account', None) or '-'}"]
            parts.append(f"from={getattr(record, 'network', '-')}".translate(CONTROLS))
        if name := _request_id.get():
            parts.append(f"request_id={name}")
        line = " ".join(parts)
        return f"{line}\n{redacted(self.formatException(record.exc_info))}" if record.exc_info else line


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def set_up_logs(log_format: LogFormat = "text", level: str = "warning") -> None:
    """Write the logs of this process to the standard error, ours and those of other packages in one format.

    Requests are logged from level ``info`` on. Uvicorn logs problems only: its other lines have whole URLs.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLogFormatter() if log_format == "json" else TextLogFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)
    for noisy in ("asyncio", "httpx", "numba", "sqlalchemy"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
