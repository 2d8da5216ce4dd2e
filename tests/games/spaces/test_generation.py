"""All boards in order, in chunks, from any board on; and their codes."""

import importlib
import operator
import random
from itertools import pairwise

import pytest

from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces.boards import format_board, format_code, steps_of
from ludodrome.games.spaces.counting import count_by
from ludodrome.games.spaces.generation import EVERYTHING, PROPERTIES, BoardWalk, generate, parse_filter
from ludodrome.games.spaces.legality import all_boards
from ludodrome.jit import COMPILED
from tests.games.spaces.brute import best_by_force

pytestmark = pytest.mark.xdist_group("spaces")

SMALL = pytest.mark.parametrize(("size", "rules"), [(2, "live"), (2, "written"), (3, "live")])


@SMALL
def test_it_makes_what_building_step_by_step_makes(size: int, rules: str) -> None:
    assert tuple(generate(size, rules)) == all_boards(size, rules == "live")


@pytest.mark.skipif(not COMPILED, reason="114,450 boards want a compiled kernel")
def test_size_4_live_is_complete_legal_and_in_order() -> None:
    boards = list(generate(4, "live"))
    assert len(set(boards)) == len(boards) == 114_450 == best_by_force([], 4, "live")[0]
    assert boards == sorted(boards)
    assert all(spaces.check(format_board(board, 4), 4, "live") == [] for board in boards[::97])


def test_size_3_written_begins_as_it_should_and_in_the_long_run_ends_so(long: bool) -> None:
    first = list(generate(3, "written", limit=2000 if COMPILED else 100))
    assert first == sorted(set(first))
    assert all(spaces.check(format_board(board, 3), 3, "written") == [] for board in first[::10])
    if long and COMPILED:
        walk, count = BoardWalk(3, "written"), 0
        while made := len(walk.next().ends):
            count += made
        assert count == 121_439_363


@SMALL
def test_it_continues_after_any_board(size: int, rules: str) -> None:
    boards = list(generate(size, rules))
    for at in {0, 1, len(boards) // 3, len(boards) // 2, len(boards) - 2, len(boards) - 1}:
        assert list(generate(size, rules, after=format_code(boards[at], size))) == boards[at + 1 :]


def test_a_limit_and_the_size_of_chunks_change_nothing_else() -> None:
    boards = list(generate(3, "live"))
    assert list(generate(3, "live", limit=5)) == boards[:5]
    assert list(generate(3, "live", limit=10_000)) == boards
    assert list(generate(3, "live", limit=0)) == []
    walk, collected = BoardWalk(3, "live", chunk=7), []
    while chunk := walk.next().boards():
        assert len(chunk) <= 7
        collected += chunk
    assert collected == boards
    assert walk.next(3).boards() == []


def test_a_limit_that_is_a_whole_number_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("ludodrome.games.spaces.generation"), "CHUNK", 4)
    assert list(generate(2, "live", limit=8)) == list(all_boards(2, True))[:8]


def test_codes_are_those_of_the_notation() -> None:
    walk = BoardWalk(3, "live")
    chunk = walk.next(50)
    assert walk.codes(chunk).decode().splitlines() == [format_code(board, 3) for board in chunk.boards()]
    wide = BoardWalk(12, "live", after="12:9:" + "u" * 11 + "f")
    chunk = wide.next(3)
    assert wide.codes(chunk).decode().splitlines() == [format_code(board, 12) for board in chunk.boards()]
    last = BoardWalk(12, "live", after="12:11:" + "u" * 11 + "f")
    assert last.codes(last.next(1)).decode().startswith("12:11:")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("4:1:uuuf", "the board to continue from has size 4, and the boards here have size 3"),
        ("3:1:uu", "the board to continue from is not legal: step 3: the board ends without"),
        ("3:1:u8uf", "the board to continue from is not legal: step 3: a trap is set on row 0"),
        ("nonsense", "a board is written as"),
    ],
)
def test_an_invalid_board_to_continue_from(code: str, sentence: str) -> None:
    with pytest.raises(IllegalMove, match=sentence):
        BoardWalk(3, "live", after=code)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="the size of spaces"):
        BoardWalk(1)
    with pytest.raises(ValueError, match="the rules of spaces"):
        BoardWalk(3, "mine")


# Filters

OPERATORS = {
    "=": operator.eq,
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def properties(board: bytes, size: int) -> tuple[int, ...]:
    """The values of PROPERTIES, by the squares of the steps."""
    steps = steps_of(board, size)
    squares = [(row, col) for row, col, kind in steps if kind != "trap"]
    aside = sum(one[0] == two[0] for one, two in pairwise(squares))
    here, supermoves = squares[0], 0
    for row, col, kind in steps:
        if kind == "trap":
            supermoves += (row, col) == here
        else:
            here = (row, col)
    return squares[0][1], squares[-1][1], sum(kind == "trap" for *_, kind in steps), supermoves, aside, len(steps)


@SMALL
def test_a_filter_leaves_what_reading_every_board_leaves(size: int, rules: str) -> None:
    rng = random.Random(size)
    boards = [(board, properties(board, size)) for board in generate(size, rules)]
    empty = full = 0
    for _ in range(100 if COMPILED or size == 2 else 8):
        conditions = [
            (number, rng.choice(list(OPERATORS)), rng.randrange(8))
            for number in rng.sample(range(len(PROPERTIES)), rng.randrange(1, 4))
        ]
        text = ", ".join(f"{PROPERTIES[number]} {sign} {value}" for number, sign, value in conditions)
        wanted = [
            board
            for board, values in boards
            if all(OPERATORS[sign](values[number], value) for number, sign, value in conditions)
        ]
        if any(sign == "<" and value == 0 for _, sign, value in conditions):
            with pytest.raises(ValueError, match="no number is what the conditions ask of"):
                parse_filter([text])
            continue
        assert list(generate(size, rules, where=text)) == wanted, text
        where = parse_filter([text])
        assert where == EVERYTHING or parse_filter([str(where)]) == where
        count, exact = where.count(size, rules)
        assert count is not None
        assert count == len(wanted) if exact else count >= len(wanted), text
        empty, full = empty + (not wanted), full + bool(wanted)
    assert full > 0
    assert empty + full > 5


def test_a_filter_finds_few_boards_among_very_many() -> None:
    """968,799,595,254,970 boards are too many to make: the walk leaves what cannot match."""
    assert len(list(generate(4, "written", where="traps=0"))) == 4**4 == count_by(4, "written", "traps")[0]
    assert parse_filter(["traps=0"]).count(4, "written") == (256, True)
    assert parse_filter(["traps<=1", "length<=9"]).count(4, "written")[1] is False
    assert parse_filter(["traps=0"]).count(30, "live") == (None, False)
    size, most = (4, 16) if COMPILED else (2, 4)
    one = next(generate(size, "written", where=f"traps>={most}"))
    assert properties(one, size)[2] == most


def test_a_filter_goes_on_after_a_board() -> None:
    boards = list(generate(3, "live", where="traps=1,sideways>=1"))
    for at in (0, 7, len(boards) - 1):
        rest = generate(3, "live", after=format_code(boards[at], 3), where="traps=1,sideways>=1")
        assert list(rest) == boards[at + 1 :]


@pytest.mark.parametrize("text", ["luck=1", "traps", "traps=-1", "traps=x", "traps!=1", "traps=1;length=3", ""])
def test_a_condition_that_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match="a condition is a property"):
        parse_filter([text])


def test_conditions_that_no_board_can_meet() -> None:
    with pytest.raises(ValueError, match="no number is what the conditions ask of traps"):
        parse_filter(["traps>3", "traps<2"])
