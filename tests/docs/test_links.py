"""No link of the pages leads nowhere, and every page can be found from the first one."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.markdown import DOCS, PAGES, ROOT, anchors, links, listed

EVERYWHERE = [*PAGES, *sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md"]


@pytest.mark.parametrize("page", EVERYWHERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        if "://" in target:
            continue
        path, _, fragment = unquote(target).partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{target} leads nowhere"
        assert found.is_relative_to(ROOT)
        if fragment and found.suffix == ".md":
            assert fragment in anchors(found), f"{found.name} has no heading {fragment}"


def test_links_within_the_site_stay_within_it() -> None:
    for page in PAGES:
        for target in links(page):
            if "://" not in target and target.partition("#")[0]:
                found = (page.parent / target.partition("#")[0]).resolve()
                assert found.is_relative_to(DOCS), f"{page.name}: {target} is no page of the site"


def test_every_page_is_in_the_contents_once() -> None:
    found: list[Path] = []
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        found.append(page.resolve())
        waiting += listed(page)
    assert sorted(found) == PAGES


def test_a_list_of_pages_names_those_of_the_contents() -> None:
    for index in DOCS.rglob("index.md"):
        linked = {(index.parent / target).resolve() for target in links(index) if "://" not in target}
        assert {page.resolve() for page in listed(index)} <= linked, index


@pytest.mark.parametrize("page", sorted((DOCS / "results").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_a_result_has_its_command_and_its_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(r"`(?:benchmarks/|ludodrome )", text), "which command made it?"
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text), "when?"
