"""States of spaces in JSON, on one line and drawn; which are refused."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, Game
from tests.games.spaces.boards import RUN, State, board, lay

pytestmark = pytest.mark.xdist_group("spaces")

DECK = ",".join(["3:1:uuf", "3:1:u6uf"] + ["3:0:uuf"] * 8)
OTHER = ",".join(["3:0:5uuf"] * 9 + ["3:1:uuf"])


@pytest.fixture(scope="module")
def game() -> Game:
    return ludodrome.make("spaces", rounds=2)


@pytest.fixture(scope="module")
def deck() -> Game:
    return ludodrome.make("spaces", mode="deck")


def test_the_first_state() -> None:
    assert ludodrome.make("spaces").initial_state() == {
        "mode": "rounds",
        "size": 3,
        "rules": "written",
        "choice": "seen",
        "round": 1,
        "rounds": 5,
        "to_move": 0,
        "chosen": None,
        "history": [],
        "totals": [0, 0],
        "winner": None,
        "reason": "",
    }


def test_laying_changes_what_it_should(game: Game) -> None:
    first = game.initial_state()
    second = game.apply(first, board("3:1:u6uf"))
    assert second == {**first, "to_move": 1, "chosen": board("3:1:u6uf")}
    third = game.apply(second, board("3:0:5uuf"))
    entry = {"boards": [board("3:1:u6uf"), board("3:0:5uuf")], "points": [1, 0], "ended": "trap"}
    assert third == {**first, "round": 2, "to_move": 1, "history": [entry], "totals": [1, 0]}
    fourth = game.apply(third, board("3:0:uuf"))
    assert fourth == {**third, "to_move": 0, "chosen": board("3:0:uuf")}
    last = game.apply(fourth, board("3:0:5uuf"))
    entries = [entry, {"boards": [board("3:0:5uuf"), board("3:0:uuf")], "points": [2, 3], "ended": "goal"}]
    assert last == {
        **third,
        "round": 2,
        "to_move": None,
        "chosen": None,
        "history": entries,
        "totals": [3, 3],
        "reason": "equal totals",
    }


Damage = Callable[[State], Any]

BAD: dict[str, Damage] = {
    "a missing key": lambda it: it.pop("chosen"),
    "an unknown key": lambda it: it.update(ply=3),
    "another mode": lambda it: it.update(mode="deck"),
    "another size": lambda it: it.update(size=4),
    "a size that is a float": lambda it: it.update(size=3.0),
    "other rules": lambda it: it.update(rules="live"),
    "another choice": lambda it: it.update(choice="blind"),
    "other rounds": lambda it: it.update(rounds=3),
    "rounds as a boolean": lambda it: it.update(rounds=True),
    "round 0": lambda it: it.update(round=0),
    "a round too early": lambda it: it.update(round=1),
    "a round too late": lambda it: it.update(round=3),
    "a history that is none": lambda it: it.update(history=None),
    "too little history": lambda it: it.update(history=[]),
    "too much history": lambda it: it["history"].append(it["history"][0]),
    "far too much history": lambda it: it.update(history=it["history"] * 1000),
    "the other seat": lambda it: it.update(to_move=1),
    "nobody to move": lambda it: it.update(to_move=None),
    "a seat as a boolean": lambda it: it.update(to_move=False),
    "nothing chosen": lambda it: it.update(chosen=None),
    "an illegal board chosen": lambda it: it.update(chosen=board("3:1:uu4f")),
    "an unfinished board chosen": lambda it: it.update(chosen=board("3:1:uu")),
    "a board of another size chosen": lambda it: it.update(chosen=board("4:1:uuuf")),
    "a deck chosen": lambda it: it.update(chosen={"deck": [board(RUN)] * 10}),
    "a code chosen": lambda it: it.update(chosen=RUN),
    "a grid in chosen": lambda it: it["chosen"].update(
        grid=[["empty", "piece", "empty"], ["empty", "piece", "trap"], ["empty", "piece", "empty"]]
    ),
    "a grid in the history": lambda it: it["history"][0]["boards"][0].update(grid=[["empty"] * 3] * 3),
    "an illegal board in the history": lambda it: it["history"][0]["boards"].__setitem__(1, board("3:1:uulf")),
    "other boards than were scored": lambda it: it["history"][0]["boards"].reverse(),
    "three boards": lambda it: it["history"][0]["boards"].append(board(RUN)),
    "an entry without an end": lambda it: it["history"][0].pop("ended"),
    "an entry with more": lambda it: it["history"][0].update(winner=0),
    "a wrong end": lambda it: it["history"][0].update(ended="goal"),
    "an end that is none": lambda it: it["history"][0].update(ended=None),
    "wrong points": lambda it: it["history"][0].update(points=[1, 1]),
    "points as booleans": lambda it: it["history"][0].update(points=[True, False]),
    "points as floats": lambda it: it["history"][0].update(points=[1.0, 0]),
    "one point": lambda it: it["history"][0].update(points=[1]),
    "wrong totals": lambda it: it.update(totals=[0, 0]),
    "totals as booleans": lambda it: it.update(totals=[True, 0]),
    "three totals": lambda it: it.update(totals=[1, 0, 0]),
    "a winner": lambda it: it.update(winner=0),
    "a reason": lambda it: it.update(reason="higher total"),
    "no reason": lambda it: it.update(reason=None),
}


@pytest.mark.parametrize("name", BAD)
def test_a_running_state_that_contradicts_itself_is_refused(game: Game, name: str) -> None:
    state = lay(game, "3:1:u6uf", "3:0:5uuf", "3:1:u6uf")
    assert game.decode(game.encode(state)) == state
    BAD[name](state)
    for call in (game.encode, game.to_move, game.outcome, game.legal_moves, game.render, game.format_state):
        with pytest.raises(BadState, match=r"\w \w"):
            call(state)
    with pytest.raises(BadState):
        game.apply(state, board(RUN))
    with pytest.raises(BadState):
        game.observation(state, 0)


@pytest.mark.parametrize(
    "damage",
    [
        {"winner": None},
        {"winner": 1},
        {"winner": False},
        {"reason": ""},
        {"reason": "equal totals"},
        {"to_move": 0},
        {"chosen": board(RUN)},
        {"round": 1},
    ],
)
def test_a_finished_state_that_contradicts_itself_is_refused(game: Game, damage: dict[str, Any]) -> None:
    state = lay(game, "3:0:uuf", "3:0:5uuf", "3:0:5uuf", "3:0:uuf")
    assert state["winner"] == 0
    with pytest.raises(BadState):
        game.encode({**state, **damage})


def test_a_deck_history_is_two_decks_in_row_order(deck: Game) -> None:
    state = lay(deck, DECK, OTHER)
    assert deck.decode(deck.encode(state)) == state
    swapped = copy.deepcopy(state)
    swapped["history"][0], swapped["history"][10] = swapped["history"][10], swapped["history"][0]
    short = {**state, "history": state["history"][:99]}
    long = {**state, "history": [*state["history"], state["history"][0]]}
    changed = copy.deepcopy(state)
    changed["history"][55]["boards"][0] = board(RUN)
    for wrong in (swapped, short, long, changed, {**state, "history": []}, {**state, "chosen": {"deck": []}}):
        with pytest.raises(BadState):
            deck.encode(wrong)


def test_strange_values_are_refused(game: Game) -> None:
    nested: Any = []
    for _ in range(5000):
        nested = [nested]
    for value in (None, 1, "", [], {}, nested, b"", {"mode": nested}, float("nan"), object()):
        with pytest.raises(BadState):
            game.encode(value)
        with pytest.raises(BadState):
            game.encode({**game.initial_state(), "history": value if value != [] else None})


# One line


LINES = [
    ({}, "rounds 3 written seen 1/5 - -"),
    ({"rounds": 1}, "rounds 3 written seen 1/1 3:1:u6uf -"),
    ({"rounds": 1}, "rounds 3 written seen 1/1 - 3:1:u6uf|3:0:5uuf"),
    ({"rounds": 2, "rules": "live", "choice": "blind"}, "rounds 3 live blind 2/2 - 3:1:u6uf|3:0:5uuf;3:1:uuf|3:1:uuf"),
    ({"mode": "deck"}, f"deck 3 written seen 1/1 {DECK} -"),
    ({"mode": "deck"}, f"deck 3 written seen 1/1 - {DECK}|{OTHER}"),
]


@pytest.mark.parametrize(("options", "line"), LINES)
def test_one_line(options: dict[str, Any], line: str) -> None:
    game = ludodrome.make("spaces", **options)
    state = game.parse_state(line)
    assert game.format_state(state) == line
    assert json.loads(json.dumps(state)) == state
    assert game.parse_state(f"  {line.replace(' ', '  ')} \n") == state


@pytest.mark.parametrize(
    "line",
    [
        "",
        "rounds 3 written seen 1/5 -",
        "rounds 3 written seen 1/5 - - -",
        "deck 3 written seen 1/5 - -",
        "rounds 4 written seen 1/5 - -",
        "rounds 03 written seen 1/5 - -",
        "rounds 3 live seen 1/5 - -",
        "rounds 3 written blind 1/5 - -",
        "rounds 3 written seen 2/5 - -",
        "rounds 3 written seen 1/4 - -",
        "rounds 3 written seen 01/5 - -",
        "rounds 3 written seen \u0661/5 - -",
        "rounds 3 written seen 1/5 3:1:uu -",
        "rounds 3 written seen 1/5 3:1:uu4f -",
        "rounds 3 written seen 1/5 4:1:uuuf -",
        "rounds 3 written seen 1/5 1000000000:1:uuf -",
        "rounds 3 written seen 1/5 3:1:uuf,3:1:uuf -",
        "rounds 3 written seen 2/5 - 3:1:uuf",
        "rounds 3 written seen 2/5 - 3:1:uuf|3:1:uuf|3:1:uuf",
        "rounds 3 written seen 2/5 - 3:1:uuf|3:1:uuff",
        "rounds 3 written seen 1/5 - 3:1:uuf|3:1:uuf",
        "rounds 3 written seen 2/5 - " + ";".join(["3:1:uuf|3:1:uuf"] * 6),
        None,
        7,
        b"rounds 3 written seen 1/5 - -",
        "x" * 100_000,
    ],
)
def test_lines_that_are_refused(line: Any) -> None:
    with pytest.raises(BadState, match=r"\w \w"):
        ludodrome.make("spaces").parse_state(line)


# Drawings


def test_the_drawing_of_a_board() -> None:
    assert ludodrome.spaces.draw_board(board("3:1:l5u6uf")).split("\n") == [
        "    0      1      2",
        "-1  7★",
        " 0  6●     ·      ·",
        " 1  4●     5X     ·",
        " 2  2●,3X  1●     ·",
    ]
    wide = ludodrome.spaces.draw_board(board("12:0:" + "u" * 11 + "f")).split("\n")
    assert wide[0].endswith("  10   11")
    assert wide[-1].startswith("11  1●   ·    ·")


def test_the_drawing_of_a_state(game: Game, deck: Game) -> None:
    assert game.render(game.initial_state()) == "round 1 of 2, totals 0 : 0, seat 0 to lay"
    drawing = game.render(lay(game, "3:1:u6uf", "3:0:5uuf", "3:0:uuf")).split("\n")
    assert drawing[:2] == ["round 1: 3:1:u6uf 1 : 0 3:0:5uuf (trap)", "laid by seat 1: 3:0:uuf"]
    assert drawing[2:7] == ["    0   1   2", "-1  4★", " 0  3●  ·   ·", " 1  2●  ·   ·", " 2  1●  ·   ·"]
    assert drawing[7:] == ["round 2 of 2, totals 1 : 0, seat 0 to lay"]
    over = game.render(lay(game, "3:1:u6uf", "3:0:5uuf", "3:0:uuf", "3:0:5uuf")).split("\n")
    assert over[-1] == "over, totals 3 : 3, draw (equal totals)"
    assert deck.render(lay(deck, DECK)) == f"laid by seat 0: {DECK}\nround 1 of 1, totals 0 : 0, seat 1 to lay"
    lines = deck.render(lay(deck, DECK, OTHER)).split("\n")
    assert len(lines) == 11
    assert lines[1].split(" ")[:9] == ["1:0"] * 9
    assert lines[10].startswith("over, totals ")
    assert lines[10].endswith("seat 0 wins (higher total)")
