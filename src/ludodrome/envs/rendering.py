"""Render positions: ``render_mode`` "ansi" for text, "rgb_array" for pictures."""

from typing import Any

from ludodrome.game import Game
from ludodrome.jit import Record
from ludodrome.validation import listing, show

MODES = ("ansi", "rgb_array")


def check_render_mode(mode: str | None) -> str | None:
    """Return a valid render mode or None. Raises ValueError otherwise."""
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(mode)}")
    return mode


def frame(game: Game, record: Record, mode: str) -> Any:
    """A position as text, or as a picture [height, width, 3] uint8."""
    if mode == "ansi":
        return game.render_record(record)
    return game.paint(record)
