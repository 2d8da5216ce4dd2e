"""A browser plays each game from the first move to the last by clicking the board."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlencode

import pytest

import ludodrome
from ludodrome.arena import records
from tests.web.serving import quiet_window

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is clicked")

PATIENCE, MOMENT = 120_000, 2_000
MOST_CLICKS = 600
SOMETHING = "#engine .result, #board[data-ready] .target.live, #bar .button.first"
BOXES = """['#board', '.panel', '#engine', '.actions'].map((name) =>
    Object.values(document.querySelector(name).getBoundingClientRect().toJSON()).join()).join(';')"""
SMALL: dict[str, dict[str, Any]] = {
    "skysummit": {"turn_limit": 12},
    "santorini": {"players": 2},
    "caldera": {"turn_limit": 12},
    "dots": {"rows": 2, "cols": 2},
    "spaces": {"size": 2, "rounds": 2},
}


@contextmanager
def _window(chromium: Any, address: str) -> Iterator[Any]:
    """A new window that says nothing on its console and fails nowhere."""
    settings = {"reduced_motion": "reduce", "viewport": {"width": 1200, "height": 900}}
    with quiet_window(chromium, address, PATIENCE, **settings) as opened:
        yield opened


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A window of somebody."""
    with _window(chromium, address) as opened:
        yield opened


@pytest.fixture
def friend(chromium: Any, address: str) -> Iterator[Any]:
    """A window of somebody else."""
    with _window(chromium, address) as opened:
        yield opened


def _until(page: Any, expression: str) -> None:
    """Waits for it by asking again and again: the page's policy lets nobody leave code in it."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(15)


def _begin(page: Any, game: str, seats: list[str], options: dict[str, Any], clock: str = "none") -> None:
    """A game over the API, opened in the page."""
    wish = {"game": game, "seats": seats, "options": options, "seed": 3, "clock": clock}
    play = page.request.post("/api/v1/plays", data=wish).json()
    page.goto(f"/{game}/plays/{play['id']}")
    page.wait_for_selector("#board svg")


def _click_on(page: Any) -> bool:
    """One click on something that the board offers; false once the game is over."""
    _until(page, f"document.querySelector('{SOMETHING}')")
    if page.locator("#engine .result").count():
        return False
    for name in ("Next round", "Lay board"):
        button = page.locator(f"#bar button:enabled:text-is('{name}')")
        if button.count():
            button.click()
            return True
    offered = page.locator("#board[data-ready] .target.live")
    wished = page.locator("#board[data-ready] .target.live:not([aria-label$='pick']):not([aria-label$='let go'])")
    wished = wished.and_(page.locator(":not([aria-label$='back']):not([aria-label$='forge instead'])"))
    with suppress(playwright.TimeoutError):  # what was offered a moment ago may be gone: then something else is
        (wished if wished.count() else offered).first.click(force=True, timeout=MOMENT)
    return True


def _finish(page: Any) -> Any:
    for _ in range(MOST_CLICKS):
        if not _click_on(page):
            break
        page.wait_for_timeout(20)
    name = page.url.rpartition("/")[2]
    return page.request.get(f"/api/v1/plays/{name}/record")


@pytest.mark.parametrize("seats", [("person", "random"), ("random", "person")], ids=["first", "second"])
@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_a_game_is_clicked_from_the_first_move_to_the_last(page: Any, game: str, seats: Any, long: bool) -> None:
    if not long and seats[0] != "person":
        pytest.skip("the second seats come with --long")
    _begin(page, game, list(seats), SMALL[game])
    record = records.from_text(_finish(page).body())
    records.verify(record)
    assert record["result"]["decided_by"] == "play"


@pytest.mark.parametrize("seat", range(3))
def test_every_seat_of_three_is_played(page: Any, long: bool, seat: int) -> None:
    if not long and seat != 1:
        pytest.skip("the other seats come with --long")
    seats = ["random", "random", "random"]
    seats[seat] = "person"
    _begin(page, "santorini", seats, {"players": 3})
    assert _finish(page).ok


def test_the_first_visit_finds_a_game_and_it_can_be_played_on(page: Any) -> None:
    page.goto("/")
    page.locator(".ways a[aria-label^=Play]").first.click()
    page.wait_for_selector("#board svg .worker")
    page.wait_for_selector("#board[data-ready]")
    before = page.locator("#moves button").count()
    assert before > 4
    for _ in range(3):
        _click_on(page)
    _until(page, f"document.querySelectorAll('#moves button').length > {before}")
    page.wait_for_selector("#board[data-ready]")
    page.click("#undo")
    _until(page, f"document.querySelectorAll('#moves button').length === {before}")
    page.click("#back")
    _until(page, f"document.querySelector('#where').textContent === '{before - 1} / {before}'")


def test_the_dialog_disables_options_that_others_make_useless(page: Any) -> None:
    page.goto("/spaces")
    page.wait_for_selector("#board[data-ready]")
    page.click("#new")
    for mode, unused in (("deck", True), ("rounds", False)):
        page.select_option("#option-mode", mode)
        assert page.is_disabled("#option-rounds") is unused
        assert page.is_disabled("#option-choice") is unused
        assert page.is_enabled("#option-size")


def test_a_friend_comes_by_link_and_plays(page: Any, friend: Any) -> None:
    page.goto("/dots")
    page.wait_for_selector("#board[data-ready]")
    page.click("#new")
    page.select_option("#option-rows", "1")
    page.select_option("#option-cols", "1")
    page.select_option("#seat-1", "friend")
    page.click("dialog button[type=submit]")
    page.wait_for_selector("#engine .link input")
    assert page.locator("#board[data-ready]").count() == 0
    friend.goto(page.input_value("#engine .link input"))
    friend.wait_for_url("**/dots/plays/*?as=guest")
    page.wait_for_selector("#board[data-ready]")
    assert friend.locator("#board[data-ready]").count() == 0
    for turn in range(4):
        mover, other = (page, friend) if turn % 2 == 0 else (friend, page)
        mover.wait_for_selector("#board[data-ready]")
        assert other.locator("#board[data-ready]").count() == 0
        mover.locator("#board .target.live").first.click(force=True)
        _until(other, f"document.querySelectorAll('#moves button').length === {turn + 1}")
    assert "You lose" in page.inner_text("#engine .result")
    assert "You win" in friend.inner_text("#engine .result")
    page.click("#resign")
    _until(friend, "document.querySelector('#engine').textContent.includes('offers a rematch')")
    friend.click("#resign")
    friend.wait_for_selector("#board[data-ready]")
    _until(page, "!document.querySelector('#engine .result')")
    name = friend.evaluate("location.pathname")
    _until(page, f"location.pathname === '{name}'")
    friend.reload()
    friend.wait_for_selector("#board[data-ready]")
    friend.goto("about:blank")
    _until(page, "document.querySelector('#others').textContent.includes('left')")
    page.request.post(f"/api/v1/plays/{name.rpartition('/')[2]}/resign", data={})  # or else the engine stays off


def test_a_deck_is_built_laid_and_looked_at(page: Any) -> None:
    _begin(page, "spaces", ["person", "random"], {"size": 2, "mode": "deck"})
    for _ in range(3):
        page.locator("#board[data-ready] .target.live").first.click(force=True)
        page.wait_for_timeout(50)
    while page.locator("#bar button:text-is('Next board')").is_disabled():
        page.locator("#board[data-ready] .target.live").last.click(force=True)
        page.wait_for_timeout(100)
    page.click("#bar button:text-is('Next board')")
    page.wait_for_selector(".deck button.full")
    assert page.get_attribute(".deck button:nth-child(2)", "aria-pressed") == "true"
    page.click("#bar button:text-is('Fill up')")
    page.click("#bar button:text-is('Lay deck')")
    page.wait_for_selector("#board .heat")
    assert page.locator("#board .heat").count() == 100
    page.locator("#board .target").nth(12).click()
    page.wait_for_selector("#bar input[type=range]")
    assert "Board 2 against board 3" in page.inner_text("#bar .word")
    page.click("#bar button:text-is('All rounds')")
    page.wait_for_selector("#board .heat")
    assert page.locator("#engine .result").count() == 1


def test_a_game_is_played_on_from_a_position(page: Any) -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    state = game.apply(game.initial_state(), {"orient": "H", "r": 0, "c": 0})
    page.goto(f"/dots?{urlencode({'position': game.format_state(state), 'rows': 2, 'cols': 2})}")
    page.wait_for_selector("#seat-1")
    assert page.input_value("#seat-1") == "person"
    page.click("dialog button[type=submit]")
    page.wait_for_selector("#board[data-ready]")
    assert page.locator("#board .edge").count() == 1


def test_the_keyboard_alone_plays(page: Any) -> None:
    _begin(page, "skysummit", ["person", "random"], {})
    page.locator('#board [tabindex="0"]').focus()
    for key in ("Enter", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    _until(page, "document.querySelectorAll('#moves button').length === 2")
    assert page.locator("#moves button").first.inner_text() == "place A1 B2"


def test_a_refused_click_says_why_in_place(page: Any) -> None:
    _begin(page, "santorini", ["person", "random"], {})
    page.click('[data-key="c11"]', force=True)
    page.click('[data-key="c24"]', force=True)
    page.wait_for_selector("#bar .word.no")
    assert "E5" in page.inner_text("#bar .word")


def test_a_hint_and_the_analysis_are_drawn(page: Any) -> None:
    _begin(page, "dots", ["person", "random"], {"rows": 2, "cols": 2})
    page.wait_for_selector("#board[data-ready]")
    page.click("#hint")
    page.wait_for_selector(".edge-best", state="attached")
    page.click("#analysis")
    page.wait_for_selector("#value.known")
    assert page.locator("#engine .best").count() == 1


def test_a_new_game_is_begun_from_the_dialog(page: Any) -> None:
    page.goto("/dots")
    page.wait_for_selector("#board[data-ready]")
    page.click("#new")
    page.select_option("#option-rows", "2")
    page.select_option("#option-cols", "3")
    page.select_option("#seat-0", "random")
    page.select_option("#seat-1", "person")
    page.select_option("#clock", "5m++3s")
    page.click("dialog button[type=submit]")
    page.wait_for_selector("dialog", state="hidden")
    page.wait_for_selector("#board[data-ready]")
    assert page.locator("#board .target").count() + page.locator("#board .edge").count() == 17
    assert page.locator(".time").count() == 2
    page.click("#resign", click_count=2)
    page.wait_for_selector("#engine .result")
    page.click("#resign")
    _until(page, "!document.querySelector('#engine .result')")


@pytest.mark.parametrize("game", ["dots", "spaces"])
def test_a_puzzle_is_solved_by_clicking(page: Any, game: str) -> None:
    page.goto(f"/{game}/puzzles/1")
    page.wait_for_selector("#board[data-ready]")
    if game == "dots":
        page.locator('[data-key="V1_1"]').click(force=True)
    else:
        for square in ("1_0", "0_0", "-1_0"):
            page.locator(f'[data-key="{square}"].live').click()
        page.locator("#bar button:enabled:text-is('Lay board')").click()
    page.wait_for_selector("#messages .right")


def test_nothing_jumps_when_a_move_arrives(page: Any) -> None:
    _begin(page, "skysummit", ["person", "random"], {})
    page.wait_for_selector("#board[data-ready]")
    before = page.evaluate(BOXES)
    for _ in range(8):
        _click_on(page)
        assert page.evaluate(BOXES) == before


FAILING_SOCKETS = """
    const Real = window.WebSocket, later = window.setTimeout;
    let failing = 3;
    window.opened = 0;
    window.setTimeout = (call, ms, ...more) => later(call, Math.min(ms, 300), ...more);
    window.WebSocket = class {
      constructor(url) {
        if (failing-- > 0) {
          const broken = { readyState: 3, close() {} };
          later(() => broken.onclose?.(), 0);
          return broken;
        }
        const socket = new Real(url);
        socket.addEventListener("open", () => { window.opened += 1; });
        return socket;
      }
    };
    window.WebSocket.OPEN = Real.OPEN;
"""


def test_a_page_that_polls_tries_its_socket_again(page: Any) -> None:
    page.add_init_script(FAILING_SOCKETS)
    _begin(page, "dots", ["person", "person"], {"rows": 2, "cols": 2})
    _until(page, "window.opened === 1")
    polls: list[str] = []
    page.on("request", lambda asked: polls.append(asked.url) if "after=" in asked.url else None)
    name = page.url.rpartition("/")[2]
    page.request.post(f"/api/v1/plays/{name}/moves", data={"move": ["H", 0, 0]})
    page.locator("#moves li").first.wait_for()
    page.wait_for_timeout(500)
    assert not polls
    assert page.evaluate("window.opened") == 1


WINDOWS = {
    "phone": (390, 844),
    "tablet": (768, 1024),
    "desk": (1440, 900),
    "sideways": (844, 390),
    "zoomed": (720, 450),
}
"""A page at 200 % is a window of half the width and height."""


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("game", ["skysummit", "spaces"])
def test_the_whole_board_is_in_view_with_its_controls(chromium: Any, address: str, game: str, window: str) -> None:
    width, height = WINDOWS[window]
    context = chromium.new_context(
        base_url=address, reduced_motion="reduce", viewport={"width": width, "height": height}
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    for tab in ("", "/learn", "/analysis", "/puzzles/1"):
        page.goto(f"/{game}{tab}")
        page.wait_for_selector("#board[data-ready]")
        boxes = {name: page.locator(name).first.bounding_box() for name in ("#board svg", "#bar", ".actions")}
        for name, box in boxes.items():
            assert box["x"] >= 0, (tab, name)
            assert box["y"] >= 0, (tab, name)
            assert box["x"] + box["width"] <= width, (tab, name)
            assert box["y"] + box["height"] <= height, (tab, name)
        bar, actions = boxes["#bar"], boxes[".actions"]
        assert bar["y"] + bar["height"] <= actions["y"] or bar["x"] + bar["width"] <= actions["x"], tab
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
    context.close()


def test_long_moves_are_listed_in_full(page: Any) -> None:
    page.goto("/santorini")
    page.wait_for_selector("#board[data-ready]")
    page.set_viewport_size({"width": 390, "height": 844})
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    page.locator("#moves button").first.wait_for()
    page.locator("#moves button").first.evaluate("(one) => { one.textContent = 'C4-C5 build D5 '.repeat(6); }")
    assert page.locator("#moves button").evaluate_all(cut) == 0
