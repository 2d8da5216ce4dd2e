"""Scores against imperfect opponents: all pairs, mixtures, intervals, and the search where pairs are too many."""

import random
from functools import partial

import numpy as np
import pytest

from ludodrome import spaces
from ludodrome.games.spaces import scores
from ludodrome.games.spaces.boards import format_board, format_code, mirrored, parse_code
from ludodrome.games.spaces.generation import BoardWalk, generate, parse_filter
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
from ludodrome.jit import COMPILED, Array

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


needs_compilation = pytest.mark.skipif(not COMPILED, reason="this many rounds want a compiled kernel")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Only boards without traps: 27 at size 3, one of them its own mirror image."""
    where = parse_filter(["traps=0"])
    monkeypatch.setattr(scores, "BoardWalk", partial(BoardWalk, where=where))
    return list(generate(3, "live", where="traps=0"))


def test_symmetry_saves_rounds_and_changes_nothing(few: list[bytes]) -> None:
    found = paired(3, "live", 20)
    assert found.boards == few
    assert found.orbits == 14
    assert (found.all_tallies() == tally(few, few, 3, True)).all()


@needs_compilation
def test_all_pairs_of_size_3() -> None:
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


@pytest.mark.usefixtures("few")
def test_a_run_of_all_pairs_can_be_taken_up() -> None:
    first = AllPairs(3, "live")
    first.step(30)
    assert not first.over
    again = AllPairs(3, "live", first.done, first.tallies)
    while not again.over:
        again.step(30)
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


@needs_compilation
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


def assert_best(switches: list[tuple[float, int]], at_0: Array, at_1: Array) -> None:
    """The boards of an envelope are the best at every share."""
    assert switches[0][0] == 0
    for share in np.linspace(0, 1, 41).tolist():
        at = next(at for begin, at in reversed(switches) if begin <= share + 1e-12)
        values = (1 - share) * at_0 + share * at_1
        assert values[at] == pytest.approx(values.max())


@pytest.mark.parametrize("measure", ["won", "margin"])
def test_the_best_board_for_every_share_of_runs(measure: str) -> None:
    size = 3 if COMPILED else 2
    found = paired(size, "live", 10**9)
    tallies, runs = found.all_tallies(), found.runs_tallies()
    assert_best(best_by_share(tallies, runs, measure), values_of(tallies, measure), values_of(runs, measure))
    table = ScoreTable(size, found.boards, tallies, runs, exact=True)
    names = {3: ["3:1:uuf", "3:0:u6uf"], 2: ["2:0:uf", "2:0:6uf"]}
    assert [one.board for one in table.best(0.0, "won", 2)] == names[size], "mirror images count once"
    won = [one.won for one in table.best(0.5, "won", 20)]
    assert won == sorted(won, reverse=True)


@pytest.mark.parametrize(
    ("at_0", "at_1", "boards"),
    [
        ([5, 4, 1], [0, 4, 9], [0, 1, 2]),
        ([5, 5, 1], [0, 4, 2], [1]),
        ([5, 4, 1], [2, 1, 2], [0]),
        ([5, 4, 3], [0, 1, 2], [0, 2]),
    ],
)
def test_an_envelope_by_hand(at_0: list[int], at_1: list[int], boards: list[int]) -> None:
    """Shares of ten rounds that three boards win against random boards and against runs."""
    tallies, runs = (np.array([[won, 0, 10 - won, 0, 0, 0] for won in column]) for column in (at_0, at_1))
    switches = best_by_share(tallies, runs, "won")
    assert [at for _, at in switches] == boards
    assert_best(switches, values_of(tallies, "won"), values_of(runs, "won"))


def test_averages_by_the_number_of_traps() -> None:
    size, counts = (3, [(0, 27), (1, 210), (2, 559)]) if COMPILED else (2, [(0, 4), (1, 10)])
    found = paired(size, "live", 10**9)
    tallies = found.all_tallies()
    rows = average_by_traps(found.boards, tallies, size)
    assert [(traps, count) for traps, count, _, _ in rows] == counts
    won = sum(count * share for _, count, share, _ in rows) / len(found.boards)
    assert won == pytest.approx(tallies[:, 0].sum() / len(found.boards) ** 2)
    assert sum(count * margin for _, count, _, margin in rows) == pytest.approx(0, abs=1e-9)


def test_neighbours_are_legal_and_one_step_away() -> None:
    board = parse_code("3:1:u4uf")[1]
    found = neighbours(board, 3, True, random.Random(0), 10**6)
    codes = {format_code(one, 3) for one in found}
    assert "3:0:u6uf" not in codes
    assert {"3:1:uuf", "3:2:u4uf", "3:1:u5uf", "3:1:u4ruf", "3:1:6u4uf"} <= codes
    assert all(spaces.check(format_board(one, 3), 3, "live") == [] for one in found)
    assert len(neighbours(board, 3, True, random.Random(0), 5)) <= 5


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short search."""
    for name, value in (("SCREENED", 20), ("KEPT", 3), ("CLIMBS", 3), ("NEIGHBOURS", 10), ("BATCH", 8)):
        monkeypatch.setattr(ScoreSearch, name, value)


@needs_compilation
def test_the_search_finds_what_all_pairs_prove() -> None:
    """At size 3 the best boards are known: the search finds them, and measures nearly their values."""
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


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(("size", "rules"), [(2, "live"), (3, "live"), (3, "written")])
def test_a_search_is_repeated_by_its_seed_and_its_finalists_meet_fresh_boards(size: int, rules: str) -> None:
    one, two, other = (ScoreSearch(size, rules, (0.0, 1.0), "won", seed=seed) for seed in (5, 5, 6))
    for search in (one, two, other):
        search.search(10)
        while search.played < 20:
            search.step(20 - search.played)
    assert one.finalists == two.finalists
    assert (one.tallies == two.tallies).all()
    assert one.tallies[:, :3].sum(axis=1).tolist() == [20] * len(one.finalists)
    assert one.overall[:3].sum() == 10 * 20
    assert one.runs_tallies()[:, :3].sum(axis=1).tolist() == [size] * len(one.finalists)
    assert all(spaces.check(format_board(board, size), size, rules) == [] for board in one.finalists)
    assert size == 2 or (one.overall != other.overall).any()


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("chunk", [1, 5, 100])
def test_finalists_that_meet_every_board_have_exact_scores(chunk: int) -> None:
    search = ScoreSearch(2, "live", seed=2)
    search.search(5)
    walk = BoardWalk(2, "live", chunk=chunk)
    assert search.step_exactly(walk)
    assert search.after == format_code(list(generate(2, "live"))[min(chunk, 14) - 1], 2)
    while search.step_exactly(walk):
        pass
    assert search.played == 14
    assert (search.tallies == tally(search.finalists, list(all_boards(2, True)), 2, True)).all()


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
