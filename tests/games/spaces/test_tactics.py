"""Every tactic of spaces is what its line says, by trying all boards."""

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests.games.spaces.tactics import FEW, found
from tests.tactics import options, read

FEWEST = 40
SAMPLE = 8


def test_tactics(long: bool) -> None:
    tactics = read("spaces")
    assert len({tactic.position for tactic in tactics}) == len(tactics) >= FEWEST
    assert {tactic.task.split(",")[0] for tactic in tactics} == {"wins", "saves"}
    if not COMPILED:
        pytest.skip("hundreds of boards for each take plain Python minutes")
    for tactic in tactics if long else tactics[:: len(tactics) // SAMPLE]:
        game = ludodrome.make("spaces", **options("spaces", tactic.position))
        assert found(game, game.parse_state(tactic.position)) == tactic


@pytest.mark.skipif(not COMPILED, reason="hundreds of boards take plain Python minutes")
def test_what_many_boards_attain_is_not_a_tactic() -> None:
    game = ludodrome.make("spaces", size=3, rules="live", rounds=1)
    boards = game.legal_moves(game.initial_state())
    assert len(boards) > FEW
    assert found(game, game.apply(game.initial_state(), boards[0])) is None
