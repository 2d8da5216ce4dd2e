"""What the five games declare beyond their rules (game_extras.py)."""

import random
import re
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.game import BadState, Game, IllegalMove

GAMES = ("caldera", "dots", "santorini", "skysummit", "spaces")


def states_of(game: Game, state: Any) -> Any:
    """An array of one compiled state."""
    states = game.new_states(1)
    states[0] = game.encode(state)
    return states


@pytest.mark.parametrize("game_id", GAMES)
def test_a_position_is_painted_and_drawn(game_id: str) -> None:
    game = ludodrome.make(game_id)
    record = game.encode(game.initial_state())
    picture = game.paint(record)
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1
    assert game.render_record(record) == game.render(game.initial_state())


@pytest.mark.parametrize("game_id", GAMES)
def test_diagrams_are_positions_of_running_games(game_id: str) -> None:
    game = ludodrome.make(game_id)
    assert game.diagrams
    for diagram in game.diagrams:
        made = ludodrome.make(game_id, **diagram.options)
        state = made.parse_state(diagram.position) if diagram.position else made.initial_state()
        assert made.to_move(state) is not None
        options = type(made).options_from_state(made.format_state(state))
        assert options.items() <= made.options.items()


@pytest.mark.parametrize("game_id", GAMES)
def test_options_for_people_are_options_and_come_with_a_reason(game_id: str) -> None:
    game = ludodrome.make(game_id)
    people = ludodrome.make(game_id, **game.people_options)
    assert bool(game.people_options) == bool(game.people_options_reason)
    assert (people.options != game.options) == bool(game.people_options)
    assert (game_id == "spaces") == bool(game.people_options)


@pytest.mark.parametrize("game_id", GAMES)
def test_a_state_tells_its_options(game_id: str) -> None:
    game = ludodrome.make(game_id)
    told = type(game).options_from_state(game.initial_state())
    assert told.items() <= game.options.items()
    assert type(game).options_from_state(None) == {}
    assert type(game).options_from_state("nonsense") == {}


def test_lines_of_other_sizes_tell_their_options() -> None:
    for game in (ludodrome.make("dots", rows=2, cols=3), ludodrome.make("santorini", players=3)):
        line = game.format_state(game.initial_state())
        assert type(game).options_from_state(line) == game.options
    spaces = ludodrome.make("spaces", size=4, rounds=7, choice="blind")
    line = spaces.format_state(spaces.initial_state())
    assert type(spaces).options_from_state(line) == spaces.options
    with pytest.raises(BadState, match="size is a whole number, not 'x'"):
        type(spaces).options_from_state(line.replace(" 4 ", " x ", 1))


@pytest.mark.parametrize(
    ("game_id", "text", "tidied"),
    [
        ("skysummit", "1 C2 --> C3, build on C4", "1 C2 - C3    C4"),
        ("santorini", "n1 c2 -> b2, builds on c3", "[N1C2B2C3]"),
        ("caldera", "c63 --> 53", "c63 - 53"),
        ("spaces", "3:1:ul8uf , 3:1:uuf", "3:1:ul8uf,3:1:uuf"),
        ("dots", "H(2,3)", "H(2,3)"),
    ],
)
def test_replies_are_tidied(game_id: str, text: str, tidied: str) -> None:
    game = ludodrome.make(game_id)
    assert re.sub(" +", " ", game.tidy_reply(text)) == re.sub(" +", " ", tidied)
    assert any(re.search(pattern, text, re.IGNORECASE) for pattern in game.reply_patterns)


def test_openings_of_dots_give_no_box_away() -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    state = game.initial_state()
    safe = game.opening_moves(state)
    assert safe == game.legal_moves(state)
    for _ in range(3):
        state = game.apply(state, game.opening_moves(state)[0])
    assert set(map(str, game.opening_moves(state))) <= set(map(str, game.legal_moves(state)))
    assert ludodrome.make("caldera").opening_moves(ludodrome.make("caldera").initial_state())


def test_marks_of_boards() -> None:
    caldera = ludodrome.make("caldera")
    state = caldera.parse_state(caldera.diagrams[0].position)
    eruptions = caldera.board_marks(states_of(caldera, state), caldera.legal_moves(state))["eruptions"]
    assert max(len(one["cells"]) for one in eruptions) > 1
    dots = ludodrome.make("dots", rows=2, cols=3)
    state = dots.parse_state(dots.diagrams[0].position)
    chains = dots.board_marks(states_of(dots, state), [])["chains"]
    boxes = [[[0, 0], [1, 0]], [[0, 1], [0, 2], [1, 2]]]  # the first of each can be taken
    assert chains == [{"boxes": chain, "loop": False} for chain in boxes]
    empty = dots.board_marks(states_of(dots, dots.initial_state()), [])
    assert empty == {"chains": []}
    skysummit = ludodrome.make("skysummit")
    assert skysummit.board_marks(states_of(skysummit, skysummit.initial_state()), []) == {}


def test_rounds_of_spaces_are_marked_and_boards_face_down_are_drawn() -> None:
    game = ludodrome.make("spaces", size=2, rounds=2, choice="blind")
    state = game.initial_state()
    assert game.observation_marks(state, lambda: states_of(game, state), []) == {}
    board = game.substitute_move(state)
    assert game.is_legal(state, board)
    state = game.apply(state, board)
    seen = game.observation(state, game.to_move(state))
    assert seen["chosen"] is None
    assert "face down" in game.render_observation(seen)
    assert game.encode_observation(seen)["side"] == 2
    assert game.encode_observation(state)["side"] == 2
    assert game.render_observation(state) == game.render(state)
    state = game.apply(state, board)
    marks = game.observation_marks(state, lambda: states_of(game, state), [])
    assert marks["round"]["points"] == state["history"][0]["points"]
    assert len(game.actions_of(board, states_of(game, state))) == len(board["sequence"])


def test_a_board_being_built_is_drawn() -> None:
    game = ludodrome.make("spaces", size=3)
    states = states_of(game, game.initial_state())
    game.kernels.play(states, 1)
    assert game.render_record(states[0]).endswith("building: 3:1:")


def test_what_is_played_for_an_absent_seat() -> None:
    dots = ludodrome.make("dots", rows=1, cols=1)
    assert dots.substitute_move(dots.initial_state()) == dots.legal_moves(dots.initial_state())[0]
    large = ludodrome.make("spaces", size=9)
    assert large.is_legal(large.initial_state(), large.substitute_move(large.initial_state()))
    deck = ludodrome.make("spaces", size=2, mode="deck")
    assert len(deck.substitute_move(deck.initial_state())["deck"]) == 10
    assert "a deck" in deck.move_format


def test_units_of_points_and_limits_of_the_page() -> None:
    assert ludodrome.make("dots", rows=4, cols=4).point_unit == 4
    assert ludodrome.make("spaces", size=7).point_unit == 7
    assert ludodrome.make("caldera").point_unit is None
    ludodrome.make("spaces", size=100, rounds=10).check_page()
    with pytest.raises(ValueError, match="on the page spaces has 1 to 10 rounds above size 10, not 11"):
        ludodrome.make("spaces", size=11, rounds=11).check_page()
    for game_id in GAMES:
        ludodrome.make(game_id).check_page()


def test_what_compiled_states_of_dots_say() -> None:
    """The observation is that of the JSON state, and points left are the boxes without an owner."""
    game = ludodrome.make("dots", rows=2, cols=2)
    state = game.initial_state()
    left = [4]
    while (seat := game.to_move(state)) is not None:
        states = game.encode_array(state)
        assert game.observation_of(states, seat) == game.observation(state, seat)
        assert game.observation_of(states, 1 - seat) == game.observation(state, 1 - seat)
        assert game.points_left(states) == left[-1]
        state = game.apply(state, game.legal_moves(state)[0])
        left.append(4 - sum(game.encode_array(state)["boxes"][0].tolist()[seat].bit_count() for seat in range(2)))
    assert left[-1] == 0
    assert game.points_left(game.encode_array(state)) == 0


def test_large_grids_of_spaces_are_short_on_the_page() -> None:
    game = ludodrome.make("spaces", size=11, rounds=2)
    begun = game.initial_state()
    board = game.substitute_move(begun)
    code = f"11:0:{'u' * 10}f"
    laid = game.apply(begun, board)
    run = game.apply(laid, board)
    assert game.page_state(laid)["chosen"] == code
    assert game.page_state(run)["history"][0]["boards"] == [code, code]
    assert game.page_move(board, code) == code
    assert game.page_line(laid) == f"rounds 11 written seen 1/1 {code} -"
    assert len(game.tidy_drawing(game.render(laid))) < len(game.render(laid))
    assert game.tell_move(begun, laid, 0) == []
    assert len(game.tell_move(laid, run, 0)) == 12
    small = ludodrome.make("spaces")
    state = small.initial_state()
    assert small.page_state(state) is state
    assert small.page_move(board, code) is board
    assert small.page_line(state) == small.format_state(state)
    assert small.tidy_drawing("as it is") == "as it is"
    deck = ludodrome.make("spaces", mode="deck")
    assert deck.observation_marks(deck.initial_state(), lambda: None, []) == {}
    assert deck.tell_move(deck.initial_state(), deck.initial_state(), None) == []


@pytest.mark.parametrize("game_id", GAMES)
def test_what_lists_of_moves_show_is_read_back(game_id: str) -> None:
    game = ludodrome.make(game_id, **({"size": 2, "rules": "live"} if game_id == "spaces" else {}))
    rng = random.Random(5)
    for _ in range(3):
        state = game.initial_state()
        while moves := game.legal_moves(state):
            for move in rng.sample(moves, min(4, len(moves))):
                label = game.move_label(move, state)
                assert game.parse_move(label, state) == move
                assert game.parse_move(label.lower(), state) == move
            state = game.apply(state, rng.choice(moves))


@pytest.mark.parametrize(
    ("game_id", "line", "notation", "label"),
    [
        ("skysummit", "00000/00000/00000/00000/00000 B2C3 B4D2 2", "2C3-C4 ↑D4", "C3-C4 build D4"),
        ("skysummit", "00000/03200/00111/00000/00000 B3E5 C4D2 8", "1B3-B2", "B3-B2"),
        ("santorini", "00000/00000/00000/00000/00000 C2B3 D3C4 0", "[N1C2B2C3]", "C2-B2 build C3"),
        (
            "caldera",
            "0001000/0023000/0033200/0020000/0000000/0000000/0000000 c63l24s32 c12l23l03s05 40",
            "S32^22",
            "S32 forges 22, erupts",
        ),
    ],
)
def test_labels_of_moves(game_id: str, line: str, notation: str, label: str) -> None:
    game = ludodrome.make(game_id)
    state = game.parse_state(line)
    move = game.parse_move(notation, state)
    assert game.move_label(move, state) == label
    assert game.format_move(move, state) == notation, "records keep the notation"


def test_a_label_of_santorini_is_the_whole_text() -> None:
    game = ludodrome.make("santorini")
    state = game.initial_state()
    with pytest.raises(IllegalMove, match="Format"):
        game.parse_move("I play C2-B2 build C3 now", state)
    with pytest.raises(IllegalMove, match="No such worker there"):
        game.parse_move("D1-D2 build C3", state)


def test_seats_have_names() -> None:
    dots = ludodrome.make("dots")
    assert dots.name_seats("seat 1 forfeits: illegal; seat 7") == "Orange forfeits: illegal; seat 7"
    assert ludodrome.make("santorini").seat_name(2) == "Grey"
    small = ludodrome.make("dots", rows=1, cols=2)
    closed = small.parse_state("1x2 10/10 110 1. 0 0")
    assert "│ ◆ │" in small.name_seats(small.render(closed))
