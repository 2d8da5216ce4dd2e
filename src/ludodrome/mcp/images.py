"""Positions as PNG images. They are painted in ``envs/rendering.py``; here they become files."""

import struct
import zlib
from typing import Any

import numpy as np

from ludodrome.bots.prompts import bare
from ludodrome.envs.rendering import frame
from ludodrome.game import BadState, Game
from ludodrome.jit import Array

SCALE = 2
"""Pixels of the image for one of the painting: models see small pictures badly."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS, _RGB = 8, 2


def picture(game: Game, observation: Any) -> bytes:
    """What a seat was shown, as a PNG image."""
    state = bare(observation)
    try:
        record = game.encode(state)
    except BadState:  # spaces: what lies face down is missing, and the other seat would have to lay
        record = game.encode({**state, "to_move": 1 - state["to_move"]})
    pixels = frame(game, record, "rgb_array")
    return png(pixels.repeat(SCALE, 0).repeat(SCALE, 1))


def png(pixels: Array) -> bytes:
    """An image (height, width, 3) uint8 as PNG."""
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, _BITS, _RGB, 0, 0, 0)
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
