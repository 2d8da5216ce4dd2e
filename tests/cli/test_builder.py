"""The builder on a screen of its own, driven by keys and clicks."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ludodrome.cli.spaces.builder_app import BuilderApp, GridWidget, cell_at, lay_out
from ludodrome.spaces_lab.board_builder import BoardBuilder
from tests.games.spaces.boards import board

pytestmark = pytest.mark.xdist_group("spaces")

SNAPSHOTS = Path(__file__).parent / "snapshots"
SMALL, LARGE = (80, 24), (160, 50)


def drive(app: BuilderApp, size: tuple[int, int], story: Callable[[Any], Awaitable[None]]) -> None:
    """Let a story happen on a screen of that size."""

    async def happen() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await story(pilot)

    with ThreadPoolExecutor(1) as pool:  # a browser of another test may keep a loop running in this thread
        pool.submit(asyncio.run, happen()).result()


def screen(app: BuilderApp) -> str:
    """What is on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


def test_a_whole_board_from_start_to_goal_with_an_error_and_undo(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    app = BuilderApp(BoardBuilder(3, "live", board("3:0:uuf")), str(path))

    async def story(pilot: Any) -> None:
        await pilot.press("left")
        assert "start in column 0?" in screen(app)
        await pilot.press("right", "up")
        assert app.builder.code == "3:1:"
        await pilot.press("down")
        assert "a piece never goes down (R9)" in screen(app)
        await pilot.press("t", "up")
        assert app.builder.code == "3:1:8"
        await pilot.press("up")
        assert "(R16)" in screen(app)
        assert app.builder.code == "3:1:8"
        await pilot.press("z")
        assert "taken back: trap up" in screen(app)
        await pilot.press("s")
        assert "the board is not finished" in screen(app)
        await pilot.press("up", "4", "up", "up")
        assert "finished; s saves it" in screen(app)
        await pilot.press("s")
        assert "saved: board 1 of mine.json" in screen(app)
        await pilot.press("c")
        assert app.builder.code == ""
        await pilot.press("q")

    drive(app, SMALL, story)
    assert app.return_value == [f"3:1:u4uf saved in {path}"]
    assert [len(one["sequence"]) for one in json.loads(path.read_text())["boards"]] == [5]


def test_commands_in_words() -> None:
    app = BuilderApp(BoardBuilder(3))

    async def story(pilot: Any) -> None:
        for words in ("start 2", "up", "trap left", "nonsense"):
            await pilot.press("colon", *(" " if sign == " " else sign for sign in words), "enter")
        assert app.builder.code == "3:2:u4"
        assert "there is no command 'nonsense'" in screen(app)
        await pilot.press("colon", "u", "escape")
        await pilot.press("colon", *"save", "enter")
        assert "the board is not finished" in screen(app)
        await pilot.press("colon", "enter")
        await pilot.press("colon", *"quit", "enter")

    drive(app, SMALL, story)
    assert app.builder.code == "3:2:u4"
    assert app.return_value == []


def test_the_mouse() -> None:
    app = BuilderApp(BoardBuilder(3))
    places: dict[tuple[int, int], tuple[int, int]] = {}

    async def click(pilot: Any, cell: tuple[int, int]) -> None:
        await pilot.click(GridWidget, offset=places[cell])
        await pilot.pause()

    async def story(pilot: Any) -> None:
        layout = app.grid.seen
        for x in range(app.grid.size.width):
            for y in range(app.grid.size.height):
                cell = cell_at(layout, x, y)
                if cell is not None:
                    places[cell] = (x, y)
        await click(pilot, (2, 0))
        await click(pilot, (1, 0))
        await pilot.press("t")
        await click(pilot, (1, 1))
        assert app.builder.code == "3:0:u6"
        await click(pilot, (2, 2))
        assert "click a square next to the piece" in screen(app)
        await click(pilot, (0, 0))
        await click(pilot, (-1, 0))
        assert app.builder.code == "3:0:u6uf"
        await pilot.click(GridWidget, offset=(0, 0))
        assert app.builder.is_finished

    drive(app, SMALL, story)
    assert set(places) == {(row, col) for row in (-1, 0, 1, 2) for col in range(3)}


def test_finish_goes_straight_up_from_anywhere() -> None:
    app = BuilderApp(BoardBuilder(4, "live"))

    async def story(pilot: Any) -> None:
        assert not app.finish_button.display
        await pilot.press("f")
        assert "a board begins with a start" in screen(app)
        await pilot.press("up", "6", "f")
        assert app.builder.code == "4:2:6uuuf"
        assert "finished; s saves it" in screen(app)
        assert not app.finish_button.display
        await pilot.press("c", "up", "8", "f")
        assert app.builder.code == "4:2:8"
        assert "the straight way to the goal is closed: step 3:" in " ".join(screen(app).split())
        assert "(R16)" in screen(app)
        await pilot.press("left", "up")
        assert app.finish_button.display
        await pilot.click("#finish")
        await pilot.pause()
        assert app.builder.code == "4:2:8luuuf"
        await pilot.press("z")
        assert app.builder.code == "4:2:8luuu"

    drive(app, SMALL, story)


def test_the_question_mark_shows_every_key() -> None:
    app = BuilderApp(BoardBuilder(3))

    async def story(pilot: Any) -> None:
        await pilot.press("up", "question_mark")
        shown = screen(app)
        for key in ("f      finish", "z      undo", "c      clear", "s      save", "?      these keys", "q      quit"):
            assert key in shown
        await pilot.press("question_mark")
        assert "these keys" not in screen(app)
        await pilot.press("question_mark", "up")
        assert "these keys" not in screen(app)
        assert app.builder.code == "3:1:u"

    drive(app, SMALL, story)


def test_odd_keys_get_a_hint(tmp_path: Path) -> None:
    app = BuilderApp(BoardBuilder(3), str(tmp_path / "none" / "mine.json"))

    async def story(pilot: Any) -> None:
        await pilot.press("down")
        assert "choose a column" in screen(app)
        await pilot.press("enter", "enter")
        assert "arrows move" in screen(app)
        await pilot.press("t")
        assert "trap where?" in screen(app)
        await pilot.press("t")
        assert "trap where?" not in screen(app)
        await pilot.press("up", "up", "f", "s")
        assert "cannot be written" in " ".join(screen(app).split())  # a long path wraps

    drive(app, SMALL, story)


@pytest.mark.parametrize(
    ("name", "size", "builder", "keys"),
    [
        ("small", SMALL, (3, "written", "3:0:u6uf"), ["up", "up", "t", "left"]),
        ("small-crowded", SMALL, (12, "live", "12:3:" + "u" * 11 + "f"), ["up", "up", "5", "right", "up"]),
        ("large", LARGE, (6, "live", "6:2:uuuuuf"), ["up", "up", "right", "6", "up", "up"]),
        ("large-finished", LARGE, (4, "written", None), ["up", "up", "up", "8", "up", "up"]),
    ],
)
def test_it_looks_as_it_did(
    name: str, size: tuple[int, int], builder: tuple[int, str, str | None], keys: list[str]
) -> None:
    """The screens are kept in snapshots/; to renew one, delete it and check the new one."""
    side, rules, against = builder
    app = BuilderApp(BoardBuilder(side, rules, board(against) if against else None))

    async def story(pilot: Any) -> None:
        await pilot.press(*keys)
        await pilot.pause()
        drawn = screen(app)
        file = SNAPSHOTS / f"{name}.txt"
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_text(drawn, "utf-8")
            pytest.fail(f"{file} was not there, and is now: look at it")
        assert drawn == file.read_text("utf-8")

    drive(app, size, story)


def test_a_grid_that_does_not_fit_is_seen_in_part() -> None:
    layout = lay_out(100, 60, 20, (50, 50))
    assert 50 in layout.rows
    assert 50 in layout.columns
    assert len(layout.columns) == 14
    assert lay_out(100, 60, 20, (99, 0)).rows[-1] == 99
    assert lay_out(2, 60, 20, (0, 0)).width == 9
    assert cell_at(layout, 0, 5) is None
