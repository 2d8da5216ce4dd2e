"""docs/architecture.md tells of every module and of nothing else, and of the layers; no file is too long."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ludodrome"
MOST_LINES = 500


def test_every_module_has_its_line() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    described = re.findall(r"^\| `([\w/]+\.py)` \| \S", page, re.MULTILINE)
    there = sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py"))
    assert sorted(described) == there


def test_the_layers_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [sorted(layer.split(" | ")) for layer in settings["contracts"][0]["layers"]]
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    told = re.findall(r"^```text\n(.+)\n```$", page, re.MULTILINE)[0].split("  <-  ")
    assert [["__main__"], *(sorted(layer.split(", ")) for layer in reversed(told))] == layers


def test_no_file_is_too_long() -> None:
    for folder in ("src", "tests", "benchmarks"):
        for file in (ROOT / folder).rglob("*.py"):
            if ".peers-venv" not in file.parts:
                assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES, file
