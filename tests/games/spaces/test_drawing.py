"""Boards in boxes and as SVG, rounds moment by moment, and the four layers of validation."""

import xml.etree.ElementTree as ElementTree

import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces.legality import LAYERS, MEANING
from ludodrome.games.spaces.simulation import round_frames, side_by_side
from tests.games.spaces.boards import board, squares

pytestmark = pytest.mark.xdist_group("spaces")


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


# Layers


def verdicts(given: object, rules: str = "written", size: int = 3) -> list[bool | None]:
    layers = spaces.validate(given, size, rules)
    assert tuple(layer.name for layer in layers) == LAYERS == tuple(MEANING)
    return [layer.passed for layer in layers]


def test_a_legal_board_passes_all_layers() -> None:
    assert verdicts(board("3:1:uuf")) == [True] * 4


def test_a_wrong_shape_leaves_moves_and_sequence_unjudged() -> None:
    assert verdicts({"boardSize": 3}) == [False, None, None, False]
    assert verdicts(board("2:0:uf")) == [False, None, None, False]


@pytest.mark.parametrize(
    ("given", "rules", "right"),
    [
        (squares(3, "p2,1 p1,1 t2,0 t2,0 p0,1 f-1,1"), "written", [True, False, True, True]),
        (squares(3, "p2,1 p1,1 p0,1 t0,0 f-1,1"), "written", [True, True, False, True]),
        (squares(3, "p2,1 p0,1 f-1,1"), "written", [True, False, True, False]),
        (squares(3, "p1,1 p0,1 f-1,1"), "written", [True, True, False, False]),
        (squares(3, "p2,1 p1,1 t0,1 p0,1 f-1,1"), "live", [True, False, True, True]),
    ],
)
def test_each_layer_has_its_own_faults(given: object, rules: str, right: list[bool]) -> None:
    assert verdicts(given, rules) == right


def test_a_board_that_is_too_long_is_not_playable_and_nothing_else_is_said() -> None:
    layers = spaces.validate(board("2:0:" + "ud" * 10 + "uf"), 2, "written")
    assert [layer.passed for layer in layers] == [True, None, None, False]
    assert [fault.rule for layer in layers for fault in layer.faults] == ["R7"]


def test_every_fault_is_told_once() -> None:
    given = squares(3, "p2,1 p1,1 p0,1 t0,0 p0,2 f-1,1")
    told = [fault for layer in spaces.validate(given, 3) for fault in layer.faults]
    assert sorted(told) == sorted(spaces.check(given, 3))
