"""A browser in the league: a bot is written, entered and rated; a match is watched; a bot connects from elsewhere."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect
from sqlalchemy import Engine

from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.rating_updates import count_game
from ludodrome.arena.ladder.runner import Supervisor
from ludodrome.arena.ladder.scheduler import ON
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.games import make
from ludodrome.store import league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import CHALLENGE
from ludodrome.store.league_ratings import finish
from ludodrome.web.app import create_app
from tests.web import leagues
from tests.web.serving import quiet_window, serving

PATIENCE, MOMENT = 600.0, 120.0
"""Seconds to wait at most: for games, and for what a page shows by itself."""


class Home(NamedTuple):
    """A served league."""

    engine: Engine
    address: str
    bots: dict[str, Any]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    engine = open_database(tmp_path_factory.mktemp("league") / "league.db", create=True)
    bots = leagues.settle(engine)
    app = create_app(engine)
    app.state.spectators.shows.close()  # what is watched here is what the tests play
    with serving(app) as address:
        yield Home(engine, address, bots)
    playing._database(str(engine.url)).dispose()
    playing._database.cache_clear()
    engine.dispose()


@pytest.fixture
def page(chromium: Any, home: Home) -> Iterator[Any]:
    """A new window that says nothing on its console and fails nowhere."""
    with quiet_window(chromium, home.address, MOMENT * 1000, reduced_motion="reduce") as opened:
        yield opened


def _until(page: Any, holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)


def test_a_match_is_requested_in_the_arena(page: Any, home: Home) -> None:
    """The dialog did not open: its script called a method that lists do not have."""
    page.goto("/dots/arena")
    page.click("#new-match")
    chosen = [page.locator(f"dialog #bot-{seat}").input_value() for seat in range(2)]
    assert len(set(chosen)) == 2
    page.click("dialog button[type=submit]")
    page.wait_for_url("**/dots/tournaments/*")
    found = league_matches.find_event(home.engine, page.url.rpartition("/")[2])
    assert found is not None
    assert sorted(found.bots.values()) == sorted(chosen)
    league_matches.close_event(home.engine, found.id, "it was only asked for")


def test_a_match_is_watched_as_it_is_played(page: Any, home: Home) -> None:
    game = make("dots", rows=3, cols=3)
    names = ("random", "greedy")
    play_spec = PlaySpec("dots", game.options, names, names, conditions(game), 5)
    ids = [home.bots[name].id for name in names]
    league_matches.queue(home.engine, CHALLENGE, [(play_spec.match, play_spec.to_json(), ids, 0)], None)
    go = threading.Event()

    def work() -> None:
        assert league_matches.claim(home.engine, "r") is not None
        watched = playing.LeagueJob(play_spec, {}, str(home.engine.url), "off", 0.3)
        record = playing.play(watched)
        go.wait(PATIENCE)
        finish(home.engine, play_spec.match, game_result(record).to_json(), record, count_game)

    worker = threading.Thread(target=work, daemon=True)
    page.goto("/dots/arena")
    assert page.locator("#quiet").is_visible()
    worker.start()
    page.locator(".live.card svg .edge").first.wait_for(state="attached", timeout=PATIENCE * 1000)
    assert page.locator(".live .pair b").all_text_contents() == list(names)
    page.locator(".live.card").click()
    page.locator("#moves li").first.wait_for()
    before = page.locator("#moves li").count()
    _until(page, lambda: page.locator("#moves li").count() > before)
    assert page.locator("#board svg .edge").count() >= before
    go.set()
    page.locator("#word .result").wait_for()
    assert "won" in page.locator("#word .result").inner_text()
    worker.join(PATIENCE)
    assert not worker.is_alive()
    assert page.locator("#replay").get_attribute("href") == f"/games/{play_spec.match}"
    page.goto("/dots/arena")
    assert page.locator("#results li").count() == 1


def test_the_editor_indents_and_lets_one_go(page: Any, home: Home) -> None:
    page.goto("/dots/bots/new")
    area = page.locator("#source")
    area.fill("def f():")
    area.press("End")
    area.press("Enter")
    area.press_sequentially("pass")
    assert area.input_value() == "def f():\n    pass"
    area.press("Shift+Tab")
    assert area.input_value() == "def f():\npass"
    area.press("Home")
    area.press("Tab")
    assert area.input_value() == "def f():\n    pass"
    numbers = page.locator("#editor .gutter span")  # without a mark, as soon as the server has read it
    expect(numbers).to_have_text(["1", "2"], timeout=MOMENT * 1000)
    kept = area.input_value()
    area.press("Escape")
    area.press("Tab")
    assert area.input_value() == kept
    assert page.evaluate("document.activeElement.id") != "source"
    page.reload()
    assert page.locator("#source").input_value() == kept


def test_the_leaderboard_is_sorted_and_filtered(page: Any, home: Home) -> None:
    page.goto("/dots/leaderboard")
    rows = page.locator("#board tbody tr")
    everybody = rows.count()
    page.get_by_role("button", name="Uploaded").click()
    assert page.locator("#board tbody tr:visible").count() == len(leagues.STAND_INS)
    page.get_by_role("button", name="All").click()
    page.select_option("#owner", "me")
    assert page.locator("#board tbody tr:visible").count() == len(leagues.STAND_INS) + 1 < everybody
    page.select_option("#owner", "")
    page.get_by_role("button", name="Bot", exact=True).click()
    names = page.locator("#board .who a").all_text_contents()
    assert names == sorted(names, key=str.casefold) or names[0].casefold() <= names[1].casefold()
    page.select_option("#owner", "me")
    page.select_option("#least", "50")
    assert page.locator("#nobody").is_visible()


def test_a_bot_is_entered_and_rated_and_another_dials_in(page: Any, home: Home, long: bool) -> None:
    if not long:
        pytest.skip("some minutes of games: only with --long")
    runner = Supervisor(home.engine, ON, workers=1)
    runner.start()
    try:
        page.goto("/dots/bots/new")
        page.click("#check")
        page.locator("#findings .held").first.wait_for(timeout=PATIENCE * 1000)
        _until(page, lambda: "You can enter it" in page.locator("#word").inner_text())
        page.fill("#name", "From the editor")
        page.click("#enter")
        page.wait_for_url(re.compile("/dots/bots/(?!new)"), timeout=PATIENCE * 1000)
        _until(page, lambda: page.reload() and page.locator("#plot").count())
        assert page.locator(".facts dd").first.inner_text().split()[0].isdigit()
        assert page.locator("#results .score").count() > 0
        page.goto("/dots/bots/new")
        page.click("#to-remote")
        page.fill("#remote-name", "From afar")
        page.click("#remote-form button")
        page.locator("#lines").wait_for()
        program = page.locator("#lines").inner_text()
        child = subprocess.Popen([sys.executable, "-c", program])
        try:
            page.locator("#presence.here").wait_for(timeout=PATIENCE * 1000)
            page.locator("#remote-word a").click()
            _until(page, lambda: page.reload() and page.locator("#plot").count())
        finally:
            child.kill()
            child.wait()
    finally:
        runner.stop()
