"""Point 8 of the list of attacks: an address of this server leads to no other server after signing in."""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.web.hosting import PASSWORD, Hosted, hosting
from tests.web.serving import CHROMIUM, browser

ELSEWHERE = (
    "/.//example.org/",
    "/..//example.org/",
    "/./%2e//example.org/",
    "/x/..//example.org/",
    "/.\\/example.org/",
    "//example.org/",
    "\\\\example.org/",
    "/\\example.org/",
    "/\t/example.org/",
    "\n//example.org/",
    "https://example.org/",
    "https:example.org/",
    "http://127.0.0.1@example.org/",
    "//example.org:80\\@127.0.0.1/",
    "javascript:document.title='run'",
    "data:text/html,run",
    "http://[/",
)
OWN = {"/dots?x=1#y": "/dots?x=1#y", "": "/", "account": "/account", "/x/../dots": "/dots"}


@pytest.fixture(scope="module")
def hosted() -> Iterator[Hosted]:
    """A server for everybody."""
    with hosting() as running:
        running.person("Ada")
        yield running


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A window in which no other host is reached: requests to others are noted and cut off."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is clicked")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    with browser() as running:
        yield running.new_page()


def sign_in(page: Any, hosted: Hosted, wanted: str) -> tuple[str, list[str]]:
    """Where the browser is after signing in with ``next``, and which other hosts were asked for."""
    page.context.clear_cookies()
    strange: list[str] = []

    def look(route: Any) -> None:
        if route.request.url.startswith(f"{hosted.address}/"):
            route.continue_()
        else:
            strange.append(route.request.url)
            route.abort()

    page.route("**/*", look)
    page.goto(f"{hosted.address}/sign-in?next={quote(wanted, safe='')}")
    page.fill("#name", "Ada")
    page.fill("#password", PASSWORD)
    with page.expect_response(f"{hosted.address}/api/v1/session"):
        page.click("#sign button")
    deadline = time.monotonic() + 60
    while page.url.startswith(f"{hosted.address}/sign-in") and not strange and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    page.unroute("**/*")
    return page.url.removeprefix(hosted.address), strange


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_point_8_signing_in_leads_to_no_other_server(page: Any, hosted: Hosted, wanted: str) -> None:
    where, strange = sign_in(page, hosted, wanted)
    assert strange == []
    assert where.startswith("/")
    assert page.title() != "run"


@pytest.mark.parametrize("wanted", OWN)
def test_signing_in_leads_to_a_page_of_this_server(page: Any, hosted: Hosted, wanted: str) -> None:
    where, strange = sign_in(page, hosted, wanted)
    assert strange == []
    assert where == OWN[wanted] if wanted == "" else where.startswith(OWN[wanted])


@pytest.mark.parametrize(
    "path", ["//example.org", "//example.org/", "/.//example.org/", "/\\example.org/", "//example.org/.."]
)
def test_the_server_itself_redirects_nowhere_else(hosted: Hosted, path: str) -> None:
    """Slashes that are added or removed lead to the same host."""
    answer = httpx.get(httpx.URL(hosted.address, raw_path=path.encode()), timeout=60)
    where = answer.headers.get("location", "/")
    assert where.startswith(f"{hosted.address}/") or (where.startswith("/") and not where.startswith(("//", "/\\")))
