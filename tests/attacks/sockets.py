"""Bare connections, for what a well-behaved client would not do."""

import socket
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ludodrome.store.league_models import DONE, LADDER, FinishedGameRow, MatchRow, MatchSeatRow
from ludodrome.store.models import packed


def dial(address: str, receive_buffer: int | None = None) -> socket.socket:
    """A connection to a server, with a small receive buffer if one is given."""
    host, port = address.removeprefix("http://").split(":")
    made = socket.socket()
    made.settimeout(30)
    if receive_buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    made.connect((host, int(port)))
    return made


def ask(address: str, path: str, receive_buffer: int | None = None, more: str = "") -> socket.socket:
    """A connection over which a path was asked for."""
    made = dial(address, receive_buffer)
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n".encode())
    return made


def head_of(connection: socket.socket) -> bytes:
    """What arrives, up to the end of the headers."""
    found = b""
    while b"\r\n\r\n" not in found:
        part = connection.recv(4096)
        if not part:
            break
        found += part
    return found


def send_many(connection: socket.socket, data: bytes, count: int, pause: float = 0.0) -> None:
    """Send the same bytes again and again."""
    for _ in range(count):
        connection.sendall(data)
        time.sleep(pause)


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether something comes true, within many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def add_records(engine: Engine, bot: str, count: int, size: int) -> None:
    """Finished games of a bot, with records of so many characters."""
    with Session(engine) as session:
        for number in range(count):
            name = f"heavy-{number}"
            parts = {"version": 2, "turns": [], "result": {"verdicts": []}}
            record = packed({"match": name, "text": "x" * size, **parts})
            session.add(MatchRow(id=name, game="dots", why=LADDER, assignment={}, status=DONE, queued=number))
            session.flush()
            session.add(MatchSeatRow(match=name, seat=0, bot=bot))
            session.add(FinishedGameRow(match=name, game="dots", counted={}, record=record, ended=number))
        session.commit()
