"""What the arena does in place is what ``Game`` does with JSON."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import ludodrome
from tests.cases import each_case
from tests.test_contract import random_move, sample_states


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_the_same_in_place(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    rng = random.Random(3)
    for state in sample_states(game, 6):
        states = game.new_states(1)
        states[0] = game.encode(state)
        assert game.outcome_of(states) == game.outcome(state)
        assert all(game.observation_of(states, seat) == game.observation(state, seat) for seat in range(game.seats))
        before = states.tobytes()
        with pytest.raises(ludodrome.IllegalMove):
            game.apply_to(states, {"t": "nothing"})
        assert states.tobytes() == before
        assert listed(lambda: game.legal_moves_of(states)) == listed(lambda: game.legal_moves(state))  # noqa: B023
        if game.to_move(state) is not None:
            move = random_move(game, state, rng)
            game.apply_to(states, move)
            assert game.decode(states[0]) == game.apply(state, move)


def listed(moves: Callable[[], list[Any]]) -> list[Any] | None:
    """The moves, or None where they are too many."""
    try:
        return moves()
    except ludodrome.TooManyMoves:
        return None
