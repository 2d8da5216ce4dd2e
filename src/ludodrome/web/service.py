"""The server: the app behind a socket, and an end without loose ends."""

import gc
import socket
import sys
from collections.abc import Sequence

import uvicorn
from fastapi import FastAPI

THREAD_TURN = 0.0005
"""Seconds that a thread may keep the interpreter while others wait: a move lets it go ten times, at every kernel."""
GARBAGE = (2_000, 10, 50)
"""How rarely garbage is looked for among the young, the older, and all: often enough that nobody waits for it long."""
PING_SECONDS = 45.0
"""So often a WebSocket is asked whether it is still there: before proxies give up a quiet one, and rarely enough that
a thousand who only look on cost nothing."""
PATIENCE = 2
"""Seconds that open requests have when the server ends."""


class Service(uvicorn.Server):
    """A server of the app."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
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

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Whoever waits for a move is answered first: nobody's request is torn off."""
        self._app.state.plays.clear()
        self._app.state.spectators.close()
        await self._app.state.relays.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, sockets: Sequence[socket.socket]) -> None:
    """Serve until Ctrl-C."""
    sys.setswitchinterval(THREAD_TURN)
    Service(app).run(sockets=list(sockets))
