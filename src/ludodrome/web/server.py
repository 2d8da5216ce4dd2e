"""The server: uvicorn with limits on headers, tuned for many threads, and an orderly shutdown."""

import asyncio
import copy
import gc
import socket
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ludodrome.system import API
from ludodrome.web.owner import CONNECTION
from ludodrome.web.security import MAX_BODY

THREAD_TURN = 0.0005
"""Switch interval of threads in seconds: a move releases the GIL ten times, at every kernel."""
GARBAGE = (2_000, 10, 50)
"""Thresholds of the garbage collector: rare, but with short pauses."""
PING_SECONDS = 45.0
"""Seconds between pings of a WebSocket: sooner than proxies drop a quiet one, and cheap for a thousand spectators."""
PATIENCE = 2
"""Seconds that open requests have at shutdown."""
HEADER_SECONDS = 20.0
"""Seconds in which the headers of a request must arrive."""
MAX_HEADER_BYTES = 64 * 1024
"""Bytes of the headers of a request, at most."""
MAX_MESSAGE = 4 * MAX_BODY
"""Bytes of a WebSocket message, at most; bots may send more."""
BOTS = f"{API}/bots/".encode()


class Connection(HttpToolsProtocol):
    """A connection with limits on the time and the size of request headers."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._facts: dict[str, Any] = {}
        """What is known about this TCP connection."""
        self._in_head = True
        self._head = 0
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of headers."""
        in_head = self._in_head
        super().data_received(data)
        if in_head and self._in_head:
            self._head += len(data)
            if self._head > MAX_HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response(f"The headers of a request have at most {MAX_HEADER_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """Start the timer for the headers."""
        super().on_message_begin()
        self.scope[CONNECTION] = self._facts  # type: ignore[literal-required]
        self._in_head, self._head = True, 0
        if self._late is None:
            self._expect()

    def on_headers_complete(self) -> None:
        """The headers are complete."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        """Limit the messages of WebSockets, except for bots."""
        if not self.url.startswith(BOTS):
            self.config = copy.copy(self.config)
            self.config.ws_max_size = MAX_MESSAGE
        super().handle_websocket_upgrade()

    def _expect(self) -> None:
        self._late = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect()  # the previous request is still being answered
        else:
            self.transport.close()


class WebServer(uvicorn.Server):
    """Uvicorn with the app."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                log_level="warning",
                server_header=False,
                proxy_headers=False,  # SecurityMiddleware does this
                timeout_graceful_shutdown=PATIENCE,
                ws_ping_interval=PING_SECONDS,
                ws_per_message_deflate=False,  # 300 live games would need 100 MB and a core for it
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Exclude everything loaded so far from garbage collection."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down on the first signal; ignore further ones."""
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer waiting requests first, so that none is cut off."""
        self._app.state.plays.clear()
        self._app.state.spectators.close()
        await self._app.state.relays.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, sockets: Sequence[socket.socket]) -> None:
    """Serve until Ctrl-C."""
    sys.setswitchinterval(THREAD_TURN)
    WebServer(app).run(sockets=list(sockets))
