"""Caldera: forging and eruptions (R11 to R14), on concrete positions and in mountains by chance."""

import copy
import random
from typing import Any

import pytest

from tests.games.caldera import oracle
from tests.games.caldera.positions import FLAT, State, at, forges, game, ground, play, refusal

pytestmark = pytest.mark.xdist_group("caldera")


# R11 to R14: forging


def test_r11_a_smith_raises_an_orthogonal_neighbour_and_stays() -> None:
    state = at(f"{FLAT} c66s33 c00 8")
    assert forges(state, "33") == ["23", "32", "34", "43"]
    assert game.format_state(play(state, "S33^34")) == f"{ground('34=1')} c66s33 c00 9"
    sentence = "the smith on 33 forges only the cells above, below, left and right of it, and {} is not one of them"
    for cell in ("22", "13", "33"):
        assert refusal(state, f"S33^{cell}") == sentence.format(cell)


def test_r11_the_target_is_ground_without_any_piece() -> None:
    state = at(f"{ground('32=x')} c34s33 c23 8")
    assert forges(state, "33") == ["43"]
    for cell in ("34", "23"):
        assert refusal(state, f"S33^{cell}") == f"a piece is on {cell}, and a smith forges only empty cells"
    assert refusal(state, "S33^32") == "32 is a vent, which no forge can raise"
    assert forges(at(f"{FLAT} c66s00 c33 8"), "00") == ["01", "10"]


def test_r11_only_smiths_forge() -> None:
    state = game.initial_state()
    assert refusal(state, "63^53") == "only a smith can forge, and your piece on 63 is a crown"
    assert refusal(state, "61^51") == "only a smith can forge, and your piece on 61 is a lancer"


def test_r11_ruling_heights_do_not_limit_a_forge() -> None:
    assert play(at(f"{ground('34=2')} c66s33 c00 8"), "S33^34")["board"][3][4] == 3
    assert play(at(f"{ground('34=3')} c66s33 c00 8"), "S33^34")["board"][3][4] == -1
    assert play(at(f"{ground('33=3')} c66s33 c00 8"), "S33^34")["board"][3][4] == 1


def test_r12_a_cell_that_reaches_4_erupts_and_lifts_its_orthogonal_neighbours() -> None:
    state = at(f"{ground('33=3 23=1 22=2')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert game.format_state(after) == f"{ground('33=x 23=2 22=2 32=1 34=1 43=1')} c66s32 c00 9"
    assert game.to_move(after) == 1


def test_r12_at_the_edge_and_in_the_corner_fewer_cells_rise() -> None:
    corner = play(at(f"{ground('00=3')} c66s01 c33 8"), "S01^00")
    assert game.format_state(corner) == f"{ground('00=x 01=1 10=1')} c66s01 c33 9"
    east = play(at(f"{ground('36=3')} c66s35 c33 8"), "S35^36")
    assert game.format_state(east) == f"{ground('36=x 35=1 26=1 46=1')} c66s35 c33 9"
    west = play(at(f"{ground('30=3')} c66s31 c33 8"), "S31^30")
    assert game.format_state(west) == f"{ground('30=x 31=1 20=1 40=1')} c66s31 c33 9"


def test_r12_a_chain_runs_until_no_cell_is_at_4() -> None:
    row = at(f"{ground('30=3 31=3 32=3 33=3 34=3 35=2 36=3')} c66s20 c00 8")
    after = play(row, "S20^30")
    above = "20=1 21=1 22=1 23=1 24=1"
    below = "40=1 41=1 42=1 43=1 44=1"
    assert game.format_state(after).split()[0] == ground(f"30=x 31=x 32=x 33=x 34=x 35=3 36=3 {above} {below}")


def test_r13_the_closure_counts_all_erupting_neighbours_of_a_cell() -> None:
    state = at(f"{ground('33=3 34=3 43=3 44=2 23=2')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert [after["board"][r][c] for r, c in ((3, 3), (3, 4), (4, 3), (4, 4), (2, 3))] == [-1, -1, -1, -1, 3]
    assert after["board"][4][5] == 1  # beside 44 only
    assert after["board"][2][4] == 1  # beside 34 only
    assert after["board"][5][4] == 1


def test_r13_ruling_vents_are_never_raised_again() -> None:
    state = at(f"{ground('33=3 34=x 35=3')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert after["board"][3][3:6] == [-1, -1, 3]


def hilly(rng: random.Random) -> tuple[State, dict[str, Any]] | None:
    """A mountainous position and a forge in it that erupts, if chance gives one."""
    board = [rng.choices([0, 1, 2, 3, -1], [1, 2, 4, 12, 1], k=7) for _ in range(7)]
    free = [(r, c) for r in range(7) for c in range(7) if board[r][c] >= 0]
    rng.shuffle(free)
    kinds = ["crown", "lancer", "lancer", "smith", "smith"]
    p0, p1 = (
        [{"type": kind, "r": r, "c": c} for kind, (r, c) in zip(kinds, free[first : first + 5], strict=True)]
        for first in (0, 5)
    )
    state = {"board": board, "p0": p0, "p1": p1, "ply": 30, "winner": None, "reason": ""}
    for move in game.legal_moves(state):
        if move["action"] == "forge" and board[move["target"][0]][move["target"][1]] == 3:
            return state, move
    return None


def test_r13_ruling_the_order_of_resolution_cannot_matter() -> None:
    rng = random.Random(20)
    chains = 0
    while chains < 60:
        found = hilly(rng)
        if found is None:
            continue
        state, move = found
        after = game.apply(state, move)
        raised = copy.deepcopy(state["board"])
        raised[move["target"][0]][move["target"][1]] += 1
        for _ in range(5):
            result = oracle.erupt(raised, state["p0"], state["p1"], order=rng.choice)
            assert result == (after["board"], after["p0"], after["p1"])
        chains += 1


def test_r13_the_erupting_set_is_the_smallest_closed_one() -> None:
    rng = random.Random(7)
    chains = 0
    while chains < 40:
        found = hilly(rng)
        if found is None:
            continue
        state, move = found
        heights = {
            (r, c): height for r, row in enumerate(state["board"]) for c, height in enumerate(row) if height >= 0
        }
        heights[move["target"][0], move["target"][1]] += 1
        erupting: set[tuple[int, int]] = set()

        def beside(cell: tuple[int, int], among: set[tuple[int, int]]) -> int:
            r, c = cell
            return len({(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} & among)

        while more := {cell for cell in heights if heights[cell] + beside(cell, erupting) >= 4} - erupting:
            erupting |= more
        after = game.apply(state, move)["board"]
        for cell, height in heights.items():
            assert after[cell[0]][cell[1]] == (-1 if cell in erupting else height + beside(cell, erupting))
        chains += 1


def test_r14_pieces_on_erupting_cells_fall_and_others_are_lifted() -> None:
    state = at(f"{ground('33=3 34=3 32=3 23=2')} c66l34s43 c00l32l23s44 8")
    after = play(state, "S43^33")
    assert game.format_state(after).split()[1:] == ["c66s43", "c00l23s44", "9"]
    assert after["board"][2][3] == 3  # seat 1's lancer, lifted
    assert after["board"][4][3] == 1  # the forging smith, lifted


def test_r14_the_forging_smith_may_fall_itself() -> None:
    after = play(at(f"{ground('33=3 43=3')} c66s43 c00l44 8"), "S43^33")
    assert [piece["type"] for piece in after["p0"]] == ["crown"]
    assert game.to_move(after) == 1
