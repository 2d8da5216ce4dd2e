"""docs/reference/bots.md lists every bot and every knob, as they are."""

import re
from pathlib import Path

from ludodrome.bots.catalogue import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "bots.md").read_text("utf-8")


def test_every_bot_has_its_line() -> None:
    lines = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| \S", PAGE.partition("## The knobs")[0], re.MULTILINE))
    assert list(lines) == list(KINDS)
    for kind in KINDS.values():
        assert lines[kind.name] == (", ".join(f"`{knob.name}`" for knob in kind.knobs) or "none")


def test_every_knob_has_its_line() -> None:
    part = PAGE.partition("## The knobs")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", part, re.MULTILINE)
    knobs = {knob.name: knob for kind in KINDS.values() for knob in kind.knobs}
    assert sorted(name for name, _, _ in lines) == sorted(knobs)
    for name, values, meaning in lines:
        assert values == knobs[name].values
        assert meaning == knobs[name].meaning


def test_the_examples_are_right(tmp_path: Path) -> None:
    example, own = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    (tmp_path / "mine.py").write_text(own, "utf-8")
    import ludodrome

    assert ludodrome.bot(f"py:{tmp_path}/mine.py:MyBot", "dots").name == "my bot"
