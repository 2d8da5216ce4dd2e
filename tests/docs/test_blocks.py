"""Every command and every block of code on the pages runs, and prints what the page says.

The usual run does what is cheap, and parses, compiles and looks up the rest; ``--long`` runs everything but what
``test_what_is_not_run`` names. ``blocks.py`` says how blocks are marked.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.docs import checking, parsing
from tests.docs.blocks import RUN, BadPage, Block, blocks_of, pages
from tests.docs.running import Stage, serve_is_what_the_script_ends_with


def well_formed(page: str) -> list[Block]:
    """The blocks of a page; none if it is not well formed, which has a test of its own."""
    try:
        return blocks_of(page)
    except BadPage:
        return []


BLOCKS = [block for page in pages() for block in well_formed(page)]


@pytest.mark.parametrize("page", pages())
def test_the_blocks_of_a_page_are_what_they_seem(page: str) -> None:
    troubles = []
    blocks = blocks_of(page)
    for block in blocks:
        try:
            parsing.check(block)
            checking.check(block, blocks)
        except (ValueError, SyntaxError, ImportError) as error:
            troubles.append(f"{block.place}: {error}")
    assert not troubles, "\n".join(troubles)


@pytest.mark.parametrize(
    "page", [page for page in pages() if any(block.language in RUN for block in well_formed(page))]
)
def test_a_page_prints_what_it_says(page: str, tmp_path: Path, long: bool) -> None:
    chosen = [block for block in blocks_of(page) if is_run(block, long)]
    if not chosen:
        pytest.skip("all its blocks are run with --long")
    troubles = []
    stage = Stage(tmp_path)
    try:
        for block in chosen:
            if trouble := happens(stage, block):
                troubles.append(f"{block.place}:\n{trouble}")
    finally:
        troubles += stage.close()
    assert not troubles, "\n\n".join(troubles)


def is_run(block: Block, long: bool) -> bool:
    """Whether a block is run now."""
    if block.not_run or block.missing or block.mark("quoted from "):
        return False
    shown = block.language in RUN or "output" in block.marks or block.mark("saved as ") is not None
    return shown and (long or not block.long)


def happens(stage: Stage, block: Block) -> str:
    """Runs a block; what is wrong with it, empty if nothing."""
    try:
        if name := block.mark("saved as "):
            (stage.where / name).write_text(block.text, "utf-8")
        if games := block.mark("bot "):
            return checking.check_bot(block, games.split(), stage.where)
        if block.language in RUN:
            return stage.run(block)
        return stage.compare(block) if "output" in block.marks else ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_words_that_stand_for_others_are_there() -> None:
    """Otherwise a block would run unchanged: for an hour instead of a minute."""
    for block in BLOCKS:
        later = "".join(one.text for one in BLOCKS if one.page == block.page and one.line >= block.line)
        assert [word for word in block.stands_for if word not in later] == [], block.place


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.not_run or block.missing], ids=lambda block: block.place
)
def test_what_is_not_run(block: Block) -> None:
    """Said aloud, and no more than this."""
    assert block.language in RUN
    pytest.skip(block.not_run or f"{block.missing} is missing here")


def never_run(blocks: Sequence[Block]) -> list[str]:
    """The places of blocks that are marked ``long`` and not even run with ``--long``."""
    return [block.place for block in blocks if block.long and not (is_run(block, True) or block.missing)]


def test_what_takes_long_is_run_with_long() -> None:
    assert never_run(BLOCKS) == []


def test_a_long_block_that_is_never_run_is_noticed() -> None:
    idle = [Block("a.md", 1, "json", "{}", ("long",)), Block("a.md", 9, "sh", "ls", ("long",), "no shell")]
    assert never_run([*idle, Block("a.md", 20, "sh", "ls", ("long",))]) == ["a.md:1", "a.md:9"]


def test_the_script_that_serves() -> None:
    serve_is_what_the_script_ends_with()
