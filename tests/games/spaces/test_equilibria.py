"""Equilibria of blind choice, by linear program, by double oracle, and against all boards; and the match under seen."""

import importlib

import numpy as np
import pytest

from ludodrome import spaces
from ludodrome.games.spaces.boards import format_board, format_code, mirrored, parse_code
from ludodrome.games.spaces.equilibria import (
    EXACT,
    KNOWN_LOSS,
    SOLVED,
    Equilibrium,
    Inspection,
    LeastLoss,
    LinearProgram,
    Mixture,
    margins_of,
    match_value,
    merge_equivalent,
    perfect,
    solve_matrix,
    straight_run,
)
from ludodrome.games.spaces.generation import generate
from ludodrome.games.spaces.legality import all_boards
from ludodrome.games.spaces.mixture_response import MixtureSearch
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import COMPILED

pytestmark = pytest.mark.xdist_group("spaces")

COMPLETE = [(2, "live"), (2, "written"), (3, "live")]
COUNTS = {(2, "live"): 14, (3, "live"): 796, (4, "live"): 114_450, (5, "live"): 31_510_818}
COUNTS |= {(2, "written"): 362, (3, "written"): 121_439_363}


def inspected(mixture: Mixture) -> Inspection:
    inspection = Inspection(mixture)
    while not inspection.over:
        inspection.step()
    return inspection


def searched(mixture: Mixture) -> MixtureSearch:
    boards = Packed.from_actions(mixture.boards, mixture.size, mixture.rules == "live")
    search = MixtureSearch(boards, np.array(mixture.weights), floor=0.0)
    search.run(10**9)
    return search


# The linear program


def test_a_program_for_stone_paper_scissors() -> None:
    program = solve_matrix(np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    assert program.weights == pytest.approx([1 / 3] * 3)
    assert abs(program.primal) < 1e-9
    assert abs(program.dual) < 1e-9


def test_merged_boards_are_equivalent_and_none_is_lost() -> None:
    boards = all_boards(2, False)
    kept = merge_equivalent(boards, 2, False)
    assert len(kept) == 131
    every = margins_of(boards, boards, 2, False)
    rows = {every[boards.index(board)].tobytes() for board in kept}
    assert len(rows) == len(kept)
    assert {row.tobytes() for row in every} == rows


@pytest.mark.parametrize(("size", "rules"), COMPLETE if COMPILED else [(2, "live")])
def test_where_all_pairings_fit_one_program_solves_it(size: int, rules: str) -> None:
    solving = Equilibrium(size, rules)
    assert solving.complete
    assert not solving.solved
    solving.step()
    assert solving.solved
    assert solving.steps == 1
    assert solving.program is not None
    assert abs(solving.program.primal - solving.program.dual) < 1e-9
    assert solving.mixture is not None
    assert inspected(solving.mixture).margin <= EXACT


# Double oracle


def test_by_double_oracle_from_a_board_that_is_beaten() -> None:
    size = 5 if COMPILED else 4
    solving = Equilibrium(size, "live")
    seen: list[int] = []
    while not solving.solved:
        solving.step(report=lambda nodes, value: seen.append(nodes))
        assert solving.gap is not None
        assert solving.gap >= 0
    assert seen
    assert solving.mixture is not None
    assert {mirrored(board, size) for board in solving.mixture.boards} == {*solving.mixture.boards}
    if COMPILED:
        assert searched(solving.mixture).value <= EXACT
    again = Equilibrium(size, "live", solving.boards)
    assert sorted(again.boards) == sorted(solving.boards)
    while not again.solved:
        again.step()


@pytest.mark.skipif(not COMPILED, reason="larger sizes want compiled kernels")
@pytest.mark.parametrize("size", [4, 6, 7, 8])
def test_every_step_takes_in_a_board_or_is_the_last(size: int) -> None:
    solving = Equilibrium(size, "live")
    while not solving.solved:
        known = len(solving.boards)
        solving.step()
        assert solving.solved or len(solving.boards) > known
    assert solving.gap == 0


def test_without_enough_nodes_the_gap_is_a_bound() -> None:
    solving = Equilibrium(4, "live")
    solving.step(nodes=3)
    assert solving.gap is not None
    assert solving.gap > 1
    assert not solving.solved


def test_weights_that_are_not_fractions_are_rounded() -> None:
    solving = Equilibrium(3, "live", [parse_code("3:1:4uuf")[1]]) if COMPILED else Equilibrium(2, "live")
    weights = np.sqrt(np.arange(1, len(solving.boards) + 1))
    mixture = solving._mixture(weights / weights.sum())
    assert sum(mixture.weights) == pytest.approx(2 * 10**12, rel=1e-6)


def test_a_program_that_is_not_exact_does_not_go_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    solving = Equilibrium(2, "live")
    worst = np.zeros(len(solving.boards))
    worst[solving.boards.index(straight_run(2, 0))] = 1.0
    module = importlib.import_module("ludodrome.games.spaces.equilibria")
    monkeypatch.setattr(module, "solve_matrix", lambda margins: LinearProgram(worst, 0.0, 0.0))
    solving.step()
    assert solving.stuck
    assert not solving.solved


# What is stored


@pytest.mark.parametrize("rules", ["live", "written"])
def test_what_is_stored_is_beaten_by_no_board(rules: str) -> None:
    for size in (2, 3, 4, 5, 6, 7, 10) if COMPILED else (2, 3):
        search = searched(perfect(size, rules))
        assert (search.over, search.found) == (True, 0)


@pytest.mark.parametrize(("size", "rules"), [*COMPLETE, (4, "live"), (5, "live"), (3, "written")])
def test_all_boards_one_by_one_say_the_same(size: int, rules: str, long: bool) -> None:
    if COUNTS[size, rules] > (10**6 if COMPILED else 400) and not (long and COMPILED):
        pytest.skip("this number of boards is played in the long run only")
    inspection = inspected(perfect(size, rules))
    assert inspection.done == COUNTS[size, rules]
    assert inspection.margin == inspection.best == 0


def test_up_to_the_largest_size_that_counts_as_solved(long: bool) -> None:
    if not (long and COMPILED):
        pytest.skip("size 17 is for the long run")
    for size in (13, SOLVED["live"]):
        search = searched(perfect(size, "live"))
        assert (search.over, search.found) == (True, 0)


def test_an_inspection_resumes_where_another_stopped() -> None:
    mixture = Mixture(2, "live", (straight_run(2, 0),), (1,))
    whole = inspected(mixture)
    assert whole.margin == 2
    boards = list(generate(2, "live"))
    half = Inspection(mixture, format_code(boards[6], 2), 7, -1)
    assert half.margin == -1
    while not half.over:
        half.step()
    assert (half.done, half.after) == (14, whole.after)
    assert Inspection(mixture).margin == 0.0


def test_first_choices_come_from_the_mixture() -> None:
    drawn = {spaces.encode_board(spaces.sensible(2, "live", seed)) for seed in range(30)}
    assert drawn == {"2:0:6uf", "2:1:4uf"}
    runs = {spaces.encode_board(spaces.sensible(4, "live", seed)) for seed in range(60)}
    assert runs == {format_code(straight_run(4, col), 4) for col in range(4)}
    assert len(perfect(4).json_boards()) == 4


# Seen


@pytest.mark.parametrize("size", [2, 3, 4, 5] if COMPILED else [2])
def test_no_board_that_is_seen_loses_less_than_the_straight_run(size: int) -> None:
    search = LeastLoss(size, "live")
    while not search.over:
        search.step()
    assert search.loss == KNOWN_LOSS[size]
    boards = [format_board(board, size) for board in all_boards(size, True)] if size < 4 else []
    assert all(spaces.respond(board, size, "live").margin >= search.loss for board in boards)


def test_a_better_board_than_the_first_is_found() -> None:
    size = 3 if COMPILED else 2
    search = LeastLoss(size, "live")
    search.loss = 9  # as if it had begun with a board that is worse than any
    while not search.over:
        search.step()
    assert search.loss == KNOWN_LOSS[size]
    assert spaces.respond(search.board, size, "live").margin == search.loss


def test_under_written_nothing_is_lost() -> None:
    search = LeastLoss(3)
    search.step()
    assert (search.loss, search.over) == (0, True)


def test_a_match_goes_to_the_seat_that_answers_more_often() -> None:
    assert match_value(3, 5) == -3
    assert match_value(3, 4) == 0
    assert match_value(0, 5) == 0
