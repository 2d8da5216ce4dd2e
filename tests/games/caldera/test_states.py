"""Caldera: the drawing, and the lines and states that are refused or accepted."""

from typing import Any

import pytest

from ludodrome import BadState
from tests.games.caldera.positions import CHAIN, FLAT, START, WALLED, at, bad, end, game, ground, play, refusal

pytestmark = pytest.mark.xdist_group("caldera")


def test_ruling_the_drawing() -> None:
    assert game.render(play(at(CHAIN), "S32^22")).splitlines() == [
        "  0  1  2  3  4  5  6",
        "0 .  .  1  L2 .  S  .",
        "1 .  1  #  #  1  .  .",
        "2 .  1  #  #  l3 .  .",
        "3 .  .  s3 1  .  .  .",
        "4 .  .  .  .  .  .  .",
        "5 .  .  .  .  .  .  .",
        "6 .  .  .  c  .  .  .",
        "ply 41, seat 0 won: crown erupted",
    ]
    assert game.render(game.initial_state()).splitlines()[-1] == "ply 0, seat 0 to move"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"{FLAT} c63l63 c03 4", "two pieces are on 63"),
        (f"{ground('63=x')} c63 c03 4", "the crown of seat 0 is on a vent, on 63"),
        (f"{FLAT} c63c64 c03 4", "seat 0 has 2 pieces of the kind crown; it can have at most 1"),
        (f"{FLAT} c63l00l01l02 c03 4", "seat 0 has 3 pieces of the kind lancer; it can have at most 2"),
        (f"{FLAT} c63 c03s00s01s02 4", "seat 1 has 3 pieces of the kind smith; it can have at most 2"),
        (
            f"{FLAT} l62c63 c03 4",
            "the pieces of seat 0 are listed crown, lancers, smiths; a crown comes too late there",
        ),
        (
            f"{FLAT} c63 s02l01 4",
            "the pieces of seat 1 are listed crown, lancers, smiths; a lancer comes too late there",
        ),
        (f"{FLAT} c63 c03 201", "ply is a whole number from 0 to 200, not 201"),
        (f"{FLAT} c63 l03 0", "seat 1 has no crown, but no turn has been made at ply 0"),
        (f"{FLAT} c63 l03 11", "with the crown of seat 1 gone, the fifth word is 'captured' or 'erupted', not null"),
        (f"{FLAT} c63 c03 11 captured", "this position has no fifth word, such as 'captured'"),
        (f"{FLAT} l63 c03 11 erupted", "this position has no fifth word, such as 'erupted'"),
        (f"{FLAT[:-1]}4 c63 c03 4", "the heights are seven rows of seven of 0, 1, 2, 3 and x separated by '/'"),
        (f"{FLAT} c73 c03 4", "the pieces of seat 0 are written like c63l61s62, or - for none, not 'c73'"),
    ],
)
def test_ruling_a_position_that_contradicts_itself_is_refused(line: str, sentence: str) -> None:
    assert bad(line).startswith(sentence)


@pytest.mark.parametrize(
    "line",
    [None, 7, "", "nonsense", [START], f"{FLAT} c63 c03", f"{FLAT} c63 c03 4 captured captured"],
    ids=repr,
)
def test_a_line_has_four_or_five_words(line: Any) -> None:
    assert bad(line).startswith("a position of caldera is the heights, the pieces of seat 0 and of seat 1, the ply")


@pytest.mark.parametrize("ply", ["x", "-1", "1.0", "1_0", "\u0661", "\u00b2", "12345678901"])
def test_the_ply_of_a_line_is_a_whole_number(ply: str) -> None:
    assert bad(f"{FLAT} c63 c03 {ply}") == f"ply is a whole number, not {ply!r}"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_has_a_list_of_at_most_five_pieces(seat: int) -> None:
    state = game.initial_state()
    pieces = state[f"p{seat}"]
    wrong: dict[str, Any] = {
        "null": None,
        "7": 7,
        "'c63'": "c63",
        "an object": pieces[0],
        "a list of 6": [*pieces, {"type": "smith", "r": 3, "c": 3}],
    }
    for shown, value in wrong.items():
        with pytest.raises(BadState) as caught:
            game.encode(state | {f"p{seat}": value})
        assert str(caught.value) == f"p{seat} is a list of at most 5 pieces, not {shown}"


def test_ruling_a_claimed_end_is_what_the_position_says() -> None:
    running = game.initial_state()
    for claim in (
        {"winner": 0, "reason": "crown captured"},
        {"winner": 0},
        {"reason": "no legal moves"},
        {"winner": False},
        {"reason": None},
    ):
        with pytest.raises(BadState, match="in this position"):
            game.encode(running | claim)
    captured = at(f"{FLAT} c63 l03 11 captured")
    assert game.outcome(captured | {"reason": "crown erupted"}) is not None
    for claim in ({"reason": "own crown erupted"}, {"reason": ""}, {"winner": 1}, {"winner": None}, {"winner": False}):
        with pytest.raises(BadState, match="in this position"):
            game.encode(captured | claim)


@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, 4, -2])
def test_ruling_true_and_floats_are_no_integers_and_unknown_keys_are_refused(wrong: Any) -> None:
    state = game.initial_state()
    state["board"][3][3] = wrong
    with pytest.raises(BadState, match="on 33"):
        game.encode(state)
    state = game.initial_state()
    state["p0"][0]["r"] = wrong
    if wrong != 4 or type(wrong) is not int:
        with pytest.raises(BadState, match=r"'r' of p0\[0\]"):
            game.encode(state)
    with pytest.raises(BadState, match="unknown key 'to_move'"):
        game.encode(game.initial_state() | {"to_move": wrong})
    move = {"action": "move", "from": [6, 3], "to": [5, 3]}
    assert "unknown key 'piece'" in refusal(game.initial_state(), move | {"piece": wrong})
    assert "'from' of a move" in refusal(game.initial_state(), move | {"from": [6, wrong if wrong != 4 else 7]})


def test_ruling_positions_that_could_hardly_arise_are_welcome() -> None:
    assert game.outcome(at(f"{ground('00=3 66=3 33=x')} c60 c06 0")) is None
    assert game.outcome(at(f"{FLAT} c63l62l61s60s53 c03l41l42 7")) is None
    stuck = at(f"{WALLED} c60 c00 0")
    assert end(stuck) == (1, "no legal moves")
    nobody = at(f"{ground('33=x')} - - 9")
    assert end(nobody) == (1, "both crowns erupted")
