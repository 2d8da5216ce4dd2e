"""docs/reference/bots.md lists every bot and every parameter, as they are."""

import re
from pathlib import Path

import ludodrome
from ludodrome.bots.registry import BOT_KINDS, kinds_of

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "bots.md").read_text("utf-8")


def test_every_bot_has_its_line() -> None:
    lines = dict(
        re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| \S", PAGE.partition("## The parameters")[0], re.MULTILINE)
    )
    kinds = kinds_of(ludodrome.make("dots"))  # dots has a kind of its own
    assert list(lines) == list(kinds)
    for kind in kinds.values():
        assert lines[kind.name] == (", ".join(f"`{param.name}`" for param in kind.params) or "none")


def test_every_parameter_has_its_line() -> None:
    part = PAGE.partition("## The parameters")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", part, re.MULTILINE)
    params = {param.name: param for kind in BOT_KINDS.values() for param in kind.params}
    assert sorted(name for name, _, _ in lines) == sorted(params)
    for name, values, meaning in lines:
        assert values == params[name].values
        assert meaning == params[name].meaning


def test_the_examples_are_right(tmp_path: Path) -> None:
    example, own = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    (tmp_path / "mine.py").write_text(own, "utf-8")
    assert ludodrome.bot(f"py:{tmp_path}/mine.py:MyBot", "dots").name == "my bot"
