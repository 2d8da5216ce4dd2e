"""The pages on writing a bot: the tables are complete, and the bot from scratch plays."""

import re
import sys
from pathlib import Path

import pytest

import ludodrome
from ludodrome.arena.doctor import examine
from ludodrome.arena.doctor.checks import CHECKS
from ludodrome.arena.doctor.examination import FAILURE
from ludodrome.bots.starters import GAMES_WITH_STARTERS, LANGUAGES
from ludodrome.cli import whole_program
from tests.arena.playing import AMPLE

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = (DOCS / "tutorials" / "writing-a-bot.md").read_text("utf-8")
PAGE = (DOCS / "reference" / "bot-tools.md").read_text("utf-8")


def test_every_language_has_its_line() -> None:
    lines = re.findall(
        r"^\| `([\w-]+)`[^|]*\| `([^`]+)` \| (?:`([^`]+)`)? ?\| `\"?([^`\"]+)\"?` \| [^|]+ \|$", PAGE, re.MULTILINE
    )
    described = {name: (strategy, build, spec) for name, strategy, build, spec in lines}
    assert described == {name: (one.strategy, "".join(one.build), one.spec) for name, one in LANGUAGES.items()}
    assert ludodrome.validation.listing(f"`{game}`" for game in GAMES_WITH_STARTERS) in PAGE


def test_every_check_has_its_line() -> None:
    part = PAGE.partition("## Checks of the doctor")[2].partition("| option |")[0]
    assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == [check.name for check in CHECKS]


@pytest.mark.parametrize("command", ["doctor", "new-bot"])
def test_every_option_is_documented(command: str) -> None:
    for parameter in whole_program().commands[command].params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            for name in parameter.opts:
                assert f"`{name}" in PAGE, name


def test_the_bot_from_scratch_plays(tmp_path: Path) -> None:
    script = re.findall(r"```python\n(import.*?)```", TUTORIAL, re.DOTALL)[0]
    (tmp_path / "bot.py").write_text(script, "utf-8")
    spec = f"cmd:{sys.executable} -I {tmp_path / 'bot.py'}"
    for game in ("caldera", "dots", "santorini", "skysummit"):
        found = examine(ludodrome.make(game), spec, tmp_path, clock=AMPLE, only=["start", "seats", "unknown"])
        assert not [finding for finding in found if finding.grade == FAILURE]
