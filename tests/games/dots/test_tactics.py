"""Every tactic of dots is what its line says: one edge alone wins or draws, by working back from the full board."""

import re

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests.exhaustive import edge_values
from tests.tactics import options, read

FEWEST = 40
SAMPLE = 8


@pytest.mark.skipif(not COMPILED, reason="millions of positions take plain Python hours")
def test_tactics(long: bool) -> None:
    tactics = read("dots")
    assert len({tactic.position for tactic in tactics}) == len(tactics) >= FEWEST
    for tactic in tactics if long else tactics[:: len(tactics) // SAMPLE]:
        game = ludodrome.make("dots", **options("dots", tactic.position))
        state = game.parse_state(tactic.position)
        edge = game.action(game.parse_move(tactic.move, state), state)
        values = edge_values(game, game.encode_array(state))
        others = max(value for other, value in values.items() if other != edge)
        assert re.findall(r"[+-]\d+", tactic.task) == [f"{values[edge]:+d}", f"{others:+d}"], tactic.position
        assert values[edge] >= 0 > others or values[edge] > 0 >= others, tactic.position
