"""The first five minutes: what is typed is read from the pages; with --long it is typed."""

import subprocess
import sys

import pytest

from tests.web.serving import CHROMIUM
from tools.tutorial import FIRST_STEPS, ROOT, WRITING, commands, up_to_entering


def test_what_is_typed_is_on_the_pages() -> None:
    assert commands((ROOT / FIRST_STEPS).read_text("utf-8"))[0] == "scripts/serve"
    before, enter = up_to_entering((ROOT / WRITING).read_text("utf-8"))
    assert [line.split()[:2] for line in before] == [
        ["ludodrome", "new-bot"],
        ["cd", "mybot"],
        ["ludodrome", "doctor"],
        ["ludodrome", "match"],
    ]
    assert enter == 'ludodrome enter skysummit "cmd:python3 bot.py" --name mybot'


def test_blocks_of_all_kinds_are_read() -> None:
    blocks = ("console\n$ one \\\n    more\nit says\n$ two", "python\nx", "\nthree", "sh\n# why\nfour")
    page = "\n".join(f"```{block}\n```\n" for block in blocks)
    assert commands(page) == ["one more", "two", "three", "four"]


def test_the_first_five_minutes(long: bool) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    if not long:
        pytest.skip("a fresh clone is set up with --long")
    done = subprocess.run([sys.executable, "-m", "tools.tutorial"], cwd=ROOT, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "in all: the first move" in done.stdout
    assert "in all: the first bot" in done.stdout
