"""Pictures of Skysummit."""

from ludodrome.envs.rendering import paint_workers
from ludodrome.game import Game
from ludodrome.jit import Array, Record


def paint(game: Game, record: Record) -> Array:
    """Cells by height, workers by seat, numbered from 0."""
    return paint_workers(game, record, 0)
