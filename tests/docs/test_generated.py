"""The pages that programs write are fresh."""

from pathlib import Path

import pytest

from tools.reference import PAGES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_that_a_program_writes_is_fresh(path: Path) -> None:
    assert path.read_text("utf-8") == PAGES[path](), "run scripts/reference"
