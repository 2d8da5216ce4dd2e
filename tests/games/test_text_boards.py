"""The boards of the full screen: what games draw, and how their moves are picked."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

import ludodrome
from ludodrome.game import Cell
from ludodrome.text_board import MovePicker, Pick, TextBoard, draw_cells

ROOMS = ((52, 19), (90, 36), (20, 8))
GAMES = [
    ("dots", {"rows": 2, "cols": 3}, None),
    ("skysummit", {}, None),
    ("skysummit", {}, "40000/03200/00111/00000/00000 B3E5 C4D2 8"),
    ("santorini", {}, None),
    ("santorini", {"players": 3}, "40000/02100/01200/00010/00000 C3B3 D3B4 D2D4 9"),
    ("caldera", {}, None),
    ("caldera", {}, "00x0000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"),
]


def positions(game_id: str, options: dict[str, Any], line: str | None) -> Iterator[tuple[Any, Any]]:
    """The game with positions of a short random play."""
    game, dice = ludodrome.make(game_id, **options), random.Random(2)
    state = game.initial_state() if line is None else game.parse_state(line)
    for _ in range(6):
        yield game, state
        if game.to_move(state) is None:
            return
        state = game.apply(state, dice.choice(game.legal_moves(state)))


def shown(board: TextBoard) -> str:
    """The drawing without marks."""
    lines = [[" "] * board.width for _ in range(board.height)]
    for ink in board.inks:
        for at, sign in enumerate(ink.text, ink.column):
            lines[ink.row][at] = sign
    return "\n".join("".join(line).rstrip() for line in lines)


@pytest.mark.parametrize(("game_id", "options", "line"), GAMES)
def test_every_move_has_a_way_of_its_own_over_places_of_the_board(
    game_id: str, options: dict[str, Any], line: str | None
) -> None:
    for game, state in positions(game_id, options, line):
        places = {place.name for place in game.text_board(state, ROOMS[0]).places}
        ways: dict[tuple[Pick, ...], Any] = {}
        for move in game.legal_moves(state):
            for way in game.move_picks(move, state):
                assert {pick.place for pick in way} <= places
                assert ways.setdefault(tuple(way), move) == move
        assert not any(one != other and other[: len(one)] == one for one in list(ways)[:60] for other in ways)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(("game_id", "options", "line"), GAMES)
def test_drawings_fit_and_every_place_is_reached_by_arrows(
    game_id: str, options: dict[str, Any], line: str | None, room: tuple[int, int]
) -> None:
    game, state = next(positions(game_id, options, line))
    board = game.text_board(state, room)
    if room != ROOMS[-1]:
        assert board.width <= room[0]
        assert board.height <= room[1]
    assert all(0 <= ink.column <= ink.column + len(ink.text) <= board.width for ink in board.inks)
    reached = [board.places[0].name]
    for name in reached:
        beside = [board.beside(name, *way) for way in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        reached += [one for one in dict.fromkeys(beside) if one not in reached]
    assert len(reached) == len(board.places)
    for place in board.places:
        assert board.place_at(place.column + place.width // 2, place.row + place.height // 2) == place.name
    assert board.place_at(board.width + 5, 0) is None


def test_what_is_drawn() -> None:
    game = ludodrome.make("santorini")
    text = shown(game.text_board(game.parse_state("40000/02100/01200/00010/00000 C3B3 D3B4 9"), ROOMS[0]))
    assert "│  ●N1  │" in text
    assert "│ ▄▄▄ 2 │" in text
    assert "│  ▟█▙  │" in text
    caldera = ludodrome.make("caldera")
    text = shown(caldera.text_board(caldera.parse_state(GAMES[-1][2]), ROOMS[0]))  # type: ignore[arg-type]
    assert "│ ▒▒▒ │" in text
    assert "│ 3◆S │" in text
    dots = ludodrome.make("dots", rows=1, cols=2)
    text = shown(dots.text_board(dots.parse_state("1x2 11/10 110 1. 0 1"), (20, 6)))
    assert text.splitlines()[1:] == ["  0 ∙─────∙─────∙", "    │  ◆  │     ╎", "  1 ∙─────∙  ╌  ∙"]


def test_cells_are_the_places_of_other_games() -> None:
    board = draw_cells([[Cell("a1", "X", 0), Cell("b1")], [Cell("a2"), Cell("b2", "O", 1)]], (40, 20))
    assert [place.name for place in board.places] == ["a1", "b1", "a2", "b2"]
    assert {(ink.text, ink.seat) for ink in board.inks if ink.seat is not None} == {("X", 0), ("O", 1)}


def test_picks_narrow_the_moves_and_can_be_taken_back() -> None:
    game = ludodrome.make("skysummit")
    state = game.parse_state("00000/03200/00111/00000/00000 B3E5 C4D2 8")
    picker = MovePicker(game, state, game.legal_moves(state))
    assert set(picker.choices()) == {"B3", "E5"}
    assert not picker.back()
    assert picker.pick(Pick("B3", "worker")) is None
    assert "B2" in picker.choices()
    assert [str(pick) for pick in picker.choices()["B2"]] == ["win on B2"]
    move = picker.pick(Pick("B2", "win on"))
    assert game.format_move(move, state) == "1B3-B2"
    assert picker.back()
    assert picker.picked == (Pick("B3", "worker"),)


def test_a_forge_that_erupts_is_told_before_it_is_made() -> None:
    game = ludodrome.make("caldera")
    state = game.parse_state(
        "0000000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"
    )
    smith = Pick("42", "smith")
    assert game.pick_warning(state, []) is None
    assert game.pick_warning(state, [Pick("61", "lancer")]) is None
    assert game.pick_warning(state, [Pick("64", "smith")]) is None
    assert game.pick_warning(state, [smith]).places == ("32",)
    assert game.pick_warning(state, [smith, Pick("41", "move to")]) is None
    whole = game.pick_warning(state, [smith, Pick("32", "forge")])
    assert set(whole.places) == {"22", "23", "24", "32", "33", "34", "44"}
    assert whole.note == "erupts: 7 cells, lost on 33"
