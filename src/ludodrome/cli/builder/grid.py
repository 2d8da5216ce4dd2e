"""The grid on the screen: what stands on each square, how large squares are drawn, and which one was clicked."""

from typing import NamedTuple

from rich.text import Text

from ludodrome.cli.console import seat_style
from ludodrome.games.spaces.boards import FINAL, TRAP, steps_of
from ludodrome.lab.bench import Bench

WIDTHS = (9, 7, 5, 3)
"""How wide a square may be drawn; the widest that fits is taken."""
HIDDEN = "dim"


class Layout(NamedTuple):
    """How the grid is drawn: the width of a square, whether lines part the rows, and the part that is seen."""

    width: int
    lined: bool
    rows: range
    columns: range

    @property
    def height(self) -> int:
        """Lines of a row."""
        return 2 if self.lined else 1


def lay_out(size: int, width: int, height: int, focus: tuple[int, int]) -> Layout:
    """The largest drawing that fits; if none does, the part of the grid around the focus."""
    chosen = next((one for one in WIDTHS if size * (one + 1) + 4 <= width), WIDTHS[-1])
    lined = 2 * size + 3 <= height
    across = min(size, max(1, (width - 4) // (chosen + 1)))
    down = min(size, max(1, (height - 3) // (2 if lined else 1)))
    return Layout(chosen, lined, _around(size, down, focus[0]), _around(size, across, focus[1]))


def _around(size: int, seen: int, at: int) -> range:
    first = min(max(0, at - seen // 2), size - seen)
    return range(first, first + seen)


def cell_at(layout: Layout, x: int, y: int) -> tuple[int, int] | None:
    """The square under a place on the screen; row -1 is the goal."""
    column = (x - 4) // (layout.width + 1)
    row = (y - 2) // layout.height if y >= 2 else -1  # a line above a row belongs to it
    if x < 4 or y < 1 or not 0 <= column < len(layout.columns) or row >= len(layout.rows):
        return None
    return (layout.rows[row] if row >= 0 else -1), layout.columns[column]


def draw_grid(bench: Bench, layout: Layout, cursor: int, aiming: bool) -> Text:
    """The grid, with column numbers above it and row numbers at its left."""
    cells = _cells(bench)
    text = Text()
    text.append("    " + " ".join(str(column).center(layout.width) for column in layout.columns) + "\n", HIDDEN)
    above, between, below = (_line(layout, ends) for ends in ("┌┬┐", "├┼┤", "└┴┘"))
    for row in (-1, *layout.rows):
        if layout.lined and row >= 0:
            text.append(f"   {above if row == layout.rows[0] else between}\n", HIDDEN)
        _draw_row(text, bench, layout, row, cells, cursor, aiming)
    if layout.lined:
        text.append(f"   {below}", HIDDEN)
    return text


def _line(layout: Layout, ends: str) -> str:
    return ends[0] + ends[1].join(["─" * layout.width] * len(layout.columns)) + ends[2]


def _draw_row(
    text: Text,
    bench: Bench,
    layout: Layout,
    row: int,
    cells: dict[tuple[int, int], list[tuple[str, str]]],
    cursor: int,
    aiming: bool,
) -> None:
    text.append(f"{row:>2} ", HIDDEN)
    for column in layout.columns:
        text.append("│" if row >= 0 else " ", HIDDEN)
        marks = cells.get((row, column), [])
        if not bench.actions and row == bench.size - 1 and column == cursor:
            marks = [*marks, ("●?", "bold reverse")]
        here = (row, column) == bench.position
        text.append_text(_cell(marks, layout.width, "on #4A3B00" if aiming and here else ""))
    text.append("│\n" if row >= 0 else "\n", HIDDEN)


def _cell(marks: list[tuple[str, str]], width: int, ground: str) -> Text:
    """As many of a square's marks as fit, the newest first to stay."""
    shown: list[tuple[str, str]] = []
    for mark in reversed(marks):
        if sum(len(one) for one, _ in shown) + len(mark[0]) > width:
            break
        shown.insert(0, mark)
    used = sum(len(one) for one, _ in shown)
    left = (width - used) // 2
    cell = Text(" " * left)
    for sign, style in shown:
        cell.append(sign, style)
    cell.append(" " * (width - used - left))
    if ground:
        cell.stylize(ground)
    return cell


def _cells(bench: Bench) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """The marks of each square: steps by number, the opponent's traps, its ghost."""
    cells: dict[tuple[int, int], list[tuple[str, str]]] = {}
    steps = steps_of(bench.actions, bench.size)
    last_piece = max((number for number, step in enumerate(steps) if step[2] != TRAP), default=-1)
    for number, (row, col, kind) in enumerate(steps):
        mark = {TRAP: "X", FINAL: "★"}.get(kind, "●" if number == last_piece else "·")
        style = "bold #B3261E" if kind == TRAP else seat_style(0) if number == last_piece else "#0B6E99"
        cells.setdefault((row, col), []).append((f"{number + 1}{mark}", style))
    played = bench.trial()
    if played is not None:
        for step in played.steps[: len(bench.actions)]:
            if step.traps[1] is not None:
                cells.setdefault(step.traps[1], []).insert(0, ("y", seat_style(1)))
    ghost = bench.ghost()
    if ghost is not None:
        cells.setdefault(ghost, []).append(("◆", seat_style(1)))
    return cells
