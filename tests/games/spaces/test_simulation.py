"""Matrices of rounds; boards in boxes and as SVG; rounds step by step."""

import xml.etree.ElementTree as ElementTree

import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces.simulation import round_frames, side_by_side
from tests.games.spaces.boards import RUN, board, played, squares

pytestmark = pytest.mark.xdist_group("spaces")


# Matrices


@pytest.mark.parametrize("rules", ["written", "live"])
def test_a_matrix_is_what_single_rounds_give(rules: str) -> None:
    codes = [RUN, "3:0:uuf", "3:0:5uuf", "3:1:u6uf", "3:1:uu4f", "3:1:uduuf"]
    first, second = spaces.simulate_matrix([board(code) for code in codes], [board(code) for code in codes], 3, rules)
    assert first.shape == second.shape == (6, 6)
    for i, a in enumerate(codes):
        for j, b in enumerate(codes):
            assert [first[i, j], second[i, j]] == played(a, b, rules)[0]
    assert (second == first.T).all()
    packed = spaces.Packed([board(code) for code in codes], 3, rules)
    assert (spaces.simulate_matrix(packed, packed, 3, rules)[0] == first).all()
    with pytest.raises(ValueError, match="packed"):
        spaces.simulate_matrix(packed, packed, 4, rules)


def test_a_matrix_of_nothing_and_of_unplayable_boards() -> None:
    first, second = spaces.simulate_matrix([], [board(RUN)], 3)
    assert first.shape == second.shape == (0, 1)
    for wrong, rule in (
        (board("3:0:4uuf"), "R5"),
        (board("3:1:uf"), "R6"),
        (board("3:1:uuff"), "R6"),
        (squares(3, "p2,1 p0,1 f-1,1"), "R4"),
        ({}, "R2"),
    ):
        with pytest.raises(IllegalMove, match=rf"^in the first list board 1: .*\({rule}\)"):
            spaces.simulate_matrix([board(RUN), wrong], [board(RUN)], 3)
        with pytest.raises(IllegalMove, match=rf"^the board of seat 1: .*\({rule}\)"):
            spaces.simulate(board(RUN), wrong, 3)
    with pytest.raises(IllegalMove, match="boards come as a list, not as '3:1:uuf'"):
        spaces.simulate_matrix("3:1:uuf", [board(RUN)], 3)


# Drawings


def test_a_board_in_boxes() -> None:
    assert spaces.box_board(board("3:1:l5u6uf")) == "\n".join(
        [
            "┌───────┬───────┬───────┐   1. (2,1) piece [start]",
            "│   6●  │       │       │   2. (2,0) piece [lateral]",
            "├───────┼───────┼───────┤   3. (2,0) trap [supermove]",
            "│   4●  │   5X  │       │   4. (1,0) piece [forward]",
            "├───────┼───────┼───────┤   5. (1,1) trap",
            "│ 2●,3X │   1●  │       │   6. (0,0) piece [forward]",
            "└───────┴───────┴───────┘   7. (-1,0) final [goal]",
        ]
    )
    assert "[back]" in spaces.box_board(board("3:1:uduuf"))


def test_what_leaves_the_grid_cannot_be_drawn() -> None:
    for draw in (spaces.box_board, spaces.board_svg):
        with pytest.raises(IllegalMove, match=r"step 2: \(2,-1\) is outside and cannot be drawn"):
            draw(board("3:0:luuf"))


def test_blocks_side_by_side() -> None:
    assert side_by_side(["ab", "c"], ["1", "2", "3"], gap=1) == ["ab 1", "c  2", "   3"]
    assert side_by_side([], ["1"]) == ["   1"]


def test_the_moments_of_a_round() -> None:
    round_ = spaces.simulate(board("3:0:5uuf"), board("3:0:u5uf"), 3, "written")
    drawn = round_frames(round_, 3)
    assert len(drawn) == len(round_.steps)
    assert drawn[0][1] == "│     │     │  ◆  │"
    assert drawn[0][5] == "│  ●  │     │     │"
    assert "x●" in drawn[1][5]
    twice = spaces.simulate(board("2:0:66uf"), board("2:0:uf"), 2, "written")
    assert len(round_frames(twice, 2)) == len(twice.steps)


def test_svg_is_xml_and_shows_every_step() -> None:
    for title in ("", "a < b"):
        picture = ElementTree.fromstring(spaces.board_svg(board("3:1:l5u6uf"), title))
        texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
        assert texts == [*([title] if title else []), *"123456", "★", "7"]
    assert "<path" in spaces.board_svg(board("3:1:u6uf"))


def test_a_heat_map_is_xml_and_shows_every_margin() -> None:
    for title in ("", "margins"):
        picture = ElementTree.fromstring(spaces.matrix_svg([[0, 3], [-3, 1]], title))
        texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
        assert texts == [*([title] if title else []), "0", "+3", "-3", "+1"]
