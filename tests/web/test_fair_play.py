"""Fair play: who plays against a person gets no engine for that game, by any route, until it is over."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from fastapi import FastAPI
from httpx import Client
from websockets.sync.client import connect

import ludodrome
from ludodrome.arena import records
from ludodrome.store.database import open_database
from ludodrome.web import auth
from ludodrome.web.app import create_app
from ludodrome.web.budgets import ANALYSIS, KINDS
from tests.web.hosting import WEAK, Hosted
from tests.web.serving import serving
from tests.web.test_matrix import rows

API = "/api/v1"
DOTS = {"rows": 2, "cols": 2}
EDGE, OTHER = {"orient": "H", "r": 0, "c": 0}, {"orient": "V", "r": 1, "c": 1}
ENGINE_CALLS = re.compile(
    r"engine_slot|analyse_position|solve_position|reviewer|registry_of\(request\)\.begin|move_async"
)
"""What a route calls to ask the engine or a bot."""
PUZZLES = re.compile(rf"POST {API}/attempts/[^/]+/(moves|hint|solution)")
"""The engine looks at puzzles of the book here: nobody chooses the position."""


@pytest.fixture
def fair(database: str) -> Iterator[Hosted]:
    """A server for everybody on each kind of database."""
    engine = open_database(database, create=True)
    app = create_app(engine, mode="hosted")
    try:
        with patch.object(auth, "_hasher", WEAK), serving(app) as address:
            yield Hosted(address, app, engine)
    finally:
        engine.dispose()


class Pair:
    """Two people at a game of dots that runs; both may have accounts."""

    def __init__(self, fair: Hosted, names: tuple[str | None, str | None] = ("Ada", "Ben")) -> None:
        self.clients = [fair.client(name) for name in names]
        wish = {"game": "dots", "options": DOTS, "seats": ["person", "friend"]}
        begun = self.clients[0].post(f"{API}/plays", json=wish).json()
        self.id = begun["id"]
        link = begun["seats"][1]["link"].rpartition("/")[2]
        joined = self.clients[1].post(f"{API}/joins/{link}").json()
        self.keys = [begun.get("key"), joined["key"]]
        assert self.move(0, EDGE).status_code == 200

    def __enter__(self) -> "Pair":
        return self

    def __exit__(self, *error: object) -> None:
        for client in self.clients:
            client.close()

    def headers(self, seat: int) -> dict[str, str]:
        key = self.keys[seat]
        return {} if key is None else {"x-play-key": key}

    def move(self, seat: int, move: Any) -> Any:
        return self.clients[seat].post(f"{API}/plays/{self.id}/moves", json={"move": move}, headers=self.headers(seat))

    @property
    def state(self) -> Any:
        return self.clients[0].get(f"{API}/plays/{self.id}").json()["position"]["state"]


def _questions(pair: Pair, finished: str) -> dict[str, tuple[str, str, Any]]:
    """Every way to the engine, by its form in the matrix."""
    game = ludodrome.make("dots", **DOTS)
    line = game.format_state(pair.state)
    asked = {"game": "dots", "options": DOTS, "state": pair.state, "seconds": 0.1}
    child = game.apply(pair.state, game.legal_moves(pair.state)[0])
    bots: dict[str, Any] = {"game": "dots", "options": DOTS, "seats": ["person", "level:3"]}
    return {
        "the hint and the bar": ("POST", f"{API}/analysis", asked),
        "the position on one line": ("POST", f"{API}/analysis", {**asked, "state": line}),
        "the position after a move": ("POST", f"{API}/analysis", {**asked, "state": child}),
        "the exact value": ("POST", f"{API}/values", asked),
        "the grades of a record": ("GET", f"{API}/replays/{finished}/grading", None),
        "a bot from the position": ("POST", f"{API}/plays", {**bots, "position": pair.state}),
        "a bot from the moves": ("POST", f"{API}/plays", {**bots, "opening": [EDGE]}),
    }


def _ask(client: Client, question: tuple[str, str, Any], headers: dict[str, str]) -> Any:
    method, path, body = question
    return client.request(method, path, json=body, headers=headers)


def _finished(client: Client) -> str:
    """A game of dots that is over, with one move."""
    begun = client.post(f"{API}/plays", json={"game": "dots", "options": DOTS, "seats": ["person", "person"]}).json()
    key = {"x-play-key": begun["key"]} if "key" in begun else {}
    assert client.post(f"{API}/plays/{begun['id']}/moves", json={"move": EDGE}, headers=key).status_code == 200
    assert client.post(f"{API}/plays/{begun['id']}/resign", json={}, headers=key).status_code == 200
    return str(begun["id"])


def test_no_route_lets_a_player_ask_the_engine(fair: Hosted) -> None:
    with fair.client("Carl") as other, Pair(fair) as pair:
        finished = _finished(other)
        for seat, client in enumerate(pair.clients):
            for headers in (pair.headers(seat), {}):
                for name, question in _questions(pair, finished).items():
                    answer = _ask(client, question, headers)
                    assert answer.status_code == 403, (name, seat, answer.text)
                    assert f"/dots/plays/{pair.id}" in answer.json()["error"], name
        for name, question in _questions(pair, finished).items():  # who does not play may ask
            assert _ask(other, question, {}).status_code in (200, 201), name
        first = ludodrome.make("skysummit").initial_state()
        elsewhere = pair.clients[0].post(f"{API}/analysis", json={"game": "skysummit", "state": first, "seconds": 0.1})
        assert elsewhere.status_code == 200, elsewhere.text
        resigned = pair.clients[1].post(f"{API}/plays/{pair.id}/resign", json={}, headers=pair.headers(1))
        assert resigned.status_code == 200
        for seat, client in enumerate(pair.clients):
            for name, question in _questions(pair, finished).items():
                assert _ask(client, question, pair.headers(seat)).status_code in (200, 201), name


def test_guests_are_known_by_key_and_by_address(fair: Hosted) -> None:
    with fair.client("Carl") as other, fair.client() as anybody, Pair(fair, (None, None)) as pair:
        finished = _finished(other)
        for name, question in _questions(pair, finished).items():
            for headers in (pair.headers(0), pair.headers(1), {}):
                answer = _ask(anybody, question, headers)
                assert answer.status_code == 403, (name, answer.text)
        hint = _questions(pair, finished)["the hint and the bar"]
        assert pair.id not in _ask(anybody, hint, {}).text
        assert _ask(other, hint, {}).status_code == 200
        assert _ask(other, hint, pair.headers(0)).status_code == 403


def test_a_bot_does_not_play_the_same_game_for_somebody(fair: Hosted) -> None:
    with Pair(fair) as pair:
        ada, ben = pair.clients
        wish = {"game": "dots", "options": DOTS, "seats": ["person", "level:3"]}
        begun = ben.post(f"{API}/plays", json=wish).json()
        path = f"{API}/plays/{begun['id']}/moves"
        copied = ben.post(path, json={"move": EDGE})
        assert copied.status_code == 403, copied.text
        assert ben.post(path, json={"move": OTHER}).status_code == 200
        assert pair.move(1, OTHER).status_code == 200
        assert ada.post(f"{API}/plays", json={**wish, "seats": ["level:3", "person"]}).status_code == 201


def test_two_people_at_one_screen_get_no_engine_in_their_position(fair: Hosted) -> None:
    with fair.client("Ada") as ada:
        wish = {"game": "dots", "options": DOTS, "seats": ["person", "person"]}
        play = ada.post(f"{API}/plays", json=wish).json()
        asked = {"game": "dots", "options": DOTS, "seconds": 0.1}
        first = play["position"]["state"]
        assert ada.post(f"{API}/analysis", json={**asked, "state": first}).status_code == 200
        moved = ada.post(f"{API}/plays/{play['id']}/moves", json={"move": EDGE}).json()
        now = moved["position"]["state"]
        for route in ("analysis", "values"):
            assert ada.post(f"{API}/{route}", json={**asked, "state": now}).status_code == 403
        assert ada.post(f"{API}/plays/{play['id']}/resign", json={}).status_code == 200
        assert ada.post(f"{API}/analysis", json={**asked, "state": now}).status_code == 200


def test_it_holds_after_a_restart(fair: Hosted) -> None:
    with Pair(fair) as pair, serving(create_app(fair.engine, mode="hosted")) as address:
        asked = {"game": "dots", "options": DOTS, "state": pair.state, "seconds": 0.1}
        with Client(base_url=address, cookies=pair.clients[1].cookies, timeout=60) as again:
            assert again.post(f"{API}/analysis", json=asked).status_code == 403


def test_every_route_of_the_matrix_that_can_ask_the_engine_is_asked_here(hosted: Hosted) -> None:
    asking = {f"{method} {path}" for method, path in _engine_routes(hosted.app)}
    form = next(form for kind, form in KINDS if kind == ANALYSIS)
    named = {f"{row.method} {row.path}" for row in rows()}
    counted = {name for name in named if form.fullmatch(name)}
    asked = {
        f"POST {API}/analysis",
        f"POST {API}/values",
        f"GET {API}/replays/none/grading",
        f"POST {API}/plays",
        f"POST {API}/plays/{{play}}/moves",
    }
    upload = f"POST {API}/replays"  # it checks a record by the rules alone
    assert asked <= named
    assert {name for name in counted - {upload} if not PUZZLES.fullmatch(name)} <= asked
    patterns = [re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(name))) for name in asking]
    found = {name for name in named if any(one.fullmatch(name) for one in patterns)}
    assert {name for name in found if not PUZZLES.fullmatch(name)} == asked


def _engine_routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """The routes whose functions ask the engine or a bot."""
    for route in app.routes:
        inner = getattr(route, "original_router", None)
        for one in [] if inner is None else inner.routes:
            if ENGINE_CALLS.search(inspect.getsource(one.endpoint)):
                prefix = getattr(route, "include_context").prefix  # noqa: B009 (FastAPI keeps it to itself)
                for method in getattr(one, "methods", None) or ():
                    yield method, prefix + one.path


# What people offer each other


def _offer(pair: Pair, seat: int, offer: str | None) -> Any:
    path = f"{API}/plays/{pair.id}/offers"
    return pair.clients[seat].post(path, json={"offer": offer}, headers=pair.headers(seat))


def _proposals(answer: Any) -> list[str | None]:
    assert answer.status_code == 200, answer.text
    return [seat["proposes"] for seat in answer.json()["seats"]]


def test_a_draw_is_offered_declined_and_agreed_to(fair: Hosted) -> None:
    with Pair(fair) as pair:
        assert _offer(pair, 0, None).json()["error"] == "nothing is offered"
        assert _proposals(_offer(pair, 0, "draw")) == ["draw", None]
        assert _offer(pair, 0, "draw").json()["error"] == "you have offered a draw already"
        assert _proposals(_offer(pair, 1, None)) == [None, None]
        assert _proposals(_offer(pair, 1, "draw")) == [None, "draw"]
        moved = pair.move(1, OTHER)
        assert _proposals(moved) == [None, "draw"]  # offered with a move: it stays open for the other side
        assert _proposals(pair.move(0, {"orient": "H", "r": 1, "c": 0})) == [None, None]
        _offer(pair, 0, "draw")
        view = _offer(pair, 1, "draw").json()
        assert view["result"]["winner"] is None
        assert view["result"]["decided_by"] == "agreement"
        record = records.from_text(pair.clients[0].get(f"{API}/plays/{pair.id}/record").content)
        records.verify(record)
        with pytest.raises(records.BadRecord):
            records.verify({**record, "result": {**record["result"], "winner": 0}})
        assert _offer(pair, 0, "draw").json()["error"] == "the game is over"


def test_a_takeback_returns_to_the_decision_of_the_one_who_asks(fair: Hosted) -> None:
    with Pair(fair) as pair:
        refused = _offer(pair, 1, "takeback")
        assert (refused.status_code, refused.json()["error"]) == (409, "there is no move of yours to take back")
        pair.move(1, OTHER)
        assert _proposals(_offer(pair, 0, "takeback")) == ["takeback", None]
        view = _offer(pair, 1, "takeback").json()
        assert (view["moves"], view["to_move"]) == ([], 0)
        assert [seat["proposes"] for seat in view["seats"]] == [None, None]
        pair.move(0, EDGE)
        _offer(pair, 0, "takeback")
        assert _proposals(pair.move(1, OTHER)) == [None, None]


def test_offers_come_over_a_socket_and_outlast_a_restart(fair: Hosted) -> None:
    with Pair(fair) as pair:
        path = f"ws{fair.address[4:]}{API}/plays/{pair.id}/live?key={pair.keys[1]}"
        with connect(path) as socket:
            json.loads(socket.recv(timeout=60))
            for said in ({"offer": "peace"}, {"offer": ["draw"]}, {}):
                socket.send(json.dumps({"type": "offer", "id": 1, **said}))
                assert json.loads(socket.recv(timeout=60))["error"] == (
                    "the field offer of a message is draw, takeback or null"
                )
            socket.send(json.dumps({"type": "offer", "offer": "draw", "id": 2}))
            heard = [json.loads(socket.recv(timeout=60)) for _ in range(2)]
            assert {one["type"] for one in heard} == {"done", "play"}
        another = serving(create_app(fair.engine, mode="hosted"))
        with another as address, Client(base_url=address, cookies=pair.clients[0].cookies, timeout=60) as again:
            assert _proposals(again.get(f"{API}/plays/{pair.id}")) == [None, "draw"]
            agreed = again.post(f"{API}/plays/{pair.id}/offers", json={"offer": "draw"}).json()
            assert agreed["result"]["decided_by"] == "agreement"


def test_there_is_nothing_to_offer_to_a_bot(fair: Hosted) -> None:
    with fair.client("Ada") as ada, fair.client("Ben") as ben:
        play = ada.post(f"{API}/plays", json={"game": "dots", "seats": ["person", "random"]}).json()
        path = f"{API}/plays/{play['id']}/offers"
        assert "bots agree to nothing" in ada.post(path, json={"offer": "draw"}).json()["error"]
        assert ben.post(path, json={"offer": "draw"}).status_code == 403
        assert ada.post(path, json={"offer": "money"}).status_code == 422
