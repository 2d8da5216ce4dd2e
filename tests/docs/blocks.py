"""The fenced blocks of the project's pages, and the marks that say how a test treats them.

A mark is an HTML comment before a block, ``<!-- test: long; tolerance 50% -->``, and may say:

- ``long``: it is run with ``--long`` only; else its commands are parsed, its code compiled, its imports looked up
- ``not run: REASON``: never run, and said aloud; parsed all the same
- ``needs NAME``: a Python package, a program or PostgreSQL; where it is missing, that is said aloud
- ``tolerance 50%``: numbers may differ by half of the greater one; ``in the last 2 words``: only there
- ``exits 1``: with this exit code
- ``typed``: what stands behind a prompt (``> ``) is typed by the reader
- ``ends with Ctrl-C``: it goes on beside the blocks that follow, and is ended so with the page
- ``program``: Python that is run as a file of its own
- ``bot GAME ...``: Python that is a bot, put before the doctor in these games
- ``saved as FILE``: it is written into that file of the page's folder
- ``quoted from FILE``: a piece of that file
- ``a bots file``: the content of one; ``a board suite``: tests of spaces boards
- ``output``: a text that the Python block before it has printed
- ``with A=B``: A stands for B when it is run; ``with A=a free port`` for a port, ``with A=an endpoint`` for a language
  model's, ``with A=a PostgreSQL`` for an empty database

How blocks are run is in ``running.py``, how their output is compared in ``comparing.py``.
"""

import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = ("console", "python", "sh")
"""Languages that are run; the others are checked as what they are."""
CHECKED = ("json", "nginx", "text", "toml")
WRITTEN = ("docs/reference/complete-bots.md", "docs/reference/api/")
"""Made of programs and docstrings that have tests of their own (``tests/arena/test_starters.py``, ``test_api.py``)."""
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
MARKS = re.compile(r"<!-- test: ([^\n]*) -->\s*\Z")
MARK = re.compile(
    r"long|typed|ends with Ctrl-C|a bots file|a board suite|program|output|exits (?:\d+)|needs (?:\S+)"
    r"|quoted from (?:\S+)|saved as (?:\S+)|bot (?:[\w ]+)|tolerance (?:\d+)%(?: in the last (?:\d+) words?)?"
    r"|with (?:[^=]+)=(?:.+)"
)


class BadPage(ValueError):
    """Something about a block is not as it should be; the sentence says what and where."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its language, its text and its marks."""

    page: str
    line: int
    language: str
    text: str
    marks: tuple[str, ...] = ()
    not_run: str = ""
    """Why it is never run; empty if it is."""
    heading: str = ""
    """The last heading before it."""

    @property
    def place(self) -> str:
        """``docs/bots.md:12``."""
        return f"{self.page}:{self.line}"

    @property
    def long(self) -> bool:
        """Whether it is run with ``--long`` alone."""
        return "long" in self.marks

    def mark(self, beginning: str) -> str | None:
        """The rest of the mark with this prefix; None if there is none."""
        return next((one.removeprefix(beginning).strip() for one in self.marks if one.startswith(beginning)), None)

    @cached_property
    def stands_for(self) -> dict[str, str]:
        """Replacements for words of the block when it is run."""
        pairs = (one.removeprefix("with ").partition("=") for one in self.marks if one.startswith("with "))
        return {word: meaning for word, _, meaning in pairs}

    @property
    def missing(self) -> str:
        """What the block needs and this machine has not."""
        need = self.mark("needs ")
        return need if need and not _is_here(need) else ""


def _is_here(need: str) -> bool:
    if need == "PostgreSQL":
        from tests.postgresql import programs

        return programs() is not None
    return bool(shutil.which(need) or (need.isidentifier() and find_spec(need)))


def pages() -> list[str]:
    """All pages with blocks, by their paths in the project."""
    files = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src" / "ludodrome" / "games").glob("*/RULES.md"),
    ]
    return sorted(page for file in files if not (page := str(file.relative_to(ROOT))).startswith(WRITTEN))


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, in order; BadPage if one has no language or a mark that nobody knows."""
    return blocks_in((ROOT / page).read_text("utf-8"), page)


def blocks_in(text: str, page: str) -> list[Block]:
    """The same of a text."""
    found, end = [], 0
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start()) + 1
        before = MARKS.search(text, end, fence.start())
        marks, not_run = _marks(before[1] if before else "", f"{page}:{line}")
        body = re.sub(f"^{fence['indent']}", "", fence["text"], flags=re.MULTILINE)
        headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text[: fence.start()]), re.MULTILINE)
        block = Block(page, line, fence["language"], body, marks, not_run, headings[-1] if headings else "")
        end = fence.end()
        if block.language not in (*RUN, *CHECKED):
            raise BadPage(f"{block.place}: a block's language is one of {', '.join((*RUN, *CHECKED))}")
        found.append(block)
    unused = len(re.findall(r"<!-- test: ", text)) - sum(bool(block.marks or block.not_run) for block in found)
    if unused:
        raise BadPage(f"{page}: {unused} comments with marks do not stand right before a block")
    if text.count("```") != 2 * len(found):
        raise BadPage(f"{page}: a fence is not closed")
    return found


def _marks(text: str, place: str) -> tuple[tuple[str, ...], str]:
    """The marks in a comment, and why the block is not run."""
    text, _, not_run = text.partition("not run: ")
    marks = tuple(part.strip() for part in text.split(";") if part.strip())
    for mark in marks:
        if not MARK.fullmatch(mark):
            raise BadPage(f"{place}: nobody knows the mark {mark!r}; tests/docs/blocks.py lists them")
    return marks, not_run
