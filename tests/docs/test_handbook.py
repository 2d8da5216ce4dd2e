"""/docs is served from the Markdown files: contents, neighbours, rules, pictures, the index of the search."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from httpx import Client

from ludodrome.web.routes import docs
from ludodrome.web.security import CONTENT_SECURITY_POLICY
from tests.docs.markdown import DOCS, PAGES
from tests.web.serving import server

ADDRESSES = [str(page.relative_to(DOCS).with_suffix(".html")) for page in PAGES]
OUTSIDE = (
    "../app.py",
    "%2e%2e/app.py",
    "..%2fapp.py",
    "%2e%2e%2fapp.py",
    "pictures/%2e%2e/%2e%2e/app.py",
    "//etc/passwd",
)
MAX_INDEX_BYTES = 300_000
"""Of the index of the search as it is sent, compressed; it is loaded by those who search."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with server() as address, Client(base_url=address, timeout=60) as running:
        yield running


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_is_shown(client: Client, address: str) -> None:
    answer = client.get(f"/docs/{address}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    article = answer.text.partition("<article")[2].partition("</article>")[0]
    assert "<h1" in article
    for trace in ("```", "<!--", "&lt;!--", ".md#", '.md"', "{include}", "{eval-rst}"):
        assert trace not in article, trace
    assert answer.text.count('aria-current="page"') == 1
    assert '<script type="module" src="/static/docs.js"></script>' in answer.text


def test_links_between_pages_lead_to_pages(client: Client) -> None:
    anchors: dict[str, set[str]] = {}
    wanted: set[tuple[str, str, str]] = set()
    for address in ADDRESSES:
        text = client.get(f"/docs/{address}").text
        anchors[address] = set(re.findall(r'\sid="([^"]+)"', text))
        body = text.partition('<div class="docs-frame">')[2]
        for target in re.findall(r'(?:href|src)="([^"]*)"', body):
            if "://" not in target and not target.startswith("/"):
                path, _, anchor = target.partition("#")
                found = str((Path("/") / Path(address).parent / path).resolve()).lstrip("/") if path else address
                wanted.add((address, found, anchor))
    assert len(wanted) > 1000
    for address, found, anchor in wanted:
        if not found.startswith("pictures/"):
            assert found in anchors, f"{address} links {found}"
            assert not anchor or anchor in anchors[found], f"{address} links {found}#{anchor}"
    for picture in {found for _, found, _ in wanted if found.startswith("pictures/")}:
        assert client.get(f"/docs/{picture}").headers["content-type"].startswith("image/"), picture


def test_pages_have_the_rules_and_pictures_in_them(client: Client) -> None:
    page = client.get("/docs/games/dots.html").text
    assert '<p id="R13">' in page
    assert client.get("/docs/results/perfect-spaces.html").text.count("../pictures/") >= 4
    assert client.get("/docs/pictures/ambush.svg").headers["content-type"] == "image/svg+xml"


def test_links_of_the_rules_are_seen_from_the_page() -> None:
    text = (
        "# Dots\n\nSee [how](../../../../docs/how-to/puzzles.md#easy), [others](../caldera/RULES.md) and [R2](#R2).\n"
    )
    page = docs._rendered("games/dots.md", "# D\n\n[The rules](../../src/ludodrome/games/dots/RULES.md)\n", text)
    for link in ("../how-to/puzzles.html#easy", "/caldera/rules", "#R2"):
        assert f'href="{link}"' in page.body
    assert "<h1" in page.body
    assert page.body.count("<h1") == 1


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    page = docs._rendered("a.md", "# A\n\n## The `same`\n\n## The same\n\ntext\n", "")
    assert page.contents == (("the-same", "The same"), ("the-same-1", "The same"))
    assert [section.anchor for section in page.sections] == ["a", "the-same", "the-same-1"]


def test_html_in_a_page_is_text() -> None:
    page = docs._rendered("a.md", "# A\n\n<script>alert(1)</script> [x](javascript:alert(1))\n", "")
    assert "<script" not in page.body
    assert 'href="javascript' not in page.body


def test_the_index_leads_to_every_part(client: Client) -> None:
    first = client.get("/docs", follow_redirects=True)
    assert first.url.path == "/docs/"
    for part in ("tutorials", "how-to", "games", "reference", "explanation", "results"):
        assert f'href="{part}/index.html"' in first.text
        assert client.get(f"/docs/{part}/").status_code == 200


def test_every_page_leads_to_the_next_and_the_previous(client: Client) -> None:
    order = [entry.address for entry in docs.in_order(docs.contents())]
    for before, after in pairwise(order):
        up = "../" * before.count("/")
        assert f'<a rel="next" href="{up}{after}">' in client.get(f"/docs/{before}").text
        up = "../" * after.count("/")
        assert f'<a rel="prev" href="{up}{before}">' in client.get(f"/docs/{after}").text


def test_the_index_of_the_search_has_every_page_and_is_kept(client: Client) -> None:
    answer = client.get("/docs/search.json")
    index = answer.json()
    assert sorted(address for address, _, _ in index["pages"]) == sorted(ADDRESSES)
    texts = [f"{title} {text}" for _, _, title, text in index["sections"]]
    assert sum("illegal move" in text for text in texts) > 10
    assert any("IllegalMove" in title for _, _, title, _ in index["sections"])
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.num_bytes_downloaded < MAX_INDEX_BYTES
    again = client.get("/docs/search.json", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/docs/search.html?q=%3Cscript%3E").text.count("<script>") == 0
    json.dumps(index)


def test_without_any_pages_the_index_says_so(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "SOURCE", tmp_path / "nothing")
    answer = client.get("/docs/")
    assert answer.status_code == 200
    assert "This installation does not include it" in answer.text
    assert client.get("/docs/how-to/web.html").status_code == 404


@pytest.mark.parametrize("address", ["nowhere.html", "how-to/nowhere.html", "pictures/nothing.svg", *OUTSIDE])
def test_what_is_not_there_has_a_page_that_says_so(
    client: Client, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").write_text("a secret")
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    monkeypatch.setattr(docs, "SOURCE", tmp_path / "docs")
    answer = client.get(f"/docs/{address}")
    assert answer.status_code == 404
    assert "secret" not in answer.text
    assert "<h1>Page not found</h1>" in answer.text


def test_nothing_can_be_written(client: Client) -> None:
    assert client.post("/docs/index.html", json={}).status_code == 405


def test_the_pages_lead_there(client: Client) -> None:
    assert 'href="/docs/"' in client.get("/dots").text
