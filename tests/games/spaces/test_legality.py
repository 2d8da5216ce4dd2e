"""The four layers of validation."""

import pytest

from ludodrome import spaces
from ludodrome.games.spaces.legality import LAYERS, MEANING
from tests.games.spaces.boards import board, squares

pytestmark = pytest.mark.xdist_group("spaces")


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


def test_every_fault_is_reported_once() -> None:
    given = squares(3, "p2,1 p1,1 p0,1 t0,0 p0,2 f-1,1")
    found = [fault for layer in spaces.validate(given, 3) for fault in layer.faults]
    assert sorted(found) == sorted(spaces.check(given, 3))
