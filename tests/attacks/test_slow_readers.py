"""Readers that take their time hold nothing that others need, and not for long."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from websockets.sync.client import connect

from ludodrome.store import league_bots
from ludodrome.web import server
from ludodrome.web.budgets import BUDGETS, STREAMS, Allowance, Budgets
from tests.attacks.sockets import add_records, ask, dial, eventually, head_of, send_many
from tests.web.hosting import Hosted, hosting

API = "/api/v1"
HERE = "from 127.0.0.1"
READERS = 45
"""More than there are database connections, and threads for requests."""
TIMEOUT = 10.0


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    """A server of its own for each test, where only mechanisms and no amounts protect it."""
    with hosting() as running:
        yield running


def heavy_bot(running: Hosted) -> str:
    """The path of many megabytes of records."""
    bot = league_bots.bots(running.engine, "dots")[0].id
    add_records(running.engine, bot, 120, 60_000)
    return f"{API}/bots/{bot}/records"


def test_point_1_slow_readers_hold_no_database_connection(hosted: Hosted) -> None:
    path = heavy_bot(hosted)
    with ExitStack() as held, hosted.client() as client:
        readers = [held.enter_context(ask(hosted.address, path, 4096)) for _ in range(READERS)]
        for reader in readers:
            assert head_of(reader).startswith(b"HTTP/1.1 200 ")
        for _ in range(5):
            assert client.get("/health", timeout=TIMEOUT).status_code == 200
        assert client.get(f"{API}/bots", timeout=TIMEOUT).status_code == 200
        assert eventually(lambda: hosted.engine.pool.checkedout() == 0)  # type: ignore[attr-defined]
        assert hosted.app.state.limits.open_of(STREAMS, HERE) == READERS


def test_point_1_a_reader_below_the_least_rate_is_disconnected(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    path = heavy_bot(hosted)
    monkeypatch.setattr(server, "SLOW_SECONDS", 1.0)
    with ask(hosted.address, path, 4096) as reader:
        head_of(reader)
        assert hosted.app.state.limits.open_of(STREAMS, HERE) == 1
        assert eventually(lambda: hosted.app.state.limits.open_of(STREAMS, HERE) == 0)


def test_point_1_a_slow_reader_of_a_plain_response_is_disconnected(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits for such a reader but its connection and the bytes: they are given up too."""
    monkeypatch.setattr(server, "SLOW_SECONDS", 1.0)
    with ExitStack() as held:
        readers = [held.enter_context(dial(hosted.address, 4096)) for _ in range(3)]
        for reader in readers:
            many = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 40
            reader.sendall(many)
        limits = hosted.app.state.limits
        assert eventually(lambda: limits.open_of("connections", HERE) == 3)
        assert eventually(lambda: limits.open_of("connections", HERE) == 0)


def test_point_1_a_whole_download_at_a_good_pace(hosted: Hosted) -> None:
    path = heavy_bot(hosted)
    with hosted.client() as client:
        lines = client.get(path).text.splitlines()
    assert [json.loads(line)["match"] for line in lines] == [f"heavy-{number}" for number in range(120)]
    assert eventually(lambda: hosted.app.state.limits.open_of(STREAMS, HERE) == 0)


def test_point_1_a_stream_ends_with_its_reader(hosted: Hosted) -> None:
    with ExitStack() as held:
        readers = [held.enter_context(ask(hosted.address, f"{API}/live/dots")) for _ in range(10)]
        for reader in readers:
            assert head_of(reader).startswith(b"HTTP/1.1 200 ")
        assert eventually(lambda: hosted.app.state.spectators.watching == 10)
    assert eventually(lambda: hosted.app.state.spectators.watching == 0)
    assert hosted.app.state.limits.open_of(STREAMS, HERE) == 0


def _websocket(running: Hosted) -> socket.socket:
    """A WebSocket of a play as bare bytes, with a small receive buffer."""
    with running.client() as client:
        begun = client.post(f"{API}/plays", json={"game": "dots", "seats": ["person", "person"]}).json()
    headers = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    opened = ask(running.address, f"{API}/plays/{begun['id']}/live", 4096, headers + key)
    assert head_of(opened).startswith(b"HTTP/1.1 101 ")
    return opened


def test_point_1_a_spectator_who_does_not_read_needs_no_memory(hosted: Hosted) -> None:
    """Every ping has an answer: if nobody reads the answers, they must not pile up."""
    ping = b"\x89\xfd\0\0\0\0" + b"p" * 125
    with _websocket(hosted) as opened, pytest.raises(OSError, match=r"reset|roken pipe"):
        send_many(opened, ping * 500, 2000)  # 130 MB


def test_pings_are_counted(hosted: Hosted) -> None:
    hosted.app.state.limits = Budgets({**BUDGETS, "messages": Allowance(20, 3600.0)})
    ping = b"\x89\x80\0\0\0\0"
    with _websocket(hosted) as opened, pytest.raises(OSError, match=r"reset|roken pipe"):
        send_many(opened, ping * 30, 10_000)


def test_a_patient_spectator_stays(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket over which nothing is sent is not slow."""
    monkeypatch.setattr(server, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.1)
    with hosted.client() as client:
        begun = client.post(f"{API}/plays", json={"game": "dots", "seats": ["person", "person"]}).json()
    with connect(f"{hosted.address.replace('http', 'ws')}{API}/plays/{begun['id']}/live") as spectator:
        spectator.recv()
        with pytest.raises(TimeoutError):
            spectator.recv(timeout=2)
        spectator.send('{"type": "ping", "id": 1}')
        assert json.loads(spectator.recv())["type"] == "pong"
