"""Nothing jumps: the board and the panel stay where they are, whatever arrives."""

import time
from typing import Any

import pytest

import ludodrome
from tools.screenshots import PATIENCE, SIZES

PARTS = ("#board", "#bar", ".panel", "#others", "#moves", "#engine", "#yours", ".actions")
BOXES = """(names) => Object.fromEntries(names.map((name) => {
    const { x, y, width, height } = document.querySelector(name).getBoundingClientRect();
    return [name, [x + scrollX, y + scrollY, width, height].map(Math.round).join(" ")];
}))"""
OPTIONS: dict[str, dict[str, Any]] = {"dots": {"rows": 2, "cols": 2}, "spaces": {"size": 3, "rounds": 2}}
USUAL = ("dots", "skysummit")
CLICKS = 6
SETTLED = "document.querySelector('#board[data-ready], #engine .result, #bar .button.first')"


def _boxes(page: Any) -> Any:
    return page.evaluate(BOXES, list(PARTS))


def _until(page: Any, expression: str) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_a_game_moves_nothing_but_its_pieces(chromium: Any, address: str, long: bool, game: str, width: int) -> None:
    """A pick, a move, the answer, a hint, the analysis and the end: each box is where it was."""
    if not long and game not in USUAL:
        pytest.skip("the other games come with --long")
    context = chromium.new_context(base_url=address, viewport={"width": width, "height": SIZES[width]})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wish = {"game": game, "seats": ["person", "random"], "options": OPTIONS.get(game, {}), "seed": 3, "clock": "5m++3s"}
    play = page.request.post("/api/v1/plays", data=wish).json()
    page.goto(f"/{game}/plays/{play['id']}")
    page.wait_for_selector("#board[data-ready]")
    before = _boxes(page)
    for _ in range(CLICKS):
        _until(page, SETTLED)
        if not page.locator("#board[data-ready] .target.live").count():
            break
        page.locator("#board[data-ready] .target.live").first.click(force=True)
        assert _boxes(page) == before
        page.wait_for_timeout(300)
        assert _boxes(page) == before
    _until(page, SETTLED)
    if not page.locator("#engine .result").count():
        if page.locator("#analysis").is_visible():
            page.click("#analysis")
            assert _boxes(page) == before
            page.wait_for_selector("#value.known")
            assert _boxes(page) == before
        page.click("#resign", click_count=2)
    page.wait_for_selector("#engine .result")
    assert _boxes(page) == before
    context.close()
