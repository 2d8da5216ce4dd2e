"""ludodrome.analyse in dots: exact lines where the solver reaches, a search where it does not."""

import pytest

import ludodrome
from ludodrome.game import Game
from ludodrome.games.dots.analysis import exact_analysis
from ludodrome.games.dots.bots import MAX_SOLVER_EDGES
from ludodrome.games.dots.display import chains

pytestmark = pytest.mark.xdist_group("dots")


@pytest.fixture
def game() -> Game:
    return ludodrome.make("dots", rows=2, cols=3)


def after(game: Game, *texts: str) -> object:
    state = game.initial_state()
    for text in texts:
        state = game.apply(state, game.parse_move(text, state))
    return state


@pytest.mark.parametrize("texts", [(), ("H(0,0)", "V(1,3)"), ("H(0,0)", "H(1,0)", "V(0,0)", "V(0,1)", "H(2,2)")])
def test_every_line_is_worth_what_its_move_leaves(game: Game, texts: tuple[str, ...]) -> None:
    state = after(game, *texts)
    first, *_, last = ludodrome.analyse(game, state, time=None, lines=100)
    assert first.depth == 1
    moves = game.legal_moves(state)
    assert sorted(game.format_move(line.move, state) for line in last.lines) == sorted(
        game.format_move(move, state) for move in moves
    )
    assert [line.score for line in last.lines] == sorted((line.score for line in last.lines), reverse=True)
    assert last.lines[0].score == ludodrome.solve(game, state).value
    for line in last.lines:
        assert line.proven
        following = game.apply(state, line.move)
        value = ludodrome.solve(game, following).value
        assert value is not None
        assert line.score == (value if game.to_move(following) == game.to_move(state) else -value)


def test_a_continuation_is_perfect_play_to_the_end(game: Game) -> None:
    state = after(game, "H(0,0)", "V(1,3)", "V(0,1)")
    *_, last = ludodrome.analyse(game, state, time=None, lines=2)
    for line in last.lines:
        seat, follow = game.to_move(state), game.apply(state, line.move)
        for text in line.continuation:
            follow = game.apply(follow, game.parse_move(text, follow))
        outcome = game.outcome(follow)
        assert outcome is not None
        assert seat is not None
        assert outcome.scores[seat] - outcome.scores[1 - seat] == line.score


def test_what_takes_too_long_is_searched() -> None:
    game = ludodrome.make("dots", rows=4, cols=4)
    state = game.initial_state()
    assert len(game.legal_moves(state)) <= MAX_SOLVER_EDGES
    assert exact_analysis(game, game.encode_array(state), 0.01, 3) is None
    analyses = list(ludodrome.analyse(game, state, time=0.2))
    assert [one.depth for one in analyses] == list(range(1, len(analyses) + 1))
    assert not analyses[-1].lines[0].proven


def test_an_empty_5x5_is_not_even_tried() -> None:
    game = ludodrome.make("dots")
    assert exact_analysis(game, game.encode_array(game.initial_state()), None, 3) is None


def test_a_chain_that_is_being_taken_counts_all_its_boxes() -> None:
    state = ludodrome.make("dots", rows=1, cols=4).initial_state()
    state["h"] = [[True] * 4] * 2
    four = [{"boxes": [[0, column] for column in range(4)], "loop": False}]
    assert chains(state) == four
    state["v"] = [[True, False, False, False, False]]
    assert chains(state) == four
    state["v"] = [[True, True, False, False, False]]
    assert [len(chain["boxes"]) for chain in chains(state)] == [3]
