"""Coins: the contract of all games, the walk beside the oracle, the rules one by one, and the searches."""

import functools
import random
import re
from pathlib import Path

import ludodrome_coins
import oracle
import pytest
from ludodrome_coins.rules import VALUES

import ludodrome
from ludodrome.puzzle.lessons import hint_of, judge, lesson
from ludodrome.testing import CHECKS, CHECKS_ONCE, Tally, walk

PACKAGE = Path(ludodrome_coins.__file__).parent
GAMES = [ludodrome.make("coins", players=players) for players in (2, 3)]
TWO, THREE = GAMES
WALKS = 40


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract(check, game):
    check(game)


@pytest.mark.parametrize("check", CHECKS_ONCE, ids=lambda check: check.__name__)
def test_the_contract_once(check):
    check(TWO)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_walks_beside_the_oracle(game):
    tally = Tally()
    for seed in range(WALKS):
        walk(game, oracle, random.Random(seed), tally)
    assert set(tally.ends) == {"all coins taken"}


def test_every_rule_is_named_in_the_code_and_in_a_test():
    numbers = re.findall(r"^\*\*(R\d+)\.", (PACKAGE / "RULES.md").read_text("utf-8"), re.MULTILINE)
    code, tests = (PACKAGE / "rules.py").read_text("utf-8"), Path(__file__).read_text("utf-8")
    for number in numbers:
        assert re.search(rf"\b{number}\b", code), number
        assert f"def test_{number.lower()}_" in tests, number


def test_r1_initial_row_and_first_seat():
    for game in GAMES:
        start = game.initial_state()
        assert (start["first"], start["last"], start["scores"]) == (1, 15, [0] * game.seats)
        assert game.to_move(start) == 0
    values = re.search(r"from the left are ([\d ]+)\.", (PACKAGE / "RULES.md").read_text("utf-8"))[1]
    assert VALUES.tolist() == [int(one) for one in values.split()]


def test_r2_a_coin_is_taken_from_an_end():
    start = TWO.initial_state()
    assert TWO.legal_moves(start) == [{"coin": 1}, {"coin": 15}]
    assert TWO.apply(start, {"coin": 15})["scores"] == [3, 0]
    with pytest.raises(ludodrome.IllegalMove, match="coin 2 is not at an end of the row; the ends are 1 and 15"):
        TWO.apply(start, {"coin": 2})
    with pytest.raises(ludodrome.IllegalMove, match="1 or 15"):
        TWO.parse_move("7", start)
    assert TWO.legal_moves(TWO.parse_state("8-8 13/14 1")) == [{"coin": 8}]


def test_r3_a_copper_coin_gives_another_turn():
    silver = THREE.apply(THREE.initial_state(), {"coin": 1})
    assert THREE.to_move(silver) == 1
    copper = THREE.apply(silver, {"coin": 2})
    assert (THREE.to_move(copper), copper["scores"]) == (1, [2, 1, 0])
    gold = THREE.apply(copper, {"coin": 15})
    assert THREE.to_move(gold) == 2
    assert THREE.to_move(THREE.apply(gold, {"coin": 14})) == 0


@pytest.mark.parametrize(
    ("game", "line", "winner", "returns"),
    [
        (TWO, "- 17/13 -", 0, [1, -1]),
        (TWO, "- 15/15 -", None, [0, 0]),
        (THREE, "- 9/9/12 -", 2, [-0.5, -0.5, 1]),
        (THREE, "- 12/6/12 -", None, [0, 0, 0]),
        (THREE, "- 10/10/10 -", None, [0, 0, 0]),
    ],
)
def test_r4_the_most_points_win(game, line, winner, returns):
    outcome = game.outcome(game.parse_state(line))
    assert (outcome.winner, outcome.reason, outcome.returns) == (winner, "all coins taken", returns)
    assert sum(outcome.scores) == VALUES.sum()


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_finished_positions_are_canonical(game):
    """However a game ends, its position equals the one read from its state."""
    for seed in range(WALKS):
        rng, position = random.Random(seed), ludodrome.Position(game)
        while not position.is_over:
            position.play(rng.choice(position.legal_actions()))
            assert ludodrome.Position(game, position.state) == position


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("3-15 3/1 1", "worth 3 points, and the scores add up to 4"),
        ("3-15 3 1", "like 3-15 3/0 1"),
        ("3-15 1/1/1 1", "a list of 2"),
        ("3-15 3/0 2", "from 0 to 1"),
        ("9-3 3/0 1", "last"),
        ("- 17/13 1", "to_move at the end"),
    ],
)
def test_invalid_positions_are_rejected(line, sentence):
    with pytest.raises(ludodrome.BadState, match=sentence):
        TWO.parse_state(line)


# The searches, against a plain solver


@functools.cache
def margin(first: int, last: int) -> int:
    """What best play wins from a row of coins, for the seat to move of two."""
    if first > last:
        return 0
    found = []
    for coin, rest in ((first, (first + 1, last)), (last, (first, last - 1))):
        points = oracle.VALUES[coin]
        found.append(points + (margin(*rest) if points == 1 else -margin(*rest)))
    return max(found)


def test_alpha_beta_finds_the_best_margin_from_every_row():
    bot = ludodrome.bot("alphabeta:depth=15", TWO)
    for last in range(9, 16):
        for first in range(max(1, last - 7), last + 1):
            taken = int(VALUES.sum()) - sum(oracle.VALUES[coin] for coin in range(first, last + 1))
            state = TWO.parse_state(f"{first}-{last} {taken}/0 0")
            bot.start({"seed": 0})
            coin = bot.choose(state)["coin"]
            rest = (first + 1, last) if coin == first else (first, last - 1)
            points = oracle.VALUES[coin]
            assert points + (margin(*rest) if points == 1 else -margin(*rest)) == margin(first, last)


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("spec", ["greedy", "alphabeta:depth=4", "expert:nodes=2000", "mcts:sims=50", "level:3"])
def test_bots_play_it_to_the_end(spec, game):
    bots = [ludodrome.bot(spec if seat == 0 else "random", game, seed=seat) for seat in range(game.seats)]
    state = game.initial_state()
    while (seat := game.to_move(state)) is not None:
        state = game.apply(state, bots[seat].choose(game.observation(state, seat)))
    assert sum(game.outcome(state).scores) == VALUES.sum()


def test_the_lesson_is_played_to_its_end_by_its_hints():
    for step in lesson("coins").steps:
        game = step.game("coins")
        state = step.state(game)
        for number, task in enumerate(step.tasks):
            for move in game.legal_moves(state):
                assert judge(game, step, number, state, move).sentence
            verdict = judge(game, step, number, state, hint_of(game, task, state))
            assert verdict.right
            state = verdict.line[-1][1]
        assert verdict.is_last
