"""Every tactic in the files of the games is what its line says, by exhaustive search."""

import random

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests.tactics import FOLDER, Prover, Tactic, find, read, states_of

GAMES = [
    pytest.param(file.parent.name, marks=pytest.mark.xdist_group(file.parent.name))
    for file in sorted(FOLDER.glob("*/tactics.txt"))
    if file.parent.name not in ("dots", "spaces")  # there points count, and they have proofs of their own
]
FEWEST = 40
needs_compilation = pytest.mark.skipif(not COMPILED, reason="exhaustive search takes plain Python hours")


@needs_compilation
@pytest.mark.parametrize("game_id", GAMES)
def test_tactics(game_id: str) -> None:
    game = ludodrome.make(game_id)
    prover = Prover(game)
    tactics = read(game_id)
    assert len({tactic.position for tactic in tactics}) == len(tactics) >= FEWEST
    for position, move, task in tactics:
        state = game.parse_state(position)
        found = prover.tactic(states_of(game, state))
        assert found is not None, position
        assert (game.format_move(game.move(found[0], state), state), found[1]) == (move, task), position


@needs_compilation
@pytest.mark.xdist_group("caldera")
def test_finding_is_deterministic() -> None:
    def some(seed: int) -> list[Tactic]:
        finder = find(ludodrome.make("caldera"), random.Random(seed), [])
        return [next(finder) for _ in range(2)]

    assert some(1) == some(1) != some(2)


def test_three_seats_are_refused() -> None:
    with pytest.raises(ValueError, match="two seats"):
        Prover(ludodrome.make("santorini", players=3))
