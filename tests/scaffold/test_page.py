"""docs/how-to/adding-a-game.md quotes the example, and names what there is."""

import re
from pathlib import Path

from ludodrome.cli import whole_program
from ludodrome.game import Game
from ludodrome.games import GROUP
from tests.scaffold.installing import EXAMPLE, ROOT

PAGE = (ROOT / "docs" / "how-to" / "adding-a-game.md").read_text("utf-8")
BLOCK = re.compile(r"^`([\w./-]+\.(?:py|toml))`:$|^```(python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_piece_of_code_is_quoted_from_the_example() -> None:
    file, quoted = Path(), 0
    for named, _, code in BLOCK.findall(PAGE):
        if named:
            file = (ROOT if named.startswith("examples/") else EXAMPLE) / named
            continue
        assert code in file.read_text("utf-8"), f"{file.name} has no\n{code}"
        quoted += 1
    assert quoted == PAGE.count("```python") + PAGE.count("```toml") > 8


def test_every_attribute_in_the_table_is_one_of_a_game() -> None:
    chapter = PAGE.partition("\n## The class\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", chapter, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(names) == 17
    assert [name for name in names if not hasattr(Game, name)] == []


def test_the_page_names_the_group_and_the_command() -> None:
    assert f"`{GROUP}`" in PAGE
    assert "new-game" in whole_program().commands
    assert re.search(r"^ludodrome new-game mygame --name tictactoe$", PAGE, re.MULTILINE)
