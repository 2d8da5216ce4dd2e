"""Skysummit: the numbers of the actions, the notation, and the moves that are refused with their sentences."""

import re
from itertools import permutations
from typing import Any

import pytest

import ludodrome
from tests.games.skysummit.positions import (
    BOTH_PLACED,
    BUILDS,
    CLIMB,
    CORNER,
    DRAWN,
    GAME,
    ONE_PLACED,
    START,
    STEPS,
    at,
    cell,
    changed,
    place,
    refuse,
    step,
)

pytestmark = pytest.mark.xdist_group("skysummit")


# Encodings


def test_action_numbers_of_placements() -> None:
    state = GAME.initial_state()
    assert GAME.num_actions == 744
    for a, b in permutations(range(25), 2):
        assert GAME.action(place(a, b), state) == a * 24 + (b if b < a else b - 1)
    assert [GAME.action(move, state) for move in GAME.legal_moves(state)] == list(range(600))
    assert GAME.action(place(12, 6), state) == 294
    assert GAME.action(place(8, 16), at(ONE_PLACED)) == 207


@pytest.mark.parametrize("line", [BOTH_PLACED, STEPS, BUILDS, CLIMB, CORNER])
def test_action_numbers_of_turns(line: str) -> None:
    state = at(line)
    directions = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

    def towards(start: int, end: int) -> int:
        return directions.index((end // 5 - start // 5, end % 5 - start % 5))

    listed = GAME.legal_moves(state)
    for move in listed:
        source = state["workers"][state["ply"] % 2][move["w"]]
        direction = towards(source, move["to"])
        build = 8 if move["build"] is None else towards(move["to"], move["build"])
        number = 600 + move["w"] * 72 + direction * 9 + build
        assert GAME.action(move, state) == number
        assert GAME.move(number, state) == move
    assert listed == sorted(listed, key=lambda move: (move["w"], move["to"], move["build"] or 0))


def test_the_actions_of_the_example() -> None:
    state = at(BOTH_PLACED)
    assert GAME.action(step(0, 0, 1), state) == 604
    assert GAME.action(step(1, 18, 24), state) == 742
    assert GAME.action(step(1, 13, 18), state) == 714
    assert GAME.action(step(0, 6, None), at(CLIMB)) == 635


@pytest.mark.parametrize("number", [-1, 744, True, 1.0, "604", None])
def test_a_number_that_is_no_action_is_refused(number: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove, match="0 to 743"):
        GAME.move(number, at(BOTH_PLACED))


def test_an_action_that_is_illegal_here_is_refused() -> None:
    for number in (0, 599, 608, 743):
        with pytest.raises(ludodrome.IllegalMove):
            GAME.move(number, at(BOTH_PLACED))
    legal = {GAME.action(move, at(BOTH_PLACED)) for move in GAME.legal_moves(at(BOTH_PLACED))}
    for number in set(range(744)) - legal:
        with pytest.raises(ludodrome.IllegalMove):
            GAME.move(number, at(BOTH_PLACED))


def test_the_example_of_the_page() -> None:
    state = GAME.initial_state()
    state = GAME.apply(state, place(12, 6))
    assert state == changed(GAME.initial_state(), ply=1, workers=[[6, 12], [None, None]])
    state = GAME.apply(state, place(8, 16))
    assert state == changed(GAME.initial_state(), phase="play", ply=2, workers=[[6, 12], [8, 16]])
    state = GAME.apply(state, step(1, 13, 18))
    board = [0] * 25
    board[18] = 1
    assert state == changed(at(BOTH_PLACED), ply=3, board=board, workers=[[6, 13], [8, 16]])
    assert len(GAME.legal_moves(state)) == 72
    assert GAME.action(step(1, 17, 18), state) == 712
    assert GAME.format_move(step(1, 17, 18), state) == "2D2-D3 ↑D4"
    state = GAME.apply(state, step(1, 17, 18))
    assert state == at(DRAWN)
    assert len(GAME.legal_moves(state)) == 64


# Notation


@pytest.mark.parametrize(
    ("line", "move", "text"),
    [
        (START, place(6, 12), "place B2 C3"),
        (START, place(12, 6), "place C3 B2"),
        (BOTH_PLACED, step(1, 13, 18), "2C3-C4 ↑D4"),
        (BOTH_PLACED, step(0, 0, 1), "1B2-A1 ↑A2"),
        (CLIMB, step(0, 6, None), "1B3-B2"),
    ],
)
def test_moves_are_written_exactly_like_this(line: str, move: Any, text: str) -> None:
    assert GAME.format_move(move, at(line)) == text
    assert GAME.parse_move(text, at(line)) == move


@pytest.mark.parametrize(
    "text",
    [
        "2C3-C4 ↑D4",
        "2c3-c4 ↑d4",
        "c4 d4",
        "C4D4",
        "c4d4",
        "2 C4 + D4",
        "c3-c4^d4",
        "C3-C4+D4",
        "C3-C4 ↑ D4",
        "2C3-C4D4",
        "2C3-C4 D4",
        "2c4d4",
        "2c4^d4",
        "  2 C 3 - C 4  ↑  D 4  ",
        "2 c3 - c4 d4",
        "C3 -C4 ^ D4",
    ],
)
def test_reading_a_turn_is_lenient(text: str) -> None:
    assert GAME.parse_move(text, at(BOTH_PLACED)) == step(1, 13, 18)


@pytest.mark.parametrize("text", ["place B2 C3", "PLACE b2c3", "placeB2C3", " Place  b 2  c 3 ", "pLaCe B2C3"])
def test_reading_a_placement_is_lenient(text: str) -> None:
    assert GAME.parse_move(text, GAME.initial_state()) == place(6, 12)


@pytest.mark.parametrize("text", ["1B3-B2", "1b3-b2", "b3-b2", "B2", "b 2", "1B2", " 1 b3 - b2 "])
def test_reading_a_winning_step_is_lenient(text: str) -> None:
    assert GAME.parse_move(text, at(CLIMB)) == step(0, 6, None)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (START, "B2 C3"),  # the word place stays
        (START, "place B2"),
        (START, "place B2 B2"),
        (START, "place B2 C3 D4"),
        (START, "place B2 F1"),
        (ONE_PLACED, "place B2 D4"),
        (START, "2C3-C4 ↑D4"),
        (BOTH_PLACED, "place A1 A2"),
        (BOTH_PLACED, "2C3-C4"),  # so does the build of a step that does not win
        (BOTH_PLACED, "C4"),
        (BOTH_PLACED, "1C3-C4 ↑D4"),  # the wrong worker
        (BOTH_PLACED, "2B2-C4 ↑D4"),
        (BOTH_PLACED, "3C3-C4 ↑D4"),
        (BOTH_PLACED, "C5 D5"),
        (BOTH_PLACED, "C4 A1"),
        (BOTH_PLACED, "2C3-C4 ↑D4 ↑D4"),
        (BOTH_PLACED, "north please"),
        (BOTH_PLACED, ""),
        (BOTH_PLACED, "-C4 D4 x"),
        (CLIMB, "1B3-B2 ↑A1"),
        (CLIMB, "1B3-B2 ↑B3"),
    ],
)
def test_a_text_that_fits_no_legal_move_is_refused(line: str, text: str) -> None:
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.parse_move(text, at(line))
    assert "no legal move" in str(refusal.value) or "is written like" in str(refusal.value)


def test_a_text_that_fits_more_than_one_legal_move_is_refused() -> None:
    state = at(BOTH_PLACED)
    both = [step(0, cell("B3"), cell("A3")), step(1, cell("B3"), cell("A3"))]
    assert all(move in GAME.legal_moves(state) for move in both)
    with pytest.raises(ludodrome.IllegalMove, match="more than one legal move"):
        GAME.parse_move("B3 A3", state)
    assert GAME.parse_move("1 B3 A3", state) == GAME.parse_move("b2-b3 a3", state) == both[0]
    assert GAME.parse_move("2 B3 A3", state) == GAME.parse_move("c3-b3 a3", state) == both[1]


@pytest.mark.parametrize("text", [None, 7, ["2C3-C4 ↑D4"], {"t": "move"}, b"c4d4"])
def test_only_a_text_is_read(text: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove):
        GAME.parse_move(text, at(BOTH_PLACED))


# What is refused: moves

SHAPES: list[Any] = [
    None,
    True,
    0,
    604,
    "2C3-C4 ↑D4",
    [],
    [1, 13, 18],
    {},
    {"t": "move"},
    {"t": "move", "w": 1, "to": 13},
    {"t": "move", "w": 1, "build": 18},
    {"t": "move", "to": 13, "build": 18},
    {"w": 1, "to": 13, "build": 18},
    {"t": "move", "w": 1, "to": 13, "build": 18, "from": 12},
    {"t": "Move", "w": 1, "to": 13, "build": 18},
    {"t": "step", "w": 1, "to": 13, "build": 18},
    {"t": None, "w": 1, "to": 13, "build": 18},
    {"t": ["move"], "w": 1, "to": 13, "build": 18},
    {"t": "move", "w": True, "to": 13, "build": 18},
    {"t": "move", "w": 1.0, "to": 13, "build": 18},
    {"t": "move", "w": 2, "to": 13, "build": 18},
    {"t": "move", "w": -1, "to": 13, "build": 18},
    {"t": "move", "w": "1", "to": 13, "build": 18},
    {"t": "move", "w": None, "to": 13, "build": 18},
    {"t": "move", "w": 1, "to": 13.0, "build": 18},
    {"t": "move", "w": 0, "to": True, "build": 2},
    {"t": "move", "w": 1, "to": "C4", "build": 18},
    {"t": "move", "w": 1, "to": None, "build": 18},
    {"t": "move", "w": 1, "to": [13], "build": 18},
    {"t": "move", "w": 1, "to": 13, "build": 18.0},
    {"t": "move", "w": 0, "to": 0, "build": True},
    {"t": "move", "w": 1, "to": 13, "build": "D4"},
    {"t": "move", "w": 1, "to": 13, "build": False},
    {"t": "place", "to": 13},
    {"t": "place", "to": []},
    {"t": "place", "to": [13]},
    {"t": "place", "to": [13, 14, 15]},
    {"t": "place", "to": [True, 13]},
    {"t": "place", "to": [13, 14.0]},
    {"t": "place", "to": [None, None]},
    {"t": "place", "to": "A1A2"},
    {"t": "place"},
    {"t": "place", "to": [13, 14], "w": 0},
]


@pytest.mark.parametrize("line", [BOTH_PLACED, START, ONE_PLACED])
@pytest.mark.parametrize("move", SHAPES, ids=repr)
def test_a_move_of_the_wrong_shape_is_refused(line: str, move: Any) -> None:
    """Rulings (all games): unknown keys, and true or 1.0 where an integer belongs, are refused in moves."""
    state = at(line)
    refuse(state, move, r"(?i)\bmove\b|\bt\b|\bw\b|\bto\b|\bbuild\b|placement")
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.apply(state, move)
    assert not re.search("occupied|adjacent|dome|phase", str(refusal.value))
    with pytest.raises(ludodrome.IllegalMove):
        GAME.action(move, state)
    with pytest.raises(ludodrome.IllegalMove):
        GAME.format_move(move, state)


PHASE = "first turn"
OFF = "0 to 24"
TWICE = "twice"
OCCUPIED = "occupied|free"
ADJACENT = "not (adjacent|next) to"
DOME = "dome"
HIGH = "more than one level higher"
WINNING = "wins at once"
NO_BUILD = "followed by a build"


@pytest.mark.parametrize(
    ("line", "move", "match"),
    [
        # The phase, before anything about cells
        (BOTH_PLACED, place(0, 1), PHASE),
        (BOTH_PLACED, place(99, 99), PHASE),
        (BOTH_PLACED, place(6, 6), PHASE),
        (START, step(0, 0, 1), PHASE),
        (ONE_PLACED, step(0, 99, None), PHASE),
        # Placements: off the board, one cell twice, occupied
        (START, place(0, 25), OFF),
        (START, place(-1, 3), OFF),
        (START, place(25, 25), OFF),
        (ONE_PLACED, place(6, 25), OFF),
        (ONE_PLACED, place(10**30, 6), OFF),
        (START, place(7, 7), TWICE),
        (ONE_PLACED, place(6, 6), TWICE),
        (ONE_PLACED, place(6, 7), OCCUPIED),
        (ONE_PLACED, place(7, 12), OCCUPIED),
        # Steps: off the board or not adjacent, occupied, a dome, too high
        (STEPS, step(0, 25, 12), OFF),
        (STEPS, step(0, -1, 12), OFF),
        (STEPS, step(0, 10**30, None), OFF),
        (STEPS, step(0, 0, 1), ADJACENT),
        (STEPS, step(0, 12, 13), ADJACENT),
        (STEPS, step(0, 24, 99), ADJACENT),  # occupied as well, and so is the build wrong
        (STEPS, step(0, 16, 12), "^D2 is occupied by Blue's worker 2$"),
        (STEPS, step(0, 17, 17), "^D3 is occupied by Orange's worker 1$"),
        (STEPS, step(0, 13, 12), DOME),  # too high as well
        (STEPS, step(0, 13, None), DOME),
        (STEPS, step(0, 11, None), HIGH),
        (STEPS, step(0, 11, 12), HIGH),
        (STEPS, step(0, 11, 99), HIGH),
        (STEPS, step(1, 11, 12), HIGH),
        # Builds: named with a winning step, not named with another, off the board or not adjacent, occupied, a dome
        (CLIMB, step(0, 6, 7), WINNING),
        (CLIMB, step(0, 6, 99), WINNING),
        (CLIMB, step(0, 6, 24), WINNING),
        (BUILDS, step(0, 13, None), NO_BUILD),
        (BUILDS, step(0, 13, 25), OFF),
        (BUILDS, step(0, 13, -1), OFF),
        (BUILDS, step(0, 13, 0), ADJACENT),
        (BUILDS, step(0, 13, 13), ADJACENT),  # where it now stands itself
        (BUILDS, step(0, 13, 20), ADJACENT),  # occupied as well
        (BUILDS, step(0, 13, 9), "^B5 is occupied by Blue's worker 2, so nothing"),
        (BUILDS, step(0, 13, 19), "^D5 is occupied by Orange's worker 1, so nothing"),
        (BUILDS, step(0, 13, 8), DOME),
    ],
)
def test_the_sentence_names_the_first_thing_that_is_wrong(line: str, move: Any, match: str) -> None:
    refuse(at(line), move, match)
    # A refusal for one cause does not speak of the others.
    same = OCCUPIED if "occupied" in match else match
    others = {PHASE, OFF, TWICE, OCCUPIED, ADJACENT, DOME, HIGH, WINNING, NO_BUILD} - {match, same}
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        GAME.apply(at(line), move)
    assert not any(re.search(other, str(refusal.value)) for other in others)


@pytest.mark.parametrize(
    ("line", "move", "name"),
    [
        (START, place(7, 7), "B3"),
        (STEPS, step(0, 17, 12), "D3"),
        (STEPS, step(0, 13, 12), "C4"),
        (STEPS, step(0, 11, None), "C2"),
        (STEPS, step(0, 0, 1), "A1"),
        (BUILDS, step(0, 13, 9), "B5"),
        (BUILDS, step(0, 13, 8), "B4"),
        (BUILDS, step(0, 13, 0), "A1"),
    ],
)
def test_the_sentence_names_the_cell(line: str, move: Any, name: str) -> None:
    refuse(at(line), move, rf"\b{name}\b")
