"""Several web processes that accept from one listening socket: the parent supervises, the children serve.

``python -m ludodrome.web.processes`` is a child. It reads its settings from its standard input and ends when that ends,
so it never outlives the parent. A child that dies is restarted. Each child also listens on a port of its own, on this
machine alone: workers of the league reach the relays of remote bots there.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from ludodrome.store.database import open_database
from ludodrome.store.models import now_ms
from ludodrome.system import API, HOST
from ludodrome.web.app import create_app
from ludodrome.web.logs import set_up_logs
from ludodrome.web.owner import OwnerProof
from ludodrome.web.server import THREAD_TURN, WebServer

COMMAND = (sys.executable, "-m", "ludodrome.web.processes")
TICK = 0.1
"""Seconds between two looks at the children."""
FIRST_WAIT, MAX_WAIT = 0.2, 10.0
"""Seconds before a dead child is restarted: longer each time it dies soon."""
LONG_LIFE = 10.0
PATIENCE = 10.0
"""Seconds that children have to end before they are killed."""


class WebProcesses:
    """The children of one server. ``logs``: format and level of their logs."""

    def __init__(self, app: FastAPI, listening: socket.socket, count: int, logs: tuple[str, str]) -> None:
        self._listening = listening
        self._settings = {
            "fd": listening.fileno(),
            "database": app.state.engine.url.render_as_string(hide_password=False),
            "public_address": app.state.public_address,
            "owner_token": app.state.owner.token,
            "logs": logs,
            "app": {**app.state.settings, "processes": count, "started": now_ms()},
        }
        self._children: list[subprocess.Popen[bytes] | None] = [None] * count
        self._born = [0.0] * count
        self._waits = [FIRST_WAIT] * count
        self._ending = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the children that run."""
        return [child.pid for child in self._children if child is not None and child.poll() is None]

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        try:
            while not self._ending:
                for place in range(len(self._children)):
                    self._keep(place)
                time.sleep(TICK)
        finally:
            self._stop()

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True

    def _keep(self, place: int) -> None:
        """Start a child, unless it runs or has just died."""
        child, moment = self._children[place], time.monotonic()
        if child is not None:
            if child.poll() is None:
                return
            _close(child)
            lived = moment - self._born[place]
            self._waits[place] = FIRST_WAIT if lived > LONG_LIFE else min(2 * self._waits[place], MAX_WAIT)
            self._children[place], self._born[place] = None, moment
        if self._born[place] == 0.0 or moment - self._born[place] >= self._waits[place]:
            self._children[place], self._born[place] = self._start(), moment

    def _start(self) -> "subprocess.Popen[bytes]":
        # in a process group of its own: Ctrl-C at the terminal is for the parent, which ends its children
        child = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, pass_fds=[self._listening.fileno()], process_group=0)
        assert child.stdin is not None
        with suppress(OSError):
            child.stdin.write(json.dumps(self._settings).encode() + b"\n")
            child.stdin.flush()
        return child

    def _stop(self) -> None:
        children = [child for child in self._children if child is not None]
        for child in children:
            _close(child)
        deadline = time.monotonic() + PATIENCE
        for child in children:
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _close(child: "subprocess.Popen[bytes]") -> None:
    """Close its input, which ends it."""
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()


# A child


class OwnPort:
    """The app; on the port of this process alone, only its relays."""

    def __init__(self, app: FastAPI, port: int) -> None:
        self._app, self._port = app, port
        self.state = app.state
        """The state of the app, where connections find the budgets."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] in ("http", "websocket") and (scope.get("server") or ("", 0))[1] == self._port:
            path = scope["path"]
            if scope["type"] == "http" or not (path.startswith(f"{API}/bots/") and path.endswith("/relay")):
                await _refuse(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def _follow(server: WebServer) -> None:
    """End when the standard input ends."""
    while sys.stdin.readline():
        pass
    server.should_exit = True


def make_child(settings: dict[str, Any]) -> tuple[WebServer, list[socket.socket]]:
    """The server of a child and its sockets."""
    listening = socket.socket(fileno=settings["fd"])
    own = socket.create_server((HOST, 0))
    set_up_logs(*settings["logs"])
    owner = OwnerProof(settings["owner_token"])
    app = create_app(open_database(settings["database"], create=True, durable=True), owner=owner, **settings["app"])
    app.state.public_address = settings["public_address"]
    app.state.relays.port = own.getsockname()[1]
    server = WebServer(app)
    server.config.app = OwnPort(app, app.state.relays.port)
    return server, [listening, own]


def main() -> None:
    """Serve until the standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server, sockets = make_child(json.loads(sys.stdin.readline()))
    threading.Thread(target=_follow, args=(server,), name="parent", daemon=True).start()
    sys.setswitchinterval(THREAD_TURN)
    server.run(sockets=sockets)
    os._exit(0)  # a thinking bot or a compiling kernel must not block the end


if __name__ == "__main__":
    main()
