"""The spaces of a game in Gymnasium's terms: what is observed, what can be done."""

import numpy as np

from ludodrome.envs.extras import missing
from ludodrome.game import Game

try:
    from gymnasium import spaces
except ImportError as error:
    raise missing(error, "training environments", "rl") from error


def observation_space(game: Game) -> spaces.Box:
    """Planes of whole numbers, (planes, rows, columns); docs/reference/envs.md has them one by one."""
    planes = game.planes
    high = np.empty(planes.shape, planes.dtype)
    high[:] = np.array(planes.highest)[:, None, None]
    return spaces.Box(np.zeros_like(high), high, planes.shape, planes.dtype)


def action_space(game: Game) -> spaces.Discrete:
    """The game's actions; which of them are legal, the mask says."""
    return spaces.Discrete(game.num_actions)
