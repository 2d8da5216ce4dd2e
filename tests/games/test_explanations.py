"""What a move did, in sentences for people who learn a game, from positions in which it is known."""

from typing import Any

import pytest

import ludodrome

FORK = "00000/03000/02200/00100/00000 D3E1 A5C5 8"
CLIMBER = "00000/00123/00010/00000/00000 D4E1 B4A1 8"
CORNERED = "00100/22200/00000/00000/00000 A5E5 A1A2 10"
FLAT = "0000000/" * 6 + "0000000"
CASES: list[tuple[str, dict[str, Any], str, str, set[str], str]] = [
    ("skysummit", {}, "", "place B2 C3", {"place"}, "You placed two workers, on B2 and C3."),
    ("skysummit", {}, "00000/03200/00111/00000/00000 B3E5 C4D2 8", "1B3-B2", {"turn", "win"}, "level 3 on B2"),
    ("skysummit", {}, CORNERED, "1A5-A4 ↑A3", {"turn", "stuck"}, "Your opponent has no legal move left"),
    ("skysummit", {}, FORK, "1D3-C2 ↑C3", {"turn", "climb", "level 3", "fork"}, "You can step onto B2 or C3 next"),
    ("skysummit", {}, FORK, "1D3-C2 ↑B1", {"turn", "climb", "threat"}, "You can step onto B2 next"),
    ("skysummit", {}, FORK, "1D3-D2 ↑E2", {"turn", "down"}, "from D3 to D2 and raised E2 to level 1."),
    ("skysummit", {}, FORK, "2E1-D1 ↑E1", {"turn"}, "worker 2 from E1 to D1"),
    ("skysummit", {}, CLIMBER, "1D4-C5 ↑B5", {"turn", "dome", "stopped"}, "There is a dome on B5 now"),
    ("skysummit", {}, CLIMBER, "1D4-D5 ↑E5", {"turn", "danger"}, "Your opponent can step onto B5 now and win."),
    ("skysummit", {"turn_limit": 9}, FORK, "2E1-D1 ↑E1", {"turn", "turn limit"}, "ends the game: higher altitude."),
    ("santorini", {}, "00000/00000/00100/00320/00100 B2D4 B4E5 6", "[N2D4D3D4]", {"turn", "win"}, "level 3 on D3"),
    ("santorini", {}, "00000/00000/00000/00221/00200 C4A1 E4E5 8", "[N1C4C5D5]", {"turn", "stuck"}, "no legal move"),
    ("santorini", {"players": 3}, "", "[N1C3C2C3]", {"turn"}, "from C3 to C2 and raised C3 to level 1."),
    ("caldera", {}, "", "S62^52", {"forge"}, "the smith raised cell 52 to height 1"),
    ("caldera", {}, f"{FLAT} c63l61l44s62s64 c33l01l05s02s04 20", "C63-53", {"move", "threat"}, "crown from 63 to 53"),
    ("dots", {"rows": 2, "cols": 2}, "2x2 10/10/00 100/000 ../.. 0 0", "V(0,1)", {"edge", "box", "again"}, "a box"),
    ("spaces", {"rules": "live"}, "", "3:0:5ruuf", {"lay", "trap", "sidestep", "supermove"}, "6 steps, with one trap"),
]


@pytest.mark.parametrize(("game_id", "options", "position", "text", "keys", "sentence"), CASES)
def test_a_move_is_explained(
    game_id: str, options: dict[str, Any], position: str, text: str, keys: set[str], sentence: str
) -> None:
    game = ludodrome.make(game_id, **options)
    state = game.parse_state(position) if position else game.initial_state()
    move = game.parse_move(text, state)
    after = game.apply(state, move)
    told = game.explain_move(state, move, after, 0)
    assert {one.key for one in told} == keys
    assert any(sentence in one.text for one in told)
    assert told[0].text.startswith("You ")
    other = game.explain_move(state, move, after, 1)
    assert other[0].text.startswith("Your opponent ")
    if "stuck" in keys:
        assert other[-1].text.startswith("You have no legal move left")


REACH = f"{FLAT} c63l61l65s62s64 c03l34l05s02s04 21"
"""Orange moves; from 43 the lancer would reach the crown on 63."""
WARNINGS = [
    ("caldera", REACH, "L34-43", "threat", "Careful: your opponent's lancer on 43 can capture your crown on 63 next."),
    (
        "caldera",
        f"{FLAT} c63l44l65s62s64 c33l01l05s02s04 21",
        "L01-12",
        "danger",
        "One of your pieces can capture your opponent's crown now.",
    ),
    ("skysummit", "00000/00120/00003/00000/00000 E1E2 B3A1 9", "1B3-B4 ↑A4", "threat", "Careful: your opponent can"),
]


@pytest.mark.parametrize(("game_id", "position", "text", "key", "sentence"), WARNINGS)
def test_what_the_opponent_threatens_is_a_warning_until_the_next_move(
    game_id: str, position: str, text: str, key: str, sentence: str
) -> None:
    game = ludodrome.make(game_id)
    state = game.parse_state(position)
    move = game.parse_move(text, state)
    told = {one.key: one for one in game.explain_move(state, move, game.apply(state, move), 0)}
    assert told[key].text.startswith(sentence)
    assert told[key].momentary
    assert not next(iter(told.values())).momentary


def test_a_captured_piece_has_an_owner() -> None:
    game = ludodrome.make("caldera")
    state = game.parse_state(f"{FLAT} c63l61l65s62s64 c03l41l05s02s04 21")
    move = game.parse_move("L41x61", state)
    after = game.apply(state, move)
    told = {seat: game.explain_move(state, move, after, seat)[0].text for seat in (0, 1)}
    assert told[0] == "Your opponent moved the lancer from 41 to 61 and captured your lancer there."
    assert told[1] == "You moved the lancer from 41 to 61 and captured your opponent's lancer there."


def test_a_game_without_explanations_says_what_was_played() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    state = game.initial_state()
    move = game.legal_moves(state)[0]
    told = super(type(game), game).explain_move(state, move, game.apply(state, move), 1)
    assert [one.text for one in told] == ["Your opponent played H(0,0)."]


def test_boxes_are_counted_in_english_for_both_sides() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    state = game.parse_state("1x1 1/1 10 . 0 0")
    move = game.legal_moves(state)[0]
    after = game.apply(state, move)
    own, other = ([one.text for one in game.explain_move(state, move, after, seat)] for seat in (0, 1))
    assert own[1:] == ["You own a box: 1 : 0.", "All edges are drawn. You have 1, your opponent 0: more boxes win."]
    assert other[1] == "Your opponent owns a box: 1 : 0."
    assert other[2] == "All edges are drawn. Your opponent has 1, you 0: more boxes win."


def test_what_was_lifted_has_an_owner() -> None:
    game = ludodrome.make("caldera")
    board = "0000000/0000000/0000000/0003000/0000000/0000000/0000000"
    state = game.parse_state(f"{board} c63l61l65s43s64 c03l01l05s02s04 20")
    move = game.parse_move("S43^33", state)
    after = game.apply(state, move)
    told = [{one.key: one.text for one in game.explain_move(state, move, after, seat)} for seat in (0, 1)]
    assert told[0]["lifted"] == "The ground of your smith on 43 rose to height 1, and lifted it."
    assert told[1]["lifted"] == "The ground of your opponent's smith on 43 rose to height 1, and lifted it."
