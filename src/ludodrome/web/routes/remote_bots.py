"""Remote bots: a relay between the connection of a bot and the seat in a worker process.

A relay only passes messages on, and tells the seat when the bot connects and disconnects. A new connection of a bot
replaces its former one, also if another web process holds that.
"""

import asyncio
import json
import secrets
import time
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine
from starlette.exceptions import WebSocketException

from ludodrome.arena.messages import MAX_LONG_LINE
from ludodrome.arena.transports.remote import SECRET_HEADER
from ludodrome.store import announcements
from ludodrome.store.accounts import BOTS, token_of
from ludodrome.store.league_bots import bot_of_token, find_bot
from ludodrome.store.league_models import REMOTE
from ludodrome.store.league_presence import arrive, leave, presence, stay
from ludodrome.web.budgets import BOT_MESSAGES, READS, budget_of
from ludodrome.web.concurrency import POLICY_VIOLATION, Key, hold

BEAT = 10.0
"""Seconds between heartbeats of a connected bot."""
PACE_SECONDS = 0.25
"""Seconds, at most, between two attempts to read on from a bot that sends too much."""
REPLACED, TOO_BIG, GOING_AWAY = 4000, 1009, 1001


class Relay:
    """The two ends of the relay of a bot; either may be missing."""

    def __init__(self) -> None:
        self.bot: WebSocket | None = None
        self.seat: WebSocket | None = None
        self.secret = ""
        self.arrived = False
        """Whether the database knows the present connection of the bot."""

    async def tell_seat(self, **message: Any) -> None:
        """Send to the seat, if there is one."""
        if self.seat is not None:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self.seat.send_text(json.dumps(message))

    async def tell_bot(self, text: str) -> None:
        """Send to the bot, if it is connected."""
        if self.bot is not None:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self.bot.send_text(text)


class RelayRegistry:
    """The relays of the bots that are connected to this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._relays: dict[str, Relay] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.port: int | None = None
        """The port of this process alone, if several share the server's."""
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return sum(relay.bot is not None for relay in self._relays.values())

    def opens(self, bot: str, secret: str) -> bool:
        """Whether a secret opens the relay of a bot."""
        relay = self._relays.get(bot)
        return (
            relay is not None and bool(relay.secret) and secrets.compare_digest(relay.secret.encode(), secret.encode())
        )

    def hear(self, bot: str) -> None:
        """A bot may have connected to another process. Thread-safe."""
        if self.loop is not None and not self.loop.is_closed() and bot in self._relays:
            self.loop.call_soon_threadsafe(self._look, bot)

    def look_again(self) -> None:
        """All bots may have connected to other processes. Thread-safe."""
        for bot in list(self._relays):
            self.hear(bot)

    def _look(self, bot: str) -> None:
        task = asyncio.get_running_loop().create_task(self._yield_bot(bot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _yield_bot(self, bot: str) -> None:
        """Close the connection of a bot if it has a newer one in another process."""
        relay = self._relays.get(bot)
        if relay is None or not relay.arrived:
            return
        socket, secret = relay.bot, relay.secret
        found = await run_in_threadpool(presence, self._engine, bot)
        if found is not None and found[1] != secret and relay.bot is socket:
            await self._replace(socket)

    async def _replace(self, socket: WebSocket | None) -> None:
        if socket is not None:
            with suppress(RuntimeError):
                await socket.close(REPLACED, "another connection of this bot has replaced this one")

    async def close(self) -> None:
        """Close all connections; bots connect again."""
        for relay in list(self._relays.values()):
            for socket in (relay.bot, relay.seat):
                if socket is not None:
                    with suppress(RuntimeError):
                        await socket.close(GOING_AWAY, "connect again")

    async def serve_bot(self, bot: str, socket: WebSocket, address: str) -> None:
        """Serve the connection of a bot."""
        relay = self._relays.setdefault(bot, Relay())
        former, relay.bot = relay.bot, socket
        secret = relay.secret = secrets.token_urlsafe(32)  # a new one each time: see ``leave``
        relay.arrived = False
        await self._replace(former)
        await run_in_threadpool(arrive, self._engine, bot, address, secret)
        if relay.bot is socket:
            relay.arrived = True
        await relay.tell_seat(attached=True)
        beating = asyncio.create_task(self._beat(bot, address, secret, socket))
        try:
            while True:
                text = await socket.receive_text()
                if len(text) > MAX_LONG_LINE:
                    await socket.close(TOO_BIG, f"a frame has at most {MAX_LONG_LINE} characters")
                    return
                await _paced(socket, bot)
                await relay.tell_seat(said=text)
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            beating.cancel()
            if relay.bot is socket:
                relay.bot = None
                await relay.tell_seat(attached=False)
                if relay.seat is None:
                    self._forget(bot, relay)
                await run_in_threadpool(leave, self._engine, bot, secret)

    async def serve_seat(self, bot: str, socket: WebSocket) -> None:
        """Serve the connection of a seat."""
        relay = self._relays.setdefault(bot, Relay())
        former, relay.seat = relay.seat, socket
        if former is not None:
            with suppress(RuntimeError):
                await former.close(REPLACED, "another seat has taken over")
        try:
            await relay.tell_seat(attached=relay.bot is not None)
            while True:
                await relay.tell_bot(await socket.receive_text())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            if relay.seat is socket:
                relay.seat = None
                if relay.bot is None:
                    self._forget(bot, relay)

    async def _beat(self, bot: str, address: str, secret: str, socket: WebSocket) -> None:
        while True:
            await asyncio.sleep(BEAT)
            if not await run_in_threadpool(stay, self._engine, bot, address, secret):
                await self._replace(socket)

    def _forget(self, bot: str, relay: Relay) -> None:
        if self._relays.get(bot) is relay:
            del self._relays[bot]


async def _paced(socket: WebSocket, bot: str) -> None:
    """Count a message of a bot; over the budget, wait, and read nothing meanwhile."""
    budget = budget_of(socket)
    while budget.keys:
        try:
            socket.app.state.limits.take(BOT_MESSAGES, budget.keys[0], f"bot {bot}")
            return
        except HTTPException as refusal:
            await asyncio.sleep(min(float((refusal.headers or {})["retry-after"]), PACE_SECONDS))


router = APIRouter(prefix="/bots", tags=["bots"])

BotId = Annotated[str, Path(max_length=40)]
ANYWHERE = ("0.0.0.0", "::", "")


async def connecting(socket: WebSocket, bot_id: BotId) -> str:
    """The remote bot that connects, with its own token or one of its owner with the scope ``bots``."""
    socket.app.state.limits.take(READS, *budget_of(socket).keys)
    kind, _, secret = socket.headers.get("authorization", "").partition(" ")
    begun = time.monotonic()

    async def keys() -> frozenset[Key]:
        return await run_in_threadpool(_keys, socket, bot_id, secret.strip())

    async def is_valid() -> bool:
        return bool(await keys())

    found = await keys() if kind.lower() == "bearer" else frozenset()
    if not found:
        raise WebSocketException(POLICY_VIOLATION, "the token is not valid for this bot")
    hold(socket, found, is_valid, begun)
    return bot_id


def _keys(socket: WebSocket, bot_id: str, secret: str) -> frozenset[Key]:
    """What the connection of a bot depends on; empty if a secret is not valid for it."""
    engine = socket.app.state.engine
    found, token = bot_of_token(engine, secret), None
    if found is None:
        known, named = token_of(engine, secret), find_bot(engine, bot_id)
        found = named if known is not None and named is not None and named.owner == known.person.id else None
        if known is None or BOTS not in known.scopes:
            return frozenset()
        token = known.token
    if found is None or found.id != bot_id or found.kind != REMOTE or found.banned:
        return frozenset()
    keys = ((announcements.BOT, bot_id), (announcements.ACCOUNT, found.owner), (announcements.TOKEN, token))
    return frozenset((topic, name) for topic, name in keys if name is not None)


@router.websocket("/{bot_id}/connect")
async def connect(socket: WebSocket, bot: Annotated[str, Depends(connecting)]) -> None:
    """The connection of a remote bot: the bot protocol, one JSON object per frame."""
    await socket.accept()
    relays: RelayRegistry = socket.app.state.relays
    await relays.serve_bot(bot, socket, _address(socket))


def _address(socket: WebSocket) -> str:
    """The address of this process on this machine, and its host name."""
    host, port = (socket.scope.get("server") or ("127.0.0.1", 80))[:2]
    own = socket.app.state.relays.port
    if own is not None:
        host, port = "127.0.0.1", own
    return f"{'127.0.0.1' if host in ANYWHERE else host}:{port} {socket.headers.get('host', '127.0.0.1')}"


async def relaying(socket: WebSocket, bot_id: BotId) -> str:
    """The bot whose relay a worker opens with its secret."""
    relays: RelayRegistry = socket.app.state.relays
    if not relays.opens(bot_id, socket.headers.get(SECRET_HEADER, "")):
        socket.app.state.limits.take(READS, *budget_of(socket).keys)
        raise WebSocketException(POLICY_VIOLATION, "this relay is only for workers of this server")
    return bot_id


@router.websocket("/{bot_id}/relay")
async def relay(socket: WebSocket, bot: Annotated[str, Depends(relaying)]) -> None:
    """The seat in a worker, at the other end of the relay."""
    await socket.accept()
    relays: RelayRegistry = socket.app.state.relays
    await relays.serve_seat(bot, socket)
