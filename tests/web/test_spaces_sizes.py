"""Every size of spaces over HTTP: answers that stay small, large boards as codes, unfinished boards."""

import json
from typing import Any

import pytest
from httpx import Client

import ludodrome
from ludodrome.arena.game_loop import play
from ludodrome.games import spaces
from tests.arena.playing import play_spec
from tests.web.test_replays import bring
from tests.web.walking import API, begin, move, settled

KILO = 1024


def _steps(client: Client, **asked: Any) -> Any:
    return client.post(f"{API}/spaces/boards", json=asked)


def _winding(size: int, rules: str) -> str:
    """A legal board that visits every row from side to side."""
    turns = ["r" * (size - 1) if row % 2 == 0 else "l" * (size - 1) for row in range(size - 1)]
    return f"{size}:0:{'u'.join(turns)}uf"


@pytest.mark.parametrize("rules", ["written", "live"])
@pytest.mark.parametrize("size", [2, 11, 100])
def test_a_board_is_laid_at_every_size(client: Client, size: int, rules: str) -> None:
    asked = {"size": size, "rules": rules}
    starts = _steps(client, **asked).json()
    assert len(starts["next"]) == size
    assert starts["runs"] == {}
    begun = _steps(client, **asked, code=f"{size}:0:").json()
    assert begun["runs"] == {"up": size - 1, "left": 0, "right": size - 1}
    assert begun["finish"] == f"{size}:0:{'u' * (size - 1)}f"
    whole = _steps(client, **asked, code=begun["finish"]).json()
    assert whole["finished"]
    assert whole["next"] == []
    assert spaces.check(spaces.parse_board(whole["code"]), size, rules) == []


def test_a_step_is_refused_with_its_rule(client: Client) -> None:
    asked = {"size": 40, "rules": "live", "code": "40:3:u"}
    step = {"position": {"row": 39, "col": 3}, "type": "piece"}
    assert "(R9)" in _steps(client, **asked, step=step).json()["error"]
    assert _steps(client, **asked, step={**step, "position": {"row": 37, "col": 3}}).status_code == 200
    for wrong in ({"code": "39:3:u"}, {"sequence": [step]}, {"step": 7}):
        answer = _steps(client, **{**asked, **wrong})
        assert answer.status_code == 422, wrong
        assert answer.json()["error"]


def test_runs_end_where_the_rules_end_them(client: Client) -> None:
    runs = _steps(client, size=5, rules="live", code="5:2:6r").status_code
    assert runs == 422, "own traps are closed"
    found = _steps(client, size=5, rules="live", code="5:1:r4r").json()["runs"]
    assert found == {"up": 4, "left": 0, "right": 1}
    found = _steps(client, size=5, rules="live", code="5:1:8r").json()["runs"]
    assert found == {"up": 4, "left": 0, "right": 2}
    assert _steps(client, size=5, rules="live", code="5:2:u5").json()["finish"] == "5:2:u5uuuf"
    assert _steps(client, size=5, rules="live", code="5:2:u8").json()["finish"] == "5:2:u8luuuf"


def test_the_longest_boards_run_in_a_bounded_answer(client: Client) -> None:
    winding = _winding(100, "live")
    answer = client.post(f"{API}/spaces/rounds", json={"size": 100, "rules": "live", "boards": [winding, winding]})
    assert answer.status_code == 200
    assert len(answer.content) < 400 * KILO
    found = answer.json()
    assert found["ended"] in ("collision", "goal")
    partial = _steps(client, size=100, rules="live", code=winding[:-1])
    assert len(partial.content) < 32 * KILO


def test_views_of_large_plays_stay_small(client: Client) -> None:
    options = {"size": 100, "rules": "live", "rounds": 5, "choice": "seen"}
    view = begin(client, "spaces", ["person", "random"], options=options)
    for _ in range(5):
        view = move(client, view, spaces.encode_board(spaces.quick(100, "live", 7)))
    assert view["result"]["decided_by"] == "play"
    state = view["position"]["state"]
    assert len(json.dumps(view)) < 64 * KILO
    assert [set(entry) for entry in state["history"][:-1]] == [{"points", "ended"}] * 4
    last = view["position"]["marks"]["round"]
    assert last["points"] == state["history"][-1]["points"]
    again = client.post(
        f"{API}/spaces/rounds", json={"size": 100, "rules": "live", "boards": state["history"][-1]["boards"]}
    ).json()
    assert again == last
    early = client.get(f"{API}/plays/{view['id']}/positions/1")
    assert len(early.content) < 8 * KILO
    assert early.json()["state"]["chosen"] == view["moves"][0]["text"] == view["moves"][0]["move"]
    replay = client.get(f"{API}/replays/{view['id']}")
    assert len(replay.content) < 400 * KILO
    shown = replay.json()
    opening = [turn["move"] for turn in shown["turns"][:3]]
    going_on = begin(client, "spaces", ["person", "person"], options=options, opening=opening)
    assert going_on["moves"][2]["text"] == shown["turns"][2]["text"]


def test_decks_of_large_boards_are_sent_once(client: Client) -> None:
    view = begin(client, "spaces", ["person", "random"], options={"size": 40, "rules": "live", "mode": "deck"})
    boards = client.post(f"{API}/spaces/samples", json={"size": 40, "rules": "live", "count": 10}).json()["boards"]
    over = settled(client, move(client, view, ",".join(spaces.encode_board(board) for board in boards)))
    state = over["position"]["state"]
    assert state["decks"][0] == [spaces.encode_board(board) for board in boards]
    assert len(state["history"]) == 100
    asked = {"size": 40, "rules": "live", "boards": [state["decks"][0][3], state["decks"][1][7]]}
    assert client.post(f"{API}/spaces/rounds", json=asked).json()["points"] == state["history"][37]["points"]


def test_small_plays_are_sent_as_they_are(client: Client) -> None:
    view = begin(client, "spaces", ["person", "person"], options={"size": 3, "rounds": 1})
    laid = move(client, view, "3:1:u6uf")
    assert laid["position"]["state"]["chosen"] == spaces.parse_board("3:1:u6uf") == laid["moves"][0]["move"]


def test_a_large_record_is_brought_and_analysed(client: Client) -> None:
    name = bring(client, play(play_spec("spaces", ("random", "random"), rounds=2, size=30, rules="live")))
    shown = client.get(f"{API}/replays/{name}").json()
    line = shown["positions"][1]["line"]
    board = client.post(f"{API}/boards/spaces", json={"state": line}).json()
    assert board["positions"][0]["state"]["chosen"] == shown["turns"][0]["move"]
    answer = client.post(
        f"{API}/analysis", json={"game": "spaces", "options": board["options"], "state": line, "seconds": 0.2}
    )
    game = ludodrome.make("spaces", **board["options"])
    assert game.is_legal(game.parse_state(line), answer.json()["lines"][0]["move"])


@pytest.mark.parametrize("choice", ["blind", "fog"])
def test_large_boards_stay_hidden(client: Client, choice: str) -> None:
    options = {"size": 12, "rules": "live", "rounds": 2, "choice": choice}
    view = begin(client, "spaces", ["person", "random"], options=options)
    view = move(client, view, f"12:3:{'u' * 11}f")
    state = view["position"]["state"]
    own, other = state["history"][0]["boards"]
    assert own == f"12:3:{'u' * 11}f"
    assert state["chosen"] is None
    assert view["moves"][2]["text"] == "face down"
    assert view["moves"][2]["move"] is None
    if choice == "fog":
        assert set(other) == {"boardSize", "visited", "traps"}
        assert view["moves"][1]["move"] is None
        assert view["position"]["marks"]["round"]["fog"] == [False, True]
    else:
        assert other == view["moves"][1]["text"]
    over = move(client, view, f"12:3:{'u' * 11}f")
    first = client.get(f"{API}/plays/{view['id']}/positions/2").json()
    assert first["state"]["history"][0]["boards"][1] == over["moves"][1]["text"]
    assert "fog" not in first["marks"]["round"]
