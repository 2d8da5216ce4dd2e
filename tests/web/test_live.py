"""Games live: WebSockets, server-sent events, friends behind links."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from httpx import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ludodrome.arena import records
from ludodrome.web.server import MAX_MESSAGE
from tests.web.serving import server
from tests.web.walking import API, begin, some_move

EDGE = {"orient": "H", "r": 0, "c": 0}
OTHER = {"orient": "H", "r": 1, "c": 0}
SMALL = {"rows": 1, "cols": 2}


@contextmanager
def _live(address: str, name: str, key: str | None = None, **rest: Any) -> Iterator[ClientConnection]:
    path = f"{address.replace('http', 'ws')}{API}/plays/{name}/live" + (f"?key={key}" if key else "")
    with connect(path, **rest) as socket:
        yield socket


def _next(socket: ClientConnection, kind: str) -> Any:
    while True:
        said = json.loads(socket.recv(timeout=30))
        if said["type"] == kind:
            return said


def _play(socket: ClientConnection) -> Any:
    return _next(socket, "play")["play"]


def _say(socket: ClientConnection, **words: Any) -> None:
    socket.send(json.dumps(words))


def test_moves_go_both_ways_over_a_websocket(client: Client, address: str) -> None:
    view = begin(client, "dots", ["person", "random"], options=SMALL)
    with _live(address, view["id"]) as socket, _live(address, view["id"]) as watching:
        assert _play(socket)["version"] == 0
        assert _play(watching)["seats"][0]["yours"]
        _say(socket, type="move", move=EDGE, version=0, id=1)
        after = _play(watching)
        assert after["moves"][0]["move"] == EDGE
        done = _next(socket, "done")
        assert done["id"] == 1
        assert done["version"] >= 1
        while after["thinking"]:
            after = _play(watching)
        _say(socket, type="undo", id="two")
        assert _next(socket, "done")["id"] == "two"
        _say(socket, type="resign")
        _next(socket, "done")
        _say(socket, type="rematch")
        _next(socket, "done")
        while after["next"] is None:
            after = _play(watching)
        assert client.get(f"{API}/plays/{after['next']}").json()["seats"][1]["kind"] == "person"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"type": "move"}, 422),
        ({"type": "move", "move": {"orient": "X"}}, 422),
        ({"type": "move", "move": EDGE, "version": 9}, 409),
        ({"type": "move", "move": EDGE, "version": "9"}, 422),
        ({"type": "undo"}, 409),
        ({"type": "resign", "seat": 1}, 403),
        ({"type": "resign", "seat": "me"}, 422),
        ({"type": "rematch"}, 409),
        ({"type": "dance"}, 422),
        ([1], 422),
        ("x" * 300_000, 422),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(client: Client, address: str, said: Any, status: int) -> None:
    view = begin(client, "dots", ["person", "random"], options=SMALL)
    with _live(address, view["id"]) as socket:
        socket.send(json.dumps({**said, "id": 4} if type(said) is dict else said))
        refused = _next(socket, "refused")
        assert refused["status"] == status
        assert refused["error"]
        assert refused["id"] == (4 if type(said) is dict else None)
        _say(socket, type="ping", id=5)
        assert _next(socket, "pong") == {"type": "pong", "id": 5}
    assert client.get(f"{API}/plays/{view['id']}").json()["version"] == 0


def test_bytes_are_refused_and_what_is_far_too_long_ends_the_connection(client: Client, address: str) -> None:
    view = begin(client, "dots", ["person", "random"], options=SMALL)
    with _live(address, view["id"]) as socket:
        socket.send(b"\x00\xff")
        assert _next(socket, "refused")["status"] == 422
        _say(socket, type="ping", id=5)
        assert _next(socket, "pong")["id"] == 5
        with suppress(ConnectionClosed):  # perhaps before all of it is sent
            socket.send("x" * (MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            _next(socket, "refused")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


def test_there_is_no_socket_for_strangers_pages_or_for_nothing(client: Client, address: str) -> None:
    view = begin(client, "dots", ["person", "random"], options=SMALL)
    for name, origin in ((view["id"], "https://example.org"), ("nothing", None)):
        with pytest.raises(InvalidStatus), _live(address, name, origin=origin):
            pass


def test_a_friend_plays_by_link(client: Client, address: str) -> None:
    view = begin(client, "dots", ["person", "friend"], options=SMALL, clock="5m++3s")
    assert view["waiting"]
    link = view["seats"][1]["link"].rpartition("/")[2]
    path = f"{API}/plays/{view['id']}"
    stranger = {"x-play-key": "nothing"}
    assert client.get(path, headers=stranger).json()["seats"][1]["link"] is None
    assert client.post(f"{path}/moves", json={"move": EDGE}).status_code == 409
    with _live(address, view["id"]) as owner:
        assert _play(owner)["seats"][0]["here"]
        joined = client.post(f"{API}/joins/{link}")
        assert joined.status_code == 201
        key = joined.json()["key"]
        assert joined.json() == {"play": view["id"], "game": "dots", "seat": 1, "key": key}
        assert not _play(owner)["waiting"]
        assert client.post(f"{API}/joins/{link}").status_code == 404
        with _live(address, view["id"], key) as friend:
            assert [seat["yours"] for seat in _play(friend)["seats"]] == [False, True]
            assert _play(owner)["seats"][1]["here"]
            _say(friend, type="move", move=EDGE)
            assert _next(friend, "refused")["error"] == "it is not your turn"
            _say(owner, type="move", move=EDGE)
            assert _play(friend)["version"] == 2
            _say(owner, type="move", move=OTHER)
            assert _next(owner, "refused")["status"] == 409
            _say(owner, type="undo")
            assert "only the owner of a game without friends" in _next(owner, "refused")["error"]
        while _play(owner)["seats"][1]["here"]:
            pass
    seat = {"x-play-key": key}
    assert client.post(f"{path}/moves", json={"move": OTHER}, headers=stranger).status_code == 403
    assert client.post(f"{path}/moves", json={"move": OTHER}, headers=seat).status_code == 200
    assert client.post(f"{path}/resign", json={}, headers=stranger).status_code == 403
    over = client.post(f"{path}/resign", json={}, headers=seat).json()
    assert over["result"]["winner"] == 0
    records.verify(records.from_text(client.get(f"{path}/record").content))
    assert client.post(f"{path}/rematch", headers=stranger).status_code == 403
    offered = client.post(f"{path}/rematch", headers=seat).json()
    assert offered["next"] is None
    assert [one["offers"] for one in offered["seats"]] == [False, True]
    again = client.post(f"{path}/rematch").json()["next"]
    first = client.get(f"{API}/plays/{again}", headers=seat).json()
    assert [one["yours"] for one in first["seats"]] == [True, False]
    assert client.post(f"{API}/plays/{again}/moves", json={"move": EDGE}, headers=seat).status_code == 200
    assert client.post(f"{API}/plays/{again}/resign", json={}).status_code == 200  # or else the engine stays off


def test_a_board_face_down_is_seen_by_its_seat_alone(client: Client) -> None:
    options = {"size": 2, "rounds": 1, "choice": "blind"}
    view = begin(client, "spaces", ["person", "friend"], options=options)
    link = view["seats"][1]["link"].rpartition("/")[2]
    seat = {"x-play-key": client.post(f"{API}/joins/{link}").json()["key"]}
    path = f"{API}/plays/{view['id']}"
    board = some_move(client, view)
    laid = client.post(f"{path}/moves", json={"move": board}).json()
    assert laid["position"]["state"]["chosen"] == board
    for headers in (seat, {"x-play-key": "nothing"}):
        seen = client.get(path, headers=headers).json()
        assert seen["position"]["state"]["chosen"] is None
        assert seen["moves"][0]["move"] is None
    assert client.post(f"{path}/resign", json={}).status_code == 200  # or else the engine stays off


def test_those_who_look_on_get_events(client: Client) -> None:
    view = begin(client, "dots", ["person", "person"], options=SMALL)
    with client.stream("GET", f"{API}/plays/{view['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = (line for line in stream.iter_lines() if line.startswith("data: "))
        first = json.loads(next(lines)[6:])["play"]
        assert not any(seat["yours"] for seat in first["seats"])
        client.post(f"{API}/plays/{view['id']}/moves", json={"move": EDGE})
        assert json.loads(next(lines)[6:])["play"]["moves"][0]["move"] == EDGE
    assert client.get(f"{API}/plays/nothing/events").status_code == 404


def test_a_clock_runs_out_while_everybody_watches(client: Client, address: str) -> None:
    view = begin(client, "dots", ["person", "person"], options=SMALL, clock="100ms")
    with _live(address, view["id"]) as socket:
        _say(socket, type="move", move=EDGE)
        play = _play(socket)
        while play["version"] == 0:
            play = _play(socket)
        _say(socket, type="move", move=OTHER)
        while play["result"] is None:
            play = _play(socket)
        assert play["result"]["verdicts"][0]["cause"] == "timeout"


def test_a_server_that_ends_sends_everybody_home() -> None:
    with ExitStack() as stack:
        running = ExitStack()
        address = running.enter_context(server())
        with Client(base_url=address, timeout=60) as client:
            view = begin(client, "dots", ["person", "person"], options=SMALL)
        socket = stack.enter_context(_live(address, view["id"]))
        _play(socket)
        running.close()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=30)
        assert socket.close_code in (1001, 1012)
