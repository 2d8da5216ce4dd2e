"""Whatever is sent, the answer is a sentence and never a 500."""

from typing import Any

from httpx import Client
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from tests.web.walking import API, begin

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["person", "level:3", "random", "\ud800", "\x00", "__class__", "../..", "[N1C2B2C3]", "1s"]),
)
KEYS = st.sampled_from(["t", "to", "w", "build", "move", "state", "game", "seats", "options", "action", "orient", "r"])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)
GAME = st.sampled_from([*ludodrome.game_ids(), "chess", "", "\x00"])


def _fields(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(JSON, st.fixed_dictionaries({}, optional={**fields, "extra": JSON}))


REQUESTS = st.one_of(
    st.tuples(
        st.just("/plays"),
        _fields(
            game=GAME, seats=st.lists(SCALARS, max_size=3), options=JSON, clock=SCALARS, opening=JSON, seed=SCALARS
        ),
    ),
    st.tuples(GAME.map(lambda game: f"/games/{game}/positions"), _fields(state=JSON, move=JSON, options=JSON)),
    st.tuples(GAME.map(lambda game: f"/games/{game}/check"), _fields(state=JSON, move=JSON, options=JSON)),
    st.tuples(st.just("/analysis"), _fields(game=GAME, state=JSON, options=JSON, seconds=SCALARS, lines=SCALARS)),
    st.tuples(st.just("/spaces/boards"), _fields(size=SCALARS, rules=SCALARS, sequence=JSON)),
    st.tuples(GAME.map(lambda game: f"/puzzles/{game}/0/attempts"), JSON),
)


def _check(answer: Any) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"]


def _send(client: Client, path: str, body: Any) -> Any:
    import json

    text = json.dumps(body)
    return client.post(f"{API}{path}", content=text, headers={"content-type": "application/json"})


def test_no_request_breaks_the_server(client: Client, long: bool) -> None:
    @settings(max_examples=1500 if long else 120)
    @given(REQUESTS)
    def run(request: tuple[str, Any]) -> None:
        path, body = request
        _check(_send(client, path.replace("\x00", "%00"), body))

    run()


def test_no_move_breaks_a_game(client: Client, long: bool) -> None:
    views = [begin(client, game, ["person", "person"]) for game in ludodrome.game_ids()]

    @settings(max_examples=500 if long else 40)
    @given(st.sampled_from(views), JSON, JSON)
    def run(view: Any, move: Any, version: Any) -> None:
        for body in ({"move": move}, {"move": move, "version": version}):
            _check(_send(client, f"/plays/{view['id']}/moves", body))
        _check(_send(client, f"/plays/{view['id']}/resign", {"seat": move}))
        _check(_send(client, f"/plays/{view['id']}/undo", move))

    run()


def test_what_is_no_json_is_refused(client: Client) -> None:
    for content in (b"", b"{", b"\xff\xfe", b"[" * 20_000, b"9" * 5000, b'{"move": NaN}', b'"\\ud800"'):
        answer = client.post(f"{API}/analysis", content=content, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500
        assert answer.json()["error"]


def test_odd_numbers_in_addresses_are_refused(client: Client) -> None:
    view = begin(client, "dots", ["person", "person"])
    for odd in ("-1", "9" * 30, "x", "1.5", "%00"):
        assert 400 <= client.get(f"{API}/plays/{view['id']}/positions/{odd}").status_code < 500
        assert 400 <= client.get(f"{API}/plays/{view['id']}?after={odd}").status_code < 500
        assert 400 <= client.get(f"/dots/puzzles/{odd}").status_code < 500


def test_the_description_of_the_api_names_every_route(client: Client) -> None:
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    assert f"{API}/plays/{{name}}/moves" in paths
    assert all(path.startswith(API) for path in paths)
