"""Who may do what in a game, on a server for everybody and in a local network."""

import json
from typing import Any

import pytest
from httpx import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ludodrome.store import accounts
from ludodrome.web.routes import live
from tests.web.hosting import Hosted
from tests.web.walking import API, begin

EDGE = {"orient": "H", "r": 0, "c": 0}
SMALL = {"rows": 1, "cols": 2}


def _move(client: Client, view: Any, **headers: str) -> int:
    return client.post(f"{API}/plays/{view['id']}/moves", json={"move": EDGE}, headers=headers).status_code


def test_a_guest_plays_with_a_key(hosted: Hosted) -> None:
    with hosted.client() as guest, hosted.client("Owner") as other:
        view = begin(guest, "dots", ["person", "person"], options=SMALL)
        assert view["seats"][0]["name"] == "Player 1"
        assert _move(guest, view) == 403
        assert _move(other, view) == 403
        assert _move(guest, view, **{"x-play-key": "another"}) == 403
        assert _move(other, view, **{"x-play-key": view["key"]}) == 200
        assert "key" not in guest.get(f"{API}/plays/{view['id']}").json()
        assert guest.get(f"{API}/plays").status_code == 401


def test_an_account_plays_without_and_is_called_by_its_name(hosted: Hosted) -> None:
    with hosted.client("Owner") as owner, hosted.client("Other") as other, hosted.client("Chief") as chief:
        view = begin(owner, "dots", ["person", "friend"], options=SMALL)
        assert "key" not in view
        assert [seat["name"] for seat in view["seats"]] == ["Owner", "Guest"]
        link = view["seats"][1]["link"].rpartition("/")[2]
        assert other.get(f"{API}/plays/{view['id']}").json()["seats"][1]["link"] is None
        assert chief.get(f"{API}/plays/{view['id']}").json()["seats"][1]["link"] is None
        key = other.post(f"{API}/joins/{link}").json()["key"]
        seats = owner.get(f"{API}/plays/{view['id']}").json()["seats"]
        assert [seat["name"] for seat in seats] == ["Owner", "Other"]
        assert _move(other, view) == 403
        assert _move(chief, view) == 403
        assert _move(owner, view, **{"x-play-key": key}) == 409
        assert _move(owner, view) == 200
        assert view["id"] in [line["id"] for line in owner.get(f"{API}/plays").json()]
        assert view["id"] not in [line["id"] for line in other.get(f"{API}/plays").json()]


def test_a_token_that_is_not_good_for_playing_only_looks_on(hosted: Hosted) -> None:
    owner = hosted.person("Owner").id
    _, good = accounts.add_token(hosted.engine, owner, "good", ["play"])
    _, other = accounts.add_token(hosted.engine, owner, "other", ["bots"])
    with hosted.client() as program, hosted.client("Owner") as page:
        view = begin(page, "dots", ["person", "person"], options=SMALL)
        wish = {"game": "dots", "seats": ["person", "person"]}
        headers = {"authorization": f"Bearer {other}"}
        assert program.post(f"{API}/plays", json=wish, headers=headers).status_code == 403
        assert _move(program, view, authorization=f"Bearer {other}") == 403
        assert _move(program, view, authorization=f"Bearer {good}") == 200


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("mcts:time=10.5", "time"),
        ("mcts:sims=50001", "sims"),
        ("mcts:time=1,threads=3", "threads"),
        ("alphabeta:nodes=2000001", "nodes"),
        ("alphabeta:depth=60", "depth"),
    ],
)
def test_a_strangers_bot_does_not_think_while_all_others_wait(hosted: Hosted, spec: str, word: str) -> None:
    wish = {"game": "skysummit", "seats": ["person", spec]}
    for name in (None, "Owner"):
        with hosted.client(name) as stranger:
            answer = stranger.post(f"{API}/plays", json=wish)
            assert answer.status_code == 422
            assert f"the parameter {word} of" in answer.json()["error"]
            begin(stranger, "skysummit", ["person", "alphabeta:depth=60,time=10"])


def test_a_local_server_does_not_limit_bots(client: Client) -> None:
    begin(client, "skysummit", ["person", "mcts:time=3600,threads=4"])


def test_an_open_socket_ends_with_the_access(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "KNOWN_SECONDS", 0.0)
    owner = hosted.person("Owner").id
    row, secret = accounts.add_token(hosted.engine, owner, "a phone", ["play"])
    headers = {"authorization": f"Bearer {secret}"}
    with hosted.client() as program:
        wish = {"game": "dots", "seats": ["person", "person"], "options": SMALL}
        view = program.post(f"{API}/plays", json=wish, headers=headers).json()
        address = f"{hosted.address.replace('http', 'ws')}{API}/plays/{view['id']}/live"
        with connect(address, additional_headers=headers) as socket:
            socket.send(json.dumps({"type": "ping"}))
            while json.loads(socket.recv(timeout=30))["type"] != "pong":
                pass
            accounts.revoke(hosted.engine, owner, row.id)
            socket.send(json.dumps({"type": "move", "move": EDGE}))
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        assert program.get(f"{API}/plays/{view['id']}").json()["version"] == 0
