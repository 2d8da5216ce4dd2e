"""Planes for learners of a game that defines none."""

import numpy as np
import pytest

import ludodrome
from ludodrome.game_spec import default_planes
from ludodrome.games.dots import rules
from ludodrome.jit import Array, kernel
from ludodrome.search.vector import make_default_observe

pytestmark = pytest.mark.xdist_group("dots")

observe = make_default_observe(rules.RULES, rules.DTYPE)


@kernel
def look(states: object, seat: int, out: Array) -> None:
    observe(states[0], seat, out)  # type: ignore[index]


def test_the_first_plane_is_the_record_and_the_second_says_whose_turn_it_is() -> None:
    game = ludodrome.make("dots", rows=2, cols=3)
    state = game.parse_state("2x3 111/010/101 1101/1001 .../... 0 5")
    states = game.encode_array(state)
    planes = default_planes(game.dtype)
    assert planes.shape[0] == len(planes.highest) == 2
    for seat, turn in ((0, 1), (1, 2)):
        out: Array = np.full((2, planes.cols), 7, np.uint8)
        look(states, seat, out)
        fields = [np.asarray(states[0][name]).tobytes() for name in game.dtype.names or ()]
        assert out[0].tobytes() == b"".join(fields)
        assert (out[1] == turn).all()


def test_when_the_game_is_over_it_is_nobody_s_turn() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    states = game.new_states(1)
    states["reason"] = 1
    states["to_move"] = -1
    out: Array = np.full((2, default_planes(game.dtype).cols), 7, np.uint8)
    look(states, 0, out)
    assert (out[1] == 0).all()
