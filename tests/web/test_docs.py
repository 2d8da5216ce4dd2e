"""The documentation in a browser: it is searched and walked through, wide and narrow, under the server's policy."""

from collections.abc import Iterator
from typing import Any

import pytest

from ludodrome.web.routes import docs
from tests.web.test_axe import findings

SIZES = {390: 844, 1440: 900}
SOME = (
    "index.html",
    "tutorials/player.html",
    "games/dots.html",
    "games/index.html",
    "reference/api/ludodrome.html",
    "reference/commands.html",
    "results/perfect-spaces.html",
    "search.html?q=illegal+move",
)
"""Pages of each kind, which axe looks at in every run."""


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, chromium: Any, address: str) -> Iterator[Any]:
    """A page of a browser that has nothing to complain about."""
    complaints: list[str] = []
    size = {"width": request.param, "height": SIZES[request.param]}
    opened = chromium.new_page(base_url=address, viewport=size)
    opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert not complaints


def is_too_wide(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_the_search_finds_while_typing_and_on_its_page(page: Any) -> None:
    page.goto("/docs/")
    page.fill("#query", "illegal move")
    page.locator("#found li").first.wait_for()
    assert "IllegalMove" in page.locator("#found li a").all_inner_texts()
    assert page.locator("#found mark").count() > 0
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('#found') !== null")
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/search.html?q=illegal%20move")
    page.locator("#results li a", has_text="What the arena does").first.click()
    page.wait_for_url("**/docs/games/*.html#what-the-arena-does")
    page.locator("h2", has_text="What the arena does").wait_for()
    assert not is_too_wide(page)


def test_a_key_leads_to_the_search_and_nothing_found_is_said(page: Any) -> None:
    page.goto("/docs/reference/api/ludodrome.html")
    page.keyboard.press("/")
    page.keyboard.type("xylophone quartet")
    page.locator("#found .count", has_text="Nothing was found").wait_for()
    page.fill("#query", "(+[\\")
    page.locator("#found .count", has_text="Nothing was found").wait_for()


def test_the_tree_leads_from_part_to_page(page: Any) -> None:
    page.goto("/docs/")
    narrow = page.viewport_size["width"] < 800
    for name in ("Games", "Caldera"):
        if narrow:
            assert page.locator("#tree").is_hidden()
            page.click("#unfold")
            assert page.get_attribute("#unfold", "aria-expanded") == "true"
        page.locator("#tree a", has_text=name).first.click()
        page.locator("h1", has_text=name).wait_for()
        assert page.locator('#tree [aria-current="page"]').inner_text() == name or narrow
    assert page.locator(".here").is_visible() != narrow
    assert not is_too_wide(page)


def test_next_and_previous_lead_through_the_tutorials(page: Any) -> None:
    order = [entry for entry in docs.in_order(docs.contents()) if entry.path.startswith("tutorials/")]
    page.goto(f"/docs/{order[0].address}")
    for entry in order[1:]:
        page.click('.turn a[rel="next"]')
        page.wait_for_url(f"**/docs/{entry.address}")
    page.click('.turn a[rel="prev"]')
    page.wait_for_url(f"**/docs/{order[-2].address}")


def test_text_is_at_most_72_letters_wide(chromium: Any, address: str) -> None:
    page = chromium.new_page(base_url=address, viewport={"width": 1440, "height": 900})
    page.goto("/docs/how-to/web.html")
    counts = """() => {
        const paragraph = [...document.querySelectorAll(".prose > p")].find((one) => one.textContent.length > 300);
        const text = document.createRange();
        const lines = new Map();
        const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode())
            for (let at = 0; at < node.length; at += 1) {
                text.setStart(node, at);
                text.setEnd(node, at + 1);
                const line = Math.round(text.getBoundingClientRect().bottom / 8);
                lines.set(line, (lines.get(line) ?? 0) + 1);
            }
        return [...lines.values()];
    }"""
    widths = page.evaluate(counts)
    page.close()
    assert len(widths) > 3
    assert max(widths) <= 76  # a line of narrow letters
    assert sorted(widths)[len(widths) // 2] <= 72


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (390, "light"), (1440, "light"), (1440, "dark")])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    chromium: Any, address: str, long: bool, width: int, scheme: str
) -> None:
    if not long and (width, scheme) not in ((390, "dark"), (1440, "light")):
        pytest.skip("the other two ways come with --long")
    every = [entry.address for entry in docs.in_order(docs.contents())]
    size = {"width": width, "height": SIZES[width]}
    context = chromium.new_context(base_url=address, viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page, faults = context.new_page(), []
    for name in (*every, SOME[-1]) if long else SOME:
        page.goto(f"/docs/{name}")
        if "search" in name:
            page.locator("#results li").first.wait_for()
        faults += [f"{name}: {one}" for one in findings(page)]
        if is_too_wide(page):
            faults.append(f"{name} is too wide")
    context.close()
    assert not faults
