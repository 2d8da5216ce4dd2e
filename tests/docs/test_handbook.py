"""/docs is served: the built site where there is one, else the Markdown pages, at the same addresses."""

from collections.abc import Iterator
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
    "_static/%2e%2e/%2e%2e/app.py",
    "//etc/passwd",
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with server() as address, Client(base_url=address, timeout=60) as running:
        yield running


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "SITE", tmp_path / "site")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    (site / "_static").mkdir(parents=True)
    (site / "how-to").mkdir()
    (site / "index.html").write_text("<h1>The site</h1>")
    (site / "how-to" / "index.html").write_text("<h1>How-to</h1>")
    (site / "_static" / "site.css").write_text("body { color: red; }")
    (site / "_static" / "site.js").write_text("void 0;")
    (tmp_path / "app.py").write_text("a secret")
    monkeypatch.setattr(docs, "SITE", site)
    return site


@pytest.mark.usefixtures("unbuilt")
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_is_shown_plainly_where_nothing_was_built(client: Client, address: str) -> None:
    answer = client.get(f"/docs/{address}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "```" not in answer.text
    assert "<!--" not in answer.text.partition("<article")[2]
    assert ".md#" not in answer.text
    assert '.md"' not in answer.text


@pytest.mark.usefixtures("unbuilt")
def test_plain_pages_have_the_rules_and_pictures_in_them(client: Client) -> None:
    page = client.get("/docs/games/dots.html").text
    assert "<h1" in page
    assert "R13." in page
    assert client.get("/docs/results/perfect-spaces.html").text.count("../pictures/") >= 4
    assert client.get("/docs/pictures/ambush.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.usefixtures("unbuilt")
def test_the_index_leads_to_every_part(client: Client) -> None:
    first = client.get("/docs", follow_redirects=True)
    assert first.url.path == "/docs/"
    for part in ("tutorials", "how-to", "games", "reference", "explanation", "results"):
        assert f'href="{part}/index.html"' in first.text
        assert client.get(f"/docs/{part}/").status_code == 200


@pytest.mark.usefixtures("unbuilt")
def test_without_any_pages_the_index_says_so(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "SOURCE", tmp_path / "nothing")
    answer = client.get("/docs/")
    assert answer.status_code == 200
    assert "This installation does not include it" in answer.text
    assert client.get("/docs/how-to/web.html").status_code == 404


@pytest.mark.usefixtures("built")
def test_the_built_site_is_served_with_types_and_kept(client: Client) -> None:
    kinds = {
        "": "text/html",
        "how-to/": "text/html",
        "_static/site.css": "text/css",
        "_static/site.js": "text/javascript",
    }
    for address, kind in kinds.items():
        answer = client.get(f"/docs/{address}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["cache-control"] == "no-cache"
        again = client.get(f"/docs/{address}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("way", ["built", "unbuilt"])
@pytest.mark.parametrize("address", ["nowhere.html", "how-to/nowhere.html", "pictures/nothing.svg", *OUTSIDE])
def test_what_is_not_there_has_a_page_that_says_so(
    client: Client, way: str, address: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(way)
    answer = client.get(f"/docs/{address}")
    assert answer.status_code == 404
    assert "secret" not in answer.text
    assert "<h1>Page not found</h1>" in answer.text


@pytest.mark.usefixtures("built")
def test_nothing_can_be_written(client: Client) -> None:
    assert client.post("/docs/index.html", json={}).status_code == 405


def test_the_pages_lead_there(client: Client) -> None:
    assert 'href="/docs/"' in client.get("/dots").text
