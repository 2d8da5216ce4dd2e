"""The match under ``seen``, where the second chooser of a round answers the first one's board.

Against a board that is seen, the best response is what counts, so the first chooser lays the
board that loses least to it. ``LeastLoss`` finds that board among all: it looks for a board
that loses less than the best so far to each of some answers (``mixture_search.py``), asks for the
best response to it, and takes that in among the answers; when there is no such board, it is done.

A seat's prospects in a match never get worse by a greater lead, so both sides play each round for
its margin, and the match follows by going back from its last round.
"""

from functools import cache
from typing import Any

import numpy as np

from ludodrome.games.spaces.best_response import respond
from ludodrome.games.spaces.boards import checked_size, format_board, is_live
from ludodrome.games.spaces.respond_mixture import MixtureHunt
from ludodrome.games.spaces.simulation import Packed
from ludodrome.games.spaces.strategy_ import straight_run

KNOWN_LOSS = {2: 2, 3: 3, 4: 3, 5: 4, 6: 4, 7: 5}
"""Under ``live``: what the best board that is seen loses by, for the sizes that were worked out."""


class LeastLoss:
    """The board that loses least to its best response, in the making."""

    def __init__(self, size: int, rules: str = "written") -> None:
        self.size, self.rules = checked_size(size), rules
        is_live(rules)
        self.answers: list[dict[str, Any]] = []
        self.nodes = 0
        self.over = False
        self.board = format_board(straight_run(size, 0), size)
        self.loss = self._ask(self.board)

    def step(self) -> None:
        """Look for a board that may lose less, and ask for the best response to it."""
        if self.loss == 0:  # nobody does better than that: a board draws against itself
            self.over = True
            return
        others = Packed(self.answers, self.size, self.rules)
        hunt = MixtureHunt(others, np.zeros(len(others)), floor=-1.0, least=1 - self.loss)
        hunt.run(10**12)
        self.nodes += hunt.nodes
        if not hunt.found:
            self.over = True
            return
        board = format_board(hunt.best, self.size)
        loss = self._ask(board)
        if loss < self.loss:
            self.board, self.loss = board, loss

    def _ask(self, board: dict[str, Any]) -> int:
        """What a board loses by; the answer is kept."""
        response = respond(board, self.size, self.rules, nodes=10**12)
        self.answers.append(response.board)
        return response.margin


def match_value(loss: int, rounds: int) -> int:
    """Seat 0's final lead in a match of so many rounds if nobody errs, where the first chooser of each loses so much.

    By going back from the end over rounds and leads: what is best at the end of a round is to have won it by as much
    as possible, so each round moves the lead by ``loss`` against its first chooser (R24: in turn, from seat 0 on).
    """

    @cache
    def final(played: int, lead: int) -> int:
        if played == rounds:
            return lead
        return final(played + 1, lead - loss if played % 2 == 0 else lead + loss)

    return final(0, 0)
