"""Drawings of boards and of rounds: in boxes of Unicode signs as people draw them, and as SVG.

The plain drawing of RULES.md is in ``notation.py``.
"""

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import FINAL, PIECE, TRAP, Steps, coded, steps_of
from ludodrome.games.spaces.simulation import Round

COLOURS = ("#0B6E99", "#BE4A19")
"""The seats' colours."""
_MARKS = {PIECE: "●", TRAP: "X", FINAL: "★"}
_WHAT = {PIECE: "piece", TRAP: "trap", FINAL: "final"}
_CELL, _MARGIN = 48, 24


def _steps(board: Any) -> tuple[int, Steps]:
    """Size and steps of a JSON board that can be drawn, else IllegalMove."""
    size, actions = coded(board)
    steps = steps_of(actions, size)
    for number, (row, col, kind) in enumerate(steps, 1):
        if not -1 <= row < size or not 0 <= col < size or (row < 0 and kind != FINAL):
            raise IllegalMove(f"step {number}: ({row},{col}) is outside and cannot be drawn")
    return size, steps


# Boxes


def box_lines(texts: list[list[str]]) -> list[str]:
    """A grid of texts in boxes, all of one width."""
    width = max(3, *(len(text) for row in texts for text in row)) + 2
    bar = "─" * width
    lines = [f"┌{'┬'.join([bar] * len(texts[0]))}┐"]
    for number, row in enumerate(texts):
        if number:
            lines.append(f"├{'┼'.join([bar] * len(row))}┤")
        lines.append(f"│{'│'.join(text.center(width) for text in row)}│")
    return [*lines, f"└{'┴'.join([bar] * len(texts[-1]))}┘"]


def box_board(board: Any) -> str:
    """A board in boxes, its steps listed at the right."""
    size, steps = _steps(board)
    cells: list[list[list[str]]] = [[[] for _ in range(size)] for _ in range(size)]
    for number, (row, col, kind) in enumerate(steps, 1):
        if row >= 0:
            cells[row][col].append(f"{number}{_MARKS[kind]}")
    grid = box_lines([[",".join(cell) for cell in row] for row in cells])
    listed = [
        f"{number}. ({row},{col}) {_WHAT[kind]}{_note(number, steps)}"
        for number, (row, col, kind) in enumerate(steps, 1)
    ]
    return "\n".join(beside(grid, listed))


def _note(number: int, steps: Steps) -> str:
    """What a step is, in brackets, where it is something."""
    row, col, kind = steps[number - 1]
    if number == 1:
        return " [start]"
    if kind == FINAL:
        return " [goal]"
    before = next((to for to in reversed(steps[: number - 1]) if to[2] != TRAP), steps[0])
    if kind == TRAP:
        return " [supermove]" if (row, col) == before[:2] else ""
    return " [forward]" if row < before[0] else " [back]" if row > before[0] else " [lateral]"


def beside(left: Sequence[str], right: Sequence[str], gap: int = 3) -> list[str]:
    """Two blocks of lines side by side."""
    width = max(map(len, left), default=0) + gap
    height = max(len(left), len(right))
    rows = zip([*left, *[""] * (height - len(left))], [*right, *[""] * (height - len(right))], strict=True)
    return [f"{one:<{width}}{two}".rstrip() for one, two in rows]


def moments(round_: Round, size: int) -> list[list[str]]:
    """The common grid after each step of a round, in boxes: ``●`` and ``◆`` the pieces, ``x`` and ``y`` the traps."""
    drawings = []
    traps: dict[tuple[int, int], str] = {}
    for step in round_.steps:
        for trap, sign in zip(step.traps, "xy", strict=True):
            if trap is not None and sign not in traps.get(trap, ""):
                traps[trap] = traps.get(trap, "") + sign
        texts = [["".join(sorted(traps.get((row, col), ""))) for col in range(size)] for row in range(size)]
        for (row, col), sign in zip(step.squares, "●◆", strict=True):
            if 0 <= row < size:
                texts[row][col] += sign
        drawings.append(box_lines(texts))
    return drawings


# SVG


def board_svg(board: Any, title: str = "") -> str:
    """A board as an SVG picture: the way of the piece, its steps, its traps."""
    size, steps = _steps(board)
    width, top = size * _CELL + 2 * _MARGIN, _MARGIN + (20 if title else 0)
    height = top + (size + 1) * _CELL + _MARGIN

    def middle(row: int, col: int) -> tuple[int, int]:
        return _MARGIN + col * _CELL + _CELL // 2, top + (row + 1) * _CELL + _CELL // 2

    parts = []
    if title:
        parts.append(_text(width // 2, _MARGIN, title, 14))
    for row in range(size):
        for col in range(size):
            x, y = _MARGIN + col * _CELL, top + (row + 1) * _CELL
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#FAF7F0" stroke="#B8B0A0"/>')
    way = [middle(row, col) for row, col, kind in steps if kind != TRAP]
    points = " ".join(f"{x},{y}" for x, y in way)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="3" opacity="0.5"/>')
    seen: dict[tuple[int, int], int] = {}
    for number, (row, col, kind) in enumerate(steps, 1):
        x, y = middle(row, col)
        shift = 14 * seen.get((row, col), 0)
        seen[row, col] = seen.get((row, col), 0) + 1
        colour = COLOURS[1] if kind == TRAP else COLOURS[0]
        parts.append(_sign(kind, x - shift, y + shift // 2, colour))
        parts.append(_text(x + 13 - shift, y - 7 + shift // 2, str(number), 11, colour))
    return _svg(width, height, parts)


def _sign(kind: str, x: int, y: int, colour: str) -> str:
    if kind == TRAP:
        return f'<path d="M{x - 6},{y - 6} l12,12 m0,-12 l-12,12" stroke="{colour}" stroke-width="3"/>'
    if kind == FINAL:
        return _text(x, y + 6, "★", 18, colour)
    return f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>'


def matrix_svg(margins: Sequence[Sequence[int]], title: str = "") -> str:
    """Margins as a heat map: the first side's boards downwards, the second's across."""
    rows, columns = len(margins), len(margins[0])
    top = 40 if title else 16
    width, height = columns * _CELL + 2 * _MARGIN, top + rows * _CELL + _MARGIN
    most = max(1, *(abs(margin) for row in margins for margin in row))
    parts = [_text(width // 2, 24, title, 14)] if title else []
    for i, row in enumerate(margins):
        for j, margin in enumerate(row):
            x, y = _MARGIN + j * _CELL, top + i * _CELL
            colour, depth = COLOURS[margin < 0], abs(margin) / most
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#FFFFFF"/>')
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{colour}" '
                f'fill-opacity="{0.85 * depth:.2f}" stroke="#E4DED2"/>'
            )
            ink = "#FFFFFF" if depth > 0.6 else "#222222"
            parts.append(_text(x + _CELL // 2, y + _CELL // 2 + 5, f"{margin:+d}" if margin else "0", 14, ink))
    return _svg(width, height, parts)


def _text(x: int, y: int, text: str, size: int, colour: str = "#222222") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="sans-serif" text-anchor="middle" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _svg(width: int, height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>', *parts, "</svg>"]) + "\n"
