"""`generate --view`: pages, keys, jumps, and drawings that fit the terminal."""

import pytest

from ludodrome.cli.spaces.board_viewer import (
    KEYS_TEXT,
    BoardPages,
    draw_small,
    open_pages,
    page_text,
    split_keys,
    turn_pages,
)
from ludodrome.games.spaces.boards import format_code, parse_code
from ludodrome.games.spaces.generation import generate, parse_filter

pytestmark = pytest.mark.xdist_group("spaces")

CODES = [format_code(board, 3) for board in generate(3, "live")]
ONE_TRAP = parse_filter(["traps=1"])


def view(pages: BoardPages, keys: str, width: int = 100, height: int = 40) -> tuple[list[str], list[str]]:
    """The screens and prompts that these keys lead to; a q follows them."""
    waiting = [*split_keys(keys), "q"]
    screens: list[str] = []
    prompts: list[str] = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return waiting.pop(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setenv("LINES", str(height))
        turn_pages(pages, read, screens.append)
    assert waiting == []
    return screens, prompts


def heads(screens: list[str]) -> list[str]:
    return [screen.splitlines()[0].partition(",")[0] for screen in screens]


def test_on_and_back() -> None:
    screens, _ = view(open_pages(3, "live"), "n \x1b[Cp\x1b[Ap")
    assert heads(screens) == [f"boards {first} to {first + 4} of 796" for first in (1, 6, 11, 16, 11, 6, 1)]
    for at, screen in enumerate(screens[:4]):
        for number in range(5 * at, 5 * at + 5):
            assert f"{number + 1}  {CODES[number]}" in screen


def test_the_first_and_the_last() -> None:
    screens, prompts = view(open_pages(3, "live"), "Gn0p")
    assert heads(screens)[1:] == ["boards 796 to 796 of 796"] * 2 + ["boards 1 to 5 of 796"] * 2
    assert CODES[-1] in screens[1]
    assert prompts[2].startswith("the last board is number 796")


def test_a_jump_to_any_number() -> None:
    screens, prompts = view(open_pages(4, "written"), "g1,000,000\rg968799595254969\r")
    assert prompts[1:5] == ["number: ", "number: 1", "number: 1", "number: 10"]
    assert screens[1].startswith("boards 1,000,000 to 1,000,004 of 968,799,595,254,970")
    assert screens[2].startswith("boards 968,799,595,254,969 to 968,799,595,254,970 of")


def test_a_jump_that_leads_nowhere_stays() -> None:
    screens, prompts = view(open_pages(3, "live"), "g12\x7f3\rg797\rg\rgx")
    assert heads(screens) == ["boards 1 to 5 of 796", *["boards 13 to 17 of 796"] * 4]
    notes = [prompt for prompt in prompts if "number" in prompt and ":" not in prompt and "go to" not in prompt]
    assert [note.strip() for note in notes] == [
        "the last board is number 796",
        "a number is 1 or more, in digits",
        "a number is 1 or more, in digits",
    ]


def test_the_question_mark_shows_the_keys_and_any_key_goes_back() -> None:
    screens, _ = view(open_pages(3, "live"), "?nx?")
    assert screens[1] == KEYS_TEXT
    assert heads(screens)[2] == "boards 1 to 5 of 796"
    assert screens[3] == KEYS_TEXT, "an unknown key shows them too"
    assert heads(screens)[4] == "boards 1 to 5 of 796"


def test_boards_that_match_a_filter() -> None:
    wanted = [code for code in CODES if sum(map(str.isdigit, code)) == 3]
    assert len(wanted) == 210
    screens, prompts = view(open_pages(3, "live", ONE_TRAP), "nGg209\rng500\rG")
    assert heads(screens)[:2] == ["boards 1 to 5", "boards 6 to 10"]
    assert prompts[2].startswith("the number of these boards is not known yet")
    assert wanted[205] in screens[3]
    assert heads(screens)[-1] == "boards 206 to 210 of 210"
    assert any(prompt.startswith("the last board is number 210") for prompt in prompts)


def test_it_begins_after_a_board() -> None:
    assert open_pages(3, "live", after=CODES[41]).first == 43
    assert open_pages(3, "live", after=CODES[-1]).first == 796
    filtered = open_pages(3, "live", ONE_TRAP, CODES[41])
    assert filtered.source.boards(1)[0] > parse_code(CODES[41])[1]
    large = open_pages(60, "live")
    assert len(large.source.boards(1)) == 5


@pytest.mark.parametrize(("width", "height"), [(200, 60), (80, 24), (40, 12), (20, 5)])
@pytest.mark.parametrize("after", [None, "4:3:5l5l5l5u65r6987r69ru87l7ll8uf"])
def test_a_page_fits_the_terminal(width: int, height: int, after: str | None) -> None:
    pages = open_pages(4, "written", after=after)
    text = page_text(pages, pages.first, pages.source.boards(pages.first), width, height)
    lines = text.splitlines()[2:]
    assert len(lines) <= max(height, 5)
    assert all(len(line) <= width for line in lines)


def test_small_drawings() -> None:
    assert draw_small(parse_code("3:1:l5u6uf")[1], 3) == ["★", "● · ·", "● X ·", "■ ● ·"]


def test_keys_that_come_together_are_told_apart() -> None:
    assert split_keys("g12\r\x1b[C\x1b[5~q") == ["g", "1", "2", "\r", "\x1b[C", "\x1b[5~", "q"]
