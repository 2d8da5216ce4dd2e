"""Remote bots: where they connect, and where the seats of the workers meet them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, WebSocket
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import WebSocketException

from ludodrome.arena.transports.remote import SECRET_HEADER
from ludodrome.store.accounts import BOTS, token_of
from ludodrome.store.league_bots import bot_of_token, find_bot
from ludodrome.store.models import REMOTE
from ludodrome.web.auth import POLICY_VIOLATION
from ludodrome.web.relays import Relays

router = APIRouter(prefix="/bots", tags=["bots"])

BotId = Annotated[str, Path(max_length=40)]
ANYWHERE = ("0.0.0.0", "::", "")


async def connecting(socket: WebSocket, bot_id: BotId) -> str:
    """The remote bot that connects: with its own token, or with a token of its owner's that is good for bots."""
    kind, _, secret = socket.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and await run_in_threadpool(_may_connect, socket, bot_id, secret.strip()):
        return bot_id
    raise WebSocketException(POLICY_VIOLATION, "the token is not good for this bot")


def _may_connect(socket: WebSocket, bot_id: str, secret: str) -> bool:
    engine = socket.app.state.engine
    found = bot_of_token(engine, secret)
    if found is None:
        known, named = token_of(engine, secret), find_bot(engine, bot_id)
        found = named if known is not None and named is not None and named.owner == known.person.id else None
        if known is None or BOTS not in known.scopes:
            return False
    return found is not None and found.id == bot_id and found.kind == REMOTE and not found.banned


@router.websocket("/{bot_id}/connect")
async def connect(socket: WebSocket, bot: Annotated[str, Depends(connecting)]) -> None:
    """A remote bot's connection: the bot protocol, one JSON object a frame."""
    await socket.accept()
    relays: Relays = socket.app.state.relays
    await relays.serve_bot(bot, socket, _address(socket))


def _address(socket: WebSocket) -> str:
    """Where this very process can be dialled from this machine, and what it is called there."""
    host, port = (socket.scope.get("server") or ("127.0.0.1", 80))[:2]
    return f"{'127.0.0.1' if host in ANYWHERE else host}:{port} {socket.headers.get('host', '127.0.0.1')}"


async def relaying(socket: WebSocket, bot_id: BotId) -> str:
    """The bot whose relay a worker of ours may use."""
    relays: Relays = socket.app.state.relays
    if not relays.opens(bot_id, socket.headers.get(SECRET_HEADER, "")):
        raise WebSocketException(POLICY_VIOLATION, "this relay is for the workers of this server alone")
    return bot_id


@router.websocket("/{bot_id}/relay")
async def relay(socket: WebSocket, bot: Annotated[str, Depends(relaying)]) -> None:
    """The seat of a worker, at the other end of a bot's connection."""
    await socket.accept()
    relays: Relays = socket.app.state.relays
    await relays.serve_seat(bot, socket)
