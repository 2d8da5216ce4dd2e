"""Scores against imperfect opponents: all pairs, mixtures, intervals, and the search where pairs are too many."""

import random

import numpy as np
import pytest

from ludodrome import spaces
from ludodrome.games.spaces.boards import format_board, format_code, mirrored, parse_code
from ludodrome.games.spaces.generation import BoardWalk, generate
from ludodrome.games.spaces.legality import all_boards
from ludodrome.games.spaces.score_search import ScoreSearch, neighbours, random_boards
from ludodrome.games.spaces.scores import (
    AllPairs,
    ScoreTable,
    average_by_traps,
    best_by_share,
    can_meet,
    can_pair,
    score_of,
    straight_runs,
    tally,
    values_of,
    wilson,
)

pytestmark = pytest.mark.xdist_group("spaces")

SMALL = pytest.mark.parametrize(("size", "rules"), [(2, "live"), (2, "written")])


def by_hand(boards: list[bytes], others: list[bytes], size: int, rules: str) -> list[list[int]]:
    """Tallies by playing every round step by step."""
    rows = []
    for board in boards:
        margins, own, other = [], 0, 0
        for opponent in others:
            points = spaces.simulate(format_board(board, size), format_board(opponent, size), size, rules).points
            margins.append(points[0] - points[1])
            own, other = own + points[0], other + points[1]
        results = [sum(m > 0 for m in margins), sum(m == 0 for m in margins), sum(m < 0 for m in margins)]
        rows.append([*results, own, other, sum(m * m for m in margins)])
    return rows


def paired(size: int, rules: str, pairs: int) -> AllPairs:
    found = AllPairs(size, rules)
    while not found.over:
        found.step(pairs)
    return found


@SMALL
def test_all_pairs_are_what_playing_each_of_them_gives(size: int, rules: str) -> None:
    found = paired(size, rules, 7)
    some = list(range(0, len(found.boards), 1 if rules == "live" else 37))
    expected = by_hand([found.boards[at] for at in some], found.boards, size, rules)
    assert found.all_tallies()[some].tolist() == expected
    assert found.rounds_done == found.rounds_total


def test_symmetry_saves_rounds_and_changes_nothing() -> None:
    boards = list(all_boards(3, True))
    found = paired(3, "live", 10_000)
    assert found.boards == boards
    tallies = found.all_tallies()
    assert (tallies == tally(boards, boards, 3, True)).all()
    assert found.orbits < len(boards) <= 2 * found.orbits
    won, drawn, lost = tallies[:, :3].sum(axis=0)
    assert won == lost, "whenever one side wins, the other loses"
    assert won + drawn + lost == 796 * 796
    places = {board: at for at, board in enumerate(boards)}
    assert all((tallies[at] == tallies[places[mirrored(board, 3)]]).all() for board, at in places.items())


def test_a_run_of_all_pairs_can_be_taken_up() -> None:
    first = AllPairs(3, "live")
    first.step(50_000)
    assert not first.over
    again = AllPairs(3, "live", first.done, first.tallies)
    while not again.over:
        again.step(50_000)
    assert (again.all_tallies() == paired(3, "live", 10**9).all_tallies()).all()


def test_which_sizes_are_played_how() -> None:
    assert [can_pair(size, "live") for size in (2, 3, 4, 5)] == [True, True, True, False]
    assert [can_pair(size, "written") for size in (2, 3, 4)] == [True, False, False]
    assert [can_meet(5, "live"), can_meet(6, "live"), can_meet(3, "written"), can_meet(4, "written")] == [
        *(True, False),
        *(True, False),
    ]
    with pytest.raises(ValueError, match="size 5 under live has too many boards to play all pairs"):
        AllPairs(5, "live")


def test_scores_against_a_mixture() -> None:
    tallies, runs = np.array([6, 2, 2, 30, 12, 50]), np.array([1, 1, 2, 4, 8, 6])
    one = score_of("2:0:uf", tallies, runs, 0.25, exact=True)
    assert one.won == pytest.approx(0.75 * 0.6 + 0.25 * 0.25)
    assert one.drawn == pytest.approx(0.75 * 0.2 + 0.25 * 0.25)
    assert one.margin == pytest.approx(0.75 * 1.8 + 0.25 * -1)
    assert (one.won_interval, one.margin_interval) == (None, None)
    sampled = score_of("2:0:uf", tallies, runs, 1.0, exact=False)
    assert sampled.won_interval == pytest.approx((0.25, 0.25)), "straight runs are counted, not sampled"
    assert sampled.margin_interval == pytest.approx((-1, -1))


def test_intervals_hold_the_exact_value_about_as_often_as_they_say() -> None:
    boards = list(all_boards(3, True))
    board = parse_code("3:0:u6uf")[1]
    exact = score_of("", tally([board], boards, 3, True)[0], np.zeros(6, np.int64), 0.0, exact=True)
    runs = np.zeros(6, np.int64)
    hits = np.zeros(2, np.int64)
    for seed in range(200):
        found = tally([board], random_boards(3, 300, "live", seed), 3, True)[0]
        one = score_of("", found, runs, 0.0, exact=False)
        assert one.won_interval is not None
        assert one.margin_interval is not None
        hits[0] += one.won_interval[0] <= exact.won <= one.won_interval[1]
        hits[1] += one.margin_interval[0] <= exact.margin <= one.margin_interval[1]
    assert (hits >= 180).all()
    assert (hits <= 200).all()
    low, high = wilson(0.0, 10)
    assert low == pytest.approx(0, abs=1e-12)
    assert 0.25 < high < 0.3


@pytest.mark.parametrize("measure", ["won", "margin"])
def test_the_best_board_for_every_share_of_runs(measure: str) -> None:
    found = paired(3, "live", 10**9)
    tallies, runs = found.all_tallies(), found.runs_tallies()
    switches = best_by_share(tallies, runs, measure)
    assert switches[0][0] == 0
    at_0, at_1 = values_of(tallies, measure), values_of(runs, measure)
    for share in np.linspace(0, 1, 41).tolist():
        at = next(at for begin, at in reversed(switches) if begin <= share + 1e-12)
        values = (1 - share) * at_0 + share * at_1
        assert values[at] == pytest.approx(values.max())
    table = ScoreTable(3, found.boards, tallies, runs, exact=True)
    assert [one.board for one in table.best(0.0, "won", 2)] == ["3:1:uuf", "3:0:u6uf"], "mirror images count once"
    won = [one.won for one in table.best(0.5, "won", 20)]
    assert won == sorted(won, reverse=True)


def test_averages_by_the_number_of_traps() -> None:
    found = paired(3, "live", 10**9)
    tallies = found.all_tallies()
    rows = average_by_traps(found.boards, tallies, 3)
    assert [(traps, count) for traps, count, _, _ in rows] == [(0, 27), (1, 210), (2, 559)]
    won = sum(count * share for _, count, share, _ in rows) / 796
    assert won == pytest.approx(tallies[:, 0].sum() / 796**2)
    assert sum(count * margin for _, count, _, margin in rows) == pytest.approx(0, abs=1e-9)


def test_neighbours_are_legal_and_one_step_away() -> None:
    board = parse_code("3:1:u4uf")[1]
    found = neighbours(board, 3, True, random.Random(0), 10**6)
    codes = {format_code(one, 3) for one in found}
    assert "3:0:u6uf" not in codes
    assert {"3:1:uuf", "3:2:u4uf", "3:1:u5uf", "3:1:u4ruf", "3:1:6u4uf"} <= codes
    assert all(spaces.check(format_board(one, 3), 3, "live") == [] for one in found)
    assert len(neighbours(board, 3, True, random.Random(0), 5)) <= 5


def test_the_search_finds_what_all_pairs_prove() -> None:
    """At size 3 the best boards are known: the search finds them, and its intervals hold their values."""
    found = paired(3, "live", 10**9)
    exact = ScoreTable(3, found.boards, found.all_tallies(), found.runs_tallies(), exact=True)
    search = ScoreSearch(3, "live", (0.0, 0.5), "margin", seed=1)
    search.search(100)
    while search.played < 6_000:
        search.step(6_000 - search.played)
    assert search.tallies[:, :3].sum(axis=1).tolist() == [6_000] * len(search.finalists)
    table = ScoreTable(3, search.finalists, search.tallies, search.runs_tallies(), exact=False)
    for share in (0.0, 0.5):
        best, known = table.best(share, "margin", 1)[0], exact.best(share, "margin", 1)[0]
        assert best.board in (known.board, format_code(mirrored(parse_code(known.board)[1], 3), 3))
        assert best.margin_interval is not None
        assert abs(best.margin - known.margin) < 0.2
    assert all(run in search.finalists for run in straight_runs(3))


def test_finalists_that_meet_every_board_have_exact_scores() -> None:
    search = ScoreSearch(3, "live", seed=2)
    search.search(20)
    walk = BoardWalk(3, "live", chunk=100)
    assert search.step_exactly(walk)
    assert search.after == format_code(list(generate(3, "live"))[99], 3)
    while search.step_exactly(walk):
        pass
    assert search.played == 796
    assert (search.tallies == tally(search.finalists, list(all_boards(3, True)), 3, True)).all()


def test_random_boards_are_uniform_where_they_can_be_numbered() -> None:
    for size, rules in ((3, "live"), (5, "written"), (7, "written")):
        boards = random_boards(size, 5, rules, 1)
        assert boards == random_boards(size, 5, rules, 1)
        assert all(spaces.check(format_board(board, size), size, rules) == [] for board in boards)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="what boards are ranked by"):
        ScoreSearch(3, "live", measure="luck")
    with pytest.raises(ValueError, match="the share of straight runs is a number from 0 to 1, not 2"):
        ScoreSearch(3, "live", (2,))
