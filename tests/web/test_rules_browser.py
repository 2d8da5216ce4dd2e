"""The rules page begins with what a player needs; boards and texts have one name for each seat and square."""

from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Client

from ludodrome.games import GAMES as ENTRIES
from ludodrome.web.routes.pages import showcase

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is looked at")

GAMES = ("skysummit", "caldera", "dots", "santorini", "spaces")
PATIENCE = 120_000
TWO_SCREENS = 1800
COLOUR = "(node) => getComputedStyle(node).fill"


@pytest.fixture(params=[(1440, 900), (390, 844)], ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, chromium: Any, address: str) -> Iterator[Any]:
    """A window of a desk or of a phone."""
    width, height = request.param
    context = chromium.new_context(
        base_url=address, reduced_motion="reduce", viewport={"width": width, "height": height}
    )
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert not faults


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_begin_with_the_goal_and_something_to_play_on(page: Any, game: str) -> None:
    page.goto(f"/{game}/rules")
    assert page.locator("main h2").first.inner_text() == "Goal"
    figures = page.locator(".people .diagram")
    for figure in figures.all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg").first.wait_for()
    playable = page.locator(".people .diagram:not(.still) .target.live")
    playable.first.wait_for()
    below = page.locator("#for-programs").bounding_box()["y"]
    boxes = [figure.bounding_box() for figure in figures.all()]
    assert all(box["y"] + box["height"] <= below for box in boxes)
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    if width > 800:
        assert page.locator(".people").bounding_box()["height"] <= TWO_SCREENS
    assert "R1." not in page.locator(".people").inner_text()
    assert not page.locator(".programs details[open]").count()
    for name in ENTRIES[game].game_class().seat_names:
        assert name in page.locator(".people").inner_text()


@pytest.mark.parametrize("game", ["dots"])
def test_a_diagram_is_played_on_and_begins_anew(page: Any, game: str) -> None:
    page.goto(f"/{game}/rules")
    figure = page.locator(".people .diagram").first
    figure.locator('[data-key="H1_0"]').click(force=True)
    figure.locator(".box.s0").wait_for(state="attached")
    figure.get_by_role("button", name="Start over").click()
    figure.locator(".box.s0").wait_for(state="detached")


def test_a_plan_of_spaces_is_laid_on_the_rules_page_and_meets_another(page: Any) -> None:
    page.goto("/spaces/rules")
    figure = page.locator(".people .diagram").first
    figure.locator("figcaption", has_text="You are Blue").wait_for()
    for square in ("2_0", "1_0", "0_0", "-1_0"):
        figure.locator(f"[data-key='{square}'].live").click()
    figure.get_by_role("button", name="Lay board").click()
    figure.locator(".tally", has_text="3 : 2").wait_for()
    figure.locator(".word", has_text="Ended by reaching the goal.").wait_for()


def test_a_link_to_a_numbered_rule_opens_its_chapter(page: Any) -> None:
    page.goto("/skysummit/rules#R7")
    page.locator("#R7").wait_for(state="visible")


@pytest.mark.parametrize("game", GAMES)
def test_every_board_has_coordinates_and_every_list_reads_like_notation(page: Any, game: str) -> None:
    page.goto(f"/{game}")
    page.locator("#board .coordinate").first.wait_for()
    shown = {text.strip() for text in page.locator("#board .coordinate").all_text_contents()}
    state = showcase(game)["state"]
    rows = {"caldera": 7, "dots": 6, "spaces": state.get("size")}.get(game)
    assert shown >= ({str(number) for number in range(rows)} if rows else {*"ABCDE", *"12345"})
    page.locator("#moves button").first.wait_for()
    if game == "spaces":
        assert page.locator("#moves .mini").count() == page.locator("#moves button").count() > 0
        assert page.locator("#moves button").first.get_attribute("aria-label").startswith("start in column")
    else:
        listed = page.locator("#moves button").all_inner_texts()
        assert listed == showcase(game)["texts"]
        assert not any(sign in text for text in listed for sign in "[]↑^")


def test_santorinis_pieces_have_the_colours_of_their_names(page: Any) -> None:
    page.goto("/santorini")
    page.locator("#board[data-ready]").wait_for()
    colours = [page.locator(f"#board .worker.s{seat} .token").first.evaluate(COLOUR) for seat in (0, 1)]
    red, _, blue = (int(part) for part in colours[0][4:-1].split(","))
    assert blue > 2 * red, "navy"
    assert colours[1] == "rgb(255, 255, 255)"
    label = page.locator("#board .target[aria-label*='worker 1']").first.get_attribute("aria-label")
    assert "navy circle" in label or "white diamond" in label
    page.goto("/skysummit/rules")
    dome = page.locator(".people .dome").first
    page.locator("#setup").scroll_into_view_if_needed()
    dome.wait_for()
    red, green, blue = (int(part) for part in dome.evaluate(COLOUR)[4:-1].split(","))
    assert red >= green >= blue, "a dome is the colour of stone"


BAD: tuple[tuple[str, Any], ...] = (
    ("/api/v1/plays", {"game": "dots", "seats": ["person", 5]}),
    ("/api/v1/plays", {"game": "dots", "seats": "person"}),
    ("/api/v1/plays", {"game": "dots"}),
    ("/api/v1/plays", {"game": "dots", "seats": ["person"] * 9}),
    ("/api/v1/plays", {"game": "dots", "seats": ["person", "random"], "seed": -1}),
    ("/api/v1/plays", {"game": "dots", "seats": ["person", "random"], "clock": "x" * 100}),
    ("/api/v1/plays", {"game": "dots", "seats": ["person", "random"], "colour": "red"}),
    ("/api/v1/analysis", {"game": "dots", "state": None, "seconds": "long"}),
    ("/api/v1/analysis", {"game": "dots", "state": None, "seconds": 0}),
    ("/api/v1/analysis", {"game": "dots", "state": None, "lines": 2.5}),
    ("/api/v1/boards/dots", {"moves": 5}),
    ("/api/v1/boards/dots", {"state": "{", "moves": []}),
    ("/api/v1/boards/dots", {"options": ["rows"], "moves": []}),
    ("/api/v1/games/dots/positions", {"state": None, "move": None, "size": 5}),
    ("/api/v1/games/dots/positions", []),
)
RAW = (
    "input should",
    "should be a valid",
    "field required",
    "extra inputs",
    "string should",
    "list should",
    "expecting",
)


@pytest.mark.parametrize(("path", "body"), BAD, ids=range(len(BAD)))
def test_no_validators_words_reach_a_person(client: Client, path: str, body: Any) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    words = answer.json()["error"].lower()
    assert not any(raw in words for raw in RAW), words
    assert "." not in words.rstrip("."), "a path into the request is no place for people"


def test_what_is_not_json_is_said_so(client: Client) -> None:
    answer = client.post("/api/v1/plays", content=b"{", headers={"content-type": "application/json"})
    assert answer.json()["error"] == "the request is not JSON"
