"""How a board feels: what people see and may do in a game, step by step, with mouse, touch and keyboard."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest

import ludodrome
from ludodrome.web.routes.pages import showcase
from tests.web.hosting import Hosted
from tests.web.serving import quiet_window

PATIENCE = 30_000

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
SIZES = pytest.mark.parametrize("size", [PHONE, DESK], ids=["390", "1440"])
API = "/api/v1"
WIDTH = "document.querySelector('#resign').offsetWidth"


def _until(page: Any, expression: str) -> None:
    """Waits for it by asking again and again: the page's policy lets nobody leave code in it."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(15)


@contextmanager
def window(chromium: Any, address: str, size: dict[str, int] = DESK, motion: str = "reduce") -> Iterator[Any]:
    """A new window that says nothing on its console and fails nowhere."""
    touch = size is PHONE
    settings = {"reduced_motion": motion, "viewport": size, "has_touch": touch, "is_mobile": touch}
    with quiet_window(chromium, address, PATIENCE, **settings) as opened:
        yield opened


def begin(page: Any, game: str, seats: list[str], options: dict[str, Any], **wish: Any) -> Any:
    """A game over the API, opened in the page."""
    asked = {"game": game, "seats": seats, "options": options, "seed": 3, **wish}
    play = page.request.post(f"{API}/plays", data=asked).json()
    page.goto(f"/{game}/plays/{play['id']}")
    page.wait_for_selector("#board svg")
    return play


@contextmanager
def two_people(chromium: Any, address: str, size: dict[str, int], **wish: Any) -> Iterator[tuple[Any, Any]]:
    """Two windows at one game of dots; the game is over at the end, or else the owner could ask no engine later."""
    with ExitStack() as stack:
        one, other = (stack.enter_context(window(chromium, address, size)) for _ in range(2))
        play = begin(one, "dots", ["person", "friend"], {"rows": 2, "cols": 2}, **wish)
        other.goto(play["seats"][1]["link"])
        other.wait_for_url("**/dots/plays/*?as=guest")
        one.wait_for_selector("#board[data-ready]")
        yield one, other
        one.request.post(f"{API}/plays/{play['id']}/resign", data={"seat": 0})


# 2. No engine between people


@SIZES
def test_the_engine_is_off_between_people_until_the_game_is_over(chromium: Any, address: str, size: Any) -> None:
    with two_people(chromium, address, size) as (one, other):
        for page in (one, other):
            assert page.is_hidden("#hint")
            assert page.is_disabled("#analysis")
            assert "people" in page.get_attribute("#analysis", "title")
        one.locator("#board .target.live").first.click(force=True)
        other.wait_for_selector("#board[data-ready]")
        assert other.is_disabled("#analysis")
        assert other.locator("#value.known").count() == 0
        one.click("#resign")
        one.click("#resign")
        other.wait_for_selector("#engine .result")
        assert other.is_enabled("#analysis")
        other.click("#analysis")
        other.click("#back")
        other.wait_for_selector("#value.known")


def test_the_engine_is_off_for_two_people_at_one_screen(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        begin(page, "dots", ["person", "person"], {"rows": 2, "cols": 2})
        page.wait_for_selector("#board[data-ready]")
        assert page.is_hidden("#hint")
        assert page.is_disabled("#analysis")


# 3. Resign asks again; people offer each other draws and takebacks


@SIZES
def test_resigning_takes_two_presses(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2})
        page.wait_for_selector("#board[data-ready]")
        before = page.evaluate(WIDTH)
        page.click("#resign")
        assert page.inner_text("#resign") == "Sure?"
        assert page.evaluate(WIDTH) == before
        page.wait_for_timeout(300)
        assert page.locator("#engine .result").count() == 0
        page.keyboard.press("Escape")
        assert page.inner_text("#resign") == "Resign"
        page.click("#resign")
        page.click("#resign")
        page.wait_for_selector("#engine .result")
        assert page.inner_text("#resign") == "Rematch"


@SIZES
def test_a_draw_is_offered_declined_offered_again_and_accepted(chromium: Any, address: str, size: Any) -> None:
    with two_people(chromium, address, size) as (one, other):
        one.click("#draw")
        one.click("#draw")
        _until(one, "document.querySelector('#engine').textContent.includes('You offer a draw')")
        _until(other, "document.querySelector('#engine').textContent.includes('offers a draw')")
        other.click("#engine button:text-is('Decline')")
        _until(one, "!document.querySelector('#engine').textContent.includes('offer a draw')")
        other.click("#draw")
        other.click("#draw")
        one.click("#engine button:text-is('Accept')")
        for page in (one, other):
            page.wait_for_selector("#engine .result")
            assert page.inner_text("#engine .result") == "A draw"
            assert "agree" in page.inner_text("#engine")


@SIZES
def test_a_takeback_is_offered_and_accepted(chromium: Any, address: str, size: Any) -> None:
    with two_people(chromium, address, size) as (one, other):
        assert one.is_disabled("#undo")
        one.locator("#board .target.live").first.click(force=True)
        other.wait_for_selector("#board[data-ready]")
        assert one.inner_text("#undo") == "Take back"
        one.click("#undo")
        _until(other, "document.querySelector('#engine').textContent.includes('take back')")
        other.click("#engine button:text-is('Accept')")
        _until(one, "document.querySelectorAll('#moves button').length === 0")
        one.wait_for_selector("#board[data-ready]")


# 1. Every round of spaces is told to its end


STEPS = """[document.querySelector('#where').textContent, document.querySelector('#bar input[type=range]')?.value ?? '',
    document.querySelector('#bar input[type=range]')?.max ?? '',
    ...['#others', '#yours'].map((name) => Number.parseInt(document.querySelector(name + ' .who span').textContent))]"""


def _lay(page: Any, column: int = 1) -> None:
    for row in (2, 1, 0, -1):
        page.locator(f'[data-key="{row}_{column}"].live').click()
    page.locator("#bar button:enabled:text-is('Lay board')").click()


@pytest.mark.parametrize("choice", ["seen", "blind", "fog"])
@SIZES
def test_a_round_is_told_to_its_end_before_the_next_begins(chromium: Any, address: str, size: Any, choice: str) -> None:
    with window(chromium, address, size, "no-preference") as page:
        begin(page, "spaces", ["person", "level:3"], {"size": 3, "rounds": 4, "choice": choice})
        page.wait_for_selector("#board[data-ready]")
        _lay(page)
        seen: list[Any] = []
        _until(page, "document.querySelector('#bar input[type=range]')")
        while not seen or not seen[-1][0].startswith("3 /"):
            now = page.evaluate(STEPS)
            if not seen or now != seen[-1]:
                seen.append(now)
            page.wait_for_timeout(30)
        steps = [int(value) for where, value, *_ in seen if where.startswith("2 ") and value]
        assert steps == sorted(steps)
        assert set(steps) == set(range(int(seen[-1][2]) + 1)), seen
        assert seen[0][3:] == [0, 0], "the points come with the steps that win them"
        assert page.locator("#bar button:text-is('Next round')").count() == 1


# 4. The end shows the clocks as they stood


def test_the_clock_of_a_fallen_flag_stays_at_nothing(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        play = begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2}, clock="2s")
        page.wait_for_selector("#engine .result")
        page.wait_for_timeout(300)
        assert "ran out of time" in page.inner_text("#engine")
        assert page.inner_text("#yours .time") == "0.0"
        page.reload()
        page.wait_for_selector("#engine .result")
        assert page.inner_text("#yours .time") == "0.0"
        assert page.request.get(f"{API}/plays/{play['id']}").json()["seats"][0]["left_ms"] == 0


def test_who_resigns_sees_the_time_that_was_left(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2}, clock="60s")
        page.wait_for_selector("#board[data-ready]")
        page.wait_for_timeout(1500)
        assert page.inner_text("#yours .time") == "1:00", "the first seconds of a game are free"
        page.locator("#board .target.live").first.click(force=True)
        _until(page, "document.querySelectorAll('#moves button').length === 2")
        page.wait_for_timeout(2500)
        page.click("#resign")
        page.click("#resign")
        page.wait_for_selector("#engine .result")
        assert page.inner_text("#yours .time") in ("0:57", "0:56", "0:55", "0:54")


# 5. Focus stays where the person was


@SIZES
def test_the_focus_stays_beside_the_edge_that_was_drawn(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        begin(page, "dots", ["person", "person"], {"rows": 4, "cols": 4})
        page.wait_for_selector("#board[data-ready]")
        edge = page.locator('[data-key="H3_3"]')
        edge.tap(force=True) if size is PHONE else edge.click(force=True)
        _until(page, "document.querySelectorAll('#moves button').length === 1")
        page.wait_for_selector("#board[data-ready]")
        assert page.evaluate("document.activeElement.dataset.key ?? ''") in ("", "H4_3", "V3_3", "V2_3", "V3_4", "V2_4")
        assert page.evaluate("document.querySelector('#board [tabindex=\"0\"]').dataset.key") != "H0_0"
        assert page.locator("#board .target:focus-visible").count() == 0


def test_the_keyboard_goes_on_beside_the_edge_that_was_drawn(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        begin(page, "dots", ["person", "person"], {"rows": 4, "cols": 4})
        page.locator('[data-key="H3_2"]').focus()
        page.keyboard.press("Enter")
        _until(page, "document.querySelectorAll('#moves button').length === 1")
        page.wait_for_selector("#board[data-ready]")
        beside = ("V3_2", "V3_3", "V2_2", "V2_3", "H2_2", "H4_2")
        assert page.evaluate("document.activeElement.dataset.key") in beside


# 8. An eruption is told to its end


ERUPTS = "0000000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"


def test_an_eruption_is_told_to_its_end_before_the_bot_answers(chromium: Any, address: str) -> None:
    with window(chromium, address, DESK, "no-preference") as page:
        begin(page, "caldera", ["person", "random"], {}, position=ERUPTS)
        page.wait_for_selector("#board[data-ready]")
        for cell in ("c42", "c42", "c32", "c32"):
            page.locator(f'[data-key="{cell}"]').click(force=True)
        _until(page, "document.querySelectorAll('#moves button').length === 1")
        burst = last = 0
        for _ in range(400):
            flashes, made = page.evaluate(
                "[document.querySelectorAll('.boom').length, document.querySelectorAll('#moves button').length]"
            )
            burst = max(burst, flashes)
            if made == 2:
                last = flashes
                break
            page.wait_for_timeout(10)
        assert burst > 2
        assert last == 0, "the bot's move was shown while cells erupted"


# 9. The better move at a mistake; side lines in a link


@SIZES
def test_a_mistake_in_a_replay_shows_the_better_move(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        wish = {"game": "dots", "seats": ["random", "random"], "options": {"rows": 2, "cols": 3}, "seed": 1}
        play = page.request.post(f"{API}/plays", data=wish).json()
        while page.request.get(f"{API}/plays/{play['id']}").json()["result"] is None:
            page.wait_for_timeout(100)
        grades: dict[str, Any] = {}
        while not grades.get("done"):
            grades = page.request.get(f"{API}/replays/{play['id']}/grading").json()
            page.wait_for_timeout(100)
        wrong = [one for one in grades["plies"] if one["grade"] in ("mistake", "blunder")]
        wrong = [one for one in wrong if one["ply"] + 1 < grades["total"]][:3]  # at the end there is the result
        assert wrong
        page.goto(f"/games/{play['id']}")
        page.wait_for_selector("#moves .sign.blunder, #moves .sign.mistake")
        for one in wrong:
            page.locator(f'#moves [data-ply="{one["ply"] + 1}"]').click()
            page.wait_for_selector("#board .better", state="attached")
            assert page.locator("#board .edge-best").count() == 0, "no arrow for the reply"
            assert f"Better was {one['best']['text']}" in page.inner_text("#bar .word")


@SIZES
def test_a_link_to_an_analysis_keeps_its_side_lines(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        game = ludodrome.make("dots", rows=2, cols=2)
        page.goto(f"/dots/analysis#{urlencode({'position': game.format_state(game.initial_state())})}")
        page.wait_for_selector("#board[data-ready]")
        page.click("#power")  # without arrows that come and go

        def draw(key: str) -> None:
            page.wait_for_selector("#board[data-ready]")
            before = page.locator("#tree button").count()
            page.locator(f'[data-key="{key}"]').click(force=True)
            _until(page, f"document.querySelectorAll('#tree button').length > {before}")

        for key in ("H0_0", "H0_1"):
            draw(key)
        page.click("#back")
        draw("V0_0")
        draw("V0_1")
        page.click("#begin")
        draw("H1_1")
        page.click("#begin")
        tree = page.inner_text("#tree")
        with window(chromium, address, size) as other:
            other.goto(page.url)
            _until(
                other, f"document.querySelectorAll('#tree button').length === {page.locator('#tree button').count()}"
            )
            assert other.inner_text("#tree") == tree
            assert other.locator("#tree .aside-line").count() == 2
            assert other.inner_text("#where") == page.inner_text("#where")


# 10. Solutions and refutations are played on the board


@SIZES
def test_a_refutation_and_a_solution_are_played_on_the_board(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        page.goto("/dots/puzzles/1")
        page.wait_for_selector("#board[data-ready]")
        drawn = page.locator("#board .edge").count()
        page.locator("#board .target.live:not([data-key='V1_1'])").first.click(force=True)
        page.wait_for_selector("#messages .wrong")
        page.wait_for_selector("#board[data-line]")
        _until(page, f"document.querySelectorAll('#board .edge').length > {drawn} + 1")
        page.locator("#board").click(position={"x": 5, "y": 5})
        page.wait_for_selector("#board[data-ready]")
        assert page.locator("#board .edge").count() == drawn
        page.click("#solution")
        _until(page, f"document.querySelectorAll('#board .edge').length > {drawn}")
        _until(page, "document.querySelector('#board').hasAttribute('data-ready')")
        assert page.locator("#board .edge").count() == drawn


# 6. A later hint narrows an earlier one


@pytest.mark.parametrize("game", ["dots", "skysummit", "caldera"])
def test_a_second_hint_narrows_the_first(chromium: Any, address: str, game: str) -> None:
    with window(chromium, address) as page:
        for number in (1, 2, 3):
            page.goto(f"/{game}/puzzles/{number}")
            page.wait_for_selector("#board[data-ready]")
            sets = []
            for count in (1, 2):
                page.click("#hint")
                hint = page.locator("#messages p:text-matches('^It is one of')").nth(count - 1)
                hint.wait_for()
                sets.append(set(hint.inner_text().removeprefix("It is one of ").rstrip(".").split(", ")))
                page.wait_for_selector("#hint:enabled")
            assert sets[1] < sets[0], (game, number, sets)


# 7. Small things that were wrong


def test_the_moves_of_a_game_that_is_set_up_are_in_their_columns(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        page.route("**/api/v1/plays", lambda route: None)  # the server never answers: the sketch stays
        page.goto("/dots")
        page.wait_for_selector("#moves button")
        found = page.evaluate("[...document.querySelectorAll('#moves button')].map((one) => one.style.gridColumnStart)")
        first = showcase("dots")
        game = ludodrome.make("dots", **first["options"])
        state, movers = game.initial_state(), []
        for move in first["opening"]:
            movers.append(game.to_move(state))
            state = game.apply(state, move)
        assert found == [str(seat + 2) for seat in movers if seat is not None]
        assert found != [str(at % 2 + 2) for at in range(len(found))]


@SIZES
def test_the_buttons_at_the_end_are_seen_whole(chromium: Any, address: str, size: Any) -> None:
    with window(chromium, address, size) as page:
        begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2})
        page.wait_for_selector("#board[data-ready]")
        page.click("#resign")
        page.click("#resign")
        page.wait_for_selector("#engine .result")
        panel = page.locator("#engine").bounding_box()
        for link in ("Replay", "Record"):
            box = page.locator(f"#engine a:text-is('{link}')").bounding_box()
            assert box["x"] + box["width"] <= panel["x"] + panel["width"]
            assert box["y"] + box["height"] <= panel["y"] + panel["height"]
        assert page.evaluate("document.querySelector('#engine').scrollHeight <= 92")


def test_names_are_written_as_their_owners_write_them(chromium: Any, hosted: Hosted) -> None:
    with hosted.client("ada small") as ada, hosted.client("ben small") as ben:
        wish = {"game": "dots", "seats": ["person", "friend"], "options": {"rows": 1, "cols": 1}}
        play = ada.post(f"{API}/plays", json=wish).json()
        ben.post(f"{API}/joins/{play['seats'][1]['link'].rpartition('/')[2]}")
        with window(chromium, hosted.address) as page:
            page.goto(f"/dots/plays/{play['id']}")
            page.wait_for_selector("#yours b")
            names = [page.inner_text("#others b"), page.inner_text("#yours b")]
        assert sorted(names) == ["ada small", "ben small"]
        ada.post(f"{API}/plays/{play['id']}/resign", json={})


def test_the_time_since_a_match_goes_on(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        page.goto("/dots/arena")
        page.evaluate("""(() => {
            const node = document.createElement("time");
            node.id = "since";
            node.dataset.moment = Date.now() - 48_000;
            document.body.append(node);
        })()""")
        _until(page, "document.querySelector('#since').textContent === '49 s ago'")
        _until(page, "document.querySelector('#since').textContent === '50 s ago'")


def test_the_owner_filter_lists_me_once(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        made = page.request.post(f"{API}/bots", data={"game": "dots", "name": "Filtered", "kind": "remote"})
        assert made.ok, made.text()
        page.goto("/dots/leaderboard")
        listed = page.locator("#owner option").all_inner_texts()
        assert "me" in listed
        assert "You" not in listed


def test_what_rounds_to_nothing_has_no_sign(chromium: Any, address: str) -> None:
    with window(chromium, address) as page:
        page.goto("/dots")
        signs = page.evaluate(
            "import('/static/engine.js').then(({ signed }) => [0.04, -0.04, 0, 0.06, -0.06].map(signed))"
        )
        assert signs == ["0", "0", "0", "+0.1", "\u22120.1"]


def test_an_old_verdict_goes_when_a_new_check_begins(chromium: Any, address: str) -> None:
    failure = {
        "finding": {"grade": "failure", "title": "crash", "name": "crash", "check": "crash", "text": "it crashed"}
    }
    with window(chromium, address) as page:
        answers = [json.dumps(failure) + "\n", None]

        def answer(route: Any) -> None:
            body = answers.pop(0)
            if body is not None:
                route.fulfill(status=200, content_type="application/x-ndjson", body=body)

        page.route("**/api/v1/checks", answer)
        page.goto("/dots/bots/new")
        page.wait_for_selector("#check:enabled")
        page.click("#check")
        page.wait_for_selector("text=1 failure")
        page.wait_for_selector("#check:enabled")
        page.click("#check")
        page.wait_for_selector("text=The check begins.")
        assert page.locator("text=1 failure").count() == 0


def test_the_page_forgets_that_the_server_was_away(chromium: Any, address: str) -> None:
    context = chromium.new_context(base_url=address, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script("""
        const later = window.setTimeout;
        window.setTimeout = (call, ms, ...more) => later(call, Math.min(ms, 300), ...more);
        window.WebSocket = class {
          readyState = 3;
          constructor() { later(() => this.onclose?.(), 0); }
          close() {}
        };
    """)
    begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2})
    page.wait_for_selector("#board[data-ready]")
    page.route("**/api/v1/plays/*after=*", lambda route: route.abort())
    name = page.url.rpartition("/")[2]
    page.request.post(f"{API}/plays/{name}/moves", data={"move": {"orient": "H", "r": 0, "c": 0}})
    _until(page, "document.querySelector('#engine').textContent.includes('does not answer')")
    page.unroute("**/api/v1/plays/*after=*")
    _until(page, "!document.querySelector('#engine').textContent.includes('does not answer')")
    context.close()
