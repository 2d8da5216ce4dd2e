"""The server: uvicorn with limits on connections, headers and slow readers, and an orderly shutdown."""

import asyncio
import copy
import gc
import json
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from types import FrameType
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI, HTTPException
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ludodrome.system import API
from ludodrome.web.budgets import (
    BUDGETS,
    CONNECTIONS,
    MESSAGES,
    RETRY_SECONDS,
    SOCKETS,
    STREAMS,
    Budgets,
    address_key,
    is_exempt,
)
from ludodrome.web.owner import CONNECTION
from ludodrome.web.security import MAX_BODY

try:
    import resource  # absent on Windows
except ImportError:  # pragma: no cover
    resource = None  # type: ignore[assignment]

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
BAD_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
MIN_RATE = 1024
"""Bytes per second that a reader must take, as long as something waits for it ..."""
SLOW_SECONDS = 30.0
"""... over this many seconds; a slower one is disconnected."""
SWEEP_SECONDS = 1.0
"""Seconds between two looks for slow readers."""
UNSENT_BYTES = 16 * 1024
"""Unsent bytes that the kernel keeps for a connection: so few that a slow reader is seen as one."""
RECEIVE_BUFFER = 128 * 1024
"""Bytes of a connection that the kernel keeps until the server reads them."""
RESERVED_DESCRIPTORS = 256
"""Descriptors for the database, for files and for child processes."""
PIECE_BYTES, PIECES = 2048, 4
"""Bytes of a WebSocket that are parsed together, and how many such pieces before others have their turn."""
MAX_IGNORED = 64 * 1024
"""Bytes that a client may send after the server has closed its WebSocket; then the connection ends."""
REFUSED_SECONDS = 1.0
"""Seconds that a refused connection has to read the refusal."""
MAX_REFUSED = 1000
"""Refused connections that are still open, at most (fewer if descriptors are scarce); further ones are dropped."""
FULL = "the server has as many connections as it can hold; try again in a moment"


class Capacity(NamedTuple):
    """What a web process can hold."""

    descriptors: int
    connections: int


def raise_descriptor_limit() -> Capacity:
    """Raise the soft limit of open files to the hard limit; returns what the process can hold."""
    if resource is None:  # pragma: no cover
        return Capacity(0, 1_000_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 1 << 20)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        soft = 1 << 20
    return Capacity(soft, max(soft - RESERVED_DESCRIPTORS, soft // 2))


def capacity_line() -> str:
    """What this process can hold, in a sentence; raises the descriptor limit first."""
    capacity = raise_descriptor_limit()
    total, sockets, streams = (BUDGETS[kind].amount for kind in (CONNECTIONS, SOCKETS, STREAMS))
    return (
        f"It can hold {capacity.connections:,} connections ({capacity.descriptors:,} file descriptors), "
        f"{total} of one address: {sockets} WebSockets, {streams} streams."
    )


class Link:
    """The transport of one connection, as uvicorn uses it: counted for its address, and measured."""

    def __init__(self, transport: asyncio.Transport, limits: Budgets, keys: tuple[str, ...]) -> None:
        self._transport, self._limits, self._keys = transport, limits, keys
        self._written = 0
        self._seen: tuple[float, int] | None = None
        """Since when something waits for the reader, and what it had taken then."""
        limits.acquire(CONNECTIONS, *keys)
        self._counted = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._written += len(data)
        self._transport.write(data)

    def lost(self) -> None:
        """The connection has ended."""
        if self._counted:
            self._counted = False
            self._limits.release(CONNECTIONS, *self._keys)

    def is_slow(self, moment: float) -> bool:
        """Whether the reader takes too little of what waits for it. Call it now and then."""
        waiting = self._transport.get_write_buffer_size()
        taken = self._written - waiting
        if not waiting:
            self._seen = None
        elif self._seen is None:
            self._seen = moment, taken
        elif moment - self._seen[0] >= SLOW_SECONDS:
            if taken - self._seen[1] < MIN_RATE * SLOW_SECONDS:
                return True
            self._seen = moment, taken
        return False


class Connection(HttpToolsProtocol):
    """A connection with limits on the time and the size of request headers."""

    capacity = 1_000_000
    """Connections of this process, at most; further ones get 503."""
    refused = 0
    """Refused connections that are still open."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._facts: dict[str, Any] = {}
        """What is known about this TCP connection."""
        self._in_head = True
        self._begun = False
        """Whether a part of a request has arrived, and not yet all of it."""
        self._upgraded = False
        self._head = self._parsed = 0
        self._late: asyncio.TimerHandle | None = None
        self._link: Link | None = None
        """None if the connection was refused."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and start the timer for the first request; over a limit, refuse it."""
        state = self.config.app.state  # type: ignore[union-attr]
        address = (transport.get_extra_info("peername") or ("",))[0]
        keys = () if state.behind_proxy or is_exempt(state.mode, address) else (address_key(address),)
        if len(self.connections) >= type(self).capacity:
            self._turn_away(transport, HTTPException(503, FULL, {"retry-after": str(RETRY_SECONDS)}))
            return
        try:
            self._link = Link(transport, state.limits, keys)
        except HTTPException as refusal:
            self._turn_away(transport, refusal)
            return
        super().connection_made(self._link)  # type: ignore[arg-type]
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self._link is None:
            type(self).refused -= 1
            return
        self._link.lost()
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of headers."""
        if self._link is None or self._link.is_closing():
            return
        in_head = self._in_head
        super().data_received(data)
        if in_head and self._in_head:
            self._head += len(data)
            if self._head > MAX_HEADER_BYTES and not self.transport.is_closing():
                self._refuse_head()
        timed = self._late is not None or self.timeout_keep_alive_task is not None
        answering = self.cycle is not None and not self.cycle.response_complete
        if not (self._begun or self._upgraded or timed or answering):
            self._expect()  # empty lines between requests must not keep it open

    def on_message_begin(self) -> None:
        """Start the timer for the headers."""
        super().on_message_begin()
        self.scope[CONNECTION] = self._facts  # type: ignore[literal-required]
        self._in_head, self._begun, self._head, self._parsed = True, True, 0, 0
        self._stop_waiting()
        self._expect()

    def on_url(self, url: bytes) -> None:
        """Count the URL, also if it arrives with everything else."""
        self._parsed += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, also if it arrives with everything else."""
        self._parsed += len(name) + len(value) + 4
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The headers are complete."""
        if self._parsed > MAX_HEADER_BYTES:
            raise ValueError("the headers are too long")  # ends the parser; see send_400_response
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._begun = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The response is sent; if the rest of its request does not follow soon, close the connection."""
        super().on_response_complete()
        if self._begun and not self.pipeline and self._late is None:
            self._expect()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed."""
        if self._parsed > MAX_HEADER_BYTES:
            self._refuse_head()
        elif not self.transport.is_closing():
            super().send_400_response(msg)

    def handle_websocket_upgrade(self) -> None:
        """Limit the messages of WebSockets, except for bots."""
        if not self.url.startswith(BOTS):
            self.config = copy.copy(self.config)
            self.config.ws_max_size = MAX_MESSAGE
        self._upgraded = True
        super().handle_websocket_upgrade()

    def _expect(self) -> None:
        self._late = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect()  # the previous request is still being answered
        else:
            self.transport.close()

    def _refuse_head(self) -> None:
        sentence = f"the headers of a request have at most {MAX_HEADER_BYTES} bytes"
        self.transport.write(_plain_response(HTTPException(431, sentence)))
        self.transport.close()

    def _turn_away(self, transport: asyncio.Transport, refusal: HTTPException) -> None:
        """Refuse a connection with a sentence. It stays open for a moment, else the sentence could get lost."""
        type(self).refused += 1
        scarce = type(self).capacity + RESERVED_DESCRIPTORS // 2 - len(self.connections)
        if type(self).refused > min(MAX_REFUSED, scarce):
            transport.abort()
            return
        transport.write(_plain_response(refusal))
        with suppress(OSError, RuntimeError, NotImplementedError):
            transport.write_eof()
        self.loop.call_later(REFUSED_SECONDS, transport.abort)


def _plain_response(refusal: HTTPException) -> bytes:
    """A response before there is a request."""
    body = json.dumps({"error": refusal.detail}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    lines = [f"{name}: {value}" for name, value in {**headers, **(refusal.headers or {})}.items()]
    first = f"HTTP/1.1 {refusal.status_code} {HTTPStatus(refusal.status_code).phrase}"
    return "\r\n".join((first, *lines, "", "")).encode() + body


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket that is parsed no faster than its messages are answered, and whose pings are counted as messages.

    What arrives at once may hold thousands of messages. Parsing all of them would keep everybody else waiting.
    Uvicorn leaves a connection open whose handshake cannot be parsed (a line or the number of headers is too long), and
    fails on it at shutdown: here it is answered.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unparsed = bytearray()
        self._ignored = 0
        """Bytes that arrived after the server has closed the WebSocket."""

    def data_received(self, data: bytes) -> None:
        """Keep what arrives, and parse the first piece."""
        if self.close_sent:
            self._ignored += len(data)
            if self._ignored > MAX_IGNORED:
                self.transport.close()
            else:
                super().data_received(data)
            return
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        """Parse a few pieces, unless messages are waiting; read no more while something is not parsed."""
        for _ in range(PIECES):
            if not self._unparsed or not self.queue.empty() or self.transport.is_closing():
                break
            piece = bytes(self._unparsed[:PIECE_BYTES])
            del self._unparsed[:PIECE_BYTES]
            super().data_received(piece)
            self._answer_bad_handshake()
        if self.disconnected or self.transport.is_closing():
            return
        reading = not self._unparsed and self.queue.empty()
        if reading and self.read_paused:
            self.transport.resume_reading()
        elif not reading and not self.read_paused:
            self.transport.pause_reading()
        self.read_paused = not reading
        if self._unparsed and self.queue.empty():  # only control frames so far
            self.loop.call_soon(self._parse)

    def _answer_bad_handshake(self) -> None:
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.handshake_complete = self.close_sent = True
            self.transport.write(BAD_HANDSHAKE)
            self.transport.close()

    async def receive(self) -> ASGIReceiveEvent:
        """The next message. Let others run in between, also if it has already arrived."""
        if not self.queue.empty():
            await asyncio.sleep(0)
        message = await self.queue.get()
        if self.queue.empty() and not self.close_sent:
            self._parse()
        return message

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message; after the last one, ignore what arrived too late."""
        await super().send(message)
        if self.close_sent:
            self.handshake_complete = True  # after a refusal, uvicorn would log an error for every one
        if self.close_sent and self._unparsed:
            late = bytes(self._unparsed)
            self._unparsed.clear()
            self.data_received(late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Uncount the connection."""
        if isinstance(self.transport, Link):
            self.transport.lost()
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Answer a ping, unless the client sends too many or does not read the answers."""
        state = self.config.app.state  # type: ignore[union-attr]
        client = self.scope["client"]  # behind a proxy, as it was forwarded
        address = client[0] if client else ""
        try:
            if not is_exempt(state.mode, address):
                state.limits.take(MESSAGES, address_key(address))
        except HTTPException:
            self.transport.abort()
            return
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.transport.abort()


class WebServer(uvicorn.Server):
    """Uvicorn with the app."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.capacity = raise_descriptor_limit()
        """What this process can hold."""

        class ThisConnection(Connection):
            """A connection of this server."""

            capacity = self.capacity.connections

        super().__init__(
            uvicorn.Config(
                app,
                http=ThisConnection,
                ws=WebSocketConnection,
                log_config=None,  # as the process has set it up: logs.py
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # SecurityMiddleware does this
                timeout_graceful_shutdown=PATIENCE,
                ws_ping_interval=PING_SECONDS,
                ws_per_message_deflate=False,  # 300 live games would need 100 MB and a core for it
            )
        )
        self._swept = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Exclude everything loaded so far from garbage collection."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        for listening in sockets or ():  # connections inherit these options
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        await super().startup(sockets)

    async def on_tick(self, counter: int) -> bool:
        """Disconnect slow readers, besides what uvicorn does."""
        moment = asyncio.get_running_loop().time()
        if moment - self._swept >= SWEEP_SECONDS:
            self._swept = moment
            for connection in list(self.server_state.connections):
                link = connection.transport
                if isinstance(link, Link) and link.is_slow(moment):
                    link.abort()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down on the first signal; ignore further ones."""
        if not self.should_exit:
            self._app.state.readiness.stop()
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer waiting requests first, so that none is cut off."""
        self._app.state.readiness.stop()
        self._app.state.plays.clear()
        self._app.state.spectators.close()
        with suppress(TimeoutError):  # a bot that does not read must not hold up the shutdown
            async with asyncio.timeout(PATIENCE):
                await self._app.state.relays.close()
        await super().shutdown(sockets)
        self._captured_signals.clear()  # heeded: uvicorn would raise them again


def serve(app: FastAPI, sockets: Sequence[socket.socket]) -> None:
    """Serve until Ctrl-C."""
    sys.setswitchinterval(THREAD_TURN)
    WebServer(app).run(sockets=list(sockets))
