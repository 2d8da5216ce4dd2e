"""Numbers of boards: the order of the generator, without generating."""

import random

import pytest

from ludodrome import IllegalMove
from ludodrome.games.spaces.boards import format_code, parse_code
from ludodrome.games.spaces.counting import count_boards
from ludodrome.games.spaces.generation import BoardWalk, generate
from ludodrome.games.spaces.ranking import board_at, number_of
from ludodrome.jit import COMPILED

pytestmark = pytest.mark.xdist_group("spaces")


@pytest.mark.parametrize(("size", "rules"), [(2, "live"), (2, "written"), (3, "live")])
def test_every_number_is_the_place_in_the_list(size: int, rules: str) -> None:
    boards = list(generate(size, rules))
    assert [board_at(number, size, rules) for number in range(1, len(boards) + 1)] == boards
    assert [number_of(board, size, rules) for board in boards] == list(range(1, len(boards) + 1))


@pytest.mark.skipif(not COMPILED, reason="these lists want a compiled kernel")
@pytest.mark.parametrize(("size", "rules", "limit"), [(4, "live", None), (3, "written", 30_000)])
def test_numbers_in_long_lists(size: int, rules: str, limit: int | None) -> None:
    boards = list(generate(size, rules, limit=limit))
    for at in range(0, len(boards), 997):
        assert board_at(at + 1, size, rules) == boards[at]
        assert number_of(boards[at], size, rules) == at + 1


@pytest.mark.parametrize(("size", "rules"), [(4, "written"), (5, "live"), (8, "live")])
def test_neighbours_anywhere_in_lists_that_nobody_can_read(size: int, rules: str) -> None:
    """The board after that of a number, by the generator, has the next number."""
    rng = random.Random(size)
    count = count_boards(size, rules)
    for number in [1, count - 1, *(rng.randrange(1, count) for _ in range(20))]:
        board = board_at(number, size, rules)
        assert number_of(board, size, rules) == number
        (following,) = BoardWalk(size, rules, format_code(board, size), 1).next().boards()
        assert following == board_at(number + 1, size, rules)
    last = format_code(board_at(count, size, rules), size)
    assert BoardWalk(size, rules, last).next().boards() == []


def test_what_has_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="the number of a board is a whole number from 1 to 14"):
        board_at(15, 2, "live")
    with pytest.raises(ValueError, match="the number of a board"):
        board_at(0, 2, "live")
    with pytest.raises(ValueError, match="under 'written' boards are numbered up to size 5; size 6"):
        board_at(1, 6)
    with pytest.raises(IllegalMove, match=r"a board that is not legal has no number: step 3: .* \(R13\)"):
        number_of(parse_code("3:1:u8uf")[1], 3, "live")
