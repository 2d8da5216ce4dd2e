"""The workbench of a bot's author in a browser: editor, files, causes of failures, telemetry, versions, playing."""

import base64
import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect
from sqlalchemy import Engine

from ludodrome.arena.api import play_tournament
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.rating_updates import count_game
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import to_text
from ludodrome.arena.seats import CRASH, Answer, SeatFault
from ludodrome.arena.tournaments.publishing import publish_tournament
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from ludodrome.arena.transports import make_seat
from ludodrome.bots.starters import one_file
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import CHALLENGE
from ludodrome.store.league_ratings import finish
from ludodrome.store.models import LOCAL
from ludodrome.web.app import create_app
from tests.arena import quick
from tests.arena.playing import Scripted, play_spec
from tests.web import leagues
from tests.web.remote_bot import RemoteBot
from tests.web.serving import serving
from tests.web.telling import SPITE, told_record

PATIENCE = 300.0
STARTER = one_file("dots")
TELLING = STARTER.replace(
    "            move = choose(message, dice)\n",
    "            move = choose(message, dice)\n"
    '            print(json.dumps({"type": "info", "score": 42, "depth": 1, "pv": [move], "text": "I trust it"}))\n',
)
"""The starter, and it says what it thinks."""


class Home(NamedTuple):
    """A served league."""

    engine: Engine
    address: str


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A league without a sandbox: the tests' bots are our own."""
    engine = open_database(tmp_path_factory.mktemp("workbench") / "league.db", create=True)
    leagues.settle(engine)
    with serving(create_app(engine, sandbox="off")) as address:
        yield Home(engine, address)
    playing._database(str(engine.url)).dispose()
    playing._database.cache_clear()
    engine.dispose()


@pytest.fixture
def page(chromium: Any, home: Home) -> Iterator[Any]:
    """A new window in which nothing fails; refused requests may be reported."""
    context = chromium.new_context(base_url=home.address, reduced_motion="reduce")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE * 1000)
    expect.set_options(timeout=PATIENCE * 1000)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda said: faults.append(said.text) if said.type == "error" and "422" not in said.text else None,
    )
    yield opened
    context.close()
    assert not faults


def _read(page: Any) -> None:
    """Wait until the server has read what is in the editor now."""
    expect(page.locator("#editor")).to_have_attribute("data-read", re.compile(r"\d"))


# The editor


def test_a_syntax_error_is_marked_in_its_line_and_goes(page: Any) -> None:
    page.goto("/dots/bots/new")
    area, gutter = page.locator("#source"), page.locator("#editor .gutter")
    _read(page)
    assert page.locator(".paint .k").first.inner_text() in ("import", "def", "if", "for")
    wrong = STARTER.replace("def main():", "def main()")
    line = wrong[: wrong.index("def main()")].count("\n") + 1
    area.fill(wrong)
    expect(page.locator("#problem")).to_contain_text(f"Line {line}, column")
    expect(page.locator("#problem")).to_contain_text("Expected ':'.")
    expect(area).to_have_attribute("aria-invalid", "true")
    page.locator("#problem button").click()
    expect(gutter.locator(".error")).to_have_text(f"✗ {line}")
    expect(page.locator(".paint .error em")).to_have_text("Expected ':'.")
    at = area.evaluate("area => area.selectionStart")
    assert at == wrong.index("def main()") + len("def main()")
    page.keyboard.type(":")
    expect(page.locator("#problem")).to_be_empty()
    expect(gutter.locator(".error")).to_have_count(0)
    assert area.input_value() == STARTER


def test_the_protocol_is_completed_in_quotes(page: Any) -> None:
    page.goto("/dots/bots/new")
    area, menu = page.locator("#source"), page.locator("#completions")
    area.fill("")
    area.press_sequentially('x = turn["le')
    expect(menu).to_be_visible()
    assert menu.locator("li b").all_text_contents() == ["legal_moves"]
    area.press("Tab")
    assert area.input_value() == 'x = turn["legal_moves'
    expect(menu).to_be_hidden()
    area.press_sequentially('"]\nif message["type"] == "o')
    assert menu.locator("li b").all_text_contents() == ["observe", "over"]
    area.press("ArrowDown")
    expect(menu.locator('[aria-selected="true"]')).to_contain_text("over")
    assert area.get_attribute("aria-activedescendant") == menu.locator('[aria-selected="true"]').get_attribute("id")
    area.press("Enter")
    assert area.input_value().endswith('== "over')
    area.press_sequentially('"\nstate["own')
    assert menu.locator("li b").all_text_contents() == ["owner"], "a field of this game's positions"
    area.press("Escape")
    expect(menu).to_be_hidden()
    area.press_sequentially('"]\nword')
    expect(menu).to_be_hidden()
    area.press("Escape")
    area.press("Tab")
    assert page.evaluate("document.activeElement.id") != "source"


def test_a_long_source_paints_only_what_is_seen(page: Any) -> None:
    page.goto("/dots/bots/new")
    page.locator("#source").evaluate(
        "area => { area.value = 'x = 1\\n'.repeat(9000); area.dispatchEvent(new Event('input')) }"
    )
    expect(page.locator("#size")).to_contain_text("9001 lines")
    assert page.locator(".paint pre div").count() < 200
    page.locator("#source").evaluate("area => { area.scrollTop = 100000 }")
    expect(page.locator("#editor .gutter")).to_contain_text("5000")


# Files


def test_several_files_and_a_zip_are_sent(page: Any) -> None:
    sent: list[Any] = []

    def answer(route: Any) -> None:
        sent.append(json.loads(route.request.post_data))
        route.fulfill(status=200, content_type="application/x-ndjson", body='{"over": true}\n')

    page.route("**/api/v1/checks", answer)
    page.goto("/dots/bots/new")
    page.click("#check")
    expect(page.locator("#word")).to_contain_text("All checks passed")
    assert set(sent[-1]) == {"game", "source"}
    page.click("#add")
    page.locator("#source").fill("wisdom = 42\n")
    page.click("#check")
    expect(page.locator("#check")).to_be_enabled()
    assert sent[-1]["files"] == {"main.py": STARTER, "part1.py": "wisdom = 42\n"}
    page.reload()
    assert page.locator("#tabs button").all_text_contents() == ["main.py", "part1.py"], "the browser keeps them"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr("main.py", STARTER)
    page.set_input_files("#files", {"name": "bot.zip", "mimeType": "application/zip", "buffer": buffer.getvalue()})
    expect(page.locator("#packed")).to_contain_text("bot.zip")
    expect(page.locator("#editor")).to_be_hidden()
    page.click("#check")
    expect(page.locator("#check")).to_be_enabled()
    assert base64.b64decode(sent[-1]["archive"]) == buffer.getvalue()
    page.click("#remove")
    expect(page.locator("#editor")).to_be_visible()
    page.locator("#tabs button", has_text="part1.py").click()
    page.click("#remove")
    assert page.locator("#tabs button").all_text_contents() == ["main.py"]


# Failures


def test_a_failure_begins_with_its_cause(page: Any) -> None:
    page.goto("/dots/bots/new")
    wrong = STARTER.replace('turn["legal_moves"]', 'turn["legal_move"]', 1)
    line = wrong[: wrong.index('turn["legal_move"]')].count("\n") + 1
    page.locator("#source").fill(wrong)
    page.fill("#name", "Fails")
    page.click("#enter")
    cause = page.locator("#cause")
    expect(cause.locator("h3")).to_have_text("KeyError: 'legal_move'")
    expect(cause.locator("button")).to_have_text(f"main.py, line {line}")
    expect(cause.locator("code")).to_contain_text('moves = turn["legal_move"]')
    expect(cause.locator("pre")).to_contain_text("Traceback")
    expect(page.locator("#word")).to_contain_text("was not entered")
    cause.locator("button").click()
    expect(page.locator("#editor .gutter .error")).to_have_text(f"✗ {line}")


# Telemetry


def _bring_record(page: Any, record: Any) -> None:
    page.goto("/replay")
    content = to_text(record).encode()
    page.set_input_files("#file", {"name": "a.json", "mimeType": "application/json", "buffer": content})
    page.wait_for_url("**/games/*")


def _bring(page: Any, record: Any) -> None:
    _bring_record(page, record)
    page.locator("#moves button").first.wait_for()


@pytest.mark.parametrize(
    ("game", "options", "mark"), [("dots", {"rows": 2, "cols": 2}, ".edge-line"), ("santorini", {}, ".arrow")]
)
def test_a_replay_shows_what_the_bots_thought(page: Any, game: str, options: Any, mark: str) -> None:
    record = told_record(game, **options)
    _bring(page, record)
    assert page.locator(".graph path.own.s0").count() == page.locator(".graph path.own.s1").count() == 1
    expect(page.locator("#legend")).to_contain_text("Ada's bot")
    page.goto(page.url.partition("#")[0] + "#1")
    expect(page.locator(f"#board .own-line.s1 {mark}").first).to_be_attached()
    assert page.locator("#board .own-line").count() == 2, "its move, and the one that it expects"
    expect(page.locator("#bar .word")).to_contain_text("It expects:")
    words = page.locator("#comment")
    expect(words).to_contain_text("Its own view: 0 · depth 3 · 1,234 nodes")
    expect(words).to_contain_text(SPITE)
    assert page.locator("#comment img").count() == 0
    expect(words).to_contain_text("It says: thinking aloud")
    page.click("#own")
    expect(page.locator("#board .own-line")).to_have_count(0)


def test_a_line_that_is_no_line_is_left_out(page: Any) -> None:
    record = told_record("dots", rows=2, cols=2)
    turns = [dict(turn) for turn in record["turns"]]
    turns[1] = {**turns[1], "info": [{"pv": ["nonsense", {"deep": [1]}], "score": 1}]}
    _bring(page, {**record, "turns": turns})
    page.goto(page.url.partition("#")[0] + "#1")
    expect(page.locator("#comment")).to_contain_text("Its own view")
    expect(page.locator("#board .own-line")).to_have_count(0)


def test_a_replay_shows_the_half_line_of_a_bot_that_crashed(page: Any) -> None:
    crashes = Scripted(lambda turn: Answer(0.0, fault=SeatFault(CRASH, "it exited with code 3"), sent='{"<i>type</i>'))
    record = play(play_spec("skysummit", ("mine", "random")), [crashes, make_seat("random", make("skysummit"), 1)])
    _bring_record(page, record)
    expect(page.locator("#comment")).to_contain_text('It had sent: {"<i>type</i>')


# Versions and plays


def _play(home: Home, *names: str) -> str:
    """A game of the league between two bots, played here; its id."""
    game = make("dots", rows=2, cols=2)
    bots = {one.name: one for one in league_bots.bots(home.engine, "dots")}
    specs = tuple(bots[name].spec for name in names)
    play_spec = PlaySpec("dots", game.options, specs, names, conditions(game, clock="20s"), 5)
    ids = [bots[name].id for name in names]
    league_matches.queue(home.engine, CHALLENGE, [(play_spec.match, play_spec.to_json(), ids, 0)], None)
    assert league_matches.claim(home.engine, "r") is not None
    sources = {spec: league_bots.source_of(home.engine, spec.partition(":")[2]) or "" for spec in specs}
    record = playing.play(playing.LeagueJob(play_spec, sources, str(home.engine.url), "off", 0.0))
    finish(home.engine, play_spec.match, game_result(record).to_json(), record, count_game)
    return play_spec.match


def test_one_plays_against_a_bot_of_the_league(page: Any, home: Home) -> None:
    bot_id = league_bots.enter_uploaded(home.engine, "dots", LOCAL, "Sparring", STARTER, [])
    page.goto(f"/dots/bots/{bot_id}")
    page.click("#against")
    page.wait_for_url("**/dots/plays/*")
    expect(page.locator(".player", has_text="Sparring")).to_have_count(1)
    page.locator("#board .target.live").first.click()
    expect(page.locator("#moves button")).to_have_count(2)


def test_one_waits_for_a_remote_bot_and_plays_against_it(
    page: Any, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(league_matches, "LEASE_MS", 3_600_000)
    bot = league_bots.enter_remote(home.engine, "dots", LOCAL, "Faraway", "its token")
    page.goto(f"/dots/bots/{bot}")
    assert page.locator("#against").count() == 0, "it is not connected"
    play_spec = {"game": "dots", "names": ["Faraway"], "bots": [f"remote:{bot}"]}
    league_matches.queue(home.engine, CHALLENGE, [("m-of-faraway", play_spec, [bot], 0)], None)
    with RemoteBot(home.address, bot, "its token"):
        page.wait_for_function(f"fetch('/api/v1/bots/{bot}').then((one) => one.json()).then((one) => one.here)")
        assert league_matches.claim(home.engine, "a runner") is not None
        page.reload()
        page.click("#against")
        expect(page.locator("#held-up")).to_contain_text("Faraway is in a match of the league")
        expect(page.locator("#others")).to_contain_text("in a match")
        page.get_by_role("button", name="Take another bot").click()
        expect(page.locator("#newgame option", has_text="Faraway").first).to_be_attached()
        page.get_by_role("button", name="Cancel").click()
        league_matches.release(home.engine, "a runner")
        expect(page.locator("#held-up")).to_have_count(0)
    expect(page.locator("#held-up")).to_contain_text("Faraway is not connected now")
    with RemoteBot(home.address, bot, "its token"):
        expect(page.locator("#held-up")).to_have_count(0)
        page.locator("#board .target.live").first.click()
        expect(page.locator("#moves button")).to_have_count(2)


def test_the_dialog_offers_bots_of_the_league_and_programs(page: Any, home: Home) -> None:
    page.goto("/dots")
    page.locator("#new").click()
    seat = page.locator("#seat-1")
    expect(seat.locator("optgroup[label='The league'] option", has_text="Chainsaw")).to_have_count(1)
    seat.select_option("program")
    page.fill("#program-1", "cmd:no-such-program")
    page.locator("dialog button[type=submit]").click()
    expect(page.locator("dialog .no")).to_contain_text("no-such-program")


def test_a_published_tournament_shows_the_tags_of_its_bots(page: Any, home: Home) -> None:
    bots = [{"bot": "random", "name": "one", "tags": ["new", "<i>slow</i>"]}, "greedy"]
    cup = Tournament(quick.plan(bots=bots), MemoryLedger())
    assert play_tournament(cup, workers=0).finished
    ((_, event),) = publish_tournament(home.engine, cup)
    page.goto(f"/dots/tournaments/{event}")
    row = page.locator("#table tr", has_text="one")
    expect(row.locator(".who .kind")).to_have_text(["new", "<i>slow</i>"])
    expect(page.locator("#table .who .kind")).to_have_count(2)


def test_the_journey_of_an_author(page: Any, home: Home) -> None:
    """A syntax error is marked, mended; the bot entered; its telemetry seen; two versions compared; played against."""
    page.goto("/dots/bots/new")
    page.locator("#source").fill(TELLING.replace("    for line in sys.stdin:", "    for line in sys.stdin"))
    expect(page.locator("#problem")).to_contain_text("Expected ':'.")
    page.locator("#problem button").click()
    page.keyboard.type(":")
    expect(page.locator("#problem")).to_be_empty()
    page.fill("#name", "Traveller")
    page.click("#enter")
    page.wait_for_url(re.compile("/dots/bots/(?!new)"))
    own = page.url

    match = _play(home, "Traveller", "random")
    page.reload()
    page.locator(f'#results a[href="/games/{match}"]').click()
    expect(page.locator(".graph path.own.s0")).to_be_attached()
    page.goto(f"/games/{match}#1")
    expect(page.locator("#comment")).to_contain_text("Its own view: +42 · depth 1")
    expect(page.locator("#comment")).to_contain_text("I trust it")

    page.goto(own)
    page.get_by_role("link", name="New version").click()
    expect(page.locator("#source")).to_have_value(TELLING)
    page.locator("#source").fill(TELLING.replace("42", "43"))
    page.click("#enter")
    page.wait_for_url(own)
    rows = page.locator("#versions tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name=re.compile("Match 2 . 1")).click()
    page.wait_for_url("**/dots/tournaments/*")
    expect(page.locator("#main")).to_contain_text("Traveller v1")
    expect(page.locator("#main")).to_contain_text("Traveller v2")
    league_matches.close_event(home.engine, page.url.rpartition("/")[2], "it was only asked for")

    page.goto(own)
    page.click("#against")
    page.wait_for_url("**/dots/plays/*")
    page.locator("#board .target.live").first.click()
    expect(page.locator("#moves button").nth(1)).to_be_visible()
