"""Dots: kernel and oracle, ply by ply, on every board that fits."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import Tally, examples, walk
from tests.games.dots import oracle

pytestmark = pytest.mark.xdist_group("dots")

SHAPES = [(rows, cols) for rows in range(1, 22) for cols in range(1, 22) if rows * (cols + 1) + cols * (rows + 1) <= 64]


def test_walks(long: bool) -> None:
    tally = Tally()
    shapes = st.one_of(st.just((5, 5)), st.sampled_from(SHAPES))

    @settings(max_examples=examples(long, usual=120, long=2600))
    @given(shape=shapes, seed=st.integers(0, 2**32 - 1))
    def explore(shape: tuple[int, int], seed: int) -> None:
        rows, cols = shape
        walk(ludodrome.make("dots", rows=rows, cols=cols), oracle, random.Random(seed), tally)
        tally.events[f"{rows}x{cols}"] += 1

    explore()
    if COMPILED:
        assert set(tally.ends) == {"more boxes", "equal boxes"}
        assert tally.plies >= (100_000 if long else 3_000)
        if long:
            assert len(tally.events) == len(SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_walk_on_every_shape(shape: tuple[int, int]) -> None:
    rows, cols = shape
    tally = Tally()
    walk(ludodrome.make("dots", rows=rows, cols=cols), oracle, random.Random(rows * 100 + cols), tally)
    assert tally.plies == rows * (cols + 1) + cols * (rows + 1)
