"""Comparing what a page says with what is printed, and finding the blocks of a page."""

import pytest

from tests.docs.blocks import BadPage, blocks_in
from tests.docs.comparing import Tolerance, difference
from tests.docs.parsing import check_command, parse, plain_words, steps


@pytest.mark.parametrize(
    ("said", "printed", "mark", "agrees"),
    [
        ("a\nb\n", "a  \nb\n\n", None, True),
        ("a\nb\n", "a\n", None, False),
        ("a\n", "a\nb\n", None, False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", None, True),
        ("a\n...\nd\n", "a\nb\nc\n", None, False),
        ("...\n", "anything\nat all\n", None, True),
        ("it took ... ms\n", "it took 12 ms\n", None, True),
        ("it took ... ms\n", "it took 12 s\n", None, False),
        ("it took 10 ms\n", "it took 12 ms\n", None, False),
        ("it took 10 ms\n", "it took 20 ms\n", "50%", True),
        ("it took 10 ms\n", "it took 21 ms\n", "50%", False),
        ("it took 10 ms\n", "it took 10 s\n", "50%", False),
        ("won  1,000  in 10 ms\n", "won 2,000 in 10 ms\n", "50%", True),
        ("won 10 in 10 ms\n", "won 11 in 11 ms\n", "50% in the last 2 words", False),
        ("won 10 in 10 ms\n", "won 10 in 11 ms\n", "50% in the last 2 words", True),
    ],
)
def test_differences(said: str, printed: str, mark: str | None, agrees: bool) -> None:
    assert (difference(said, printed, Tolerance.of(mark)) == "") is agrees


def test_blocks_are_found_with_their_marks() -> None:
    console = "<!-- test: long; exits 1 -->\n```console\n$ a \\\n  b\nout\n$ c\n```\n"
    page = f"# Head\n\n{console}\n- x\n\n  ```text\n  y\n  ```\n"
    first, second = blocks_in(page, "p.md")
    assert (first.place, first.marks, first.long, first.heading) == ("p.md:4", ("long", "exits 1"), True, "Head")
    assert steps(first) == [("a  b", "out\n"), ("c", "")]
    assert second.text == "y\n"


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```\nx\n```\n", "language"),
        ("<!-- test: lnog -->\n```sh\nx\n```\n", "lnog"),
        ("<!-- test: long -->\n\nWords.\n\n```sh\nx\n```\n", "right before a block"),
        ("```sh\nx\n", "not closed"),
    ],
)
def test_pages_that_are_not_well_formed(page: str, complaint: str) -> None:
    with pytest.raises(BadPage, match=complaint):
        blocks_in(page, "p.md")


def test_commands_that_there_are_not() -> None:
    check_command("A=1 ludodrome match dots greedy random --games 2 | tail -1 > file")
    for command in (
        "ludodrome nothing",
        "ludodrome match dots a b --nothing",
        "pip install '.[nothing]'",
        "scripts/no",
    ):
        with pytest.raises(BadPage):
            check_command(command)
    with pytest.raises(BadPage, match="--games"):
        parse(["match", "dots", "a", "b", "--games", "many"])


def test_what_needs_a_shell() -> None:
    assert plain_words('ludodrome doctor dots "cmd:python3 bot.py"  # a word') == [
        "ludodrome",
        "doctor",
        "dots",
        "cmd:python3 bot.py",
    ]
    assert plain_words("ludodrome games | head") is None
    assert plain_words("ludodrome show dots '5x5 ...'") is not None
