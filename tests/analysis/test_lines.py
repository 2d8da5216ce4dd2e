"""ludodrome.analyse: growing lines, in words, proven where they are."""

from itertools import pairwise
from typing import Any

import pytest

import ludodrome
from ludodrome.game import BadState, IllegalMove

ONE_WIN = "00000/03200/00111/00000/00000 B3E5 C4D2 9"
"""Skysummit: the worker of seat 1 on C4 can reach nothing, that of seat 0 on B3 stands at level 2 beside B2."""


@pytest.mark.xdist_group("skysummit")
def test_lines_are_playable_sorted_and_growing() -> None:
    game = ludodrome.make("skysummit")
    state = game.parse_state(ONE_WIN)
    analyses = list(ludodrome.analyse(game, state, time=None, lines=4, depth=3))
    assert [analysis.depth for analysis in analyses] == [1, 2, 3]
    assert all(a.nodes < b.nodes and a.seconds <= b.seconds for a, b in pairwise(analyses))
    for analysis in analyses:
        assert len(analysis.lines) == 4
        scores = [line.score for line in analysis.lines]
        assert scores == sorted(scores, reverse=True)
        for line in analysis.lines:
            assert game.format_move(line.move, state) == line.text
            follow = game.apply(state, line.move)
            for text in line.continuation:
                follow = game.apply(follow, game.parse_move(text, follow))


@pytest.mark.xdist_group("skysummit")
def test_a_win_is_proven_and_counted() -> None:
    game = ludodrome.make("skysummit")
    state = game.parse_state("00000/03200/00111/00000/00000 B3E5 C4D2 10")
    *_, last = ludodrome.analyse(game, state, time=None, lines=1, depth=2)
    (line,) = last.lines
    assert (line.text, line.distance, line.proven) == ("1B3-B2", 1, True)


@pytest.mark.xdist_group("dots")
def test_the_score_of_dots_is_the_final_margin() -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    state = game.initial_state()
    for text in ("H(0,0)", "H(1,0)", "V(0,0)", "V(0,1)"):  # seat 1 closes the first box
        state = game.apply(state, game.parse_move(text, state))
    *_, last = ludodrome.analyse(game, state, time=None, lines=10)
    assert len(last.lines) == 3
    best = last.lines[0]
    assert best.proven
    assert best.score == 2  # one box owned, and with three edges left the other one too


@pytest.mark.xdist_group("santorini")
def test_three_players_are_analysed_too() -> None:
    game = ludodrome.make("santorini", players=3)
    *_, last = ludodrome.analyse(game, game.initial_state(), time=None, lines=2, depth=1)
    assert len(last.lines) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"time": 0}, "time is a positive number of seconds, or None for no limit, not 0"),
        ({"time": "soon"}, "time is a positive number of seconds, or None for no limit, not 'soon'"),
        ({"time": float("nan")}, "time is a positive number of seconds"),
        ({"lines": 0}, "the number of lines is a whole number from 1 to 100, not 0"),
        ({"depth": 101}, "the depth is a whole number from 1 to 100, not 101"),
    ],
)
def test_bad_wishes_are_refused(words: dict[str, Any], sentence: str) -> None:
    game = ludodrome.make("skysummit")
    with pytest.raises(ValueError, match=sentence):
        ludodrome.analyse(game, game.initial_state(), **words)


def test_what_cannot_be_analysed_is_refused() -> None:
    game = ludodrome.make("skysummit")
    with pytest.raises(BadState):
        ludodrome.analyse(game, {})
    over = game.parse_state("00000/03200/00111/00000/00000 B2E5 C4D2 9")
    with pytest.raises(IllegalMove, match="the game is over"):
        ludodrome.analyse(game, over)
    spaces = ludodrome.make("spaces")
    with pytest.raises(ValueError, match="spaces respond BOARD` the best answer"):
        ludodrome.analyse(spaces, spaces.initial_state())
