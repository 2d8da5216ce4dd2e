"""Single positions, analysis and boards in the making, over the API."""

from typing import Any

import pytest
from httpx import Client

import ludodrome
from tests.web.walking import API


def _position(client: Client, game: str, **asked: Any) -> Any:
    answer = client.post(f"{API}/games/{game}/positions", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_the_first_position_is_the_games_own(client: Client, game: str) -> None:
    found = _position(client, game)
    assert found["state"] == ludodrome.make(game).initial_state()
    assert found["to_move"] == 0
    assert found["outcome"] is None


def test_a_move_can_be_tried_and_is_explained_if_it_cannot_be_made(client: Client) -> None:
    line = "00000/03200/00111/00000/00000 B3E5 C4D2 8"
    after = _position(client, "skysummit", state=line, move={"t": "move", "w": 0, "to": 6, "build": None})
    assert after["outcome"]["winner"] == 0
    assert after["text"] == "B3-B2"
    asked = {"state": line, "move": {"t": "move", "w": 0, "to": 9, "build": None}}
    answer = client.post(f"{API}/games/skysummit/check", json=asked).json()
    assert not answer["legal"]
    assert "not next to worker" in answer["why"]


def test_eruptions_are_shown_before_they_happen(client: Client) -> None:
    line = "0000000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"
    found = _position(client, "caldera", state=line)
    burst = next(one for one in found["marks"]["eruptions"] if one["move"]["target"] == [3, 2])
    after = _position(client, "caldera", state=line, move=burst["move"])["state"]
    assert all(after["board"][r][c] == -1 for r, c in burst["cells"])
    assert sum(height == -1 for row in after["board"] for height in row) == len(burst["cells"])


def test_chains_of_boxes_are_counted(client: Client) -> None:
    options = {"rows": 1, "cols": 4}
    found = _position(client, "dots", options=options, state="1x4 1111/1111 00000 .... 0 0")
    assert found["marks"]["chains"] == [{"boxes": [[0, 0], [0, 1], [0, 2], [0, 3]], "loop": False}]
    ring = _position(client, "dots", options={"rows": 2, "cols": 2}, state="2x2 11/00/11 101/101 ../.. 0 0")
    assert [(len(one["boxes"]), one["loop"]) for one in ring["marks"]["chains"]] == [(4, True)]


def test_a_round_has_its_steps(client: Client) -> None:
    options = {"size": 3, "rounds": 1}
    found = _position(client, "spaces", options=options, state="rounds 3 written seen 1/1 - 3:1:u6uf|3:0:5uuf")
    round_ = found["marks"]["round"]
    assert round_["points"] == [1, 0]
    assert round_["ended"] == "trap"
    assert round_["squares"] == [[[2, 1], [1, 1], [1, 1]], [[0, 2], [0, 2], [1, 2]]]
    assert round_["traps"] == [[[3, 1, 2]], [[2, 0, 2]]]
    events = [(event["step"], event["seat"], event["points"]) for event in round_["events"]]
    assert events == [(2, 0, 1), (3, 1, 1), (3, 1, -1)]


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_the_engine_names_a_legal_move(client: Client, game: str) -> None:
    made = ludodrome.make(game)
    state = made.initial_state()
    answer = client.post(f"{API}/analysis", json={"game": game, "state": state, "seconds": 0.1, "lines": 2})
    assert answer.status_code == 200
    assert made.is_legal(state, answer.json()["lines"][0]["move"])


def test_a_finished_game_is_not_analysed(client: Client) -> None:
    asked = {"game": "dots", "options": {"rows": 1, "cols": 1}, "state": "1x1 1/1 11 0 0 0"}
    assert client.post(f"{API}/analysis", json=asked).status_code == 422


def test_a_board_is_refused_with_step_and_rule(client: Client) -> None:
    step = {"position": {"row": 0, "col": 0}, "type": "piece", "order": 1}
    answer = client.post(f"{API}/spaces/boards", json={"size": 3, "sequence": [step]})
    assert answer.status_code == 422
    assert "(R3)" in answer.json()["error"]


def test_the_games_and_their_bots_are_listed(client: Client) -> None:
    listed = client.get(f"{API}/games").json()
    assert [one["id"] for one in listed] == ludodrome.game_ids()
    for one in listed:
        assert "level:8" in client.get(f"{API}/games/{one['id']}").json()["bots"]
