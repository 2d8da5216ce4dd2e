"""Prompts for language models."""

import random

import pytest

import ludodrome
from ludodrome.bots.prompts import (
    drawing,
    has_plain_states,
    legal_texts,
    legal_texts_of,
    read_reply,
    refusal_prompt,
    rules_prompt,
    turn_prompt,
)

DOCUMENT = """\
     1     2     3     4     5
  ┌─────┬─────┬─────┬─────┬─────┐
A │ 0   │ 0   │ 0   │ 0   │ 0   │ A
  ├─────┼─────┼─────┼─────┼─────┤
B │ 0   │ 0 N1│ 0 N2│ 0   │ 0   │ B
  ├─────┼─────┼─────┼─────┼─────┤
C │ 0   │ 0   │ 1   │ 0 W2│ 0   │ C
  ├─────┼─────┼─────┼─────┼─────┤
D │ 0   │ 0   │ 0 W1│ 0   │ 0   │ D
  ├─────┼─────┼─────┼─────┼─────┤
E │ 0   │ 0   │ 0   │ 0   │ 0   │ E
  └─────┴─────┴─────┴─────┴─────┘
     1     2     3     4     5"""


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_the_rules_are_in_the_prompt(game_id: str) -> None:
    game = ludodrome.make(game_id)
    prompt = rules_prompt(game, 1)
    assert "**R1. " in prompt
    assert "You are player 1" in prompt
    assert "The last legal move in your answer" in prompt
    assert all(f"{name} = {value}" in prompt for name, value in game.options.items())
    assert "```json" not in prompt, "JSON is for machines"


def test_santorini_has_the_action_format_and_the_drawing_of_its_document() -> None:
    game = ludodrome.make("santorini")
    prompt = rules_prompt(game, 0)
    assert "[worker_id source dest build]" in prompt
    assert "Navy" in prompt
    state = game.apply(game.initial_state(), "[N1C2B2C3]")
    shown = turn_prompt(game, state, 1, None)
    assert DOCUMENT in shown
    assert "(White)" in shown


def test_legal_moves_are_shown_or_not() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    seen = game.observation(game.initial_state(), 0)
    assert legal_texts(game, seen, None) is None
    shown = legal_texts(game, seen, game.legal_moves(game.initial_state()))
    assert shown == ["[H(0,0)]", "[H(1,0)]", "[V(0,0)]", "[V(0,1)]"]
    assert "Legal moves (4): [H(0,0)] [H(1,0)]" in turn_prompt(game, seen, 0, shown)
    assert "Legal moves" not in turn_prompt(game, seen, 0, None)


def test_a_board_that_lies_face_down_is_not_shown() -> None:
    game = ludodrome.make("spaces", choice="blind", rounds=2)
    board = game.parse_move("3:1:uuf", game.initial_state())
    state = game.apply(game.initial_state(), board)
    assert "3:1:uuf" in drawing(game, game.observation(state, 0))
    hidden = drawing(game, game.observation(state, 1))
    assert "3:1:uuf" not in hidden
    assert hidden == "round 1 of 2, totals 0 : 0, seat 1 to lay; what the other seat has laid is face down"


def test_refusals_say_what_is_left() -> None:
    assert "Cannot move there. You have 1 try left." in refusal_prompt("Cannot move there.", 1)
    assert "left" not in refusal_prompt("no")


@pytest.mark.parametrize("game_id", ["caldera", "dots", "santorini", "skysummit"])
def test_the_compiled_state_gives_the_same_prompts_and_readings_as_json(game_id: str) -> None:
    """The text environment parsed the state once for every legal move."""
    game, dice = ludodrome.make(game_id), random.Random(2)
    assert has_plain_states(game)
    state = game.initial_state()
    for _ in range(12):
        seat, states = game.to_move(state), game.encode_array(state)
        if seat is None:
            break
        moves, seen = game.legal_moves(state), game.observation(state, seat)
        texts = legal_texts(game, seen, moves)
        assert legal_texts_of(game, states) == texts
        assert texts is not None
        assert turn_prompt(game, seen, seat, texts) == turn_prompt(game, None, seat, texts, states)
        for answer in (dice.choice(texts), f"I like {texts[0]} and {texts[-1]}.", "[N1A1A1A1] or H(9,9)", "no"):
            assert read_reply(game, seen, answer, states) == read_reply(game, seen, answer)
        state = game.apply(state, dice.choice(moves))
