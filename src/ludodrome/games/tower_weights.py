"""What the features of a tower position are worth, in hundredths of a level.

Each role has its own: of two equal positions the one to move is the better. The features are told in
``tower_value.py``, where the weights are used; ``benchmarks/tune_towers`` fits and prints this table.
"""

from typing import Any

import numpy as np

from ludodrome.jit import Array

HEIGHTS = 3
"""A worker of a running game stands on level 0, 1 or 2."""
ORBITS = 6
"""Kinds of cells: corner, beside it, middle of an edge; the inner corners and edges; the centre."""
FEW_STEPS = 8
"""So many steps or more are plenty."""

GROUPS: dict[str, tuple[int, ...]] = {
    "PLACE": (HEIGHTS, ORBITS),
    "NEAR": (HEIGHTS, 4),
    "FAR": (HEIGHTS, 4),
    "STEPS": (FEW_STEPS,),
    "SECOND": (4,),
    "ALONE": (4,),
    "ALONE_SECOND": (4,),
    "THREATS": (3,),
    "TURN": (1,),
}
"""name -> shape, in the order in which they stand in a role's row."""

MOVER: dict[str, Any] = {
    "PLACE": [[-20, -12, -10, 0, 6, 12], [40, 50, 55, 70, 78, 90], [150, 165, 170, 195, 205, 220]],
    "NEAR": [[2, 10, 0, -6], [0, 4, 40, -4], [0, 2, 14, 600]],
    "FAR": [[0, 2, 2, 0], [0, 2, 8, 2], [0, 2, 6, 12]],
    "STEPS": [-400, -200, -120, -70, -40, -20, -10, 0],
    "SECOND": [0, 2, 10, 40],
    "ALONE": [0, 2, 20, 200],
    "ALONE_SECOND": [0, 0, 8, 60],
    "THREATS": [0, 600, 900],
    "TURN": [20],
}
WAITING: dict[str, Any] = {
    "PLACE": [[-20, -12, -10, 0, 6, 12], [40, 50, 55, 70, 78, 90], [150, 165, 170, 195, 205, 220]],
    "NEAR": [[2, 10, 0, -6], [0, 4, 30, -4], [0, 2, 10, 40]],
    "FAR": [[0, 2, 2, 0], [0, 2, 8, 2], [0, 2, 6, 12]],
    "STEPS": [-600, -300, -150, -70, -40, -20, -10, 0],
    "SECOND": [0, 2, 8, 30],
    "ALONE": [0, 2, 15, 2000],
    "ALONE_SECOND": [0, 0, 6, 40],
    "THREATS": [0, 60, 2000],
    "TURN": [0],
}


def row(role: dict[str, Any]) -> Array:
    """A role's weights in one row; a table of another shape than its group's does not fit."""
    return np.concatenate([np.array(role[name], np.int64).reshape(np.prod(shape)) for name, shape in GROUPS.items()])


WEIGHTS = np.ascontiguousarray([row(MOVER), row(WAITING)])
"""(role, feature)"""
