"""The boards on which dots is tested."""

import pytest

import ludodrome
from ludodrome import Game


@pytest.fixture(scope="module")
def usual() -> Game:
    return ludodrome.make("dots")


@pytest.fixture(scope="module")
def small() -> Game:
    """1 x 2 boxes, the board of the example in RULES.md."""
    return ludodrome.make("dots", rows=1, cols=2)


@pytest.fixture(scope="module")
def square() -> Game:
    return ludodrome.make("dots", rows=2, cols=2)
