"""Santorini: the numbers of the actions, the notation, and the moves that are refused with their sentences."""

import copy
from typing import Any

import pytest

import ludodrome
from tests.games.santorini.positions import (
    BARE,
    BUILDS,
    CLIMB,
    CORNER_OF_THREE,
    START,
    START_OF_THREE,
    STEPS,
    THREE,
    TWO,
    at,
    changed,
    game_of,
    refuse,
)

pytestmark = pytest.mark.xdist_group("santorini")


# Encodings


@pytest.mark.parametrize("line", [START, START_OF_THREE, STEPS, BUILDS, CLIMB, CORNER_OF_THREE])
def test_action_numbers(line: str) -> None:
    game, state = game_of(line), at(line)
    directions = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]

    def towards(start: str, end: str) -> int:
        return directions.index((ord(end[0]) - ord(start[0]), ord(end[1]) - ord(start[1])))

    numbers = []
    for move in game.legal_moves(state):
        number = (int(move[2]) - 1) * 64 + towards(move[3:5], move[5:7]) * 8 + towards(move[5:7], move[7:9])
        assert game.action(move, state) == number
        assert game.move(number, state) == move
        numbers.append(number)
    for number in set(range(128)) - set(numbers):
        with pytest.raises(ludodrome.IllegalMove):
            game.move(number, state)


@pytest.mark.parametrize("number", [-1, 128, True, 1.0, "1", None])
def test_a_number_that_is_no_action_is_refused(number: Any) -> None:
    assert TWO.num_actions == THREE.num_actions == 128
    with pytest.raises(ludodrome.IllegalMove, match="0 to 127"):
        TWO.move(number, at(START))


def test_the_example_of_the_page() -> None:
    state = at(START)
    moves = TWO.legal_moves(state)
    assert len(moves) == 68
    assert moves[:4] == ["[N1C2B1A1]", "[N1C2B1A2]", "[N1C2B1B2]", "[N1C2B1C1]"]
    assert [TWO.action(move, state) for move in moves[:4]] == [1, 2, 4, 6]
    assert (moves[-1], TWO.action(moves[-1], state)) == ("[N2B3C3D4]", 119)
    three = THREE.legal_moves(at(START_OF_THREE))
    assert (len(three), three[0], three[-1]) == (45, "[N1C3B2A1]", "[N2B3C4D5]")
    assert [THREE.action(move, at(START_OF_THREE)) for move in (three[0], three[-1])] == [0, 127]

    assert TWO.action("[N1C2B2C3]", state) == 15
    state = TWO.apply(state, "[N1C2B2C3]")
    board = copy.deepcopy(BARE)
    board[2][2] = 1
    assert state == changed(at(START), ply=1, to_move=1, board=board, workers=[["B2", "B3"], ["D3", "C4"]])
    assert len(TWO.legal_moves(state)) == 75
    assert TWO.action("[W1D3D2C3]", state) == 26
    state = TWO.apply(state, "[W1D3D2C3]")
    board[2][2] = 2
    assert state == changed(at(START), ply=2, to_move=0, board=board, workers=[["B2", "B3"], ["D2", "C4"]])
    assert len(TWO.legal_moves(state)) == 52
    assert TWO.action("[N2B3A3B3]", state) == 78
    state = TWO.apply(state, "[N2B3A3B3]")
    board[1][2] = 1
    assert state == changed(at(START), ply=3, to_move=1, board=board, workers=[["B2", "A3"], ["D2", "C4"]])


# Notation


@pytest.mark.parametrize(
    "text",
    [
        "[N1C2B2C3]",
        "[n1c2b2c3]",
        "[ n1 c2 b2 c3 ]",
        "[N 1 C 2 B 2 C 3]",
        "[\tN1\nC2  B2\r\nC3 ]",
        "I play [n1c2b2c3].",
        "I thought of [C3] first, but I play [ n1 c2 b2 c3 ] and not [N2B3A3A2].",
        "[N1C2B2C3] [N1C2C3B3]",
        "[N1C2B2C3][N2B3A3A2]",
        "My move:\n\n  **[N1C2B2C3]**\n",
        "[N3C2B2C3] [X1C2B2C3] [N1F2B2C3] [N1C2B2C6] [N1C2B2] [] [N1C2B2C3]",
        "[N1C2B2C3D4] then [N1C2B2C3]",
        "[[N1C2B2C3]]",
        "[ [N1C2B2C3]",
        "[N1C2[N1C2B2C3]",
        "(N2B3A3A2) {N2B3A3A2} [N1C2B2C3]",
        "x" * 5000 + "[N1C2B2C3]" + "y" * 5000,
    ],
)
def test_reading_is_lenient(text: str) -> None:
    """Ruling (santorini): either case, blanks inside the brackets, text around them, the first one counts."""
    assert TWO.parse_move(text, at(START)) == "[N1C2B2C3]"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "north please",
        "N1C2B2C3",
        "n1 c2 b2 c3",
        "[N1C2B2C3",
        "N1C2B2C3]",
        "(N1C2B2C3)",
        "[N1C2B2]",
        "[N1C2B2C3D4]",
        "[N3C2B2C3]",
        "[N0C2B2C3]",
        "[X1C2B2C3]",
        "[N1F2B2C3]",
        "[N1C2B6C3]",
        "[N1C2B2C0]",
        "[N1-C2-B2-C3]",
        "[N1,C2,B2,C3]",
        "[N\uff11C2B2C3]",
        "[N1C2B2C\uff13]",
        "[1NC2B2C3]",
        "[C3]",
    ],
)
def test_a_text_without_a_bracketed_move_is_a_matter_of_format(text: str) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.parse_move(text, at(START))


@pytest.mark.parametrize("text", [None, 7, ["[N1C2B2C3]"], {"move": "[N1C2B2C3]"}, b"[N1C2B2C3]", True])
def test_only_a_text_is_read(text: Any) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.parse_move(text, at(START))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[N1C2C3B3] or rather [N1C2B2C3]", "Cannot build there"),
        ("[W1D3D2C3], no, [N1C2B2C3]", "Not your worker"),
        ("[n1 d2 d1 c1] [N1C2B2C3]", "No such worker there"),
        ("[C3] [n1c2b3b2] [N1C2B2C3]", "Cannot move there"),
    ],
)
def test_a_first_bracketed_move_that_is_illegal_is_not_replaced_by_a_later_one(text: str, kind: str) -> None:
    with pytest.raises(ludodrome.IllegalMove, match=f"^{kind}"):
        TWO.parse_move(text, at(START))


def test_nothing_but_legality_is_judged() -> None:
    """Ruling (santorini): parse_move does not judge more than that the move is legal."""
    state = at(CLIMB)
    for move in TWO.legal_moves(state):
        assert TWO.parse_move(f"Well, {move.lower()}!", state) == move
        assert TWO.format_move(move, state) == move


def test_the_two_sample_moves_of_the_document() -> None:
    """Ruling (page): the samples show the format only; both are refused at the start."""
    refuse(START, "[N1C2C3B3]", "^Cannot build there: .*B3.*Navy's worker 2")
    white = START.replace(" 0", " 1")
    refuse(white, "[W2D3E3E4]", "^No such worker there: .*W2.*C4.*D3")
    with pytest.raises(ludodrome.IllegalMove, match=r"^No such worker there"):
        TWO.parse_move("[w2 d3 e3 e4]", at(white))


# What is refused: moves


@pytest.mark.parametrize(
    "move",
    [
        None,
        True,
        15,
        1.0,
        [],
        ["[N1C2B2C3]"],
        {},
        {"move": "[N1C2B2C3]"},
        "",
        "north please",
        "N1C2B2C3",
        "[n1c2b2c3]",
        "[N1c2B2C3]",
        "[N1 C2 B2 C3]",
        "[ N1C2B2C3 ]",
        " [N1C2B2C3]",
        "[N1C2B2C3] ",
        "[N1C2B2C3]\n",
        "I play [N1C2B2C3]",
        "[N1C2B2C3][N1C2B2C3]",
        "[N1C2B2]",
        "[N3C2B2C3]",
        "[X1C2B2C3]",
        "[N1C2B2F3]",
        "[N1C2B2C6]",
        "[N\uff11C2B2C3]",
        b"[N1C2B2C3]",
    ],
    ids=repr,
)
def test_apply_takes_exactly_the_canonical_text(move: Any) -> None:
    """Ruling (santorini): apply and is_legal take exactly the canonical text."""
    refuse(START, move, "^Format")
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.action(move, at(START))
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format"):
        TWO.format_move(move, at(START))


KINDS: list[tuple[str, str, str]] = [
    # Not your worker, before anything about squares
    (START, "[W1D3D2C3]", "Not your worker: .*W1.*Navy"),
    (START, "[W2A1E5E5]", "Not your worker: .*W2.*Navy"),
    (START, "[G1D2D1C1]", "Not your worker: .*G1.*Navy"),  # Grey in a game of two
    (START.replace(" 0", " 1"), "[N1C2B2C3]", "Not your worker: .*N1.*White"),
    (START_OF_THREE.replace(" 0", " 2"), "[W1D3E3E2]", "Not your worker: .*W1.*Grey"),
    (START_OF_THREE, "[G1D2D1C1]", "Not your worker: .*G1.*Navy"),
    # No such worker there, before the step
    (START, "[N1D2D1C1]", "No such worker there: .*N1.*C2.*D2"),
    (START, "[N1B3B2A2]", "No such worker there: .*N1.*C2.*B3"),  # N2's square
    (START, "[N2C2B2C3]", "No such worker there: .*N2.*B3.*C2"),
    (START, "[N1E5A1A1]", "No such worker there: .*N1.*C2.*E5"),
    # Cannot move there: not adjacent (or the same square), occupied, a dome, too high; before the build
    (START, "[N1C2E5E5]", "Cannot move there: .*E5"),
    (START, "[N1C2C2B2]", "Cannot move there: .*C2"),
    (START, "[N1C2C4C3]", "Cannot move there: .*C4"),
    (START, "[N1C2B3B2]", "Cannot move there: .*B3.*occupied by Navy's worker 2"),
    (START, "[N1C2D3C2]", "Cannot move there: .*D3.*occupied by White's worker 1"),
    (START, "[N1C2B3E5]", "Cannot move there: .*B3"),
    (START, "[N1C2B3B3]", "Cannot move there: .*B3"),
    (STEPS, "[N1C3C4C3]", "Cannot move there: .*C4.*dome"),
    (STEPS, "[N1C3C2C3]", "Cannot move there: .*C2.*high"),
    (STEPS, "[N1C3C2E5]", "Cannot move there: .*C2.*high"),
    (STEPS, "[N2D2C2D2]", "Cannot move there: .*C2.*high"),
    # Cannot build there: not adjacent to the destination (or the destination itself), occupied, a dome
    (START, "[N1C2B2D5]", "Cannot build there: .*D5.*B2"),
    (START, "[N1C2B2D2]", "Cannot build there: .*D2.*B2"),  # adjacent to where it came from only
    (START, "[N1C2B2B2]", "Cannot build there: .*B2"),
    (START, "[N1C2B2B3]", "Cannot build there: .*B3.*occupied by Navy's worker 2"),
    (START, "[N1C2C3D3]", "Cannot build there: .*D3.*occupied by White's worker 1"),
    (START, "[N1C2B2C4]", "Cannot build there: .*C4.*B2"),  # occupied as well
    (BUILDS, "[N1C3C4B4]", "Cannot build there: .*B4.*dome"),
    (CLIMB, "[N1B2B3C4]", "Cannot build there: .*C4.*occupied by White's worker 2"),  # a winning step as well
    (CLIMB, "[N1B2B3E1]", "Cannot build there: .*E1.*B3"),
]


@pytest.mark.parametrize(("line", "move", "sentence"), KINDS)
def test_each_kind_of_mistake_has_its_own_sentence(line: str, move: str, sentence: str) -> None:
    """Ruling (santorini): format; not your worker; no such worker there; cannot move there; cannot build there."""
    refuse(line, move, f"^{sentence}")
    with pytest.raises(ludodrome.IllegalMove, match=f"^{sentence}"):
        game_of(line).parse_move(f"My move is {move.lower()}, I think", at(line))


@pytest.mark.parametrize(
    ("move", "parts"),
    [
        ("[N1C2E5E4]", ["E5", "adjacent"]),
        ("[N1C2B2D5]", ["D5", "B2", "adjacent"]),
    ],
)
def test_the_sentence_says_what_is_not_adjacent(move: str, parts: list[str]) -> None:
    with pytest.raises(ludodrome.IllegalMove) as refusal:
        TWO.apply(at(START), move)
    assert all(part in str(refusal.value) for part in parts)


def test_the_sentence_of_format_shows_the_text() -> None:
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format: .*north please"):
        TWO.parse_move("north please", at(START))
    with pytest.raises(ludodrome.IllegalMove, match=r"^Format") as refusal:
        TWO.parse_move("please " * 10_000, at(START))
    assert len(str(refusal.value)) < 500
