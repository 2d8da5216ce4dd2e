"""Tic-tac-toe: the contract of all games, the walk beside the oracle, the rules one by one."""

import random
import re
from pathlib import Path

import ludodrome_tictactoe
import oracle
import pytest

import ludodrome
from ludodrome.testing import CHECKS, CHECKS_ONCE, Tally, walk

PACKAGE = Path(ludodrome_tictactoe.__file__).parent
GAME = ludodrome.make("tictactoe")
WALKS = 40


@pytest.mark.parametrize("check", (*CHECKS, *CHECKS_ONCE), ids=lambda check: check.__name__)
def test_the_contract(check):
    check(GAME)


def test_walks_beside_the_oracle_meet_every_end():
    tally = Tally()
    for seed in range(WALKS):
        walk(GAME, oracle, random.Random(seed), tally)
    assert set(tally.ends) == {"three in a row", "a full board"}


def test_every_rule_is_named_in_the_code_and_in_a_test():
    numbers = re.findall(r"^\*\*(R\d+)\.", (PACKAGE / "RULES.md").read_text("utf-8"), re.MULTILINE)
    code, tests = (PACKAGE / "rules.py").read_text("utf-8"), Path(__file__).read_text("utf-8")
    for number in numbers:
        assert re.search(rf"\b{number}\b", code), number
        assert f"def test_{number.lower()}_" in tests, number


def test_r1_the_board_is_empty_and_seat_0_begins():
    start = GAME.initial_state()
    assert start["board"] == ["...", "...", "..."]
    assert GAME.to_move(start) == 0
    assert len(GAME.legal_moves(start)) == 9


def test_r2_a_sign_goes_on_an_empty_cell_and_the_turn_passes():
    after = GAME.apply(GAME.initial_state(), {"cell": "b2"})
    assert after["board"] == ["...", ".X.", "..."]
    assert GAME.to_move(after) == 1
    with pytest.raises(ludodrome.IllegalMove, match="b2 is not empty"):
        GAME.apply(after, {"cell": "b2"})
    with pytest.raises(ludodrome.IllegalMove, match="like b2"):
        GAME.parse_move("d4", after)


@pytest.mark.parametrize("board", ["XXX/OO./...", "X.O/XO./X..", "X.O/OX./..X", "OOX/.X./X.."])
def test_r3_three_in_a_row_win(board):
    outcome = GAME.outcome(GAME.parse_state(board))
    assert (outcome.winner, outcome.reason, outcome.returns) == (0, "three in a row", [1, -1])


def test_r4_a_full_board_without_three_in_a_row_is_a_draw():
    outcome = GAME.outcome(GAME.parse_state("XOX/XOO/OXX"))
    assert (outcome.winner, outcome.reason, outcome.returns) == (None, "a full board", [0, 0])


@pytest.mark.parametrize(
    ("board", "sentence"),
    [
        ("XX./.../...", "as many X as O, or one more"),
        ("XXX/OOO/...", "only O, who moved last"),
        ("XY./.../...", "row 1"),
        ("X../...", "a list of 3"),
    ],
)
def test_boards_that_are_none_are_refused(board, sentence):
    with pytest.raises(ludodrome.BadState, match=sentence):
        GAME.parse_state(board)


def test_perft_counts_as_the_books_do():
    assert [ludodrome.perft(GAME, depth) for depth in range(1, 6)] == [9, 72, 504, 3024, 15120]


def test_a_bot_plays_it():
    bot = ludodrome.bot("mcts:sims=200", GAME)
    state = GAME.parse_state("XX./OO./...")
    assert bot.choose(state) == {"cell": "c1"}


# What the example has beyond the game that `ludodrome new-game` writes: an evaluator, and planes of its own


def test_alpha_beta_proves_that_the_game_is_a_draw():
    solution = ludodrome.solve(GAME, GAME.initial_state(), 60)
    assert (solution.value, solution.proven) == (0, True)


def test_alpha_beta_wins_where_it_can_and_blocks_where_it_must():
    bot = ludodrome.bot("alphabeta:depth=9", GAME)
    assert bot.choose(GAME.parse_state("XX./OO./...")) == {"cell": "c1"}
    assert bot.choose(GAME.parse_state("X.X/.O./...")) == {"cell": "b1"}


def test_values_turn_with_the_board():
    for board, turned in (("X../.O./...", "..X/.O./..."), ("XO./.../...", "X../O../...")):
        values = {GAME.kernels.value(GAME.encode_array(GAME.parse_state(one)), 0) for one in (board, turned)}
        assert len(values) == 1
