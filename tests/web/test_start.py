"""The start page: every game with a sample game, what to go on with, and a league that is alive on the first visit."""

import gzip
import json
import os
import re
import time
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from httpx import Client

import ludodrome
from ludodrome.arena.ladder.prior_ratings import crosstable, prior_ratings
from ludodrome.games import GAMES as ENTRIES
from ludodrome.games import make
from ludodrome.web.routes import games, pages
from ludodrome.web.routes.pages import puzzle_of_the_day, sample_game
from tests.web.serving import quiet_window, server
from tests.web.test_pages import SENT, _parts

WEIGHT = 150_000
"""Bytes of the start page with all it loads, unpacked."""
GAMES = ludodrome.game_ids()
PATIENCE = 600_000
"""Milliseconds: a busy machine compiles for minutes, at the lowest priority."""
AT_ONCE = 5.0
"""Seconds until something moves, on a machine that has nothing else to do."""
SIZES = [(390, 844), (768, 1024), (1440, 900), (844, 390), (720, 450)]
"""The last one is 1440 pixels at 200 %."""


@pytest.fixture(scope="module")
def fresh() -> Iterator[str]:
    """A server on a new database."""
    with server() as running:
        yield running


def test_every_game_has_a_card_that_reads_without_scripts(client: Client) -> None:
    page = client.get("/").text
    assert page.count('class="game card"') == len(GAMES)
    for game in GAMES:
        assert ENTRIES[game].game_class().feel.replace("'", "&#39;") in page
        for way in ("", "/learn", "/arena"):
            assert f'href="/{game}{way}"' in page
    assert len(re.findall(r'<a class="picture"[^>]*><svg viewBox="[^"]+"><', page)) == len(GAMES)
    assert "Puzzle of the day" in page
    assert not re.search(r"\son\w+=|\sstyle=|<script>|javascript:", page)


def test_the_start_page_is_light(client: Client) -> None:
    parts = _parts(client, "/")
    boards = ["board", *(f"boards/{game}" for game in GAMES if not ENTRIES[game].by_steps), "boards/towers"]
    heaviest = max(len(client.get(f"/static/{name}.js").content) for name in boards)
    samples = [client.get(f"/api/v1/games/{game}/sample").content for game in GAMES]
    with_live = sum(map(len, parts.values())) + heaviest + len(client.get("/static/board.js").content)
    assert with_live < WEIGHT
    sent = sum(len(gzip.compress(content)) for content in (*parts.values(), *samples))
    assert sent < SENT


@pytest.mark.parametrize("game_id", GAMES)
def test_a_sample_game_is_a_real_one(game_id: str) -> None:
    """Its moves are legal and lead to its result, and there is a drawing of every position."""
    sample = sample_game(game_id)
    assert sample is not None
    game = make(game_id, **sample["options"])
    state = game.initial_state()
    for move in sample["moves"]:
        state = game.apply(state, move)
    ending = game.outcome(state)
    assert ending is not None
    assert list(ending.returns) == sample["returns"]
    assert any(spec.startswith("expert") for spec in sample["bots"])
    assert sample["command"] == f"python -m tools.sample_games {game_id}"
    drawn = range(len(sample["elements"]))
    assert all(number in drawn for frame in sample["frames"] for number in frame)
    assert len(sample["frames"]) >= min(len(sample["moves"]), 10)
    assert 0 <= sample["still"] < len(sample["frames"])
    assert not re.search(r"<script|\son\w+=|\sstyle=|https?:", json.dumps(sample["elements"]))


def test_what_is_not_there(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/api/v1/games/chess/sample").status_code == client.get("/api/v1/games/chess").status_code
    monkeypatch.setattr(games, "sample_game", lambda game_id: None)
    assert client.get("/api/v1/games/dots/sample").status_code == 404


def test_a_game_of_another_package_has_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not say what it feels like, nor bring a sample game."""
    monkeypatch.setattr(pages, "sample_game", lambda game_id: None)
    monkeypatch.setattr(ENTRIES["dots"].game_class(), "feel", "")
    card = pages._card.__wrapped__("dots")
    assert (card.feel, card.box) == ("Draw edges, close boxes, count chains.", "")


def test_the_puzzle_of_the_day_is_the_same_for_all_and_goes_round() -> None:
    first = date(2026, 11, 18)
    week = [puzzle_of_the_day(first + timedelta(days)) for days in range(len(GAMES))]
    assert {one.game_id for one in week if one is not None} == set(GAMES)
    assert puzzle_of_the_day(first) == week[0]
    assert all(one is not None and one.grade in pages.DAILY_GRADES for one in week)


@pytest.mark.parametrize("game", GAMES)
def test_a_new_database_has_a_rated_leaderboard(fresh: str, game: str) -> None:
    with Client(base_url=fresh, timeout=120) as client:
        lines = client.get(f"/api/v1/leaderboard/{game}").json()
        page, arena = client.get(f"/{game}/leaderboard").text, client.get(f"/{game}/arena").text
    assert {line["name"] for line in lines} == set(make(game).ladder_bots)
    for line in lines:
        assert line["rating"]["low"] < line["rating"]["rating"] < line["rating"]["high"]
        assert line["measured_games"] > 0
        assert 0 <= line["measured_score"] <= 1
        assert len(line["trend"]) > 1
    assert "not rated yet" not in page
    priors = prior_ratings(game)
    assert page.count('<circle class="dot-mark"') == page.count('class="spark"') == len(lines)
    for shown in (page, arena):
        assert priors.measured in shown
        assert f"<code>{priors.command}</code>" in shown
    assert arena.count('class="cell self"') == len(lines)


@pytest.mark.parametrize("game", GAMES)
def test_the_crosstable_has_all_measured_games(game: str) -> None:
    rows, results = crosstable(game), prior_ratings(game).results
    for row in rows:
        played = sum(times for (pair, _), times in results.items() if row.spec in pair)
        assert row.rating.games == played
        assert 0 <= row.points <= played
    for at, row in enumerate(rows):
        for other, cell in enumerate(row.cells):
            back = rows[other].cells[at]
            if cell is None:
                assert back is None
            else:
                assert back is not None
                assert cell[0] + back[0] == cell[1] == back[1]


# In a browser


@pytest.fixture
def page(chromium: Any, fresh: str) -> Iterator[Any]:
    with quiet_window(chromium, fresh, viewport={"width": 1440, "height": 900}) as opened:
        yield opened


def _until(page: Any, holds: Any, seconds: float = 600.0) -> float:
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds
        page.wait_for_timeout(50)
    return time.monotonic() - began


def test_a_live_board_moves_soon_after_the_first_visit(page: Any) -> None:
    idle = os.getloadavg()[0] < (os.cpu_count() or 1) / 2
    began = time.monotonic()
    page.goto("/")
    count = page.locator("#live .count")
    count.wait_for(timeout=PATIENCE)
    before = count.inner_text()
    assert "show match" in before
    _until(page, lambda: count.inner_text() != before)
    waited = time.monotonic() - began
    assert not idle or waited < AT_ONCE + 1.5, "the process starts within 5 s, and a move takes a second or two"
    assert page.locator("#live svg").count() > 0
    assert page.locator("#live .pair b").count() == 2


def test_sample_games_move_until_they_are_paused(page: Any) -> None:
    page.goto("/")
    drawings = page.locator(".picture svg")
    before = [drawings.nth(at).inner_html() for at in range(len(GAMES))]
    _until(page, lambda: all(drawings.nth(at).inner_html() != before[at] for at in range(len(GAMES))))
    page.click("#pause")
    assert page.locator("#pause").get_attribute("aria-pressed") == "true"
    before = [drawings.nth(at).inner_html() for at in range(len(GAMES))]
    page.wait_for_timeout(2500)
    assert [drawings.nth(at).inner_html() for at in range(len(GAMES))] == before
    page.click("#pause")
    _until(page, lambda: drawings.first.inner_html() != before[0])


def test_nothing_moves_for_those_who_prefer_that(chromium: Any, fresh: str) -> None:
    context = chromium.new_context(base_url=fresh, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/")
    page.wait_for_load_state("networkidle")
    before = page.content()
    page.wait_for_timeout(2500)
    assert page.content() == before
    assert page.locator("#pause").is_hidden()
    context.close()


def test_it_reads_without_scripts(chromium: Any, fresh: str) -> None:
    context = chromium.new_context(base_url=fresh, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    assert page.locator(".picture svg").count() == len(GAMES)
    assert page.locator(".picture svg").first.bounding_box()["height"] > 100
    assert page.get_by_role("link", name=re.compile("^Play ")).count() == len(GAMES)
    assert page.locator(".now tbody tr").count() == len(GAMES)
    context.close()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_cut_off(chromium: Any, fresh: str, size: tuple[int, int]) -> None:
    context = chromium.new_context(
        base_url=fresh, viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto("/")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for link in page.locator(".ways a").all():
        box = link.bounding_box()
        assert box["height"] >= 40
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
    context.close()


def test_the_last_game_is_offered(page: Any) -> None:
    page.goto("/dots")
    page.wait_for_url("**/dots/plays/*", timeout=PATIENCE)
    play = page.url.rpartition("/")[2]
    page.goto("/")
    assert page.locator("#last a").get_attribute("href") == f"/dots/plays/{play}"
