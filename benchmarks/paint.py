"""How soon every page is seen: the first paint with something on it, after a new browser asked a warm server.

``benchmarks/paint [--loads 3] [WORDS]``: words choose pages by their addresses. It needs Chromium, as
``scripts/screenshots`` does. Every load has an empty cache. Printed are the least and the median of the first paint,
the least time until the server's answer began, and what was loaded until the paint: milliseconds and kilobytes. The
first line is a page with nothing but a word, from a server that does nothing else: so long takes the browser itself.

The browser is at the server already, at an answer with nothing to see: pages that no other site may have a handle on
get a process of their own, and starting it, for the first page of all, takes the browser another 70 ms or so. The
second line has that too.
"""

import argparse
import re
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import httpx

import ludodrome
from ludodrome.web.auth import COOKIE
from ludodrome.web.templating import TABS
from tests.web.hosting import hosting
from tests.web.leagues import populate
from tests.web.serving import browser, server

BARE = "/a-word"
FIRST = "/skysummit"
"""The page to which the bare address leads."""
QUIET = "/api/v1/health"
LIMIT = 200
"""Milliseconds."""
API = "/api/v1"
PAINTED = """() => new Promise((done) => {
    const told = () => {
        const [paint] = performance.getEntriesByName("first-contentful-paint");
        if (!paint) { requestAnimationFrame(told); return; }
        const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
        const before = all.filter(({ startTime }) => startTime < paint.startTime);
        const [page] = performance.getEntriesByType("navigation");
        done([paint.startTime, page.responseStart - page.requestStart,
              before.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024]);
    };
    told();
})"""


class Site(NamedTuple):
    """A server, and what a browser shows it."""

    address: str
    cookies: dict[str, str]
    paths: list[str]


class Word(BaseHTTPRequestHandler):
    """Answers everything with a word."""

    def do_GET(self) -> None:
        """The word."""
        content = b"<!doctype html><title>A word</title><p>Word"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        """Nothing is logged."""


@contextmanager
def bare() -> Iterator[list[Site]]:
    """A page that costs nothing."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Word) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield [Site(f"http://127.0.0.1:{serving.server_port}", {}, [BARE])]
        serving.shutdown()


@contextmanager
def alone() -> Iterator[list[Site]]:
    """The pages of one's own server."""
    with server(prepare=populate) as address, httpx.Client(base_url=address, timeout=120) as client:
        paths = ["/replay", "/join/nothing", "/nowhere"]
        for game in ludodrome.game_ids():
            paths += [f"/{game}{path}" for _, path in TABS] + [f"/{game}/puzzles/20"]
            seats = {"game": game, "seats": ["person", "person"]}
            begun = client.post(f"{API}/plays", json=seats).raise_for_status().json()["id"]
            over = client.post(f"{API}/plays", json=seats).raise_for_status().json()["id"]
            client.post(f"{API}/plays/{over}/resign", json={}).raise_for_status()
            paths += [f"/{game}/plays/{begun}", f"/games/{over}"]
        bot = next(one for one in client.get(f"{API}/leaderboard/dots").json() if one["games"])
        event = client.get(f"{API}/tournaments", params={"game": "dots"}).json()[0]
        match = client.get(f"{API}/matches", params={"game": "dots"}).json()[0]
        paths += [f"/dots/bots/{bot['id']}", f"/dots/tournaments/{event['id']}", f"/games/{match['id']}"]
        yield [Site(address, {}, paths)]


@contextmanager
def for_everybody() -> Iterator[list[Site]]:
    """Those of a server on which people sign in."""
    with hosting() as hosted, hosted.client("Ada") as client:
        signed = {COOKIE: client.cookies[COOKIE]}
        own = ["/account", "/dots", "/dots/bots/new"]
        yield [Site(hosted.address, signed, own), Site(hosted.address, {}, ["/sign-in", "/sign-up"])]


def load(chromium: Any, site: Site, path: str, first: bool) -> list[float]:
    """One load with an empty cache, perhaps as the first page of all: first paint, server's answer, kilobytes."""
    context = chromium.new_context(base_url=site.address, viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": name, "value": value, "url": site.address} for name, value in site.cookies.items()])
    page = context.new_page()
    if not first:
        page.goto(QUIET)
    page.goto(path, wait_until="commit")
    told: list[float] = page.evaluate(PAINTED)
    context.close()
    return told


def line(site: Site, path: str, loads: int, first: bool = False) -> str:
    """What came of some loads of a page, after one that does not count. An old browser is slower than a new one."""
    with browser() as chromium:
        load(chromium, site, path, first)
        times = [load(chromium, site, path, first) for _ in range(loads)]
    paints = [one[0] for one in times]
    late = "" if min(paints) < LIMIT else f"   NOT within {LIMIT} ms"
    answered = min(one[1] for one in times)
    figures = f"{min(paints):7.0f} {statistics.median(paints):7.0f} {answered:7.0f} {times[0][2]:6.0f}"
    name = re.sub("[A-Za-z0-9_-]{12,}", "...", path) + (", first of all" if first else "")
    return f"{name:<34} {figures}{late}"


def main() -> int:
    """A line for each page; 1 if one is too slow."""
    parser = argparse.ArgumentParser(description="How soon every page is seen.")
    parser.add_argument("words", nargs="*", help="parts of addresses; without them, all pages")
    parser.add_argument("--loads", type=int, default=3, help="of each page, after one that does not count")
    asked = parser.parse_args()
    lines = [f"{'page':<34} {'least':>7} {'median':>7} {'server':>7} {'KB':>6}"]
    print(lines[0], flush=True)
    for place in (bare, alone, for_everybody):
        with place() as sites:
            for site in sites:
                if place is alone:
                    lines.append(line(site, FIRST, asked.loads, first=True))
                    print(lines[-1], flush=True)
                for path in site.paths:
                    if not asked.words or path == BARE or any(word in path for word in asked.words):
                        lines.append(line(site, path, asked.loads))
                        print(lines[-1], flush=True)
    return 1 if any("NOT" in one for one in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
