"""The analysis board: any position over the API, edited and pasted in a browser."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from itertools import islice
from typing import Any

import pytest
from httpx import Client

import ludodrome
from ludodrome.web import engine
from tests.web.test_pages import WEIGHT, _parts
from tests.web.walking import API

GAMES = ludodrome.game_ids()


def board(client: Client, game: str, **wish: Any) -> Any:
    answer = client.post(f"{API}/boards/{game}", json=wish)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("game", GAMES)
def test_the_page_is_there_and_light(client: Client, game: str) -> None:
    parts = _parts(client, f"/{game}/analysis")
    assert sum(map(len, parts.values())) < WEIGHT


@pytest.mark.parametrize("game", GAMES)
def test_moves_are_tried_as_json_and_in_the_notation(client: Client, game: str) -> None:
    first = board(client, game)["positions"][0]
    move = "3:1:uuf" if game == "spaces" else first["legal"][0]
    tried = board(client, game, moves=[move])
    again = board(client, game, state=first["line"], moves=[tried["moves"][0]["text"]])
    assert again["positions"] == tried["positions"]
    assert again["moves"] == tried["moves"]
    assert board(client, game, state=tried["positions"][1]["state"])["positions"][0] == tried["positions"][1]


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("dots", {"rows": 2, "cols": 12}),
        ("santorini", {"players": 3}),
        ("spaces", {"size": 4, "rules": "live", "choice": "blind", "rounds": 2, "mode": "rounds"}),
    ],
)
def test_a_position_tells_its_options(client: Client, game: str, options: dict[str, Any]) -> None:
    made = ludodrome.make(game, **options)
    state = made.initial_state()
    for form in (made.format_state(state), state):
        assert board(client, game, state=form)["options"] == made.options


def test_those_who_wait_for_the_engine_leave_threads_for_others(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = {"game": "dots", "state": ludodrome.make("dots").initial_state(), "seconds": 0.05}
    monkeypatch.setattr(engine, "PATIENCE", 60.0)

    def ask(number: int) -> int:
        return client.post(f"{API}/{('analysis', 'values')[number % 2]}", json=question).status_code

    with ExitStack() as taken, ThreadPoolExecutor(60) as crowd:
        for _ in range(engine.MAX_SEARCHES):
            taken.enter_context(engine.engine_slot())
        asked = [crowd.submit(ask, number) for number in range(60)]
        refused = islice(as_completed(asked), 60 - engine.MAX_WAITING)  # at once, though no slot is free
        assert {one.result() for one in refused} == {503}
        begun = time.monotonic()
        assert client.get(f"{API}/games").status_code == 200
        assert time.monotonic() - begun < 3.0
        taken.close()
        assert sorted(one.result() for one in asked)[: engine.MAX_WAITING] == [200] * engine.MAX_WAITING


def test_a_text_may_be_json(client: Client) -> None:
    import json

    state = ludodrome.make("caldera").initial_state()
    assert board(client, "caldera", state=json.dumps(state))["positions"][0]["state"] == state


@pytest.mark.parametrize(
    ("game", "wish", "word"),
    [
        ("skysummit", {"state": "00000/00000/00000/00000/00000 A1A1 B2B3 2"}, "two on A1"),
        ("skysummit", {"state": "{nonsense"}, "is not JSON"),
        ("skysummit", {"state": "x" * 201_000}, "at most"),
        ("dots", {"state": "9x9 0 0 . 0 0"}, "64 is the maximum"),
        ("dots", {"moves": ["H(0,0)", "H(0,0)"]}, "move 2: "),
        ("spaces", {"state": "rounds x written seen 1/1 - -"}, "size is a whole number"),
        ("spaces", {"state": 7}, "a state of spaces"),
        ("chess", {}, "chess"),
    ],
)
def test_what_is_no_position_is_explained(client: Client, game: str, wish: Any, word: str) -> None:
    answer = client.post(f"{API}/boards/{game}", json=wish)
    assert answer.status_code == 422
    assert word in answer.json()["error"]


def test_exact_values(client: Client) -> None:
    asked = {"game": "dots", "options": {"rows": 2, "cols": 2}, "state": "2x2 00/00/00 000/000 ../.. 0 0", "seconds": 5}
    found = client.post(f"{API}/values", json=asked).json()
    assert found["proven"]
    game = ludodrome.make("dots", rows=2, cols=2)
    assert found["value"] == ludodrome.solve(game).value
    assert found["text"] == found["line"][0]
    refused = client.post(f"{API}/values", json={"game": "spaces", "state": None})
    assert refused.status_code == 422


# In the browser


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A new window in which nothing fails; what the server refuses is said there."""
    context = chromium.new_context(base_url=address, reduced_motion="reduce", viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert not faults


def test_a_position_is_edited_and_what_is_wrong_is_said(page: Any) -> None:
    page.goto("/skysummit/analysis")
    page.wait_for_selector("#board[data-ready]")
    page.click("#edit")
    page.get_by_label("Raise").click()
    for _ in range(4):
        page.locator('[data-key="c0"]').click()
    page.get_by_label("Blue worker 1").click()
    page.locator('[data-key="c0"]').click()
    page.wait_for_selector("#bar .word.no")
    assert "dome" in page.inner_text("#bar .word")
    page.click("#edit")
    assert page.locator("#palette").is_visible()
    page.locator('[data-key="c20"]').click()
    page.wait_for_selector("#bar .word:not(.no)", state="attached")
    page.click("#edit")
    page.wait_for_selector("#board[data-ready]")
    assert page.input_value("#line").startswith("4")
    assert "E1" in page.input_value("#line").split()[1]
    assert "position=4" in page.url


def test_edges_and_boxes_are_edited(page: Any) -> None:
    page.goto("/dots/analysis#position=1x1+0%2F0+00+.+0+0")
    page.wait_for_selector("#board[data-ready]")
    page.click("#edit")
    for edge in ("H0_0", "H1_0", "V0_0", "V0_1"):
        before = page.input_value("#line")
        page.locator(f'[data-key="{edge}"]').click(force=True)
        page.wait_for_function("before => document.querySelector('#line').value !== before", arg=before)
    page.get_by_label("Orange boxes").click()
    page.locator('[data-key="b0_0"]').click()
    assert page.input_value("#line") == "1x1 1/1 11 1 - 0"
    page.get_by_role("button", name="Edges").click()
    page.locator('[data-key="H0_0"]').click(force=True)
    page.get_by_label("To move").select_option("1")
    assert page.input_value("#line") == "1x1 0/1 11 . 1 0"


def test_a_position_is_pasted_and_variations_are_tried(page: Any) -> None:
    page.goto("/caldera/analysis")
    page.wait_for_selector("#board[data-ready]")
    page.fill("#line", "nonsense")
    page.click("#set")
    page.wait_for_selector("#refusal:not(:empty)")
    line = "0000000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"
    page.fill("#line", line)
    page.press("#line", "Enter")
    page.wait_for_selector("#engine .best")
    page.click("#power")
    for cell in ("c61", "c51"):
        page.locator(f'[data-key="{cell}"]').click()
    page.wait_for_selector("#tree button[aria-current]")
    page.click("#back")
    for cell in ("c61", "c50"):
        page.locator(f'[data-key="{cell}"]').click()
    page.wait_for_selector("#tree .aside-line [aria-current]")
    shared = page.url
    shown = page.input_value("#line")
    assert shown.endswith(" 21")
    page.goto("/dots")
    page.goto(shared)
    page.wait_for_selector("#tree button[aria-current]")
    assert page.input_value("#line") == shown


def test_lines_of_the_position_before_cannot_be_clicked(page: Any) -> None:
    """While another position is on its way, a click on an old line would be lost with the old position."""
    page.goto("/spaces/analysis")
    page.wait_for_selector("#engine button .best")
    held: list[Any] = []
    page.route("**/api/v1/boards/spaces", lambda route: held.append(route))
    page.fill("#line", "3:1:u6uf")
    page.click("#set")
    page.wait_for_selector("#engine:not(:has(button))")
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    page.unroute_all()
    page.wait_for_selector("#engine button .best")
    assert "u6uf" in page.url


def test_boards_of_spaces_run_against_each_other(page: Any) -> None:
    page.goto("/spaces/analysis")
    page.wait_for_selector("#board[data-ready]")
    page.fill("#line", "3:1:u6uf")
    page.click("#set")
    page.wait_for_selector("#engine button .best")
    page.locator("#engine button").first.click()
    page.wait_for_selector("#bar .tally")
    assert page.locator("#tree button[data-none], #tree button[aria-current]").count() == 1
    page.fill("#line", "3:1:u6uf|3:0:uuf")
    page.click("#set")
    page.wait_for_selector("#tree button >> nth=2")
