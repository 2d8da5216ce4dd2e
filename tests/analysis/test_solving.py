"""ludodrome.solve: exact values, the shortest wins, work that can rest."""

from pathlib import Path

import numpy as np
import pytest

import ludodrome
from ludodrome.analysis import Solving
from ludodrome.analysis.solving import load_solving, recommended_table_bits, save_solving
from ludodrome.jit import COMPILED
from tests.search.positions import reached
from tests.search.test_alphabeta import can_force

MARGINS = {(1, 1): -1, (1, 2): 0, (2, 2): 2, (2, 3): -2, (2, 4): 2, (3, 3): -3}


@pytest.mark.xdist_group("dots")
@pytest.mark.parametrize(("size", "margin"), MARGINS.items())
def test_dots_from_the_empty_board(size: tuple[int, int], margin: int) -> None:
    game = ludodrome.make("dots", rows=size[0], cols=size[1])
    solution = ludodrome.solve(game)
    assert (solution.value, solution.proven, solution.distance) == (margin, True, None)
    state = game.initial_state()
    assert game.format_move(solution.move, state) == solution.line[0]
    for text in solution.line:
        state = game.apply(state, game.parse_move(text, state))
    outcome = game.outcome(state)
    assert outcome is not None
    assert outcome.scores[0] - outcome.scores[1] == margin


def test_a_larger_board_has_a_larger_table_as_far_as_the_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {"SC_PHYS_PAGES": 8 << 20, "SC_PAGE_SIZE": 4 << 10}
    monkeypatch.setattr("os.sysconf", memory.__getitem__)

    def bits(name: str, **options: int) -> int:
        game = ludodrome.make(name, **options)
        return recommended_table_bits(game, game.initial_state())

    assert [bits("dots", rows=size, cols=4) for size in (2, 3, 4, 5)] == [22, 22, 27, 27]
    assert bits("caldera") == 22
    memory["SC_PHYS_PAGES"] = 1 << 20
    assert bits("dots", rows=4, cols=4) == 26
    memory["SC_PHYS_PAGES"] = 1 << 10
    assert bits("dots", rows=4, cols=4) == 22


@pytest.mark.xdist_group("dots")
def test_what_is_owned_already_counts() -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    state = game.initial_state()
    for text in ("H(0,0)", "H(1,0)", "V(0,0)", "V(0,1)"):
        state = game.apply(state, game.parse_move(text, state))
    assert ludodrome.solve(game, state).value == 2


@pytest.mark.skipif(not COMPILED, reason="exhaustive search of three plies takes plain Python too long")
@pytest.mark.parametrize("game_id", ["caldera", "santorini", "skysummit"])
def test_a_win_is_the_shortest(game_id: str) -> None:
    game = ludodrome.make(game_id)
    solved = 0
    for state in reached(game, 25, seed=11, least=20):
        solution = ludodrome.solve(game, state, time=0.2)
        if not solution.proven or (solution.distance or 9) > 3:
            continue
        solved += 1
        states = game.encode_array(state)
        mover = int(game.kernels.mover(states))
        winner = mover if solution.value == 1 else 1 - mover
        assert solution.distance is not None
        assert can_force(game, states, solution.distance, winner)
        assert not can_force(game, states, solution.distance - 1, winner)
    assert solved >= 5


@pytest.mark.xdist_group("santorini")
def test_work_can_rest_and_go_on() -> None:
    game = ludodrome.make("santorini")
    solving = Solving(game)
    assert not solving.run(0.0)
    before = solving.nodes
    assert not solving.run(0.0)
    assert solving.nodes > before
    assert solving.solution.value is None
    assert not solving.solution.proven
    assert solving.state.startswith("depth ")


@pytest.mark.xdist_group("dots")
def test_a_solver_says_how_far_it_is() -> None:
    solving = Solving(ludodrome.make("dots", rows=4, cols=5))
    assert not solving.run(0.0)
    assert solving.state == "the margin is between -20 and +20"
    assert solving.solution.move is None


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (ludodrome.make("spaces"), "spaces respond BOARD` the best answer"),
        (ludodrome.make("santorini", players=3), "only games of two seats have one exact value; this santorini has 3"),
    ],
)
def test_what_cannot_be_solved_is_refused(game: ludodrome.Game, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ludodrome.solve(game)


@pytest.mark.xdist_group("dots")
def test_solving_goes_on_from_a_file(tmp_path: Path) -> None:
    game = ludodrome.make("dots", rows=3, cols=3)
    whole = Solving(game, table_bits=16)
    assert whole.run()
    stopped = Solving(game, table_bits=16)
    for _ in range(3):
        stopped.backend.solver.run(2_000)  # type: ignore[attr-defined]
    save_solving(stopped, tmp_path / "run.npz")
    resumed = load_solving(game, None, tmp_path / "run.npz")
    assert resumed.run()
    assert resumed.solution.value == whole.solution.value == -3
    assert resumed.nodes < whole.nodes - 3_000
    other = load_solving(game, game.apply(game.initial_state(), whole.solution.move), tmp_path / "run.npz")
    assert other.run()
    assert other.solution.value == 3


@pytest.mark.xdist_group("dots")
def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    game, file = ludodrome.make("dots", rows=2, cols=2), tmp_path / "run.npz"
    for content in (b"", b"PK\x03\x04 nothing", bytes(100)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is no file of `ludodrome solve`"):
            load_solving(game, None, file)
    board = np.array([2, 2])
    np.savez_compressed(file, board=board, table=np.zeros((4, 8), np.uint64))
    with pytest.raises(ValueError, match="compressed"):
        load_solving(game, None, file)
    for table in (np.zeros((3, 8), np.uint64), np.zeros((4, 8)), np.zeros(0, np.uint64), np.zeros((4, 4), np.uint64)):
        np.savez(file, board=board, table=table)
        with pytest.raises(ValueError, match="no table of the solver"):
            load_solving(game, None, file)
    np.savez(file, board=np.array([3, 3]), table=np.zeros((4, 8), np.uint64))
    with pytest.raises(ValueError, match="about a board of"):
        load_solving(game, None, file)
    with pytest.raises(ValueError, match="cannot be kept in a file"):
        load_solving(ludodrome.make("caldera"), None, file)
