"""No link of the pages leads nowhere, and every page can be found from the first one."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from ludodrome.web.routes.docs import RULES_FILE, contents, in_order
from tests.docs.markdown import DOCS, PAGES, ROOT, anchors, links

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
                rules = RULES_FILE.fullmatch(str(found.relative_to(ROOT)))
                assert rules or found.is_relative_to(DOCS), f"{page.name}: {target} is no page of the site"


def test_every_page_is_in_the_contents_once() -> None:
    assert sorted(DOCS / entry.path for entry in in_order(contents())) == PAGES


def test_the_contents_begin_with_what_a_newcomer_needs() -> None:
    assert [entry.title for entry in contents().children][:2] == ["Tutorials", "Games"]


@pytest.mark.parametrize("page", sorted((DOCS / "results").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_a_result_has_its_command_and_its_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(r"`(?:benchmarks/|ludodrome )", text), "which command made it?"
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text), "when?"
