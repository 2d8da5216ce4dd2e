"""The server: the app behind a socket, and an end without loose ends."""

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

from ludodrome.urls import API
from ludodrome.web.security import MAX_BODY

THREAD_TURN = 0.0005
"""Seconds that a thread may keep the interpreter while others wait: a move lets it go ten times, at every kernel."""
GARBAGE = (2_000, 10, 50)
"""How rarely garbage is looked for among the young, the older, and all: often enough that nobody waits for it long."""
PING_SECONDS = 45.0
"""So often a WebSocket is asked whether it is still there: before proxies give up a quiet one, and rarely enough that
a thousand who only look on cost nothing."""
PATIENCE = 2
"""Seconds that open requests have when the server ends."""
HEADER_SECONDS = 20.0
"""In which the head of a request has arrived ..."""
MAX_HEADER_BYTES = 64 * 1024
"""... and its bytes: nobody has been asked yet who that is, so whoever sends one for ever is a stranger."""
MAX_MESSAGE = 4 * MAX_BODY
"""Bytes of what is said over a WebSocket, which are kept until it is said to its end; bots may say more."""
BOTS = f"{API}/bots/".encode()


class Connection(HttpToolsProtocol):
    """A connection that waits for the head of a request neither for ever nor at any length."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_head = True
        self._head = 0
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come, who should say what they want."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some more of a request; what came before the head's end, or is it altogether, counts."""
        in_head = self._in_head
        super().data_received(data)
        if in_head and self._in_head:
            self._head += len(data)
            if self._head > MAX_HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response(f"The headers of a request have at most {MAX_HEADER_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head, self._head = True, 0
        if self._late is None:
            self._expect()

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        """It asks for a WebSocket."""
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
            self._expect()  # the request before it is still being answered
        else:
            self.transport.close()


class WebServer(uvicorn.Server):
    """A server of the app."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                log_level="warning",
                server_header=False,
                proxy_headers=False,  # whom to believe is the guard's affair
                timeout_graceful_shutdown=PATIENCE,
                ws_ping_interval=PING_SECONDS,
                ws_per_message_deflate=False,  # 300 live games would need 100 MB and a core for it
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """What is loaded by now stays for good: looking for garbage among it would hold everybody up."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C, or whatever else ends it. Pressed again it changes nothing: the end is near, and in good order."""
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Whoever waits for a move is answered first: nobody's request is torn off."""
        self._app.state.plays.clear()
        self._app.state.spectators.close()
        await self._app.state.relays.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, sockets: Sequence[socket.socket]) -> None:
    """Serve until Ctrl-C."""
    sys.setswitchinterval(THREAD_TURN)
    WebServer(app).run(sockets=list(sockets))
