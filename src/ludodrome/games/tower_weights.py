"""What the features of a tower position are worth, in hundredths of a level.

Each role has its own: of two equal positions the one to move is the better. The features are told in
``tower_value.py``, where the weights are used; ``benchmarks/tune.py`` fits and prints this table.
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
    "PLACE": [[-22, -17, -11, -6, 5, 24], [26, 44, 54, 69, 82, 101], [163, 157, 163, 200, 225, 218]],
    "NEAR": [[-1, 24, 9, 1], [-6, 17, 68, 10], [-18, -1, 124, 600]],
    "FAR": [[-1, 4, 9, 12], [-2, 2, 12, 19], [-2, 5, 6, 13]],
    "STEPS": [-400, -199, -119, -73, -43, -17, -10, 7],
    "SECOND": [4, 9, 28, 122],
    "ALONE": [4, -2, 54, 200],
    "ALONE_SECOND": [-5, -4, 30, 72],
    "THREATS": [6, 600, 900],
    "TURN": [26],
}
WAITING: dict[str, Any] = {
    "PLACE": [[-21, -22, -18, 1, 4, 20], [25, 46, 52, 78, 85, 93], [159, 157, 155, 200, 221, 217]],
    "NEAR": [[3, 16, 10, 0], [-6, 20, 50, 13], [-15, 8, 119, 40]],
    "FAR": [[0, 2, 6, 11], [-1, 7, 18, 15], [-2, -1, 18, 3]],
    "STEPS": [-599, -299, -147, -76, -42, -23, -13, 3],
    "SECOND": [5, 5, 7, 62],
    "ALONE": [-4, -10, 41, 2000],
    "ALONE_SECOND": [-6, -4, 33, 55],
    "THREATS": [-6, 60, 2000],
    "TURN": [-6],
}


def row(role: dict[str, Any]) -> Array:
    """A role's weights in one row; a table of another shape than its group's does not fit."""
    return np.concatenate([np.array(role[name], np.int64).reshape(np.prod(shape)) for name, shape in GROUPS.items()])


WEIGHTS = np.ascontiguousarray([row(MOVER), row(WAITING)])
"""(role, feature)"""
