"""Every page as those meet it who do not see it well: axe finds nothing serious, light and dark, narrow and wide.

While they are open they are weighed, too: with everything that was loaded, unpacked.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import ludodrome
from ludodrome.store import accounts
from tests.web.hosting import PASSWORD, Hosted
from tests.web.leagues import populate
from tests.web.serving import server
from tests.web.test_pages import WEIGHT
from tools import screenshots

WAYS = [(width, scheme) for width, scheme in product(screenshots.SIZES, screenshots.SCHEMES)]
WEIGHED = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter(({ name }) => !name.includes("/api/")).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)"""
GRAVE = ("serious", "critical")
SLOW = ("replay", "editor", "-analysis", "three", "round", "matrix", "waiting", "clock", "solved")
"""Pages whose pictures want an engine or a wait: with --long. One game is replayed in any case."""
TABS = ("play", "board", "puzzles", "puzzle", "rules", "arena", "new-bot", "leaderboard")
OPTIONS = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}

Act = Callable[[Any], None] | None


@pytest.fixture(scope="module")
def league() -> Iterator[str]:
    """A server with a league to look at."""
    with server(prepare=populate) as running:
        yield running


def pages() -> dict[str, tuple[str, Act]]:
    """The pages of which pictures are taken, and the tabs that are alike in every game."""
    found = screenshots.pages()
    for game in ludodrome.game_ids():
        for name in ("arena", "bots/new", "leaderboard"):
            found.setdefault(f"{game}-{name.replace('bots/new', 'new-bot')}", (f"/{game}/{name}", None))
    found["dots-game"] = ("/dots/arena", _first_game)
    return found


def _first_game(page: Any) -> None:
    page.locator("#results .score").first.click()
    page.locator(".graph .curve").first.wait_for(state="attached")


def _drawn(page: Any) -> None:
    page.locator("#board svg").wait_for()


def usual() -> dict[str, tuple[str, Act]]:
    """What is looked at in every run: each tab for one of the games, analysis boards without the engine's word."""
    games = ludodrome.game_ids()
    turns = {f"{game}-{tab}" for at, tab in enumerate(TABS) for game in (games[at % 5],)}
    others = {f"{game}-{tab}" for game in games for tab in TABS} - turns
    chosen = {
        name: one for name, one in pages().items() if name not in others and not any(word in name for word in SLOW)
    }
    return {name: (path, _drawn if name.endswith("-board") else act) for name, (path, act) in chosen.items()}


def findings(page: Any) -> list[str]:
    """What axe holds against a page, a line each."""
    return [
        f"{one['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for one in Axe().run(page, options=OPTIONS).response["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def visit(chromium: Any, address: str, way: tuple[int, str], visited: dict[str, tuple[str, Act]]) -> dict[str, Any]:
    """The faults of some pages in one window."""
    width, scheme = way
    context = chromium.new_context(
        base_url=address,
        reduced_motion="reduce",
        viewport={"width": width, "height": screenshots.SIZES[width]},
        color_scheme=scheme,
    )
    faults = {}
    for name, (path, act) in visited.items():
        page = context.new_page()
        page.set_default_timeout(screenshots.PATIENCE)
        page.goto(path)
        if act:
            act(page)
        found = findings(page)
        weight = page.evaluate(WEIGHED)
        if weight >= WEIGHT:
            found.append(f"it weighs {weight} bytes")
        if found:
            faults[f"{name} {width} {scheme}"] = found
        page.evaluate("localStorage.clear()")
        page.close()
    context.close()
    return faults


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0]}-{way[1]}")
def test_axe_finds_nothing_serious(chromium: Any, league: str, long: bool, way: tuple[int, str]) -> None:
    """The usual run sees half of the pages, each in one of two ways; --long sees all in all."""
    if not long and way not in (WAYS[0], WAYS[-1]):
        pytest.skip("the other two ways come with --long")
    visited = list((pages() if long else usual()).items())
    assert not visit(chromium, league, way, dict(visited if long else visited[WAYS.index(way) :: len(WAYS)]))


def test_axe_finds_faults_where_there_are_some(chromium: Any) -> None:
    page = chromium.new_page()
    page.set_content("<html lang='en'><title>A</title><main><h1>A</h1><img src='a.png'><button></button></main></html>")
    assert {line.split(":")[0] for line in findings(page)} == {"image-alt", "button-name"}
    page.close()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0]}-{way[1]}")
def test_axe_finds_nothing_serious_where_people_sign_in(
    chromium: Any, hosted: Hosted, long: bool, way: tuple[int, str]
) -> None:
    if not long and way != WAYS[-1]:
        pytest.skip("the other ways come with --long")
    name = f"Axe {way[0]} {way[1]}"
    hosted.person(name)

    def refused(page: Any) -> None:
        page.fill("#name", name)
        page.fill("#password", "something else")
        page.click("button[type=submit]")
        page.locator("#no:not(:empty)").wait_for()

    def signed(page: Any) -> None:
        page.fill("#name", name)
        page.fill("#password", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url("**/account")
        page.locator("#tokens[aria-busy=false], #tokens:not([aria-busy])").wait_for()

    def token(page: Any) -> None:
        page.fill("#label", "a program")
        page.locator("#scopes input").first.check()
        page.click("#new-token button[type=submit]")
        page.locator("#secret:not([hidden])").wait_for()

    def factor(page: Any) -> None:
        page.click("#delete summary")
        page.fill("#factor-password", PASSWORD)
        page.click("#factor button[type=submit]")
        page.locator("#factor .key").wait_for()

    def log(page: Any) -> None:
        page.locator("#log time").first.wait_for()

    accounts.set_admin(hosted.engine, hosted.person(name).id, True)
    visited: dict[str, tuple[str, Act]] = {
        "sign-up": ("/sign-up", None),
        "refused": ("/sign-in", refused),
        "account": ("/sign-in?next=/account", signed),
        "token": ("/account", token),
        "second factor": ("/account", factor),
        "audit log": ("/admin/audit", log),
        "play": ("/dots", None),
        "new bot": ("/dots/bots/new", None),
    }
    assert not visit(chromium, hosted.address, way, visited)
