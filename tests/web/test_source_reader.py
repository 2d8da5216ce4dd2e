"""Sources read for the editor: colours, problems in their places; no source hangs or crashes the server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ludodrome.web import source_reader
from ludodrome.web.source_reader import TOO_COMPLEX, read_source


def _read(source: str) -> dict[str, Any]:
    """In a thread of its own: where Playwright has run, this one has a running loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(read_source(source))).result()


def test_tokens_cover_every_line() -> None:
    source = 'def f(x):\n    return max(x, 1) + "ä😀"  # so\n\nclass A: pass\n'
    found = _read(source)
    assert not found["problems"]
    lines = source.split("\n")
    sizes = [sum(size for size, _ in line) for line in found["lines"]]
    assert sizes == [len(line.encode("utf-16-le")) // 2 for line in lines]
    kinds = {kind for line in found["lines"] for _, kind in line}
    assert kinds == {"k", "d", "b", "n", "s", "c", ""}


@pytest.mark.parametrize(
    ("source", "line", "column", "word"),
    [
        ("x = 1\ndef f()\n    pass\n", 2, 8, "expected ':'"),
        ("return 1\n", 1, 1, "outside function"),
        ("y = '😀' + )\n", 1, 12, "unmatched"),
        ("print('a'\n", 1, 6, "never closed"),
    ],
)
def test_a_problem_has_its_place(source: str, line: int, column: int, word: str) -> None:
    """Columns count as a browser counts them: an emoji is two."""
    (problem,) = _read(source)["problems"]
    assert (problem["grade"], problem["line"], problem["column"]) == ("error", line, column)
    assert word in problem["text"]


def test_a_warning_does_not_make_it_wrong() -> None:
    (problem,) = _read("x = '\\d'\n")["problems"]
    assert (problem["grade"], problem["line"]) == ("warning", 1)


@pytest.mark.parametrize(
    "source",
    ["(" * 60_000, "a.b" * 16_000, "\0", "\n" * 65_000],
    ids=["brackets", "dots", "nul", "lines"],
)
def test_nothing_hangs_or_crashes_the_reader(source: str) -> None:
    found = _read(source)
    assert set(found) == {"lines", "problems"}
    assert all(set(one) == {"grade", "text", "line", "column", "end"} for one in found["problems"])


def test_a_reading_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_reader, "SECONDS", 0.001)
    with pytest.raises(TimeoutError):
        _read("x = 1\n")


def test_a_source_that_takes_too_much_is_called_that() -> None:
    found = _read("a.b" * 16_000)
    assert TOO_COMPLEX in [one["text"] for one in found["problems"]]
