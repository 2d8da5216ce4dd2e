"""Spaces in a browser: large grids, a builder that touches little, unfinished boards, rounds scrubbed, fog."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ludodrome.games import spaces

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is clicked")

PATIENCE = 120_000
MAX_TOUCHED = 80
"""Nodes and attributes that one key may change at any size."""
LARGE = {"size": 40, "rules": "live", "choice": "blind", "rounds": 1}
COUNT = """(key) => {
    const board = document.querySelector('#board'), focus = board.querySelector('.cursor');
    focus.focus();
    const watcher = new MutationObserver(() => {});
    watcher.observe(board, { subtree: true, childList: true, attributes: true });
    const before = performance.now();
    focus.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    board.getBoundingClientRect();
    const spent = performance.now() - before;
    const touched = watcher.takeRecords().reduce(
        (sum, one) => sum + (one.type === 'attributes' ? 1 : one.addedNodes.length + one.removedNodes.length), 0);
    watcher.disconnect();
    return [touched, spent];
}"""
PIECE = """() => {
    const box = document.querySelector('#board .cursor .hit').getBoundingClientRect(),
        whole = document.querySelector('#board svg').getBoundingClientRect();
    return box.left >= whole.left && box.right <= whole.right && box.top >= whole.top && box.bottom <= whole.bottom;
}"""
NODES = "document.querySelectorAll('#board svg *').length"


@contextmanager
def _window(chromium: Any, address: str, width: int = 1440, **more: Any) -> Iterator[Any]:
    """A window in which no script fails."""
    phone = {"has_touch": True, "is_mobile": True} if width < 800 else {}
    context = chromium.new_context(
        base_url=address,
        reduced_motion="reduce",
        viewport={"width": width, "height": 844 if width < 800 else 900},
        **phone,
        **more,
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert not faults


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A wide window."""
    with _window(chromium, address) as opened:
        yield opened


def _begin(page: Any, options: dict[str, Any], seats: tuple[str, str] = ("person", "random")) -> str:
    wish = {"game": "spaces", "seats": list(seats), "options": options, "seed": 3}
    play = page.request.post("/api/v1/plays", data=wish).json()
    page.goto(f"/spaces/plays/{play['id']}")
    page.wait_for_selector("#board[data-ready] .target.live")
    return str(play["id"])


def _press(page: Any, name: str) -> None:
    page.locator(f"#bar button:enabled:text-is('{name}')").click()


def _word(page: Any) -> str:
    return str(page.inner_text("#bar .word"))


def _wait(page: Any, text: str) -> None:
    page.locator("#bar .word", has_text=text).wait_for()


def test_a_board_of_size_40_is_laid_on_a_phone_and_its_round_scrubbed(chromium: Any, address: str) -> None:
    with _window(chromium, address, 390) as page:
        name = _begin(page, LARGE)
        page.locator("#board .target.live").nth(19).tap()
        _wait(page, "Step 2")
        for square in ("38_19", "38_20"):
            page.locator(f"#board [data-key='{square}'].live").tap()
        _wait(page, "Step 4")
        page.tap("#bar button:text-is('Trap')")
        page.locator("#board [data-key='38_21'].live").tap()
        _wait(page, "Step 5")
        page.locator("#board [data-key='37_20'].live").tap()
        box = page.locator("#board [data-key='36_20'].live").bounding_box()
        across, high = box["x"] + box["width"] / 2, box["height"]
        page.touchscreen.tap(across, box["y"] - 2.5 * high)  # three squares further: the piece runs there
        _wait(page, "Step 10")
        _press(page, "To goal")
        _wait(page, "complete")
        _press(page, "Lay board")
        page.wait_for_selector("#bar input[type=range]")
        steps = int(page.get_attribute("#bar input[type=range]", "max"))
        assert steps >= 20
        before = page.inner_text("#bar .tally")
        page.locator("#bar input[type=range]").fill("4")
        _wait(page, "Step 5 of")
        assert page.inner_text("#bar .tally").startswith("2 :")  # two steps up so far
        page.locator("#bar input[type=range]").fill(str(steps))
        assert page.inner_text("#bar .tally") == before
        assert page.evaluate(NODES) < 1000
        page.wait_for_selector("#engine .result", state="attached")
        play = page.request.get(f"/api/v1/plays/{name}").json()
        code = play["moves"][0]["text"]
        assert code.startswith("40:19:ur6uuuu")
        assert play["result"]["decided_by"] == "play"


def test_a_key_changes_little_at_size_100(page: Any) -> None:
    _begin(page, {**LARGE, "size": 100})
    page.locator("#board .cursor").focus()
    page.keyboard.press("ArrowUp")
    _wait(page, "Step 2")
    spent = []
    for number in range(60):
        key = ("ArrowUp", "ArrowRight", "6")[number % 3]
        length = int(re.findall(r"\d+", _word(page))[0])
        touched, seconds = page.evaluate(COUNT, key)
        spent.append(seconds)
        assert touched <= MAX_TOUCHED, key
        _wait(page, f"Step {length + 1}:")
        page.wait_for_selector("#board .target.live")
        assert page.evaluate(PIECE), "the piece is in view"
    spent.sort()
    print(f"a key at size 100: median {spent[len(spent) // 2]:.1f} ms, slowest {spent[-1]:.1f} ms")


def test_keys_that_come_faster_than_answers_are_all_taken(page: Any) -> None:
    _begin(page, LARGE)
    page.locator("#board .cursor").focus()
    page.keyboard.press("ArrowUp")
    _wait(page, "Step 2")
    page.wait_for_selector("#board .target.live")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "8", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    _wait(page, "Step 10:")
    page.keyboard.press("Backspace")
    _wait(page, "Step 9:")
    page.wait_for_selector("#board .target.live")
    page.keyboard.press("f")
    _wait(page, "complete")
    page.keyboard.press("Enter")
    page.wait_for_selector("#engine .result")
    text = page.locator("#moves button").first.get_attribute("title")
    assert text.startswith("start in column 19, up, up, left, trap up, left, up, up, up, up, up")


def test_a_large_grid_pans_and_zooms(page: Any) -> None:
    _begin(page, LARGE)
    labels = "document.querySelector('#board .rim').textContent"
    near = page.evaluate(labels)
    assert "39" in near
    assert near[0] != "0"
    box = page.locator("#board svg").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] + 300, steps=5)
    page.mouse.up()
    dragged = page.evaluate(labels)
    assert dragged != near
    assert _word(page).startswith("Choose where to start"), "a drag is not a click"
    page.mouse.wheel(0, 400)
    page.wait_for_timeout(100)
    assert page.evaluate(labels) != dragged
    page.click("#board [aria-label='Show the whole grid']")
    assert page.evaluate(labels).startswith("0")
    page.keyboard.down("Control")
    page.mouse.move(*middle)
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    page.wait_for_timeout(100)
    assert not page.evaluate(labels).startswith("0")


def test_two_fingers_zoom(chromium: Any, address: str) -> None:
    with _window(chromium, address, 390) as page:
        _begin(page, LARGE)
        labels = "document.querySelectorAll('#board .rim')[1].textContent"
        page.tap("#board [aria-label='Show the whole grid']")
        whole = page.evaluate(labels)
        box = page.locator("#board svg").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        session = page.context.new_cdp_session(page)
        for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 120), ("touchEnd", 0)):
            points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}] if apart else []
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(100)
        near = page.evaluate(labels)
        assert near != whole
        assert len(near) < len("".join(map(str, range(40))))
        assert _word(page).startswith("Choose where to start")


def test_an_unfinished_board_is_tried_out(page: Any) -> None:
    _begin(page, {"size": 4, "rules": "live", "choice": "blind", "rounds": 1})
    page.locator("#board [data-key='3_1'].live").click()
    page.locator("#board [data-key='2_1'].live").click()
    _wait(page, "Step 3")
    _press(page, "Test run")
    page.wait_for_selector("#bar select.rival")
    page.select_option("#bar select.rival", "own")
    _wait(page, "no more steps")
    assert page.inner_text("#bar .tally") == "1 : 1"
    page.select_option("#bar select.rival", "straight")
    _wait(page, "collision")
    _press(page, "Back to my board")
    _wait(page, "Step 3")
    assert page.locator("#board .step-number").count() == 2


def test_only_what_is_possible_is_offered_and_traps_stay_chosen_until_one_is_set(page: Any) -> None:
    _begin(page, {"size": 3, "rules": "live", "choice": "blind", "rounds": 2})
    trap, step = (page.locator(f"#bar .segments button:text-is('{name}')") for name in ("Trap", "Step"))
    _wait(page, "Round 1 of 2. Choose where to start")
    assert trap.is_disabled()
    page.locator("#board [data-key='2_1'].live").click()
    _wait(page, "Step 2: choose the next square, or choose Trap to set a trap.")
    assert page.locator("#board .trap.maybe").count() == 0
    trap.click()
    _wait(page, "Step 2: choose the square for your trap.")
    squares = page.locator("#board .target.live").evaluate_all("(all) => all.map((one) => one.dataset.key)")
    assert set(squares) == {"2_1", "1_1", "2_0", "2_2"}
    assert trap.get_attribute("aria-pressed") == "true"
    page.locator("#board [data-key='2_1'].live").click()
    _wait(page, "Step 3: the trap is set. Now you must step.")
    assert trap.is_disabled()
    assert step.get_attribute("aria-pressed") == "true"
    for square in ("1_1", "0_1"):
        page.locator(f"#board [data-key='{square}'].live").click()
    _wait(page, "Step 5: step into the goal.")
    page.locator("#board [data-key='-1_1'].live").click()
    _press(page, "Lay board")
    _wait(page, "Round 1 of 2.")
    assert page.inner_text("#bar .points-so-far").startswith("This round")
    page.locator("#yours", has_text="in all").wait_for()


def test_the_engine_gives_a_hint_while_a_board_lies_face_down(page: Any) -> None:
    _begin(page, {"size": 4, "rules": "live", "choice": "blind", "rounds": 1}, ("random", "person"))
    page.click("#hint")
    page.wait_for_selector("#board .hinted .token", state="attached")
    assert page.locator("#engine .best").get_attribute("title").startswith("start in column ")
    assert page.locator("#engine .best svg").count() == 1


@pytest.mark.parametrize("width", [390, 1440])
def test_large_boards_are_analysed(chromium: Any, address: str, width: int) -> None:
    first, second = (spaces.encode_board(spaces.quick(40, "live", seed)) for seed in (1, 2))
    with _window(chromium, address, width) as page:
        page.goto("/spaces/analysis")
        page.wait_for_selector("#board[data-ready]")
        page.click("#edit")
        page.locator("#palette select").select_option("live")
        page.wait_for_selector("#palette select")
        page.locator("#palette input").fill("40")
        page.locator("#palette input").press("Enter")
        page.fill("#line", f"{first}|{second}")
        page.click("#set")
        page.wait_for_selector("#bar .tally")
        page.locator("#bar input[type=range]").fill("10")
        _wait(page, "Step 11 of")
        drawn = page.locator("#board .way").evaluate_all("(ways) => ways.filter((way) => way.getAttribute('d')).length")
        assert drawn == 2, "the tracks of the round, and nothing of the boards that were laid"
        page.click("#back")
        page.wait_for_selector("#board .other .token", state="attached")
        page.wait_for_selector("#engine button .best")
        page.reload()
        page.wait_for_selector("#board .other .token", state="attached")


def _lay_straight(page: Any) -> None:
    page.wait_for_selector("#board[data-ready] .target.live")
    page.locator("#board .target.live").first.click()
    _wait(page, "Step 2")
    _press(page, "To goal")
    _wait(page, "complete")
    _press(page, "Lay board")


@pytest.mark.parametrize("width", [390, 1440])
def test_fog_is_played_to_the_end(chromium: Any, address: str, width: int) -> None:
    """Of the other's boards the page has tracks and the steps of traps, until the game is over."""
    with _window(chromium, address, width) as page:
        name = _begin(page, {"size": 5, "rules": "live", "choice": "fog", "rounds": 3})
        trapped = 0
        for number in range(3):
            _lay_straight(page)
            page.wait_for_selector("#bar input[type=range]")
            if number == 2:
                break
            page.locator("#bar .button.first", has_text="Next round").wait_for()
            state = page.request.get(f"/api/v1/plays/{name}").json()["position"]["state"]
            own, other = state["history"][number]["boards"]
            assert "sequence" in own
            assert set(other) == {"boardSize", "visited", "traps"}
            assert page.locator("#board .fog .token").count() == len(other["visited"])
            assert page.locator("#board .fog .trap").count() == 0
            assert page.locator("#board .trap.s1").get_attribute("d") == ""
            told = re.search(r"The other set .* at steps? ([\d, ]+)\.", _word(page))
            assert other["traps"] == ([] if told is None else [int(step) for step in told[1].split(", ")])
            trapped += len(other["traps"])
            texts = page.locator("#moves button").all_inner_texts()
            assert sum(text == "face down" for text in texts) >= number + 1
            page.locator("#bar input[type=range]").fill("0")
            assert page.locator("#board .fog .token").count() == 1
            _press(page, "Next round")
        assert trapped, "the other sets traps with this seed"
        page.wait_for_selector("#engine .result")
        assert "face down" not in page.locator("#moves button").all_inner_texts()
        page.locator("#moves button").nth(1).click()  # the first round, open now
        page.wait_for_selector("#bar input[type=range]")
        assert page.locator("#board .fog .token").count() == 0
        page.goto(f"/games/{name}")
        page.wait_for_selector("#board svg")


def test_people_begin_with_live_rules_and_blind_choice_and_may_ask_why(page: Any) -> None:
    page.goto("/spaces")
    page.wait_for_selector("#board[data-ready] .target.live")
    page.click("#new")
    page.wait_for_selector("#option-rules")
    assert page.input_value("#option-rules") == "live"
    assert page.input_value("#option-choice") == "blind"
    assert not page.locator(".why p").is_visible()
    page.click(".why summary")
    assert "straight run never loses" in page.inner_text(".why p")
    page.select_option("#option-choice", "fog")
    page.fill("#option-size", "20")
    page.click("dialog button[type=submit]")
    page.locator("#board .zoom").wait_for()
    page.wait_for_selector("#board[data-ready] .target.live")
    assert page.locator("#board .target.live").count() == 20
    page.goto("/spaces/analysis")
    page.wait_for_selector("#board[data-ready]")
    assert page.input_value("#line") == "rounds 3 live seen 1/1 - -"
