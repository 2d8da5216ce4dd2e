"""The site builds without a warning, from its own parts alone; a browser searches it under the server's policy."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ludodrome.web.routes import docs
from tests.docs.markdown import DOCS, PAGES, ROOT
from tests.web.serving import CHROMIUM, browser, server
from tests.web.test_axe import findings

SIZE = 1_500_000
"""Bytes that the packed site may have: a wheel has less than 3 MB."""
PUBLIC = ("ludodrome", "ludodrome.games.spaces", "ludodrome.envs", "ludodrome.datasets", "ludodrome.testing")
NO_OBJECTS = {"spaces", "GAME", "NPZ", "PARQUET", "CHECKS", "CHECKS_ONCE"}
"""Public names that are a module or a constant."""


@pytest.fixture(scope="module")
def site(long: bool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built for the purpose."""
    if not long:
        pytest.skip("the site is built with --long")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--nitpicky",
        "--keep-going",
        "--quiet",
        "-b",
        "html",
    ]
    done = subprocess.run(
        [*command, "-d", str(tmp_path_factory.mktemp("work")), str(DOCS), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_is_there_and_small_enough(site: Path) -> None:
    import tarfile

    for page in PAGES:
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file()
    packed = site.parent / "site.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(site)
    assert packed.stat().st_size < SIZE


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|link|img|source|iframe)\b[^>]*?(?:src|href)=\"([^\"]*)\"", text)
        assert not [one for one in loaded if "//" in one], page
        assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>|<style|<[a-z]+[^>]*\s(?:style|on[a-z]+)=", text), page
        for name in (one for one in loaded if not one.startswith("data:")):
            assert (page.parent / name.partition("?")[0]).exists(), f"{page.name} loads {name}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(|@import", sheet.read_text("utf-8"))


def test_every_link_of_the_built_pages_leads_somewhere(site: Path) -> None:
    anchors = {page: set(re.findall(r'\sid="([^"]+)"', page.read_text("utf-8"))) for page in site.rglob("*.html")}
    for page in anchors:
        for target in re.findall(r'<a [^>]*href="([^"]*)"', page.read_text("utf-8")):
            if "://" in target or target == "/":
                continue
            path, _, fragment = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            assert found.exists(), f"{page.name}: {target}"
            assert not fragment or found not in anchors or fragment in anchors[found], f"{page.name}: {target}"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_documented(site: Path, module: str) -> None:
    text = "".join(page.read_text("utf-8") for page in (site / "reference" / "api").glob("*.html"))
    for name in set(import_module(module).__all__) - NO_OBJECTS:
        assert re.search(rf'<dt class="sig[^>]* id="[\w.]*\.?{name}"', text), f"{module}.{name}"


def test_a_browser_reads_and_searches_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    monkeypatch.setattr(docs, "SITE", site)
    complaints: list[str] = []
    with server() as address, browser() as running:
        page: Any = running.new_page(base_url=address, viewport={"width": 390, "height": 800})
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto("/docs/")
        page.click(".unfold")
        page.click("#sections >> text=Games")
        page.locator("h1", has_text="Games").wait_for()
        page.fill(".top input", "eruption")
        page.press(".top input", "Enter")
        page.locator(".search li a", has_text="Caldera").first.click()
        page.locator("h1", has_text="Caldera").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not complaints


@pytest.mark.parametrize(("width", "scheme", "every"), [(390, "dark", 1), (1440, "light", 5)])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    site: Path, monkeypatch: pytest.MonkeyPatch, width: int, scheme: str, every: int
) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was looked at")
    monkeypatch.setattr(docs, "SITE", site)
    faults: list[str] = []
    with server() as address, browser() as running:
        context = running.new_context(
            base_url=address, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page: Any = context.new_page()
        for file in sorted(site.rglob("*.html"))[::every]:
            name = str(file.relative_to(site))
            page.goto(f"/docs/{name}")
            faults += [f"{name}: {one}" for one in findings(page)]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                faults.append(f"{name} is too wide")
    assert not faults
