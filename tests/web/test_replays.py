"""Finished games: found wherever they are stored, replayed, graded in the background, scrubbed in a browser."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from httpx import Client

import ludodrome
from ludodrome.analysis.game_review import GameReview
from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.records.replay import replay_record
from ludodrome.arena.seats import ERROR, PROTOCOL, Answer, SeatFault
from ludodrome.store.database import open_database
from ludodrome.web.concurrency import LruCache
from ludodrome.web.responses import Busy
from ludodrome.web.routes import replays
from ludodrome.web.routes.replays import Review, Reviewer, add_record, find_record, replay_json
from tests.arena.playing import Scripted, play_spec
from tests.web import leagues
from tests.web.serving import quiet_window
from tests.web.walking import API, begin, play_out

SMALL: dict[str, Any] = {"rows": 2, "cols": 2}


@pytest.fixture(scope="module")
def record() -> Any:
    """A small game of dots."""
    return play(play_spec("dots", ("random", "random"), clock="nodes=100", **SMALL))


def bring(client: Client, content: Any) -> str:
    answer = client.post(f"{API}/replays", json=content)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def graded(client: Client, name: str) -> Any:
    """The whole grading, gathered piece by piece."""
    plies: list[Any] = []
    while True:
        view = client.get(f"{API}/replays/{name}/grading", params={"after": len(plies)}).json()
        plies += view["plies"]
        assert view["graded"] == len(plies)
        if view["done"]:
            return {**view, "plies": plies}
        time.sleep(0.05)


def test_a_finished_play_has_a_replay(client: Client) -> None:
    view = play_out(client, begin(client, "dots", ["person", "random"], options=SMALL))
    replay = client.get(f"{API}/replays/{view['id']}").json()
    assert [turn["text"] for turn in replay["turns"]] == [move["text"] for move in view["moves"]]
    assert len(replay["positions"]) == len(replay["turns"]) + 1
    game = ludodrome.make("dots", **SMALL)
    state = replay["positions"][0]["state"]
    for turn, position in zip(replay["turns"], replay["positions"][1:], strict=True):
        state = game.apply(state, turn["move"])
        assert position["state"] == state
        assert game.parse_state(position["line"]) == state
    assert replay["result"]["winner"] == view["result"]["winner"]
    kept = client.get(f"{API}/replays/{view['id']}/record")
    assert "attachment" in kept.headers["content-disposition"]
    records.verify(records.from_text(kept.content))
    assert client.get(f"/games/{view['id']}").status_code == 200


def test_a_running_game_has_no_replay_and_its_page_is_where_it_is_played(client: Client) -> None:
    view = begin(client, "dots", ["person", "random"], options=SMALL)
    answer = client.get(f"{API}/replays/{view['id']}")
    assert answer.status_code == 404
    assert "no finished game" in answer.json()["error"]
    assert client.get(f"/games/{view['id']}").url.path == f"/dots/plays/{view['id']}"
    assert client.get("/games/nothing").status_code == 404


def test_a_record_that_is_brought_along_is_kept_under_one_name(client: Client, record: Any) -> None:
    name = bring(client, record)
    assert bring(client, record) == name
    assert client.get(f"{API}/replays/{name}").json()["match"] == record["match"]


def test_what_is_no_record_or_a_false_one_is_refused(client: Client, record: Any) -> None:
    for content, word in (
        ({}, "is not a record"),
        ({**record, "version": 7}, "version 7"),
        ({**record, "result": {**record["result"], "reason": "boredom"}}, "boredom"),
        ({**record, "game": "chess"}, "chess"),
        ({**record, "options": 3}, "match is"),
    ):
        answer = client.post(f"{API}/replays", json=content)
        assert answer.status_code == 422, content
        assert word in answer.json()["error"]
    assert client.post(f"{API}/replays", content=b"[1", headers={"content-type": "application/json"}).status_code == 422


def test_the_grading_comes_in_pieces_and_is_the_librarys(client: Client, record: Any) -> None:
    name = bring(client, record)
    view = graded(client, name)
    assert [ply["ply"] for ply in view["plies"]] == list(reversed(range(len(record["turns"]))))
    assert all(ply["exact"] for ply in view["plies"])
    replay = replay_record(record)
    own = GameReview(replay.game, replay.states, replay.moves)
    list(own.work())
    assert view["plies"] == [
        json.loads(json.dumps(replays.review_json(replay.game, replay.states[ply], own.plies[ply])))
        for ply in reversed(range(own.total))
    ]
    assert view["accuracy"] == [round(own.accuracy(seat) or 0, 1) for seat in range(2)]
    assert view["turning_points"] == own.turning_points()


def test_a_replay_has_refusals_verdicts_and_substitutes_at_their_turn(client: Client) -> None:
    seen: list[int] = []

    def clumsy(turn: Any) -> Answer:
        seen.append(turn.number)
        if len(seen) == 1:
            return Answer(0.0, {"orient": "H", "r": 9, "c": 9})
        if len(seen) == 3:
            return Answer(0.0, fault=SeatFault(ERROR, "no <b>idea</b>"))
        if len(seen) == 4:
            return Answer(0.0, fault=SeatFault(PROTOCOL, "not JSON"), sent="Hello <b>there</b>")
        return Answer(0.0, turn.message["legal_moves"][0])

    def calm(turn: Any) -> Answer:
        return Answer(0.0, turn.message["legal_moves"][-1])

    task = play_spec("dots", ("clumsy", "calm"), policy="substitute", rows=2, cols=2)
    name = bring(client, play(task, [Scripted(clumsy), Scripted(calm)]))
    replay = client.get(f"{API}/replays/{name}").json()
    first = replay["turns"][0]
    assert first["substituted"]
    assert first["verdict"]["cause"] == "illegal"
    assert [set(one) for one in first["refusals"]] == [{"why"}]
    malformed = [one for turn in replay["turns"] for one in turn.get("refusals", ()) if one.get("cut")]
    assert malformed == [{"why": "not JSON", "sent": "Hello <b>there</b>", "cut": True}]
    assert any(turn.get("verdict", {}).get("why") == "no <b>idea</b>" for turn in replay["turns"])
    assert graded(client, name)["plies"][-1]["grade"] is None


def test_hidden_boards_of_spaces_are_open_once_all_is_over(client: Client) -> None:
    name = bring(client, play(play_spec("spaces", ("random", "random"), choice="blind", rounds=1, size=2)))
    replay = client.get(f"{API}/replays/{name}").json()
    assert replay["positions"][1]["state"]["chosen"] == replay["turns"][0]["move"]
    assert replay["positions"][2]["marks"]["round"]["squares"]


# The work in the background


def test_preparing_replays_leaves_threads_for_others(
    client: Client, record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = client.post(f"{API}/replays", json=record).json()["id"]
    go_on = threading.Event()
    reported = threading.Semaphore(0)

    def slowly(*arguments: Any) -> Any:
        reported.release()
        go_on.wait(60)
        return replay_json(*arguments)

    monkeypatch.setattr(replays, "replay_json", slowly)
    with ThreadPoolExecutor(replays.MAX_REPLAYS) as crowd:
        asked = [crowd.submit(client.get, f"{API}/replays/{name}") for _ in range(replays.MAX_REPLAYS)]
        for _ in asked:
            reported.acquire(timeout=60)
        answer = client.get(f"{API}/replays/{name}")
        go_on.set()
        assert answer.status_code == 503
        assert answer.json()["error"] == "too many replays are being prepared; try again in a moment"
        assert [one.result().status_code for one in asked] == [200] * replays.MAX_REPLAYS
    assert client.get(f"{API}/replays/{name}").json()["digest"] == record["digest"]


def test_too_many_games_wait_and_forgotten_ones_are_given_up(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    replay = replay_record(record)
    monkeypatch.setattr(replays, "MAX_WAITING", 1)
    reviewer = Reviewer()
    monkeypatch.setattr(Review, "work", lambda self: None)
    monkeypatch.setattr(reviewer._executor, "submit", lambda *arguments: None)
    assert reviewer.review("a", replay) is reviewer.review("a", replay)
    with pytest.raises(Busy, match="too many games"):
        reviewer.review("b", replay)
    monkeypatch.undo()
    reviewer.close()
    review = Review(replay)
    monkeypatch.setattr(replays, "FORGOTTEN", -1.0)
    review.work()
    assert review.given_up
    assert len(review.order) == 1
    kept = Reviewer()
    kept._reviews.put("c", review)
    assert kept.known("c") is None
    kept.close()


def test_a_review_whose_engine_is_busy_or_that_breaks_is_begun_anew(
    record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy() -> Any:
        raise Busy("taken")

    review = Review(replay_record(record))
    monkeypatch.setattr(replays, "engine_slot", busy)
    review.work()
    assert review.given_up
    broken = Review(replay_record(record))
    monkeypatch.setattr(replays, "engine_slot", lambda: None)
    with pytest.raises(TypeError):
        broken.work()
    assert broken.failed


def test_a_game_of_the_league_is_found(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "league.db", create=True)
    leagues.play(engine, leagues.settle(engine), 1, ("random", "greedy"))
    first = next(leagues.play_specs(("random", "greedy"), 1))
    found = find_record(engine, LruCache[Any](1, 60), first.match)
    engine.dispose()
    assert found is not None
    assert found["match"] == first.match
    assert replay_json("x", found)["names"] == ["random", "greedy"]


def test_a_deck_is_replayed_and_graded(client: Client) -> None:
    name = bring(client, play(play_spec("spaces", ("random", "expert"), mode="deck", size=2)))
    assert len(client.get(f"{API}/replays/{name}").json()["turns"]) == 2
    assert graded(client, name)["accuracy"][1] == 100


def test_records_fall_off_the_shelf(record: Any) -> None:
    cache = LruCache[Any](1, 60)
    name = add_record(cache, record)
    add_record(cache, {**record, "notes": [["heard"], []]})
    assert cache.get(name) is None


# In the browser


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A new window that says nothing on its console and fails nowhere."""
    settings = {"reduced_motion": "reduce", "viewport": {"width": 1200, "height": 900}}
    with quiet_window(chromium, address, 60_000, **settings) as opened:
        yield opened


def test_a_replay_is_scrubbed(page: Any, client: Client, record: Any, tmp_path: Path) -> None:
    page.goto("/replay")
    file = records.write(record, tmp_path)
    page.set_input_files("#file", file)
    page.wait_for_url("**/games/*")
    total = len(record["turns"])
    page.wait_for_selector(".accuracy small:text-is('accuracy')")
    assert page.locator("#moves button").count() == total
    drawn = page.locator("#board line.edge").count
    page.click("#end")
    assert drawn() == total
    assert page.url.endswith(f"#{total}")
    page.click("#back")
    assert drawn() == total - 1
    page.keyboard.press("Home")
    assert drawn() == 0
    page.keyboard.press("ArrowRight")
    assert drawn() == 1
    page.locator("#moves button").nth(4).click()
    assert drawn() == 5
    page.locator("#range").fill("7")
    assert drawn() == 7
    box = page.locator("#graph").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + 20)
    assert drawn() == total
    page.goto(f"{page.url.partition('#')[0]}#3")
    page.reload()
    page.wait_for_selector("#moves [aria-current]")
    assert drawn() == 3
    page.wait_for_selector("#board .edge-best", state="attached")
    page.click("#on-from-here")
    page.select_option("#other-bot", "random")
    page.click("dialog button[type=submit]")
    page.wait_for_url("**/dots/plays/*")
    page.wait_for_selector("#board[data-ready]")
    assert page.locator("#board line.edge").count() >= 3
