"""docs/reference/exit-codes.md has every exit code, and commands give no other; their own tests hold them to it."""

import re
from pathlib import Path

import pytest

from ludodrome.cli import base
from tests.cli.running import in_shell, run

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "ludodrome" / "cli").rglob("*.py"))
CODES = {"DONE", "NO", "REFUSED", "UNDECIDED", "INTERRUPTED"}


def _page() -> str:
    """The page, in any folder of the docs."""
    (page,) = (ROOT / "docs").rglob("exit-codes.md")
    return page.read_text("utf-8")


def test_the_page_has_every_code() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", _page(), re.MULTILINE)}
    assert documented == {getattr(base, name) for name in CODES}


def test_commands_end_with_codes_that_have_names() -> None:
    for source in SOURCES:
        for given in re.findall(r"typer\.Exit\(([^)]*)\)", source.read_text("utf-8")):
            assert set(re.findall(r"\b[A-Z]{2,}\b", given)) & CODES, source
            assert not re.search(r"\d", given), source


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["games"], base.DONE),
        (["chess"], base.REFUSED),
        (["rules", "chess"], base.REFUSED),
        (["spaces", "check", "3:1:uuf"], base.DONE),
        (["spaces", "check", "3:1:uu"], base.NO),
        (["spaces", "build", "--do", "start 1"], base.UNDECIDED),
    ],
)
def test_the_codes(arguments: list[str], code: int) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    if code == base.REFUSED:
        assert result.stdout == ""


ANSI = b"\x1b["


@pytest.mark.parametrize("words", ["games", "--help", "rules dots", "show dots", "rules chess", "spaces --help"])
def test_a_pipe_gets_no_colours(words: str) -> None:
    done = in_shell(f"$L {words}", TERM="xterm-256color", NO_COLOR="", FORCE_COLOR="")
    assert ANSI not in done.stdout + done.stderr


@pytest.mark.parametrize("words", ["games", "--help", "show dots", "rules chess"])
def test_colours_can_be_forced_and_forbidden(words: str) -> None:
    forced = in_shell(f"$L {words}", TERM="xterm-256color", NO_COLOR="", FORCE_COLOR="1")
    assert ANSI in forced.stdout + forced.stderr
    both = in_shell(f"$L {words}", TERM="xterm-256color", NO_COLOR="1", FORCE_COLOR="1")
    assert not re.search(rb"\x1b\[[0-9;]*[34][0-9]", both.stdout + both.stderr)
