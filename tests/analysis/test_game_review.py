"""Games graded: exact where the solvers know, comparable where they do not, and the same every time."""

import math
from typing import Any

import pytest

import ludodrome
from ludodrome.analysis import game_review
from ludodrome.analysis.game_review import GameReview
from ludodrome.analysis.move_review import reviewer_of
from ludodrome.analysis.win_probability import (
    BEST,
    BLUNDER,
    GOOD,
    INACCURACY,
    MISTAKE,
    Value,
    accuracy,
    grade,
    win_probability,
)
from ludodrome.bots import bot
from ludodrome.game import Game
from ludodrome.games.dots.solver import Solver
from ludodrome.games.spaces import respond, simulate
from ludodrome.games.spaces.analysis import least_loss

FEW = 3_000


def played(game: Game, specs: list[str], seed: int = 1, most: int = 200) -> tuple[list[Any], list[Any]]:
    """A game of bots: its positions and its moves."""
    states: list[Any] = [game.initial_state(seed)]
    moves: list[Any] = []
    bots = [bot(spec, game, seed + seat) for seat, spec in enumerate(specs)]
    while (seat := game.to_move(states[-1])) is not None and len(moves) < most:
        moves.append(bots[seat].choose(game.observation(states[-1], seat)))
        states.append(game.apply(states[-1], moves[-1]))
    return states, moves


def graded(game: Game, states: list[Any], moves: list[Any], **wish: Any) -> GameReview:
    grading = GameReview(game, states, moves, nodes=FEW, **wish)
    for _ in grading.work():
        pass
    return grading


def test_grades_and_accuracy_are_what_the_page_says() -> None:
    assert [grade(loss) for loss in (0, 0.01, 0.06, 0.1199, 0.12, 0.25, 1)] == [
        BEST,
        GOOD,
        INACCURACY,
        INACCURACY,
        MISTAKE,
        BLUNDER,
        BLUNDER,
    ]
    assert accuracy([]) is None
    assert accuracy([0, 0]) == 100
    assert accuracy([0.1]) == pytest.approx(100 * math.exp(-0.45))


def test_worths_lie_between_lost_and_won_and_grow_with_the_score() -> None:
    for name in ludodrome.game_ids():
        game = ludodrome.make(name)
        worths = [win_probability(game, Value(score)) for score in (-1e9, -2, -0.5, 0, 0.5, 2, 1e9)]
        assert worths == sorted(worths)
        assert worths[0] == pytest.approx(0)
        assert worths[3] == 0.5
        assert worths[-1] == pytest.approx(1)
    towers = ludodrome.make("skysummit")
    assert win_probability(towers, Value(1, distance=9)) == 1
    assert win_probability(towers, Value(-1, distance=2)) == 0
    assert win_probability(towers, Value(0.3, proven=True)) == 0.5


def test_every_move_of_a_small_board_of_dots_is_graded_by_the_solver() -> None:
    game = ludodrome.make("dots", rows=2, cols=3)
    states, moves = played(game, ["random", "random"], seed=5)
    grading = graded(game, states, moves)
    solver = Solver(2, 3, 12)

    def margin(number: int, seat: int) -> int:
        scores = states[number]["scores"]
        solver.begin(game.encode(states[number]))
        solver.run(10**9)
        value = solver.value or 0
        return int(scores[seat] - scores[1 - seat] + (value if states[number]["to_move"] == seat else -value))

    given_away = 0.0
    for ply, one in grading.plies.items():
        assert one.review.exact
        assert one.review.best.score == margin(ply, one.seat)
        assert one.review.played.score == margin(ply + 1, one.seat)
        assert one.points == one.review.best.score - one.review.played.score
        given_away += one.points or 0
    assert given_away > 0
    assert sorted(grading.plies) == list(range(17))


def test_a_best_edge_attains_the_value(long: bool) -> None:
    if not long:
        pytest.skip("graded with --long")
    game = ludodrome.make("dots", rows=2, cols=3)
    states, moves = played(game, ["random", "random"], seed=5)
    for ply, one in graded(game, states, moves).plies.items():
        after = game.apply(states[ply], one.review.move)
        again = graded(game, [states[ply], after], [one.review.move])
        assert again.plies[0].loss == 0
        assert again.plies[0].review.best.score == one.review.best.score


@pytest.mark.parametrize("name", ["skysummit", "caldera", "santorini"])
def test_a_thrown_win_is_found_and_a_won_game_is_proven(name: str, long: bool) -> None:
    if name != "skysummit" and not long:
        pytest.skip(f"{name} is graded with --long")
    game = ludodrome.make(name)
    states, moves = played(game, ["level:4", "random"], seed=3)
    grading = graded(game, states, moves)
    last = grading.plies[len(moves) - 1]
    assert last.review.exact
    assert last.review.best.distance == 1
    assert last.grade in (BEST, None)
    assert last.win_probability == 1
    assert all(0 <= one.loss <= one.win_probability for one in grading.plies.values())
    accuracies = [grading.accuracy(seat) or 0 for seat in range(2)]
    assert accuracies[0] > accuracies[1]
    assert grading.turning_points()
    assert {grading.plies[ply].grade for ply in grading.turning_points()} <= {MISTAKE, BLUNDER}


def test_three_seats_are_graded_each_for_itself(long: bool) -> None:
    if not long:
        pytest.skip("graded with --long")
    game = ludodrome.make("santorini", players=3)
    states, moves = played(game, ["level:3", "random", "random"])
    grading = graded(game, states, moves)
    assert grading.done
    assert {one.seat for one in grading.plies.values()} == {0, 1, 2}
    assert grading.plies[len(moves) - 1].win_probability == 1


def test_an_answer_in_spaces_is_graded_by_the_best_response() -> None:
    game = ludodrome.make("spaces", size=3, rules="live", rounds=3)
    states, moves = played(game, ["level:2", "random"], seed=4)
    grading = graded(game, states, moves)
    for ply, one in grading.plies.items():
        before = states[ply]
        if before["chosen"] is None:
            continue
        own, other = simulate(moves[ply], before["chosen"], 3, "live").points
        best = respond(before["chosen"], 3, "live")
        assert one.points == best.margin - (own - other)
        assert one.review.exact
    assert grading.plies[5].review.played.score == pytest.approx(
        states[-1]["totals"][grading.plies[5].seat] - states[-1]["totals"][1 - grading.plies[5].seat]
    )


def test_a_first_board_is_worth_what_its_best_answer_leaves(long: bool) -> None:
    if not long:
        pytest.skip("graded with --long")
    game = ludodrome.make("spaces", size=3, rules="live", rounds=1)
    board, loss, known = least_loss(3, "live")
    assert (loss, known) == (3, True)
    after = game.apply(game.initial_state(), board)
    one = graded(game, [game.initial_state(), after], [board]).plies[0]
    assert one.grade == BEST
    assert one.review.best.score == -3


def test_what_lies_face_down_is_graded_against_the_mixture_that_nothing_beats() -> None:
    game = ludodrome.make("spaces", size=3, choice="blind", rounds=2)
    states, moves = played(game, ["expert", "random"], seed=2)
    grading = graded(game, states, moves)
    assert grading.accuracy(0) == 100
    assert (grading.accuracy(1) or 0) < 100
    deck = ludodrome.make("spaces", size=3, mode="deck")
    states, moves = played(deck, ["expert", "random"], seed=2)
    assert graded(deck, states, moves).accuracy(0) == 100


def test_forced_and_foreign_moves_are_not_graded_but_valued() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    states, moves = played(game, ["random", "random"])
    grading = graded(game, states, moves, own=[False, True, True, True])
    assert [grading.plies[ply].grade for ply in range(4)] == [None, BEST, BEST, None]
    assert grading.plies[0].win_probability == pytest.approx(0.5 - 0.5 * math.tanh(1))


def test_when_the_time_is_up_the_rest_costs_little() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    states, moves = played(game, ["random", "random"])
    ticks = iter(range(10**6))
    grading = GameReview(game, states, moves, nodes=10**9, seconds=0)
    assert len(list(grading.work(lambda: float(next(ticks))))) == len(moves)
    assert grading.done


def test_a_game_is_graded_alike_again() -> None:
    game = ludodrome.make("caldera", turn_limit=10)
    states, moves = played(game, ["random", "random"])
    assert graded(game, states, moves).plies == graded(game, states, moves).plies


def test_a_game_that_broke_off_and_one_without_moves_are_graded() -> None:
    game = ludodrome.make("skysummit")
    states, moves = played(game, ["random", "random"], most=6)
    assert graded(game, states, moves).done
    nothing = graded(game, states[:1], [])
    assert nothing.done
    assert nothing.accuracy(0) is None


def test_an_unsolved_position_of_dots_is_estimated() -> None:
    game = ludodrome.make("dots")
    states, moves = played(game, ["random", "random"], most=3)
    found = graded(game, states, moves)
    assert not any(one.review.exact for one in found.plies.values())


def test_a_solved_position_whose_sequel_is_unknown_asks_for_the_edge() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    state = game.initial_state()
    move = game.legal_moves(state)[0]
    found = reviewer_of(game).review(state, move, None, FEW)
    assert found.exact
    assert found.played.score <= found.best.score


def test_a_review_can_be_read_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that asked while a ply was added got "dictionary changed size during iteration"."""
    game = ludodrome.make("dots", rows=1, cols=1)
    review = graded(game, *played(game, ["random", "random"]))
    expected = review.accuracy(0)

    def grow(losses: Any) -> float | None:
        first = next(iter(losses))
        review.plies[len(review.plies)] = review.plies[0]  # as the thread that grades does
        return accuracy([first, *losses])

    monkeypatch.setattr(game_review, "accuracy", grow)
    assert review.accuracy(0) == expected


def test_positions_and_moves_must_fit() -> None:
    game = ludodrome.make("dots")
    with pytest.raises(ValueError, match="1 moves have 2 positions, not 1"):
        GameReview(game, [game.initial_state()], [{}])
