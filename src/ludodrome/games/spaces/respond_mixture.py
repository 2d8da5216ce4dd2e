"""A good response to a mixture: a board for one who knows only how likely each of several others is.

The best of some candidates, and not always the best of all boards: the exact best responses to
the single boards, the boards themselves where they are legal, and straight runs with a detour or a trap.
How far it can be from the best is told by the bound: nobody does better against each board than
the best response to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ludodrome.games.spaces.boards import BOARD_KEYS, format_board
from ludodrome.games.spaces.legality import check
from ludodrome.games.spaces.respond import NODES, respond
from ludodrome.games.spaces.sensible import pool
from ludodrome.games.spaces.simulate import Packed, simulate_matrix

_PROVEN_WITHIN = 1e-9


@dataclass(frozen=True, slots=True)
class MixedResponse:
    """A board that answers a mixture of others."""

    board: dict[str, Any]
    margin: float
    """Own points less the other's, on average."""
    proven: bool
    """No legal board does better."""
    bound: float
    """No legal board has a greater average margin than this."""


def respond_to_mixture(
    boards: Sequence[Any], weights: Sequence[float], size: int, rules: str = "written", nodes: int = NODES
) -> MixedResponse:
    """The best board found against playable boards that are met with these weights; ``nodes`` for each of them."""
    others = Packed(boards, size, rules)
    share = _shares(weights, len(others))
    answers = [respond(board, size, rules, nodes=nodes) for board in boards]
    candidates = [answer.board for answer in answers]
    candidates += [{name: board[name] for name in BOARD_KEYS} for board in boards if not check(board, size, rules)]
    candidates += [format_board(actions, size) for actions in pool(size)]  # legal under both rule sets
    own, other = simulate_matrix(candidates, others, size, rules)
    margins = (own.astype(np.int64) - other) @ share
    best = int(np.argmax(margins))
    margin, bound = float(margins[best]), float(np.array([answer.bound for answer in answers]) @ share)
    return MixedResponse(candidates[best], margin, margin >= bound - _PROVEN_WITHIN, max(margin, bound))


def _shares(weights: Sequence[float], count: int) -> np.ndarray[Any, Any]:
    """Weights that add up to 1."""
    if len(weights) != count or count == 0:
        raise ValueError(f"a mixture has one weight for each of its boards, not {len(weights)} for {count}")
    total = sum(weights)
    if not (isfinite(total) and total > 0 and min(weights) >= 0):
        raise ValueError("the weights of a mixture are numbers from 0 on, and not all of them are 0")
    return np.array(weights, np.float64) / total
