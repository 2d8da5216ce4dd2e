"""Moves of spaces in JSON and text, lists of moves, steps and actions."""

import json
import time
from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, Game, IllegalMove, TooManyMoves, spaces
from ludodrome.jit import COMPILED
from tests.games.spaces.boards import RUN, board, lay, squares

pytestmark = pytest.mark.xdist_group("spaces")


@pytest.fixture(scope="module")
def game() -> Game:
    return ludodrome.make("spaces")


# Texts


def test_a_move_is_read_from_its_code_or_its_json(game: Game) -> None:
    state = game.initial_state()
    for text in ("3:1:u6uf", " 3:1:U6uF ", json.dumps(board("3:1:u6uf")), json.dumps(board("3:1:u6uf"), indent=4)):
        assert game.parse_move(text, state) == board("3:1:u6uf")
    assert game.format_move(board("3:1:u6uf"), state) == "3:1:u6uf"
    with pytest.raises(IllegalMove, match=r"step 4: .*\(R12\)"):
        game.parse_move("3:1:uu4f", state)
    with pytest.raises(IllegalMove, match=r"step 3: .*\(R6\)"):
        game.parse_move("3:1:uu", state)
    with pytest.raises(IllegalMove, match="size"):
        game.parse_move("4:1:uuuf", state)
    with pytest.raises(IllegalMove, match="one code"):
        game.parse_move(",".join([RUN] * 10), state)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"boardSize": NaN, "sequence": []}',
        '{"boardSize": 3, "sequence": [' + "9" * 5000 + "]}",
        '{"boardSize":' + "[" * 9000,
        '{"a":' * 1500,
        '{"deck": []}',
        "[]",
        "null",
        '"3:1:uuf"',
    ],
)
def test_json_that_is_not_a_move(text: str, game: Game) -> None:
    with pytest.raises(IllegalMove, match=r"\w \w"):
        game.parse_move(text, game.initial_state())


def test_deep_json_is_refused_at_every_size() -> None:
    large = ludodrome.make("spaces", size=100, rounds=1)
    with pytest.raises(IllegalMove, match="JSON"):
        large.parse_move('{"boardSize":' + "[" * 1_000_000, large.initial_state())


def test_a_deck_is_read_from_ten_codes() -> None:
    deck = ludodrome.make("spaces", mode="deck")
    text = ",".join([RUN] * 9 + ["3:0:5uuf"])
    move = deck.parse_move(text, deck.initial_state())
    assert move == {"deck": [board(RUN)] * 9 + [board("3:0:5uuf")]}
    assert deck.format_move(move, deck.initial_state()) == text
    assert deck.parse_move(json.dumps(move), deck.initial_state()) == move
    with pytest.raises(IllegalMove, match="10 codes"):
        deck.parse_move(RUN, deck.initial_state())
    with pytest.raises(IllegalMove, match=r"^board 10: step 4: .*\(R12\)"):
        deck.parse_move(text.replace("3:0:5uuf", "3:1:uu4f"), deck.initial_state())


def test_a_refusal_names_the_first_faults(game: Game) -> None:
    with pytest.raises(IllegalMove) as refused:
        game.apply(game.initial_state(), board("3:1:" + "66" * 8 + "uuf"))
    assert str(refused.value).startswith("step 3: (2,2) has a trap of this board already (R10); step 4: ")
    assert str(refused.value).endswith("; and more")


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ("p2,1 p1,1 p2,1", "step 3: the piece goes back down, from (1,1) to (2,1) (R9)"),
        ("p2,1 p0,0", "step 2: the piece goes from (2,1) to (0,0), which is not one square up, left or right (R4)"),
        ("p2,1 p2,0 p2,1", "step 3: the piece has stood on (2,1) before (R8)"),
        ("p2,1 p1,1", "step 2: the board ends without reaching the goal (R6)"),
        ("t2,1 f-1,1", "step 1: a board starts with the piece on row 2, not with a trap (R3)"),
    ],
)
def test_a_refusal_has_one_sentence_for_one_slip(game: Game, steps: str, why: str) -> None:
    with pytest.raises(IllegalMove) as refused:
        game.apply(game.initial_state(), squares(3, steps))
    assert str(refused.value).split("; ")[0] == why
    assert str(refused.value).count(why[:8]) == 1


@pytest.mark.parametrize("move", [None, RUN, 7, [], {}, {"deck": []}, [board(RUN)], {"boardSize": 3, "sequence": None}])
def test_invalid_moves(move: Any, game: Game) -> None:
    state = game.initial_state()
    assert not game.is_legal(state, move)
    with pytest.raises(IllegalMove, match=r"\w \w"):
        game.apply(state, move)


# Lists


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 121_439_363),
        ({"size": 4}, 968_799_595_254_970),
        ({"size": 5}, None),
        ({"size": 100}, None),
        ({"size": 4, "rules": "live"}, 114_450),
        ({"size": 5, "rules": "live"}, 31_510_818),
        ({"size": 100, "rules": "live"}, None),
        ({"size": 2, "rules": "live", "mode": "deck"}, 14**10),
        ({"size": 2, "mode": "deck"}, 362**10),
        ({"size": 9, "mode": "deck"}, None),
    ],
)
def test_lists_that_are_too_long(options: dict[str, Any], count: int | None) -> None:
    game = ludodrome.make("spaces", **options)
    with pytest.raises(TooManyMoves, match="too many") as refused:
        game.legal_moves(game.initial_state())
    assert refused.value.count == count


@pytest.mark.parametrize(("size", "rules"), [(2, "written"), (2, "live"), (3, "live")])
def test_boards_are_listed_step_by_step_in_the_order_of_the_actions(size: int, rules: str) -> None:
    game = ludodrome.make("spaces", size=size, rules=rules)
    signs = {sign: number for number, sign in enumerate("ulr789456123f")}
    keys = []
    for move in game.legal_moves(game.initial_state()):
        _, start, signs_of_steps = spaces.encode_board(move).split(":")
        keys.append([int(start), *[size + signs[sign] for sign in signs_of_steps]])
    assert keys == sorted(keys)
    assert len({tuple(key) for key in keys}) == len(keys)


# Steps and actions


def test_the_words_of_the_actions() -> None:
    assert spaces.step_words(3) == (
        *("start 0", "start 1", "start 2", "up", "left", "right"),
        *("trap up-left", "trap up", "trap up-right", "trap left", "trap here", "trap right"),
        *("trap down-left", "trap down", "trap down-right", "finish"),
    )
    for size in (2, 3, 100):
        assert ludodrome.make("spaces", size=size).num_actions == size + 13 == len(spaces.step_words(size))


def test_actions_of_a_state_are_the_starts(game: Game) -> None:
    state = game.initial_state()
    for col in range(3):
        assert game.action(f"start {col}", state) == col
        assert game.move(col, state) == f"start {col}"
    for word in ("up", "finish", "start 3", "trap", "", "START 1", None, 0, board(RUN)):
        with pytest.raises(IllegalMove, match=r"\w \w"):
            game.action(word, state)
    with pytest.raises(IllegalMove, match="R3"):
        game.move(3, state)


def test_actions_of_a_record_are_the_steps_of_the_board_that_is_built() -> None:
    game = ludodrome.make("spaces", rules="live")
    assert isinstance(game, spaces.Spaces)
    states = game.encode_array(game.initial_state())
    refused = {
        "start 1": [("up", "R3"), ("finish", "R3")],
        "left": [("left", "R4"), ("right", "R8"), ("trap up", "R17"), ("trap left", "R5"), ("trap down", "R5")],
        "trap here": [("trap right", "R11"), ("start 0", "R3"), ("finish", "R6")],
        "up": [("trap up", "R13"), ("left", "R4"), ("trap up-right", "R5")],
        "trap right": [("right", "R16"), ("trap here", "R15")],
        "up ": [("up", "R12"), ("trap here", "R12")],
        "finish": [],
    }
    sequence = board("3:1:l5u6uf")["sequence"]
    before: list[Any] = []
    for (word, wrong), step in zip(refused.items(), sequence, strict=True):
        assert game.prefix(states[0]) == before
        action = game.action(word.strip(), states[0])
        assert game.move(action, states[0]) == word.strip()
        game.kernels.play(states, action)
        before.append(step)
        if word == "finish":
            break
        for other, rule in wrong if word != "start 1" else []:
            with pytest.raises(IllegalMove, match=rf"{other!r} cannot come here: .*\({rule}\)"):
                game.action(other, states[0])
    assert game.prefix(states[0]) == []
    assert game.decode(states[0])["chosen"] == board("3:1:l5u6uf")
    with pytest.raises(BadState):
        ludodrome.make("spaces").action("start 1", states[0])


def test_single_steps_as_people_write_them(game: Game) -> None:
    states = game.encode_array(game.initial_state())
    codec = game.codec
    assert codec.parse_notation("  Start   1 ", states, game.legal_actions_of(states)) == 1
    assert codec.format_notation(1, states[0]) == "start 1"
    for wrong in ("up", "go", None):
        with pytest.raises(IllegalMove, match=r"\w \w"):
            codec.parse_notation(wrong, states, game.legal_actions_of(states))


def test_nothing_is_being_built_once_the_game_is_over() -> None:
    game = ludodrome.make("spaces", rounds=1)
    assert isinstance(game, spaces.Spaces)
    over = lay(game, RUN, RUN)
    assert game.prefix(game.encode(over)) == []
    assert game.kernels.fault(game.encode_array(over), 0) != 0
    with pytest.raises(IllegalMove, match="over"):
        game.action("start 1", over)


def test_a_board_that_is_being_built_is_no_part_of_the_state(game: Game) -> None:
    states = game.encode_array(game.initial_state())
    for action in (1, 3):
        game.kernels.play(states, action)
    assert game.decode(states[0]) == game.initial_state()
    assert game.kernels.turns(states) == 0


@pytest.mark.parametrize(
    "prefix",
    [
        None,
        7,
        "3:1:",
        {},
        {"boardSize": 4, "sequence": []},
        [None],
        [{}],
        board("3:1:uu4")["sequence"],
        board("3:1:uuff"),
    ],
)
def test_steps_refuses_invalid_prefixes(prefix: Any) -> None:
    with pytest.raises(IllegalMove, match=r"R\d"):
        spaces.steps(prefix, 3)


def test_steps_takes_sequences_and_boards() -> None:
    empty: list[Any] = [[], {"boardSize": 3, "sequence": []}]
    for prefix in empty:
        assert [step["position"]["col"] for step in spaces.steps(prefix, 3)] == [0, 1, 2]
    assert spaces.steps(board(RUN), 3) == spaces.steps(board(RUN)["sequence"], 3) == []


# Size 100


def test_the_longest_boards_are_judged_and_played() -> None:
    size = 100
    playable = f"{size}:0:" + "5" * 39_899 + "u" * 99 + "f"
    game = ludodrome.make("spaces", size=size, rounds=1)
    begun = time.perf_counter()
    given = board(playable)
    assert len(given["sequence"]) == 40_000
    assert len(spaces.check(given, size, "live")) > 39_000
    assert spaces.simulate_matrix([given], [given], size)[0].tolist() == [[100]]
    assert not game.is_legal(game.initial_state(), given)
    if COMPILED:
        assert time.perf_counter() - begun < 60  # nothing here may be quadratic


def test_long_legal_boards_fit() -> None:
    """From every square all traps that are possible, then along the row to its end, then up."""
    size = 12
    game = ludodrome.make("spaces", size=size, rounds=1)
    states = game.encode_array(game.initial_state())
    steps = 0
    while game.kernels.turns(states) == 0:
        actions = game.legal_actions_of(states)
        words = [spaces.step_words(size)[action] for action in actions]
        wanted = [word for word in words if word.startswith("trap") and word != "trap here"] + ["left", "right"]
        word = next((word for word in wanted if word in words), words[0])
        game.kernels.play(states, actions[words.index(word)])
        steps += 1
    assert size * (size - 1) + size * size - 1 <= steps <= game.actions_a_turn
    state = game.decode(states[0])
    assert len(state["chosen"]["sequence"]) == steps
    assert game.parse_state(game.format_state(state)) == state
    assert game.encode_array(state).tobytes() == states.tobytes()
