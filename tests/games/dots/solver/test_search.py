"""The exact solver, compared with retrograde analysis of every position of the small boards."""

import random
from pathlib import Path

import numpy as np
import pytest

import ludodrome
from ludodrome import kernel_cache
from ludodrome.games.dots import solver
from ludodrome.games.dots.rules import ALL, BOARDS, SIDES
from ludodrome.games.dots.solver import Solver
from ludodrome.games.dots.solver.moves import PREFETCH_BATCH, make_heap_tables
from ludodrome.jit import COMPILED
from tests.games.dots.retrograde import all_values

WHOLE = [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (1, 4)]
if COMPILED:
    WHOLE += [(1, 5), (2, 3), (3, 2)]
MARGINS = [(1, 1, -1), (1, 2, 0), (2, 2, 2), (2, 3, -2)]
if COMPILED:
    MARGINS += [(2, 4, 2), (2, 5, -2), (3, 3, -3), (3, 4, 0)]


def everything(rows: int, cols: int) -> int:
    return int(ALL[BOARDS.index((rows, cols))])


def solved(solver: Solver, position: int, edge: int | None = None) -> int:
    solver.begin(position, edge)
    while not solver.run():
        pass
    assert solver.value is not None
    return solver.value


def closed_by(rows: int, cols: int, drawn: int, edge: int) -> int:
    boxes = SIDES[BOARDS.index((rows, cols)), : rows * cols].tolist()
    return sum(1 for sides in boxes if sides >> edge & 1 and not sides & ~drawn & ~(1 << edge))


@pytest.mark.parametrize(("rows", "cols"), WHOLE)
def test_every_position_of_a_small_board(rows: int, cols: int) -> None:
    expected = all_values(rows, cols)
    positions = np.arange(len(expected))
    if not COMPILED:
        positions = np.unique(np.random.default_rng(1).choice(positions, 300))
    np.testing.assert_array_equal(Solver(rows, cols, 16).values(positions), expected[positions])


def test_positions_of_3x3(long: bool) -> None:
    if not COMPILED:
        pytest.skip("too many for plain Python")
    rows, cols = 3, 3
    expected = all_values(rows, cols)
    positions = np.arange(len(expected))
    if not long:
        positions = np.unique(np.random.default_rng(2).choice(positions, 100_000))
    np.testing.assert_array_equal(Solver(rows, cols).values(positions), expected[positions])


@pytest.mark.parametrize(("rows", "cols", "margin"), MARGINS)
def test_margin_of_the_first_player(rows: int, cols: int, margin: int) -> None:
    assert solved(Solver(rows, cols), 0) == margin


def test_margin_on_4x4(long: bool) -> None:
    if not long:
        pytest.skip("some minutes: --long")
    assert solved(Solver(4, 4, 25), 0) == 0


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (1, 3), (2, 3)])
def test_best_edges_and_the_values_of_moves(rows: int, cols: int) -> None:
    expected = all_values(rows, cols)
    solver, full = Solver(rows, cols, 12), everything(rows, cols)
    positions = random.Random(3).sample(range(full), 400 if COMPILED else 40)
    for drawn in positions:
        value = int(expected[drawn])
        assert solved(solver, drawn) == value
        best = solver.best_edge
        assert best is not None
        assert not drawn >> best & 1
        for edge in range(full.bit_length()):
            if drawn >> edge & 1:
                continue
            gain = closed_by(rows, cols, drawn, edge)
            after = int(expected[drawn | 1 << edge])
            worth = gain + after if gain else -after
            assert edge != best or worth == value
            assert solved(solver, drawn, edge) == worth
            assert solver.best_edge == edge


@pytest.mark.parametrize("drawn", [0, 0b1011, 0b10001000110])
def test_a_line_plays_the_value(drawn: int) -> None:
    rows, cols = 2, 2
    solver = Solver(rows, cols, 12)
    value = solved(solver, drawn)
    margin, sign = 0, 1
    line = solver.line()
    for edge in line:
        gain = closed_by(rows, cols, drawn, edge)
        margin += sign * gain
        sign = sign if gain else -sign
        drawn |= 1 << edge
    assert drawn == everything(rows, cols)
    assert margin == value
    assert len(line) == len(set(line))
    assert solver.line(0) == line[:1]


def test_double_deals() -> None:
    """Two chains of four, one of them open: take two boxes, give two away, and get the other chain."""
    game = ludodrome.make("dots", rows=2, cols=4)
    state = game.parse_state("2x4 1111/1111/1111 10000/00000 ..../.... 0 0")
    solver = Solver(2, 4, 12)
    solver.begin(game.encode(state))
    assert solver.run()
    assert solver.value == 4
    line = [game.format_move(game.move(edge, game.initial_state()), game.initial_state()) for edge in solver.line()]
    assert line[:4] == ["V(0,1)", "V(0,2)", "V(0,4)", "V(0,3)"]


def test_a_loop_is_given_away_in_the_middle() -> None:
    """A ring of four with two boxes open, and a chain of five that nobody should open."""
    game = ludodrome.make("dots", rows=3, cols=5)
    state = game.parse_state("3x5 11111/01111/11111/11111 101111/101111/000000 ..000/..000/..... 0 0")
    solver = Solver(3, 5, 12)
    solver.begin(game.encode(state))
    assert solver.run()
    assert solver.value == 1
    assert solver.best_edge is not None
    assert game.format_move(game.move(solver.best_edge, state), state) == "H(1,0)"


def test_a_position_may_have_more_moves_than_are_made_at_once() -> None:
    """Of the 24 first edges of 3x3, both of a corner are one move."""
    assert PREFETCH_BATCH < 20
    solver = Solver(3, 3, 12)
    solver.begin(0)
    assert not solver.run(1)
    assert solver.progress == (0, 20)


def test_slices_make_no_difference() -> None:
    whole, slices = Solver(2, 3, 14), Solver(2, 3, 14)
    solved(whole, 0)
    slices.begin(0)
    steps = 0
    while not slices.run(7):
        low, high = slices.bounds
        assert low <= -2 <= high
        done, moves = slices.progress
        assert 0 <= done <= moves
        assert low < slices.goal <= high
        assert slices.value is None or low == high
        assert slices.best_edge is None
        steps += 1
    assert steps > 10
    assert (slices.value, slices.best_edge, slices.nodes) == (whole.value, whole.best_edge, whole.nodes)


@pytest.mark.parametrize(("drawn", "value"), [(1402942, 2), (5416709, -3), (4312643, 3)])
def test_double_deals_that_take_two_questions(drawn: int, value: int) -> None:
    assert solved(Solver(3, 3, 10), drawn) == value


def test_early_positions_are_scouted() -> None:
    """2 x 5 with seven edges drawn; the second time, the table answers for all children."""
    first = Solver(2, 5, 14, scout_edges=20)
    assert solved(first, 0x1590180) == 2
    second = Solver(2, 5, table=first.table, scout_edges=20)
    assert solved(second, 0x1590180) == 2
    assert second.nodes < first.nodes / 4


def test_a_run_can_be_put_aside() -> None:
    for edge in (None, 3):
        whole, first = Solver(2, 3, 14), Solver(2, 3, 14)
        solved(whole, 0, edge)
        first.begin(0, edge)
        assert not first.run(5)
        second = Solver.restored({name: array.copy() for name, array in first.saved().items()})
        assert second.bounds == first.bounds
        while not second.run(100):
            assert second.nodes
        assert (second.value, second.best_edge, second.nodes) == (whole.value, whole.best_edge, whole.nodes)


def test_two_solvers_may_share_a_table() -> None:
    first = Solver(2, 3, 14)
    value = solved(first, 0)
    second = Solver(2, 3, table=first.table, noise=3)
    assert solved(second, 0) == value
    assert second.nodes < first.nodes


def test_noise_changes_the_order_and_not_the_value() -> None:
    assert solved(Solver(2, 2, 12, noise=7), 0) == 2


def test_a_tiny_table_only_costs_time() -> None:
    solver = Solver(2, 2, 4)
    assert solver.fill == 0
    assert solved(solver, 0) == 2
    assert solver.fill == 1


def test_guesses_make_no_difference() -> None:
    for guess in (-50, -3, -2, 1, 6, 50):
        solver = Solver(2, 2, 12)
        solver.begin(0, guess=guess)
        while not solver.run():
            pass
        assert solver.value == 2


def test_the_full_board_is_worth_nothing() -> None:
    solver = Solver(2, 2, 12)
    assert solved(solver, everything(2, 2)) == 0
    assert solver.best_edge is None
    assert solver.line() == []


def test_loony_endgames() -> None:
    """Berlekamp's: a chain of n alone is worth -n; of two long chains the first is given away but for two boxes."""
    heaps = make_heap_tables(25)
    for n in range(1, 26):
        assert heaps.values[heaps.added[0, n - 1]] == -n
    three_and_ten = heaps.added[heaps.added[0, 2], 9]
    assert heaps.values[three_and_ten] == -(1 + abs(2 - 10))
    for n in (1, 2):
        assert heaps.added[heaps.added[three_and_ten, n - 1], n - 1] == three_and_ten, "two equal short chains cancel"
    loops = heaps.added[heaps.added[0, -1], -1]
    assert heaps.values[loops] == -abs(4 - 4)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="no board of 9 x 9"):
        Solver(9, 9)
    with pytest.raises(ValueError, match="table_bits"):
        Solver(2, 2, 60)
    solver = Solver(2, 2, 4)
    with pytest.raises(ValueError, match="a set of 12 edges"):
        solver.begin(1 << 12)
    with pytest.raises(ValueError, match="edge 3 cannot be drawn"):
        solver.begin(1 << 3, 3)
    with pytest.raises(ValueError, match="edge 12 cannot be drawn"):
        solver.begin(0, 12)
    game = ludodrome.make("dots", rows=2, cols=3)
    with pytest.raises(ValueError, match="for 2 x 2 boxes"):
        solver.begin(game.encode(game.initial_state()))


def test_compiled_code_of_the_solver_depends_on_the_whole_game() -> None:
    folder = Path(solver.__file__).parent
    package = kernel_cache.package_folder(folder / "search.py")
    assert package == folder.parent
    assert {folder / "search.py", folder / "table.py", package / "rules.py"} <= set(kernel_cache._sources(package))


# Only who wins


def closing_value(rows: int, cols: int, drawn: int, edge: int, values: np.ndarray) -> int:
    gain = closed_by(rows, cols, drawn, edge)
    after = int(values[drawn | 1 << edge])
    return gain + after if gain else -after


def answered(solver: Solver, drawn: int, edge: int | None, goal: int, nodes: int) -> bool:
    solver.begin(drawn, edge, goal=goal)
    while not solver.run(nodes):
        assert solver.best_edge is None
    assert solver.answer is not None
    return solver.answer


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (1, 3), (2, 3), (3, 3)])
def test_whether_a_goal_is_reached_agrees_with_the_value(rows: int, cols: int) -> None:
    """Also who wins: for the goal of 1, whether the value is positive."""
    if (rows, cols) == (3, 3) and not COMPILED:
        pytest.skip("too many positions for plain Python")
    values, dice = all_values(rows, cols), random.Random(5)
    solver, full = Solver(rows, cols, 14), everything(rows, cols)
    for _ in range(2000 if COMPILED else 60):
        drawn, goal = dice.randrange(full), dice.choice((1, 1, *range(-4, 5)))
        if dice.random() < 0.5:  # later positions, with more captures
            drawn |= dice.randrange(full)
        if drawn == full:
            continue
        assert answered(solver, drawn, None, goal, dice.choice((1, 3, 100))) == (values[drawn] >= goal)
        best = solver.best_edge
        assert (best is not None) == (values[drawn] >= goal)
        assert best is None or closing_value(rows, cols, drawn, best, values) >= goal
        edge = dice.choice([edge for edge in range(full.bit_length()) if not drawn >> edge & 1])
        worth = closing_value(rows, cols, drawn, edge, values)
        assert answered(solver, drawn, edge, goal, 50) == (worth >= goal)
        assert solver.best_edge == (edge if worth >= goal else None)


def test_who_wins_takes_fewer_nodes_than_the_margin() -> None:
    margin, winner = Solver(2, 3, 14), Solver(2, 3, 14)
    solved(margin, 0)
    assert not answered(winner, 0, None, 1, 100)
    assert winner.nodes < margin.nodes
    assert margin.answer is None


def test_an_edge_may_reach_a_goal_before_the_margin_is_known() -> None:
    values, solver, early = all_values(2, 3), Solver(2, 3, 14), 0
    for drawn in random.Random(7).sample(range(1 << 10), 60 if COMPILED else 10):
        solver.begin(drawn, guess=1)
        done = False
        while not done:
            done = solver.run(1)
            edge = solver.edge_reaching(1)
            if edge is not None:
                assert closing_value(2, 3, drawn, edge, values) >= 1
                early += not done
            assert solver.edge_reaching(99) is None
    assert early


def test_candidates_hold_a_best_edge() -> None:
    values, solver, full = all_values(2, 3), Solver(2, 3, 14), everything(2, 3)
    assert len(solver.candidates(0)) == 5, "17 edges, up to symmetry and the twins of corners"
    for drawn in random.Random(8).sample(range(full), 500 if COMPILED else 60):
        edges = solver.candidates(drawn)
        assert len(set(edges)) == len(edges) > 0
        assert max(closing_value(2, 3, drawn, edge, values) for edge in edges) == values[drawn]


def test_a_question_can_be_put_aside() -> None:
    first = Solver(2, 3, 14)
    first.begin(0, goal=-2)
    assert not first.run(3)
    second = Solver.restored({name: array.copy() for name, array in first.saved().items()})
    while not second.run(20):
        assert second.answer is None
    assert second.answer
    assert second.best_edge is not None


def test_the_simpler_game_has_fewer_positions_and_often_the_same_winner() -> None:
    """Nobody opens a chain while more than ``max_safe`` edges are safe; with all edges allowed it is the real game."""
    values, dice = all_values(2, 3), random.Random(9)
    positions = dice.sample(range(1 << 11), 400 if COMPILED else 40)
    real, same, simple = (Solver(2, 3, 14, max_safe=most) for most in (64, 17, 0))
    agreed = 0
    for drawn in positions:
        assert solved(real, drawn) == solved(same, drawn) == values[drawn]
        agreed += (solved(simple, drawn) > 0) == (values[drawn] > 0)
    assert 0.6 * len(positions) < agreed < len(positions)
    counts = []
    for most in (64, 0):
        solver = Solver(2, 4 if COMPILED else 3, 14, max_safe=most)
        solved(solver, 0)
        counts.append(solver.nodes)
    assert counts[1] < counts[0]


def test_the_best_edge_of_a_lost_position_with_chains_that_cancel() -> None:
    """Five boxes are left on 2 x 4; four of them cancel, but the first undrawn edge gives three boxes away for good."""
    values, solver, drawn = all_values(2, 4), Solver(2, 4, 14), 3964121
    assert solved(solver, drawn) == values[drawn] == -1
    assert solver.best_edge is not None
    assert closing_value(2, 4, drawn, 1, values) == -3
    assert closing_value(2, 4, drawn, solver.best_edge, values) == -1
