"""docs/architecture.md tells of every module and of nothing else; no module is too long."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ludodrome"
MOST_LINES = 500


def test_every_module_has_its_line() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    described = re.findall(r"^\| `([\w/]+\.py)` \| \S", page, re.MULTILINE)
    there = sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py"))
    assert sorted(described) == there


def test_no_file_is_too_long() -> None:
    for folder in ("src", "tests", "benchmarks"):
        for file in (ROOT / folder).rglob("*.py"):
            if ".peers-venv" not in file.parts:
                assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES, file
