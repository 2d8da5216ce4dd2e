"""The sdist and the wheel: built from a clean checkout, complete, without anything else, and good alone."""

import tarfile
import zipfile
from pathlib import Path

import pytest

import ludodrome
from ludodrome.version import COMMIT_FILE
from tests.release.building import COMMIT, Release, run, tracked, unpack

MEGABYTES = 8
NEEDED = (
    *(f"games/{game}/RULES.md" for game in ("caldera", "dots", "santorini", "skysummit", "spaces")),
    *(f"puzzle/data/{game}.txt" for game in ("caldera", "dots", "santorini", "skysummit", "spaces")),
    *(
        "games/tower_evaluate.py",
        "py.typed",
        "web/data/showcase.json",
        "web/static/style.css",
        "web/static/boards/dots.js",
    ),
    *("web/templates/base.html", "store/migrations/env.py", "bots/templates/python/bot.py.template"),
    *("scaffold/templates/pyproject.toml.template", "arena/tournaments/report_page.css"),
)
"""Some of each kind of file that is no module: whatever a change of the build could lose."""


@pytest.fixture(scope="module")
def site(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(release.wheel, tmp_path_factory.mktemp("site"))


def _of_the_package() -> set[str]:
    inside = (name.removeprefix("src/") for name in tracked() if name.startswith("src/ludodrome/"))
    return {*inside, f"ludodrome/{COMMIT_FILE}"}


def _of_the_documentation() -> set[str]:
    return {name for name in tracked() if name.startswith("docs/")}


def test_the_wheel_has_the_package_and_nothing_else(release: Release) -> None:
    with zipfile.ZipFile(release.wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        about = {name.partition(".dist-info/")[2] for name in packed.namelist()} - {""}
    carried = {f"ludodrome/web/{name}" for name in _of_the_documentation()}
    assert {
        f"ludodrome/web/docs/{name}" for name in ("index.md", "tutorials/player.md", "pictures/page.png")
    } <= carried
    assert names == _of_the_package() | carried
    assert {f"ludodrome/{name}" for name in NEEDED} <= names
    assert about == {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}


def test_the_sdist_has_what_the_wheel_needs_and_nothing_else(release: Release) -> None:
    with tarfile.open(release.sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    beside = {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "pyproject.toml",
        "scripts/build_hook.py",
        ".gitignore",
        "PKG-INFO",
    }
    assert names == {*beside, *_of_the_documentation()} | {f"src/{name}" for name in _of_the_package()}


def test_the_wheel_is_small(release: Release) -> None:
    assert release.wheel.stat().st_size < MEGABYTES * 1_000_000


def test_building_leaves_nothing_in_the_checkout(release: Release) -> None:
    assert not (release.checkout / "dist").exists()
    assert not list(release.checkout.rglob(COMMIT_FILE))


def test_it_knows_its_commit(site: Path) -> None:
    assert run(site, "--version") == f"ludodrome {ludodrome.__version__} ({COMMIT[:7]})\n"


def test_it_plays_alone(site: Path, long: bool) -> None:
    if not long:
        pytest.skip("compiles a game once more: --long")
    small = ("-o", "rows=2", "-o", "cols=2")
    text = run(site, "play", "dots", *small, stdin="h00\nquit\n")
    assert "You left the game." in text
    assert "seat 1" in text
    few = ("--games", "2", "--workers", "1", "--openings", "none")
    text = run(site, "match", "dots", "random", "greedy", *small, *few)
    assert "2 games" in text
    assert {file.name for file in site.iterdir()} == {"ludodrome", f"ludodrome-{ludodrome.__version__}.dist-info"}


@pytest.mark.parametrize("words", [["games"], ["rules", "spaces"], ["puzzle", "dots", "--list"]])
def test_its_data_is_found(site: Path, words: list[str]) -> None:
    assert run(site, *words)


def test_the_wheel_shows_its_documentation(site: Path) -> None:
    """Pages, rules and the index of the search, from the wheel's files alone."""
    asked = (
        "from ludodrome.web.routes import docs\n"
        "assert docs.SOURCE == docs.CARRIED\n"
        "assert 'R1. ' in docs.find_page('games/dots.md').body\n"
        "print(len(list(docs.in_order(docs.contents()))), len(docs.search_index()))"
    )
    pages, size = run(site, code=asked).split()
    assert int(pages) == sum(name.endswith(".md") for name in _of_the_documentation())
    assert int(size) > 100_000
