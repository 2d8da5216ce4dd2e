"""Games on the page, over the API."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx import Client

import ludodrome
from ludodrome.arena import records
from ludodrome.web.bot_pool import BotPool
from ludodrome.web.play import WebPlay
from ludodrome.web.play_registry import make_play_spec
from ludodrome.web.play_state import Viewer
from tests.web.walking import API, begin, move, play_out, settled, some_move

SEATS = [
    ("skysummit", {}, ["person", "random"]),
    ("santorini", {"players": 3}, ["random", "person", "random"]),
    ("caldera", {"turn_limit": 30}, ["person", "random"]),
    ("dots", {"rows": 2, "cols": 2}, ["random", "person"]),
    ("spaces", {"size": 2, "rounds": 2, "choice": "blind"}, ["person", "person"]),
]


@pytest.mark.parametrize(("game", "options", "seats"), SEATS)
def test_a_game_is_played_to_its_end_and_its_record_verifies(
    client: Client, game: str, options: Any, seats: list[str]
) -> None:
    view = play_out(client, begin(client, game, seats, options=options))
    assert view["position"]["outcome"] is not None
    answer = client.get(f"{API}/plays/{view['id']}/record")
    assert "attachment" in answer.headers["content-disposition"]
    record = records.from_text(answer.content)
    records.verify(record)
    assert record["bots"] == seats
    assert len(record["turns"]) == len(view["moves"])


def test_an_illegal_move_is_refused_with_the_reason_and_costs_nothing(client: Client) -> None:
    view = begin(client, "skysummit", ["person", "random"])
    wrong = client.post(f"{API}/plays/{view['id']}/moves", json={"move": {"t": "place", "to": [3, 3]}})
    assert wrong.status_code == 422
    assert "error" in wrong.json()
    assert client.get(f"{API}/plays/{view['id']}").json()["version"] == view["version"]
    move(client, view, {"t": "place", "to": [3, 4]})


def test_a_move_for_an_older_version_is_refused(client: Client) -> None:
    view = begin(client, "dots", ["person", "person"])
    raw = view["position"]["legal"][0]
    after = move(client, view, raw)
    again = {"move": after["position"]["legal"][0], "version": view["version"]}
    assert client.post(f"{API}/plays/{view['id']}/moves", json=again).status_code == 409


def test_undo_goes_back_to_the_persons_last_decision(client: Client) -> None:
    view = begin(client, "santorini", ["person", "random"])
    assert not view["can_undo"]
    first = move(client, view, some_move(client, view))
    second = move(client, first, some_move(client, first))
    assert len(second["moves"]) == 4
    back = client.post(f"{API}/plays/{view['id']}/undo").json()
    assert back["moves"] == first["moves"]
    assert back["position"] == first["position"]
    back = client.post(f"{API}/plays/{view['id']}/undo").json()
    assert back["moves"] == []
    assert client.post(f"{API}/plays/{view['id']}/undo").status_code == 409
    records.verify(_record(client, play_out(client, back)))


def test_resigning_ends_the_game_and_can_be_taken_back(client: Client) -> None:
    view = begin(client, "caldera", ["person", "random"])
    assert client.get(f"{API}/plays/{view['id']}/record").status_code == 409
    over = client.post(f"{API}/plays/{view['id']}/resign", json={}).json()
    assert over["result"]["winner"] == 1
    assert over["result"]["decided_by"] == "resignation"
    assert over["result"]["verdicts"][0]["cause"] == "resigned"
    assert client.post(f"{API}/plays/{view['id']}/resign", json={}).status_code == 409
    records.verify(_record(client, over))
    again = client.post(f"{API}/plays/{view['id']}/undo").json()
    assert again["result"] is None
    assert again["to_move"] == 0


def test_a_clock_that_runs_out_loses(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    view = begin(client, "dots", ["person", "person"], clock="5s")
    assert [seat["left_ms"] for seat in view["seats"]] == [5000, 5000]
    now[0] += 12
    assert client.get(f"{API}/plays/{view['id']}").json()["seats"][0]["left_ms"] == 3000
    now[0] += 3.5
    over = client.get(f"{API}/plays/{view['id']}").json()
    assert over["result"]["winner"] == 1
    assert over["result"]["verdicts"][0]["cause"] == "timeout"


def test_a_spectator_hears_of_changes(client: Client) -> None:
    view = begin(client, "dots", ["random", "random"], options={"rows": 1, "cols": 2})
    began = time.monotonic()
    over = settled(client, view)
    assert over["result"] is not None
    assert len(over["moves"]) == 7
    assert time.monotonic() - began < 60


def test_a_board_that_lies_face_down_is_not_shown(client: Client) -> None:
    view = begin(client, "spaces", ["person", "person"], options={"size": 2, "rounds": 1, "choice": "blind"})
    raw = some_move(client, view)
    laid = move(client, view, raw)
    assert laid["position"]["state"]["chosen"] is None
    assert laid["moves"][0]["text"] == "face down"
    assert laid["moves"][0]["move"] is None
    assert client.get(f"{API}/plays/{view['id']}/positions/1").json()["state"]["chosen"] is None
    over = move(client, laid, raw)
    assert over["moves"][0]["text"] != "face down"


def test_positions_of_the_past_are_there(client: Client) -> None:
    game = ludodrome.make("skysummit")
    opening = [{"t": "place", "to": [6, 12]}, {"t": "place", "to": [8, 16]}]
    view = begin(client, "skysummit", ["person", "random"], opening=opening)
    assert [one["text"] for one in view["moves"]] == ["place B2 C3", "place B4 D2"]
    assert not view["can_undo"]
    first = client.get(f"{API}/plays/{view['id']}/positions/0").json()
    assert first["state"] == game.initial_state()
    assert client.get(f"{API}/plays/{view['id']}/positions/3").status_code == 409


def test_a_game_begins_in_any_position(client: Client) -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    state = game.apply(game.initial_state(), {"orient": "H", "r": 0, "c": 0})
    for position in (state, game.format_state(state)):
        view = begin(client, "dots", ["random", "person"], options={"rows": 1, "cols": 2}, position=position)
        assert view["position"]["state"] == state
        assert view["moves"] == []
        assert view["to_move"] == 1
        records.verify(_record(client, play_out(client, view)))
    over = play_out(client, begin(client, "dots", ["random", "random"], options={"rows": 1, "cols": 1}))
    wish = {"game": "dots", "seats": ["person", "person"], "options": {"rows": 1, "cols": 1}}
    for wrong in (over["position"]["state"], "nonsense", {"rows": 1}):
        assert client.post(f"{API}/plays", json={**wish, "position": wrong}).status_code == 422


def test_the_description_of_a_game_has_the_options_that_people_meet_first(client: Client) -> None:
    told = client.get(f"{API}/games/spaces").json()
    assert told["people_options"] == {"rules": "live", "choice": "blind"}
    assert "straight run never loses" in told["people_options_reason"]
    assert {one["name"]: one["default"] for one in told["options"]}["choice"] == "seen"
    assert told["ladder"]["clock"] == "1s+10s"
    assert told["ladder"]["options"] == {"size": 3, "rules": "live", "mode": "rounds", "rounds": 5, "choice": "blind"}
    assert client.get(f"{API}/games/dots").json()["people_options"] == {}


def test_a_deck_is_laid_and_both_are_seen_at_the_end(client: Client) -> None:
    view = begin(client, "spaces", ["person", "level:2"], options={"mode": "deck"})
    lots = {"size": 3, "count": 10, "seed": 4}
    boards = client.post(f"{API}/spaces/samples", json=lots).json()["boards"]
    assert boards == client.post(f"{API}/spaces/samples", json=lots).json()["boards"]
    over = move(client, view, {"deck": boards})
    assert over["result"]["decided_by"] == "play"
    history = over["position"]["state"]["history"]
    assert len(history) == 100
    asked = {"size": 3, "boards": history[37]["boards"]}
    assert client.post(f"{API}/spaces/rounds", json=asked).json()["points"] == history[37]["points"]
    start = {"boardSize": 3, "sequence": boards[0]["sequence"][:1]}
    column = start["sequence"][0]["position"]["col"]
    shown = client.post(f"{API}/spaces/rounds", json={"size": 3, "boards": [start, start]}).json()
    assert (shown["points"], shown["ended"], shown["squares"]) == (
        [0, 0],
        "complete",
        [[[2, column]], [[0, 2 - column]]],
    )
    finish_alone = {"boardSize": 3, "sequence": [{**boards[0]["sequence"][-1], "order": 1}]}
    refused = client.post(f"{API}/spaces/rounds", json={"size": 3, "boards": [start, finish_alone]})
    assert refused.status_code == 422
    assert "board 2" in refused.json()["error"]
    large = client.post(f"{API}/spaces/samples", json={"size": 9, "count": 3}).json()["boards"]
    assert len(large) == 3
    assert client.post(f"{API}/spaces/samples", json={"size": 3, "rules": "none"}).status_code == 422
    records.verify(_record(client, over))


def test_a_rematch_changes_the_seats(client: Client) -> None:
    view = begin(client, "dots", ["person", "random"], options={"rows": 1, "cols": 1}, clock="5m++3s")
    assert client.post(f"{API}/plays/{view['id']}/rematch").status_code == 409
    play_out(client, view)
    other = client.post(f"{API}/plays/{view['id']}/rematch").json()["next"]
    again = client.get(f"{API}/plays/{other}").json()
    assert [seat["spec"] for seat in again["seats"]] == ["random", "person"]
    assert again["clock"] == view["clock"]
    assert client.post(f"{API}/plays/{view['id']}/rematch").json()["next"] == other


def test_ones_own_games_are_listed(client: Client) -> None:
    names = [begin(client, "dots", ["person", "person"])["id"] for _ in range(3)]
    listed = client.get(f"{API}/plays", params={"most": 2}).json()
    assert [line["id"] for line in listed] == names[:0:-1]
    assert listed[0]["finished"] is None
    client.post(f"{API}/plays/{names[2]}/resign", json={})
    assert client.get(f"{API}/plays").json()[0]["result"]["winner"] == 1
    earlier = client.get(f"{API}/plays", params={"before": listed[1]["begun"]}).json()
    assert names[1] not in [line["id"] for line in earlier]


def test_only_some_bots_are_kept_between_their_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludodrome.web.bot_pool.MAX_BOTS", 2)
    game = ludodrome.make("dots", rows=1, cols=2)
    with ThreadPoolExecutor(1) as executor:
        bot_pool = BotPool(executor)
        plays = [
            WebPlay(str(n), game, make_play_spec(game, ["random", "greedy"], None, n, []), bot_pool) for n in range(4)
        ]
        for play in plays:
            play.start_bots()
        while any(play.view(Viewer())["result"] is None for play in plays):
            time.sleep(0.01)
    assert len(bot_pool.bots) == 2


@pytest.mark.parametrize(
    "wish",
    [
        {"game": "chess", "seats": ["person", "person"]},
        {"game": "dots", "seats": ["person"]},
        {"game": "dots", "seats": ["person", "py:bot.py:Bot"]},
        {"game": "dots", "seats": ["person", "cmd:no-such-program"]},
        {"game": "dots", "seats": ["person", "uploaded:none"]},
        {"game": "dots", "seats": ["person", "person"], "options": {"rows": 99}},
        {"game": "dots", "seats": ["person", "person"], "clock": "soon"},
        {"game": "dots", "seats": ["person", "person"], "clock": "nodes=10"},
        {"game": "dots", "seats": ["person", "person"], "opening": [{"orient": "X"}]},
        {"game": "spaces", "seats": ["person", "person"], "options": {"mode": "deck", "rounds": 3}},
        {"game": "spaces", "seats": ["person", "person"], "options": {"rounds": 26}},
        {"game": "spaces", "seats": ["person", "person"], "options": {"size": 101}},
        {"game": "spaces", "seats": ["person", "person"], "options": {"size": 11, "rounds": 11}},
        {"game": "dots", "seats": ["person", "person"], "surprise": 1},
    ],
)
def test_a_game_that_cannot_be_is_refused_with_a_sentence(client: Client, wish: Any) -> None:
    answer = client.post(f"{API}/plays", json=wish)
    assert answer.status_code == 422
    assert answer.json()["error"]


def _record(client: Client, view: Any) -> Any:
    return records.from_text(client.get(f"{API}/plays/{view['id']}/record").content)
