"""Position: the compiled face of a game agrees with the JSON one."""

import doctest
import random

import pytest

import ludodrome
from ludodrome import position
from tests.cases import each_game


def test_the_examples_of_the_docstring_hold() -> None:
    tried = doctest.testmod(position)
    assert tried.attempted
    assert not tried.failed


@pytest.mark.parametrize("game_id", each_game())
def test_it_says_what_the_game_says(game_id: str) -> None:
    game, rng = ludodrome.make(game_id), random.Random(5)
    here = ludodrome.Position(game)
    state, bot = game.initial_state(), ludodrome.bot("random", game)
    for _ in range(12):
        assert here.state == state
        assert here == ludodrome.Position(game, state) == ludodrome.Position.from_record(game, game.encode(state))
        assert (here.to_move, here.outcome) == (game.to_move(state), game.outcome(state))
        assert here.is_over == (here.to_move is None)
        if here.is_over:
            break
        assert here.observation(here.to_move or 0) == game.observation(state, here.to_move)
        actions, before = here.legal_actions(), here.copy()
        if game.actions_a_turn == 1:
            assert here.legal_moves() == game.legal_moves(state) == [game.move(action, state) for action in actions]
            move = rng.choice(here.legal_moves())
            here.play_move(move)
            state = game.apply(state, move)
            before.play(actions[game.legal_moves(before.state).index(move)])
            assert before == here
        else:  # between the actions of a turn there is no state
            here.play(rng.choice(actions))
            assert (here.to_move, here.turns) == (before.to_move, before.turns)
            here = before
            move = bot.choose(game.observation(state, here.to_move))
            here.play_move(move)
            state = game.apply(state, move)
    assert here.turns <= 12


def test_what_is_not_legal_changes_nothing() -> None:
    here = ludodrome.Position(ludodrome.make("dots", rows=1, cols=1))
    here.play(2)
    before = here.copy()
    for wrong in (2, 4, -1, True, "0", None):
        with pytest.raises(ludodrome.IllegalMove):
            here.play(wrong)  # type: ignore[arg-type]
    with pytest.raises(ludodrome.IllegalMove):
        here.play_move({"orient": "H", "r": 9, "c": 0})
    assert here == before
    assert here != 3
    assert repr(here).startswith("<Position of dots: ")
    with pytest.raises(TypeError, match="unhashable"):
        hash(here)
