"""Codes of boards and their plain drawing."""

from typing import Any

import pytest

import ludodrome
from ludodrome import Game, IllegalMove, spaces
from tests.games.spaces.boards import board, squares

pytestmark = pytest.mark.xdist_group("spaces")


@pytest.fixture(scope="module")
def game() -> Game:
    return ludodrome.make("spaces")


@pytest.mark.parametrize("code", ["2:0:uf", "3:1:ul8uf", "3:1:", "3:2:l5u6uf", "4:0:123456789d", f"100:99:{'u' * 99}f"])
def test_codes_are_read_and_written(code: str) -> None:
    assert spaces.encode_board(board(code)) == code
    assert board(f" {code.upper()}\n") == board(code)


def test_the_characters_of_a_code() -> None:
    assert board("3:1:ulrd789456123f") == squares(
        3, "p2,1 p1,1 p1,0 p1,1 p2,1 t1,0 t1,1 t1,2 t2,0 t2,1 t2,2 t3,0 t3,1 t3,2 f1,1"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "3:1",
        "3:1:x",
        "3:1:u0f",
        "1:0:f",
        "101:0:uf",
        "03:1:uuf",
        "3:01:uuf",
        "3:3:uuf",
        "3:-1:uuf",
        "3:1:u uf",
        "1000000000:0:uf",
        "9" * 5000 + ":0:uf",
        "٣:1:uuf",
        "3:1:uuf\0",
        "3:1:uuf;",
        "3:1:" + "u" * 10**6,
        None,
        3,
        b"3:1:uuf",
        [],
    ],
)
def test_invalid_codes(text: Any, game: Game) -> None:
    with pytest.raises(IllegalMove, match=r"\w \w"):
        spaces.parse_board(text)
    with pytest.raises(IllegalMove, match=r"\w \w"):
        game.parse_move(text, game.initial_state())


@pytest.mark.parametrize(
    "given",
    [squares(3, "p2,1 p0,1 f-1,1"), squares(3, "p1,1 p0,1 f-1,1"), squares(3, "t2,1"), None, {}, {"boardSize": 10**9}],
)
def test_boards_without_a_code(given: Any) -> None:
    with pytest.raises(IllegalMove):
        spaces.encode_board(given)
    with pytest.raises(IllegalMove):
        spaces.draw_board(given)


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(IllegalMove, match=r"step 2: \(2,-1\) is outside"):
        spaces.draw_board(board("3:0:luuf"))
    with pytest.raises(IllegalMove, match="cannot be drawn"):
        spaces.draw_board(board("100:0:" + "5" * 1000))
