"""docs/architecture.md is a tree of the packages that exist, with the layers that are checked; no file is too long."""

import re
import tomllib
from pathlib import Path

from ludodrome.games import BUILT_IN

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ludodrome"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
MAX_LINES = 500


def blocks() -> list[str]:
    """The text blocks of the page: the tree, then the layers."""
    return re.findall(r"^```text\n(.+?)\n```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_tree_has_every_package_and_every_module_at_the_top() -> None:
    tree = blocks()[0]
    for entry in PACKAGE.iterdir():
        if entry.suffix == ".py" and entry.name != "__main__.py":
            assert re.search(rf"^  {re.escape(entry.name)} +\S", tree, re.MULTILINE), entry.name
        elif (entry / "__init__.py").exists():
            assert re.search(rf"^  {entry.name}/ +\S", tree, re.MULTILINE), entry.name
    for folder in (*(PACKAGE / "arena").iterdir(), *(PACKAGE / "web").iterdir()):
        if folder.is_dir() and folder.name not in ("__pycache__", "data"):
            assert re.search(rf"^    {folder.name}/ +\S", tree, re.MULTILINE), folder.name


def test_everything_that_the_tree_names_exists() -> None:
    package = blocks()[0].partition("\ntests/")[0]
    files = {file.name for file in PACKAGE.rglob("*.*")}
    for name in re.findall(r"[\w.]+\.(?:py|md|css)\b", package):
        assert name in files, name


def test_every_place_for_a_change_exists() -> None:
    table = PAGE.partition("## Where a change goes")[2].partition("\n## ")[0]
    named = [name for row in table.splitlines()[4:] for name in re.findall(r"`([\w/<>.]+/[\w.]*)`", row)]
    assert len(named) > 20
    for name in named:
        places = [name.replace("<id>", game) for game in BUILT_IN]  # not every game has every optional module
        assert any((PACKAGE / place).exists() or (ROOT / place).exists() for place in places), name


def test_the_layers_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [sorted(layer.split(" | ")) for layer in settings["contracts"][0]["layers"]]
    listed = blocks()[1].split("  <-  ")
    assert [["__main__"], *(sorted(layer.split(", ")) for layer in reversed(listed))] == layers


def test_no_file_is_too_long() -> None:
    for folder in ("src", "tests", "benchmarks", "tools"):
        for file in (ROOT / folder).rglob("*.py"):
            if ".peers-venv" not in file.parts:
                assert len(file.read_text("utf-8").splitlines()) <= MAX_LINES, file
