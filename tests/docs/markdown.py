"""The pages of the documentation as tests read them: their links, anchors, headings and lists of pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def links(page: Path) -> Iterator[str]:
    """The targets of all links and pictures of a page."""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8")):
        for child in token.children or ():
            if target := child.attrGet("href") or child.attrGet("src"):
                yield str(target)


def headings(page: Path, rank: int) -> list[str]:
    """The headings of one rank, in their order."""
    tokens = MarkdownIt("commonmark").parse(page.read_text("utf-8"))
    return [
        tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open" and one.tag == f"h{rank}"
    ]


def anchors(page: Path) -> set[str]:
    """What a link into a page may name."""
    return {anchor(text) for rank in range(1, 7) for text in headings(page, rank)}


def anchor(title: str) -> str:
    """The anchor of a heading, as forges and the server make it."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.replace("`", "").lower()))
