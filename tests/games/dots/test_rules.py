"""Every rule of dots and boxes on concrete positions."""

import copy
import random
from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, Game, IllegalMove
from tests.games.dots.positions import draw, edge, edges, finish, names

pytestmark = pytest.mark.xdist_group("dots")


# R1: edges and boxes


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 2), (3, 4), (5, 5), (4, 6), (12, 2), (1, 21), (21, 1)])
def test_r1_h_has_one_row_more_and_v_one_column_more_than_there_are_boxes(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    horizontal = [{"orient": "H", "r": r, "c": c} for r in range(rows + 1) for c in range(cols)]
    vertical = [{"orient": "V", "r": r, "c": c} for r in range(rows) for c in range(cols + 1)]
    assert game.legal_moves(game.initial_state()) == horizontal + vertical
    assert game.num_actions == len(horizontal) + len(vertical) == rows * (cols + 1) + cols * (rows + 1)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (2, 3), (5, 5), (1, 21), (21, 1)])
def test_r1_a_box_has_the_four_sides_that_its_name_says(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    for r in range(rows):
        for c in range(cols):
            state = draw(game, f"H({r},{c}) H({r + 1},{c}) V({r},{c})")
            assert state["scores"] == [0, 0]
            state = draw(game, f"V({r},{c + 1})", state)
            owners = {(y, x): state["owner"][y][x] for y in range(rows) for x in range(cols)}
            assert owners == {place: 1 if place == (r, c) else -1 for place in owners}


@pytest.mark.parametrize("last", ["H(1,1)", "H(2,1)", "V(1,1)", "V(1,2)"])
def test_r1_any_of_the_four_sides_may_be_the_last(last: str) -> None:
    game = ludodrome.make("dots", rows=3, cols=3)
    others = [side for side in ("H(1,1)", "H(2,1)", "V(1,1)", "V(1,2)") if side != last]
    state = draw(game, " ".join([*others, last]))
    assert state["owner"] == [[-1, -1, -1], [-1, 1, -1], [-1, -1, -1]]


def test_r1_edges_are_numbered_all_h_row_by_row_then_all_v_row_by_row(usual: Game, square: Game) -> None:
    start = usual.initial_state()
    numbers = {text: usual.action(edge(text), start) for text in ("H(0,0)", "H(2,3)", "H(5,4)", "V(0,0)", "V(4,5)")}
    assert numbers == {"H(0,0)": 0, "H(2,3)": 13, "H(5,4)": 29, "V(0,0)": 30, "V(4,5)": 59}
    assert [usual.move(number, start) for number in (0, 13, 29, 30, 59)] == [edge(text) for text in numbers]
    assert names(square.legal_moves(square.initial_state())) == (
        "H(0,0) H(0,1) H(1,0) H(1,1) H(2,0) H(2,1) V(0,0) V(0,1) V(0,2) V(1,0) V(1,1) V(1,2)"
    )


# R2: start


def test_r2_the_board_is_empty_and_seat_0_begins(usual: Game) -> None:
    state = usual.initial_state()
    nonce = state.pop("nonce")
    assert state == {
        "to_move": 0,
        "rows": 5,
        "cols": 5,
        "h": [[False] * 5] * 6,
        "v": [[False] * 6] * 5,
        "owner": [[-1] * 5] * 5,
        "scores": [0, 0],
        "turn": 0,
        "winner": None,
        "reason": "",
    }
    assert type(nonce) is int
    assert usual.to_move(usual.initial_state()) == 0
    assert usual.outcome(usual.initial_state()) is None


# R3: turn


def test_r3_a_turn_draws_exactly_one_edge_and_it_stays(usual: Game) -> None:
    state = draw(usual, "H(2,3)")
    assert state["h"] == [[(r, c) == (2, 3) for c in range(5)] for r in range(6)]
    assert state["v"] == [[False] * 6] * 5
    later = draw(usual, "V(0,0) V(4,5) H(0,0)", state)
    assert later["h"][2][3] is True
    assert sum(map(sum, later["h"] + later["v"])) == 4


def test_r3_an_edge_cannot_be_drawn_twice(usual: Game) -> None:
    state = draw(usual, "H(2,3)")
    before = copy.deepcopy(state)
    assert not usual.is_legal(state, edge("H(2,3)"))
    assert edge("H(2,3)") not in usual.legal_moves(state)
    with pytest.raises(IllegalMove, match=r"H\(2,3\) is already drawn"):
        usual.apply(state, edge("H(2,3)"))
    assert state == before


@pytest.mark.parametrize("text", ["H(6,0)", "H(0,5)", "V(5,0)", "V(0,6)", "H(-1,0)", "V(0,-1)"])
def test_r3_an_edge_that_is_not_on_the_board_cannot_be_drawn(usual: Game, text: str) -> None:
    state = usual.initial_state()
    assert not usual.is_legal(state, edge(text))
    with pytest.raises(IllegalMove, match="there is no edge"):
        usual.apply(state, edge(text))


@pytest.mark.parametrize(
    "move",
    [
        None,
        "pass",
        "H(2,3)",
        [],
        {},
        {"orient": "H", "r": 2},
        {"orient": "H", "r": 2, "c": 3, "t": "move"},
        {"orient": "h", "r": 2, "c": 3},
        {"orient": "D", "r": 2, "c": 3},
        {"orient": None, "r": 2, "c": 3},
        {"orient": "H", "r": True, "c": 3},
        {"orient": "H", "r": 2.0, "c": 3},
        {"orient": "H", "r": 2, "c": "3"},
    ],
)
def test_r3_what_is_no_edge_is_no_move_and_nobody_may_pass(usual: Game, move: Any) -> None:
    state = usual.initial_state()
    assert not usual.is_legal(state, move)
    with pytest.raises(IllegalMove):
        usual.apply(state, move)
    assert state == usual.initial_state()


def test_r3_apply_leaves_the_state_that_it_was_given(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(1,0)")
    before = copy.deepcopy(state)
    after = small.apply(state, edge("V(0,1)"))
    assert state == before != after


# R4: closing a box


def test_r4_closing_a_box_keeps_the_turn(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0)")
    assert state["to_move"] == 1
    state = draw(small, "V(0,1)", state)
    assert (state["to_move"], state["owner"], state["scores"]) == (1, [[1, -1]], [0, 1])
    assert names(small.legal_moves(state)) == "H(1,1)"


def test_r4_the_box_belongs_to_the_seat_that_drew_the_last_side(square: Game) -> None:
    # Seat 0 draws two sides of box (0, 0), seat 1 the third.
    state = draw(square, "H(0,0) H(1,0) V(0,0)")
    assert (state["to_move"], state["owner"]) == (1, [[-1, -1], [-1, -1]])
    assert draw(square, "V(0,1)", state)["owner"] == [[1, -1], [-1, -1]]
    # Had seat 1 drawn elsewhere, seat 0 would own it.
    assert draw(square, "V(1,2) V(0,1)", state)["owner"] == [[0, -1], [-1, -1]]


def test_r4_a_box_is_owned_for_good(square: Game) -> None:
    state = draw(square, "H(0,0) H(1,0) V(0,0) V(0,1)")
    while moves := square.legal_moves(state):
        assert state["owner"][0][0] == 1
        state = square.apply(state, moves[-1])
    assert state["owner"][0][0] == 1


def test_r4_a_seat_may_close_box_after_box(usual: Game) -> None:
    """A corridor along the top: the first edge opens it, then one seat takes all five boxes."""
    walls = " ".join(f"H({r},{c})" for c in range(5) for r in (0, 1))
    state = draw(usual, walls)
    assert (state["turn"], state["to_move"]) == (10, 0)
    state = draw(usual, "V(0,0)", state)
    for c in range(1, 6):
        assert state["to_move"] == 1
        state = draw(usual, f"V(0,{c})", state)
        assert state["scores"] == [0, c]
    assert state["owner"][0] == [1] * 5
    assert state["to_move"] == 1


# R5: two at once


def test_r5_one_edge_may_close_two_boxes(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0) H(1,1)")
    assert state["to_move"] == 0
    state = draw(small, "V(0,1)", state)
    assert (state["owner"], state["scores"]) == ([[0, 0]], [2, 0])


def test_r5_two_boxes_earn_one_further_turn_not_two(square: Game) -> None:
    """Ruling: one edge that closes two boxes earns one further turn."""
    state = draw(square, "H(0,0) H(0,1) V(0,0) V(0,2) H(1,0) H(1,1)")
    assert (state["turn"], state["to_move"]) == (6, 0)
    state = draw(square, "V(0,1)", state)
    assert (state["owner"], state["scores"], state["to_move"]) == ([[0, 0], [-1, -1]], [2, 0], 0)
    state = draw(square, "V(1,0)", state)
    assert state["to_move"] == 1


def test_r5_an_edge_between_upper_and_lower_box_closes_both_too(square: Game) -> None:
    state = draw(square, "H(0,0) V(0,0) V(0,1) V(1,0) V(1,1) H(2,0)")
    state = draw(square, "H(1,0)", state)
    assert (state["owner"], state["scores"], state["to_move"]) == ([[0, -1], [0, -1]], [2, 0], 0)


# R6: passing the turn


def test_r6_an_edge_that_closes_nothing_passes_the_turn(usual: Game) -> None:
    state = usual.initial_state()
    for turn, move in enumerate(edges("H(0,0) V(4,5) H(2,2) V(2,2) H(3,2)")):
        assert state["to_move"] == usual.to_move(state) == turn % 2
        state = usual.apply(state, move)
    assert state["to_move"] == 1


def test_r6_after_closing_boxes_the_next_edge_passes_the_turn(square: Game) -> None:
    state = draw(square, "H(0,0) H(1,0) V(0,0) V(0,1)")
    assert state["to_move"] == 1
    assert draw(square, "V(1,2)", state)["to_move"] == 0


# R7: no duty to take


def test_r7_a_box_need_not_be_taken(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0)")
    assert names(small.legal_moves(state)) == "H(1,1) V(0,1)"
    state = draw(small, "H(1,1)", state)
    assert (state["scores"], state["to_move"]) == ([0, 0], 0)


# R8: counting


def test_r8_turn_counts_edges_and_not_changes_of_the_mover(small: Game) -> None:
    """Ruling: turn counts edges drawn."""
    state = small.initial_state()
    turns, movers = [state["turn"]], [state["to_move"]]
    for move in edges("V(0,0) H(0,0) H(0,1) V(0,2) H(1,0) V(0,1) H(1,1)"):
        state = small.apply(state, move)
        turns.append(state["turn"])
        movers.append(state["to_move"])
    assert turns == [0, 1, 2, 3, 4, 5, 6, 7]
    assert movers == [0, 1, 0, 1, 0, 1, 1, None]


def test_r8_scores_count_the_boxes_by_seat() -> None:
    game = ludodrome.make("dots", rows=1, cols=3)
    state = draw(game, "H(0,0) H(1,0) V(0,0) V(0,1)")
    assert state["scores"] == [0, 1]
    state = draw(game, "H(0,1) H(1,1) H(0,2) H(1,2)", state)
    assert (state["scores"], state["to_move"]) == ([0, 1], 1)
    state = draw(game, "V(0,3) V(0,2)", state)
    assert (state["owner"], state["scores"]) == ([[1, 0, 0]], [2, 1])


# R9: end


def test_r9_the_game_ends_with_the_last_edge_and_nobody_moves_after_it(small: Game) -> None:
    """Ruling: a finished state says so itself, with winner, reason and to_move null."""
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0) V(0,1)")
    assert (state["to_move"], state["winner"], state["reason"]) == (1, None, "")
    assert small.outcome(state) is None
    state = draw(small, "H(1,1)", state)
    assert state == {
        "to_move": None,
        "rows": 1,
        "cols": 2,
        "h": [[True, True], [True, True]],
        "v": [[True, True, True]],
        "owner": [[1, 1]],
        "scores": [0, 2],
        "turn": 7,
        "nonce": state["nonce"],
        "winner": 1,
        "reason": "more boxes",
    }
    assert small.to_move(state) is None
    assert small.legal_moves(state) == []


def test_r9_after_the_end_every_move_is_refused(small: Game) -> None:
    state = finish(small, small.initial_state())
    for move in edges("H(0,0) V(0,1)"):
        assert not small.is_legal(state, move)
        with pytest.raises(IllegalMove, match="the game is over"):
            small.apply(state, move)
    with pytest.raises(IllegalMove, match="the game is over"):
        small.parse_move("H(0,0)", state)


def test_r9_a_lead_that_cannot_be_caught_up_does_not_end_the_game() -> None:
    wide = ludodrome.make("dots", rows=1, cols=4)
    state = draw(wide, "H(0,0) H(1,0) H(0,1) H(1,1) H(0,2) H(1,2) V(0,0) V(0,1) V(0,2) V(0,3)")
    assert (state["scores"], state["turn"]) == ([0, 3], 10)
    assert (state["to_move"], state["winner"], state["reason"]) == (1, None, "")
    assert names(wide.legal_moves(state)) == "H(0,3) H(1,3) V(0,4)"


@pytest.mark.parametrize(("rows", "cols"), [(1, 21), (21, 1)])
def test_r9_a_board_of_64_edges_is_played_to_the_last(rows: int, cols: int) -> None:
    """All 64 bits of the machine word are edges there."""
    game = ludodrome.make("dots", rows=rows, cols=cols)
    state = game.initial_state()
    for turn in range(64):
        moves = game.legal_moves(state)
        assert len(moves) == 64 - turn
        assert state["to_move"] in (0, 1)
        state = game.apply(state, moves[-1])
    assert (state["turn"], state["to_move"], sum(state["scores"])) == (64, None, 21)
    assert game.parse_state(game.format_state(state)) == state


# R10 and R11: winner, draw


def test_r10_more_boxes_win(small: Game) -> None:
    state = draw(small, "V(0,0) H(0,0) H(0,1) V(0,2) H(1,0) H(1,1) V(0,1)")
    assert (state["winner"], state["reason"]) == (0, "more boxes")
    outcome = small.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.scores, outcome.returns, outcome.reason) == (0, [2, 0], [1, -1], "more boxes")


def test_r10_scores_are_boxes_and_returns_are_zero_sum(usual: Game) -> None:
    state = finish(usual, usual.initial_state())
    outcome = usual.outcome(state)
    assert outcome is not None
    assert outcome.scores == state["scores"] == [sum(row.count(seat) for row in state["owner"]) for seat in (0, 1)]
    assert sum(outcome.scores) == 25
    assert outcome.winner == state["winner"] == (0 if outcome.scores[0] > outcome.scores[1] else 1)
    assert outcome.returns == ([1, -1] if outcome.winner == 0 else [-1, 1])


def test_r10_with_an_odd_number_of_boxes_there_is_always_a_winner(usual: Game) -> None:
    result = ludodrome.playouts(usual, 200, seed=5)
    assert result.draws == 0
    assert sum(result.wins) == 200
    assert result.plies == 60 * 200


def test_r11_equally_many_boxes_draw(square: Game) -> None:
    """Ruling: boards with an even number of boxes can be drawn."""
    before = square.parse_state("2x2 11/11/11 111/110 01/1. 0 0")
    level = draw(square, "V(1,2)", before)
    assert (level["scores"], level["winner"], level["reason"]) == ([2, 2], None, "equal boxes")
    outcome = square.outcome(level)
    assert outcome is not None
    assert (outcome.winner, outcome.scores, outcome.returns) == (None, [2, 2], [0, 0])
    assert square.render(level).endswith("\nturn 12, boxes 2-2, drawn: equal boxes")


def test_r11_a_draw_comes_about_in_play(small: Game) -> None:
    state = draw(small, "H(0,0) H(1,0) V(0,0) H(0,1) V(0,1) H(1,1) V(0,2)")
    assert (state["owner"], state["winner"], state["reason"]) == ([[0, 1]], None, "equal boxes")


# R12: never stuck


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (2, 2), (5, 5), (2, 12)])
def test_r12_every_undrawn_edge_is_legal_until_none_is_left(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    everything = game.legal_moves(game.initial_state())
    choice = random.Random(7)
    state, drawn = game.initial_state(), []
    while moves := game.legal_moves(state):
        assert moves == [move for move in everything if move not in drawn]
        drawn.append(choice.choice(moves))
        state = game.apply(state, drawn[-1])
    assert len(drawn) == len(everything) == state["turn"]


# R13: nonce


def test_r13_the_nonce_never_changes_and_has_no_effect(small: Game) -> None:
    ends = []
    for seed in (1, 2):
        state = small.initial_state(seed)
        nonce = state["nonce"]
        while moves := small.legal_moves(state):
            state = small.apply(state, moves[-1])
            assert state["nonce"] == nonce
        ends.append({**state, "nonce": 0})
    assert ends[0] == ends[1]


def test_r13_the_seed_decides_the_nonce_and_nothing_else(usual: Game) -> None:
    nonces = {usual.initial_state(seed)["nonce"] for seed in range(200)}
    assert len(nonces) == 200
    assert usual.initial_state(3) == usual.initial_state(3) == {**usual.initial_state(4), "nonce": _nonce(usual, 3)}


def _nonce(game: Game, seed: int) -> int:
    nonce: int = game.initial_state(seed)["nonce"]
    return nonce


def test_r13_the_nonce_stays_within_53_bits(usual: Game) -> None:
    """Ruling: every JSON reader keeps it exact."""
    nonces = [_nonce(usual, seed) for seed in (*range(300), -1, 2**63, 2**64, 10**30)]
    assert all(0 <= nonce < 2**53 for nonce in nonces)
    assert max(nonces) > 2**52
    batch = ludodrome.batch(usual, 300, seed=9)
    assert int(batch.states["nonce"].max()) < 2**53
    state = usual.initial_state()
    assert usual.to_move({**state, "nonce": 2**53 - 1}) == 0
    for wrong in (2**53, -1, 1.0, True, "7", None):
        with pytest.raises(BadState, match="nonce"):
            usual.to_move({**state, "nonce": wrong})


# Counts


def test_perft_counts_all_orders_of_the_edges(small: Game, square: Game) -> None:
    assert ludodrome.perft(small, 7) == 5040
    assert ludodrome.perft(square, 5) == 12 * 11 * 10 * 9 * 8
    ends = ludodrome.perft_ends(small, 7)
    assert ends.nodes == 5040 == sum(ends.wins) + ends.draws_or_open
    assert ludodrome.perft_ends(ludodrome.make("dots", rows=1, cols=1), 4).wins == [0, 24]
