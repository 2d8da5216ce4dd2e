"""A browser plays every lesson to its end by clicking, and begins the first game after it."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import ludodrome
from ludodrome.puzzle.lessons import lesson
from tests.web.serving import quiet_window

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is clicked")

PATIENCE = 120_000
SIDE = 5
FIRST_MOVES: dict[str, Any] = {"skysummit": {"t": "place", "to": [6, 12]}, "santorini": "[N1C2B2C1]"}
FIRST_KEYS = {
    "skysummit": {"place"},
    "santorini": {"turn"},
    "caldera": {"move"},
    "dots": {"edge"},
    "spaces": set(),
}
"""What the first moves of the first games do that is explained at once, as far as it does not depend on chance."""


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A window that says nothing on its console and fails nowhere."""
    settings = {"reduced_motion": "reduce", "viewport": {"width": 1200, "height": 900}}
    with quiet_window(chromium, address, PATIENCE, **settings) as opened:
        yield opened


# Moves as clicks


def _cell(name: str) -> int:
    return "ABCDE".index(name[0]) * SIDE + int(name[1]) - 1


def _keys(page: Any, *keys: str) -> None:
    for key in keys:
        page.locator(f"#board [data-key='{key}']").first.click(force=True)


def _click_skysummit(page: Any, state: Any, move: Any) -> None:
    if move["t"] == "place":
        _keys(page, *(f"c{cell}" for cell in move["to"]))
        return
    worker = state["workers"][state["ply"] % 2][move["w"]]
    _keys(page, f"c{worker}", f"c{move['to']}")
    if move["build"] is not None and page.locator("#board .plus").count():
        _keys(page, f"c{move['build']}")


def _click_santorini(page: Any, state: Any, move: str) -> None:
    source, to, build = (f"c{_cell(move[at : at + 2])}" for at in (3, 5, 7))
    _keys(page, source, to)
    if page.locator("#board .plus").count():
        _keys(page, build)


def _click_caldera(page: Any, state: Any, move: Any) -> None:
    cells = ["c" + "".join(map(str, move[name])) for name in ("from", "to", "smith", "target") if name in move]
    _keys(page, cells[0])
    if move["action"] == "forge":
        page.click("#bar button:text-is('Forge')")
    _keys(page, cells[1])
    if page.locator("#board .boom").count():
        _keys(page, cells[1])


def _click_dots(page: Any, state: Any, move: Any) -> None:
    edge = page.locator(f"#board [data-key='{move['orient']}{move['r']}_{move['c']}'] .hit")
    edge.click(force=True)


def _click_spaces(page: Any, state: Any, move: Any) -> None:
    for step in move["sequence"]:
        row, col = step["position"]["row"], step["position"]["col"]
        if step["type"] == "trap":
            page.click("#bar button:text-is('Trap')")
        page.wait_for_selector(f"#board .target.live[data-key='{row}_{col}']")
        _keys(page, f"{row}_{col}")
    page.click("#bar button:enabled:text-is('Lay board')")


CLICKS: dict[str, Callable[[Any, Any, Any], None]] = {
    "skysummit": _click_skysummit,
    "santorini": _click_santorini,
    "caldera": _click_caldera,
    "dots": _click_dots,
    "spaces": _click_spaces,
}


def _answer(page: Any, act: Callable[[], None]) -> Any:
    """What the server says about the move that ``act`` makes."""
    with page.expect_response(lambda one: "/lesson/" in one.url and one.request.method == "POST") as waiting:
        act()
    return waiting.value.json()


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_a_lesson_is_clicked_to_its_end(page: Any, game: str) -> None:
    found = lesson(game)
    assert found is not None
    page.goto(f"/{game}/learn")
    for number, step in enumerate(found.steps, 1):
        page.wait_for_selector(f".steps [data-step='{number}'][aria-current]")
        page.wait_for_selector("#board[data-ready]")
        assert page.inner_text("#title") == step.title
        assert page.inner_text("#idea") == step.idea
        shown = page.request.get(f"/api/v1/games/{game}/lesson/{number}").json()
        for at, task in enumerate(step.tasks):
            assert page.inner_text("#task") == task.task
            page.wait_for_selector("#board[data-ready]")
            answer = _answer(page, partial(CLICKS[game], page, shown["position"]["state"], shown["hint"]))
            assert answer["right"], (number, at, answer["sentence"])
            assert answer["done"] == (at == len(step.tasks) - 1)
            page.wait_for_selector(f"#verdict.right:text-is({json.dumps(answer['sentence'])})")
            shown = answer.get("next")
        assert page.locator(f".steps [data-step='{number}'].done").count() == 1
        page.click("#next:text-is('Next')")
    assert page.get_attribute("#first", "href") == f"/{game}?first=1"
    page.reload()
    page.wait_for_selector("#first")  # progress is kept: the lesson goes on where it was left
    assert page.locator(".steps .done").count() == len(found.steps)


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_the_first_game_explains_what_happens(page: Any, game: str) -> None:
    page.goto(f"/{game}?first=1")
    page.wait_for_selector("#note:has-text('Your first game')")
    page.wait_for_selector("#board[data-ready]")
    play = page.request.get(f"/api/v1/plays/{page.url.rpartition('/')[2]}").json()
    assert [seat["spec"] for seat in play["seats"]] == ["person", "level:1"]
    state = play["position"]["state"]
    move = FIRST_MOVES.get(game) or ludodrome.make(game, **play["options"]).legal_moves(state)[0]
    CLICKS[game](page, state, move)
    page.wait_for_selector("#note p:nth-child(1):has(svg)")
    assert "You" in page.inner_text("#note")
    told = set(page.evaluate(f"localStorage.getItem('ludodrome explained {game}')").split("|"))
    assert told >= FIRST_KEYS[game]
    page.reload()
    page.wait_for_selector("#note:not([hidden])")  # it stays a first game


def test_wrong_tries_are_shown_and_taken_back_and_then_a_hint_comes(page: Any) -> None:
    page.goto("/skysummit/learn")
    page.wait_for_selector("#board[data-ready]")
    for tries in (1, 2):
        answer = _answer(page, lambda: _keys(page, "c24", "c23", "c22"))  # worker 2 somewhere else
        assert answer == {**answer, "legal": True, "right": False}
        page.wait_for_selector("#verdict.wrong:has-text('You stepped with worker 2 from E5 to E4 and raised E3')")
        assert page.locator("#board .arrow").count() == 0
        if tries == 1:
            page.click("#hint:text-is('Try again')")
        else:
            page.locator("#board svg").click(position={"x": 20, "y": 20})
        page.wait_for_selector("#board[data-ready]")
        assert "You stepped with worker 2" in page.inner_text("#verdict")  # it can be read until the next try
    page.wait_for_selector("#board .arrow")


def test_the_click_that_takes_a_wrong_try_back_picks_what_it_hits(page: Any) -> None:
    page.goto("/skysummit/learn")
    page.wait_for_selector("#board[data-ready]")
    _answer(page, lambda: _keys(page, "c24", "c23", "c22"))
    page.wait_for_selector("#hint:text-is('Try again')")
    _keys(page, "c24")
    page.wait_for_selector("#bar .word:has-text('Worker 2: where to?')")
    assert page.locator("#board .picked").count() == 1


def test_a_square_of_spaces_is_chosen_by_the_click_that_takes_a_round_back(page: Any) -> None:
    page.goto("/spaces/learn#3")
    page.wait_for_selector("#board[data-ready] .target.live")
    hint = page.request.get("/api/v1/games/spaces/lesson/2").json()["hint"]  # a detour, where a collision is asked for
    answer = _answer(page, partial(_click_spaces, page, None, hint))
    assert answer == {**answer, "legal": True, "right": False}
    page.wait_for_selector("#hint:text-is('Try again')")
    start = page.locator("#board svg").bounding_box()
    page.mouse.click(
        start["x"] + start["width"] / 2, start["y"] + start["height"] * 0.72
    )  # the middle of the bottom row
    page.wait_for_selector("#bar .word:has-text('Step 2:')")
    assert page.locator("#board .step-number").count() == 1


def test_a_wrong_edge_shows_what_the_opponent_takes_and_one_click_tries_again(page: Any) -> None:
    page.goto("/dots/learn#6")
    page.wait_for_selector("#board[data-ready]")
    boxes = page.locator("#board .box.s1")
    before = boxes.count()
    answer = _answer(page, lambda: _keys(page, "V0_0"))  # opens the chain of three
    assert (answer["right"], len(answer["line"])) == (False, 4)
    page.wait_for_selector("#verdict.wrong:has-text('your opponent takes it')")
    page.wait_for_selector("#hint:text-is('Try again')")
    assert boxes.count() == before + 3
    answer = _answer(page, lambda: _keys(page, "H2_2"))
    assert answer["right"]
    page.wait_for_selector("#verdict.right")


def test_a_lesson_that_loads_slowly_says_so_and_can_be_tried_again(page: Any) -> None:
    held: list[Any] = []
    page.route("**/lesson/1", lambda route: route.continue_() if held else held.append(route))
    page.goto("/dots/learn")
    page.wait_for_selector("#idea:has-text('Loading the lesson')")
    assert all(page.is_disabled(f"#{button}") for button in ("back", "hint", "next", "skip"))
    page.wait_for_selector("#idea:has-text('This takes longer than usual.')")
    page.click("#idea button:text-is('Try again')")
    page.wait_for_selector("#board[data-ready]")
    assert page.is_enabled("#hint")
    assert page.is_enabled("#skip")
    assert not page.is_visible("#next")  # its corner stays empty until the step is done
    held[0].continue_()


def test_a_first_game_explains_each_thing_once_and_hints_in_words(page: Any) -> None:
    page.goto("/caldera?first=1")
    for number, (source, to) in enumerate((("c62", "c52"), ("c64", "c54")), 1):
        page.wait_for_selector("#board[data-ready]")
        _keys(page, source, to)
        page.wait_for_selector(f"#moves li:nth-child({number}) button:nth-of-type(2)")
        page.wait_for_selector("#board[data-ready]")
        if number == 1:
            page.wait_for_selector("#note:has-text('You moved the smith') p:has-text('Your opponent'):has(svg)")
        else:
            page.wait_for_selector("#note:not(:has-text('You moved the smith'))")
        assert len(page.query_selector_all("#note p")) <= 3
    _keys(page, "c63")
    page.click("#hint")
    page.wait_for_selector("#engine b:has-text(' the ')")
    assert page.inner_text("#engine").split()[0] in ("Move", "Capture", "Forge")
    assert page.locator("#board .picked").count() == 0  # the hint may be about another piece
    assert not set("+^.") & set(page.inner_text("#engine").removesuffix("."))  # neither a score nor notation


def test_a_refused_move_says_why_in_place(page: Any) -> None:
    page.goto("/skysummit/learn#1")
    page.wait_for_selector("#board[data-ready]")
    _keys(page, "c24")
    answer = _answer(page, lambda: _keys(page, "c0"))
    assert (answer["legal"], answer["right"]) == (False, False)
    page.wait_for_selector("#bar .word.no:has-text('A1 is not next to worker 2, which is on E5')")


def test_refusals_and_the_idea_are_in_view_on_a_phone(chromium: Any, address: str) -> None:
    context = chromium.new_context(
        base_url=address, viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto("/skysummit/learn")
    page.wait_for_selector("#board[data-ready]", timeout=PATIENCE)
    _keys(page, "c24", "c0")
    page.wait_for_selector("#board .refusal:has-text('A1 is not next to worker 2')")
    shown, board = (page.locator(one).bounding_box() for one in ("#board .refusal", "#board svg"))
    assert shown["y"] >= 0
    assert shown["y"] + shown["height"] <= board["y"]
    assert page.get_attribute("#bar .word", "role") == "status"  # it reads the same words out
    assert page.inner_text("#bar .word") == page.inner_text("#board .refusal")
    _keys(page, "c23")
    assert page.locator("#board .refusal").count() == 0
    _keys(page, "c22")
    page.wait_for_selector("#verdict.wrong")
    top = page.locator(".actions").bounding_box()["y"]
    for part in ("#idea", "#task", "#verdict"):
        box = page.locator(part).bounding_box()
        assert box["height"] > 0
        assert box["y"] + box["height"] <= top
    context.close()


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_board_and_task_are_seen_together_on_a_phone(chromium: Any, address: str, game: str) -> None:
    context = chromium.new_context(base_url=address, viewport={"width": 390, "height": 844})
    page = context.new_page()
    found = lesson(game)
    assert found is not None
    for number in range(1, len(found.steps) + 1):
        page.goto(f"/{game}/learn#{number}")
        page.reload()
        page.wait_for_selector("#board[data-ready]")
        page.wait_for_selector(f"#task:text-is({json.dumps(found.steps[number - 1].tasks[0].task)})")
        bottom, top, width = page.evaluate(
            "[document.querySelector('#task').getBoundingClientRect().bottom,"
            " document.querySelector('.actions').getBoundingClientRect().top, document.documentElement.scrollWidth]"
        )
        assert bottom <= top, (game, number)
        assert width <= 390
    context.close()
