"""One caller cannot use up what all share, whatever the transport."""

import asyncio
import json
import resource
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from httpx import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import ludodrome
from ludodrome.web import engine, security, server
from ludodrome.web.budgets import BUDGETS, Budgets
from ludodrome.web.routes import bots, live
from tests.attacks.sockets import ask, dial, eventually, head_of, send_many
from tests.web.hosting import Hosted, hosting

API = "/api/v1"
TIMEOUT = 10.0


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    with hosting(behind_proxy=True) as running:
        yield running


def budgets(**amounts: int) -> Budgets:
    """The usual budgets, but with these amounts, and rates that refill slowly."""
    small = {kind.replace("_", " "): amount for kind, amount in amounts.items()}
    return Budgets(
        {
            kind: one._replace(amount=small[kind], seconds=one.seconds and 3600.0) if kind in small else one
            for kind, one in BUDGETS.items()
        }
    )


def guest(running: Hosted, number: int) -> Client:
    """A client at an address of its own."""
    made = running.client()
    made.headers["x-forwarded-for"] = f"203.0.113.{number}"
    return made


def begin(client: Client) -> Any:
    """A play for two people at one screen."""
    wish = {"game": "dots", "options": {"rows": 4, "cols": 4}, "seats": ["person", "person"]}
    answer = client.post(f"{API}/plays", json=wish)
    assert answer.status_code == 201, answer.text
    return answer.json()


def watch(running: Hosted, play: Any, number: int = 1) -> ClientConnection:
    """The WebSocket of a play, for a guest."""
    path = f"{running.address.replace('http', 'ws')}{API}/plays/{play['id']}/live?key={play.get('key', '')}"
    return connect(path, additional_headers={"x-forwarded-for": f"203.0.113.{number}"})


def answer_of(socket: ClientConnection, number: int) -> Any:
    """The answer to a message, among the views."""
    while True:
        said = json.loads(socket.recv(timeout=TIMEOUT))
        if said.get("id") == number:
            return said


# Point 4


def test_point_4_streams_have_a_cap_by_address(hosted: Hosted) -> None:
    hosted.app.state.limits = budgets(streams=3)
    forwarded = "X-Forwarded-For: 203.0.113.1\r\n"
    with ExitStack() as held, guest(hosted, 1) as same, guest(hosted, 2) as other:
        play = begin(same)
        paths = [f"{API}/live/dots", f"{API}/plays/{play['id']}/events", f"{API}/live/caldera"]
        opened = [held.enter_context(ask(hosted.address, path, more=forwarded)) for path in paths]
        for one in opened:
            assert head_of(one).startswith(b"HTTP/1.1 200 ")
        refused = same.get(f"{API}/live/dots", timeout=TIMEOUT)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "streams" in refused.json()["error"]
        with other.stream("GET", f"{API}/live/dots", timeout=TIMEOUT) as allowed:
            assert allowed.status_code == 200
        opened[0].close()
        assert eventually(lambda: hosted.app.state.limits.open_of("streams", "from 203.0.113.1") == 2)
        with same.stream("GET", f"{API}/live/dots", timeout=TIMEOUT) as again:
            assert again.status_code == 200


def test_point_4_connections_have_a_cap_by_address() -> None:
    with hosting() as running, ExitStack() as held:  # without a proxy: the address is that of the connection
        running.app.state.limits = budgets(connections=5)
        kept = running.client()
        held.enter_context(kept)
        assert kept.get("/health").status_code == 200
        for _ in range(4):
            held.enter_context(dial(running.address))
        assert eventually(lambda: running.app.state.limits.open_of("connections", "from 127.0.0.1") == 5)
        with dial(running.address) as refused:
            said = head_of(refused)
            assert said.startswith(b"HTTP/1.1 429 ")
            assert b"retry-after" in said
        assert kept.get("/health").status_code == 200  # those who are connected are answered


def test_point_4_a_full_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors are left over, so that no connection fails in silence."""
    monkeypatch.setattr(server, "raise_descriptor_limit", lambda: server.Capacity(300, 5))
    with hosting() as running, ExitStack() as held:
        kept = held.enter_context(running.client())
        assert kept.get("/health").status_code == 200
        for _ in range(4):
            held.enter_context(dial(running.address))
        assert eventually(lambda: running.app.state.limits.open_of("connections", "from 127.0.0.1") == 5)
        with dial(running.address) as refused:
            said = b"".join(iter(lambda: refused.recv(4096), b""))
            assert said.startswith(b"HTTP/1.1 503 ")
            assert b"as many connections as it can hold" in said
        assert kept.get("/health").status_code == 200


def test_point_4_the_server_raises_its_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard - 1), hard))
    try:
        with hosting():
            raised = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert raised == (hard if hard != resource.RLIM_INFINITY else 1 << 20)


def test_point_4_the_server_says_what_it_can_hold() -> None:
    capacity = server.raise_descriptor_limit()
    assert 0 < capacity.connections < capacity.descriptors == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    said = server.capacity_line()
    for number in (capacity.connections, capacity.descriptors, BUDGETS["streams"].amount):
        assert f"{number:,} " in said


# Point 7


def test_point_7_websocket_writes_are_counted(hosted: Hosted) -> None:
    hosted.app.state.limits = budgets(writes=6)
    with guest(hosted, 1) as client, guest(hosted, 2) as other:
        play = begin(client)  # the first write
        with watch(hosted, play) as socket:
            statuses = []
            for number in range(6):
                move = play["position"]["legal"][number]
                socket.send(json.dumps({"type": "move", "move": move, "id": number}))
                said = answer_of(socket, number)
                statuses.append(said.get("status", 200))
        assert statuses == [200] * 5 + [429]
        assert "try again in" in said["error"]
        moves = client.post(f"{API}/plays/{play['id']}/moves", json={"move": play["position"]["legal"][9]})
        assert moves.status_code == 429  # over HTTP it is the same budget
        begin(other)  # and everybody has their own


def _drain(socket: ClientConnection) -> None:
    """Read until the socket is closed."""
    while True:
        socket.recv(timeout=TIMEOUT)


def test_point_7_messages_are_counted_and_a_flood_is_cut_off(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REFUSAL_SECONDS", 0.01)
    hosted.app.state.limits = budgets(messages=10)
    with guest(hosted, 1) as client:
        play = begin(client)
    with watch(hosted, play) as socket:
        for number in range(10):
            socket.send(json.dumps({"type": "ping", "id": number}))
            assert answer_of(socket, number)["type"] == "pong"
        for number in range(10, 20):
            socket.send(json.dumps({"type": "ping", "id": number}))
        assert json.loads(socket.recv(timeout=TIMEOUT))["status"] == 429
        with pytest.raises(ConnectionClosed) as closed:
            _drain(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


def test_point_7_a_hosted_server_counts_sockets_of_this_machine_too(caplog: pytest.LogCaptureFixture) -> None:
    with hosting() as running, running.client() as client:
        running.app.state.limits = budgets(WebSockets=2)
        play = begin(client)
        with ExitStack() as held:
            for _ in range(2):
                held.enter_context(watch(running, play))
            with pytest.raises(InvalidStatus) as refused:
                watch(running, play)
            assert refused.value.response.status_code == 429
            assert "retry-after" in refused.value.response.headers
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []  # no line for each refusal


def test_the_owner_of_the_machine_has_no_limits() -> None:
    with hosting("lan", behind_proxy=True) as running, running.client() as owner, ExitStack() as held:
        running.app.state.limits = budgets(WebSockets=1, streams=1, messages=1, writes=1, reads=1, requests=1)
        play = begin(owner)
        path = f"{running.address.replace('http', 'ws')}{API}/plays/{play['id']}/live"
        sockets = [held.enter_context(connect(path)) for _ in range(3)]
        for number in range(3):
            sockets[0].send(json.dumps({"type": "move", "move": play["position"]["legal"][number], "id": number}))
            assert answer_of(sockets[0], number)["type"] == "done"


def test_opening_sockets_is_counted(hosted: Hosted) -> None:
    hosted.app.state.limits = budgets(reads=2)
    with guest(hosted, 1) as client:
        play = begin(client)
        with watch(hosted, play), watch(hosted, play):
            with pytest.raises(InvalidStatus) as refused:
                watch(hosted, play)
            assert refused.value.response.status_code == 429


# Point 13


def test_point_13_one_guest_evicts_only_their_own_puzzles(hosted: Hosted) -> None:
    with guest(hosted, 1) as one, guest(hosted, 2) as many:
        mine = one.post(f"{API}/puzzles/dots/1/attempts").json()["id"]
        theirs = [many.post(f"{API}/puzzles/dots/1/attempts").json()["id"] for _ in range(520)]
        statuses = {name: many.post(f"{API}/attempts/{name}/hint").status_code for name in (theirs[0], theirs[-1])}
        assert one.post(f"{API}/attempts/{mine}/hint").status_code == 200
        assert list(statuses.values()) == [404, 200]


def test_point_13_one_account_holds_one_doctor(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    async def messages(asked: Any) -> AsyncIterator[Any]:
        yield {"note": "the first check"}
        while asked["source"] == "endless" and not over.is_set():
            await asyncio.sleep(0.05)

    monkeypatch.setattr(bots, "_messages", messages)
    monkeypatch.setattr(bots, "WAIT_SECONDS", 5.0)
    hosted.app.state.limits = Budgets()
    hosted.app.state.doctor.sandboxed = False

    def check(name: str, number: int, source: str) -> int:
        with hosted.client(name) as client:
            client.headers["x-forwarded-for"] = f"203.0.113.{number}"
            answer = client.post(f"{API}/checks", json={"game": "dots", "source": source}, timeout=60)
            return answer.status_code

    for name in ("Ada", "Bob"):
        hosted.person(name)
    with ThreadPoolExecutor(4) as crowd:
        greedy = [crowd.submit(check, "Ada", 1, "endless") for _ in range(3)]
        assert eventually(lambda: hosted.app.state.doctor._slots._value < bots.MAX_CHECKS)
        time.sleep(0.5)  # the others have arrived too
        try:
            assert check("Bob", 2, "quick") == 200
        finally:
            over.set()
        assert {one.result() for one in greedy} <= {200, 429}


def test_searches_are_shared(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks the engine too much at once is refused; others find a place."""
    monkeypatch.setattr(engine, "PATIENCE", 60.0)
    hosted.app.state.limits = Budgets()
    question = {"game": "dots", "state": ludodrome.make("dots").initial_state(), "seconds": 0.05}

    def analyse(number: int) -> int:
        with guest(hosted, number) as client:
            return client.post(f"{API}/analysis", json=question, timeout=60).status_code

    with ExitStack() as taken, ThreadPoolExecutor(20) as crowd:
        for _ in range(engine.MAX_SEARCHES):
            taken.enter_context(engine.engine_slot())
        greedy = [crowd.submit(analyse, 1) for _ in range(12)]
        assert eventually(lambda: sum(one.done() for one in greedy) == 9)
        other = crowd.submit(analyse, 2)
        assert eventually(lambda: hosted.app.state.limits.open_of("searches", "from 203.0.113.2") == 1)
        taken.close()
        assert other.result() == 200
        assert sorted(one.result() for one in greedy) == [200] * 3 + [429] * 9


# Point 20


def _closed(connection: Any) -> bytes:
    """What arrives until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_point_20_a_long_head_is_refused_even_if_it_arrives_at_once(hosted: Hosted) -> None:
    long = b"X-A: " + b"b" * 70_000 + b"\r\n"
    many = (b"X-A: " + b"b" * 1000 + b"\r\n") * 70
    for headers in (long, many):
        with dial(hosted.address) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + b"\r\n")
            assert _closed(connection).startswith(b"HTTP/1.1 431 ")
    with dial(hosted.address) as connection:
        connection.sendall(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert _closed(connection).startswith(b"HTTP/1.1 431 ")


def test_point_20_the_connection_ends_after_a_late_body(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "BODY_SECONDS", 0.2)
    with dial(hosted.address) as connection:
        head = b"POST /api/v1/plays HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: 100\r\n\r\n{")
        said = _closed(connection)
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in said


def test_empty_lines_do_not_keep_a_connection_open(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.3)
    with ask(hosted.address, "/health") as connection:
        head_of(connection)
        connection.sendall(b"\r\n")
        _closed(connection)


def test_a_body_that_is_not_wanted_does_not_keep_a_connection_open(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 1.0)
    with dial(hosted.address) as connection:
        head = b"POST /api/v1/plays HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: 999999\r\n\r\n")
        assert head_of(connection).startswith(b"HTTP/1.1 413 ")
        with pytest.raises(OSError, match=r"reset|roken pipe|losed"):
            send_many(connection, b" ", 300, 0.1)
