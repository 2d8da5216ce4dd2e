"""Santorini: kernel and oracle, ply by ply."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import Chooser, Tally, any_move, examples, walk
from tests.games.santorini import oracle

pytestmark = pytest.mark.xdist_group("santorini")


def height(state: Any, square: str) -> int:
    value: int = state["board"]["ABCDE".index(square[0])]["12345".index(square[1])]
    return value


def quiet(moves: list[str], state: Any, rng: random.Random) -> str:
    """Never climb to level 3 if it can be helped."""
    return rng.choice([move for move in moves if height(state, move[5:7]) < 3] or moves)


def capping(moves: list[str], state: Any, rng: random.Random) -> str:
    """Build as high as possible without climbing to level 3: players get stuck."""
    calm = [move for move in moves if height(state, move[5:7]) < 3] or moves
    highest = max(height(state, move[7:9]) for move in calm)
    return rng.choice([move for move in calm if height(state, move[7:9]) == highest])


CHOOSERS: list[Chooser] = [any_move, quiet, capping]


@pytest.mark.parametrize("players", [2, 3])
def test_walks(players: int, long: bool) -> None:
    tally = Tally()

    @settings(max_examples=examples(long, usual=100, long=1700))
    @given(choose=st.sampled_from(CHOOSERS), seed=st.integers(0, 2**32 - 1))
    def explore(choose: Chooser, seed: int) -> None:
        walk(ludodrome.make("santorini", players=players), oracle, random.Random(seed), tally, choose)

    explore()
    if COMPILED:
        assert set(tally.ends) == {"reached level 3", "no legal moves"}
        assert min(tally.ends.values()) >= 10
        assert tally.plies >= (50_000 if long else 2_000)


def test_the_drawing_agrees_with_the_oracle() -> None:
    rng = random.Random(4)
    for players in (2, 3):
        game = ludodrome.make("santorini", players=players)
        state = game.initial_state()
        while moves := game.legal_moves(state):
            assert game.render(state) == oracle.draw(state)
            state = game.apply(state, rng.choice(moves))
        assert game.render(state) == oracle.draw(state)
