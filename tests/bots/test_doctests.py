"""The examples in docstrings of the public API run."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "ludodrome.bots",
    "ludodrome.bots.player",
    "ludodrome.analysis.lines",
    "ludodrome.analysis.solving",
    "ludodrome.analysis.win_probability",
    "ludodrome.puzzle.book",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    found = doctest.testmod(import_module(name), report=True)
    assert found.attempted > 0
    assert found.failed == 0
