"""Skysummit: kernel and oracle, ply by ply."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import Chooser, Tally, any_move, examples, walk
from tests.games.skysummit import oracle

pytestmark = pytest.mark.xdist_group("skysummit")

ALL_ENDS = {
    "reached level 3",
    "no legal moves",
    "turn limit: higher altitude",
    "turn limit: higher peak",
    "turn limit: draw",
}


def quiet(moves: list[Any], state: Any, rng: random.Random) -> Any:
    """Never win by climbing if it can be helped: the turn limit and stuck players come into reach."""
    return rng.choice([move for move in moves if move["t"] == "place" or move["build"] is not None] or moves)


def capping(moves: list[Any], state: Any, rng: random.Random) -> Any:
    """Build as high as possible, domes above all, and do not climb: players get stuck."""
    calm = [move for move in moves if move["t"] == "move" and move["build"] is not None]
    if not calm:
        return rng.choice(moves)
    highest = max(state["board"][move["build"]] for move in calm)
    return rng.choice([move for move in calm if state["board"][move["build"]] == highest])


CHOOSERS: list[Chooser] = [any_move, quiet, capping]


def test_walks(long: bool) -> None:
    tally = Tally()

    @settings(max_examples=examples(long, usual=200, long=2600))
    @given(
        turn_limit=st.one_of(st.just(200), st.integers(1, 120), st.integers(1, 1000)),
        choose=st.sampled_from(CHOOSERS),
        seed=st.integers(0, 2**32 - 1),
    )
    def explore(turn_limit: int, choose: Chooser, seed: int) -> None:
        walk(ludodrome.make("skysummit", turn_limit=turn_limit), oracle, random.Random(seed), tally, choose)

    explore()
    if COMPILED:
        assert set(tally.ends) == ALL_ENDS
        assert tally.ends["no legal moves"] >= 10
        assert tally.plies >= (100_000 if long else 4_000)
