"""``expert`` in spaces: the best answer to a board that is seen, and a sound first choice if none is.

Both are the work of ``games/spaces``: ``respond.py``, and ``sensible.py``, which draws from the
mixtures of ``perfect.py``.
"""

import numpy as np

from ludodrome.bots.boards import Layer, View
from ludodrome.bots.player import Budget, Clock
from ludodrome.bots.thinkers import agreed
from ludodrome.game import Game
from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.moves import read_finished
from ludodrome.games.spaces.respond import prepare, respond
from ludodrome.games.spaces.sensible import sensible

NODES = 1_000_000
"""What an answer may cost if only time is limited, or nothing."""

SECONDS_A_SQUARE = 3e-4
"""An answer is begun only if so much time is left for each square of the grid: its tables are made in one go."""

QUICKLY_TRIED = 5


class Responder(Layer):
    """Answers what it sees; else it lays what is hard to answer."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.foreseen = self.options["choice"] == "seen" and self.count == 1
        prepare()  # what is not needed for a first move would be compiled or loaded on the clock later
        self._quick_answer(self._first_choice())

    def boards(self, view: View, budget: Budget, clock: Clock) -> list[bytes]:
        """An answer, or a first choice, or ten of them."""
        if view.laid is None:
            return [self._first_choice() for _ in range(self.count)]
        limits = agreed(self.own, budget.for_nodes, self.usual)
        left = clock.left(limits.time)
        if left is not None and left < SECONDS_A_SQUARE * self.size**2:
            return [self._quick_answer(view.laid)]
        return [self._answer(view.laid, limits.nodes or NODES, left)]

    def _first_choice(self) -> bytes:
        board = sensible(self.size, self.options["rules"], self.dice.word(), self.foreseen)
        return read_finished(board, self.options)

    def _answer(self, board: bytes, nodes: int, seconds: float | None) -> bytes:
        found = respond(format_board(board, self.size), self.size, self.options["rules"], nodes=nodes, seconds=seconds)
        return read_finished(found.board, self.options)

    def _quick_answer(self, board: bytes) -> bytes:
        """The best of a few first choices and of a few boards made by lot."""
        own = [make() for make in (self._first_choice, self.by_lot) for _ in range(QUICKLY_TRIED)]
        return own[int(np.argmax(self.margins(own, [board])))]
